"""How closely attributes belong together: every pair as a cell, in the order of the groups that they are put into."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.charts.layout import PIXELS_PER_CHARACTER, distinct_labels, faint, figure
from dashboard.charts.palette import BLUE, VERMILLION

MOST_LABELS, MOST_UPRIGHT = 40, 26
"""Attributes up to which each has a label on the left, and one below; more of them are labelled by group."""
CELL = 21


def association_map(
    association: pd.DataFrame,
    groups: Sequence[Sequence[str]],
    measure: str,
    word: str,
    centres: Collection[str | None] = (),
) -> go.Figure:
    """Every pair of attributes, coloured by the square root of their association, with a frame around each group.

    Attributes of no group come last. Those in `centres` have a bold label. An attribute beside itself is left empty.
    """
    names = ordered_names(association, groups)
    labels = distinct_labels(names)
    values = pair_values(association, names)
    largest = float(np.nanmax(values, initial=0)) or 1.0
    cells = go.Heatmap(
        x=labels,
        y=labels,
        z=np.sqrt(np.maximum(values, 0)).astype(np.float32),
        customdata=values.astype(np.float32),
        zmin=0,
        zmax=float(np.sqrt(largest)),
        colorscale=[[0, faint(BLUE, 0.04)], [1, BLUE]],
        colorbar={
            "thickness": 10,
            "outlinewidth": 0,
            "tickvals": [np.sqrt(largest) * share for share in (0, 0.5, 1)],
            "ticktext": [f"{largest * share:.2g}" for share in (0, 0.25, 1)],
        },
        hovertemplate=f"%{{y}} and %{{x}}<br>{measure} %{{customdata:.3g}}<extra></extra>",
        hoverongaps=False,
        name="",
    )
    named, upright = len(names) <= MOST_LABELS, len(names) <= MOST_UPRIGHT
    below = round(18 + PIXELS_PER_CHARACTER * max(map(len, labels))) if upright else 14
    result = figure(
        cells,
        height=20 + below + (CELL * max(len(names), 7) if named else 420),
        labels=labels if named else [f"{word} 10"],
    )
    ticks = [f"<b>{label}</b>" if name in centres else label for name, label in zip(names, labels, strict=True)]
    common = {"type": "category", "showgrid": False, "zeroline": False, "tickmode": "array", "tickvals": labels}
    result.update_xaxes(tickangle=-90, ticktext=ticks, showticklabels=upright, **common)
    result.update_yaxes(ticksuffix=" ", ticktext=ticks, showticklabels=named, autorange="reversed", **common)
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
    for number, (low, high) in enumerate(itertools.pairwise(ends), start=1):
        line = {"color": VERMILLION, "width": 2}
        result.add_shape(type="rect", x0=low, x1=high, y0=low, y1=high, line=line, layer="above")
        if not named:
            result.add_annotation(
                text=f"{word} {number}",
                x=0,
                xref="paper",
                xanchor="right",
                xshift=-4,
                y=(low + high) / 2,
                showarrow=False,
            )


def strongest_pair(association: pd.DataFrame) -> str:
    """The two attributes that belong together most, in a sentence."""
    names = list(association.index)
    values = pair_values(association, names)
    if len(names) < 2:
        return "There is no pair of attributes."
    first, second = np.unravel_index(int(np.nanargmax(values)), values.shape)
    return f"The strongest pair is {names[first]} and {names[second]} with {values[first, second]:.3g}."
