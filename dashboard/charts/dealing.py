"""Stack & Deal as cards: the stack in its order, the cards dealt so far, and what every class holds at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from anoncore.algorithms.closeness.stack_and_deal import Stack
from anoncore.kernels.arrays import Floats, Int64
from dashboard.charts.layout import bars, cells, distinct_labels, figure, left_margin, stepped
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
    full = np.array(texts, dtype=object)
    hover = "%{customdata}<br>%{x:,} cards"
    return bars(texts, {"": (counts, style)}, "rows (cards)", form="", customdata=full, hover=hover, row=18)


def dealing(cards: Cards, rounds: int) -> go.Figure:
    """The stack to the left with what is still on it, and the cards of the first classes after so many rounds."""
    count = len(cards.texts)
    colors, left = run_colors(count), cards.left(rounds)
    labels = distinct_labels(cards.texts)
    shown, texts = cards.after(rounds).dealt, np.array([*cards.texts, ""], dtype=object)
    common = {"y": np.arange(count), "orientation": "h", "showlegend": False, "customdata": texts[:-1]}
    stack = [
        go.Bar(
            common,
            x=amount,
            marker={"color": colors, "opacity": opacity},
            hovertemplate=f"%{{customdata}}<br>%{{x:,}} cards {what}<extra></extra>",
            name=name,
        )
        for amount, opacity, what, name in (
            (left, 1, "still on the stack", "on the stack"),
            (cards.counts - left, 0.22, "dealt", "dealt"),
        )
    ]
    rows, classes = shown.shape
    written = rows <= 16 and classes <= 12 and max(map(len, cards.texts)) <= 9
    # One cell per card: classes across, rounds up.
    grid = cells(
        None,
        None,
        np.where(shown < 0, np.nan, shown),
        stepped(colors),
        "%{customdata}, dealt to group %{x}",
        -0.5,
        count - 0.5,
        customdata=texts[shown],
        xgap=2,
        ygap=2 if rows <= 25 else 1,
        xaxis="x2",
        yaxis="y2",
        **({"text": texts[shown], "texttemplate": "%{text}"} if written else {}),
    )
    result = figure(*stack, grid, height=110 + 19 * max(count, 12), labels=labels)
    ticks = {"tickvals": np.arange(count), "ticktext": labels, "ticksuffix": " "}
    return result.update_layout(
        barmode="stack",
        bargap=0.08,
        margin={"l": left_margin(labels, False), "b": 48},
        xaxis={"domain": STACK, "title": "the stack, top first", "nticks": 4},
        yaxis={"range": [count - 0.4, -0.6], "zeroline": False} | ticks,
        xaxis2=_cell_axis(classes, "group", 0) | {"domain": TABLE, "anchor": "y2"},
        yaxis2=_cell_axis(rows, "round", 1) | {"anchor": "x2"},
    )


def _cell_axis(size: int, title: str, first: int) -> dict[str, Any]:
    """An axis of so many cells, which are counted from `first`."""
    ticks = {"tickvals": _spread(size), "ticktext": [str(place + first) for place in _spread(size)]}
    still = {"fixedrange": True, "showgrid": False, "zeroline": False}
    return {"title": title, "range": [-0.5, max(size, 4) - 0.5]} | ticks | still


def _spread(size: int, most: int = 12) -> Int64:
    return np.arange(0, size, -(-size // most))


def held(cards: Cards) -> go.Figure:
    """How many cards of each run every class holds: within one of each other in every row."""
    labels = distinct_labels(cards.texts)
    z = cards.held.T
    least, most = z.min(axis=1), z.max(axis=1)
    above = np.where((most > least)[:, None], z - least[:, None], 0.5)
    written = {"text": z, "texttemplate": "%{text}"} if z.size <= MOST_TEXTS else {}
    hover = "%{customdata} cards of %{y}<br>in group %{x}"
    counts = cells(None, None, above, (SKY, BLUE), hover, 0, 1, customdata=z, xgap=2, ygap=2, **written)
    result = figure(counts, x="group", height=110 + 22 * max(len(labels), 5), labels=labels)
    result.update_xaxes(tickvals=_spread(z.shape[1]), showgrid=False, zeroline=False)
    ticks = {"tickvals": np.arange(len(labels)), "ticktext": labels, "ticksuffix": " "}
    return result.update_yaxes(autorange="reversed", **ticks)


def loss_by_attribute(names: Sequence[str], chance: Floats, near: Floats, style: RunStyle) -> go.Figure:
    """Information loss per quasi-identifier: rows dealt by chance, and neighbours dealt to the same class."""
    return bars(names, {"by chance": (chance, ORIGINAL), "neighbours": (near, style)}, "information loss")
