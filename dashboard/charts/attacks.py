"""Attacks as figures: who stands out, which attribute sets tell most, what is learned, how often they succeed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go

from anoncore.attacks import ForegroundKnowledge
from anoncore.attacks.foreground import GroupView
from anoncore.kernels.arrays import Floats, Int64
from dashboard.charts.layout import distinct_labels, figure, marker, shortened
from dashboard.charts.palette import GREEN, ORIGINAL, PURPLE, VERMILLION, RunStyle

GAIN_EDGES = (-1.0, -0.2, -0.05, -0.005, 0.005, 0.05, 0.2, 0.5, 1.0)
GAIN_LABELS = (
    "falls by 20 or more",
    "falls by 5 to 20",
    "falls by less than 5",
    "stays as it is",
    "rises by less than 5",
    "rises by 5 to 20",
    "rises by 20 to 50",
    "rises by 50 or more",
)
IN_TABLE, NOT_IN_TABLE = "in the table", "not in the table"
MOST_SETS = 12
MOST_SIGNATURES = 200
MOST_PEOPLE = 40
BINS = 25


def belief_histogram(own: Floats, without: Floats, r: float, style: RunStyle, what: str = "the attack") -> go.Figure:
    """People by p(t:x) of their own protected value, with something that the adversary has and without it, and 1/r.

    `own` and `without` float (n_rows,) are NaN where a value needs no protection.
    """
    protected = ~np.isnan(own)
    centres = (np.arange(BINS) + 0.5) / BINS
    after, before = _shares(own[protected]), _shares(without[protected])
    hover = "p(t:x) about %{x:.0%}: %{y:.1%} of them<extra>%{fullData.name}</extra>"
    bars = [
        go.Bar(x=centres, y=before, name=f"without {what}", marker={"color": ORIGINAL}, hovertemplate=hover),
        go.Bar(x=centres, y=after, name=f"with {what}", marker=marker(style, 0.85), hovertemplate=hover),
    ]
    top = max(float(after.max(initial=0)), float(before.max(initial=0)), 0.01)
    bound = _bound(1 / r, f"1/r = {1 / r:.0%}", top)
    result = figure(
        *bars, bound, x="p(t:x) of the person's own value", y="share of people with such a value", height=320
    )
    result.update_layout(barmode="group", bargap=0.05)
    result.update_xaxes(tickformat=".0%", range=[0, 1.01])
    result.update_yaxes(tickformat=".0%", rangemode="tozero")
    return result


def _shares(probabilities: Floats) -> Floats:
    counts, _ = np.histogram(np.clip(probabilities, 0, 1), bins=BINS, range=(0.0, 1.0))
    return counts / max(len(probabilities), 1)


def _bound(at: float, name: str, top: float) -> go.Scatter:
    return go.Scatter(
        x=[at, at],
        y=[0.0, top * 1.05],
        mode="lines",
        line={"color": ORIGINAL, "width": 2, "dash": "dash"},
        name=name,
        hovertemplate=f"{name}<extra></extra>",
    )


def leaking_sets(found: ForegroundKnowledge, style: RunStyle) -> go.Figure:
    """The attribute sets that leak most: the share of sensitive people that each breaches on its own."""
    shown = found.sets[:MOST_SETS]
    labels = distinct_labels([one.label for one in shown])
    common = {"y": labels, "orientation": "h", "hovertemplate": "%{y}: %{x:.1%}<extra>%{fullData.name}</extra>"}
    recall = np.array([one.recall for one in shown])
    mean = np.array([one.mean_probability for one in shown])
    result = figure(
        go.Bar(x=recall, name="people breached", marker=marker(style), **common),
        go.Bar(x=mean, name="mean p(t:x)", marker=marker(style, 0.4), **common),
        x="by this attribute set alone",
        height=100 + 34 * len(shown),
        labels=labels,
    )
    result.update_layout(barmode="group", bargap=0.2)
    result.update_xaxes(tickformat=".0%", rangemode="tozero")
    result.update_yaxes(type="category", autorange="reversed", ticksuffix=" ")
    return result


def learned_against_true(
    learned: Floats, true: Floats, texts: Sequence[str], overall: float, style: RunStyle
) -> go.Figure:
    """Each signature's learned global probability over its true one; on the diagonal nothing is wrong."""
    place = np.argsort(-np.maximum(learned, true))[:MOST_SIGNATURES]
    top = max(float(np.max(learned[place], initial=0)), float(np.max(true[place], initial=0)), overall, 1e-3) * 1.08
    points = go.Scatter(
        x=true[place],
        y=learned[place],
        mode="markers",
        marker={**marker(style, 0.8), "symbol": style.symbol, "size": 9},
        customdata=np.array(texts, dtype=object)[place],
        name="signature",
        hovertemplate="%{customdata}<br>true %{x:.2%}, learned %{y:.2%}<extra></extra>",
    )
    diagonal = go.Scatter(
        x=[0, top],
        y=[0, top],
        mode="lines",
        line={"color": ORIGINAL, "dash": "dash"},
        name="learned = true",
        hoverinfo="skip",
    )
    guess = go.Scatter(
        x=[0, top],
        y=[overall, overall],
        mode="lines",
        line={"color": ORIGINAL, "dash": "dot"},
        name=f"whole table: {overall:.1%}",
        hoverinfo="skip",
    )
    result = figure(points, diagonal, guess, x="true p(s:x)", y="learned p(s:x)", height=360)
    result.update_xaxes(tickformat=".1%", range=[0, top])
    result.update_yaxes(tickformat=".1%", range=[0, top])
    return result


