"""What a release changed and cost, as figures: cells, distributions, losses, weaker predictions, left-out rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go

from anoncore import Domain
from anoncore.kernels.arrays import Floats
from anoncore.release.cell_changes import CHANGES, Change
from anoncore.release.recoding import Exact, Recoding
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.summary import ColumnSummary
from anoncore.utility import ClassificationEstimate
from dashboard.charts.layout import Axis, Look, bars, distinct_labels, faint, line, whiskers
from dashboard.charts.palette import BLUE, COLOR_NAMES, ORIGINAL, PURPLE, SKY, VERMILLION, RunStyle
from dashboard.markdown import few

COLOR_OF_CHANGE: Mapping[Change, str] = {
    Change.KEPT: ORIGINAL,
    Change.GENERALIZED: SKY,
    Change.SUPPRESSED: BLUE,
    Change.REPLACED: VERMILLION,
    Change.UNLINKED: PURPLE,
}
PATTERN_OF_CHANGE = dict(zip(COLOR_OF_CHANGE, ("", "/", "x", ".", "|"), strict=True))
LOST = "information lost"
ROWS = "share of the rows"
WRONG = "rows in the wrong place"


def loss_bars(losses: Mapping[str, float], total: float, style: RunStyle) -> go.Figure:
    """Information loss of every attribute, the most generalized on top, with the mean of all cells as a line."""
    names = sorted(losses, key=lambda name: -losses[name])
    told = f"all attributes: {total:.1%}"
    mean = line([total] * len(names), distinct_labels(names), told, hover=told, dash="dash")
    shown = {"attribute": (np.array([losses[name] for name in names]), style)}
    full, hover = np.array(names, dtype=object), "%{customdata}: %{x:.1%} lost"
    return bars(names, shown, LOST, *([mean] if len(names) > 1 else []), customdata=full, hover=hover)


def attribute_bars(losses: Mapping[str, tuple[Mapping[str, float], RunStyle]], what: str = LOST) -> go.Figure:
    """What is lost of every attribute, or pair of attributes, release beside release."""
    names = list(dict.fromkeys(name for one, _ in losses.values() for name in one))
    shown = {
        label: (np.array([one.get(name, np.nan) for name in names]), style)
        for label, (one, style) in zip(distinct_labels(list(losses)), losses.values(), strict=True)
    }
    return bars(names, shown, what, hover=f"%{{y}}: %{{x:.1%}} {what}", legend=True)


def loss_histogram(losses: Floats, sizes: Floats, style: RunStyle, bins: int = 30) -> go.Figure:
    """Share of the rows by the mean information loss of their group."""
    top = max(float(losses.max(initial=0.0)), 1e-6)
    weights, edges = np.histogram(losses, bins=bins, range=(0.0, top), weights=sizes / sizes.sum())
    groups = np.histogram(losses, bins=edges)[0]
    return bars(
        (edges[:-1] + edges[1:]) / 2,
        {"": (weights, style)},
        ROWS,
        upright=True,
        by=LOST,
        customdata=np.column_stack([groups, edges[:-1], edges[1:]]),
        hover="%{y:.1%} of the rows, in %{customdata[0]:,} groups<br>"
        "loss from %{customdata[1]:.1%} to %{customdata[2]:.1%}",
        height=290,
    ).update_xaxes(tickformat=".0%" if top > 0.05 else ".1%", rangemode="tozero")


def published_shares(recoding: Recoding, axis: Axis) -> Floats:
    """Share of rows per bin as the release gives it: each value of a region counts as equally likely."""
    if isinstance(recoding, Exact):
        return axis.counts(recoding.codes) / len(recoding.codes)
    sizes = recoding.partition.sizes
    masses = [recoding.mass(axis.bin_of == place) @ sizes for place in range(axis.n_bins)]
    return np.array(masses) / sizes.sum()


def distribution(axis: Axis, before: Floats, after: Floats, look: Look, names: tuple[str, str]) -> go.Figure:
    """Shares of an attribute's values (or bins) before and after, or of all rows and of some, by these names."""
    used = np.flatnonzero(before + after > 0)
    shown = {names[0]: (before[used], ORIGINAL), names[1]: (after[used], look)}
    labels = [axis.bin_texts[place] or "(none)" for place in used]
    return bars(labels, shown, ROWS, upright=True, hover="%{x}: %{y:.2%}", height=340)


