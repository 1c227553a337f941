"""What a release changed and cost, as figures: cells, distributions, pairs, wrong answers, weaker predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from anoncore.kernels.arrays import Floats
from anoncore.release.cell_changes import CHANGES, Change
from anoncore.release.recoding import Recoding
from dashboard.charts.layout import Axis, distinct_labels, faint, figure, left_margin, marker, shortened
from dashboard.charts.palette import BLUE, COLOR_NAMES, ORIGINAL, PURPLE, SKY, VERMILLION, RunStyle
from dashboard.charts.privacy import ranked

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
