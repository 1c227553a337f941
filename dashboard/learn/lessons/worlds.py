"""Bucketization, and the attack that learns from all groups and weighs the possible worlds of each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Microdata, Release, attacks
from anoncore.algorithms import Algorithm, Anatomy, ForegroundSafe
from anoncore.attacks import ForegroundKnowledge
from dashboard.charts.attacks import group_people
from dashboard.charts.lessons import share_bars
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.learn.lessons.board import (
    STYLE,
    Step,
    as_columns,
    ask,
    data_of,
    in_columns,
    pick,
    published,
    slider,
    table,
)

TABLE = "foreground-table-8"
STORY = "foreground-table-1"
GROUP = ("s1", "s1", "s2", "s2")
WITH_X = 2
EVERY_ROW_COUNTS = 0.9
"""An error so large that the attacker relies on every signature; the tables have a handful of rows."""


def bucketized(name: str) -> Release:
    """The paper's groups: the quasi-identifier in one table, the sensitive attribute in another."""
    data = data_of(name)
    return in_columns(data, published(name), (data.quasi_identifiers, data.sensitive))


def attacked(release: Release) -> ForegroundKnowledge:
    """What the attack finds in a small release."""
    return attacks.foreground_knowledge(release, release.data.sensitive[0], epsilon=EVERY_ROW_COUNTS)


def _two_tables(release: Release, marked: int | None = None) -> None:
    for place, frame in zip(st.columns(2, gap="medium"), as_columns(release, "group"), strict=True):
        with place:
            marks = [] if marked is None else np.flatnonzero(frame["group"] == marked + 1).tolist()
            table(frame, "One of the two published tables.", marks)


def _story() -> None:
    st.markdown(
        "Six patients in groups of two. Nationality is published in one table, disease in another; only the group "
        "number links them (*bucketization*). **You know that Alex, the American, is in group 1.**"
    )
    release = bucketized(STORY)
    _two_tables(release, 0)
    view = attacked(release).group(release, 0, value="Heart Disease")
    japanese = int((release.data.frame["nationality"] == "Japanese").sum())
    parts.tiles(
        [
            Tile("Alex, by group 1 alone", f"{view.without_attack:.0%}", "Chance of heart disease: 1 of 2 people."),
            Tile("Alex, by all groups", f"{view.probability[0]:.0%}", "Chance of heart disease with the attack."),
        ],
        columns=3,
    )
    ask(
        "group 1 has flu and heart disease. Who of the two has which?",
        f"By group 1 alone it is {view.without_attack:.0%}. But look at the other groups: {japanese} of the six "
        "people are Japanese, and wherever Japanese are without an American, there is no heart disease. So the "
        f"Japanese in group 1 most likely has flu, and Alex heart disease: {view.probability[0]:.0%}. Nothing but "
        "the release was needed.",
    )


def _learned() -> None:
    st.markdown(
        "Now as numbers. Three groups; s1 and s2 are two kinds of people (*signatures*), x is what must be protected. "
        "**How often must each kind have x, so that all groups come out right?**"
    )
    release = bucketized(TABLE)
    _two_tables(release)
    found = attacked(release)
    shares = found.distribution(release)
    left, right = st.columns(2, gap="medium")
    with left:
        parts.chart(
            share_bars(shares["signature"].tolist(), shares["learned"].to_numpy(), STYLE, "share with x, as learned"),
            key="lesson-learned",
            caption="The shares under which every group is expected to have as many x as are published.",
            alt="Bars of the learned share of x for both signatures.",
        )
    with right:
        group = int(pick("Group", ["1", "2", "3"], "world-group", "The group whose people are judged.")) - 1
        view = found.group(release, group)
        people = group_people(view, found.r, STYLE)
        people.update_xaxes(title="chance of x")
        parts.chart(
            people,
            key="lesson-people",
            caption="Chance of x for each person of the group. Dotted: by the group alone. A star: really has x.",
            alt=f"Bars of the chance of x, up to {view.probability.max():.0%}.",
        )
    ask(
        "who has x in group 1, and how do you know?",
        f"s1 has x with {shares['learned'].iloc[0]:.0%}, s2 with {shares['learned'].iloc[1]:.0%}: group 2 has only "
        "s1 and one x, group 3 has only s2 and none. So in group 1 it must be the s1: "
        f"{found.group(release, 0).probability[0]:.0%} instead of {found.group(release, 0).without_attack:.0%}. A "
        "release tells about everybody at once: that is **foreground knowledge**.",
    )


