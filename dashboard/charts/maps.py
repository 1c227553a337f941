"""Heat maps: how closely attributes belong together, pairs of values before and after, joins of classes."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from anoncore.kernels.arrays import Floats
from anoncore.privacy import WorstJoins
from dashboard.charts.layout import (
    PIXELS_PER_CHARACTER,
    Axis,
    cells,
    distinct_labels,
    faint,
    figure,
    shortened,
    stepped,
    written,
)
from dashboard.charts.palette import BLUE, ORIGINAL, VERMILLION, RunStyle

MOST_LABELS, MOST_UPRIGHT = 40, 26
"""Attributes up to which each has a label on the left, and one below; more of them are labelled by group."""
MOST_TEXTS = 5, 12
"""Cells beside and above each other up to which each has its share written in it."""
CELL, JOIN_CELL = 21, 8
NOTHING, SAFE, UNSAFE = 0, 1, 2
LOST_TO_GAINED = (VERMILLION, "rgba(140,140,140,0.10)", BLUE)


def association_map(
    association: pd.DataFrame,
    groups: Sequence[Sequence[str]],
    measure: str,
    word: str = "",
    centres: Collection[str | None] = (),
    reach: float | None = None,
    difference: bool = False,
) -> go.Figure:
    """Every pair of attributes, coloured by the square root of their association, with a frame around each group.

    Attributes of no group come last. Those in `centres` have a bold label. An attribute beside itself is left empty.
    The darkest colour stands for `reach`, else for the largest association. A `difference` of two is coloured as it is:
    lost in vermillion, gained in blue.
    """
    names = ordered_names(association, groups)
    labels = distinct_labels(names)
    values = pair_values(association, names)
    reach = reach or max(float(np.nanmax(np.abs(values), initial=0)), 0.05 if difference else 0) or 1.0
    root, few = float(np.sqrt(reach)), np.array([0, 0.25, 1])
    z, look = values, dict[str, Any](tickformat="+.2f")
    if not difference:
        z = np.sqrt(np.maximum(values, 0))
        look = {"tickvals": root * np.sqrt(few), "ticktext": [f"{reach * share:.2g}" for share in few]}
    pairs = cells(
        labels,
        labels,
        z.astype(np.float32),
        LOST_TO_GAINED if difference else (faint(BLUE, 0.04), BLUE),
        f"%{{y}} and %{{x}}<br>{measure} %{{customdata:{'+.3f' if difference else '.3g'}}}",
        -reach if difference else 0,
        reach if difference else root,
        customdata=values.astype(np.float32),
        showscale=True,
        colorbar={"thickness": 10, "outlinewidth": 0} | look,
    )
    named, upright = len(names) <= MOST_LABELS, len(names) <= MOST_UPRIGHT
    below = round(18 + PIXELS_PER_CHARACTER * max(map(len, labels))) if upright else 14
    height = 20 + below + (CELL * max(len(names), 7) if named else 420)
    result = figure(pairs, height=height, labels=labels if named else [f"{word} 10"])
    ticks = [f"<b>{label}</b>" if name in centres else label for name, label in zip(names, labels, strict=True)]
    common = {"type": "category", "showgrid": False, "zeroline": False, "tickvals": labels, "ticktext": ticks}
    result.update_xaxes(tickangle=-90, showticklabels=upright, **common)
    result.update_yaxes(ticksuffix=" ", showticklabels=named, autorange="reversed", **common)
    if not named:
        result.update_layout(xaxis_ticks="", yaxis_ticks="")
    result.update_layout(margin_r=62, margin_b=below)
    _frame(result, [len(group) for group in groups], word, named)
    return result


def ordered_names(association: pd.DataFrame, groups: Sequence[Sequence[str]]) -> list[str]:
    """The attributes group by group, once for each group that has them, then those of no group."""
    grouped = [name for group in groups for name in group]
    return grouped + [name for name in association.index if name not in grouped]


def pair_values(association: pd.DataFrame, names: Sequence[str]) -> np.ndarray:
    """The association of the names in their order, (n, n); NaN of a name with itself."""
    places = association.index.get_indexer(pd.Index(names))
    values = association.to_numpy(dtype=np.float64)[np.ix_(places, places)]
    values[places[:, None] == places] = np.nan
    return values


def _frame(result: go.Figure, sizes: Sequence[int], word: str, named: bool) -> None:
    """A frame around each group's own pairs; its name beside it where attributes have no labels."""
    ends = np.cumsum([0, *sizes]) - 0.5
    beside = {"x": 0, "xref": "paper", "xanchor": "right", "xshift": -4, "showarrow": False}
    for number, (low, high) in enumerate(itertools.pairwise(ends), start=1):
        outline = {"color": VERMILLION, "width": 2}
        result.add_shape(type="rect", x0=low, x1=high, y0=low, y1=high, line=outline, layer="above")
        if not named:
            result.add_annotation(text=f"{word} {number}", y=(low + high) / 2, **beside)


def strongest_pair(association: pd.DataFrame) -> str:
    """The two attributes that belong together most, in a sentence."""
    names = list(association.index)
    values = pair_values(association, names)
    if len(names) < 2:
        return "There is no pair of attributes."
    first, second = np.unravel_index(int(np.nanargmax(values)), values.shape)
    return f"The strongest pair is {names[first]} and {names[second]} with {values[first, second]:.3g}."


