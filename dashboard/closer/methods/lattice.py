"""Incognito and optimal recoding: the lattice of levels, what became of each combination, and one up close."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from anoncore import Release
from anoncore.algorithms.full_domain.best_first import Course
from anoncore.algorithms.full_domain.lattice import Node
from anoncore.algorithms.full_domain.lattice_map import (
    LatticeMap,
    Nodes,
    SearchMap,
    lattice_map,
    node_facts,
    search_map,
)
from anoncore.base.texts import counted, share_text
from anoncore.table.hierarchy_levels import Levels
from dashboard.charts.lattice import Drawing, lattice_chart, levels_text, search_chart
from dashboard.charts.palette import run_style
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped, few
from dashboard.session import browser
from dashboard.session.workspace import Run
from dashboard.tasks import redrawing

MOST_NAMED = 5
KEY = "lattice-node"
STATES = {
    Course.BOUNDED: "left out by its bound",
    Course.RULED_OUT: "ruled out by one above",
    Course.FAILED: "looked at, fails",
    Course.POSSIBLE: "looked at, the promise holds",
    Course.OPEN: "not looked at any more",
}
ALL = "One level for each quasi-identifier: the lattice."


def incognito(run: Run) -> None:
    """Draw the lattice, what is anonymous in it, and the chosen combination of levels."""
    lattice = parts.later("Drawing up the lattice", run, lattice_map)
    if lattice is not None:
        _border(run, lattice)


def optimal_recoding(run: Run) -> None:
    """Draw which combinations of levels the search looked at, and what proves the published one; nothing of ranges,
    which are of no lattice."""
    if getattr(run.algorithm, "recoding", "levels") == "ranges":
        return
    lattice = parts.later("Drawing up the search", run, search_map)
    if lattice is not None:
        _search(run, lattice)


@redrawing.part()
def _border(run: Run, lattice: LatticeMap) -> None:
    drawing = Drawing.of(lattice, lattice.excerpt())
    every, anonymous = lattice.counts()
    holds = "Combinations at which the requirements hold, because they do at it or at one below it."
    minimal = "Anonymous combinations with no anonymous one below them. The search ends at them."
    least = f"The one with the least loss: its levels of {escaped(', '.join(lattice.names))}."
    parts.tiles(
        [
            Tile("Combinations of levels", f"{every.sum():,}", ALL),
            Tile("Anonymous", f"{anonymous.sum():,}", holds, f"{anonymous.sum() / every.sum():.0%} of all"),
            Tile("None below", f"{len(lattice.minimal):,}", minimal),
            Tile("Published", levels_text(lattice.chosen), least),
        ]
    )
    caption = _caption(
        lattice,
        drawing,
        int(every.sum()),
        "loss grows",
        "the border between anonymous and not where least is lost",
    )
    if not lattice.is_certain:
        caption += (
            " The search does not look at combinations above an anonymous one; here some of these may fail, and their "
            "details say so."
        )
    _picture(
        run,
        lattice,
        drawing,
        partial(lattice_chart, lattice, drawing, run_style(run.color_index)),
        lambda node: (
            f"{levels_text(node)}: {'anonymous' if lattice.anonymous[node] else 'not anonymous'}, loss "
            f"{share_text(lattice.loss[node])}"
        ),
        caption,
        f"Lattice of {every.sum():,} combinations of levels, of which {anonymous.sum():,} are anonymous; "
        f"{len(redrawing.nodes):,} are drawn. Published: {levels_text(lattice.chosen)}.",
    )


@redrawing.part()
def _search(run: Run, lattice: SearchMap) -> None:
    drawing, found = Drawing.of(lattice, lattice.excerpt()), lattice.optimum
    looked_at = lattice.count(Course.FAILED) + lattice.count(Course.POSSIBLE)
    gap = share_text(found.gap) if np.isfinite(found.gap) else "an unknown share"
    proof = "proven: none loses less, whoever is suppressed" if found.optimal else f"at most {gap} above the least"
    levels = f"Its levels of {escaped(', '.join(lattice.names))}. It loses {share_text(found.loss)}."
    grouped = "Combinations at which the table was grouped, from the top down."
    bounded = "Combinations that lose at least as much as the published one even if nobody had to be suppressed."
    ruled_out = (
        "Combinations below one at which so many people are in too small groups that too many, or too much, would be "
        "suppressed."
    )
    parts.tiles(
        [
            Tile("Combinations of levels", f"{found.n_nodes:,}", ALL),
            Tile("Looked at", f"{looked_at:,}", grouped, f"{share_text(looked_at / found.n_nodes)} of all"),
            Tile("Left out by bound", f"{lattice.count(Course.BOUNDED):,}", bounded),
            Tile("Ruled out", f"{lattice.count(Course.RULED_OUT):,}", ruled_out),
            Tile("Published", levels_text(lattice.chosen), levels, proof),
        ]
    )
    caption = _caption(lattice, drawing, found.n_nodes, "lower bound grows", "those that were looked at first")
    if lattice.count(Course.OPEN):
        caption += (
            f" The search was ended before it had looked at {lattice.count(Course.OPEN):,} combinations, or at all "
            "choices of groups to suppress there, whose bound is below the published loss."
        )
    _picture(
        run,
        lattice,
        drawing,
        partial(search_chart, lattice, drawing, run_style(run.color_index)),
        lambda node: (
            f"{levels_text(node)}: {STATES[Course(int(found.course[node]))]}, bound {share_text(lattice.loss[node])}"
        ),
        caption,
        f"Lattice of {found.n_nodes:,} combinations of levels, of which the search looked at {looked_at:,}; "
        f"{len(redrawing.nodes):,} are drawn. Published: {levels_text(lattice.chosen)}.",
    )


def _caption(lattice: Nodes, drawing: Drawing, n_nodes: int, grows: str, drawn: str) -> str:
    text = (
        f"Each mark is a combination of levels, in the order of {escaped(', '.join(lattice.names))}. Lines lead up to "
        "the combinations with one attribute a level higher; within a height the "
        f"{grows} to the right. Click a mark to see it up close."
    )
    n_left = n_nodes - len(redrawing.nodes)
    if n_left:
        text += (
            f" {n_left:,} combinations are left out: drawn are the published one with its neighbours, {drawn}, the "
            "lowest one and the highest one. On the left stands how many of each height are drawn."
        )
    return text


def _picture(
    run: Run,
    lattice: Nodes,
    drawing: Drawing,
    chart: Callable[[Node], go.Figure],
    names: Callable[[Node], str],
    caption: str,
    alt: str,
) -> None:
    """The lattice, and beside it the combination of levels that is chosen in it."""
    nodes = list(redrawing.nodes)
    left, right = parts.beside(3, 2)
    with right:
        shown = parts.choice(
            "Combination of levels",
            nodes,
            f"{KEY}-{run.id}",
            "Which one is shown up close; a click on a mark of the figure chooses it as well.",
            names=names,
            index=nodes.index(lattice.chosen),
        )
        _details(run, lattice, shown)
    with left:
        key = f"lattice-{run.id}"
        parts.chart(
            chart(shown),
            key,
            caption,
            alt,
            on_select=partial(_clicked, key, f"{KEY}-{run.id}", nodes),
        )


def _clicked(key: str, choice: str, nodes: list[Node]) -> None:
    points = parts.selected(key, "points")
    if not points or points[0].get("customdata") is None:
        return
    number = points[0]["customdata"]
    browser.set_widget_values({choice: nodes[int(number[0] if isinstance(number, list) else number)]})


def _details(run: Run, lattice: Nodes, node: Node) -> None:
    """What the table looks like at a node, and what each attribute shows there."""
    facts = parts.measured(run, node_facts, node)
    word = "Published" if node == lattice.chosen else "Anonymous" if facts.anonymous else "Not anonymous"
    failing, loss = counted(facts.failing, "row"), share_text(facts.loss)
    share = f" ({share_text(facts.failing / run.data.n_rows)})" if facts.failing else ""
    st.markdown(
        f"**{word}.** At these levels the table has {counted(facts.n_groups, 'group')}, the smallest of "
        f"{counted(facts.smallest, 'row')}. In groups that break a requirement: "
        f"{failing if facts.failing else 'no row'}{share}. "
        + (
            f"Suppressed: {counted(facts.suppressed, 'row')}. The information loss is {loss}."
            if facts.anonymous
            else f"The information loss would be {loss}."
        )
    )
    shown = "What each quasi-identifier shows at its level"
    parts.table(level_table(run.release, node), "lattice-levels", f"{shown}.", "content")
    st.caption(f"{shown}; level 0 is the value itself, the highest one says nothing.")


def level_table(release: Release, node: Node) -> pd.DataFrame:
    """A line per quasi-identifier: its level, how many different cells there are, and what they say."""
    rows = []
    for name, level in zip(release.data.quasi_identifiers, node, strict=True):
        levels = Levels.of(release.data.domain[name])
        labels = list(dict.fromkeys(levels.tree.labels[one] for one in levels.node[level]))
        rows.append(
            {
                "Attribute": name,
                "Level": f"{level} of {levels.height}",
                "Cells": len(labels),
                "Shown": few(labels, MOST_NAMED),
            }
        )
    return pd.DataFrame(rows)
