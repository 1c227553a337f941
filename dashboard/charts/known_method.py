"""The minimality attack as a figure: how much stronger beliefs become by knowing the method."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from anoncore.kernels.arrays import Floats
from dashboard.charts.layout import figure, marker
from dashboard.palette import RunStyle

EDGES = (-1.0, -0.2, -0.05, -0.005, 0.005, 0.05, 0.2, 0.5, 1.0)
LABELS = (
    "20 or more down",
    "5–20 down",
    "up to 5 down",
    "unchanged",
    "up to 5 up",
    "5–20 up",
    "20–50 up",
    "50 or more up",
)


def gain_shares(gain: Floats) -> Floats:
    """Share of the people in each class of LABELS by how much the strongest belief about them changes."""
    counts = np.bincount(np.clip(np.searchsorted(EDGES, gain, side="right") - 1, 0, len(LABELS) - 1), minlength=8)
    return counts / max(len(gain), 1)


def gain_bars(gain: Floats, style: RunStyle) -> go.Figure:
    """Share of the people by how many percentage points the strongest belief about them changes."""
    shares = gain_shares(gain)
    bars = go.Bar(
        x=list(LABELS),
        y=shares,
        text=[f"{share:.1%}" if share else "" for share in shares],
        textposition="outside",
        cliponaxis=False,
        marker=marker(style),
        hovertemplate="%{y:.2%} of the people<br>belief %{x} (percentage points)<extra></extra>",
    )
    result = figure(bars, x="change of the strongest belief, in percentage points", y="share of the people", height=310)
    result.update_yaxes(tickformat=".0%", rangemode="tozero", range=[0, max(float(shares.max()) * 1.12, 0.01)])
    return result
