"""One bucket of a sliced release: its rows as published, each column in an order of its own, and as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Exact, Fragment, Generalized, GroupValues, Release
from anoncore.kernels.arrays import Codes, Int64
from anoncore.release.recoding import ColumnRegions, Recoding
from dashboard.charts.palette import RunStyle, run_style
from dashboard.elements import parts, routes
from dashboard.elements.class_list import region_texts
from dashboard.markdown import escaped
from dashboard.session import browser, state
from dashboard.session.workspace import Run

MOST_ROWS = 500
ROW = "row"
HEIGHT = 380
MOST_BESIDE = 5
"""Attributes up to which the original rows stand beside the published ones, and not below."""
PERSON = "person"
TAB = "Matching buckets"


def is_sliced(release: Release) -> bool:
    """Whether buckets hold several columns of a slicing."""
    family = release.algorithm.family if release.algorithm is not None else ""
    return family == "slicing" and len(release.fragments) > 1 and release.is_shared


def render(run: Run, group: int) -> None:
    """Draw the bucket; a click on a person in its list opens the attack on that person."""
    release = run.release
    size = int(release.partition.sizes[group])
    cut = f" The first {MOST_ROWS:,} are shown." if size > MOST_ROWS else ""
    beside = sum(len(part.attributes) for part in release.fragments) <= MOST_BESIDE
    places: list[Any] = list(st.columns(2, gap="medium")) if beside else [st.container(), st.container()]
    with places[0]:
        st.markdown(f"**As published: {len(release.fragments)} columns that are not linked**")
        st.dataframe(
            _tinted(published_bucket(release, group), run_style(run.color_index)),
            hide_index=True,
            height=HEIGHT if size > 9 else "auto",
            key="class-columns",
            alt=f"The columns of {release.group_word} {group}, each sorted on its own.",
        )
        named = "; ".join(f"{part.name}: {', '.join(part.attributes)}" for part in release.fragments)
        st.caption(
            f"{escaped(named)}. Each column is sorted on its own, as in the published file: a cell says nothing "
            f"about the cells of other columns in its line.{cut}"
        )
    with places[1]:
        st.markdown("**Original rows (not published)**")
        _people(run, group, size, cut)


def _people(run: Run, group: int, size: int, cut: str) -> None:
    word = run.release.group_word
    people = people_of(run.release, group)
    event = st.dataframe(
        people,
        height=HEIGHT if size > 9 else "auto",
        key=f"class-people-{run.id}-{group}",
        on_select="rerun",
        selection_mode="single-row-required",
        selection_default={"selection": {"rows": [0]}},
        alt=f"The original rows of {word} {group}.",
    )
    chosen = event.get("selection", {}).get("rows", [])
    row = int(people.index[chosen[0]]) if chosen and chosen[0] < len(people) else int(people.index[0])
    st.caption(
        f"{word.capitalize()} {group} before: {size:,} {parts.plural('row', size)}, numbered as in the table that was "
        f"loaded, from 1.{cut}"
    )
    if st.button(
        f"What an adversary learns about row {row:,}",
        key="class-to-matching",
        help="The buckets that this person may be in, and what each says about the sensitive value.",
    ):
        browser.put(f"{PERSON}-{run.id}", row - 1)
        browser.put("attack", TAB)
        st.switch_page(routes.page("attack"), query_params=state.address())


def published_bucket(release: Release, group: int) -> pd.DataFrame:
    """The bucket's columns side by side, each sorted by content; heads are (column, attribute)."""
    return pd.concat(
        {part.name: published_rows(part, group) for part in release.fragments}, axis=1, names=["column", "attribute"]
    )


def _tinted(table: pd.DataFrame, style: RunStyle) -> Any:
    """Every other column of the slicing on a faint ground of the run's colour."""
    names = list(dict.fromkeys(table.columns.get_level_values(0)))
    tints = pd.DataFrame("", index=table.index, columns=table.columns)
    for name in names[::2]:
        tints[name] = f"background-color: {style.color}26"
    return table.style.apply(lambda _: tints, axis=None)


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