@dataclass(frozen=True, eq=False)
class People:
    """The people of a group in the order of the figure: most believed first."""

    order: npt.NDArray[np.int64]
    labels: list[str]

    @classmethod
    def of(cls, view: GroupView) -> People:
        order = np.argsort(-view.probability, kind="stable")
        names = [
            f"{place + 1}. {view.signatures[row]}" if view.attributes else f"{place + 1}."
            for place, row in enumerate(order)
        ]
        return cls(order, distinct_labels(names))


def group_people(view: GroupView, r: float, style: RunStyle) -> go.Figure:
    """p(t:x) of each person of one group with the attack, beside what everyone has without it."""
    people = People.of(view)
    order, labels = people.order[:MOST_PEOPLE], people.labels[:MOST_PEOPLE]
    truth = np.where(view.has_value[order], "has the value", "has another value")
    bars = go.Bar(
        y=labels,
        x=view.probability[order],
        orientation="h",
        marker=marker(style),
        customdata=np.column_stack([view.f[order], truth]),
        hovertemplate="p(t:x) = %{x:.1%}<br>p(s:x) = %{customdata[0]:.2%}<br>%{customdata[1]}<extra></extra>",
        name="with the attack",
        texttemplate="%{x:.0%}",
        textposition="outside",
    )
    true_ones = np.flatnonzero(view.has_value[order])
    marks = go.Scatter(
        x=np.full(len(true_ones), 1.12),
        y=[labels[place] for place in true_ones],
        mode="markers",
        marker={"symbol": "star", "size": 10, "color": ORIGINAL},
        name="really has the value",
        hovertemplate="really has the value<extra></extra>",
    )
    result = figure(bars, marks, x="p(t:x)", height=100 + 30 * len(labels), labels=labels)
    for at, dash in ((view.without_attack, "dot"), (1 / r, "dash")):
        result.add_vline(x=at, line={"color": ORIGINAL, "dash": dash, "width": 2})
    result.update_xaxes(tickformat=".0%", range=[0, 1.18], tickvals=np.linspace(0, 1, 5))
    result.update_yaxes(type="category", autorange="reversed", ticksuffix=" ")
    return result


def runs_compared(labels: Sequence[str], found: Sequence[ForegroundKnowledge], styles: Sequence[RunStyle]) -> go.Figure:
    """Breached, falsely flagged and mean p(t:x) of several runs, each beside what is had without the attack."""
    names = ["people breached", "falsely flagged", "mean p(t:x)"]
    scores = [(one.recall, one.flagged, one.mean_probability) for one in found]
    hover = "%{customdata}: %{x:.1%}<extra>%{fullData.name}</extra>"
    traces = [
        go.Bar(
            y=np.arange(3),
            x=np.array([float(score) for score in three]),
            customdata=np.array(names),
            name=shortened(label),
            orientation="h",
            marker=marker(style),
            hovertemplate=hover,
            texttemplate="%{x:.1%}",
            textposition="outside",
        )
        for label, three, style in zip(labels, scores, styles, strict=True)
    ]
    result = figure(*traces, x="with the attack", height=110 + 3 * (26 * len(found) + 14), labels=names, legend=True)
    for place, three in enumerate(scores):
        offset = (place + 0.5) / len(scores) * 0.8 - 0.4
        result.add_trace(
            go.Scatter(
                y=np.arange(3) + offset,
                x=np.array([float(score.baseline or 0) for score in three]),
                mode="markers",
                marker={
                    "symbol": "line-ns-open",
                    "size": 16,
                    "color": ORIGINAL,
                    "line": {"width": 3, "color": ORIGINAL},
                },
                name="without the attack",
                showlegend=place == 0,
                hovertemplate="without the attack: %{x:.1%}<extra></extra>",
            )
        )
    result.update_layout(barmode="group", bargap=0.2)
    result.update_xaxes(tickformat=".0%", range=[0, 1.15], tickvals=np.linspace(0, 1, 5))
    result.update_yaxes(tickvals=np.arange(3), ticktext=names, autorange="reversed", ticksuffix=" ", showgrid=False)
    return result


