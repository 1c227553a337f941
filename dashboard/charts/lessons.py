"""Figures that only lessons need: a few shares as bars, and people in a plane that is cut into boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from anoncore import Generalized, Microdata, Release
from anoncore.kernels.arrays import Floats
from dashboard.charts.layout import distinct_labels, faint, figure, marker
from dashboard.charts.palette import ORIGINAL, VERMILLION, RunStyle


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
    points = np.stack([data.domain[name].positions[data.codes[name]] for name in (across, up)], axis=1)
    sides = [release.recoding(name) for name in (across, up)]
    codes = np.stack([[one.low, one.high] for one in sides if isinstance(one, Generalized)]).transpose(2, 0, 1)
    return boxes_in_plane(data, (across, up), points, codes, style)


def boxes_in_plane(
    data: Microdata,
    names: tuple[str, str],
    points: Floats,
    boxes: npt.NDArray[np.integer],
    style: RunStyle,
    failing: npt.NDArray[np.bool_] | None = None,
) -> go.Figure:
    """Points, float (n, 2), of two numeric attributes and boxes, codes (n_boxes, 2, 2); failing ones in vermillion."""
    wrong = np.zeros(len(boxes), dtype=np.bool_) if failing is None else failing
    across, up = names
    people = go.Scatter(
        x=points[:, 0],
        y=points[:, 1],
        mode="markers",
        marker={"color": ORIGINAL, "size": 8},
        hovertemplate=f"{across} %{{x:,}}<br>{up} %{{y:,}}<extra></extra>",
        name="people",
    )
    traces = [_outlined(data, names, boxes[~wrong], style.color, "classes"), people]
    if wrong.any():
        traces.insert(1, _outlined(data, names, boxes[wrong], VERMILLION, "too small"))
    result = figure(*traces, x=across, y=up, height=400, legend=True)
    result.update_xaxes(showgrid=False, zeroline=False)
    result.update_yaxes(showgrid=False, zeroline=False)
    result.update_layout(margin={"l": 84})
    return result


def _outlined(
    data: Microdata, names: tuple[str, str], boxes: npt.NDArray[np.integer], color: str, name: str
) -> go.Scatter:
    """Boxes as one trace, each a little beyond its values so that single ones are seen."""
    ends = []
    for axis, attribute in enumerate(names):
        positions = data.domain[attribute].positions
        beyond = 0.006 * float(positions[-1] - positions[0])
        ends.append(positions[boxes[:, axis]] + np.array([-beyond, beyond]))
    (left, right), (bottom, top) = ends[0].T, ends[1].T
    gap = np.full(len(left), np.nan)
    return go.Scatter(
        x=np.column_stack([left, right, right, left, left, gap]).ravel(),
        y=np.column_stack([bottom, bottom, top, top, bottom, gap]).ravel(),
        mode="lines",
        line={"color": color, "width": 2},
        fill="toself",
        fillcolor=faint(color, 0.14),
        hoverinfo="skip",
        name=name,
    )
