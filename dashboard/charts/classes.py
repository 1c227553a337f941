"""Classes as figures: how large they are, what one holds of a sensitive attribute, where one lies among the others."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from anoncore.kernels.arrays import Floats, Int64
from dashboard.charts.layout import Axis, distinct_labels, faint, figure, marker
from dashboard.charts.palette import ORIGINAL, RunStyle
from dashboard.charts.planes import Rectangles, outlines, plane_figure, row_cells

MOST_BARS = 40
MOST_VALUES = 14
MOST_OTHERS = 60


def size_bins(sizes: Int64) -> Int64:
    """Lower ends of the bars of a size histogram, then one past the largest size, int64 (bars + 1,).

    One bar per size where they are few, bars of one width where sizes lie close, else bars that grow by a factor.
    """
    low, high = int(sizes.min()), int(sizes.max())
    if high - low < MOST_BARS:
        return np.arange(low, high + 2)
    if high <= 20 * float(np.median(sizes)):
        width = -(-(high - low + 1) // MOST_BARS)
        edges = np.arange(low, high + width, width)
    else:
        edges = np.unique(np.round(np.geomspace(low, high + 1, MOST_BARS // 2 + 1)).astype(np.int64))
    edges[-1] = high + 1
    return np.unique(edges)


def bin_label(low: int, high: int) -> str:
    """The sizes low..high as the label of a bar."""
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def size_histogram(sizes: Int64, style: RunStyle, word: str, words: str, counted: str = "rows") -> go.Figure:
    """Number of groups by size in what is `counted`; bar i has the sizes from `size_bins(sizes)[i]` on."""
    edges = size_bins(sizes)
    counts = np.histogram(sizes, bins=edges)[0]
    labels = [bin_label(int(low), int(after) - 1) for low, after in itertools.pairwise(edges)]
    bars = go.Bar(
        x=labels,
        y=counts,
        marker=marker(style),
        customdata=np.column_stack([edges[:-1], edges[1:] - 1]),
        hovertemplate=f"%{{y:,}} {words} of %{{x}} {counted}<extra></extra>",
        name="",
    )
    result = figure(bars, x=f"{counted} in the {word}", y=words, height=270)
    result.update_layout(bargap=0.12 if len(labels) > 5 else 0.6)
    result.update_xaxes(type="category", nticks=min(len(labels), max(230 // (8 + 7 * len(labels[-1])), 2)), tickangle=0)
    return result


@dataclass(frozen=True)
class Shares:
    """Shares of a sensitive attribute's values in one group and in the table, ready to draw; texts follow its order."""

    texts: tuple[str, ...]
    group: Floats
    table: Floats

    @classmethod
    def of(cls, group: Int64 | Floats, table: Int64 | Floats, texts: Sequence[str], most: int = MOST_VALUES) -> Shares:
        """Counts per value as shares; of many values those with the largest shares, the others joined."""
        inside, overall = group / max(group.sum(), 1), table / max(table.sum(), 1)
        if len(texts) <= most:
            return cls(tuple(texts), inside, overall)
        weight = np.maximum(inside, overall)
        kept = np.sort(np.argsort(-weight, kind="stable")[: most - 1])
        rest = np.setdiff1d(np.arange(len(texts)), kept)
        return cls(
            (*(texts[code] for code in kept), f"{len(rest):,} other values"),
            np.append(inside[kept], inside[rest].sum()),
            np.append(overall[kept], overall[rest].sum()),
        )

    @classmethod
    def binned(cls, axis: Axis, group: Int64 | Floats, table: Int64 | Floats) -> Shares:
        """Counts per code of a numeric attribute as shares of its bins, empty ends cut off."""
        inside = np.bincount(axis.bin_of, weights=group, minlength=axis.n_bins)
        overall = np.bincount(axis.bin_of, weights=table, minlength=axis.n_bins)
        used = np.flatnonzero(overall + inside)
        return cls(
            tuple(axis.bin_texts[place] for place in used),
            inside[used] / max(group.sum(), 1),
            overall[used] / max(table.sum(), 1),
        )


def sensitive_shares(shares: Shares, style: RunStyle, name: str) -> go.Figure:
    """Shares in one group (`name`) beside those in the whole table, one pair of bars per value, first value on top."""
    labels = distinct_labels(shares.texts)
    full = np.array(shares.texts, dtype=object)
    template = "%{customdata}<br>%{x:.1%} of the rows<extra>%{fullData.name}</extra>"
    table = go.Bar(
        y=labels,
        x=shares.table,
        orientation="h",
        name="whole table",
        marker={"color": ORIGINAL},
        customdata=full,
        hovertemplate=template,
    )
    group = go.Bar(
        y=labels,
        x=shares.group,
        orientation="h",
        name=name,
        marker=marker(style),
        customdata=full,
        hovertemplate=template,
    )
    result = figure(table, group, x="share of the rows", height=90 + 24 * max(len(labels), 4), labels=labels)
    result.update_layout(barmode="group")
    result.update_xaxes(tickformat=".0%", rangemode="tozero")
    result.update_yaxes(type="category", autorange="reversed", ticksuffix=" ", tickmode="linear", dtick=1)
    return result


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
    others = go.Scatter(
        **outlines(plane.others),
        mode="lines",
        line={"color": ORIGINAL, "width": 1},
        hoverinfo="skip",
        name="others",
        visible=bool(len(plane.others[0])),
    )
    region = go.Scatter(
        **outlines(plane.region),
        mode="lines",
        fill="toself",
        fillcolor=faint(style.color, 0.25),
        line={"color": style.color, "width": 2},
        hoverinfo="skip",
        name="its region",
    )
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
    traces = [row_cells(plane.x, plane.y, plane.counts), others, region, rows]
    return plane_figure(plane.x, plane.y, traces, height=430)


def runs_of(codes: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Ascending codes as runs of neighbours: first and last code of each."""
    breaks = np.flatnonzero(np.diff(codes) > 1)
    return codes[np.append(0, breaks + 1)], codes[np.append(breaks, len(codes) - 1)]
