"""Stack & Deal as cards: the stack in its order, the cards dealt so far, and what every class holds at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from anoncore.algorithms.closeness.stack_and_deal import Stack
from anoncore.kernels.arrays import Floats, Int64
from dashboard.charts.layout import distinct_labels, figure, left_margin, marker
from dashboard.charts.palette import BLUE, GREEN, ORANGE, ORIGINAL, PURPLE, SKY, VERMILLION, RunStyle

MOST_RUNS = 24
MOST_CLASSES = 24
MOST_ROUNDS = 50
MOST_TEXTS = 600
COLORS = (BLUE, ORANGE, GREEN, VERMILLION, SKY, PURPLE, "#B8A800", "#7A5195")
STACK, TABLE = (0.0, 0.33), (0.45, 1.0)


@dataclass(frozen=True, eq=False)
class Cards:
    """A stack as it is drawn: runs of equal cards, top first; of many, neighbours with few cards are one run.

    `counts` int64 (n_runs,); `dealt` int64 (rounds, classes) is the run of each card dealt, -1 for none;
    `held` int64 (classes, n_runs) what the classes drawn hold in the end.
    """

    texts: tuple[str, ...]
    counts: Int64
    dealt: Int64
    held: Int64
    n_classes: int
    n_rounds: int

    @classmethod
    def of(cls, stack: Stack) -> Cards:
        """The first classes and rounds of a deal."""
        counts = stack.multiplicity.counts[stack.order]
        run_of = np.arange(len(counts))
        if len(counts) > MOST_RUNS:
            middle = (np.cumsum(counts) - counts / 2) / counts.sum()
            run_of = np.unique((middle * MOST_RUNS).astype(np.int64), return_inverse=True)[1].reshape(-1)
        labels = [_run_text(stack, np.flatnonzero(run_of == run)) for run in range(run_of[-1] + 1)]
        n_rounds = -(-stack.multiplicity.n_rows // stack.n_classes)
        dealt = stack.cards(min(n_rounds, MOST_ROUNDS), MOST_CLASSES)
        held = np.zeros((dealt.shape[1], len(labels)), dtype=np.int64)
        np.add.at(held.T, run_of, stack.class_counts(MOST_CLASSES).T)
        return cls(
            tuple(labels),
            np.bincount(run_of, weights=counts).astype(np.int64),
            np.where(dealt < 0, -1, run_of[dealt]),
            held,
            stack.n_classes,
            n_rounds,
        )

    def after(self, rounds: int) -> Cards:
        """The cards with only the first rounds dealt."""
        dealt = self.dealt.copy()
        dealt[rounds:] = -1
        return replace(self, dealt=dealt)

    def left(self, rounds: int) -> Int64:
        """Cards of every run that are still on the stack after so many rounds, int64 (n_runs,)."""
        ends = np.cumsum(self.counts)
        return np.clip(ends - rounds * self.n_classes, 0, self.counts)


def _run_text(stack: Stack, places: Int64) -> str:
    """The values of a run of the stack."""
    first, last = (" · ".join(stack.multiplicity.labels(int(stack.order[place]))) for place in places[[0, -1]])
    if len(places) == 1:
        return first
    return f"{first} to {last}" if (np.diff(stack.order[places]) == 1).all() else f"{first} and {len(places) - 1} more"


def run_colors(count: int) -> list[str]:
    """A colour per run from the top of the stack down: told apart where they are few, else from dark to light."""
    if count <= len(COLORS):
        return list(COLORS[:count])
    from plotly.colors import sample_colorscale

    return [str(color) for color in sample_colorscale("Viridis", np.linspace(0.05, 0.95, count))]


def in_order(texts: Sequence[str], counts: Int64, style: RunStyle) -> go.Figure:
    """How often each value occurs, in the attribute's own order: before anything is stacked."""
    labels = distinct_labels(texts)
    bars = go.Bar(
        y=labels,
        x=counts,
        orientation="h",
        marker=marker(style),
        customdata=np.array(texts, dtype=object),
        hovertemplate="%{customdata}<br>%{x:,} cards<extra></extra>",
        name="",
    )
    result = figure(bars, x="rows (cards)", height=100 + 18 * max(len(labels), 5), labels=labels)
    result.update_yaxes(type="category", autorange="reversed", ticksuffix=" ", tickmode="linear", dtick=1)
    return result


