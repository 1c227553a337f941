"""The space of sensitive values: how many rows have each combination, and the boxes it is cut into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from anoncore.algorithms.closeness.sensitive_space import SensitiveFragmentation
from anoncore.kernels.arrays import Floats, Int64
from dashboard.charts.layout import distinct_labels, faint, figure, marker, shortened
from dashboard.charts.palette import ORIGINAL, RunStyle
from dashboard.charts.planes import outlines

MOST_BINS = 120
MOST_TEXTS = 60
MOST_TICKS = 12


@dataclass(frozen=True, eq=False)
class Plane:
    """Two axes of a fragmentation: `counts` int64 (up bins, across bins) of rows, bins of `width` neighbouring codes.

    `boxes` int64 (n_fragments, 2, 2) has the lowest and highest code of each fragment, across and up; with more than
    two attributes boxes are projections and overlap. `rows` int64 (n_fragments,).
    """

    names: tuple[str, str]
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    width: tuple[int, int]
    counts: Int64
    boxes: Int64
    rows: Int64

    @classmethod
    def of(cls, parts: SensitiveFragmentation, across: int, up: int) -> Plane:
        """The plane of two axes, by their numbers."""
        multiplicity = parts.multiplicity
        sizes = [int(multiplicity.sizes[axis]) for axis in (across, up)]
        width = [-(-size // MOST_BINS) for size in sizes]
        bins = [-(-size // one) for size, one in zip(sizes, width, strict=True)]
        place = [multiplicity.cells[:, axis] // one for axis, one in zip((across, up), width, strict=True)]
        counts = np.bincount(place[1] * bins[0] + place[0], weights=multiplicity.counts, minlength=bins[0] * bins[1])
        views = [multiplicity.views[axis] for axis in (across, up)]
        return cls(
            (views[0].attribute, views[1].attribute),
            (views[0].labels, views[1].labels),
            (width[0], width[1]),
            counts.astype(np.int64).reshape(bins[1], bins[0]),
            parts.boxes[:, [across, up]],
            parts.counts,
        )


def box_map(plane: Plane, style: RunStyle, chosen: int | None = None) -> go.Figure:
    """The multiplicity matrix as cells, darker where more rows are, and the boxes over it; one may be filled."""
    edges = [
        np.minimum(np.arange(size + 1) * width, len(labels)) - 0.5
        for size, width, labels in zip(plane.counts.shape[::-1], plane.width, plane.labels, strict=True)
    ]
    few = plane.counts.size <= MOST_TEXTS
    cells = go.Heatmap(
        x=edges[0],
        y=edges[1],
        z=np.where(plane.counts > 0, np.log1p(plane.counts), np.nan),
        customdata=_cell_texts(plane),
        colorscale=[[0, faint(ORIGINAL, 0.15)], [1, faint(ORIGINAL, 0.95)]],
        showscale=False,
        hovertemplate="%{customdata}<extra></extra>",
        hoverongaps=False,
        name="",
    )
    boxes = plane.boxes.astype(np.float64)
    left, right = boxes[:, 0, 0] - 0.5, boxes[:, 0, 1] + 0.5
    bottom, top = boxes[:, 1, 0] - 0.5, boxes[:, 1, 1] + 0.5
    every = go.Scatter(
        **outlines((left, right, bottom, top)),
        mode="lines",
        line={"color": style.color, "width": 1.6 if len(left) < 150 else 1},
        hoverinfo="skip",
        name="boxes",
    )
    one = slice(chosen, chosen + 1) if chosen is not None else slice(0, 0)
    filled = go.Scatter(
        **outlines((left[one], right[one], bottom[one], top[one])),
        mode="lines",
        line={"color": style.color, "width": 4},
        fill="toself",
        fillcolor=faint(style.color, 0.3),
        hoverinfo="skip",
        name="chosen box",
    )
    # Texts of the heatmap itself take the contrast to the colour without its transparency, unreadable on a dark page.
    rows, columns = np.indices(plane.counts.shape) if few else np.zeros((2, 0), dtype=np.int64)
    texts = go.Scatter(
        x=(edges[0][columns] + edges[0][columns + 1]).ravel() / 2,
        y=(edges[1][rows] + edges[1][rows + 1]).ravel() / 2,
        text=plane.counts[rows, columns].ravel(),
        mode="text",
        hoverinfo="skip",
        name="rows",
    )
    result = figure(
        cells, every, filled, texts, x=" ", y=" ", height=480, legend=False, labels=_ticks(plane.labels[1])[1]
    )
    for update, labels, name in (
        (result.update_xaxes, plane.labels[0], plane.names[0]),
        (result.update_yaxes, plane.labels[1], plane.names[1]),
    ):
        places, texts = _ticks(labels)
        update(
            title=shortened(name), tickvals=places, ticktext=texts, range=[-0.5, len(labels) - 0.5], zeroline=False,
            showgrid=False,
        )  # fmt: skip
    return result


def intervals(parts: SensitiveFragmentation, style: RunStyle, chosen: int | None = None) -> go.Figure:
    """One attribute: rows per value, with a line wherever one interval ends and the next begins."""
    view, multiplicity = parts.multiplicity.views[0], parts.multiplicity
    counts = np.zeros(view.size)
    counts[multiplicity.cells[:, 0]] = multiplicity.counts
    width = -(-view.size // MOST_BINS)
    sums = np.add.reduceat(counts, np.arange(0, view.size, width))
    middle = np.arange(len(sums)) * width + (width - 1) / 2
    bars = go.Bar(
        x=middle,
        y=sums,
        width=0.9 * width,
        marker={"color": ORIGINAL},
        customdata=[
            _range(view.labels, int(i * width), int(min((i + 1) * width, view.size) - 1)) for i in range(len(sums))
        ],
        hovertemplate="%{customdata}: %{y:,} rows<extra></extra>",
        name="rows",
    )
    height = float(sums.max()) * 1.05
    low, high = parts.boxes[:, 0, 0] - 0.5, parts.boxes[:, 0, 1] + 0.5
    lines = go.Scatter(
        x=np.column_stack([high, high, np.full(len(high), np.nan)]).ravel(),
        y=np.tile([0.0, height, np.nan], len(high)),
        mode="lines",
        line={"color": style.color, "width": 1.4},
        hoverinfo="skip",
        name="ends of intervals",
    )
    traces: list[Any] = [bars, lines]
    if chosen is not None:
        traces.append(
            go.Scatter(
                x=[low[chosen], low[chosen], high[chosen], high[chosen]],
                y=[0.0, height, height, 0.0],
                mode="lines",
                fill="toself",
                fillcolor=faint(style.color, 0.3),
                line={"width": 0, "color": style.color},
                hoverinfo="skip",
                name="chosen interval",
            )
        )
    result = figure(*traces, x=shortened(view.attribute), y="rows", height=360, legend=False)
    places, texts = _ticks(view.labels)
    result.update_xaxes(tickvals=places, ticktext=texts, range=[-0.6, view.size - 0.4], showgrid=False)
    result.update_yaxes(range=[0, height])
    return result


def bound_bars(names: Sequence[str], true: Floats, bounds: Floats, t: Floats, style: RunStyle) -> go.Figure:
    """Per attribute: the largest true EMD of any class, the aggregate bound, and the t that was asked for."""
    labels = distinct_labels(names)
    hover = "%{y}: %{x:.4f}<extra>%{fullData.name}</extra>"
    common: dict[str, Any] = {"y": labels, "orientation": "h", "hovertemplate": hover}
    bound = go.Bar(**common, x=bounds, name="aggregate bound", marker={"color": ORIGINAL})
    reached = go.Bar(**common, x=true, name="largest true EMD", marker=marker(style))
    asked = go.Scatter(
        x=t, y=labels, mode="markers", hovertemplate=hover, name="t",
        marker={"symbol": "line-ns-open", "size": 34, "color": style.outline, "line": {"width": 3}},
    )  # fmt: skip
    result = figure(bound, reached, asked, x="distance from the table", height=120 + 52 * len(labels), labels=labels)
    result.update_layout(barmode="group")
    result.update_xaxes(rangemode="tozero")
    result.update_yaxes(type="category", autorange="reversed", ticksuffix=" ")
    return result


def _cell_texts(plane: Plane) -> npt.NDArray[np.object_]:
    """What every cell stands for, object (up bins, across bins)."""
    sides = [
        [_range(labels, place * width, min((place + 1) * width, len(labels)) - 1) for place in range(size)]
        for labels, width, size in zip(plane.labels, plane.width, plane.counts.shape[::-1], strict=True)
    ]
    across, up = plane.names
    texts = np.empty(plane.counts.shape, dtype=object)
    for row, column in np.argwhere(plane.counts > 0):
        count = plane.counts[row, column]
        texts[row, column] = f"{across} {sides[0][column]}<br>{up} {sides[1][row]}<br>{count:,} rows"
    return texts


def _range(labels: Sequence[str], first: int, last: int) -> str:
    return labels[first] if first == last else f"{labels[first]} to {labels[last]}"


def _ticks(labels: Sequence[str]) -> tuple[Int64, list[str]]:
    places = np.arange(0, len(labels), -(-len(labels) // MOST_TICKS))
    return places, distinct_labels([shortened(labels[int(place)], 14) for place in places])