def table_distribution(summary: ColumnSummary) -> go.Figure:
    """Rows per range of numbers or per value of a column, and how many are missing."""
    labels, counts = list(summary.bin_texts), list(summary.bin_counts)
    if summary.n_missing:
        labels.append("(missing)")
        counts.append(summary.n_missing)
    values = np.array(counts)
    return bars(
        labels,
        {"": (values, ORIGINAL)},
        "rows",
        upright=True,
        by=summary.name.replace("<", "&lt;"),
        form="",
        customdata=values / max(summary.n_rows, 1),
        hover="%{x}: %{y:,} rows (%{customdata:.1%})",
        height=300,
    ).update_xaxes(nticks=max(min(350 // (12 + 6 * max(map(len, labels), default=0)), 7), 2), tickangle=0)


def hierarchy_levels(hierarchy: Hierarchy, domain: Domain) -> pd.DataFrame:
    """What a publisher chooses between: each level, how many groups it has, and what they are called."""
    paths = [hierarchy.path_of(value) or () for value in domain.values]
    levels = [[domain.text(code) for code in range(len(domain.values))]]
    levels += [list(dict.fromkeys(path[level] for path in paths)) for level in range(hierarchy.height)]
    return pd.DataFrame(
        [{"Level": level, "Groups": len(texts), "Called": few(texts, 12)} for level, texts in enumerate(levels)]
    )


def score_bars(
    scores: Mapping[str, tuple[float, RunStyle | str]], measure: str, texts: Sequence[str] = ()
) -> go.Figure:
    """A few shares below each other, each in its colour with its value, or one of `texts`, written at it."""
    values, looks = zip(*scores.values(), strict=True)
    largest = max(map(float, values))
    return bars(
        list(scores),
        {measure: (np.array(values, dtype=np.float64), looks)},
        measure,
        texts="%{customdata}" if texts else "%{x:.1%}",
        customdata=list(texts) or None,
        hover="%{y}: %{x:.2%}",
        form=".0%" if largest > 0.03 else ".1%",
        end=1.3 * max(largest, 0.01),
        legend=False,
    )


def scores_compared(
    titles: Sequence[str], shown: Mapping[str, tuple[Sequence[ClassificationEstimate], RunStyle]]
) -> go.Figure:
    """Weighted F of some classifiers, release beside release with its interval, and what the original table gives."""
    originals = next(iter(shown.values()))[0]
    original = go.Scatter(
        y=distinct_labels(list(titles)),
        x=[one.original for one in originals],
        mode="markers",
        marker={"symbol": "line-ns-open", "size": 30, "color": ORIGINAL, "line": {"width": 3, "color": ORIGINAL}},
        name="original table",
        hovertemplate="original table: %{x:.2f}<extra></extra>",
    )
    series = {
        label: (np.array([one.value for one in found]), style)
        for label, (found, style) in zip(distinct_labels(list(shown)), shown.values(), strict=True)
    }
    drawn = bars(list(titles), series, "weighted F", original, form=".2f", hover="%{y}: %{x:.2f}", legend=True)
    for trace, (found, _) in zip(drawn.data, shown.values(), strict=False):
        low, high = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
        trace.update(error_x=whiskers(np.asarray(trace.x), low, high))
    return drawn


def share_bars(labels: Sequence[str], shares: Sequence[float] | Floats, style: RunStyle, x: str) -> go.Figure:
    """One bar per label with its share written beside it, the first on top."""
    return bars(labels, {"": (np.asarray(shares, dtype=np.float64), style)}, x, texts="%{x:.1%}", end=1)


def bound_groups(reasons: Mapping[str, int], style: RunStyle) -> go.Figure:
    """How many groups each reason keeps whole."""
    counts = np.array(list(reasons.values()))
    return bars(list(reasons), {"": (counts, style)}, "groups", texts="%{x:,}", form="", hover="%{y}: %{x:,} groups")


def change_bars(shares: Mapping[str, Floats]) -> go.Figure:
    """For each attribute the share of its cells with each change, in the order of `CHANGES`, as one bar of parts."""
    table = np.array(list(shares.values()))
    shown = {
        change.value: (table[:, number], _ground(change))
        for number, change in enumerate(CHANGES)
        if table[:, number].any()
    }
    result = bars(
        list(shares), shown, "share of the cells", hover="%{y}: %{x:.1%}", row=26, end=1, stacked=True, legend=True
    )
    return result.update_layout(bargap=0.25, legend_traceorder="normal")


def _ground(change: Change) -> Look:
    pattern = {"shape": PATTERN_OF_CHANGE[change], "fillmode": "overlay", "fgcolor": "rgba(255,255,255,0.6)", "size": 6}
    return {"color": faint(COLOR_OF_CHANGE[change], 0.35 if change is Change.KEPT else 1.0), "pattern": pattern}


def color_name(change: Change) -> str:
    """The colour of a change as a word."""
    return COLOR_NAMES[COLOR_OF_CHANGE[change]]


def tint(change: Change) -> str:
    """The ground of a table's cell with this change, as CSS; cells that were kept have none."""
    return "" if change is Change.KEPT else f"background-color: {faint(COLOR_OF_CHANGE[change], 0.3)}"


def share_of_changes(changes: npt.NDArray[np.uint8]) -> Floats:
    """Share of the rows with each of `CHANGES`."""
    counts: Floats = np.bincount(changes, minlength=len(CHANGES)) / len(changes)
    return counts