def dealing(cards: Cards, rounds: int, word: str) -> go.Figure:
    """The stack to the left with what is still on it, and the cards of the first classes after so many rounds."""
    count = len(cards.texts)
    colors, left = run_colors(count), cards.left(rounds)
    labels = distinct_labels(cards.texts)
    common: dict[str, Any] = {"y": np.arange(count), "orientation": "h", "showlegend": False}
    on_stack = go.Bar(
        **common,
        x=left,
        marker={"color": colors},
        customdata=np.array(cards.texts, dtype=object),
        hovertemplate="%{customdata}<br>%{x:,} cards still on the stack<extra></extra>",
        name="on the stack",
    )
    gone = go.Bar(
        **common,
        x=cards.counts - left,
        marker={"color": colors, "opacity": 0.22},
        customdata=np.array(cards.texts, dtype=object),
        hovertemplate="%{customdata}<br>%{x:,} cards dealt<extra></extra>",
        name="dealt",
    )
    shown = cards.after(rounds)
    result = figure(on_stack, gone, _grid(shown, colors, word), height=110 + 19 * max(count, 12), labels=labels)
    result.update_layout(
        barmode="stack",
        bargap=0.08,
        margin={"l": left_margin(labels, False), "b": 48},
        xaxis={"domain": STACK, "title": "the stack, top first", "nticks": 4},
        xaxis2=_class_axis(shown, word),
        yaxis={
            "tickvals": np.arange(count), "ticktext": labels, "range": [count - 0.4, -0.6], "ticksuffix": " ",
            "zeroline": False,
        },
        yaxis2={
            "anchor": "x2", "title": "round", "range": [-0.5, max(len(shown.dealt), 4) - 0.5], "fixedrange": True,
            "tickvals": _spread(len(shown.dealt)), "ticktext": [str(place + 1) for place in _spread(len(shown.dealt))],
            "showgrid": False, "zeroline": False,
        },
    )  # fmt: skip
    return result


def _class_axis(cards: Cards, word: str) -> dict[str, Any]:
    shown = _spread(cards.dealt.shape[1])
    return {
        "domain": TABLE,
        "anchor": "y2",
        "title": word,
        "tickvals": shown,
        "ticktext": [str(place) for place in shown],
        "range": [-0.5, max(cards.dealt.shape[1], 4) - 0.5],
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
    }


def _grid(cards: Cards, colors: list[str], word: str) -> go.Heatmap:
    """One cell per card: classes across, rounds up."""
    dealt = cards.dealt
    count = len(colors)
    texts = np.array([*cards.texts, ""], dtype=object)[dealt]
    written = len(dealt) <= 16 and dealt.shape[1] <= 12 and max(map(len, cards.texts)) <= 9
    return go.Heatmap(
        z=np.where(dealt < 0, np.nan, dealt),
        colorscale=_stepped(colors),
        zmin=-0.5,
        zmax=count - 0.5,
        showscale=False,
        xgap=2,
        ygap=2 if len(dealt) <= 25 else 1,
        customdata=texts,
        text=texts if written else None,
        texttemplate="%{text}" if written else None,
        hovertemplate=f"%{{customdata}}, dealt to {word} %{{x}}<extra></extra>",
        hoverongaps=False,
        xaxis="x2",
        yaxis="y2",
        name="",
    )


def _stepped(colors: list[str]) -> list[list[Any]]:
    """A colour scale that has one colour per whole number."""
    count = len(colors)
    return [[place, color] for i, color in enumerate(colors) for place in (i / count, (i + 1) / count)]


def _spread(size: int, most: int = 12) -> Int64:
    return np.arange(0, size, -(-size // most))


def held(cards: Cards, word: str) -> go.Figure:
    """How many cards of each run every class holds: within one of each other in every row."""
    labels = distinct_labels(cards.texts)
    z = cards.held.T
    least, most = z.min(axis=1), z.max(axis=1)
    above = np.where((most > least)[:, None], z - least[:, None], 0.5)
    written = z.size <= MOST_TEXTS
    cells = go.Heatmap(
        z=above,
        customdata=z,
        text=z if written else None,
        texttemplate="%{text}" if written else None,
        colorscale=[[0, SKY], [1, BLUE]],
        zmin=0,
        zmax=1,
        xgap=2,
        ygap=2,
        showscale=False,
        hovertemplate=f"%{{customdata}} cards of %{{y}}<br>in {word} %{{x}}<extra></extra>",
        name="",
    )
    result = figure(cells, x=word, height=110 + 22 * max(len(labels), 5), labels=labels)
    result.update_xaxes(tickvals=_spread(z.shape[1]), showgrid=False, zeroline=False)
    result.update_yaxes(tickvals=np.arange(len(labels)), ticktext=labels, ticksuffix=" ", autorange="reversed")
    return result


def loss_by_attribute(names: Sequence[str], chance: Floats, near: Floats, style: RunStyle) -> go.Figure:
    """Information loss per quasi-identifier: rows dealt by chance, and neighbours dealt to the same class."""
    labels = distinct_labels(names)
    hover = "%{y}: %{x:.1%}<extra>%{fullData.name}</extra>"
    common: dict[str, Any] = {"y": labels, "orientation": "h", "hovertemplate": hover}
    before = go.Bar(**common, x=chance, name="by chance", marker={"color": ORIGINAL})
    after = go.Bar(**common, x=near, name="neighbours", marker=marker(style))
    result = figure(before, after, x="information loss", height=110 + 36 * max(len(labels), 3), labels=labels)
    result.update_layout(barmode="group")
    result.update_xaxes(tickformat=".0%", rangemode="tozero")
    result.update_yaxes(type="category", autorange="reversed", ticksuffix=" ", tickmode="linear", dtick=1)
    return result
