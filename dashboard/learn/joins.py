"""Narrow tables, the attack that joins them, and invented people who hide the real ones."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from anoncore import Release, attacks, privacy
from anoncore.algorithms import Mondrian, RandomBuckets, VerticalFragmentation
from anoncore.algorithms.slicing.columns import sliced_release
from anoncore.algorithms.vertical.changes import changes_by_strategy
from anoncore.algorithms.vertical.strategies import Strategy
from anoncore.privacy.selectivity import Selectivity, versions
from anoncore.requirements import KAnonymity
from anoncore.utility import information_loss
from dashboard.charts.attacks import likelihood_histogram, tuple_bars
from dashboard.charts.maps import join_map
from dashboard.charts.palette import ORIGINAL
from dashboard.charts.utility import score_bars
from dashboard.learn.lesson_parts import (
    STYLE,
    Lesson,
    Question,
    as_columns,
    as_published,
    beside,
    chart,
    data_of,
    figures,
    published,
    say,
    share_chart,
    side_by_side,
    table,
)

TABLE = "census"
PEOPLE, K = 80, 4
FRAGMENTS = (("age", "education"), ("hours-per-week", "occupation"))
KNOWN = tuple(name for fragment in FRAGMENTS for name in fragment)
NAMES = ("the first table", "the second table")
CURES: dict[Strategy, str] = {
    "naive": "Every group publishes its most frequent diagnosis for everybody in it.",
    "dependency": "Single diagnoses are changed, and only where a join needs it.",
    "selectivity": "Every group publishes the set of its diagnoses, not whose they are.",
}

JOINS = Lesson.named("joins")


def fragmented(cure: Strategy = "dependency") -> Release:
    """Eighty people of the census-like table in two narrow tables, both with the diagnosis."""
    algorithm = VerticalFragmentation(k=K, enforce=cure, attribute_fragments=FRAGMENTS, seed=0)
    return algorithm.anonymize(data_of(TABLE, KNOWN, PEOPLE))


def whole_release() -> Release:
    """The same people in one table."""
    return Mondrian(requirements=(KAnonymity(k=K),)).anonymize(data_of(TABLE, KNOWN, PEOPLE))


@JOINS.step
def _narrow() -> Question:
    release = fragmented()
    losses = [float(information_loss(one)) for one in (whole_release(), release)]
    side_by_side(*((one.name, as_published(Release(release.data, (one,))).head(8)) for one in release.fragments))
    say("The first rows of either table. The diagnosis is what others want to learn from.")
    share_chart(
        ["one wide table", "two narrow tables"],
        losses,
        "blur: part of the range that a cell covers",
        "narrow",
        "How coarse the published values are.",
    )
    return (
        "what do two narrow tables win?",
        f"Detail: the blur falls from {losses[0]:.0%} to {losses[1]:.0%}, as a group must agree in two attributes "
        "instead of four. With a hundred attributes one wide table is blurred beyond use.",
    )


@JOINS.step
def _joined() -> Question:
    release = fragmented()
    check = privacy.joins(release, k=K, published=False).joins[0]
    chart(
        join_map(privacy.worst_joins(release), False, NAMES),
        "joins",
        f"A cell per group of the first and group of the second table; red: their join has 1 to {K - 1} rows.",
        f"A map of joins; {check.n_broken} of {check.n_joins} have too few rows.",
    )
    figures(
        ("Pairs of groups", f"{check.n_joins}", "A group of either table."),
        ("Too few rows", f"{check.n_broken}", f"Pairs whose join has 1 to {K - 1} rows."),
        ("Smallest join", f"{check.lowest:.0f}", "Rows in the smallest join that is not empty."),
    )
    return (
        f"each table alone hides everybody among {K}. Why is that not enough?",
        f"{check.n_broken} of the {check.n_joins} pairs of groups join to fewer than {K} rows, some to "
        f"{check.lowest:.0f}: then all four attributes and the diagnosis of one person lie open, as if the table "
        "had never been cut.",
    )


@JOINS.step
def _cured(cure: Strategy) -> Question:
    say(CURES[cure])
    release = fragmented(cure)
    check = privacy.joins(release).joins[0]
    changes = changes_by_strategy(release, K)
    scores = {name: (float(one), STYLE if name == cure else ORIGINAL) for name, one in changes.items()}
    chart(
        score_bars(scores, "share of the diagnoses"),
        "cured",
        "Share of the diagnoses that are not published as they were, by cure. Blue: the chosen one.",
        "Bars of the changed diagnoses of three cures.",
    )
    figures(
        ("Unsafe joins left", f"{check.n_broken}", "Checked over all pairs of groups."),
        ("Diagnoses changed", f"{float(changes[cure]):.0%}", "In both tables together."),
        columns=3,
    )
    return (
        "what stops the attack, and at what price?",
        f"After any of the three no join is unsafe (left: {check.n_broken}). The price differs: "
        + ", ".join(f"{name} changes {float(one):.0%}" for name, one in changes.items())
        + ". With so few people and fourteen diagnoses that is a lot; larger tables need far less.",
    )


def fillings(size: int, values: int) -> list[tuple[int, ...]]:
    """How often each of so many values may occur in a class of a size, at least once each."""
    return [one for one in product(range(1, size + 1), repeat=values) if sum(one) == size]


@JOINS.step
def _hidden(size: int, values: int, k: int) -> Question:
    every = fillings(size, values)
    names = ("flu", "pneumonia", "dyspepsia")[:values]
    count = versions(size, values)
    alike = [np.array([number]) for number in (size, values, size, values, values)]
    chance = float(Selectivity(k).eta(*alike)[0])
    left, right = beside(3, 2)
    with left:
        table(pd.DataFrame(every, columns=list(names)), "How often each value may occur.")
    with right:
        figures(("Versions", f"{count}", "Ways in which the group may have looked."))
        figures(("Joins large enough", f"{chance:.0%}", "Of all pairs of versions of two such groups."))
    return (
        "why does it help to publish less?",
        f"A group of 5 with 3 values may have looked in {versions(5, 3)} ways, and the attacker cannot tell which. "
        f"Joined with a group like it, {chance:.0%} of the pairs of versions have at least {k} rows. The cure asks "
        "for at least one half.",
    )


CLINIC = "slicing-table-1"
SMALL = {
    "bucketization": (("age", "sex", "zipcode"), ("disease",)),
    "slicing": (("age", "sex"), ("zipcode", "disease")),
}
LARGE = {
    "bucketization": (("age", "sex", "occupation"), ("diagnosis",)),
    "slicing": (("age", "sex"), ("occupation", "diagnosis")),
}
MANY = 1_000

MEMBERS = Lesson.named("members")


def small(form: str) -> attacks.Membership:
    """Who could be in the paper's table, by what the attacker can look up."""
    data = data_of(CLINIC)
    found = attacks.membership(sliced_release(data, published(CLINIC), SMALL[form]), data.quasi_identifiers)
    assert isinstance(found, attacks.Membership)
    return found


