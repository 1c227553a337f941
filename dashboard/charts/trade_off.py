"""Every release that was tried: what it loses against what it gives away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from anoncore.algorithms import Algorithm
from dashboard.charts.layout import figure
from dashboard.palette import ORIGINAL, RunStyle

FINE_TICKS = 0.05
"""Axes that end below this share have ticks with a decimal, as two of them would be the same without."""


@dataclass(frozen=True)
class Tried:
    """One release: name, cost and risk as shares, its style where a column of the board shows it, and its method."""

    label: str
    cost: float
    risk: float
    style: RunStyle | None = None
    algorithm: Algorithm | None = None

    @property
    def key(self) -> tuple[str, float, float]:
        """What tells it from others: what it is asked for, and both numbers."""
        return repr(self.algorithm), round(self.cost, 12), round(self.risk, 12)


def unbeaten(tried: Sequence[Tried]) -> list[Tried]:
    """The releases that no other one beats in cost and in risk, by cost."""
    found: list[Tried] = []
    for one in sorted(tried, key=lambda each: (each.cost, each.risk)):
        if not found or one.risk < found[-1].risk:
            found.append(one)
    return found


def trade_off(tried: Sequence[Tried], risk: str, gains: Sequence[tuple[int, int]] = ()) -> go.Figure:
    """Cost to the right, risk upwards; shown columns in their colours, and the least cost at each risk as a line.

    `gains` are the places of two releases each that differ in nothing but that the second one was refined.
    """
    line = unbeaten(tried)
    traces = [
        go.Scatter(
            x=[one.cost for one in line],
            y=[one.risk for one in line],
            mode="lines",
            line={"color": ORIGINAL, "width": 1.5, "dash": "dot", "shape": "hv"},
            name="least cost at each risk",
            hoverinfo="skip",
        )
    ]
    if gains:
        traces.append(
            go.Scatter(
                x=[value for pair in gains for value in (*(tried[place].cost for place in pair), None)],
                y=[value for pair in gains for value in (*(tried[place].risk for place in pair), None)],
                mode="lines",
                line={"color": ORIGINAL, "width": 2.5},
                name="gained by refining",
                hoverinfo="skip",
            )
        )
    for group, name in (([one for one in tried if one.style is None], "tried before"), *_shown(tried)):
        if not group:
            continue
        style = group[0].style
        traces.append(
            go.Scatter(
                x=[one.cost for one in group],
                y=[one.risk for one in group],
                mode="markers",
                marker={
                    "color": ORIGINAL if style is None else style.color,
                    "symbol": "circle-open" if style is None else style.symbol,
                    "size": 8 if style is None else 13,
                    "line": {"color": ORIGINAL if style is None else style.outline, "width": 1.2},
                },
                name=name,
                text=[one.label for one in group],
                hovertemplate="%{text}<br>lost %{x:.1%}, " + risk + " %{y:.1%}<extra></extra>",
            )
        )
    result = figure(*traces, x="lost (two-way error): less is better", y=risk, height=330, legend=True)
    for update, values in (
        (result.update_xaxes, [one.cost for one in tried]),
        (result.update_yaxes, [one.risk for one in tried]),
    ):
        # From below zero to above the largest, so that no mark is cut by an axis.
        top = max([*values, 0.01])
        update(tickformat=".0%" if top > FINE_TICKS else ".1%", range=(-0.05 * top, 1.07 * top), zeroline=False)
    return result


def _shown(tried: Sequence[Tried]) -> list[tuple[list[Tried], str]]:
    return [([one], one.label) for one in tried if one.style is not None]
