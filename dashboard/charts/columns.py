"""All columns of the board in one figure: each in its colour, on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from anoncore.kernels.arrays import Floats
from dashboard.charts.layout import distinct_labels, figure, marker, shortened
from dashboard.charts.palette import ORIGINAL, RunStyle
from dashboard.charts.privacy import ranked

MOST_VALUES = 20


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
    order = [true_code, *[code for code in np.argsort(-top, kind="stable") if code != true_code]][:MOST_VALUES]
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
