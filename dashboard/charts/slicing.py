"""Slicing as figures: what an adversary believes of one person, and how original and fake tuples compare."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from anoncore import Domain, Kind
from anoncore.kernels.arrays import Floats
from dashboard.charts.classes import MOST_VALUES, Shares, sensitive_shares
from dashboard.charts.layout import Axis, figure, marker
from dashboard.charts.palette import ORIGINAL, OUTLINE, RunStyle

LIKELIHOOD_BARS = 24


def belief_shares(domain: Domain, belief: Floats, table: Floats) -> Shares:
    """Probabilities of an attribute's values beside the table's, many numbers in bins, many categories cut."""
    if domain.kind is Kind.NUMERIC and len(domain) > MOST_VALUES:
        return Shares.binned(Axis.of(domain, MOST_VALUES), belief, table)
    return Shares.of(belief, table, list(domain.texts))


def belief_bars(shares: Shares, style: RunStyle) -> go.Figure:
    """What the adversary believes of one person beside the table's distribution, a pair of bars per value."""
    result = sensitive_shares(shares, style, "p(t,s) of this person")
    result.update_traces(hovertemplate="%{customdata}<br>%{x:.1%}<extra>%{fullData.name}</extra>")
    result.update_xaxes(title="probability")
    return result


def tuple_bars(counts: pd.DataFrame, style: RunStyle) -> go.Figure:
    """Original and fake tuples by number of matching buckets; whiskers from `low` to `high` where these differ."""
    labels = [_short(str(label)) for label in counts.index]
    fake = counts["fake"].to_numpy()
    error: dict[str, Any] | None = None
    if "low" in counts and not np.array_equal(counts["low"], counts["high"]):
        error = {
            "type": "data",
            "array": counts["high"].to_numpy() - fake,
            "arrayminus": fake - counts["low"].to_numpy(),
            "color": OUTLINE,
        }
    original = go.Bar(
        x=labels,
        y=counts["original"],
        name="rows of the table",
        marker={"color": ORIGINAL},
        hovertemplate="%{y:,} rows of the table match<br>%{x} buckets<extra></extra>",
    )
    false = go.Bar(
        x=labels,
        y=fake,
        name="fake tuples",
        marker=marker(style),
        error_y=error,
        hovertemplate="%{y:,.0f} fake tuples match<br>%{x} buckets<extra></extra>",
    )
    result = figure(original, false, x="matching buckets", y="tuples", height=310)
    result.update_layout(barmode="group")
    result.update_xaxes(type="category", tickangle=0)
    result.update_yaxes(rangemode="tozero")
    return result


def likelihood_histogram(values: Floats, baseline: float, style: RunStyle, x: str) -> go.Figure:
    """People by a probability on a logarithmic axis, with guessing as a line; people with none are left out."""
    known = np.log10(values[values > 0])
    guess = np.log10(baseline) if baseline > 0 else None
    among = known if guess is None else np.append(known, guess)
    low, high = (
        (float(np.floor(among.min())), min(float(np.ceil(among.max() + 1e-9)), 0.0)) if len(among) else (-1.0, 0.0)
    )
    low = min(low, high - 1)
    counts, edges = np.histogram(np.clip(known, low, high), bins=LIKELIHOOD_BARS, range=(low, high))
    shares = counts / max(len(values), 1)
    bars = go.Bar(
        x=(edges[:-1] + edges[1:]) / 2,
        y=shares,
        width=np.full(LIKELIHOOD_BARS, 0.92 * (high - low) / LIKELIHOOD_BARS),
        marker=marker(style),
        customdata=10 ** np.column_stack([edges[:-1], edges[1:]]),
        hovertemplate="%{y:.1%} of the people<br>%{customdata[0]:.2g} to %{customdata[1]:.2g}<extra></extra>",
        name="with the release",
    )
    traces: list[Any] = [bars]
    if guess is not None:
        traces.append(
            go.Scatter(
                x=[guess, guess],
                y=[0.0, float(shares.max(initial=0.01)) * 1.05],
                mode="lines",
                line={"color": ORIGINAL, "width": 2, "dash": "dash"},
                name=f"guessing: {baseline:.2g}",
                hovertemplate=f"guessing: {baseline:.2g}<extra></extra>",
            )
        )
    result = figure(*traces, x=x, y="share of the people", height=310)
    step = max(int(np.ceil((high - low) / 7)), 1)
    ticks = np.arange(high, low - 1, -step)
    result.update_xaxes(tickvals=ticks, ticktext=[f"{10.0**tick:g}" for tick in ticks], range=[low - 0.05, high + 0.05])
    result.update_yaxes(tickformat=".0%", rangemode="tozero")
    return result


def _short(label: str) -> str:
    return label.replace("at most ", "≤ ").replace("more than ", "> ").replace(" to ", "–")
