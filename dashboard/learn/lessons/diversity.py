"""Homogeneity and background knowledge: what a crowd of equals gives away, and l-diversity."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Partition, Release, attacks
from anoncore.algorithms import Mondrian
from anoncore.requirements import DistinctDiversity, KAnonymity
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.learn.lessons.board import (
    Step,
    as_published,
    ask,
    class_chart,
    data_of,
    generalized,
    pick,
    published,
    slider,
    table,
    whole,
)

TABLE = "t-closeness-table-2.8"
SENSITIVE = "disease"
SHORT = ("age", "sex")
"""What the last step publishes of each patient."""


def paper() -> Release:
    """The patients in the three classes of the paper."""
    return generalized(data_of(TABLE), published(TABLE))


def _alike() -> None:
    st.markdown(
        "Nine patients, published so that always three look alike: nobody can be picked out. You know that your "
        "neighbour is a patient, 27 years old, with zip code 47678. **Which class is he in, and what do you learn?**"
    )
    release = paper()
    group = int(pick("Class", ["1", "2", "3"], "alike", "The class that you look at.")) - 1
    left, right = st.columns([3, 2], gap="medium")
    with left:
        frame = as_published(release)
        table(frame, "The patients in three classes.", np.flatnonzero(frame["class"] == group + 1).tolist())
    with right:
        class_chart(release, SENSITIVE, group, "lesson-alike-shares")
    belief = attacks.attribute_disclosure(release, SENSITIVE).belief[release.partition.rows(group)].max()
    parts.tiles(
        [
            Tile("Rows that fit", f"{release.partition.sizes[group]}", "The crowd: rows that look alike."),
            Tile("Largest belief", f"{belief:.0%}", "How sure the attacker is of somebody's disease."),
        ],
        columns=3,
    )
    everyone = attacks.attribute_disclosure(release, SENSITIVE).belief[release.partition.rows(0)].max()
    ask(
        "what does the neighbour have?",
        f"He is in class 1, where everybody has heart disease: you are {everyone:.0%} sure. You do not need to know "
        "which row is his. This is the **homogeneity attack**: a crowd does not help if all in it are alike.",
    )


def with_background(chance: float, other: float) -> np.ndarray:
    """p(heart disease) of each person of class 3; the first is known to have it with `chance`, the others `other`."""
    release = paper()
    rows = release.partition.rows(2)
    texts = release.data.domain[SENSITIVE].texts[release.data.codes[SENSITIVE][rows]]
    return attacks.group_probabilities([chance, other, other], int((texts == "Heart Disease").sum()))


def _background() -> None:
    st.markdown(
        "Class 3 is mixed: one heart disease, two fevers. But the attacker may **know something about the person**: "
        "say that heart disease is very rare where she comes from. Set what the attacker knows before they see the "
        "release."
    )
    rare = slider("Chance that she has heart disease", 0.0, 1.0, 0.02, "rare", "What is known of her group.", 0.01)
    usual = slider("Chance of each of the other two", 0.05, 0.95, 0.3, "usual", "What is known of others.")
    found = with_background(rare, usual)
    frame = pd.DataFrame(
        {
            "person": ["she", "second", "third"],
            "heart disease, before": [rare, usual, usual],
            "heart disease, after": found,
            "fever, after": 1 - found,
        }
    )
    left, right = st.columns([3, 2], gap="medium")
    with left:
        table(frame, "Chances before and after the attacker reads class 3.", [0])
        st.caption(
            "One of the three has heart disease; the attacker weighs which. Chances after are those of the possible "
            "ways to hand the three diseases to three people."
        )
    with right:
        parts.tiles([Tile("She has fever", f"{1 - found[0]:.1%}", "The attacker's belief after reading class 3.")])
    ask(
        "how sure is the attacker of fever, and what if they knew nothing?",
        f"With what they know: {1 - found[0]:.1%}. If all three were alike to them it would be "
        f"{1 - with_background(0.3, 0.3)[0]:.0%}. This is the **background knowledge attack**: ruling out one value "
        "leaves the others. The fewer values a class has, the fewer must be ruled out.",
    )


def diverse(l: int) -> Partition:
    """The patients in classes of at least two rows and at least l diseases."""
    requirements = (KAnonymity(k=2), DistinctDiversity(l=l))
    return Mondrian(requirements=requirements).anonymize(data_of(TABLE, SHORT)).partition


def _diverse() -> None:
    st.markdown(
        "The cure: every class must have **at least l different diseases**. That is l-diversity. Larger classes are "
        "the price, and with them coarser values. (Here with age and sex only, at least two rows per class.)"
    )
    l = whole("l", 1, 3, 1, "l", "Fewest different diseases in a class.")
    release = generalized(data_of(TABLE, SHORT), diverse(l))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        table(as_published(release), f"The patients in classes of at least {l} diseases.")
    (check,) = DistinctDiversity(l=l).checks(release.data)
    levels = check.levels(release.partition)
    belief = attacks.attribute_disclosure(release, SENSITIVE).largest
    with right:
        parts.tiles(
            [
                Tile("Classes", f"{release.partition.n_groups}", "More classes: finer values."),
                Tile("Fewest diseases", f"{levels.min():.0f}", "Different diseases in the poorest class."),
            ]
        )
        parts.tiles([Tile("Largest belief", f"{belief:.0%}", "How sure the attacker can be of anybody's disease.")])
    ask(
        "from which l on is nobody in a class where all are alike?",
        f"From l = 2 on. With l = {l} the poorest class has {levels.min():.0f} different, and the attacker is sure "
        f"of somebody's disease with {belief:.0%} at most."
        + (" With l = 1 nothing is asked for, and the attack works: raise l." if l == 1 else "")
        + " What it does not see: whether the different values **mean** the same. That is the next lesson.",
    )


STEPS = (
    Step("Everybody in the class is alike", _alike),
    Step("The attacker knows something", _background),
    Step("Ask for different values: l-diversity", _diverse),
)
