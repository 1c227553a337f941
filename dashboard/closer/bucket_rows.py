"""Rows of one group as tables: the originals, and what each fragment publishes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from anoncore import Exact, Fragment, Generalized, GroupValues, Release
from anoncore.kernels.arrays import Codes, Int64
from anoncore.release.recoding import ColumnRegions, Recoding
from dashboard.elements.class_list import region_texts

MOST_ROWS = 500
ROW = "row"


def original_rows(release: Release, fragment: Fragment, group: int, names: list[str]) -> pd.DataFrame:
    """The group's rows as they were, sorted by content."""
    rows = by_content(fragment.partition.rows(group), [release.data.codes[name] for name in names])
    return release.data.frame[names].iloc[rows].reset_index(drop=True)


def people_of(release: Release, group: int) -> pd.DataFrame:
    """The original rows of a shared group, sorted by content; the index counts the table's rows from 1."""
    names = list(release.attributes)
    rows = by_content(release.partition.rows(group), [release.data.codes[name] for name in names])
    return release.data.frame[names].iloc[rows].set_axis(pd.Index(rows + 1, name=ROW), axis=0)


def published_rows(part: Fragment, group: int) -> pd.DataFrame:
    """What one fragment publishes of the group, sorted by content so that the order links nothing."""
    by_row = [one for one in part.recodings.values() if not isinstance(one, Generalized | GroupValues)]
    rows = by_content(part.partition.rows(group), [codes for recoding in by_row for codes in recoding.bounds()])
    return pd.DataFrame({name: cells(recoding, rows, group) for name, recoding in part.recodings.items()})


def by_content(rows: Int64, columns: list[Codes]) -> Int64:
    """The first rows by content."""
    keys = [codes[rows] for codes in columns]
    return (rows[np.lexsort(keys[::-1])] if keys else rows)[:MOST_ROWS]


def cells(recoding: Recoding, rows: Int64, group: int) -> Any:
    """What is published in these rows of the group."""
    if isinstance(recoding, Exact):
        return pd.Series(recoding.domain.decoded).take(recoding.codes[rows]).to_numpy()
    if isinstance(recoding, ColumnRegions):
        return region_texts(recoding.classes, recoding.classes.partition.group[rows].astype(np.int64))
    return np.repeat(region_texts(recoding, np.array([group])), len(rows))
