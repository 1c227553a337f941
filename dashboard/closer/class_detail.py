"""One group: its rows before and after, its sensitive values against the table's, its place among the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Exact, Fragment, Generalized, GroupValues, Kind, Release
from anoncore.base.texts import counted
from anoncore.kernels.arrays import Codes, Int64
from anoncore.privacy.published import published_values
from anoncore.release.recoding import Recoding
from anoncore.table.people import distinct_pairs
from dashboard.charts.groups import MOST_VALUES, Shares, sensitive_shares
from dashboard.charts.layout import Axis
from dashboard.charts.planes import MOST_OTHERS, Rectangles, RegionMap, region_map
from dashboard.closer.before_after import original_texts, original_values
from dashboard.elements import parts, routes
from dashboard.markdown import escaped
from dashboard.session import browser, state
from dashboard.session.workspace import Run

PUBLISHED, ORIGINAL = "published", "original"
MOST_ROWS = 500
ROW = "row"
HEIGHT = 380
MOST_BESIDE = 5
"""Attributes up to which the original rows stand beside the published ones, and not below."""
PERSON = "person"
TAB = "Matching buckets"


@parts.says_why
def sensitive_chart(run: Run, fragment: Fragment, group: int, attribute: str) -> None:
    """Shares of a sensitive attribute in the group beside those in the table."""
    shares = group_shares(run.release, fragment, group, attribute)
    largest = int(np.argmax(shares.group))
    name = f"group {group}"
    parts.chart(
        sensitive_shares(shares, run.style, name),
        "class-shares",
        f"'{escaped(attribute)}' in {name} as published, and in the whole original table. The closer the "
        f"pairs, the less is learned from knowing that someone is in this group.",
        f"Bar chart of the shares of {attribute} in {name} and in the whole table. In {name} the most frequent "
        f"value is {shares.texts[largest]} with {shares.group[largest]:.0%}; in the table it has "
        f"{shares.table[largest]:.0%}.",
    )


def group_shares(release: Release, fragment: Fragment, group: int, attribute: str) -> Shares:
    """The shares of people to draw: values in the attribute's order, many numbers in bins."""
    publishing = fragment if attribute in fragment.recodings else release.fragment_of(attribute)
    partition, codes = published_values(publishing, attribute)
    domain, original = release.data.domain[attribute], release.data.codes[attribute]
    rows, size, people = partition.rows(group), len(domain), release.data.people
    if people is None:
        inside, table = (np.bincount(values, minlength=size) for values in (codes[rows], original))
    else:
        # Whoever has a value in several rows has it once; the values of a set are nobody's in particular.
        of_rows = isinstance(publishing.recodings[attribute], Exact)
        inside = distinct_pairs(people[rows] if of_rows else rows.astype(np.int32), codes[rows], size)
        table = distinct_pairs(people, original, size)
    if domain.kind is Kind.NUMERIC and len(domain) > MOST_VALUES:
        return Shares.binned(Axis.of(domain, MOST_VALUES), inside, table)
    return Shares.of(inside, table, list(domain.texts))


@parts.says_why
def place_chart(run: Run, fragment: Fragment, group: int) -> None:
    """Where the group lies in the plane of two quasi-identifiers of the reader's choice."""
    names = [name for name in run.data.quasi_identifiers if name in fragment.recodings]
    if len(names) < 2:
        st.info("A map needs two quasi-identifiers that are published together; this release has fewer.")
        return
    across, up = parts.two_quasi_identifiers(run, names, "class", st.columns(2))
    plane = plane_of(run.release, fragment, group, across, up)
    shown = len(plane.others[0])
    region = (
        f"the filled box is what group {group} publishes; the outlines are "
        f"{'the' if shown < MOST_OTHERS else f'the {shown} nearest'} other groups, which overlap here where they "
        "differ in other attributes."
        if len(plane.region[0])
        else f"the coloured marks are the rows of group {group}, which publishes their values as they are."
    )
    parts.chart(
        region_map(plane, run.style, f"group {group}"),
        "class-map",
        f"Grey: the rows of the table, darker where there are more; {region}",
        f"Map of the rows by {across} and {up} with group {group} marked.",
    )


