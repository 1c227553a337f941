"""The table before and after: what became of the cells of each attribute, and the rows with each pair of values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from anoncore.kernels.arrays import Floats
from anoncore.release.cell_changes import CHANGES, Change
from dashboard.charts.layout import Axis, distinct_labels, faint, figure, left_margin, shortened
from dashboard.charts.palette import BLUE, COLOR_NAMES, ORIGINAL, PURPLE, SKY, VERMILLION, RunStyle
from dashboard.charts.utility import LOST_TO_GAINED

COLOR_OF_CHANGE: Mapping[Change, str] = {
    Change.KEPT: ORIGINAL,
    Change.GENERALIZED: SKY,
    Change.SUPPRESSED: BLUE,
    Change.REPLACED: VERMILLION,
    Change.UNLINKED: PURPLE,
}
PATTERN_OF_CHANGE: Mapping[Change, str] = {
    Change.KEPT: "",
    Change.GENERALIZED: "/",
    Change.SUPPRESSED: "x",
    Change.REPLACED: ".",
    Change.UNLINKED: "|",
}
MOST_TEXTS = 5, 12
"""Cells beside and above each other up to which each has its share written in it."""
BAR = 26


def change_bars(shares: Mapping[str, Floats]) -> go.Figure:
    """For each attribute the share of its cells with each change, in the order of `CHANGES`, as one bar of parts."""
    labels = distinct_labels(list(shares))
    table = np.array(list(shares.values()))
    bars = [
        go.Bar(
            y=labels,
            x=table[:, number],
            orientation="h",
            name=change.value,
            marker={
                "color": faint(COLOR_OF_CHANGE[change], 0.35 if change is Change.KEPT else 1.0),
                "pattern": {
                    "shape": PATTERN_OF_CHANGE[change],
                    "fillmode": "overlay",
                    "fgcolor": "rgba(255,255,255,0.6)",
                    "size": 6,
                },
            },
            hovertemplate="%{y}: %{x:.1%} of the cells are " + change.value + "<extra></extra>",
        )
        for number, change in enumerate(CHANGES)
        if table[:, number].any()
    ]
    result = figure(*bars, x="share of the cells", height=110 + BAR * max(len(labels), 3), labels=labels, legend=True)
    result.update_layout(barmode="stack", bargap=0.25, legend_traceorder="normal")
    result.update_xaxes(tickformat=".0%", range=[0, 1])
    result.update_yaxes(type="category", autorange="reversed", ticksuffix=" ", tickmode="linear", dtick=1)
    return result


def joint_map(across: Axis, up: Axis, shares: Floats, style: RunStyle | None, largest: float) -> go.Figure:
    """Share of the rows with each pair of values, darker where it is larger; of the original table without a style.

    `shares` float (bins across, bins up); the darkest colour stands for `largest`, so that two maps compare.
    """
    color = ORIGINAL if style is None else style.color
    scale = [[0, faint(color, 0.03)], [1, faint(color, 1.0)]]
    return _cells(across, up, shares, {"colorscale": scale, "zmin": 0, "zmax": largest or 1.0}, "%{z:.2%}", ".1%")


def difference_map(across: Axis, up: Axis, difference: Floats) -> go.Figure:
    """By how much the share of the rows with each pair of values changed: lost in vermillion, gained in blue."""
    reach = float(np.abs(difference).max()) or 1.0
    colors = {"colorscale": LOST_TO_GAINED, "zmin": -reach, "zmax": reach}
    return _cells(across, up, difference, colors, "%{z:+.2%}", "+.1%")


def _cells(across: Axis, up: Axis, shares: Floats, colors: dict[str, Any], hover: str, texts: str) -> go.Figure:
    labels = [distinct_labels([text or "(none)" for text in axis.bin_texts]) for axis in (across, up)]
    cells = go.Heatmap(
        x=labels[0],
        y=labels[1],
        z=shares.T.astype(np.float32),
        xgap=1,
        ygap=1,
        showscale=False,
        hovertemplate=(
            f"{shortened(across.name)} %{{x}}<br>{shortened(up.name)} %{{y}}<br>{hover} of the rows<extra></extra>"
        ),
        name="",
        **colors,
    )
    traces: list[Any] = [cells]
    if shares.shape[0] <= MOST_TEXTS[0] and shares.shape[1] <= MOST_TEXTS[1]:
        # Texts of the heatmap itself take the contrast to the colour without its transparency: unreadable on dark.
        columns, rows = np.indices(shares.shape)
        traces.append(
            go.Scatter(
                x=np.array(labels[0], dtype=object)[columns.ravel()],
                y=np.array(labels[1], dtype=object)[rows.ravel()],
                text=[format(share, texts) for share in shares.ravel()],
                mode="text",
                hoverinfo="skip",
                name="shares",
            )
        )
    longest = max(len(label) for label in labels[0])
    turned = sum(len(label) for label in labels[0]) > 34
    below = round(26 + (6.0 * longest if turned else 8))
    result = figure(*traces, x=" ", y=" ", height=300 + below, labels=labels[1], legend=False)
    result.update_layout(margin_b=below + 24, margin_r=8)
    result.update_xaxes(
        title=shortened(across.name),
        type="category",
        showgrid=False,
        tickangle=-90 if turned else 0,
        **_ticks(labels[0]),
    )
    result.update_yaxes(title=shortened(up.name), type="category", showgrid=False, **_ticks(labels[1]))
    return result


def _ticks(labels: list[str]) -> dict[str, Any]:
    """Every label of a few, else every second or third."""
    step = -(-len(labels) // 14)
    return {"tickmode": "array", "tickvals": labels[::step], "ticktext": labels[::step]}


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


def left_out_shares(axis: Axis, everybody: Floats, left_out: Floats) -> go.Figure:
    """Shares of an attribute's values (or bins) among all rows and among those that are left out."""
    used = np.flatnonzero(everybody + left_out > 0)
    labels = distinct_labels([axis.bin_texts[place] or "(none)" for place in used])
    hover = "%{x}: %{y:.1%}<extra>%{fullData.name}</extra>"
    before = go.Bar(x=labels, y=everybody[used], name="all rows", marker={"color": ORIGINAL}, hovertemplate=hover)
    gone = go.Bar(x=labels, y=left_out[used], name="left out", marker={"color": BLUE}, hovertemplate=hover)
    result = figure(before, gone, y="share of the rows", height=320)
    slanted = sum(len(label) for label in labels) > 90
    result.update_layout(margin_b=round(24 + 0.65 * left_margin(labels, False)) if slanted else 36)
    result.update_layout(barmode="group", bargap=0.2)
    result.update_xaxes(type="category", tickangle=-40 if slanted else 0)
    result.update_yaxes(tickformat=".0%", rangemode="tozero")
    return result
