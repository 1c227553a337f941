"""Cost as figures: lost information, changed distributions and associations, wrong answers, weaker predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from anoncore.kernels.arrays import Floats
from anoncore.release.recoding import Recoding
from dashboard.charts.layout import Axis, distinct_labels, figure, left_margin, marker
from dashboard.charts.palette import BLUE, ORIGINAL, VERMILLION, RunStyle
from dashboard.charts.privacy import ranked

LOW_TO_HIGH = [[0, "rgba(0,114,178,0.04)"], [1, "rgba(0,114,178,1)"]]
LOST_TO_GAINED = [[0, VERMILLION], [0.5, "rgba(140,140,140,0.10)"], [1, BLUE]]


def loss_bars(losses: Mapping[str, float], total: float, style: RunStyle) -> go.Figure:
    """Information loss of every attribute, the most generalized on top, with the mean of all cells as a line."""
    names = sorted(losses, key=lambda name: -losses[name])
    labels = distinct_labels(names)
    bars = go.Bar(
        y=labels,
        x=np.array([losses[name] for name in names]),
        orientation="h",
        marker=marker(style),
        customdata=np.array(names, dtype=object),
        hovertemplate="%{customdata}: %{x:.1%} lost<extra></extra>",
        name="attribute",
    )
    mean = go.Scatter(
        y=[labels[0], labels[-1]],
        x=[total, total],
        mode="lines",
        line={"color": ORIGINAL, "width": 2, "dash": "dash"},
        name=f"all attributes: {total:.1%}",
        hovertemplate=f"all attributes: {total:.1%}<extra></extra>",
    )
    traces = (bars, mean) if len(labels) > 1 else (bars,)
    result = figure(*traces, x="information lost", height=110 + 26 * max(len(labels), 3), labels=labels)
    result.update_xaxes(tickformat=".0%", rangemode="tozero")
    result.update_yaxes(type="category", autorange="reversed", ticksuffix=" ", tickmode="linear", dtick=1)
    return result


def loss_histogram(losses: Floats, sizes: Floats, style: RunStyle, words: str, bins: int = 30) -> go.Figure:
    """Share of the rows by the mean information loss of their group."""
    top = max(float(losses.max(initial=0.0)), 1e-6)
    weights, edges = np.histogram(losses, bins=bins, range=(0.0, top), weights=sizes / sizes.sum())
    groups = np.histogram(losses, bins=bins, range=(0.0, top))[0]
    bars = go.Bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=weights,
        width=np.full(bins, 0.92 * top / bins),
        marker=marker(style),
        customdata=np.column_stack([groups, edges[:-1], edges[1:]]),
        hovertemplate=(
            f"%{{y:.1%}} of the rows, in %{{customdata[0]:,}} {words}<br>"
            "loss from %{customdata[1]:.1%} to %{customdata[2]:.1%}<extra></extra>"
        ),
        name="",
    )
    result = figure(bars, x="information lost", y="share of the rows", height=290)
    result.update_xaxes(tickformat=".0%" if top > 0.05 else ".1%", rangemode="tozero")
    result.update_yaxes(tickformat=".0%")
    return result


def published_shares(recoding: Recoding, axis: Axis) -> Floats:
    """Share of rows per bin as the release gives it: each value of a region counts as equally likely."""
    sizes = recoding.partition.sizes
    masses = [recoding.mass(axis.bin_of == place) @ sizes for place in range(axis.n_bins)]
    return np.array(masses) / sizes.sum()


def distribution(axis: Axis, original: Floats, released: Floats, style: RunStyle) -> go.Figure:
    """Shares of an attribute's values (or bins) in the original table and in the release."""
    used = np.flatnonzero(original + released > 0)
    labels = distinct_labels([axis.bin_texts[place] or "(none)" for place in used])
    hover = "%{x}: %{y:.2%}<extra>%{fullData.name}</extra>"
    before = go.Bar(x=labels, y=original[used], name="original", marker={"color": ORIGINAL}, hovertemplate=hover)
    after = go.Bar(x=labels, y=released[used], name="release", marker=marker(style), hovertemplate=hover)
    result = figure(before, after, y="share of the rows", height=340)
    slanted = sum(len(label) for label in labels) > 90
    result.update_layout(margin_b=round(24 + 0.65 * left_margin(labels, False)) if slanted else 36)
    result.update_layout(barmode="group", bargap=0.2)
    result.update_xaxes(type="category", nticks=min(len(labels), 20), tickangle=-40 if slanted else 0)
    result.update_yaxes(tickformat=".0%", rangemode="tozero")
    return result


