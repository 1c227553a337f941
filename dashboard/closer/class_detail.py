"""One group: its rows before and after, its sensitive values against the table's, its place among the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Exact, Fragment, Generalized, GroupValues, Kind, Release
from anoncore.kernels.arrays import Codes, Floats
from anoncore.privacy.published import published_values
from anoncore.table.people import distinct_pairs
from dashboard.charts.classes import MOST_OTHERS, MOST_VALUES, RegionMap, Shares, region_map, runs_of, sensitive_shares
from dashboard.charts.layout import Axis
from dashboard.charts.palette import RunStyle, run_style
from dashboard.closer import bucket_detail
from dashboard.closer.bucket_detail import MOST_ROWS, by_content, cells, original_rows, published_rows
from dashboard.elements import parts
from dashboard.markdown import escaped
from dashboard.session.workspace import Run

PUBLISHED, ORIGINAL = "published", "original"


@parts.says_why
def sensitive_chart(run: Run, fragment: Fragment, group: int, attribute: str) -> None:
    """Shares of a sensitive attribute in the group beside those in the table."""
    word = run.release.group_word
    shares = group_shares(run.release, fragment, group, attribute)
    largest = int(np.argmax(shares.group))
    name = f"{word} {group}"
    parts.chart(
        sensitive_shares(shares, run_style(run.color_index), name),
        key="class-shares",
        caption=f"'{escaped(attribute)}' in {name} as published, and in the whole original table. The closer the "
        f"pairs, the less is learned from knowing that someone is in this {word}.",
        alt=f"Bar chart of the shares of {attribute} in {name} and in the whole table. In {name} the most frequent "
        f"value is {shares.texts[largest]} with {shares.group[largest]:.0%}; in the table it has "
        f"{shares.table[largest]:.0%}.",
    )


def group_shares(release: Release, fragment: Fragment, group: int, attribute: str) -> Shares:
    """The shares of people to draw: values in the attribute's order, many numbers in bins."""
    publishing = fragment if attribute in fragment.recodings else release.fragment_of(attribute)
    partition, codes = published_values(publishing, attribute)
    domain = release.data.domain[attribute]
    rows, size, people = partition.rows(group), len(domain), release.data.people
    if people is None:
        inside, table = (
            np.bincount(codes[rows], minlength=size),
            np.bincount(release.data.codes[attribute], minlength=size),
        )
    else:
        # Whoever has a value in several rows has it once; the values of a set are nobody's in particular.
        of_rows = isinstance(publishing.recodings[attribute], Exact)
        inside = distinct_pairs(people[rows] if of_rows else rows.astype(np.int32), codes[rows], size)
        table = distinct_pairs(people, release.data.codes[attribute], size)
    if domain.kind is Kind.NUMERIC and len(domain) > MOST_VALUES:
        return Shares.binned(Axis.of(domain, MOST_VALUES), inside, table)
    return Shares.of(inside, table, list(domain.texts))


@parts.says_why
def place_chart(run: Run, fragment: Fragment, group: int) -> None:
    """Where the group lies in the plane of two quasi-identifiers of the reader's choice."""
    names = [name for name in run.data.quasi_identifiers if name in fragment.recodings]
    word, words = run.release.group_word, parts.plural(run.release.group_word)
    if len(names) < 2:
        st.info("A map needs two quasi-identifiers that are published together; this release has fewer.")
        return
    names.sort(key=lambda name: (run.data.domain[name].kind is not Kind.NUMERIC, -len(run.data.domain[name])))
    left, right = st.columns(2)
    with left:
        across = parts.choice("Across", names, "class-across", "Quasi-identifier on the horizontal axis.")
    with right:
        rest = [name for name in names if name != across]
        up = parts.choice("Up", rest, "class-up", "Quasi-identifier on the vertical axis.")
    plane = plane_of(run.release, fragment, group, across, up)
    generalized = len(plane.region[0]) > 0
    shown = len(plane.others[0])
    region = (
        f"the filled box is what {word} {group} publishes; the outlines are "
        f"{'the' if shown < MOST_OTHERS else f'the {shown} nearest'} other {words}, which overlap here where they "
        "differ in other attributes."
        if generalized
        else f"the coloured marks are the rows of {word} {group}, which publishes their values as they are."
    )
    parts.chart(
        region_map(plane, run_style(run.color_index), f"{word} {group}"),
        key="class-map",
        caption=f"Grey: the rows of the table, darker where there are more; {region}",
        alt=f"Map of the rows by {across} and {up} with {word} {group} marked.",
    )


