"""Many candidates over two criteria: who is on the front, and who is beaten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import plotly.graph_objects as go

from anoncore.measures.criteria import Criterion
from anoncore.search.frontier import frontiers, refined_pairs
from anoncore.search.sweeping import Point, pareto
from dashboard.charts.layout import figure, marker
from dashboard.palette import ORIGINAL, STYLES, RunStyle, run_style

FADED = 0.3
REFINED = {"color": ORIGINAL, "width": 2.5}
NO_COLORS: Mapping[str, int] = MappingProxyType({})


def trade_off(
    points: Sequence[Point], labels: Sequence[str], x: Criterion, y: Criterion, colors: Mapping[str, int] = NO_COLORS
) -> go.Figure:
    """One mark per candidate, one colour and form per method; those that another beats in both are faded.

    A line of its colour joins the candidates of a method that no other one of it beats: the least of one criterion at
    each value of the other. Where two candidates differ in nothing but that classes were refined, a line joins them.

    `colors` are the indices of colours that methods have elsewhere, by name; the others get those that are left. The
    customdata of a mark begins with its place among the points.
    """
    front = pareto(points, x.name, y.name)
    there = [i for i, point in enumerate(points) if x.name in point.values and y.name in point.values]
    kinds = {point.algorithm.title: point.algorithm.name for point in points}
    styles = method_styles(list(kinds.values()), colors)
    traces: list[go.Scatter] = []
    edge = sorted((points[i].values[x.name], points[i].values[y.name]) for i in there if front[i])
    if len(edge) > 1:
        traces.append(
            go.Scatter(
                x=np.array([one[0] for one in edge]),
                y=np.array([one[1] for one in edge]),
                mode="lines",
                line={"color": ORIGINAL, "dash": "dot", "width": 1.5},
                name="not beaten by any",
                hoverinfo="skip",
            )
        )
    for name, places in frontiers(points, x.name, y.name).items():
        if len(places) > 1:
            traces.append(_line(points, places, x, y, {"color": styles[name].color, "width": 1}, "least of one method"))
    gains = [_line(points, pair, x, y, REFINED, "gained by refining") for pair in refined_pairs(points, x.name, y.name)]
    for number, gain in enumerate(gains):
        gain.update(legendgroup="refined", showlegend=number == 0)
    traces += gains
    for method, name in kinds.items():
        mine = [i for i in there if points[i].algorithm.title == method]
        if not mine:
            continue
        style = styles[name]
        opacity = np.where(front[mine], 1.0, FADED)
        traces.append(
            go.Scatter(
                x=np.array([points[i].values[x.name] for i in mine]),
                y=np.array([points[i].values[y.name] for i in mine]),
                mode="markers",
                marker={**marker(style), "symbol": style.symbol, "size": 11, "opacity": opacity},
                customdata=np.array([[i, labels[i].replace("<", "&lt;")] for i in mine], dtype=object),
                name=method,
                hovertemplate="%{customdata[1]}<br>"
                + f"{x.title}: %{{x:{_form(x)}}}<br>{y.title}: %{{y:{_form(y)}}}<extra></extra>",
            )
        )
    result = figure(*traces, x=_axis(x), y=_axis(y), height=440, legend=True)
    result.update_xaxes(**_scale(x, [points[i].values[x.name] for i in there]))
    result.update_yaxes(**_scale(y, [points[i].values[y.name] for i in there]))
    return result


def _line(
    points: Sequence[Point], places: Sequence[int], x: Criterion, y: Criterion, line: dict[str, Any], name: str
) -> go.Scatter:
    """A line through some candidates, which the legend does not name."""
    return go.Scatter(
        x=np.array([points[i].values[x.name] for i in places]),
        y=np.array([points[i].values[y.name] for i in places]),
        mode="lines",
        line=line,
        name=name,
        showlegend=False,
        hoverinfo="skip",
    )


def method_styles(names: Sequence[str], colors: Mapping[str, int]) -> dict[str, RunStyle]:
    """A style for each method: that of its column on the board, else one that no other of them has."""
    taken = {colors[name] for name in names if name in colors}
    free = (index for index in range(len(STYLES) + len(names)) if index not in taken)
    return {name: run_style(colors[name] if name in colors else next(free)) for name in names}


def _scale(criterion: Criterion, values: Sequence[float]) -> dict[str, Any]:
    """Counts on a logarithmic scale, as they spread over powers of ten; all else from zero."""
    if criterion.form == "count" and min(values, default=0) > 0:
        return {"type": "log", "tickformat": _form(criterion), "dtick": 1}
    return {"tickformat": _form(criterion), "range": _range(values)}


def _range(values: Sequence[float]) -> tuple[float, float]:
    """From below zero to above the largest, so that no mark is cut by an axis."""
    top = max([*values, 1e-6])
    return -0.04 * top, 1.06 * top


def _axis(criterion: Criterion) -> str:
    return f"{criterion.title} ({'higher' if criterion.higher_is_better else 'lower'} is better)"


def _form(criterion: Criterion) -> str:
    return {"share": ".1%", "count": ",.0f", "number": ".3~g"}[criterion.form]
