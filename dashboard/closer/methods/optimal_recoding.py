"""Optimal recoding: which combinations of levels its search looked at, and what proves the published one."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from anoncore import Release
from anoncore.algorithms.full_domain.best_first import Course
from anoncore.algorithms.full_domain.lattice import Node
from anoncore.algorithms.full_domain.lattice_map import SearchMap, search_map
from anoncore.base.progress import Progress
from anoncore.base.texts import share_text
from dashboard.charts.lattice import Drawing, levels_text, search_chart
from dashboard.charts.palette import run_style
from dashboard.closer.methods.incognito import picture
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session.workspace import Run

STATES = {
    Course.BOUNDED: "left out by its bound",
    Course.RULED_OUT: "ruled out by one above",
    Course.FAILED: "looked at, fails",
    Course.POSSIBLE: "looked at, the promise holds",
    Course.OPEN: "not looked at any more",
}


def render(run: Run) -> None:
    """Draw the lattice and the chosen combination of levels; nothing of ranges, which are of no lattice."""
    if getattr(run.algorithm, "recoding", "levels") == "ranges":
        return
    lattice = parts.later("Drawing up the search", "optimal.lattice", run, _lattice)
    if lattice is not None:
        _story(run, lattice)


def _lattice(release: Release, progress: Progress) -> SearchMap:
    return search_map(release, progress)


@st.fragment
def _story(run: Run, lattice: SearchMap) -> None:
    drawing, found = Drawing.of(lattice, lattice.excerpt()), lattice.optimum
    looked_at = lattice.count(Course.FAILED) + lattice.count(Course.POSSIBLE)
    parts.tiles(
        [
            Tile("Combinations of levels", f"{found.n_nodes:,}", "One level for each quasi-identifier: the lattice."),
            Tile(
                "Looked at",
                f"{looked_at:,}",
                "Combinations at which the table was grouped, from the top down.",
                f"{share_text(looked_at / found.n_nodes)} of all",
            ),
            Tile(
                "Left out by bound",
                f"{lattice.count(Course.BOUNDED):,}",
                "Combinations that lose at least as much as the published one even if nobody had to be suppressed.",
            ),
            Tile(
                "Ruled out",
                f"{lattice.count(Course.RULED_OUT):,}",
                "Combinations below one at which so many people are in too small classes that too many, or too much, "
                "would be suppressed.",
            ),
            Tile(
                "Published",
                levels_text(lattice.chosen),
                f"Its levels of {escaped(', '.join(lattice.names))}. It loses {share_text(found.loss)}.",
                "proven: none loses less, whoever is suppressed"
                if found.optimal
                else f"at most {_gap(found.gap)} above the least",
            ),
        ]
    )
    picture(
        run,
        lattice,
        drawing,
        partial(search_chart, lattice, drawing, run_style(run.color_index)),
        partial(_name, lattice),
        _caption(lattice, drawing),
        f"Lattice of {found.n_nodes:,} combinations of levels, of which the search looked at {looked_at:,}; "
        f"{len(drawing.nodes):,} are drawn. Published: {levels_text(lattice.chosen)}.",
    )


def _gap(gap: float) -> str:
    return share_text(gap) if np.isfinite(gap) else "an unknown share"


def _name(lattice: SearchMap, node: Node) -> str:
    state = STATES[Course(int(lattice.optimum.course[node]))]
    return f"{levels_text(node)}: {state}, bound {share_text(lattice.loss[node])}"


def _caption(lattice: SearchMap, drawing: Drawing) -> str:
    text = (
        "Each mark is a combination of levels, in the order of "
        f"{escaped(', '.join(lattice.names))}. Lines lead up to the combinations with one attribute a level "
        "higher; within a height the lower bound grows to the right. Click a mark to see it up close."
    )
    n_left = lattice.optimum.n_nodes - len(drawing.nodes)
    if n_left:
        text += (
            f" {n_left:,} combinations are left out: drawn are the published one with its neighbours, those that were "
            "looked at first, the lowest one and the highest one. On the left stands how many of each height are drawn."
        )
    if lattice.count(Course.OPEN):
        text += (
            f" The search was ended before it had looked at {lattice.count(Course.OPEN):,} combinations, or at all "
            "choices of classes to suppress there, whose bound is below the published loss."
        )
    return text