def plane_of(release: Release, fragment: Fragment, group: int, across: str, up: str) -> RegionMap:
    """The map's data: counts of all rows per cell, the group's rows, its region and the nearest others'."""
    data = release.data
    x, y = Axis.of(data.domain[across]), Axis.of(data.domain[up])
    cell = y.bin_of[data.codes[up]] * x.n_bins + x.bin_of[data.codes[across]]
    counts = np.bincount(cell, minlength=x.n_bins * y.n_bins).reshape(y.n_bins, x.n_bins)
    rows = fragment.partition.rows(group)
    size = len(data.domain[across])
    key = data.codes[up][rows].astype(np.int64) * size + data.codes[across][rows]
    pairs, repeats = np.unique(key, return_counts=True)
    points = (x.coordinates[pairs % size], y.coordinates[pairs // size], repeats)
    first, second = fragment.recodings[across], fragment.recodings[up]
    region = others = (np.zeros(0),) * 4
    if isinstance(first, Generalized | GroupValues) and isinstance(second, Generalized | GroupValues):
        region = _region(x, first.values(group), y, second.values(group))
        others = _nearest(x, _bounds(first), y, _bounds(second), group)
    return RegionMap(x, y, counts, points, region, others)


def _bounds(recoding: Generalized | GroupValues) -> tuple[Codes, Codes]:
    if isinstance(recoding, Generalized):
        return recoding.low, recoding.high
    return recoding.members[recoding.offsets[:-1]], recoding.members[recoding.offsets[1:] - 1]


def _region(x: Axis, across: Codes, y: Axis, up: Codes) -> tuple[Floats, Floats, Floats, Floats]:
    """One rectangle per pair of runs of neighbouring values."""
    left, right = x.extent(*runs_of(across))
    bottom, top = y.extent(*runs_of(up))
    n, m = len(left), len(bottom)
    return np.repeat(left, m), np.repeat(right, m), np.tile(bottom, n), np.tile(top, n)


def _nearest(
    x: Axis, across: tuple[Codes, Codes], y: Axis, up: tuple[Codes, Codes], group: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """Rectangles of the groups whose centres lie nearest to the group's, each rectangle once."""
    box = np.column_stack([*x.extent(*across), *y.extent(*up)])
    own = box[group]
    scale = np.array([x.edges[-1] - x.edges[0], y.edges[-1] - y.edges[0]])
    centre = (box[:, [0, 2]] + box[:, [1, 3]]) / 2
    distance = (((centre - (own[[0, 2]] + own[[1, 3]]) / 2) / scale) ** 2).sum(axis=1)
    near = box[np.argsort(distance, kind="stable")[: 4 * MOST_OTHERS]]
    _, first = np.unique(near, axis=0, return_index=True)
    near = near[np.sort(first)]
    near = near[(near != own).any(axis=1)][:MOST_OTHERS]
    return near[:, 0], near[:, 1], near[:, 2], near[:, 3]


@parts.says_why
def rows_tables(run: Run, fragment: Fragment, group: int) -> None:
    """The group's rows: originals beside what is published, or the fragments that the release cuts them into."""
    release, word = run.release, run.release.group_word
    size = int(fragment.partition.sizes[group])
    cut = f" The first {MOST_ROWS:,} are shown." if size > MOST_ROWS else ""
    rows_of = "The only row" if size == 1 else f"The {size:,} rows"
    if bucket_detail.is_sliced(release):
        bucket_detail.render(run, group)
        return
    if len(release.fragments) > 1 and release.is_shared:
        st.markdown(f"**As published: {len(release.fragments)} tables that are not linked inside the {word}**")
        weights = [max(len(part.attributes), 2) for part in release.fragments]
        for column, part in zip(parts.side_by_side(weights), release.fragments, strict=True):
            column.dataframe(published_rows(part, group), hide_index=True, key=f"class-part-{part.name}")
            column.caption(f"Table '{escaped(part.name)}', sorted by content.")
        st.markdown("**Original rows (not published)**")
        names = list(dict.fromkeys(name for part in release.fragments for name in part.attributes))
        st.dataframe(original_rows(release, fragment, group, names), hide_index=True, key="class-original")
        st.caption(
            f"{rows_of} of {word} {group} before. Any row of the first table may belong to any row of the others.{cut}"
        )
        return
    st.markdown("**Rows before and after**")
    table = before_after(release, fragment, group)
    st.dataframe(_tinted(table, run_style(run.color_index)), hide_index=True, key="class-rows")
    st.caption(
        f"{rows_of} of {word} {group}. Tinted cells are published instead of the original on their left; "
        f"attributes with one column are published as they are. Identifiers are dropped.{cut}"
    )


def before_after(release: Release, fragment: Fragment, group: int) -> pd.DataFrame:
    """The group's rows; columns (attribute, "original") and, where the method changes it, (attribute, "published")."""
    rows = by_content(fragment.partition.rows(group), [release.data.codes[name] for name in fragment.attributes])
    columns: dict[tuple[str, str], Any] = {}
    for name, recoding in fragment.recodings.items():
        original = release.data.frame[name].iloc[rows].reset_index(drop=True)
        if type(recoding) is Exact:
            columns[name, ""] = original
        else:
            columns[name, ORIGINAL] = original
            columns[name, PUBLISHED] = cells(recoding, rows, group)
    table = pd.DataFrame(columns)
    table.columns = pd.MultiIndex.from_tuples(list(columns))
    return table


def _tinted(table: pd.DataFrame, style: RunStyle) -> Any:
    """The table with its published cells coloured where they differ from the original."""
    tint = f"background-color: {style.color}33"
    changed = pd.DataFrame("", index=table.index, columns=table.columns)
    names, versions = (table.columns.get_level_values(level) for level in (0, 1))
    for name, what in zip(names, versions, strict=True):
        if what == PUBLISHED:
            same = table[name, ORIGINAL].astype(str).to_numpy() == table[name, PUBLISHED].astype(str).to_numpy()
            changed[name, PUBLISHED] = np.where(same, "", tint)
    return table.style.apply(lambda _: changed, axis=None)
