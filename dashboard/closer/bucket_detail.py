"""One bucket of a sliced release: its columns as published, each in an order of its own, beside the original rows."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from anoncore import Release
from dashboard.charts.palette import RunStyle, run_style
from dashboard.closer.bucket_rows import MOST_ROWS, people_of, published_rows
from dashboard.elements import parts, routes
from dashboard.session import state
from dashboard.session.state import Run

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
            f"{parts.escaped(named)}. Each column is sorted on its own, as in the published file: a cell says nothing "
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
        state.set_session(f"{PERSON}-{run.id}", row - 1)
        state.set_session("attack", TAB)
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
