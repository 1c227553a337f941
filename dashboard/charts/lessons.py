"""Figures that only lessons need: a few shares as bars, and people in a plane that is cut into boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from anoncore import Generalized, Release
from dashboard.charts.layout import Floats, distinct_labels, faint, figure, marker
from dashboard.palette import ORIGINAL, RunStyle


def share_bars(labels: Sequence[str], shares: Sequence[float] | Floats, style: RunStyle, x: str) -> go.Figure:
    """One bar per label with its share written beside it, the first on top."""
    names = distinct_labels(labels)
    bars = go.Bar(
        y=names,
        x=np.asarray(shares, dtype=np.float64),
        orientation="h",
        marker=marker(style),
        texttemplate="%{x:.1%}",
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y}: %{x:.2%}<extra></extra>",
        name="",
    )
    result = figure(bars, x=x, height=100 + 40 * len(names), labels=names)
    result.update_xaxes(range=[0, 1.12], tickformat=".0%", tickvals=np.linspace(0, 1, 5))
    result.update_yaxes(type="category", autorange="reversed", ticksuffix=" ")
    return result


def plane(release: Release, across: str, up: str, style: RunStyle) -> go.Figure:
    """The rows as points of two numeric attributes, and the box of every group of a generalized release."""
    data = release.data
    x, y = (data.domain[name].positions[data.codes[name]] for name in (across, up))
    points = go.Scatter(
        x=x,
        y=y,
        mode="markers",
        marker={"color": ORIGINAL, "size": 8},
        hovertemplate=f"{across} %{{x:,}}<br>{up} %{{y:,}}<extra></extra>",
        name="people",
    )
    left, right = _sides(release, across)
    bottom, top = _sides(release, up)
    gap = np.full(len(left), np.nan)
    boxes = go.Scatter(
        x=np.column_stack([left, right, right, left, left, gap]).ravel(),
        y=np.column_stack([bottom, bottom, top, top, bottom, gap]).ravel(),
        mode="lines",
        line={"color": style.color, "width": 2},
        fill="toself",
        fillcolor=faint(style.color, 0.14),
        hoverinfo="skip",
        name="classes",
    )
    result = figure(boxes, points, x=across, y=up, height=400, legend=True)
    result.update_xaxes(showgrid=False, zeroline=False)
    result.update_yaxes(showgrid=False, zeroline=False)
    result.update_layout(margin={"l": 84})
    return result


def _sides(release: Release, name: str) -> tuple[Floats, Floats]:
    """Where the box of every group begins and ends, a little beyond its values so that single ones are seen."""
    recoding = release.recoding(name)
    assert isinstance(recoding, Generalized)
    positions = release.data.domain[name].positions
    beyond = 0.006 * float(positions[-1] - positions[0])
    return positions[recoding.low] - beyond, positions[recoding.high] + beyond