def _weighed() -> None:
    st.markdown(
        "Inside one group of four, two people have x. Each way to choose them is a *possible world*. Its weight: the "
        "product of what was learned about each person. Set what was learned."
    )
    left, right = st.columns(2)
    with left:
        first = slider("Share of s1 with x", 0.05, 0.95, 0.5, "f1", "As learned from the whole release.")
    with right:
        second = slider("Share of s2 with x", 0.05, 0.95, 0.2, "f2", "As learned from the whole release.")
    worlds = attacks.possible_worlds((first, first, second, second), WITH_X)
    frame = pd.DataFrame(
        np.where(worlds.has_value, "x", "·"), columns=[f"t{n} ({s})" for n, s in enumerate(GROUP, start=1)]
    ).assign(weight=worlds.weight, chance=worlds.share)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        table(frame, "The possible worlds with their weights.", [int(np.argmax(worlds.share))])
        st.caption(f"Chance: the weight as a part of all {worlds.weight.sum():.4f}.")
    with right:
        parts.chart(
            share_bars(list(frame.columns[:4]), worlds.probability, STYLE, "chance of x"),
            key="lesson-worlds",
            caption="Of each person: the chances of the worlds in which they have x, added up.",
            alt=f"Bars of the chance of x of four people; t1 {worlds.probability[0]:.1%}.",
        )
    ask(
        "how likely does t1 have x, and when would it be one half?",
        f"Now {worlds.probability[0]:.2%}. If both kinds had x equally often, all worlds would weigh the same, and "
        f"it would be {attacks.possible_worlds((first,) * 4, WITH_X).probability[0]:.0%}: two of four. **The "
        "attack lives from different kinds of people in one group.**",
    )


def sixteen() -> Microdata:
    """Sixteen made-up people: half of the eight of kind s1 have x, nobody of kind s2 has."""
    frame = pd.DataFrame({"signature": ["s1"] * 8 + ["s2"] * 8, "X": [*"xxxxyyzz", *"yyyyzzzz"]})
    roles = {"signature": "quasi-identifier", "X": "sensitive"}
    return Microdata(frame, roles, sensitive_values={"X": ("x",)})


def regrouped(method: str) -> Release:
    """The sixteen people in groups of different values, by a method that knows the attack or one that does not."""
    algorithm: Algorithm = Anatomy(l=2, seed=1)
    if method == ForegroundSafe.title:
        algorithm = ForegroundSafe(l=2, epsilon=EVERY_ROW_COUNTS, seed=1)
    return algorithm.anonymize(sixteen())


def _safe() -> None:
    st.markdown(
        "The cure: **put people of one kind together**, and run the attack itself before publishing. Sixteen made-up "
        "people in groups of two: Anatomy only sees to it that values in a group differ, ForegroundSafe that kinds "
        "do not."
    )
    method = pick("Method", [Anatomy.title, ForegroundSafe.title], "cure", "Compare the two.", 1)
    release = regrouped(method)
    _two_tables(release)
    found = attacked(release)
    parts.tiles(
        [
            Tile("Largest chance of x", f"{found.breach_probability.max():.0%}", "Of anybody, with the attack."),
            Tile("By the groups alone", f"{found.without_attack.max():.0%}", "What it should be at most."),
        ],
        columns=3,
    )
    before, after = (attacked(regrouped(one)).breach_probability.max() for one in (Anatomy.title, ForegroundSafe.title))
    ask(
        "what does the attack still learn with ForegroundSafe?",
        "It still learns how often each kind has x. But inside a group all are of one kind, so that no longer "
        f"tells them apart: nobody's chance of x is above {after:.0%}, against {before:.0%} by Anatomy. Rows and "
        "values are the same; only who is grouped with whom has changed.",
    )


STEPS = (
    Step("Alex and the other groups", _story),
    Step("Learn from all groups", _learned),
    Step("Weigh the possible worlds", _weighed),
    Step("What stops it", _safe),
)
