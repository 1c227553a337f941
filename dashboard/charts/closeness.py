"""One group against the table: both distributions, and the mass that moves, by ground distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from anoncore.kernels.arrays import Floats, Int64
from anoncore.privacy import Transport
from anoncore.table.tree import Tree
from dashboard.charts.layout import distinct_labels, faint, figure, left_margin, marker, shortened
from dashboard.charts.palette import ORIGINAL, RunStyle

MOST_LEAVES = 24
THICKEST = 0.8
"""Thickness of the widest flow, as a share of a row."""
MOST_COLUMNS = 60
MOST_STEPS = 300
MOST_ROWS = 14
ROW_HEIGHT = 26
BARS, MOVES = (0.0, 0.4), (0.47, 1.0)
"""Shares of the width for the distributions and for what moves, where values are rows."""
CURVE = np.linspace(0.0, 1.0, 17)
SHARE_UP = "%{customdata}<br>%{y:.2%} of the rows<extra>%{fullData.name}</extra>"
SHARE_ACROSS = SHARE_UP.replace("{y:", "{x:")


def along_order(plan: Transport, style: RunStyle, name: str) -> go.Figure:
    """Shares per value above, below them the mass that crosses from each value to the next; steps are equally wide."""
    size = len(plan.values)
    width = -(-size // MOST_COLUMNS)
    bin_of = np.arange(size) // width
    first = np.arange(0, size, width)
    last = np.minimum(first + width, size) - 1
    texts = [
        plan.values[a] if a == b else f"{plan.values[a]} to {plan.values[b]}" for a, b in zip(first, last, strict=True)
    ]
    common: dict[str, Any] = {"x": (first + last) / 2, "customdata": texts, "hovertemplate": SHARE_UP}
    span = (last - first + 1).astype(np.float64)
    table = go.Bar(
        **common, y=_summed(plan.table, bin_of), width=0.86 * span, name="whole table", marker={"color": ORIGINAL}
    )
    group = go.Bar(**common, y=_summed(plan.group, bin_of), width=0.42 * span, name=name, marker=marker(style))
    result = figure(table, group, _crossing(plan, style), x=" ", y=" ", height=430, legend=True)
    most = max(np.abs(plan.crossing).max(initial=0.0), 1e-3) * 1.15
    ticks = np.arange(0, size, -(-size // 12))
    result.update_layout(
        barmode="overlay",
        yaxis={"domain": [0.44, 1], "title": "share of the rows", "tickformat": ".0%", "rangemode": "tozero"},
        yaxis2={
            "domain": [0, 0.34],
            "title": "moves down | up",
            "tickformat": ".1%",
            "range": [-most, most],
            "nticks": 5,
            "fixedrange": True,
            "zeroline": True,
        },
        xaxis={
            "anchor": "y2",
            "tickvals": ticks,
            "ticktext": distinct_labels([shortened(plan.values[code], 14) for code in ticks]),
            "tickangle": 0 if max(len(plan.values[code]) for code in ticks) <= 6 else 30,
            "range": [-0.7, size - 0.3],
        },
    )
    long = max(len(shortened(plan.values[code], 14)) for code in ticks)
    result.update_layout(margin={"b": 34 if long <= 6 else 40 + 4 * long, "l": 74})
    return result


def _crossing(plan: Transport, style: RunStyle) -> go.Scatter:
    """The sums over prefixes as steps from value to value, at most so many."""
    gaps = np.unique(np.linspace(0, len(plan.crossing) - 1, min(MOST_STEPS, len(plan.crossing))).astype(np.int64))
    crossing = plan.crossing[gaps]
    texts = [
        f"{abs(mass):.2%} of the mass moves {'up' if mass > 0 else 'down'}<br>between {plan.values[gap]} and "
        f"{plan.values[gap + 1]}"
        for gap, mass in zip(gaps, crossing, strict=True)
    ]
    return go.Scatter(
        x=np.concatenate(([0.0], gaps, [len(plan.values) - 1.0])),
        y=np.concatenate(([0.0], crossing, [0.0])),
        customdata=["", *texts, ""],
        hovertemplate="%{customdata}<extra></extra>",
        mode="lines",
        line={"shape": "hv", "color": style.color, "width": 1.5},
        fill="tozeroy",
        fillcolor=faint(style.color, 0.35),
        yaxis="y2",
        name="mass that moves",
    )


@dataclass(frozen=True)
class Rows:
    """The values as rows of a figure: their texts, and the row of every value, int64 (m,)."""

    texts: tuple[str, ...]
    row_of: Int64


def widest_rows(plan: Transport) -> Rows:
    """A row per value; of many, one for each whose share differs most from the table's, and one for all others."""
    size = len(plan.values)
    if size <= MOST_ROWS:
        return Rows(plan.values, np.arange(size))
    kept = np.sort(np.argsort(-np.abs(plan.surplus), kind="stable")[: MOST_ROWS - 1])
    row_of = np.full(size, MOST_ROWS - 1)
    row_of[kept] = np.arange(MOST_ROWS - 1)
    return Rows((*(plan.values[code] for code in kept), f"{size - MOST_ROWS + 1:,} other values"), row_of)


