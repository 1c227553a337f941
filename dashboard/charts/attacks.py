"""Protection and attacks as figures: distances, beliefs, who stands out, what is learned, how often attacks succeed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from anoncore import Domain, Kind
from anoncore.attacks import ForegroundKnowledge
from anoncore.attacks.foreground import GroupView
from anoncore.kernels.arrays import Floats, Int64
from anoncore.kernels.rounding import stays_within
from dashboard.charts.groups import MOST_VALUES, Shares, sensitive_shares
from dashboard.charts.layout import Axis, bars, bound, distinct_labels, figure, line, marker, shortened, whiskers
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
MOST_BELIEVED = 20
MOST_POINTS = 200
MOST_TICKS = 9
BINS, LIKELIHOOD_BARS = 25, 30
PEOPLE = "share of the people"


def ranked(values: Floats) -> tuple[Floats, Floats]:
    """Values in ascending order at no more than 200 places: the share of values up to each, and the value there.

    The smallest and the largest are always among them.
    """
    ordered = np.sort(values)
    places = np.unique(np.linspace(0, len(ordered) - 1, min(MOST_POINTS, len(ordered))).round().astype(np.int64))
    return (places + 1) / len(ordered), ordered[places]


@dataclass(frozen=True)
class Curve:
    """How values are spread, at no more than 200 places: the share of values up to each, the value there, and the
    median of all.
    """

    shares: Floats
    places: Floats
    median: float

    @classmethod
    def of(cls, values: Floats) -> Curve:
        """The curve of the values."""
        return cls(*ranked(values), float(np.median(values)))


def share_at_most(values: Floats, limit: float) -> float:
    """Share of the values that are at most the limit."""
    return float(stays_within(values, limit).mean())


def curves(
    shown: Mapping[str, tuple[Curve, RunStyle]],
    x: str,
    form: str,
    logarithmic: bool = False,
    asked: float | None = None,
) -> go.Figure:
    """The share of people, groups or queries up to each value, one curve per release; what was asked as a line."""
    traces = []
    for label, (curve, style) in shown.items():
        hover = f"%{{y:.1%}} have at most %{{x:{form}}}"
        points = np.concatenate([curve.places[:1], curve.places]), np.concatenate([[0.0], curve.shares])
        traces.append(line(*points, shortened(label), style.color, hover, 2.5, style.dash, "hv"))
    if asked is not None:
        traces.append(bound(asked, 1 / 1.05, f"asked: t = {asked:g}"))
    result = figure(*traces, x=x, y="share up to there", height=310 if len(shown) == 1 else 380)
    result.update_yaxes(tickformat=".0%", range=[0, 1.02])
    result.update_xaxes(
        tickformat=form, type="log" if logarithmic else "linear", rangemode="normal" if logarithmic else "tozero"
    )
    return result


def belief_histogram(beliefs: Floats, baseline: float, style: RunStyle) -> go.Figure:
    """Rows by the largest probability that an adversary gives to one sensitive value, against blind guessing."""
    centres, shares = _histogram(beliefs)
    hover = f"guessing the most frequent value: {baseline:.1%}"
    return bars(
        centres,
        {"with the release": (shares, style)},
        "share of the rows",
        bound(baseline, float(shares.max(initial=0.01)), f"without it: {baseline:.1%}", hover),
        upright=True,
        by="largest probability of one value",
        hover="%{y:.1%} of the rows<br>belief about %{x:.0%}",
    ).update_xaxes(tickformat=".0%", range=[0, 1.01])


def truth_histogram(own: Floats, without: Floats, r: float, style: RunStyle, what: str = "the attack") -> go.Figure:
    """People by p(t:x) of their own protected value, with something that the adversary has and without it, and 1/r.

    `own` and `without` float (n_rows,) are NaN where a value needs no protection.
    """
    protected = ~np.isnan(own)
    (centres, after), (_, before) = _histogram(own[protected]), _histogram(without[protected])
    top = max(float(after.max(initial=0)), float(before.max(initial=0)), 0.01)
    return bars(
        centres,
        {f"without {what}": (before, ORIGINAL), f"with {what}": (after, marker(style, 0.85))},
        "share of people with such a value",
        bound(1 / r, top, f"1/r = {1 / r:.0%}"),
        upright=True,
        by="p(t:x) of the person's own value",
        hover="p(t:x) about %{x:.0%}: %{y:.1%} of them",
        height=320,
    ).update_xaxes(tickformat=".0%", range=[0, 1.01])


def _histogram(probabilities: Floats) -> tuple[Floats, Floats]:
    """The middles of the bins from 0 to 1, and the share of the probabilities in each."""
    counts, edges = np.histogram(np.clip(probabilities, 0, 1), bins=BINS, range=(0.0, 1.0))
    return (edges[:-1] + edges[1:]) / 2, counts / max(len(probabilities), 1)


def likelihood_histogram(values: Floats, baseline: float, style: RunStyle, x: str) -> go.Figure:
    """People by a probability on a logarithmic axis, with guessing as a line; people with none are left out."""
    logs = np.log10(values[values > 0])
    low, high = (float(logs.min()), float(logs.max())) if len(logs) else (-1.0, 0.0)
    if high - low < 0.2:
        low, high = low - 0.1, high + 0.1
    counts, edges = np.histogram(logs, bins=LIKELIHOOD_BARS, range=(low, high))
    shares = counts / max(len(values), 1)
    guess = []
    if baseline > 0:
        at = float(np.log10(baseline))
        guess.append(bound(at, float(shares.max(initial=0.01)), f"guessing: {baseline:.2g}"))
        low, high = min(low, at), max(high, at)
    result = bars(
        (edges[:-1] + edges[1:]) / 2,
        {"people": (shares, style)},
        PEOPLE,
        *guess,
        upright=True,
        by=x,
        form=".0%" if shares.max(initial=0) > 0.03 else ".1%",
        customdata=10 ** np.column_stack([edges[:-1], edges[1:]]),
        hover="%{y:.1%} of the people<br>%{customdata[0]:.2g} to %{customdata[1]:.2g}",
    )
    ticks, beyond = _power_ticks(low, high), 0.05 * (high - low)
    texts = [f"{tick:.0e}".replace("e-0", "e-") if tick < 1e-3 else f"{tick:g}" for tick in ticks]
    return result.update_xaxes(
        tickvals=np.log10(ticks), ticktext=texts, range=[low - beyond, high + beyond], zeroline=False
    )


def _power_ticks(low: float, high: float) -> list[float]:
    """Round numbers between two powers of ten: 1, 2, 5 times each power where few powers are spanned."""
    powers = range(int(np.floor(low)), int(np.ceil(high)) + 1)
    for steps in ((1, 2, 5), (1,)):
        ticks = [step * 10.0**power for power in powers for step in steps]
        ticks = [tick for tick in ticks if low - 1e-9 <= np.log10(tick) <= high + 1e-9]
        if len(ticks) <= MOST_TICKS:
            return ticks
    return ticks[:: -(-len(ticks) // MOST_TICKS)]


def risk_bars(names: list[str], risks: Floats, baselines: Floats, style: RunStyle) -> go.Figure:
    """Re-identification risks of the release beside those of the original table."""
    shown = {"original table": (baselines, ORIGINAL), "release": (risks, style)}
    return bars(names, shown, "probability of a right match", texts="%{x:.1%}", end=1)


def belief_bars(
    texts: Sequence[str], beliefs: Mapping[str, tuple[Floats, RunStyle]], table: Floats, true_code: int
) -> go.Figure:
    """How likely each value of one person is by each release, beside the table's share; a star at the truth."""
    top = np.maximum.reduce([table, *(belief for belief, _ in beliefs.values())])
    order = [true_code, *[code for code in np.argsort(-top, kind="stable") if code != true_code]][:MOST_BELIEVED]
    labels = [("★ " if code == true_code else "") + texts[code] for code in order]
    names = distinct_labels(list(beliefs))
    shown = {name: (belief[order], style) for name, (belief, style) in zip(names, beliefs.values(), strict=True)}
    return bars(labels, {"whole table": (table[order], ORIGINAL), **shown}, "probability", end=1)


