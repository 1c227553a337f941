"""Cuts of a partition in the plane of two attributes: the regions that there are, and the one that is cut now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from anoncore.kernels.arrays import Int64
from dashboard.charts.layout import Axis, faint
from dashboard.charts.palette import BLUE, GREEN, ORANGE, ORIGINAL, PURPLE, SKY, VERMILLION
from dashboard.charts.planes import Rectangles, outlines, plane_figure, row_cells

SIDES = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
"""The colours of the sides of a cut; more sides begin anew."""


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
