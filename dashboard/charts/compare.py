"""Several runs in one figure: each in its colour, on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from anoncore.kernels.arrays import Floats
from dashboard.charts.layout import distinct_labels, figure, marker, shortened
from dashboard.charts.privacy import ranked
from dashboard.palette import ORIGINAL, RunStyle

MOST_VALUES = 20


def share_bars(
    titles: Sequence[str], values: Sequence[Sequence[float | None]], labels: Sequence[str], styles: Sequence[RunStyle]
) -> go.Figure:
    """Shares of several runs: `values[run][number]`; one above 1 is drawn at 1, one that a run has not is left out."""
    shown = [np.array([np.nan if one is None else one for one in row], dtype=float) for row in values]
    traces = [
        go.Bar(
            y=list(titles),
            x=np.minimum(row, 1.0),
            orientation="h",
            name=shortened(label),
            marker=marker(style),
            customdata=row,
            texttemplate="%{customdata:.1%}",
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: %{customdata:.2%}<extra>%{fullData.name}</extra>",
        )
        for label, style, row in zip(labels, styles, shown, strict=True)
    ]
    height = 90 + len(titles) * (18 * len(labels) + 14)
    result = figure(*traces, x="lower is better", height=height, labels=titles, legend=True)
    result.update_layout(barmode="group", bargap=0.25)
    result.update_xaxes(tickformat=".0%", range=[0, 1.18], tickvals=np.linspace(0, 1, 5))
    result.update_yaxes(type="category", autorange="reversed", ticksuffix=" ")
    return result


def curves(
    values: Sequence[Floats], labels: Sequence[str], styles: Sequence[RunStyle], x: str, form: str, logarithmic: bool
) -> go.Figure:
    """The share of people (or groups) up to each value, one curve per run."""
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
    """Information loss of every quasi-identifier, run beside run."""
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