def from_surplus_to_lack(plan: Transport, style: RunStyle, name: str) -> go.Figure:
    """Shares per value, and beside them a ribbon for each move from a value with too much to one with too little."""
    rows = widest_rows(plan)
    count = len(rows.texts)
    pairs = rows.row_of[plan.source] * count + rows.row_of[plan.target]
    moved = np.bincount(pairs, weights=plan.mass, minlength=count * count).reshape(count, count)
    scale = 0.84 / max(moved.sum(axis=1).max(initial=0.0), moved.sum(axis=0).max(initial=0.0), 1e-9)
    starts = np.cumsum(moved, axis=1) - moved - moved.sum(axis=1, keepdims=True) / 2
    ends = np.cumsum(moved, axis=0) - moved - moved.sum(axis=0, keepdims=True) / 2
    ribbons = [
        _ribbon(
            (a + scale * starts[a, b], b + scale * ends[a, b]),
            scale * moved[a, b],
            style,
            f"{moved[a, b]:.2%} of the mass moves<br>from {rows.texts[a]}<br>to {rows.texts[b]}",
        )
        for a, b in np.argwhere(moved > 0)
    ]
    result = rows_figure(plan, rows, style, name, ribbons)
    result.update_layout(
        xaxis2={"range": [-0.02, 1.02], "tickvals": [0, 1], "ticktext": ["too much here", "too little here"]},
        margin={"r": 60},
    )
    return result


def _ribbon(ends: tuple[float, float], width: float, style: RunStyle, text: str) -> go.Scatter:
    """A band from the left to the right of the unit square; `ends` are its upper edge there."""
    edge = ends[0] + (ends[1] - ends[0]) * (3 * CURVE**2 - 2 * CURVE**3)
    return go.Scatter(
        x=np.concatenate([CURVE, CURVE[::-1]]),
        y=np.concatenate([edge, edge[::-1] + width]),
        mode="lines",
        line={"width": 0.5, "color": style.outline},
        fill="toself",
        fillcolor=faint(style.color, 0.4),
        hoveron="fills",
        hoverinfo="text",
        text=text.replace("&", "&amp;"),
        xaxis="x2",
        showlegend=False,
        name="",
    )


def rows_figure(plan: Transport, rows: Rows, style: RunStyle, name: str, moves: Sequence[Any]) -> go.Figure:
    """Values as rows: the two distributions to the left, `moves` on a second horizontal axis to the right."""
    count = len(rows.texts)
    common: dict[str, Any] = {
        "y": np.arange(count),
        "orientation": "h",
        "customdata": rows.texts,
        "hovertemplate": SHARE_ACROSS,
    }
    table = go.Bar(
        **common, x=_summed(plan.table, rows.row_of), width=0.84, name="whole table", marker={"color": ORIGINAL}
    )
    group = go.Bar(**common, x=_summed(plan.group, rows.row_of), width=0.42, name=name, marker=marker(style))
    labels = distinct_labels(rows.texts)
    result = figure(table, group, *moves, x=" ", height=90 + ROW_HEIGHT * max(count, 5), legend=True)
    result.update_layout(
        barmode="overlay",
        margin={"l": left_margin(labels, False)},
        xaxis={"domain": BARS, "title": "share of the rows", "tickformat": ".0%", "rangemode": "tozero", "nticks": 5},
        xaxis2={"domain": MOVES, "anchor": "y", "fixedrange": True, "showgrid": False, "zeroline": False},
    )
    result.update_yaxes(
        tickvals=np.arange(count), ticktext=labels, range=[count - 0.4, -0.6], ticksuffix=" ", zeroline=False
    )
    return result


