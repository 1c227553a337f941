"""Groups as figures: how large they are, one against the table, and the mass that moves, by ground distance."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from anoncore.kernels.arrays import Floats, Int64
from anoncore.privacy import Transport
from anoncore.table.domain import Tree
from dashboard.charts.layout import (
    Axis,
    bars,
    broken,
    distinct_labels,
    faint,
    figure,
    left_margin,
    line,
    marker,
    shortened,
)
from dashboard.charts.palette import ORIGINAL, RunStyle
from dashboard.charts.planes import rectangles

MOST_BARS = 40
MOST_VALUES = 14


def size_bins(sizes: Int64) -> Int64:
    """Lower ends of the bars of a size histogram, then one past the largest size, int64 (bars + 1,).

    One bar per size where they are few, bars of one width where sizes lie close, else bars that grow by a factor.
    """
    low, high = int(sizes.min()), int(sizes.max())
    if high - low < MOST_BARS:
        return np.arange(low, high + 2)
    if high <= 20 * float(np.median(sizes)):
        width = -(-(high - low + 1) // MOST_BARS)
        edges = np.arange(low, high + width, width)
    else:
        edges = np.unique(np.round(np.geomspace(low, high + 1, MOST_BARS // 2 + 1)).astype(np.int64))
    edges[-1] = high + 1
    return np.unique(edges)


def bin_label(low: int, high: int) -> str:
    """The sizes low..high as the label of a bar."""
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def size_histogram(sizes: Int64, style: RunStyle, counted: str = "rows") -> go.Figure:
    """Number of groups by size in what is `counted`; bar i has the sizes from `size_bins(sizes)[i]` on."""
    edges = size_bins(sizes)
    labels = [bin_label(int(low), int(after) - 1) for low, after in itertools.pairwise(edges)]
    result = bars(
        labels,
        {"": (np.histogram(sizes, bins=edges)[0], style)},
        "groups",
        upright=True,
        by=f"{counted} in the group",
        form="",
        customdata=np.column_stack([edges[:-1], edges[1:] - 1]),
        hover=f"%{{y:,}} groups of %{{x}} {counted}",
        height=270,
    )
    result.update_layout(bargap=0.12 if len(labels) > 5 else 0.6)
    return result.update_xaxes(nticks=min(len(labels), max(230 // (8 + 7 * len(labels[-1])), 2)), tickangle=0)


@dataclass(frozen=True)
class Shares:
    """Shares of a sensitive attribute's values in one group and in the table, ready to draw; texts follow its order."""

    texts: tuple[str, ...]
    group: Floats
    table: Floats

    @classmethod
    def of(cls, group: Int64 | Floats, table: Int64 | Floats, texts: Sequence[str], most: int = MOST_VALUES) -> Shares:
        """Counts per value as shares; of many values those with the largest shares, the others joined."""
        inside, overall = group / max(group.sum(), 1), table / max(table.sum(), 1)
        if len(texts) <= most:
            return cls(tuple(texts), inside, overall)
        kept = np.sort(np.argsort(-np.maximum(inside, overall), kind="stable")[: most - 1])
        rest = np.setdiff1d(np.arange(len(texts)), kept)
        joined = (np.append(shares[kept], shares[rest].sum()) for shares in (inside, overall))
        return cls((*(texts[code] for code in kept), f"{len(rest):,} other values"), *joined)

    @classmethod
    def binned(cls, axis: Axis, group: Int64 | Floats, table: Int64 | Floats) -> Shares:
        """Counts per code of a numeric attribute as shares of its bins, empty ends cut off."""
        inside, overall = (
            np.bincount(axis.bin_of, weights=counts, minlength=axis.n_bins) / max(counts.sum(), 1)
            for counts in (group, table)
        )
        used = np.flatnonzero(overall + inside)
        return cls(tuple(axis.bin_texts[place] for place in used), inside[used], overall[used])


def sensitive_shares(shares: Shares, style: RunStyle, name: str) -> go.Figure:
    """Shares in one group (`name`) beside those in the whole table, one pair of bars per value, first value on top."""
    return bars(
        shares.texts,
        {"whole table": (shares.table, ORIGINAL), name: (shares.group, style)},
        "share of the rows",
        customdata=np.array(shares.texts, dtype=object),
        hover="%{customdata}<br>%{x:.1%}",
        row=24,
    )


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