def values_left(names: Sequence[str], alone: Int64, together: Int64, styles: Sequence[RunStyle], l: float) -> go.Figure:
    """Shares of the people by their number of possible values, a bar per release and one for all together.

    `alone` int64 (n_releases, n): possible values of each person in each release; `together` int64 (n,).
    The bars of all together have a colour that no release has.
    """
    most = int(max(alone.max(), together.max()))
    counts = np.arange(0 if (together == 0).any() else 1, most + 1)
    bars = [_counted(counts, one, name, marker(style)) for name, one, style in zip(names, alone, styles, strict=True)]
    taken = {style.color for style in styles}
    color = next(one for one in (VERMILLION, GREEN, PURPLE) if one not in taken)
    bars.append(_counted(counts, together, "together", {"color": color}))
    result = figure(*bars, x="possible values", y="people", height=330, legend=True)
    result.update_layout(barmode="group")
    result.update_xaxes(dtick=1 if most <= 20 else None)
    result.update_yaxes(tickformat=".0%", rangemode="tozero")
    if counts[0] < l <= most + 0.5:
        result.add_vline(x=l - 0.5, line={"color": ORIGINAL, "dash": "dot", "width": 2})
    return result


def _counted(counts: Int64, possible: Int64, name: str, look: dict[str, object]) -> go.Bar:
    shares = np.array([(possible == count).mean() for count in counts])
    return go.Bar(
        x=counts,
        y=shares,
        name=name,
        marker=look,
        hovertemplate="%{y:.1%} of the people have %{x} possible values<extra>%{fullData.name}</extra>",
    )


def success_bars(adversaries: pd.DataFrame, guess: float, style: RunStyle) -> go.Figure:
    """Success of each adversary with its interval; a dotted line is what guessing gets."""
    bars = [_success_side(adversaries, "members", IN_TABLE, marker(style))]
    if adversaries["control"].notna().any():
        bars.append(_success_side(adversaries, "control", NOT_IN_TABLE, {"color": ORIGINAL}))
    result = figure(*bars, x="", y="right guesses", height=340, legend=True)
    result.update_layout(barmode="group")
    result.update_yaxes(tickformat=".0%", rangemode="tozero")
    result.add_hline(y=guess, line={"color": ORIGINAL, "dash": "dot", "width": 2})
    return result


def _success_side(adversaries: pd.DataFrame, side: str, name: str, look: dict[str, object]) -> go.Bar:
    values = adversaries[side]
    return go.Bar(
        x=list(adversaries.index),
        y=values.to_numpy(),
        name=name,
        marker=look,
        error_y={
            "type": "data",
            "array": (adversaries[f"{side}_high"] - values).to_numpy(),
            "arrayminus": (values - adversaries[f"{side}_low"]).to_numpy(),
            "color": ORIGINAL,
        },
        hovertemplate="%{x}: %{y:.1%}<extra>%{fullData.name}</extra>",
    )


def gain_shares(gain: Floats) -> Floats:
    """Share of the people in each class of GAIN_LABELS by how much the strongest belief about them changes."""
    counts = np.bincount(
        np.clip(np.searchsorted(GAIN_EDGES, gain, side="right") - 1, 0, len(GAIN_LABELS) - 1), minlength=8
    )
    return counts / max(len(gain), 1)


def gain_bars(gain: Floats, style: RunStyle) -> go.Figure:
    """Share of the people by how many percentage points the strongest belief about them changes."""
    shares = gain_shares(gain)
    bars = go.Bar(
        x=shares,
        y=list(GAIN_LABELS),
        orientation="h",
        text=[f"{share:.1%}" for share in shares],
        textposition="outside",
        cliponaxis=False,
        marker=marker(style),
        hovertemplate="%{x:.2%} of the people<br>belief %{y} percentage points<extra></extra>",
    )
    result = figure(bars, x="share of the people", y="", height=340)
    result.update_xaxes(tickformat=".0%", rangemode="tozero", range=[0, max(float(shares.max()) * 1.15, 0.01)])
    result.update_yaxes(automargin=True)
    return result
