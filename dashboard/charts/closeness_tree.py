"""One group against the table along a hierarchy: the mass that climbs from subtree to subtree, and where it turns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from anoncore.kernels.arrays import Floats, Int64
from anoncore.privacy import Transport
from anoncore.table.tree import Tree
from dashboard.charts.closeness import Rows, rows_figure
from dashboard.charts.layout import faint, shortened
from dashboard.charts.palette import ORIGINAL, RunStyle

MOST_LEAVES = 24
THICKEST = 0.8
"""Thickness of the widest flow, as a share of a row."""


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
