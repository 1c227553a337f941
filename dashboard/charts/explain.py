"""What keeps groups whole, as a figure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from dashboard.charts.layout import distinct_labels, figure, marker
from dashboard.charts.palette import RunStyle


def bound_groups(reasons: Mapping[str, int], style: RunStyle, words: str) -> go.Figure:
    """How many groups each reason keeps whole."""
    labels = distinct_labels(list(reasons))
    bars = go.Bar(
        y=labels,
        x=np.array(list(reasons.values())),
        orientation="h",
        marker=marker(style),
        texttemplate="%{x:,}",
        textposition="outside",
        cliponaxis=False,
        hovertemplate=f"%{{y}}: %{{x:,}} {words}<extra></extra>",
        name=words,
    )
    top = max([*reasons.values(), 1])
    result = figure(bars, x=words, height=110 + 40 * len(labels), labels=labels)
    result.update_xaxes(range=[0, top * 1.18])
    result.update_yaxes(type="category", autorange="reversed", ticksuffix=" ")
    return result
