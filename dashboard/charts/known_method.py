"""The minimality attack as a figure: how much stronger beliefs become by knowing the method."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from anoncore.kernels.arrays import Floats
from dashboard.charts.layout import figure, marker
from dashboard.charts.palette import RunStyle

EDGES = (-1.0, -0.2, -0.05, -0.005, 0.005, 0.05, 0.2, 0.5, 1.0)
LABELS = (
    "falls by 20 or more",
    "falls by 5 to 20",
    "falls by less than 5",
    "stays as it is",
    "rises by less than 5",
    "rises by 5 to 20",
    "rises by 20 to 50",
    "rises by 50 or more",
)


def gain_shares(gain: Floats) -> Floats:
    """Share of the people in each class of LABELS by how much the strongest belief about them changes."""
    counts = np.bincount(np.clip(np.searchsorted(EDGES, gain, side="right") - 1, 0, len(LABELS) - 1), minlength=8)
    return counts / max(len(gain), 1)


def gain_bars(gain: Floats, style: RunStyle) -> go.Figure:
    """Share of the people by how many percentage points the strongest belief about them changes."""
    shares = gain_shares(gain)
    bars = go.Bar(
        x=shares,
        y=list(LABELS),
        orientation="h",
        text=[f"{share:.1%}" for share in shares],
        textposition="outside",
        cliponaxis=False,
        marker=marker(style),
        hovertemplate="%{x:.2%} of the people<br>belief %{y} percentage points<extra></extra>",
    )
    result = figure(bars, x="share of the people", y="", height=340)
    result.update_xaxes(tickformat=".0%", rangemode="tozero", range=[0, max(float(shares.max()) * 1.15, 0.01)])
    result.update_yaxes(automargin=True)
    return result
