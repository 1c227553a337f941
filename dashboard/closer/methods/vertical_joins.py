"""Joins of fragments: which classes would have joined to too few rows, and that none does as published."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Release, privacy
from anoncore.privacy import JoinCheck, WorstJoins
from dashboard.charts.fragments import join_map
from dashboard.closer.methods.vertical_outcomes import algorithm_of
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.session import compute
from dashboard.session.state import Run

MOST_PAIRS = 200


@st.fragment
def draw(run: Run) -> None:
    """Which joins were unsafe before class values changed, and that none is after."""
    release = run.release
    check = compute.cached("privacy.joins", run, privacy.joins)
    first, second = _pair(release)
    found = compute.cached("vertical.worst_joins", run, privacy.worst_joins, first, second)
    _join_tiles(check, found, release, (first, second))
    names = [parts.escaped(release.fragments[place].name) for place in (first, second)]
    left, right = st.columns(2, gap="medium")
    with left:
        _map(found, False, names)
    with right:
        if found.n_broken:
            _map(found, True, names)
        else:
            st.info(_nothing_broken(run))
    if found.n_broken:
        _ranked(run, found, (first, second), names)
    if len(release.fragments) > 2:
        _larger_joins(check)


def _map(found: WorstJoins, published: bool, names: list[str]) -> None:
    """The joins of the worst classes by the original or by the published class values."""
    when = "after" if published else "before"
    unsafe = int((found.broken_after if published else found.broken_before).sum())
    most = "most unsafe joins, worst first" if found.n_broken else "smallest joins"
    if found.n_broken:
        st.markdown(f"**{when.capitalize()} class values were changed**")
    parts.chart(
        join_map(found, published, names),
        key=f"vertical-joins-{when}",
        caption=f"The {len(found.first)} classes of {names[0]} and {len(found.second)} of {names[1]} with the "
        f"{most}: {unsafe:,} of {found.before.size:,} joins drawn here are unsafe.",
        alt=f"Grid of joins of classes {when} the changes; {unsafe:,} of {found.before.size:,} are unsafe.",
    )


def _pair(release: Release) -> tuple[int, int]:
    """The two fragments whose joins are shown."""
    numbers = range(len(release.fragments))
    pairs = [(one, other) for one in numbers for other in numbers if one < other]
    return parts.choice(
        "Fragments that are joined",
        pairs,
        f"vertical-pair-{len(numbers)}",
        "Of all fragments any two, three and more are safe to join; this shows two.",
        names=lambda pair: f"{release.fragments[pair[0]].name} and {release.fragments[pair[1]].name}",
    )


def _join_tiles(check: JoinCheck, found: WorstJoins, release: Release, places: tuple[int, int]) -> None:
    names = tuple(release.fragments[place].name for place in places)
    summary = next(one for one in check.joins if one.fragments == names)
    asks = f"{check.k:,} rows" if check.delta is None else f"eta of {check.delta:g}"
    lowest = "none" if summary.lowest is None else f"{summary.lowest:,.4g}"
    broken = summary.n_broken or 0
    parts.tiles(
        [
            Tile(
                "Joins of two classes",
                f"{found.n_joins:,}",
                "Every class of the one fragment with every class of the other, joined on the class attribute.",
                f"{summary.n_linked or 0:,} are not empty",
            ),
            Tile(
                "Unsafe before",
                f"{found.n_broken:,}",
                f"Joins that have a row, but less than {asks}, if every class published its original class values.",
                f"{found.n_broken / found.n_joins:.2%} of all",
            ),
            Tile(
                "Unsafe after",
                f"{broken:,}",
                "The same as published: the check over all pairs, counted exactly.",
                "every join is safe" if broken == 0 else f"below {asks}",
                broken == 0,
            ),
            Tile(
                "Smallest join",
                lowest if check.delta is not None or summary.lowest is None else f"{lowest} rows",
                "Of the joins that are not empty, as published.",
                f"asked: at least {asks}",
            ),
        ]
    )


def _nothing_broken(run: Run) -> str:
    if algorithm_of(run.release).keeps_class_values(run.data):
        return (
            "Here no class value is changed: classes that share their values are safe to join, and classes with an "
            "unsafe join are merged instead. "
            + " ".join(parts.escaped(note) for note in run.release.notes if "merged" in note)
        )
    return (
        "No join was unsafe to begin with: the classes are large enough, or their values few enough, that any two with "
        "a common value have enough joined rows. A smaller k makes smaller classes and shows unsafe joins."
    )


def _ranked(run: Run, found: WorstJoins, places: tuple[int, int], names: list[str]) -> None:
    """The list of unsafe joins, the lowest first."""
    pairs = compute.cached("vertical.unsafe_pairs", run, privacy.unsafe_pairs, *places, False, MOST_PAIRS)
    what = "Eta" if found.by_eta else "Joined"
    shown = pd.DataFrame(
        {
            f"Class of {names[0]}": pairs["first class"] + 1,
            "Rows": pairs["first rows"],
            f"Class of {names[1]}": pairs["second class"] + 1,
            "Rows there": pairs["second rows"],
            "Common": pairs["common values"],
            f"{what} before": pairs["level"],
            f"{what} after": pairs["published level"].map(
                lambda level: "empty" if np.isnan(level) or (level == 0 and not found.by_eta) else f"{level:,.4g}"
            ),
        }
    )
    st.dataframe(shown, hide_index=True, height=38 + 35 * min(len(shown), 8), key="vertical-pairs")
    cut = f" The first {len(shown):,} of {found.n_broken:,}." if len(shown) < found.n_broken else ""
    st.caption(
        f"The joins that would have broken {'delta' if found.by_eta else 'k'}, the lowest first. Common: values in "
        f"both. {'Eta' if found.by_eta else 'Joined rows'} before class values were changed and after.{cut}"
    )


def _larger_joins(check: JoinCheck) -> None:
    """All sets of fragments as they were checked."""
    frame = pd.DataFrame(
        [
            {
                "Fragments": ", ".join(name.removeprefix("fragment ") for name in one.fragments),
                "Joins": f"{one.n_joins:,}",
                "Unsafe": "not counted" if one.n_broken is None else f"{one.n_broken:,}",
                "Smallest": "bounded by its parts" if one.lowest is None else f"{one.lowest:,.4g}",
            }
            for one in check.joins
        ]
    )
    st.dataframe(frame, hide_index=True, height=38 + 35 * min(len(frame), 8))
    st.caption("Every two and more fragments, joined class by class, as published.")