def person_shares(domain: Domain, belief: Floats, table: Floats, style: RunStyle) -> go.Figure:
    """What an adversary believes of one person beside the table, many numbers in bins, many categories cut."""
    binned = domain.kind is Kind.NUMERIC and len(domain) > MOST_VALUES
    if binned:
        shares = Shares.binned(Axis.of(domain, MOST_VALUES), belief, table)
    else:
        shares = Shares.of(belief, table, list(domain.texts))
    return sensitive_shares(shares, style, "p(t,s) of this person").update_xaxes(title="probability")


def tuple_bars(counts: pd.DataFrame, style: RunStyle) -> go.Figure:
    """Original and fake tuples by number of matching buckets; whiskers from `low` to `high` where these differ."""
    labels = [
        str(label).replace("at most ", "≤ ").replace("more than ", "> ").replace(" to ", "–") for label in counts.index
    ]
    fake = counts["fake"].to_numpy()
    result = bars(
        labels,
        {"rows of the table": (counts["original"], ORIGINAL), "fake tuples": (fake, style)},
        "tuples",
        upright=True,
        by="matching buckets",
        form="",
        hover="%{y:,.0f} match<br>%{x} groups",
    )
    if "low" in counts and not np.array_equal(counts["low"], counts["high"]):
        result.data[1].error_y = whiskers(fake, counts["low"], counts["high"])
    return result


