"""Stack & Deal, step by step: count, stack, deal round by round, compare the classes, hand out neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import streamlit as st

from anoncore import Release
from anoncore.algorithms import StackAndDeal
from anoncore.algorithms.closeness.stack_and_deal import Stack
from anoncore.base.progress import Progress
from anoncore.base.texts import share_text
from anoncore.search.choosing import largest_distance
from anoncore.utility import information_loss
from dashboard.charts.dealing import MOST_CLASSES, Cards, dealing, held, in_order, loss_by_attribute
from dashboard.charts.palette import run_style
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.markdown import escaped
from dashboard.session import compute
from dashboard.session.workspace import Run

MOST_COUNTED = 30


def render(run: Run) -> None:
    """Draw the steps."""
    stack = compute.cached("stack", run, _stack)
    cards = compute.cached("stack.cards", run, lambda release: Cards.of(_stack(release)))
    _walk(run, stack, cards)


def _stack(release: Release) -> Stack:
    algorithm = release.algorithm
    assert isinstance(algorithm, StackAndDeal)
    return algorithm.stack_of(release.data)


def stops(n_rounds: int) -> list[int]:
    """After how many rounds the deal is shown: the first three, half of them, all."""
    return sorted({min(place, n_rounds) for place in (1, 2, 3, -(-n_rounds // 2), n_rounds)})


@st.fragment
def _walk(run: Run, stack: Stack, cards: Cards) -> None:
    rounds = stops(cards.n_rounds)
    dealt = [f"Deal up to round {after}" for after in rounds[:-1]] + [f"Deal all {cards.n_rounds:,} rounds"]
    titles = ["Count the values", "Stack the cards", *dealt, "Compare the classes", "Hand out neighbours"]
    step = parts.steps(f"deal-{run.id}", titles)
    if step == 0:
        _counted(run, stack)
    elif step <= 1 + len(rounds):
        _dealt(run, stack, cards, 0 if step == 1 else rounds[step - 2])
    elif step == len(titles) - 2:
        _compared(run, cards)
    else:
        _neighbours(run)


def _counted(run: Run, stack: Stack) -> None:
    names = " and ".join(f"'{escaped(name)}'" for name in stack.multiplicity.attributes)
    cells = np.arange(len(stack.order))
    counts = stack.multiplicity.counts
    if len(cells) > MOST_COUNTED:
        cells = np.sort(np.argsort(-counts, kind="stable")[:MOST_COUNTED])
    texts = [" · ".join(stack.multiplicity.labels(int(cell))) for cell in cells]
    cut = f" Of {len(counts):,} the {MOST_COUNTED} most frequent are drawn." if len(cells) < len(counts) else ""
    what = "value" if len(stack.multiplicity.views) == 1 else "combination of values"
    parts.chart(
        in_order(texts, counts[cells], run_style(run.color_index)),
        key="deal-counts",
        caption=f"Every row is a card that shows its {names}. Here is how many cards show each {what}, in the "
        f"attributes' own order.{cut}",
        alt=f"Bar chart of the number of rows of each {what}; the most frequent has {counts.max():,} rows.",
    )


def _dealt(run: Run, stack: Stack, cards: Cards, after: int) -> None:
    word, words = run.release.group_word, parts.plural(run.release.group_word)
    classes, rounds = cards.dealt.shape[1], len(cards.dealt)
    algorithm = run.algorithm
    assert isinstance(algorithm, StackAndDeal)
    how = "the most frequent on top" if algorithm.stack == "frequency" else "along the order of the values"
    shown = []
    if classes < cards.n_classes:
        shown.append(f"the first {classes} of {cards.n_classes:,} {words}")
    if rounds < cards.n_rounds:
        shown.append(f"the first {rounds} of {cards.n_rounds:,} rounds")
    if len(cards.texts) < len(stack.order):
        shown.append(
            f"the {len(stack.order):,} runs of equal cards in {len(cards.texts)} colours, small neighbours as one"
        )
    cut = f" Drawn are {'; '.join(shown)}." if shown else ""
    if after == 0:
        text = f"Equal cards lie together, {how}. Nothing is dealt yet."
    else:
        dealt = min(after * cards.n_classes, stack.multiplicity.n_rows)
        text = (
            f"Cards are dealt from the top, one to each of the {cards.n_classes:,} {words} in turn: "
            f"{dealt:,} of {stack.multiplicity.n_rows:,} cards so far. Colours are the values; faint bars are dealt."
        )
    parts.chart(
        dealing(cards, after, word),
        key="deal-cards",
        caption=text + cut,
        alt=f"The stack of cards to the left and the cards of the first {classes} {words} after {after} rounds.",
    )


def _compared(run: Run, cards: Cards) -> None:
    word, words = run.release.group_word, parts.plural(run.release.group_word)
    sizes = run.release.partition.sizes
    apart = np.ptp(cards.held, axis=0).max()
    low, high = int(sizes.min()), int(sizes.max())
    parts.tiles(
        [
            Tile(words.capitalize(), f"{cards.n_classes:,}", "Rows divided by k, rounded down."),
            Tile(
                "Rows in each",
                f"{low:,}" if low == high else f"{low:,} or {high:,}",
                f"Sizes of two {words} differ by 1 at most.",
            ),
            Tile("Largest EMD", f"{_largest(run):.4f}", f"Of any {word} in any sensitive attribute, by its kind."),
        ]
    )
    cut = f" The first {MOST_CLASSES} of {cards.n_classes:,} are drawn." if cards.n_classes > MOST_CLASSES else ""
    parts.chart(
        held(cards, word),
        key="deal-held",
        caption=f"How many cards of each value the {words} hold; dark means one more than light. No two "
        f"{words} differ by more than 1 in any value: that is what makes them close to the table.{cut}",
        alt=f"Heat map of the cards of each value in the {words}; counts in a row differ by at most {apart}.",
    )


def _largest(run: Run) -> float:
    return float(compute.cached("choosing.largest_distance", run, largest_distance))


@dataclass(frozen=True, eq=False)
class Locality:
    """Information loss by attribute with rows dealt by chance and with neighbours, and the largest EMD of both."""

    names: tuple[str, ...]
    chance: npt.NDArray[np.float64]
    near: npt.NDArray[np.float64]
    distance: tuple[float, float]


def locality_of(release: Release, progress: Progress) -> Locality:
    """The release beside the one that differs only in locality."""
    algorithm = release.algorithm
    assert isinstance(algorithm, StackAndDeal)
    other = algorithm.replace(locality=not algorithm.locality).anonymize(release.data, progress)
    chance, near = (other, release) if algorithm.locality else (release, other)
    losses = [information_loss(one).per_attribute for one in (chance, near)]
    names = tuple(losses[0])
    by_chance, by_nearness = (np.array([loss[name] for name in names]) for loss in losses)
    return Locality(names, by_chance, by_nearness, (largest_distance(chance), largest_distance(near)))


def _neighbours(run: Run) -> None:
    algorithm = run.algorithm
    assert isinstance(algorithm, StackAndDeal)
    st.markdown(
        "Cards of one value are alike for privacy, so it does not matter which of them a class gets. With locality "
        "each class takes rows that lie near each other in the quasi-identifiers, and rows of equal cards change "
        "places as long as that narrows the published ranges. "
        + (
            "This release used locality."
            if algorithm.locality
            else "This release was dealt by chance; the other way is shown beside."
        )
    )
    found = parts.later("Dealing the other way", "stack.locality", run, locality_of)
    if found is None:
        return
    before, after = float(found.chance.mean()), float(found.near.mean())
    lower = f"{1 - after / before:.0%} lower" if before > 0 and after < before else None
    parts.tiles(
        [
            Tile("Loss by chance", share_text(before), "Information loss with equal cards dealt at random."),
            Tile(
                "Loss with neighbours",
                share_text(after),
                "Information loss with locality.",
                lower,
                True if lower else None,
            ),
            Tile("EMD by chance", f"{found.distance[0]:.4f}", "Of the class farthest from the table; 0 to 1."),
            Tile("EMD with neighbours", f"{found.distance[1]:.4f}", "The same: no class changes its counts."),
        ]
    )
    parts.chart(
        loss_by_attribute(found.names, found.chance, found.near, run_style(run.color_index)),
        key="deal-losses",
        caption="Share of its domain that a published cell covers on average, by quasi-identifier.",
        alt=f"Bar chart of the information loss by attribute: {before:.0%} on average by chance, {after:.0%} with "
        "neighbours.",
    )