def plane_of(release: Release, fragment: Fragment, group: int, across: str, up: str) -> RegionMap:
    """The map's data: counts of all rows per cell, the group's rows, its region and the nearest others'."""
    data = release.data
    x, y = Axis.of(data.domain[across]), Axis.of(data.domain[up])
    counts = x.pairs(y, data.codes[across], data.codes[up])
    rows = fragment.partition.rows(group)
    size = len(data.domain[across])
    key = data.codes[up][rows].astype(np.int64) * size + data.codes[across][rows]
    pairs, repeats = np.unique(key, return_counts=True)
    points = (x.coordinates[pairs % size], y.coordinates[pairs // size], repeats)
    first, second = fragment.recodings[across], fragment.recodings[up]
    region: Rectangles = (np.zeros(0),) * 4
    others = region
    if isinstance(first, Generalized | GroupValues) and isinstance(second, Generalized | GroupValues):
        region = _region(x, first.values(group), y, second.values(group))
        others = _nearest(x, _bounds(first), y, _bounds(second), group)
    return RegionMap(x, y, counts, points, region, others)


def _bounds(recoding: Generalized | GroupValues) -> tuple[Codes, Codes]:
    if isinstance(recoding, Generalized):
        return recoding.low, recoding.high
    return recoding.members[recoding.offsets[:-1]], recoding.members[recoding.offsets[1:] - 1]


def _region(x: Axis, across: Codes, y: Axis, up: Codes) -> Rectangles:
    """One rectangle per pair of runs of neighbouring values."""
    left, right = x.extent(*runs_of(across))
    bottom, top = y.extent(*runs_of(up))
    n, m = len(left), len(bottom)
    return np.repeat(left, m), np.repeat(right, m), np.tile(bottom, n), np.tile(top, n)


def runs_of(codes: Codes) -> tuple[Codes, Codes]:
    """Ascending codes as runs of neighbours: first and last code of each."""
    breaks = np.flatnonzero(np.diff(codes) > 1)
    return codes[np.append(0, breaks + 1)], codes[np.append(breaks, len(codes) - 1)]


def _nearest(x: Axis, across: tuple[Codes, Codes], y: Axis, up: tuple[Codes, Codes], group: int) -> Rectangles:
    """Rectangles of the groups whose centres lie nearest to the group's, each rectangle once."""
    box = np.column_stack([*x.extent(*across), *y.extent(*up)])
    own = box[group]
    scale = np.array([axis.edges[-1] - axis.edges[0] for axis in (x, y)])
    centre = (box[:, [0, 2]] + box[:, [1, 3]]) / 2
    distance = (((centre - centre[group]) / scale) ** 2).sum(axis=1)
    near = box[np.argsort(distance, kind="stable")[: 4 * MOST_OTHERS]]
    near = near[np.sort(np.unique(near, axis=0, return_index=True)[1])]
    left, right, bottom, top = near[(near != own).any(axis=1)][:MOST_OTHERS].T
    return left, right, bottom, top


@parts.says_why
def rows_tables(run: Run, fragment: Fragment, group: int) -> None:
    """The group's rows: originals beside what is published, or the fragments that the release cuts them into."""
    release = run.release
    size = int(fragment.partition.sizes[group])
    cut = f" The first {MOST_ROWS:,} are shown." if size > MOST_ROWS else ""
    rows_of = "The only row" if size == 1 else f"The {size:,} rows"
    if len(release.fragments) > 1 and release.is_shared:
        if release.algorithm is not None and release.algorithm.family == "slicing":
            _bucket(run, group, size, cut)
            return
        st.markdown(f"**As published: {len(release.fragments)} tables that are not linked inside the group**")
        weights = [max(len(part.attributes), 2) for part in release.fragments]
        for column, part in zip(parts.side_by_side(weights), release.fragments, strict=True):
            column.dataframe(published_rows(part, group), hide_index=True, key=f"class-part-{part.name}")
            column.caption(f"Table '{escaped(part.name)}', sorted by content.")
        st.markdown("**Original rows (not published)**")
        st.dataframe(people_of(release, group), hide_index=True, key="class-original")
        st.caption(
            f"{rows_of} of group {group} before. Any row of the first table may belong to any row of the others.{cut}"
        )
        return
    st.markdown("**Rows before and after**")
    table = before_after(release, fragment, group)
    tint = f"background-color: {run.style.color}33"
    changed = {}
    for name in fragment.attributes:
        if (name, PUBLISHED) in table:
            changed[name, PUBLISHED] = np.where(table[name, ORIGINAL] == table[name, PUBLISHED], "", tint)
    st.dataframe(parts.tinted(table, changed), hide_index=True, key="class-rows")
    st.caption(
        f"{rows_of} of group {group}. Tinted cells are published instead of the original on their left; "
        f"attributes with one column are published as they are. Identifiers are dropped.{cut}"
    )


def before_after(release: Release, fragment: Fragment, group: int) -> pd.DataFrame:
    """The group's rows; columns (attribute, "original") and, where the method changes it, (attribute, "published")."""
    rows = by_content(fragment.partition.rows(group), [release.data.codes[name] for name in fragment.attributes])
    columns: dict[tuple[str, str], Any] = {}
    for name, recoding in fragment.recodings.items():
        exact = type(recoding) is Exact
        columns[name, "" if exact else ORIGINAL] = (original_values if exact else original_texts)(release, name, rows)
        if not exact:
            columns[name, PUBLISHED] = cells(recoding, rows)
    return pd.DataFrame(columns).set_axis(pd.MultiIndex.from_tuples(list(columns)), axis=1)


def _bucket(run: Run, group: int, size: int, cut: str) -> None:
    """A bucket of a slicing, its columns in orders of their own; a click on a person opens the attack on that one."""
    release = run.release
    beside = sum(len(part.attributes) for part in release.fragments) <= MOST_BESIDE
    places: list[Any] = parts.beside() if beside else [st.container(), st.container()]
    height: Any = HEIGHT if size > 9 else "auto"
    with places[0]:
        st.markdown(f"**As published: {len(release.fragments)} columns that are not linked**")
        table = published_bucket(release, group)
        # Every other column of the slicing on a faint ground of the run's colour.
        grounds = {part.name for part in release.fragments[::2]}
        tint = f"background-color: {run.style.color}26"
        parts.table(
            parts.tinted(table, {name: tint for name in table.columns if name[0] in grounds}),
            "class-columns",
            f"The columns of group {group}, each sorted on its own.",
            height,
        )
        named = "; ".join(f"{part.name}: {', '.join(part.attributes)}" for part in release.fragments)
        st.caption(
            f"{escaped(named)}. Each column is sorted on its own, as in the published file: a cell says nothing "
            f"about the cells of other columns in its line.{cut}"
        )
    with places[1]:
        st.markdown("**Original rows (not published)**")
        people = people_of(release, group)
        key = f"class-people-{run.id}-{group}"
        st.dataframe(
            people,
            height=height,
            key=key,
            on_select="rerun",
            selection_mode="single-row-required",
            selection_default={"selection": {"rows": [0]}},
            alt=f"The original rows of group {group}.",
        )
        chosen = parts.selected(key, "rows")
        row = int(people.index[chosen[0] if chosen and chosen[0] < len(people) else 0])
        st.caption(
            f"Group {group} before: {counted(size, 'row')}, numbered as in the table that was loaded, from 1.{cut}"
        )
        if st.button(
            f"What an adversary learns about row {row:,}",
            key="class-to-matching",
            help="The groups that this person may be in, and what each says about the sensitive value.",
        ):
            browser.put(f"{PERSON}-{run.id}", row - 1)
            browser.put("attack", TAB)
            st.switch_page(routes.page("attack"), query_params=state.address())


def published_bucket(release: Release, group: int) -> pd.DataFrame:
    """The bucket's columns side by side, each sorted by content; heads are (column, attribute)."""
    columns = {part.name: published_rows(part, group) for part in release.fragments}
    return pd.concat(columns, axis=1, names=["column", "attribute"])


def people_of(release: Release, group: int) -> pd.DataFrame:
    """The original rows of a shared group, sorted by content; the index counts the table's rows from 1."""
    names = list(release.attributes)
    rows = by_content(release.partition.rows(group), [release.data.codes[name] for name in names])
    return pd.DataFrame(
        {name: original_values(release, name, rows) for name in names}, index=pd.Index(rows + 1, name=ROW)
    )


def published_rows(part: Fragment, group: int) -> pd.DataFrame:
    """What one fragment publishes of the group, sorted by content so that the order links nothing."""
    by_row = [one for one in part.recodings.values() if not isinstance(one, Generalized | GroupValues)]
    rows = by_content(part.partition.rows(group), [codes for recoding in by_row for codes in recoding.bounds()])
    return pd.DataFrame({name: cells(recoding, rows) for name, recoding in part.recodings.items()})


def by_content(rows: Int64, columns: list[Codes]) -> Int64:
    """The first rows by content."""
    keys = [codes[rows] for codes in columns]
    return (rows[np.lexsort(keys[::-1])] if keys else rows)[:MOST_ROWS]


def cells(recoding: Recoding, rows: Int64) -> Any:
    """What is published in these rows: values as they are, days and regions as texts."""
    if isinstance(recoding, Exact) and not recoding.domain.is_date:
        return pd.Series(recoding.domain.decoded).take(recoding.codes[rows]).to_numpy()
    return recoding.texts(rows)
