"""Pictures of two attributes as a plane: rows as grey cells, rectangles as outlines, and the cuts of a partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from anoncore.kernels.arrays import Floats, Int64
from dashboard.charts.layout import PIXELS_PER_CHARACTER, Axis, faint, figure
from dashboard.charts.palette import BLUE, GREEN, ORANGE, ORIGINAL, PURPLE, SKY, VERMILLION

SIDES = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
"""The colours of the sides of a cut; more sides begin anew."""
Rectangles = tuple[Floats, Floats, Floats, Floats]
"""Left, right, bottom and top edge of each rectangle."""
MOST_CHARACTERS = 48
"""Of all labels below a plane, up to which they stand beside each other without being turned."""


def row_cells(x: Axis, y: Axis, counts: Int64) -> go.Heatmap:
    """All rows as grey cells, darker where there are more; `counts` are those of each cell, (y bins, x bins)."""
    return go.Heatmap(
        x=x.edges,
        y=y.edges,
        z=np.log1p(counts),
        customdata=counts,
        colorscale=[[0, faint(ORIGINAL, 0)], [1, faint(ORIGINAL, 0.8)]],
        showscale=False,
        hovertemplate="%{customdata:,} rows of the table here<extra></extra>",
        name="",
    )


def outlines(rectangles: Rectangles) -> dict[str, Floats]:
    """Rectangles as one line that is broken after each."""
    left, right, bottom, top = rectangles
    gap = np.full(len(left), np.nan)
    return {
        "x": np.column_stack([left, right, right, left, left, gap]).ravel(),
        "y": np.column_stack([bottom, bottom, top, top, bottom, gap]).ravel(),
    }


def plane_figure(x: Axis, y: Axis, traces: list[Any], height: int, legend: bool | None = None) -> go.Figure:
    """Traces over two attributes; the labels below are turned, and given room, where they are long."""
    result = figure(*traces, x=" ", y=" ", height=height, labels=y.tick_texts, legend=legend)
    result.update_xaxes(**x.layout())
    result.update_yaxes(**y.layout())
    longest = max(map(len, x.tick_texts), default=0)
    if longest * len(x.tick_texts) > MOST_CHARACTERS:
        below = round(PIXELS_PER_CHARACTER * longest)
        result.update_xaxes(tickangle=-90)
        result.update_layout(margin_b=42 + below, height=height + below)
    return result


@dataclass(frozen=True, eq=False)
class CutPlane:
    """Two attributes as a plane: `counts` int64 (y bins, x bins) of rows, and rectangles (left, right, bottom, top).

    `regions` are all that are there, `sides` those that were just made, or the region that stays whole, with `names`.
    """

    x: Axis
    y: Axis
    counts: Int64
    regions: Rectangles
    sides: Rectangles
    names: Sequence[str]


def cut_map(plane: CutPlane) -> go.Figure:
    """All rows as grey cells, darker where there are more; regions as outlines, and the sides of the cut filled."""
    regions = go.Scatter(
        **outlines(plane.regions),
        mode="lines",
        line={"color": ORIGINAL, "width": 1},
        hoverinfo="skip",
        name="regions",
    )
    left, right, bottom, top = (np.split(edge, len(edge)) for edge in plane.sides)
    sides = [
        go.Scatter(
            **outlines((left[number], right[number], bottom[number], top[number])),
            mode="lines",
            fill="toself",
            fillcolor=faint(SIDES[number % len(SIDES)], 0.28),
            line={"color": SIDES[number % len(SIDES)], "width": 3, "dash": ("solid", "dash", "dot")[number % 3]},
            hoverinfo="skip",
            name=name,
        )
        for number, name in enumerate(plane.names)
    ]
    traces = [row_cells(plane.x, plane.y, plane.counts), regions, *sides]
    return plane_figure(plane.x, plane.y, traces, height=460, legend=True)