def association_map(names: Sequence[str], values: Floats, difference: bool = False) -> go.Figure:
    """Association of every pair of attributes, or by how much it changed (lost in vermillion, gained in blue)."""
    labels = distinct_labels(names)
    shown = values.astype(np.float64).copy()
    np.fill_diagonal(shown, np.nan)
    reach = max(float(np.nanmax(np.abs(shown), initial=0.0)), 0.05) if shown.size > 1 else 1.0
    cells = go.Heatmap(
        x=labels,
        y=labels,
        z=shown,
        colorscale=LOST_TO_GAINED if difference else LOW_TO_HIGH,
        zmin=-reach if difference else 0.0,
        zmax=reach if difference else 1.0,
        colorbar={"thickness": 10, "outlinewidth": 0, "tickformat": "+.2f" if difference else ".1f"},
        hovertemplate="%{y} and %{x}: %{z:" + ("+.3f" if difference else ".3f") + "}<extra></extra>",
        hoverongaps=False,
        name="",
        xgap=1,
        ygap=1,
    )
    result = figure(cells, height=160 + 26 * max(len(labels), 6), labels=labels)
    result.update_layout(margin_b=round(24 + 0.65 * left_margin(labels, False)))
    result.update_xaxes(type="category", showgrid=False, tickmode="linear", dtick=1, tickangle=-40)
    result.update_yaxes(type="category", showgrid=False, tickmode="linear", dtick=1, autorange="reversed")
    return result


def error_curve(errors: Floats, style: RunStyle) -> go.Figure:
    """Queries ranked by relative error; an error above 1 is drawn at 1."""
    shares, values = ranked(np.minimum(errors, 1.0))
    curve = go.Scatter(
        x=values,
        y=shares,
        mode="lines",
        line={"color": style.color, "width": 2.5, "dash": style.dash, "shape": "hv"},
        hovertemplate="%{y:.0%} of the queries are off by at most %{x:.1%}<extra></extra>",
        name="",
    )
    result = figure(curve, x="relative error of the answer", y="share of the queries", height=310)
    result.update_xaxes(tickformat=".0%", range=[0, max(float(values.max(initial=0.0)), 0.01) * 1.02])
    result.update_yaxes(tickformat=".0%", range=[0, 1.02])
    return result


def score_bars(
    names: Sequence[str], values: Sequence[float], colors: Sequence[RunStyle | str], measure: str = ""
) -> go.Figure:
    """A few scores between 0 and 1 side by side, each with its value written at it."""
    bars = [
        go.Bar(
            y=[name],
            x=[value],
            orientation="h",
            marker=marker(color) if isinstance(color, RunStyle) else {"color": color},
            text=[f"{value:.1%}"],
            textposition="outside",
            cliponaxis=False,
            hovertemplate=f"{name}: {value:.2%}<extra></extra>",
            name=name,
            showlegend=False,
        )
        for name, value, color in zip(names, values, colors, strict=True)
    ]
    result = figure(*bars, x=measure, height=90 + 40 * len(bars), legend=False, labels=names)
    result.update_layout(barmode="overlay", bargap=0.35)
    result.update_xaxes(tickformat=".0%", range=[0, 1.25 * max(*values, 0.05)], nticks=6)
    result.update_yaxes(type="category", autorange="reversed", ticksuffix=" ")
    return result
