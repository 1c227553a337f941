"""Classes as figures: how large they are, and what one holds of a sensitive attribute."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from anoncore.kernels.arrays import Floats, Int64
from dashboard.charts.layout import Axis, bars
from dashboard.charts.palette import ORIGINAL, RunStyle

MOST_BARS = 40
MOST_VALUES = 14


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


def size_histogram(sizes: Int64, style: RunStyle, counted: str = "rows") -> go.Figure:
    """Number of groups by size in what is `counted`; bar i has the sizes from `size_bins(sizes)[i]` on."""
    edges = size_bins(sizes)
    labels = [bin_label(int(low), int(after) - 1) for low, after in itertools.pairwise(edges)]
    result = bars(
        labels,
        {"": (np.histogram(sizes, bins=edges)[0], style)},
        "groups",
        upright=True,
        by=f"{counted} in the group",
        form="",
        customdata=np.column_stack([edges[:-1], edges[1:] - 1]),
        hover=f"%{{y:,}} groups of %{{x}} {counted}",
        height=270,
    )
    result.update_layout(bargap=0.12 if len(labels) > 5 else 0.6)
    return result.update_xaxes(nticks=min(len(labels), max(230 // (8 + 7 * len(labels[-1])), 2)), tickangle=0)


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
        kept = np.sort(np.argsort(-np.maximum(inside, overall), kind="stable")[: most - 1])
        rest = np.setdiff1d(np.arange(len(texts)), kept)
        joined = (np.append(shares[kept], shares[rest].sum()) for shares in (inside, overall))
        return cls((*(texts[code] for code in kept), f"{len(rest):,} other values"), *joined)

    @classmethod
    def binned(cls, axis: Axis, group: Int64 | Floats, table: Int64 | Floats) -> Shares:
        """Counts per code of a numeric attribute as shares of its bins, empty ends cut off."""
        inside, overall = (
            np.bincount(axis.bin_of, weights=counts, minlength=axis.n_bins) / max(counts.sum(), 1)
            for counts in (group, table)
        )
        used = np.flatnonzero(overall + inside)
        return cls(tuple(axis.bin_texts[place] for place in used), inside[used], overall[used])


def sensitive_shares(shares: Shares, style: RunStyle, name: str) -> go.Figure:
    """Shares in one group (`name`) beside those in the whole table, one pair of bars per value, first value on top."""
    return bars(
        shares.texts,
        {"whole table": (shares.table, ORIGINAL), name: (shares.group, style)},
        "share of the rows",
        customdata=np.array(shares.texts, dtype=object),
        hover="%{customdata}<br>%{x:.1%}",
        row=24,
    )
