"""Protection as figures: distances from the table, and what an adversary believes."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from anoncore.kernels.arrays import Floats
from anoncore.kernels.rounding import stays_within
from dashboard.charts.layout import figure, marker
from dashboard.charts.palette import ORIGINAL, RunStyle

MOST_POINTS = 200


def ranked(values: Floats) -> tuple[Floats, Floats]:
    """Values in ascending order at no more than 200 places: the share of values up to each, and the value there.

    The smallest and the largest are always among them.
    """
    ordered = np.sort(values)
    places = np.unique(np.linspace(0, len(ordered) - 1, min(MOST_POINTS, len(ordered))).round().astype(np.int64))
    return (places + 1) / len(ordered), ordered[places]


def distance_curve(distances: Floats, style: RunStyle, words: str, asked: float | None = None) -> go.Figure:
    """Groups ranked by earth mover's distance from the table, with the t that was asked for as a line."""
    shares, values = ranked(distances)
    if len(shares) == 1:
        shares, values = np.array([0.0, 1.0]), np.repeat(values, 2)
    curve = go.Scatter(
        x=shares,
        y=values,
        mode="lines",
        line={"color": style.color, "width": 2.5, "dash": style.dash, "shape": "vh"},
        fill="tozeroy",
        fillcolor="rgba(140,140,140,0.12)",
        name="distance",
        hovertemplate=f"%{{x:.1%}} of the {words} have an EMD of at most %{{y:.3f}}<extra></extra>",
    )
    traces = [curve]
    if asked is not None:
        traces.append(
            go.Scatter(
                x=[0.0, 1.0],
                y=[asked, asked],
                mode="lines",
                line={"color": ORIGINAL, "width": 2, "dash": "dash"},
                name=f"asked: t = {asked:g}",
                hovertemplate=f"t = {asked:g}<extra></extra>",
            )
        )
    result = figure(*traces, x=f"share of the {words}, the closest first", y="EMD from the table", height=310)
    result.update_xaxes(tickformat=".0%", range=[0, 1], tickvals=np.linspace(0, 1, 5))
    result.update_yaxes(range=[0, max(float(distances.max()), asked or 0.0, 1e-3) * 1.08], zeroline=False)
    return result


def belief_histogram(beliefs: Floats, baseline: float, style: RunStyle, bins: int = 25) -> go.Figure:
    """Rows by the largest probability that an adversary gives to one sensitive value, against blind guessing."""
    counts, edges = np.histogram(np.clip(beliefs, 0, 1), bins=bins, range=(0.0, 1.0))
    shares = counts / max(len(beliefs), 1)
    bars = go.Bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=shares,
        width=np.full(bins, 0.92 / bins),
        marker=marker(style),
        customdata=np.column_stack([edges[:-1], edges[1:]]),
        hovertemplate="%{y:.1%} of the rows<br>belief from %{customdata[0]:.0%} to %{customdata[1]:.0%}<extra></extra>",
        name="with the release",
    )
    guess = go.Scatter(
        x=[baseline, baseline],
        y=[0.0, float(shares.max(initial=0.01)) * 1.05],
        mode="lines",
        line={"color": ORIGINAL, "width": 2, "dash": "dash"},
        name=f"without it: {baseline:.1%}",
        hovertemplate=f"guessing the most frequent value: {baseline:.1%}<extra></extra>",
    )
    result = figure(bars, guess, x="largest probability of one value", y="share of the rows", height=310)
    result.update_xaxes(tickformat=".0%", range=[0, 1.01])
    result.update_yaxes(tickformat=".0%", rangemode="tozero")
    return result


def risk_bars(names: list[str], risks: Floats, baselines: Floats, style: RunStyle) -> go.Figure:
    """Re-identification risks of the release beside those of the original table."""
    hover = "%{y}: %{x:.2%}<extra>%{fullData.name}</extra>"
    common = {"orientation": "h", "hovertemplate": hover, "texttemplate": "%{x:.1%}", "textposition": "outside"}
    original = go.Bar(y=names, x=baselines, name="original table", marker={"color": ORIGINAL}, **common)
    release = go.Bar(y=names, x=risks, name="release", marker=marker(style), **common)
    result = figure(original, release, x="probability of a right match", height=120 + 46 * len(names), labels=names)
    result.update_layout(barmode="group")
    result.update_xaxes(tickformat=".0%", range=[0, 1.2], tickvals=np.linspace(0, 1, 5))
    result.update_yaxes(type="category", autorange="reversed", ticksuffix=" ")
    return result


def share_at_most(values: Floats, limit: float) -> float:
    """Share of the values that are at most the limit."""
    return float(stays_within(values, limit).mean())
