"""Pictures of two attributes as a plane: rows as grey cells or points, groups, cuts and boxes as rectangles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from anoncore import Generalized, Microdata, Release
from anoncore.algorithms.closeness.sensitive_space import SensitiveFragmentation
from anoncore.kernels.arrays import Floats, Int64
from dashboard.charts.layout import (
    PIXELS_PER_CHARACTER,
    Axis,
    bars,
    broken,
    cells,
    distinct_labels,
    faint,
    figure,
    line,
    shortened,
    written,
)
from dashboard.charts.palette import BLUE, GREEN, ORANGE, ORIGINAL, PURPLE, SKY, VERMILLION, RunStyle

SIDES = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
"""The colours of the sides of a cut; more sides begin anew."""
Rectangles = Sequence[Floats]
"""Left, right, bottom and top edge of each rectangle."""
MOST_CHARACTERS = 48
"""Of all labels below a plane, up to which they stand beside each other without being turned."""
MOST_OTHERS = 60
MOST_BINS = 120
MOST_TEXTS = 60
MOST_TICKS = 12


def rectangles(edges: Rectangles, name: str, color: str, opacity: float = 0.0, **more: Any) -> go.Scatter:
    """Rectangles as one line that is broken after each, filled where an opacity is given."""
    left, right, bottom, top = edges
    filled: dict[str, Any] = {"fill": "toself", "fillcolor": faint(color, opacity)} if opacity else {}
    x, y = broken(left, right, right, left, left), broken(bottom, bottom, top, top, bottom)
    return line(x, y, name, color, **filled, **more)


def row_cells(x: Axis, y: Axis, counts: Int64) -> go.Heatmap:
    """All rows as grey cells, darker where there are more; `counts` are those of each cell, (y bins, x bins)."""
    colors, hover = (faint(ORIGINAL, 0), faint(ORIGINAL, 0.8)), "%{customdata:,} rows of the table here"
    return cells(x.edges, y.edges, np.log1p(counts), colors, hover, customdata=counts)


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
    traces = [row_cells(plane.x, plane.y, plane.counts), rectangles(plane.regions, "regions", ORIGINAL, width=1)]
    for number, name in enumerate(plane.names):
        side = tuple(edge[number : number + 1] for edge in plane.sides)
        dash = ("solid", "dash", "dot")[number % 3]
        traces.append(rectangles(side, name, SIDES[number % len(SIDES)], 0.28, width=3, dash=dash))
    return plane_figure(plane.x, plane.y, traces, height=460, legend=True)


@dataclass(frozen=True, eq=False)
class RegionMap:
    """Two quasi-identifiers as a plane: counts of all rows per cell, int64 (y bins, x bins), the places and counts of
    one group's rows, and rectangles (left, right, bottom, top) of its region and of other groups' regions."""

    x: Axis
    y: Axis
    counts: Int64
    points: tuple[Floats, Floats, Int64]
    region: Rectangles
    others: Rectangles


def region_map(plane: RegionMap, style: RunStyle, name: str) -> go.Figure:
    """Where a group lies: all rows as grey cells, other groups as thin outlines, its own region and rows in colour."""
    across, up, count = plane.points
    rows = go.Scatter(
        x=across,
        y=up,
        mode="markers",
        marker={
            "color": style.color,
            "symbol": style.symbol,
            "size": 5 + 9 * np.sqrt(count / count.max()),
            "opacity": 0.9,
            "line": {"color": style.outline, "width": 1},
        },
        customdata=count,
        hovertemplate=f"%{{customdata:,}} rows of {name}<extra></extra>",
        name="its rows",
    )
    others = rectangles(plane.others, "others", ORIGINAL, width=1, visible=bool(len(plane.others[0])))
    region = rectangles(plane.region, "its region", style.color, 0.25)
    return plane_figure(plane.x, plane.y, [row_cells(plane.x, plane.y, plane.counts), others, region, rows], height=430)


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
    edges = []
    for axis, attribute in enumerate(names):
        positions = data.domain[attribute].positions
        # A little beyond the values, so that boxes of a single one are seen.
        beyond = 0.006 * float(positions[-1] - positions[0])
        edges.append(positions[boxes[:, axis]] + np.array([-beyond, beyond]))
    sides = np.concatenate(edges, axis=1)
    across, up = names
    people = go.Scatter(
        x=points[:, 0],
        y=points[:, 1],
        mode="markers",
        marker={"color": ORIGINAL, "size": 8},
        hovertemplate=f"{across} %{{x:,}}<br>{up} %{{y:,}}<extra></extra>",
        name="people",
    )
    traces = [rectangles(tuple(sides[~wrong].T), "groups", style.color, 0.14)]
    if wrong.any():
        traces.append(rectangles(tuple(sides[wrong].T), "too small", VERMILLION, 0.14))
    result = figure(*traces, people, x=across, y=up, height=400, legend=True)
    result.update_layout({axis: {"showgrid": False, "zeroline": False} for axis in ("xaxis", "yaxis")})
    return result.update_layout(margin={"l": 84})


def released_boxes(release: Release, names: tuple[str, str], style: RunStyle) -> go.Figure:
    """The rows as points of two numeric attributes, and the box of every group of a generalized release."""
    data = release.data
    points = np.stack([data.domain[name].positions[data.codes[name]] for name in names], axis=1)
    sides = [release.recoding(name) for name in names]
    codes = np.stack([[one.low, one.high] for one in sides if isinstance(one, Generalized)]).transpose(2, 0, 1)
    return boxes_in_plane(data, names, points, codes, style)


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
        multiplicity, axes = parts.multiplicity, (across, up)
        width = tuple(-(-int(multiplicity.sizes[axis]) // MOST_BINS) for axis in axes)
        bins = [-(-int(multiplicity.sizes[axis]) // one) for axis, one in zip(axes, width, strict=True)]
        place = [multiplicity.cells[:, axis] // one for axis, one in zip(axes, width, strict=True)]
        counts = np.bincount(place[1] * bins[0] + place[0], weights=multiplicity.counts, minlength=bins[0] * bins[1])
        first, second = (multiplicity.views[axis] for axis in axes)
        return cls(
            (first.attribute, second.attribute),
            (first.labels, second.labels),
            (width[0], width[1]),
            counts.astype(np.int64).reshape(bins[1], bins[0]),
            parts.boxes[:, [across, up]],
            parts.counts,
        )


def box_map(plane: Plane, style: RunStyle, chosen: int | None = None) -> go.Figure:
    """The multiplicity matrix as cells, darker where more rows are, and the boxes over it; one may be filled."""
    across, up = (
        np.minimum(np.arange(size + 1) * width, len(labels)) - 0.5
        for size, width, labels in zip(plane.counts.shape[::-1], plane.width, plane.labels, strict=True)
    )
    z = np.where(plane.counts > 0, np.log1p(plane.counts), np.nan)
    colors = faint(ORIGINAL, 0.15), faint(ORIGINAL, 0.95)
    rows, columns = (
        np.indices(plane.counts.shape) if plane.counts.size <= MOST_TEXTS else np.zeros((2, 0), dtype=np.int64)
    )
    x, y = ((edges[place] + edges[place + 1]).ravel() / 2 for edges, place in ((across, columns), (up, rows)))
    boxes = plane.boxes.astype(np.float64) + np.array([-0.5, 0.5])
    edges = (*boxes[:, 0].T, *boxes[:, 1].T)
    one = slice(0, 0) if chosen is None else slice(chosen, chosen + 1)
    result = figure(
        cells(across, up, z, colors, "%{customdata}", customdata=_cell_texts(plane)),
        rectangles(edges, "boxes", style.color, width=1.6 if len(boxes) < 150 else 1),
        rectangles(tuple(edge[one] for edge in edges), "chosen box", style.color, 0.3, width=4),
        written(x, y, plane.counts[rows, columns].ravel(), "rows"),
        x=" ",
        y=" ",
        height=480,
        legend=False,
        labels=_ticks(plane.labels[1])["ticktext"],
    )
    for axis, labels, name in zip(("xaxis", "yaxis"), plane.labels, plane.names, strict=True):
        look = {"title": shortened(name), "range": [-0.5, len(labels) - 0.5], "zeroline": False, "showgrid": False}
        result.update_layout({axis: look | _ticks(labels)})
    return result


def intervals(parts: SensitiveFragmentation, style: RunStyle, chosen: int | None = None) -> go.Figure:
    """One attribute: rows per value, with a line wherever one interval ends and the next begins."""
    view, multiplicity = parts.multiplicity.views[0], parts.multiplicity
    counts = np.zeros(view.size)
    counts[multiplicity.cells[:, 0]] = multiplicity.counts
    width = -(-view.size // MOST_BINS)
    first = np.arange(0, view.size, width)
    sums = np.add.reduceat(counts, first)
    height = float(sums.max()) * 1.05
    low, high = parts.boxes[:, 0, 0] - 0.5, parts.boxes[:, 0, 1] + 0.5
    traces = [
        line(broken(high, high), broken(0 * high, 0 * high + height), "ends of intervals", style.color, width=1.4)
    ]
    if chosen is not None:
        box = tuple(np.array([edge]) for edge in (low[chosen], high[chosen], 0.0, height))
        traces.append(rectangles(box, "chosen interval", style.color, 0.3, width=0))
    result = bars(
        first + (width - 1) / 2,
        {"rows": (sums, ORIGINAL)},
        "rows",
        *traces,
        upright=True,
        by=shortened(view.attribute),
        form="",
        customdata=[_range(view.labels, int(a), min(int(a) + width, view.size) - 1) for a in first],
        hover="%{customdata}: %{y:,} rows",
        height=360,
        end=height,
        legend=False,
    )
    return result.update_xaxes(range=[-0.6, view.size - 0.4], showgrid=False, **_ticks(view.labels))


def bound_bars(names: Sequence[str], true: Floats, bounds: Floats, t: Floats, style: RunStyle) -> go.Figure:
    """Per attribute: the largest true EMD of any class, the aggregate bound, and the t that was asked for."""
    asked = go.Scatter(
        x=t, y=distinct_labels(names), mode="markers", hovertemplate="%{y}: %{x:.4f}<extra>%{fullData.name}</extra>",
        name="t", marker={"symbol": "line-ns-open", "size": 34, "color": style.outline, "line": {"width": 3}},
    )  # fmt: skip
    shown = {"aggregate bound": (bounds, ORIGINAL), "largest true EMD": (true, style)}
    return bars(names, shown, "distance from the table", asked, form="", hover="%{y}: %{x:.4f}", row=52)


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


def _ticks(labels: Sequence[str]) -> dict[str, Any]:
    places = np.arange(0, len(labels), -(-len(labels) // MOST_TICKS))
    return {"tickvals": places, "ticktext": distinct_labels([shortened(labels[int(place)], 14) for place in places])}
