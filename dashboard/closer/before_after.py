"""The page Before and after: input rows beside output rows, and the values of one and of two attributes in both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from anoncore import Release
from anoncore.algorithms import Suppression
from anoncore.base.texts import share_text
from anoncore.kernels.arrays import Bools, Floats, Int64
from anoncore.release.cell_changes import CHANGES, Change, cell_changes, main_fragment, publishing_fragment
from anoncore.release.recoding import ColumnRegions, Recoding
from anoncore.utility.joint_table import JointTable, joint_table
from dashboard.charts.layout import Axis
from dashboard.charts.maps import difference_map, joint_map
from dashboard.charts.palette import BLUE
from dashboard.charts.utility import change_bars, color_name, distribution, share_of_changes, tint
from dashboard.closer import utility
from dashboard.elements import parts
from dashboard.markdown import escaped
from dashboard.session.workspace import Run

Changes = Mapping[str, npt.NDArray[np.uint8]]

ROWS_OF_PAGE = 50
MOST_PAIR_BINS = 18
MOST_LISTED = 4
"""Values of a group that are named in a cell; of more values only their number is said."""
ROW, BEFORE, AFTER = "row", "original", "published"
EVERY_ROW = "all rows"
MEANINGS = {
    Change.KEPT: "the value as it was",
    Change.GENERALIZED: "a range or set that holds the value",
    Change.SUPPRESSED: "a region of all values, which says nothing",
    Change.REPLACED: "something that the value does not belong to",
    Change.UNLINKED: "in another table, with nothing that says which of its lines belongs to the row",
}
MOST_BINS = 12
MOST_DIFFERENT = 3
"""Attributes of which the largest difference is said in words."""


def render() -> None:
    """Draw what became of the rows, of the cells, of one attribute and of two attributes of a run."""
    run = parts.shown_run("What became of rows and cells is asked of people's rows")
    if run is None:
        return
    if not run.data.knows_rows:
        st.info("The original of this release is not here, so there is nothing to set it beside.")
        return
    is_there = parts.soon("Cells are compared", run, changes_of) is not None
    if is_there:
        _rows(run)
    who_is_left_out(run)
    left, right = parts.beside()
    with left:
        if is_there:
            _cells(run)
    with right:
        st.subheader("One attribute")
        utility.distributions(run, "before-after")
    _two_attributes(run)


def changes_of(release: Release) -> Changes:
    """What became of every cell of a release, by attribute."""
    return {name: cell_changes(release, name) for name in release.attributes}


@parts.fragment
def _rows(run: Run) -> None:
    """Input rows beside output rows, a sample of them at a time."""
    changes = parts.measured(run, changes_of)
    st.subheader("Rows before and after")
    there = [change for change in CHANGES if any((of_rows == _number(change)).any() for of_rows in changes.values())]
    kinds = [EVERY_ROW, *(f"rows with a cell that is {change.value}" for change in there)]
    places = st.columns([2, 1, 3], vertical_alignment="bottom")
    with places[0]:
        kind = parts.choice("Rows", kinds, "before-after-rows", "From which rows the sample is drawn.")
    rows = sampled_order(run.data.n_rows)
    if kind != EVERY_ROW:
        wanted = _number(there[kinds.index(kind) - 1])
        rows = rows[np.any([of_rows[rows] == wanted for of_rows in changes.values()], axis=0)]
    n_pages = -(-len(rows) // ROWS_OF_PAGE)
    with places[1]:
        page = int(
            st.number_input(
                "Sample",
                min_value=1,
                max_value=n_pages,
                key=f"before-after-page-{run.id}-{kinds.index(kind)}",
                help=f"Rows are drawn at random, always the same ones, {ROWS_OF_PAGE} at a time; no row comes twice.",
            )
        )
    shown = np.sort(rows[(page - 1) * ROWS_OF_PAGE : page * ROWS_OF_PAGE])
    table = beside(run.release, changes, shown)
    tints = {
        (name, AFTER): [tint(CHANGES[number]) for number in of_rows[shown]]
        for name, of_rows in changes.items()
        if (name, AFTER) in table
    }
    parts.table(
        parts.tinted(table, tints),
        "before-after-table",
        f"{len(shown)} rows of the table, each attribute as it was and as it is published.",
        height=38 + 35 * 11,
        columns={"row": st.column_config.NumberColumn(pinned=True)},
    )
    st.caption(_rows_caption(run, len(shown), len(rows), there))


def _rows_caption(run: Run, n_shown: int, n_rows: int, there: list[Change]) -> str:
    release = run.release
    colored = [change for change in there if change is not Change.KEPT]
    text = f"{n_shown:,} of {n_rows:,} rows. "
    if colored:
        text += "Attributes with one column are published as they are. Of the others, coloured cells differ: "
        text += "; ".join(f"{color_name(change)}, {change.value} ({MEANINGS[change]})" for change in colored) + ". "
    if Change.UNLINKED in there:
        text += f"Lines follow the table '{escaped(main_fragment(release).name)}'; "
        text += (
            "of the other tables a cell lists what the group has there, each value with its rows. "
            if release.is_shared
            else "the cells of the other tables are those of the same person, which no reader can tell. "
        )
    dropped = [name for name in run.data.roles if name not in release.attributes]
    return text + (f"Not published: {escaped(', '.join(dropped))}." if dropped else "")


def sampled_order(n_rows: int) -> Int64:
    """The rows in an order that is random but always the same, int64 (n_rows,)."""
    return np.random.default_rng(0).permutation(n_rows)


def beside(release: Release, changes: Changes, rows: Int64) -> pd.DataFrame:
    """The rows with columns (attribute, original) and (attribute, published); one column where nothing ever changes."""
    columns: dict[tuple[str, str], Any] = {(ROW, ""): rows + 1}
    # Attributes that changed come first, so that a wide table shows them without being moved.
    for name in sorted(release.attributes, key=lambda one: not changes[one].any()):
        if not changes[name].any():
            columns[name, ""] = original_values(release, name, rows)
            continue
        columns[name, BEFORE] = original_texts(release, name, rows)
        columns[name, AFTER] = published_texts(release, name, rows, changes[name][rows] == _number(Change.UNLINKED))
    table = pd.DataFrame(columns)
    table.columns = pd.MultiIndex.from_tuples(list(columns))
    return table


def original_texts(release: Release, name: str, rows: Int64) -> npt.NDArray[np.object_]:
    """The values of rows in the words of a release, so that both can be compared cell by cell: days without hours,
    whole numbers without a point where others are missing.
    """
    return release.data.domain[name].texts[release.data.codes[name][rows]]


def original_values(release: Release, name: str, rows: Int64) -> Any:
    """The values of rows as they are, which a grid sorts as numbers; days as texts, as it would give them hours."""
    if release.data.domain[name].is_date:
        return original_texts(release, name, rows)
    return release.data.frame[name].iloc[rows].to_numpy()


def published_texts(release: Release, name: str, rows: Int64, unlinked: Bools) -> list[str]:
    """What a reader sees in place of each row's value; where it is unlinked, what the row's group has in that table."""
    recoding = publishing_fragment(release, name).recodings[name]
    texts = recoding.texts(rows).tolist()
    if not release.is_shared:
        return texts
    groups = release.partition.group[rows]
    of_group = {int(group): _listed(recoding, release.partition.rows(int(group))) for group in set(groups[unlinked])}
    return [
        of_group[group] if is_unlinked else text
        for group, is_unlinked, text in zip(groups.tolist(), unlinked.tolist(), texts, strict=True)
    ]


def _listed(recoding: Recoding, rows: Int64) -> str:
    """The different cells of a group with their numbers of rows, the most frequent first."""
    told_apart = recoding.classes.partition.group if isinstance(recoding, ColumnRegions) else recoding.bounds()[0]
    _, first, counts = np.unique(told_apart[rows], return_index=True, return_counts=True)
    different: Counter[str] = Counter()
    for text, count in zip(recoding.texts(rows[first]), counts.tolist(), strict=True):
        different[text] += count
    named = [f"{text} ×{count:,}" for text, count in different.most_common(MOST_LISTED)]
    rest = len(different) - len(named)
    return ", ".join(named) + (f" and {rest:,} more" if rest else "")


def _number(change: Change) -> int:
    return CHANGES.index(change)


@parts.says_why
def _cells(run: Run) -> None:
    """What became of the cells of every attribute, as shares of all rows."""
    st.subheader("What became of the cells")
    shares = {name: share_of_changes(of_rows) for name, of_rows in parts.measured(run, changes_of).items()}
    kept = np.mean([one[0] for one in shares.values()])
    parts.chart(
        change_bars(shares),
        "before-after-changes",
        f"Of all cells of all {run.data.n_rows:,} rows, {share_text(kept)} are published as they were. "
        + " ".join(
            f"{change.value.capitalize()}: {MEANINGS[change]}."
            for number, change in enumerate(CHANGES)
            if any(one[number] for one in shares.values())
        ),
        "Bar chart of what became of the cells of each attribute: "
        + "; ".join(f"{name} {one[0]:.0%} kept" for name, one in shares.items())
        + ".",
    )


@parts.fragment
def _two_attributes(run: Run) -> None:
    """The table of two attributes before, after, and what changed."""
    names = list(run.release.attributes)
    if len(names) < 2:
        return
    st.subheader("Two attributes")
    first = next((name for name in run.data.quasi_identifiers if name in names), names[0])
    with st.container(horizontal=True):
        across = parts.choice(
            "Across", names, "before-after-across", "Attribute on the horizontal axis.", index=names.index(first)
        )
        rest = [name for name in names if name != across]
        secret = next((name for name in run.data.sensitive if name in rest), rest[0])
        up = parts.choice("Up", rest, "before-after-up", "Attribute on the vertical axis.", index=rest.index(secret))
    x, y = _axes(run.release, across, up)
    table = parts.soon("Pairs of values are counted", run, _joint, across, up)
    if table is None:
        return
    before, after = table.before / run.data.n_rows, table.after / run.data.n_rows
    largest = float(max(before.max(), after.max()))
    style, moved = run.style, share_text(table.moved)
    drawn = {
        "before": (joint_map(x, y, before, None, largest), "Before: share of the rows of the original table."),
        "after": (
            joint_map(x, y, after, style, largest),
            "After: the share that a reader of the release expects, in the same scale.",
        ),
        "difference": (
            difference_map(x, y, after - before),
            f"Difference: vermillion lost rows, blue gained rows. {moved} of the rows lie elsewhere.",
        ),
    }
    for place, (key, (figure, caption)) in zip(st.columns(3, gap="small"), drawn.items(), strict=True):
        with place:
            alt = f"Map of {across} and {up}, {key}; {moved} of the rows move."
            parts.chart(figure, f"before-after-joint-{key}", caption, alt)
    st.caption(
        f"The table of '{escaped(across)}' and '{escaped(up)}' as a reader reconstructs it: all values of a region are "
        f"equally likely, and so are all links between the rows of one group. Neighbouring values "
        "share a cell where there are many."
    )


def _axes(release: Release, across: str, up: str) -> tuple[Axis, Axis]:
    first, second = (Axis.of(release.data.domain[name], MOST_PAIR_BINS) for name in (across, up))
    return first, second


def _joint(release: Release, across: str, up: str) -> JointTable:
    x, y = _axes(release, across, up)
    return joint_table(release, across, up, (x.bin_of, y.bin_of))


@dataclass(frozen=True, eq=False)
class Difference:
    """How one attribute differs between the rows that are left out and all rows.

    `left_out` and `everybody` are shares by bin of `axis`; `distance` is the share of the rows left out that would have
    to have another value for both to be alike; `bin` is the one that is most too frequent.
    """

    axis: Axis
    left_out: Floats
    everybody: Floats

    @property
    def distance(self) -> float:
        return float(np.abs(self.left_out - self.everybody).sum()) / 2

    @property
    def bin(self) -> int:
        return int(np.argmax(self.left_out - self.everybody))

    @property
    def words(self) -> str:
        """The value that is most too frequent, and how frequent it is."""
        place = self.bin
        value = escaped(self.axis.bin_texts[place])
        return (
            f"{self.left_out[place]:.0%} have '{escaped(self.axis.name)}' {value} "
            f"(of all rows {self.everybody[place]:.0%})"
        )


def differences_of(release: Release) -> tuple[Difference, ...]:
    """How each published attribute differs, the largest difference first; nothing where no row is left out."""
    if release.is_synthetic:
        return ()
    data, left_out = release.data, release.suppressed_rows
    if not left_out.any():
        return ()
    found = []
    for name in release.attributes:
        axis, codes = Axis.of(data.domain[name], MOST_BINS), data.codes[name]
        found.append(Difference(axis, axis.counts(codes[left_out]) / left_out.sum(), axis.counts(codes) / data.n_rows))
    return tuple(sorted(found, key=lambda one: -round(one.distance, 9)))


def who_is_left_out(run: Run) -> None:
    """Who is left out of a run, where it leaves out anybody."""
    found: tuple[Difference, ...] = parts.measured(run, differences_of)
    if not found:
        if isinstance(run.algorithm, Suppression):
            st.caption("No row is left out: that would not have lowered the information loss.")
        return
    n_rows = int(run.release.suppressed_rows.sum())
    st.subheader("Who is left out")
    named = "; ".join(one.words for one in found[:MOST_DIFFERENT])
    st.markdown(
        f"{n_rows:,} of {run.data.n_rows:,} rows ({share_text(n_rows / run.data.n_rows)}) are left out: whatever "
        f"others may know of them is published as any value. They differ from all rows most in this: {named}."
    )
    names = [one.axis.name for one in found]
    name = parts.choice("Attribute of those left out", names, "left-out-attribute", "The largest difference is first.")
    shown = found[names.index(name)]
    parts.chart(
        distribution(shown.axis, shown.everybody, shown.left_out, BLUE, ("all rows", "left out")),
        "left-out-distribution",
        f"'{escaped(name)}' among all rows and among those left out. {shown.distance:.0%} of those left "
        "out would need another value for both to be alike.",
        f"Bar chart of the shares of {name} among all rows and among those left out.",
    )
