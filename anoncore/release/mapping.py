"""What became what: how many rows of each original value are published as which cell."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anoncore.base.arguments import checked
from anoncore.base.showing import Shown
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Int64, record
from anoncore.kernels.grouping import occurring_pairs
from anoncore.release.recoding import ColumnRegions, Exact, Generalized, GroupValues, Recoding, Texts
from anoncore.release.release import Release

COLUMNS = ("table", "attribute", "original value", "published value", "rows", "shown by the release")


@record
class ValueMapping(Shown):
    """The mapping as a table, for those who made the release.

    `frame` has a row per attribute that is not published as it was, original value and published cell: table,
    attribute, original and published value (texts), rows, and whether the published cell alone says what it was.
    `not_for_publication` says that some do not: with this table a reader could narrow down what the release hides;
    `sentence` says so for people.
    """

    frame: pd.DataFrame
    not_for_publication: bool
    sentence: str


@checked
def value_mapping(release: Release) -> ValueMapping:
    """How many rows of each original value are published as which cell, attribute by attribute in published order.

    Attributes that are published as they are, and those that are left out, have no rows in it. Raises ReleaseError for
    a synthetic table.
    """
    release.require_people("A mapping says which cell was made of which")
    parts = [
        _part(release, fragment.name, name, recoding)
        for fragment in release.fragments
        for name, recoding in fragment.recodings.items()
        if not _as_it_was(release, name, recoding)
    ]
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(COLUMNS))
    hidden = frame.loc[~frame["shown by the release"].astype(bool), "attribute"].unique().tolist()
    if hidden:
        sentence = (
            f"Not for publication: it tells which values stand behind the published cells of {listing(hidden)}, so it "
            "would undo their protection."
        )
    else:
        sentence = "Every value is published as it was; the release hides no value, only what belongs together."
    return ValueMapping(frame, bool(hidden), sentence)


def _as_it_was(release: Release, name: str, recoding: Recoding) -> bool:
    return isinstance(recoding, Exact) and np.array_equal(recoding.codes, release.data.codes[name])


def _part(release: Release, table: str, name: str, recoding: Recoding) -> pd.DataFrame:
    domain, (published, cells) = release.data.domain[name], _cells(recoding)
    codes, places, rows = occurring_pairs(release.data.codes[name], published, len(domain), len(cells))
    original, texts = domain.texts[codes], cells[places]
    # A cell tells the original value where it holds a single value and no value of the attribute was changed.
    only = (recoding.n_changed == 0) if isinstance(recoding, GroupValues) else not isinstance(recoding, Exact)
    single = [f"{{{text}}}" if isinstance(recoding, GroupValues) else text for text in original]
    return pd.DataFrame(
        {
            "table": table,
            "attribute": name,
            "original value": original,
            "published value": texts,
            "rows": rows,
            "shown by the release": (texts == np.array(single, object)) & only,
        }
    )


def _cells(recoding: Recoding) -> tuple[Int64, Texts]:
    """The number of each row's published cell, int64 (n_rows,), and the texts of all different cells.

    Where a group or a value has one cell for all of its rows, texts are compared group by group or value by value.
    """
    if isinstance(recoding, ColumnRegions):
        return _cells(recoding.classes)
    if isinstance(recoding, Exact):
        texts, place = recoding.domain.texts, recoding.codes
    elif isinstance(recoding, Generalized | GroupValues):
        texts, place = recoding.group_texts, recoding.partition.group
    else:
        numbers, cells = pd.factorize(recoding.texts())
        return numbers, np.asarray(cells, object)
    numbers, cells = pd.factorize(texts)
    return numbers[place], np.asarray(cells, object)
