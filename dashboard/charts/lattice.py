"""A lattice of levels as a picture: a line per height, a mark per combination of levels, edges to what is coarser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from anoncore.algorithms.full_domain.best_first import Course
from anoncore.algorithms.full_domain.lattice import Node
from anoncore.algorithms.full_domain.lattice_map import LatticeMap, Nodes, SearchMap
from anoncore.kernels.arrays import Bools, Floats
from dashboard.charts.layout import broken, faint, figure, line, written
from dashboard.charts.palette import ORIGINAL, VERMILLION, RunStyle

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