def joint_map(across: Axis, up: Axis, shares: Floats, style: RunStyle | None, largest: float) -> go.Figure:
    """Share of the rows with each pair of values, darker where it is larger; of the original table without a style.

    `shares` float (bins across, bins up); the darkest colour stands for `largest`, so that two maps compare.
    """
    color = ORIGINAL if style is None else style.color
    return _pairs(across, up, shares, (faint(color, 0.03), faint(color, 1.0)), (0, largest or 1.0), "%{z:.2%}", ".1%")


def difference_map(across: Axis, up: Axis, difference: Floats) -> go.Figure:
    """By how much the share of the rows with each pair of values changed: lost in vermillion, gained in blue."""
    reach = float(np.abs(difference).max()) or 1.0
    return _pairs(across, up, difference, LOST_TO_GAINED, (-reach, reach), "%{z:+.2%}", "+.1%")


def _pairs(
    across: Axis,
    up: Axis,
    shares: Floats,
    colors: Sequence[str],
    limits: tuple[float, float],
    hover: str,
    texts: str,
) -> go.Figure:
    labels = [distinct_labels([text or "(none)" for text in axis.bin_texts]) for axis in (across, up)]
    told = f"{shortened(across.name)} %{{x}}<br>{shortened(up.name)} %{{y}}<br>{hover} of the rows"
    x, y = (np.array(side, dtype=object) for side in labels)
    traces: list[Any] = [cells(x, y, shares.T.astype(np.float32), colors, told, *limits, xgap=1, ygap=1)]
    if shares.shape[0] <= MOST_TEXTS[0] and shares.shape[1] <= MOST_TEXTS[1]:
        columns, rows = np.indices(shares.shape)
        texts_of = [format(share, texts) for share in shares.ravel()]
        traces.append(written(x[columns.ravel()], y[rows.ravel()], texts_of, "shares"))
    turned = sum(map(len, labels[0])) > 34
    below = round(26 + (6.0 * max(map(len, labels[0])) if turned else 8))
    result = figure(*traces, x=" ", y=" ", height=300 + below, labels=labels[1], legend=False)
    result.update_layout(margin_b=below + 24, margin_r=8)
    for axis, name, shown in (("xaxis", across.name, labels[0]), ("yaxis", up.name, labels[1])):
        ticks = shown[:: -(-len(shown) // 14)]
        common = {"title": shortened(name), "type": "category", "showgrid": False, "tickvals": ticks, "ticktext": ticks}
        result.update_layout({axis: common})
    return result.update_xaxes(tickangle=-90 if turned else 0)


def join_map(found: WorstJoins, published: bool, names: Sequence[str]) -> go.Figure:
    """Joins of the worst classes of two fragments: nothing in common, safe, or unsafe; `published`: after the changes.

    `names` are those of the two fragments. Classes are numbered from 1.
    """
    levels = found.after if published else found.before
    broken = found.broken_after if published else found.broken_before
    empty = np.isnan(levels) | (levels == 0) & ~np.bool_(found.by_eta)
    state = np.where(broken, UNSAFE, np.where(empty, NOTHING, SAFE)).astype(np.int8)
    first, second = ([f"{place + 1:,}" for place in side.tolist()] for side in (found.first, found.second))
    hover = f"group %{{y}} of {names[0]}<br>group %{{x}} of {names[1]}<br>%{{customdata}}"
    colors = stepped([faint(ORIGINAL, 0.08), faint(BLUE, 0.45), VERMILLION])
    joins = cells(
        second, first, state, colors, hover, 0, 2, customdata=level_texts(levels, found.by_eta), xgap=1, ygap=1
    )
    keys = {
        "eta too low" if found.by_eta else "too few joined rows": VERMILLION,
        "safe": faint(BLUE, 0.45),
        "nothing in common": faint(ORIGINAL, 0.25),
    }
    square = {"symbol": "square", "size": 11}
    legend = [
        go.Scatter(x=[None], y=[None], mode="markers", name=name, marker=square | {"color": color})
        for name, color in keys.items()
    ]
    result = figure(
        joins,
        *legend,
        x=f"groups of {names[1]}",
        y=f"groups of {names[0]}",
        height=110 + JOIN_CELL * max(len(first), 16),
        legend=True,
    )
    common = {"type": "category", "showgrid": False, "zeroline": False, "ticks": ""}
    result.update_xaxes(showticklabels=len(second) <= 12, **common)
    result.update_yaxes(showticklabels=len(first) <= 12, autorange="reversed", **common)
    return result.update_layout(margin_l=52, margin_b=40)


def level_texts(levels: Floats, by_eta: bool) -> np.ndarray:
    """What a join has, in words, texts in the form of the levels."""

    def text(level: float) -> str:
        if np.isnan(level) or (level == 0 and not by_eta):
            return "no common class value"
        if by_eta:
            return f"eta {level:.3g}"
        return "1 joined row" if level == 1 else f"{level:,.0f} joined rows"

    return np.array([[text(float(level)) for level in row] for row in levels], dtype=object)
