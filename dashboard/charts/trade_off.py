"""Every release that was tried: one row of the board against another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import plotly.graph_objects as go

from anoncore.algorithms import Algorithm
from anoncore.base.texts import share_text
from dashboard.charts.layout import broken, figure, line
from dashboard.charts.palette import ORIGINAL, RunStyle

FINE_TICKS = 0.05
"""Axes that end below this share have ticks with a decimal, as two of them would be the same without."""
MISSED_OPACITY = 0.45


@dataclass(frozen=True)
class Axis:
    """A row of the board as an axis: its name there, what is measured and in which form."""

    title: str
    measured: str
    form: Literal["share", "number", "count"]
    more_is_better: bool = False

    @property
    def label(self) -> str:
        """What stands beside the axis."""
        return f"{self.title} ({self.measured}): {'more' if self.more_is_better else 'less'} is better"

    def text(self, value: float) -> str:
        """A number of the axis as the cells of the row write it."""
        return {"share": share_text(value), "number": f"{value:.2f}", "count": f"{value:,.0f}"}[self.form]

    def cost(self, value: float) -> float:
        """The number so that less is better."""
        return -value if self.more_is_better else value


@dataclass(frozen=True)
class Tried:
    """One release: name, its numbers to the right and upwards, its style where a column of the board shows it, and its
    method.

    `verdict` says how it fares with what is asked, and `keeps` whether all of that is known to hold.
    """

    label: str
    x: float
    y: float
    style: RunStyle | None = None
    algorithm: Algorithm | None = None
    keeps: bool = True
    verdict: str = ""

    @property
    def key(self) -> tuple[str, float, float]:
        """What tells it from others: what it is asked for, and both numbers."""
        return repr(self.algorithm), round(self.x, 12), round(self.y, 12)

    def told(self, right: Axis, up: Axis) -> str:
        """Both numbers with the names of their rows."""
        return f"{right.title.lower()} {right.text(self.x)}, {up.title.lower()} {up.text(self.y)}"


def frontier(tried: Sequence[Tried], right: Axis, up: Axis) -> list[Tried]:
    """Of the releases that keep what is asked those that no other of these beats in both; the best by `right` first."""
    keeping = [one for one in tried if one.keeps]
    found: list[Tried] = []
    for one in sorted(keeping, key=lambda each: (right.cost(each.x), up.cost(each.y))):
        if not found or up.cost(one.y) < up.cost(found[-1].y):
            found.append(one)
    return found


def trade_off(
    tried: Sequence[Tried],
    right: Axis,
    up: Axis,
    gains: Sequence[tuple[int, int]] = (),
    edges: Sequence[float | None] = (None, None),
) -> go.Figure:
    """Every release as a mark, columns of the board in their colours, those that do not keep what is asked hollow or
    pale; and the frontier of those that do.

    `gains` are the places of two releases each that differ in nothing but that the second one was refined, `edges` the
    numbers to the right and upwards that no release is below, where they are known.
    """
    best = frontier(tried, right, up)
    traces = []
    if best:
        x, y = np.array([(one.x, one.y) for one in best]).T
        traces.append(line(x, y, "best that keeps all that is asked", width=1.5, dash="dot", shape="hv"))
    if gains:
        ends = np.array([[(tried[place].x, tried[place].y) for place in pair] for pair in gains]).transpose(2, 1, 0)
        x, y = (broken(*side) for side in ends)
        traces.append(line(x, y, "gained by refining", width=2.5))
    before = [one for one in tried if one.style is None]
    for group, name in (
        ([one for one in before if not one.keeps], "tried before, not known to keep it"),
        ([one for one in before if one.keeps], "tried before"),
        *(([one], one.label) for one in tried if one.style is not None),
    ):
        if group:
            traces.append(_marks(group, name, right, up))
    result = figure(*traces, x=right.label, y=up.label, height=330, legend=True)
    for draw, edge, angle in ((result.add_vline, edges[0], -90), (result.add_hline, edges[1], 0)):
        if edge is not None:
            draw(edge, line={"color": ORIGINAL, "width": 1.5, "dash": "dash"}, annotation_text="least possible")
            result.layout.annotations[-1].textangle = angle
    for update, axis, values in (
        (result.update_xaxes, right, [one.x for one in tried]),
        (result.update_yaxes, up, [one.y for one in tried]),
    ):
        # From below zero to above the largest, so that no mark is cut by an axis.
        top = max([*values, 0.01 if axis.form == "share" else 0.1])
        ticks = {"share": ".0%" if top > FINE_TICKS else ".1%", "number": "", "count": ",d"}[axis.form]
        update(tickformat=ticks, range=(-0.05 * top, 1.07 * top), zeroline=False)
    return result


def _marks(group: Sequence[Tried], name: str, right: Axis, up: Axis) -> go.Scatter:
    """The marks of releases that look alike."""
    style, keeps = group[0].style, group[0].keeps
    color = ORIGINAL if style is None else style.color
    symbol = "circle" if style is None else style.symbol
    return go.Scatter(
        x=[one.x for one in group],
        y=[one.y for one in group],
        mode="markers",
        marker={
            "color": color,
            "symbol": symbol if keeps else f"{symbol}-open",
            "size": 8 if style is None else 13,
            "opacity": MISSED_OPACITY if style is None and not keeps else 1,
            "line": {
                "color": ORIGINAL if style is None else style.outline if keeps else color,
                "width": 1.2 if keeps else 2,
            },
        },
        name=name,
        text=[one.label for one in group],
        customdata=[[one.told(right, up), one.verdict] for one in group],
        hovertemplate="%{text}<br>%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
    )