def _summed(shares: Floats, place: Int64) -> Floats:
    return np.bincount(place, weights=shares).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Branches:
    """The part of a tree that is drawn: `shown` int64 lists its nodes, `ends` those of them that are rows, in order.

    Mass that turns below an end is counted at the end: `mass` and `cost` float (n_nodes,) are zero elsewhere.
    """

    tree: Tree
    shown: Int64
    ends: Int64
    mass: Floats
    cost: Floats

    @classmethod
    def of(cls, plan: Transport, most: int = MOST_LEAVES) -> Branches:
        """Open the node below which most of the cost arises, again and again, while the rows are few enough."""
        tree = plan.tree
        assert tree is not None
        below_mass, below_cost = _below(tree, plan.node_mass), _below(tree, plan.node_cost)
        ends, opened = {0}, []
        while True:
            inner = [node for node in ends if _children(tree, node).size]
            possible = [node for node in inner if len(ends) - 1 + len(_children(tree, node)) <= most]
            if not possible:
                break
            chosen = max(possible, key=lambda node: (below_cost[node], tree.level[node], -node))
            ends = (ends - {chosen}) | set(_children(tree, chosen).tolist())
            opened.append(chosen)
        rows = np.array(sorted(ends, key=lambda node: int(tree.first[node])), dtype=np.int64)
        mass, cost = np.zeros(len(tree.labels)), np.zeros(len(tree.labels))
        mass[opened], cost[opened] = plan.node_mass[opened], plan.node_cost[opened]
        mass[rows], cost[rows] = below_mass[rows], below_cost[rows]
        return cls(tree, np.array(sorted([*opened, *rows.tolist()]), dtype=np.int64), rows, mass, cost)

    def rows(self, plan: Transport) -> Rows:
        """The ends as rows of a figure."""
        texts, row_of = [], np.empty(len(plan.values), dtype=np.int64)
        for row, node in enumerate(self.ends):
            first, last = int(self.tree.first[node]), int(self.tree.last[node])
            row_of[first : last + 1] = row
            label = self.tree.labels[node]
            texts.append(plan.values[first] if first == last else f"{label} ({last - first + 1} values)")
        return Rows(tuple(texts), row_of)

    def places(self) -> tuple[Floats, Floats]:
        """Where each shown node lies: its height as a share of the tree's, and its row; float (n_nodes,)."""
        across = self.tree.level / max(self.tree.height, 1)
        up = np.zeros(len(across))
        up[self.ends] = np.arange(len(self.ends))
        for node in self.shown[::-1]:
            if node not in set(self.ends.tolist()):
                up[node] = up[_children(self.tree, node)].mean()
        return across, up


def through_tree(plan: Transport, style: RunStyle, name: str) -> go.Figure:
    """Shares per value, and beside them the tree: bands as wide as the mass that leaves or enters each subtree."""
    branches = Branches.of(plan)
    rows = branches.rows(plan)
    across, up = branches.places()
    nodes = branches.shown[branches.shown > 0]
    parents = branches.tree.parent[nodes].astype(np.int64)
    leaving = plan.leaving[nodes]
    half = THICKEST / 2 * np.abs(leaving) / max(np.abs(leaving).max(initial=0.0), 1e-9)
    gives, takes = leaving > 1e-12, leaving < -1e-12
    traces = [_joints(across, up, nodes, parents)]
    for label, chosen, color in (("goes up", gives, style.color), ("comes down", takes, ORIGINAL)):
        traces.append(_bands(across[nodes][chosen], across[parents][chosen], up[nodes][chosen], half[chosen], color))
        traces[-1].name = label
        traces[-1].showlegend = True
    traces += [_flow_hover(branches, across, up, nodes, parents, leaving), _turns(branches, across, up, style)]
    result = rows_figure(plan, rows, style, name, traces)
    result.update_layout(
        xaxis2={
            "range": [-0.03, 1.3],
            "tickvals": [0, 1],
            "ticktext": ["values", "root"],
            "title": "height in the tree: cost of what turns there",
        },
        margin={"t": 54},
    )
    return result


