"""Protection as figures, of one release or of all columns: distances, beliefs, and what keeps groups whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from anoncore.kernels.arrays import Floats
from anoncore.kernels.rounding import stays_within
from dashboard.charts.layout import distinct_labels, figure, marker, shortened
from dashboard.charts.palette import ORIGINAL, RunStyle

MOST_BELIEVED = 20
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


def curves(
    values: Sequence[Floats], labels: Sequence[str], styles: Sequence[RunStyle], x: str, form: str, logarithmic: bool
) -> go.Figure:
    """The share of people (or groups) up to each value, one curve per release."""
    traces = []
    for one, label, style in zip(values, labels, styles, strict=True):
        shares, places = ranked(one)
        traces.append(
            go.Scatter(
                x=np.concatenate([places[:1], places]),
                y=np.concatenate([[0.0], shares]),
                mode="lines",
                line={"color": style.color, "width": 2.5, "dash": style.dash, "shape": "hv"},
                name=shortened(label),
                hovertemplate=f"%{{y:.1%}} have at most %{{x:{form}}}<extra>%{{fullData.name}}</extra>",
            )
        )
    result = figure(*traces, x=x, y="share up to there", height=380, legend=True)
    result.update_yaxes(tickformat=".0%", range=[0, 1.02])
    result.update_xaxes(tickformat=form, type="log" if logarithmic else "linear")
    if not logarithmic:
        result.update_xaxes(rangemode="tozero")
    return result


def attribute_bars(
    losses: Sequence[Mapping[str, float]], labels: Sequence[str], styles: Sequence[RunStyle]
) -> go.Figure:
    """Information loss of every quasi-identifier, release beside release."""
    names = list(dict.fromkeys(name for one in losses for name in one))
    texts = distinct_labels(names)
    traces = [
        go.Bar(
            y=texts,
            x=np.array([one.get(name, np.nan) for name in names]),
            orientation="h",
            name=shortened(label),
            marker=marker(style),
            hovertemplate="%{y}: %{x:.1%} lost<extra>%{fullData.name}</extra>",
        )
        for one, label, style in zip(losses, labels, styles, strict=True)
    ]
    result = figure(
        *traces,
        x="information lost",
        height=90 + len(names) * (10 * len(labels) + 14),
        labels=texts,
        legend=True,
    )
    result.update_layout(barmode="group", bargap=0.25)
    result.update_xaxes(tickformat=".0%", rangemode="tozero")
    result.update_yaxes(type="category", autorange="reversed", ticksuffix=" ")
    return result


def belief_bars(
    texts: Sequence[str],
    beliefs: Sequence[Floats],
    table: Floats,
    true_code: int,
    labels: Sequence[str],
    styles: Sequence[RunStyle],
) -> go.Figure:
    """How likely each value of one person is by each release, beside the table's share; a star at the truth."""
    top = np.maximum.reduce([table, *beliefs])
    order = [true_code, *[code for code in np.argsort(-top, kind="stable") if code != true_code]][:MOST_BELIEVED]
    names = distinct_labels([("★ " if code == true_code else "") + texts[code] for code in order])
    traces = [
        go.Bar(
            y=names,
            x=table[order],
            orientation="h",
            name="whole table",
            marker={"color": ORIGINAL},
            hovertemplate="%{y}: %{x:.1%}<extra>%{fullData.name}</extra>",
        )
    ]
    traces += [
        go.Bar(
            y=names,
            x=belief[order],
            orientation="h",
            name=shortened(label),
            marker=marker(style),
            hovertemplate="%{y}: %{x:.1%}<extra>%{fullData.name}</extra>",
        )
        for belief, label, style in zip(beliefs, labels, styles, strict=True)
    ]
    height = 90 + len(names) * (10 * (len(beliefs) + 1) + 12)
    result = figure(*traces, x="probability", height=height, labels=names, legend=True)
    result.update_layout(barmode="group", bargap=0.25)
    result.update_xaxes(tickformat=".0%", range=[0, 1.02])
    result.update_yaxes(type="category", autorange="reversed", ticksuffix=" ")
    return result


def bound_groups(reasons: Mapping[str, int], style: RunStyle, words: str) -> go.Figure:
    """How many groups each reason keeps whole."""
    labels = distinct_labels(list(reasons))
    bars = go.Bar(
        y=labels,
        x=np.array(list(reasons.values())),
        orientation="h",
        marker=marker(style),
        texttemplate="%{x:,}",
        textposition="outside",
        cliponaxis=False,
        hovertemplate=f"%{{y}}: %{{x:,}} {words}<extra></extra>",
        name=words,
    )
    top = max([*reasons.values(), 1])
    result = figure(bars, x=words, height=110 + 40 * len(labels), labels=labels)
    result.update_xaxes(range=[0, top * 1.18])
    result.update_yaxes(type="category", autorange="reversed", ticksuffix=" ")
    return result
