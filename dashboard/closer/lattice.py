"""Incognito and optimal recoding: the lattice of levels, what became of each combination, and one up close."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from anoncore.kernels.arrays import Bools, Floats
from anoncore.table.hierarchy_levels import Levels
from dashboard.charts.layout import broken, faint, figure, line, written
from dashboard.charts.palette import ORIGINAL, VERMILLION, RunStyle
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped, few
from dashboard.session import browser
from dashboard.session.workspace import Run
from dashboard.tasks import redrawing

MOST_LABELLED = 40
"""Nodes up to which each has its levels and its loss written below it."""
MOST_EDGES = 1_200
MOST_NARROW = 12
"""Nodes of a height that fill the width of the figure."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """The nodes that are drawn, with their places: `x` from -1 to 1 by loss within a height, `y` the height."""

    nodes: Sequence[Node]
    x: Floats
    y: Floats

    @classmethod
    def of(cls, lattice: Nodes, nodes: Sequence[Node]) -> Drawing:
        """Spread the nodes of each height evenly, in their order, which is by loss."""
        y = np.array([float(sum(node)) for node in nodes])
        x = np.zeros(len(nodes))
        widest = max(np.unique(y, return_counts=True)[1])
        for height in np.unique(y):
            here = np.flatnonzero(y == height)
            # Heights with few nodes are narrower, so that a small lattice has its usual shape.
            reach = min(max(len(here) - 1, 0) / max(min(widest, MOST_NARROW) - 1, 1), 1.0)
            x[here] = np.linspace(-reach, reach, len(here)) if len(here) > 1 else 0.0
        return cls(nodes, x, y)


def lattice_chart(lattice: LatticeMap, drawing: Drawing, style: RunStyle, shown: Node) -> go.Figure:
    """The nodes by state: failing, anonymous, anonymous with none below, and the chosen one; `shown` has a ring."""
    anonymous = lattice.anonymous[tuple(np.array(drawing.nodes).T)]
    minimal = set(lattice.minimal)
    border = np.array([node in minimal for node in drawing.nodes])
    states = (
        (~anonymous, "not anonymous", "circle-open", 9, ORIGINAL),
        (anonymous & ~border, "anonymous", "circle", 10, faint(style.color, 0.55)),
        (border, "anonymous, none below", "diamond", 13, style.color),
    )
    return _chart(lattice, drawing, states, shown)


def search_chart(lattice: SearchMap, drawing: Drawing, style: RunStyle, shown: Node) -> go.Figure:
    """The nodes by what became of them in the search for the optimum, and the chosen one; `shown` has a ring."""
    course = lattice.optimum.course[tuple(np.array(drawing.nodes).T)]
    states = (
        (course == Course.BOUNDED, "left out by its bound", "circle-open", 9, ORIGINAL),
        (course == Course.RULED_OUT, "ruled out by one above", "x-thin-open", 9, ORIGINAL),
        (course == Course.OPEN, "not looked at any more", "square-open", 10, VERMILLION),
        (course == Course.FAILED, "looked at: fails", "circle", 10, faint(style.color, 0.4)),
        (course == Course.POSSIBLE, "looked at: promise holds", "diamond", 13, style.color),
    )
    return _chart(lattice, drawing, states, shown)


def _chart(
    lattice: Nodes, drawing: Drawing, states: Sequence[tuple[Bools, str, str, int, str]], shown: Node
) -> go.Figure:
    """The nodes by state with their edges, the published one and the one that is shown, over one line per height."""
    published = np.array([node == lattice.chosen for node in drawing.nodes])
    states = [(which & ~published, *look) for which, *look in states]
    traces = [_edges(lattice, drawing)]
    traces += [
        _marks(lattice, drawing, *state) for state in (*states, (published, "published", "star", 20, VERMILLION))
    ]
    ring = slice(drawing.nodes.index(shown), drawing.nodes.index(shown) + 1)
    look = {"symbol": "circle-open", "size": 28, "color": VERMILLION, "line": {"width": 2.5}}
    hidden = {"hoverinfo": "skip", "showlegend": False}
    traces.append(go.Scatter(hidden, x=drawing.x[ring], y=drawing.y[ring], mode="markers", marker=look, name="shown"))
    if len(drawing.nodes) <= MOST_LABELLED:
        texts = [f"{_short(node)}<br>{lattice.loss[node]:.0%}" for node in drawing.nodes]
        traces.append(written(drawing.x, drawing.y - 0.38, texts, "levels", textfont={"size": 10}, showlegend=False))
    every = lattice.per_height
    result = figure(*traces, y="height: sum of the levels", height=150 + 44 * max(len(every), 6), legend=True)
    drawn = np.bincount(drawing.y.astype(np.int64), minlength=len(every)).tolist()
    texts = [
        f"{height}" if one == all_of_height else f"{height} ({one:,} of {all_of_height:,})"
        for height, (one, all_of_height) in enumerate(zip(drawn, every.tolist(), strict=True))
    ]
    heights = np.arange(0, len(every), -(-len(every) // 30))
    ticks = {"tickvals": heights, "ticktext": [texts[height] for height in heights]}
    result.update_yaxes(zeroline=False, range=[-0.7, len(every) - 0.3], **ticks)
    result.update_xaxes(visible=False, range=[-1.2, 1.2])
    return result.update_layout(margin_l=36 + round(6.2 * max(map(len, texts))) + 20)


def levels_text(node: Node) -> str:
    """A node as its levels, e.g. `⟨2, 0, 1⟩`."""
    return f"⟨{', '.join(map(str, node))}⟩"


def _short(node: Node) -> str:
    """The levels as narrow as they can be written."""
    return ("" if max(node) < 10 else ".").join(map(str, node))


def _edges(lattice: Nodes, drawing: Drawing) -> go.Scatter:
    """A line from each node to its direct generalizations among those that are drawn."""
    place = {node: number for number, node in enumerate(drawing.nodes)}
    pairs = [(place[node], place[one]) for node in drawing.nodes for one in lattice.above(node) if one in place]
    ends = np.array(pairs[:MOST_EDGES], dtype=np.int64).reshape(-1, 2).T
    x, y = broken(*drawing.x[ends]), broken(*drawing.y[ends])
    return line(x, y, "edges", faint(ORIGINAL, 0.45), width=1, showlegend=False)


def _marks(lattice: Nodes, drawing: Drawing, which: Bools, name: str, symbol: str, size: int, color: str) -> go.Scatter:
    numbers = np.flatnonzero(which)
    texts = [
        f"{levels_text(drawing.nodes[number])}<br>loss {lattice.loss[drawing.nodes[number]]:.1%} before suppression"
        for number in numbers.tolist()
    ]
    return go.Scatter(
        x=drawing.x[numbers],
        y=drawing.y[numbers],
        mode="markers",
        marker={"symbol": symbol, "size": size, "color": color, "line": {"width": 1.5, "color": color}},
        customdata=numbers,
        text=texts,
        hovertemplate=f"%{{text}}<extra>{name}</extra>",
        unselected={"marker": {"opacity": 1}},
        visible=bool(len(numbers)),
        name=name,
    )


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
        partial(lattice_chart, lattice, drawing, run.style),
        lambda node: (
            f"{levels_text(node)}: {'anonymous' if lattice.anonymous[node] else 'not anonymous'}, loss "
            f"{share_text(lattice.loss[node])}"
        ),
        caption,
        f"Lattice of {every.sum():,} combinations of levels, of which {anonymous.sum():,} are anonymous; "
        f"{len(drawing.nodes):,} are drawn. Published: {levels_text(lattice.chosen)}.",
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
        partial(search_chart, lattice, drawing, run.style),
        lambda node: (
            f"{levels_text(node)}: {STATES[Course(int(found.course[node]))]}, bound {share_text(lattice.loss[node])}"
        ),
        caption,
        f"Lattice of {found.n_nodes:,} combinations of levels, of which the search looked at {looked_at:,}; "
        f"{len(drawing.nodes):,} are drawn. Published: {levels_text(lattice.chosen)}.",
    )


def _caption(lattice: Nodes, drawing: Drawing, n_nodes: int, grows: str, drawn: str) -> str:
    text = (
        f"Each mark is a combination of levels, in the order of {escaped(', '.join(lattice.names))}. Lines lead up to "
        "the combinations with one attribute a level higher; within a height the "
        f"{grows} to the right. Click a mark to see it up close."
    )
    n_left = n_nodes - len(drawing.nodes)
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
    nodes = list(drawing.nodes)
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