def _children(tree: Tree, node: int) -> npt.NDArray[np.int32]:
    return tree.children[tree.child_start[node] : tree.child_start[node + 1]]


def _below(tree: Tree, amount: Floats) -> Floats:
    """The amounts of each node and all nodes below it; children come after their parent."""
    total = amount.copy()
    for node in range(len(total) - 1, 0, -1):
        total[tree.parent[node]] += total[node]
    return total


def _joints(across: Floats, up: Floats, nodes: Int64, parents: Int64) -> go.Scatter:
    """Thin lines from every node to its parent."""
    gap = np.full(len(nodes), np.nan)
    return go.Scatter(
        x=np.column_stack([across[nodes], across[parents], across[parents], gap]).ravel(),
        y=np.column_stack([up[nodes], up[nodes], up[parents], gap]).ravel(),
        mode="lines",
        line={"color": faint(ORIGINAL, 0.6), "width": 1},
        hoverinfo="skip",
        xaxis="x2",
        showlegend=False,
        name="",
    )


def _bands(left: Floats, right: Floats, middle: Floats, half: Floats, color: str) -> go.Scatter:
    gap = np.full(len(left), np.nan)
    return go.Scatter(
        x=np.column_stack([left, right, right, left, left, gap]).ravel(),
        y=np.column_stack([middle - half, middle - half, middle + half, middle + half, middle - half, gap]).ravel(),
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=faint(color, 0.6),
        hoverinfo="skip",
        xaxis="x2",
    )


def _flow_hover(
    branches: Branches, across: Floats, up: Floats, nodes: Int64, parents: Int64, leaving: Floats
) -> go.Scatter:
    """Invisible marks in the middle of the bands that say how much moves."""
    labels = [shortened(branches.tree.labels[node], 40) for node in nodes]
    texts = [
        f"{abs(mass):.2%} of the mass {'leaves' if mass > 0 else 'enters'}<br>{label}"
        for label, mass in zip(labels, leaving, strict=True)
    ]
    return go.Scatter(
        x=(across[nodes] + across[parents]) / 2,
        y=up[nodes],
        mode="markers",
        marker={"size": 14, "opacity": 0},
        customdata=texts,
        hovertemplate="%{customdata}<extra></extra>",
        xaxis="x2",
        showlegend=False,
        name="",
    )


def _turns(branches: Branches, across: Floats, up: Floats, style: RunStyle) -> go.Scatter:
    """The nodes at which mass turns, with what that costs."""
    nodes = branches.shown[branches.mass[branches.shown] > 1e-12]
    mass, cost = branches.mass[nodes], branches.cost[nodes]
    labels = [shortened(branches.tree.labels[node], 40) for node in nodes]
    return go.Scatter(
        x=across[nodes],
        y=up[nodes],
        mode="markers+text",
        marker={
            "size": 8 + 14 * np.sqrt(mass / max(mass.max(initial=0.0), 1e-9)),
            "color": style.color,
            "symbol": "circle",
            "line": {"color": style.outline, "width": 1},
        },
        text=[f" {one:.3f}" for one in cost],
        textposition="top right",
        customdata=np.array(list(zip(labels, mass, cost, strict=True)), dtype=object).reshape(-1, 3),
        hovertemplate="%{customdata[0]}<br>%{customdata[1]:.2%} of the mass turns here<br>cost %{customdata[2]:.4f}"
        "<extra></extra>",
        xaxis="x2",
        showlegend=False,
        name="",
    )
