"""Cuts of a partition in the plane of two attributes: the regions that there are, and the one that is cut now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from anoncore.kernels.arrays import Int64
from dashboard.charts.classes import Rectangles
from dashboard.charts.layout import PIXELS_PER_CHARACTER, Axis, faint, figure
from dashboard.palette import BLUE, GREEN, ORANGE, ORIGINAL, PURPLE, SKY, VERMILLION

SIDES = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
"""The colours of the sides of a cut; more sides begin anew."""
MOST_CHARACTERS = 60


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
    cells = go.Heatmap(
        x=plane.x.edges,
        y=plane.y.edges,
        z=np.log1p(plane.counts),
        customdata=plane.counts,
        colorscale=[[0, faint(ORIGINAL, 0)], [1, faint(ORIGINAL, 0.8)]],
        showscale=False,
        hovertemplate="%{customdata:,} rows of the table here<extra></extra>",
        name="",
    )
    outlines = go.Scatter(
        **_outlines(plane.regions),
        mode="lines",
        line={"color": ORIGINAL, "width": 1},
        hoverinfo="skip",
        name="regions",
    )
    left, right, bottom, top = (np.split(edge, len(edge)) for edge in plane.sides)
    sides = [
        go.Scatter(
            **_outlines((left[number], right[number], bottom[number], top[number])),
            mode="lines",
            fill="toself",
            fillcolor=faint(SIDES[number % len(SIDES)], 0.28),
            line={"color": SIDES[number % len(SIDES)], "width": 3, "dash": ("solid", "dash", "dot")[number % 3]},
            hoverinfo="skip",
            name=name,
        )
        for number, name in enumerate(plane.names)
    ]
    result = figure(cells, outlines, *sides, x=" ", y=" ", height=460, labels=plane.y.tick_texts, legend=True)
    result.update_xaxes(**plane.x.layout())
    result.update_yaxes(**plane.y.layout())
    longest = max(map(len, plane.x.tick_texts), default=0)
    if longest * len(plane.x.tick_texts) > MOST_CHARACTERS:
        below = round(PIXELS_PER_CHARACTER * longest)
        result.update_xaxes(tickangle=-90)
        result.update_layout(margin_b=42 + below, height=460 + below)
    return result


def _outlines(rectangles: Rectangles) -> dict[str, object]:
    """Rectangles as one line that is broken after each."""
    left, right, bottom, top = rectangles
    gap = np.full(len(left), np.nan)
    return {
        "x": np.column_stack([left, right, right, left, left, gap]).ravel(),
        "y": np.column_stack([bottom, bottom, top, top, bottom, gap]).ravel(),
    }