def leaking_sets(found: ForegroundKnowledge, style: RunStyle) -> go.Figure:
    """The attribute sets that leak most: the share of sensitive people that each breaches on its own."""
    shown = found.sets[:MOST_SETS]
    recall, mean = np.array([(float(one.recall), float(one.mean_probability)) for one in shown]).T
    both = {"people breached": (recall, style), "mean p(t:x)": (mean, marker(style, 0.4))}
    return bars([one.label for one in shown], both, "by this attribute set alone")


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
    diagonal = line([0, top], [0, top], "learned = true", dash="dash")
    guess = line([0, top], [overall, overall], f"whole table: {overall:.1%}", dash="dot")
    result = figure(points, diagonal, guess, x="true p(s:x)", y="learned p(s:x)", height=360)
    return result.update_layout({axis: {"tickformat": ".1%", "range": [0, top]} for axis in ("xaxis", "yaxis")})


def group_people(view: GroupView, r: float, style: RunStyle) -> go.Figure:
    """p(t:x) of each person of one group with the attack, the most believed first, beside what everyone has without."""
    order = np.argsort(-view.probability, kind="stable")[:MOST_PEOPLE]
    signed = [f" {view.signatures[row]}" if view.attributes else "" for row in order]
    names = [f"{place}.{signature}" for place, signature in enumerate(signed, start=1)]
    labels = distinct_labels(names)
    true_ones = np.flatnonzero(view.has_value[order])
    marks = go.Scatter(
        x=np.full(len(true_ones), 1.12),
        y=[labels[place] for place in true_ones],
        mode="markers",
        marker={"symbol": "star", "size": 10, "color": ORIGINAL},
        name="really has the value",
        hovertemplate="really has the value<extra></extra>",
    )
    truth = np.where(view.has_value[order], "has the value", "has another value")
    result = bars(
        names,
        {"with the attack": (view.probability[order], style)},
        "p(t:x)",
        marks,
        texts="%{x:.0%}",
        customdata=np.column_stack([view.f[order], truth]),
        hover="p(t:x) = %{x:.1%}<br>p(s:x) = %{customdata[0]:.2%}<br>%{customdata[1]}",
        row=30,
        end=1,
    )
    for at, dash in ((view.without_attack, "dot"), (1 / r, "dash")):
        result.add_vline(x=at, line={"color": ORIGINAL, "dash": dash, "width": 2})
    return result


