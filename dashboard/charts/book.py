"""The reproduction book: verdicts per paper, and our curves beside the papers'."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

import plotly.graph_objects as go

from dashboard.charts.layout import bars, figure, marker
from dashboard.charts.palette import (
    BLUE,
    GREEN,
    ORANGE,
    ORIGINAL,
    OUTLINE,
    PURPLE,
    SKY,
    VERMILLION,
    RunStyle,
    run_style,
)
from dashboard.reproduction import (
    BY_HAND,
    DIFFERENT,
    NOT_APPLICABLE,
    NOT_REPRODUCED,
    REPRODUCED,
    TIMED,
    VERDICTS,
    Plot,
    Result,
)

STYLES = {
    REPRODUCED: RunStyle(BLUE, BLUE, "circle", "solid"),
    DIFFERENT: RunStyle(ORANGE, OUTLINE, "square", "dash"),
    NOT_REPRODUCED: RunStyle(VERMILLION, VERMILLION, "diamond", "dot"),
    TIMED: RunStyle(PURPLE, PURPLE, "star", "dash"),
    BY_HAND: RunStyle(SKY, OUTLINE, "triangle-up", "dashdot"),
    NOT_APPLICABLE: RunStyle(ORIGINAL, ORIGINAL, "x", "solid"),
}
PAPER = (RunStyle(GREEN, GREEN, "star", "dash"), RunStyle(GREEN, GREEN, "star-open", "dot"))
UNCHANGED = RunStyle(ORIGINAL, ORIGINAL, "circle", "dot")
OURS = tuple(style for style in map(run_style, range(6)) if style.color != GREEN)


def verdicts(results: Sequence[Result]) -> go.Figure:
    """Figures and tables of each paper by verdict, one bar per paper."""
    titles = [one.title for one in results]
    shown = {verdict: ([one.counts[verdict] for one in results], STYLES[verdict]) for verdict in VERDICTS}
    titles, hover = [one.title for one in results], "%{y}: %{x} %{fullData.name}"
    result = bars(titles, shown, "figures and tables", form="", hover=hover, row=34, stacked=True, legend=True)
    return result.update_layout(legend_traceorder="normal")


def curves(plot: Plot) -> go.Figure:
    """Our curves with the styles of runs but green, those that a paper prints or models as green stars on dashes.

    The vertical axis begins at 0 unless all values lie close together above it.
    """
    traces = []
    theirs, ours = cycle(PAPER), cycle(OURS)
    for one in plot.curves:
        style = UNCHANGED if one.name == "original data" else next(theirs if one.paper else ours)
        traces.append(
            go.Scatter(
                x=one.x,
                y=one.y,
                mode="lines+markers",
                name=one.name,
                line={"color": style.color, "dash": style.dash, "width": 2},
                marker={**marker(style), "symbol": style.symbol, "size": 11 if one.paper else 7},
                hovertemplate=f"{plot.x} %{{x:,}}: %{{y:.4g}}<extra>%{{fullData.name}}</extra>",
            )
        )
    rows = -(-len(traces) // 4)
    result = figure(*traces, x=plot.x, y=plot.y, height=360 + 20 * rows, legend=True)
    result.update_layout(margin_t=18 + 20 * rows, margin_l=86)
    if plot.log_y:
        result.update_yaxes(type="log", dtick=1)
    elif min(min(one.y) for one in plot.curves) < max(max(one.y) for one in plot.curves) / 2:
        result.update_yaxes(rangemode="tozero")
    if plot.log_x:
        places = sorted({x for one in plot.curves for x in one.x})
        result.update_xaxes(type="log", tickvals=places, ticktext=[f"{x:,.0f}" for x in places])
    return result
