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
from dashboard.charts.layout import faint, figure
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
    nodes = np.array(drawing.nodes)
    anonymous = lattice.anonymous[tuple(nodes.T)]
    minimal = set(lattice.minimal)
    border = np.array([node in minimal for node in drawing.nodes])
    chosen = _chosen(lattice, drawing)
    marks = [
        _marks(lattice, drawing, ~anonymous, "not anonymous", "circle-open", 9, ORIGINAL),
        _marks(lattice, drawing, anonymous & ~border & ~chosen, "anonymous", "circle", 10, faint(style.color, 0.55)),
        _marks(lattice, drawing, border & ~chosen, "anonymous, none below", "diamond", 13, style.color),
    ]
    return _chart(lattice, drawing, marks, shown)


def search_chart(lattice: SearchMap, drawing: Drawing, style: RunStyle, shown: Node) -> go.Figure:
    """The nodes by what became of them in the search for the optimum, and the chosen one; `shown` has a ring."""
    course = lattice.optimum.course[tuple(np.array(drawing.nodes).T)]
    chosen = _chosen(lattice, drawing)
    marks = [
        _marks(lattice, drawing, (course == one) & ~chosen, name, symbol, size, color)
        for one, name, symbol, size, color in (
            (Course.BOUNDED, "left out by its bound", "circle-open", 9, ORIGINAL),
            (Course.RULED_OUT, "ruled out by one above", "x-thin-open", 9, ORIGINAL),
            (Course.OPEN, "not looked at any more", "square-open", 10, VERMILLION),
            (Course.FAILED, "looked at: fails", "circle", 10, faint(style.color, 0.4)),
            (Course.POSSIBLE, "looked at: promise holds", "diamond", 13, style.color),
        )
    ]
    return _chart(lattice, drawing, marks, shown)


def _chosen(lattice: Nodes, drawing: Drawing) -> Bools:
    """Which of the drawn nodes is the published one."""
    return np.array([node == lattice.chosen for node in drawing.nodes])


def _chart(lattice: Nodes, drawing: Drawing, marks: list[go.Scatter], shown: Node) -> go.Figure:
    """The marks with their edges, the published node and the one that is shown, over one line per height."""
    traces = [
        _edges(lattice, drawing),
        *marks,
        _marks(lattice, drawing, _chosen(lattice, drawing), "published", "star", 20, VERMILLION),
        _ring(drawing, shown),
    ]
    if len(drawing.nodes) <= MOST_LABELLED:
        traces.append(_labels(lattice, drawing))
    every = lattice.per_height
    result = figure(*traces, y="height: sum of the levels", height=150 + 44 * max(len(every), 6), legend=True)
    heights = np.arange(len(every))
    drawn = np.bincount(drawing.y.astype(np.int64), minlength=len(every)).tolist()
    texts = [
        f"{height}" if one == all_of_height else f"{height} ({one:,} of {all_of_height:,})"
        for height, (one, all_of_height) in enumerate(zip(drawn, every.tolist(), strict=True))
    ]
    step = -(-len(heights) // 30)
    result.update_yaxes(
        tickmode="array",
        tickvals=heights[::step],
        ticktext=texts[::step],
        zeroline=False,
        range=[heights[0] - 0.7, heights[-1] + 0.7],
    )
    result.update_xaxes(visible=False, range=[-1.2, 1.2])
    result.update_layout(margin_l=36 + round(6.2 * max(map(len, texts))) + 20)
    return result


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
    ends = np.array(pairs[:MOST_EDGES], dtype=np.int64).reshape(-1, 2)
    gap = np.full(len(ends), np.nan)
    return go.Scatter(
        x=np.column_stack([drawing.x[ends[:, 0]], drawing.x[ends[:, 1]], gap]).ravel(),
        y=np.column_stack([drawing.y[ends[:, 0]], drawing.y[ends[:, 1]], gap]).ravel(),
        mode="lines",
        line={"color": faint(ORIGINAL, 0.45), "width": 1},
        hoverinfo="skip",
        showlegend=False,
        name="edges",
    )


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
        hovertemplate="%{text}<extra>" + name + "</extra>",
        unselected={"marker": {"opacity": 1}},
        visible=bool(len(numbers)),
        name=name,
    )


def _ring(drawing: Drawing, shown: Node) -> go.Scatter:
    number = drawing.nodes.index(shown)
    return go.Scatter(
        x=drawing.x[number : number + 1],
        y=drawing.y[number : number + 1],
        mode="markers",
        marker={"symbol": "circle-open", "size": 28, "color": VERMILLION, "line": {"width": 2.5}},
        hoverinfo="skip",
        showlegend=False,
        name="shown",
    )


def _labels(lattice: Nodes, drawing: Drawing) -> go.Scatter:
    return go.Scatter(
        x=drawing.x,
        y=drawing.y - 0.38,
        text=[f"{_short(node)}<br>{lattice.loss[node]:.0%}" for node in drawing.nodes],
        mode="text",
        textfont={"size": 10},
        hoverinfo="skip",
        showlegend=False,
        name="levels",
    )