def runs_compared(shown: Mapping[str, tuple[ForegroundKnowledge, RunStyle]]) -> go.Figure:
    """Breached, falsely flagged and mean p(t:x) of several runs, each beside what is had without the attack."""
    names = ["people breached", "falsely flagged", "mean p(t:x)"]
    scores = [(one.recall, one.flagged, one.mean_probability) for one, _ in shown.values()]
    baselines = []
    for place, three in enumerate(scores):
        baselines.append(
            go.Scatter(
                y=np.arange(3) + (place + 0.5) / len(scores) * 0.8 - 0.4,
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
    series = zip(distinct_labels(list(shown)), shown.values(), scores, strict=True)
    result = bars(
        np.arange(3),
        {label: (np.array(list(map(float, three))), style) for label, (_, style), three in series},
        "with the attack",
        *baselines,
        customdata=np.array(names),
        hover="%{customdata}: %{x:.1%}",
        texts="%{x:.1%}",
        row=26 * len(shown) + 14,
        end=1,
        legend=True,
    )
    result.update_layout(margin_l=120)
    return result.update_yaxes(tickvals=np.arange(3), ticktext=names, autorange="reversed", showgrid=False)


def values_left(shown: Mapping[str, tuple[Int64, RunStyle]], together: Int64, l: float) -> go.Figure:
    """Shares of the people by their number of possible values, a bar per release and one for all together.

    `shown` has the possible values of each person in each release, int64 (n,), and so has `together` (n,).
    The bars of all together have a colour that no release has.
    """
    taken = {style.color for _, style in shown.values()}
    color = next(one for one in (VERMILLION, GREEN, PURPLE) if one not in taken)
    every: dict[str, tuple[Int64, Any]] = {**shown, "together": (together, color)}
    most = max(int(possible.max()) for possible, _ in every.values())
    counts = np.arange(0 if (together == 0).any() else 1, most + 1)
    result = bars(
        counts,
        {name: ((possible[:, None] == counts).mean(axis=0), look) for name, (possible, look) in every.items()},
        "people",
        upright=True,
        by="possible values",
        hover="%{y:.1%} of the people have %{x} possible values",
        height=330,
        legend=True,
    ).update_xaxes(dtick=1 if most <= 20 else None)
    if counts[0] < l <= most + 0.5:
        result.add_vline(x=l - 0.5, line={"color": ORIGINAL, "dash": "dot", "width": 2})
    return result


def success_bars(adversaries: pd.DataFrame, guess: float, style: RunStyle) -> go.Figure:
    """Success of each adversary with its interval; a dotted line is what guessing gets."""
    sides: dict[str, tuple[str, Any]] = {"members": (IN_TABLE, style), "control": (NOT_IN_TABLE, ORIGINAL)}
    shown = {side: look for side, look in sides.items() if side == "members" or adversaries[side].notna().any()}
    result = bars(
        list(adversaries.index),
        {name: (adversaries[side].to_numpy(), look) for side, (name, look) in shown.items()},
        "right guesses",
        upright=True,
        height=340,
        legend=True,
    )
    for trace, side in zip(result.data, shown, strict=True):
        trace.error_y = whiskers(*(adversaries[f"{side}{end}"] for end in ("", "_low", "_high")))
    return result.add_hline(y=guess, line={"color": ORIGINAL, "dash": "dot", "width": 2})


def gain_shares(gain: Floats) -> Floats:
    """Share of the people in each class of GAIN_LABELS by how much the strongest belief about them changes."""
    place = np.clip(np.searchsorted(GAIN_EDGES, gain, side="right") - 1, 0, len(GAIN_LABELS) - 1)
    return np.bincount(place, minlength=len(GAIN_LABELS)) / max(len(gain), 1)


def gain_bars(gain: Floats, style: RunStyle) -> go.Figure:
    """Share of the people by how many percentage points the strongest belief about them changes."""
    hover = "%{x:.2%} of the people<br>belief %{y} percentage points"
    return bars(GAIN_LABELS, {"": (gain_shares(gain), style)}, PEOPLE, texts="%{x:.1%}", hover=hover, row=30)
