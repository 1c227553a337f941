"""Stack & Deal: rows are stacked like cards by their sensitive value and dealt to the classes in turn."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Microdata, Release, privacy
from anoncore.algorithms import StackAndDeal
from anoncore.algorithms.closeness.stack_and_deal import Stack
from dashboard.charts.dealing import Cards, dealing, held, in_order
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.learn.lessons.board import STYLE, Step, ask, data_of, generalized, pick, table, whole

TABLE = "t-closeness-salaries"
SALARY = "salary"
K = 50


def dealt(k: int = K, stack: Literal["frequency", "value"] = "frequency") -> Release:
    """The paper's 250 employees dealt to classes of k."""
    return StackAndDeal(k=k, stack=stack, seed=0).anonymize(data_of(TABLE))


def stacked(k: int = K) -> Stack:
    """How the employees are stacked, the most frequent salary first."""
    return StackAndDeal(k=k).stack_of(data_of(TABLE))


def along_the_stack() -> Microdata:
    """The employees with salaries in the order of the stack, along which the paper measures."""
    stack = stacked()
    texts = [stack.multiplicity.labels(int(cell))[0] for cell in stack.order]
    data = data_of(TABLE)
    by_text = dict(zip(data.domain[SALARY].texts, data.domain[SALARY].values, strict=False))
    order = tuple(by_text[text] for text in texts)
    return Microdata(data.frame, data.roles, kinds={SALARY: "ordinal"}, orders={SALARY: order})


def _cards() -> None:
    st.markdown(
        "250 employees; the salary is the secret. How to make classes in which salaries are spread **just as in "
        "the whole company**? Think of every employee as a playing card that shows the salary."
    )
    stack = stacked()
    counts = stack.multiplicity.counts
    texts = [stack.multiplicity.labels(cell)[0] for cell in range(len(counts))]
    parts.chart(
        in_order(texts, counts, STYLE),
        key="lesson-cards",
        caption="How many cards show each salary.",
        alt=f"Bars of the number of cards of {len(counts)} salaries, at most {counts.max()}.",
    )
    top = texts[int(np.argmax(counts))]
    ask(
        f"five classes of {K} are wanted. How many cards of {top} should each have?",
        f"There are {counts.max()} of them, so {counts.max() / 5:g} on average: some classes get "
        f"{counts.max() // 5}, some one more. If that holds for every salary, every class looks like the company.",
    )


def _deal() -> None:
    st.markdown(
        "**Stack** the cards: equal ones together, the most frequent salary on top. **Deal** them from the top, "
        "one to each class in turn, until none is left. Move the slider."
    )
    cards = Cards.of(stacked())
    after = whole("Rounds dealt", 0, cards.n_rounds, 8, "rounds", "Each round gives one card to every class.")
    parts.chart(
        dealing(cards, after, "class"),
        key="lesson-deal",
        caption="Left: the stack, faint where cards are gone. Right: the cards of each class, a colour per salary.",
        alt=f"The stack and the cards of {cards.n_classes} classes after {after} rounds.",
    )
    ask(
        "why can no class get two cards more of a salary than another?",
        f"Equal cards lie together in the stack, and each round gives one card to every one of the {cards.n_classes} "
        "classes. So a run of equal cards is handed out evenly; only its first and its last round may be incomplete.",
    )


def _compare() -> None:
    st.markdown(
        "Compare the classes. Their *distance* from the company (0: the same, 1: as far as can be) is what lesson 4 "
        "measures. Choose another k: smaller classes are finer, but can they be as close?"
    )
    k = whole("k", 5, 125, K, "deal-k", "Fewest employees in a class.")
    release = dealt(k)
    distances = privacy.emd(release, SALARY, "ordered")
    cards = Cards.of(stacked(k))
    parts.chart(
        held(cards, "class"),
        key="lesson-held",
        caption="Cards of each salary in each class; dark means one more than light.",
        alt=f"Counts of the salaries in {cards.held.shape[0]} classes.",
    )
    parts.tiles(
        [
            Tile("Classes", f"{release.partition.n_groups}", "250 divided by k, rounded down."),
            Tile("Largest difference", f"{int(np.ptp(cards.held, axis=0).max())}", "Of two classes in any salary."),
            Tile("Largest distance", f"{distances.max():.4f}", "Of any class from the company."),
        ]
    )
    small, large = (float(privacy.emd(dealt(one), SALARY, "ordered").max()) for one in (10, K))
    ask(
        "what does a smaller k cost?",
        f"Closeness: with k = {K} the farthest class is {large:.4f} away, with k = 10 it is {small:.4f}. One card "
        "too many weighs more in a small class. Still, both are far closer than classes cut by age would be.",
    )


def _order() -> None:
    st.markdown(
        "Does the order of the stack matter? It need not be the most frequent first: one can stack **along the "
        "salaries**, so that neighbours in the stack are neighbours in pay."
    )
    stack = pick("Stack", ["frequency", "value"], "stack", "Most frequent first, or along the salaries.", 1)
    distances = {one: privacy.emd(dealt(stack=one), SALARY, "ordered") for one in ("frequency", "value")}
    frame = pd.DataFrame({"class": np.arange(len(distances[stack])) + 1, "distance": distances[stack]})
    left, right = st.columns(2, gap="medium")
    with left:
        table(frame.astype({"distance": float}).round(6), "Distance of each class.")
    with right:
        parts.tiles([Tile("Largest distance", f"{distances[stack].max():.4f}", "Of any class from the company.")])
    other = along_the_stack()
    printed = privacy.emd(generalized(other, dealt().partition), SALARY, "ordered").max()
    ask(
        "which order brings the classes closer?",
        f"Along the salaries: {distances['value'].max():.4f} instead of {distances['frequency'].max():.4f}. A card "
        "too many is then made up for by its neighbour, and earth moves one step only. (The paper prints "
        f"{printed:.6f} for the first: it measures along the stack instead of along the salaries.)",
    )


STEPS = (
    Step("Cards with salaries", _cards),
    Step("Stack and deal", _deal),
    Step("Compare the classes", _compare),
    Step("The order of the stack", _order),
)
