"""Fragments as figures: joins before and after class values change, what strategies change, who may be a member."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from anoncore.algorithms.vertical.changes import ClassChanges
from anoncore.attacks import JoinLikelihood
from anoncore.kernels.arrays import Floats
from anoncore.privacy import WorstJoins
from dashboard.charts.layout import faint, figure, marker
from dashboard.charts.palette import BLUE, ORIGINAL, VERMILLION, RunStyle

NOTHING, SAFE, UNSAFE = 0, 1, 2
LIKELIHOOD_BARS = 30
MOST_TICKS = 9
CELL = 8
GREY = "#8C8C8C"


def join_map(found: WorstJoins, published: bool, names: Sequence[str]) -> go.Figure:
    """Joins of the worst classes of two fragments: nothing in common, safe, or unsafe; `published`: after the changes.

    `names` are those of the two fragments. Classes are numbered from 1.
    """
    levels = found.after if published else found.before
    broken = found.broken_after if published else found.broken_before
    empty = np.isnan(levels) | (levels == 0) & ~np.bool_(found.by_eta)
    state = np.where(broken, UNSAFE, np.where(empty, NOTHING, SAFE))
    first, second = ([f"{place + 1:,}" for place in side.tolist()] for side in (found.first, found.second))
    cells = go.Heatmap(
        x=second,
        y=first,
        z=state.astype(np.int8),
        customdata=level_texts(levels, found.by_eta),
        zmin=0,
        zmax=2,
        colorscale=_steps([faint(GREY, 0.08), faint(BLUE, 0.45), VERMILLION]),
        showscale=False,
        xgap=1,
        ygap=1,
        hovertemplate=f"class %{{y}} of {names[0]}<br>class %{{x}} of {names[1]}<br>%{{customdata}}<extra></extra>",
        name="",
    )
    keys = [
        go.Scatter(
            x=[None], y=[None], mode="markers", name=name, marker={"symbol": "square", "size": 11, "color": color}
        )
        for name, color in (
            ("too few joined rows" if not found.by_eta else "eta too low", VERMILLION),
            ("safe", faint(BLUE, 0.45)),
            ("nothing in common", faint(GREY, 0.25)),
        )
    ]
    height = 110 + CELL * max(len(first), 16)
    result = figure(cells, *keys, x=f"classes of {names[1]}", y=f"classes of {names[0]}", height=height, legend=True)
    result.update_xaxes(type="category", showgrid=False, zeroline=False, showticklabels=len(second) <= 12)
    result.update_yaxes(type="category", showgrid=False, zeroline=False, showticklabels=len(first) <= 12)
    result.update_yaxes(autorange="reversed")
    result.update_xaxes(ticks="")
    result.update_yaxes(ticks="")
    result.update_layout(margin_l=52, margin_b=40)
    return result


def level_texts(levels: Floats, by_eta: bool) -> np.ndarray:
    """What a join has, in words, texts in the form of the levels."""

    def text(level: float) -> str:
        if np.isnan(level) or (level == 0 and not by_eta):
            return "no common class value"
        if by_eta:
            return f"eta {level:.3g}"
        return "1 joined row" if level == 1 else f"{level:,.0f} joined rows"

    return np.array([[text(float(level)) for level in line] for line in levels], dtype=object)


def _steps(colors: Sequence[str]) -> list[list[float | str]]:
    """A colour scale without transitions."""
    scale: list[list[float | str]] = []
    for place, color in enumerate(colors):
        scale += [[place / len(colors), color], [(place + 1) / len(colors), color]]
    return scale


def change_bars(changes: Mapping[str, ClassChanges], made: str | None, style: RunStyle) -> go.Figure:
    """Share of class values that each strategy changes; the one that made the release in the run's colour."""
    names = list(changes)
    bars = [
        go.Bar(
            y=[name],
            x=[float(one)],
            orientation="h",
            marker=marker(style) if name == made else {"color": ORIGINAL},
            text=[f"{float(one):.2%} · {one.number:,}"],
            textposition="outside",
            cliponaxis=False,
            hovertemplate=f"{name}: {one.number:,} of {one.total:,} ({float(one):.2%})<extra></extra>",
            name=name,
            showlegend=False,
        )
        for name, one in changes.items()
    ]
    result = figure(*bars, x="share of the class values in all fragments", height=220, legend=False, labels=names)
    result.update_layout(barmode="overlay", bargap=0.35)
    largest = max(map(float, changes.values()))
    result.update_xaxes(tickformat=".0%" if largest > 0.03 else ".1%", range=[0, 1.3 * max(largest, 0.01)], nticks=6)
    result.update_yaxes(type="category", autorange="reversed", ticksuffix=" ")
    return result


def likelihood_histogram(found: JoinLikelihood, style: RunStyle) -> go.Figure:
    """People by the likelihood of their membership on a scale of powers; people without a match are left out."""
    logs = np.log10(found.likelihood[found.likelihood > 0])
    low, high = (float(logs.min()), float(logs.max())) if len(logs) else (-1.0, 0.0)
    if high - low < 0.2:
        low, high = low - 0.1, high + 0.1
    edges = np.linspace(low, high, LIKELIHOOD_BARS + 1)
    shares = np.histogram(logs, bins=edges)[0] / len(found.likelihood)
    bars = go.Bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=shares,
        width=np.full(LIKELIHOOD_BARS, 0.92 * (edges[1] - edges[0])),
        marker=marker(style),
        customdata=np.column_stack([10 ** edges[:-1], 10 ** edges[1:]]),
        hovertemplate="%{y:.1%} of the people<br>%{customdata[0]:.2g} to %{customdata[1]:.2g}<extra></extra>",
        name="people",
    )
    traces = [bars]
    baseline = float(found.mean.baseline or 0)
    if baseline > 0:
        at = float(np.log10(baseline))
        traces.append(
            go.Scatter(
                x=[at, at],
                y=[0.0, float(shares.max(initial=0.01)) * 1.05],
                mode="lines",
                line={"color": ORIGINAL, "width": 2, "dash": "dash"},
                name=f"a random class of each fragment: {baseline:.2g}",
                hovertemplate=f"a random class of each fragment: {baseline:.2g}<extra></extra>",
            )
        )
        low, high = min(low, at), max(high, at)
    result = figure(*traces, x="likelihood of membership", y="share of the people", height=320)
    ticks = _power_ticks(low, high)
    result.update_xaxes(
        tickmode="array",
        tickvals=np.log10(ticks),
        ticktext=[f"{tick:.0e}".replace("e-0", "e-") if tick < 1e-3 else f"{tick:g}" for tick in ticks],
        range=[low - 0.05 * (high - low), high + 0.05 * (high - low)],
        zeroline=False,
    )
    result.update_yaxes(tickformat=".0%" if shares.max(initial=0) > 0.03 else ".1%", rangemode="tozero")
    return result


def _power_ticks(low: float, high: float) -> list[float]:
    """Round numbers between two powers of ten: 1, 2, 5 times each power where few powers are spanned."""
    powers = range(int(np.floor(low)), int(np.ceil(high)) + 1)
    for steps in ((1, 2, 5), (1,)):
        ticks = [step * 10.0**power for power in powers for step in steps]
        ticks = [tick for tick in ticks if low - 1e-9 <= np.log10(tick) <= high + 1e-9]
        if len(ticks) <= MOST_TICKS:
            return ticks
    return ticks[:: -(-len(ticks) // MOST_TICKS)]