def along_order(plan: Transport, style: RunStyle, name: str) -> go.Figure:
    """Shares per value above, below them the mass that crosses from each value to the next; steps are equally wide."""
    size = len(plan.values)
    width = -(-size // MOST_COLUMNS)
    first = np.arange(0, size, width)
    last = np.minimum(first + width, size) - 1
    ends = zip(first, last, strict=True)
    texts = [plan.values[a] if a == b else f"{plan.values[a]} to {plan.values[b]}" for a, b in ends]
    both = _both(plan, np.arange(size) // width, style, name, "x", (first + last) / 2, texts, last - first + 1.0)
    result = figure(*both, _crossing(plan, style), x=" ", y=" ", height=430, legend=True)
    most = max(np.abs(plan.crossing).max(initial=0.0), 1e-3) * 1.15
    ticks = np.arange(0, size, -(-size // 12))
    long = max(len(shortened(plan.values[code], 14)) for code in ticks)
    return result.update_layout(
        barmode="overlay",
        margin={"b": 34 if long <= 6 else 40 + 4 * long, "l": 74},
        yaxis={"domain": [0.44, 1], "title": "share of the rows", "tickformat": ".0%", "rangemode": "tozero"},
        yaxis2={
            "domain": [0, 0.34],
            "title": "moves down | up",
            "tickformat": ".1%",
            "range": [-most, most],
            "nticks": 5,
        }
        | {"fixedrange": True, "zeroline": True},
        xaxis={
            "anchor": "y2",
            "tickvals": ticks,
            "ticktext": distinct_labels([shortened(plan.values[code], 14) for code in ticks]),
            "tickangle": 0 if long <= 6 else 30,
            "range": [-0.7, size - 0.3],
        },
    )


def _both(
    plan: Transport, place: Int64, style: RunStyle, name: str, axis: str, at: Any, texts: Sequence[str], span: Any = 1.0
) -> list[go.Bar]:
    """The two distributions over each other, the table's wide and the group's narrow; `place` joins values to bars."""
    value = "y" if axis == "x" else "x"
    hover = f"%{{customdata}}<br>%{{{value}:.2%}} of the rows<extra>%{{fullData.name}}</extra>"
    common = {axis: at, "customdata": texts, "hovertemplate": hover, "orientation": "v" if axis == "x" else "h"}
    sides = ((plan.table, 0.86, "whole table", ORIGINAL), (plan.group, 0.42, name, style))
    return [
        go.Bar(
            common, **{value: np.bincount(place, weights=shares)}, width=wide * span, name=title, marker=marker(look)
        )
        for shares, wide, title, look in sides
    ]


def _crossing(plan: Transport, style: RunStyle) -> go.Scatter:
    """The sums over prefixes as steps from value to value, at most so many."""
    gaps = np.unique(np.linspace(0, len(plan.crossing) - 1, min(MOST_STEPS, len(plan.crossing))).astype(np.int64))
    crossing = plan.crossing[gaps]
    texts = [
        f"{abs(mass):.2%} of the mass moves {'up' if mass > 0 else 'down'}<br>between {plan.values[gap]} and "
        f"{plan.values[gap + 1]}"
        for gap, mass in zip(gaps, crossing, strict=True)
    ]
    x, y = np.concatenate(([0.0], gaps, [len(plan.values) - 1.0])), np.concatenate(([0.0], crossing, [0.0]))
    filled: dict[str, Any] = {"fill": "tozeroy", "fillcolor": faint(style.color, 0.35), "customdata": ["", *texts, ""]}
    return line(x, y, "mass that moves", style.color, "%{customdata}", 1.5, shape="hv", yaxis="y2", **filled)


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
    ribbons = []
    for a, b in np.argwhere(moved > 0):
        left, right = a + scale * starts[a, b], b + scale * ends[a, b]
        edge = left + (right - left) * (3 * CURVE**2 - 2 * CURVE**3)
        upper = np.concatenate([edge, edge[::-1] + scale * moved[a, b]])
        text = f"{moved[a, b]:.2%} of the mass moves<br>from {rows.texts[a]}<br>to {rows.texts[b]}".replace(
            "&", "&amp;"
        )
        look = {"fill": "toself", "fillcolor": faint(style.color, 0.4), "hoveron": "fills", "xaxis": "x2"}
        ends_of = np.concatenate([CURVE, CURVE[::-1]])
        ribbon = line(ends_of, upper, "", style.outline, width=0.5, text=text, showlegend=False, **look)
        ribbons.append(ribbon.update(hoverinfo="text"))
    # Under the ribbons and not at their ends: there the words would lie over the last share of the bars.
    beside = {"range": [-0.02, 1.02], "tickvals": [0.17, 0.83], "ticktext": ["too much here", "too little here"]}
    return rows_figure(plan, rows, style, name, ribbons).update_layout(xaxis2=beside)


def rows_figure(plan: Transport, rows: Rows, style: RunStyle, name: str, moves: Sequence[Any]) -> go.Figure:
    """Values as rows: the two distributions to the left, `moves` on a second horizontal axis to the right."""
    count = len(rows.texts)
    labels = distinct_labels(rows.texts)
    both = _both(plan, rows.row_of, style, name, "y", np.arange(count), rows.texts)
    result = figure(*both, *moves, x=" ", height=90 + ROW_HEIGHT * max(count, 5), legend=True)
    result.update_layout(
        barmode="overlay",
        margin={"l": left_margin(labels, False)},
        xaxis={"domain": BARS, "title": "share of the rows", "tickformat": ".0%", "rangemode": "tozero", "nticks": 5},
        xaxis2={"domain": MOVES, "anchor": "y", "fixedrange": True, "showgrid": False, "zeroline": False},
    )
    ticks = {"tickvals": np.arange(count), "ticktext": labels, "ticksuffix": " "}
    return result.update_yaxes(range=[count - 0.4, -0.6], zeroline=False, **ticks)


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
            inner = [node for node in ends if tree.children_of(node).size]
            possible = [node for node in inner if len(ends) - 1 + len(tree.children_of(node)) <= most]
            if not possible:
                break
            chosen = max(possible, key=lambda node: (below_cost[node], tree.level[node], -node))
            ends = (ends - {chosen}) | set(tree.children_of(chosen).tolist())
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
                up[node] = up[self.tree.children_of(node)].mean()
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
    x = broken(across[nodes], across[parents], across[parents])
    y = broken(up[nodes], up[nodes], up[parents])
    traces = [line(x, y, "", faint(ORIGINAL, 0.6), width=1, xaxis="x2", showlegend=False)]
    for label, chosen, color in (
        ("goes up", leaving > 1e-12, style.color),
        ("comes down", leaving < -1e-12, ORIGINAL),
    ):
        middle, thick = up[nodes][chosen], half[chosen]
        edges = across[nodes][chosen], across[parents][chosen], middle - thick, middle + thick
        traces.append(rectangles(edges, label, color, 0.6, width=0, xaxis="x2"))
    labels = [shortened(branches.tree.labels[node], 40) for node in nodes]
    told = [
        f"{abs(mass):.2%} of the mass {'leaves' if mass > 0 else 'enters'}<br>{label}"
        for label, mass in zip(labels, leaving, strict=True)
    ]
    # Invisible marks in the middle of the bands say how much moves.
    traces.append(
        _marks((across[nodes] + across[parents]) / 2, up[nodes], {"size": 14, "opacity": 0}, told, "%{customdata}")
    )
    turning = branches.shown[branches.mass[branches.shown] > 1e-12]
    traces.append(_turns(branches, turning, across, up, style))
    axis = {"range": [-0.03, 1.3], "tickvals": [0, 1], "ticktext": ["values", "root"]}
    title = "height in the tree: cost of what turns there"
    return rows_figure(plan, rows, style, name, traces).update_layout(xaxis2=axis | {"title": title}, margin={"t": 54})


def _marks(x: Floats, y: Floats, look: dict[str, Any], customdata: Any, hover: str, **more: Any) -> go.Scatter:
    hidden = {"xaxis": "x2", "showlegend": False, "name": "", "hovertemplate": f"{hover}<extra></extra>"}
    return go.Scatter(hidden, x=x, y=y, marker=look, customdata=customdata, **{"mode": "markers"} | more)


def _turns(branches: Branches, nodes: Int64, across: Floats, up: Floats, style: RunStyle) -> go.Scatter:
    """The nodes at which mass turns, with what that costs."""
    mass, cost = branches.mass[nodes], branches.cost[nodes]
    labels = [shortened(branches.tree.labels[node], 40) for node in nodes]
    size = 8 + 14 * np.sqrt(mass / max(mass.max(initial=0.0), 1e-9))
    look = {"size": size, "color": style.color, "symbol": "circle", "line": {"color": style.outline, "width": 1}}
    told = np.array(list(zip(labels, mass, cost, strict=True)), dtype=object).reshape(-1, 3)
    hover = "%{customdata[0]}<br>%{customdata[1]:.2%} of the mass turns here<br>cost %{customdata[2]:.4f}"
    texts = {"mode": "markers+text", "text": [f" {one:.3f}" for one in cost], "textposition": "top right"}
    return _marks(across[nodes], up[nodes], look, told, hover, **texts)


def _below(tree: Tree, amount: Floats) -> Floats:
    """The amounts of each node and all nodes below it; children come after their parent."""
    total = amount.copy()
    for node in range(len(total) - 1, 0, -1):
        total[tree.parent[node]] += total[node]
    return total
