"""Vertical fragmentation: narrow tables keep more detail, joining them is the attack, and three things stop it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Release, privacy
from anoncore.algorithms import Mondrian, VerticalFragmentation
from anoncore.algorithms.vertical.changes import changes_by_strategy
from anoncore.algorithms.vertical.strategies import Strategy
from anoncore.privacy.selectivity import Selectivity, versions
from anoncore.requirements import KAnonymity
from anoncore.utility import information_loss
from dashboard.charts.fragments import change_bars, join_map
from dashboard.charts.lessons import share_bars
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.learn.lessons.board import STYLE, Step, as_published, ask, data_of, pick, table, whole

TABLE = "census"
PEOPLE, K = 80, 4
FRAGMENTS = (("age", "education"), ("hours-per-week", "occupation"))
KNOWN = tuple(name for fragment in FRAGMENTS for name in fragment)
NAMES = ("the first table", "the second table")
CURES: dict[Strategy, str] = {
    "naive": "Every class publishes its most frequent diagnosis for everybody in it.",
    "dependency": "Single diagnoses are changed, and only where a join needs it.",
    "selectivity": "Every class publishes the set of its diagnoses, not whose they are.",
}


def fragmented(cure: Strategy = "dependency") -> Release:
    """Eighty people of the census-like table in two narrow tables, both with the diagnosis."""
    algorithm = VerticalFragmentation(k=K, enforce=cure, attribute_fragments=FRAGMENTS, seed=0)
    return algorithm.anonymize(data_of(TABLE, KNOWN, PEOPLE))


def whole_release() -> Release:
    """The same people in one table."""
    return Mondrian(requirements=(KAnonymity(k=K),)).anonymize(data_of(TABLE, KNOWN, PEOPLE))


def _narrow() -> None:
    st.markdown(
        f"{PEOPLE} people, four attributes and a diagnosis. The more attributes a class must agree in, the coarser "
        f"they get. So publish **two narrow tables** with two attributes each, and the diagnosis in both; {K} rows "
        "always look alike."
    )
    release = fragmented()
    losses = [float(information_loss(one)) for one in (whole_release(), release)]
    for place, fragment in zip(st.columns(2, gap="medium"), release.fragments, strict=True):
        with place:
            table(as_published(Release(release.data, (fragment,))).head(8), f"First rows of {fragment.name}.")
    st.caption("The first rows of either table. The diagnosis is what others want to learn from.")
    parts.chart(
        share_bars(
            ["one wide table", "two narrow tables"], losses, STYLE, "blur: part of the range that a cell covers"
        ),
        key="lesson-narrow",
        caption="How coarse the published values are.",
        alt=f"Bars: {losses[0]:.0%} in one table, {losses[1]:.0%} in two.",
    )
    ask(
        "what do two narrow tables win?",
        f"Detail: the blur falls from {losses[0]:.0%} to {losses[1]:.0%}, as a class must agree in two attributes "
        "instead of four. With a hundred attributes one wide table is blurred beyond use.",
    )


def _joined() -> None:
    st.markdown(
        "**The attack:** both tables tell the diagnosis, so they can be joined on it. You know which class a "
        "person is in in each table. Rows of the two classes with a common diagnosis are paired; the fewer pairs, "
        "the surer you are."
    )
    release = fragmented()
    check = privacy.joins(release, k=K, published=False).joins[0]
    parts.chart(
        join_map(privacy.worst_joins(release), False, NAMES),
        key="lesson-joins",
        caption=f"A cell per class of the first and class of the second table; red: their join has 1 to {K - 1} rows.",
        alt=f"A map of joins; {check.n_broken} of {check.n_joins} have too few rows.",
    )
    parts.tiles(
        [
            Tile("Pairs of classes", f"{check.n_joins}", "A class of either table."),
            Tile("Too few rows", f"{check.n_broken}", f"Pairs whose join has 1 to {K - 1} rows."),
            Tile("Smallest join", f"{check.lowest:.0f}", "Rows in the smallest join that is not empty."),
        ]
    )
    ask(
        f"each table alone hides everybody among {K}. Why is that not enough?",
        f"{check.n_broken} of the {check.n_joins} pairs of classes join to fewer than {K} rows, some to "
        f"{check.lowest:.0f}: then all four attributes and the diagnosis of one person lie open, as if the table "
        "had never been cut.",
    )


def _cured() -> None:
    st.markdown(
        f"**Three cures.** Each sees to it that any two classes join to no row at all, or to {K} and more. They "
        "differ in how much of the diagnoses they spoil."
    )
    cure = pick("Cure", list(CURES), "cure-joins", "How diagnoses are changed or hidden.", 1)
    st.markdown(CURES[cure])
    release = fragmented(cure)
    check = privacy.joins(release).joins[0]
    changes = changes_by_strategy(release, K)
    parts.chart(
        change_bars(changes, cure, STYLE),
        key="lesson-cured",
        caption="Share of the diagnoses that are not published as they were, by cure. Blue: the chosen one.",
        alt="Bars of the changed diagnoses of three cures.",
    )
    parts.tiles(
        [
            Tile("Unsafe joins left", f"{check.n_broken}", "Checked over all pairs of classes."),
            Tile("Diagnoses changed", f"{float(changes[cure]):.0%}", "In both tables together."),
        ],
        columns=3,
    )
    ask(
        "what stops the attack, and at what price?",
        f"After any of the three no join is unsafe (left: {check.n_broken}). The price differs: "
        + ", ".join(f"{name} changes {float(one):.0%}" for name, one in changes.items())
        + ". With so few people and fourteen diagnoses that is a lot; larger tables need far less.",
    )


def fillings(size: int, values: int) -> list[tuple[int, ...]]:
    """How often each of so many values may occur in a class of a size, at least once each."""
    return [one for one in product(range(1, size + 1), repeat=values) if sum(one) == size]


def _hidden() -> None:
    st.markdown(
        "The third cure needs a second look. A class of five publishes only *flu, pneumonia, dyspepsia*. Each "
        "occurs at least once; the other rows may be anything of these. Each way to fill them is a *version*."
    )
    left, right = st.columns(2)
    with left:
        size = whole("Rows in the class", 3, 9, 5, "version-rows", "People in the class.")
    with right:
        values = whole("Values published", 1, 3, 3, "version-values", "Different diagnoses that are published.")
    every = fillings(size, values)
    names = ("flu", "pneumonia", "dyspepsia")[:values]
    count = versions(size, values)
    k = whole("Rows that a join must have", 2, 25, 10, "version-k", "With another class that is published likewise.")
    alike = [np.array([number]) for number in (size, values, size, values, values)]
    chance = float(Selectivity(k).eta(*alike)[0])
    left, right = st.columns([3, 2], gap="medium")
    with left:
        table(pd.DataFrame(every, columns=list(names)), "How often each value may occur.")
    with right:
        parts.tiles([Tile("Versions", f"{count}", "Ways in which the class may have looked.")])
        parts.tiles([Tile("Joins large enough", f"{chance:.0%}", "Of all pairs of versions of two such classes.")])
    ask(
        "why does it help to publish less?",
        f"A class of 5 with 3 values may have looked in {versions(5, 3)} ways, and the attacker cannot tell which. "
        f"Joined with a class like it, {chance:.0%} of the pairs of versions have at least {k} rows. The cure asks "
        "for at least one half.",
    )


STEPS = (
    Step("Two narrow tables", _narrow),
    Step("The join attack", _joined),
    Step("Three cures", _cured),
    Step("Publish the set of values", _hidden),
)