def large(form: str, size: int) -> attacks.Membership:
    """Who could be among a thousand people of the census-like table in random buckets of a size."""
    data = data_of("census", ("age", "sex", "occupation"), MANY)
    release = RandomBuckets(size=size, attribute_columns=LARGE[form], seed=0).anonymize(data)
    found = attacks.membership(release, data.quasi_identifiers)
    assert isinstance(found, attacks.Membership)
    return found


@MEMBERS.step
def _secret(form: str) -> Question:
    data = data_of(CLINIC)
    release = sliced_release(data, published(CLINIC), SMALL[form])
    side_by_side(*zip(("First column", "Second column"), as_columns(release, "group"), strict=True))
    found = small(form)
    figures(
        ("Real people", f"{len(found.matching_buckets)}", "Rows of the table."),
        ("Invented people", f"{float(found.fake):,.0f}", "Combinations that fit a group but are not real."),
        ("Belief if it fits", f"{float(found.belief):.0%}", "Share of real ones among all that fit."),
    )
    both = {one: small(one) for one in SMALL}
    return (
        "a man of 22 who lives in 47905 is looked for. What does either release say of him?",
        "Bucketization: no row fits, so he is not in the table; and whoever fits is in it for certain "
        f"({float(both['bucketization'].belief):.0%}). Slicing: ages and zip codes of a group are shuffled, so he "
        f"fits group 1 although he is not in the table. So do {float(both['slicing'].fake):,.0f} people in all, and "
        f"who fits is real with {float(both['slicing'].belief):.0%} only. **Invented people hide the real ones.**",
    )


@MEMBERS.step
def _larger_buckets(size: int) -> Question:
    found = large("slicing", size)
    chart(
        tuple_bars(found.finer, STYLE),
        "members",
        "How many real rows (grey) and invented people (blue) fit so many groups.",
        f"Bars of real and invented people by matching buckets; {float(found.fake):,.0f} are invented.",
    )
    figures(
        ("Invented people", f"{float(found.fake):,.0f}", "Combinations that fit a group but are not real."),
        ("Belief if it fits", f"{float(found.belief):.0%}", "Share of real ones among all that fit."),
        columns=3,
    )
    sizes = (2, 20, 100)
    beliefs = [float(large("slicing", one).belief) for one in sizes]
    share_chart(
        [f"groups of {one}" for one in sizes],
        beliefs,
        "belief if it fits",
        "beliefs",
        "How sure a match makes the attacker, by size of the groups.",
    )
    return (
        "do larger groups hide better?",
        f"Yes: who fits is real with {beliefs[0]:.0%} in groups of {sizes[0]}, with {beliefs[-1]:.0%} in groups of "
        f"{sizes[-1]}. More values meet in a group, so more people are invented. By bucketization it stays "
        f"{float(large('bucketization', size).belief):.0%}, whatever the size.",
    )


def fragments() -> tuple[Release, attacks.JoinLikelihood]:
    """The two narrow tables of the lesson on joins, and how likely each person is in their join."""
    release = fragmented()
    found = attacks.membership(release)
    assert isinstance(found, attacks.JoinLikelihood)
    return release, found


@MEMBERS.step
def _joined_tables() -> Question:
    release, found = fragments()
    chart(
        likelihood_histogram(found.likelihood, float(found.mean.baseline or 0), STYLE, "likelihood of membership"),
        "likelihood",
        "People by the likelihood that a row of the join is theirs. Dashed: picking groups at random.",
        f"Histogram of the likelihood of {release.data.n_rows} people, at most {float(found.largest):.2g}.",
    )
    figures(
        ("Rows of the table", f"{release.data.n_rows}", "Real people."),
        ("Rows of the join", f"{found.total:,.0f}", "Most of them invented."),
        ("Largest likelihood", f"{float(found.largest):.1%}", "Of the person for whom it is largest."),
    )
    return (
        "how many rows of the join are invented?",
        f"{found.total - release.data.n_rows:,.0f} of {found.total:,.0f} at least. Even for the person who is "
        f"easiest to find only {float(found.largest):.1%} of the joined rows fit.",
    )
