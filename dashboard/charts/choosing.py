"""Privacy loss and information loss over k, and what both cost together."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from anoncore.search.choosing import Choice
from dashboard.charts.layout import figure
from dashboard.palette import BLUE, GREEN, ORIGINAL, VERMILLION


def losses_over_k(choice: Choice) -> go.Figure:
    """t, i and C = alpha t + (1 - alpha) i over k, with the k of least cost marked."""
    best = int(np.flatnonzero(choice.k == choice.best)[0])
    common: dict[str, Any] = {"x": choice.k, "mode": "lines+markers"}
    hover = "k = %{x:,}: %{y:.4f}<extra>%{fullData.name}</extra>"
    traces = [
        go.Scatter(
            **common,
            y=values,
            name=name,
            line={"color": color, "width": width, "dash": dash},
            marker={"symbol": symbol, "size": 6},
            hovertemplate=hover,
        )
        for name, values, color, width, dash, symbol in (
            ("privacy loss t", choice.t, VERMILLION, 2, "dash", "square"),
            ("information loss i", choice.information_loss, BLUE, 2, "dot", "diamond"),
            ("cost C", choice.cost, GREEN, 3, "solid", "circle"),
        )
    ]
    top = float(max(choice.t.max(), choice.information_loss.max(), 1e-3)) * 1.08
    line = go.Scatter(
        x=[choice.best, choice.best],
        y=[0.0, top],
        mode="lines",
        line={"color": ORIGINAL, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
        showlegend=False,
        name="",
    )
    mark = go.Scatter(
        x=[choice.best],
        y=[choice.cost[best]],
        mode="markers",
        marker={"symbol": "circle-open", "size": 17, "color": GREEN, "line": {"width": 3}},
        hovertemplate=f"best: k = {choice.best:,}, C = {choice.cost[best]:.4f}<extra></extra>",
        name=f"best: k = {choice.best:,}",
    )
    wide = choice.k[-1] > 12 * choice.k[0] and choice.k[-1] > 60
    result = figure(line, *traces, mark, x="k (evenly by factors)" if wide else "k", y="loss", height=400, legend=True)
    result.update_yaxes(range=[0, top], zeroline=False)
    if wide:
        ticks = [
            k for k in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 50_000) if k <= choice.k[-1]
        ]
        result.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{k:,}" for k in ticks])
    return result
