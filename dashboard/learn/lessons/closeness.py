"""Similarity and skewness: what different values still give away, and t-closeness."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from anoncore import Microdata, Partition, Release, attacks, privacy
from anoncore.algorithms import Mondrian
from anoncore.requirements import DistinctDiversity, KAnonymity, TCloseness
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

TABLE = "t-closeness-table-2.10"
SALARY = "salary"
PEOPLE, CLASS, POSITIVE = 1_000, 20, 20
"""The made-up test: people in all, in the class that is looked at, and with a positive result in all."""


def paper() -> Release:
    """The employees in the three classes of the paper."""
    return generalized(data_of(TABLE), published(TABLE))


def _similar() -> None:
    st.markdown(
        "Nine people with salary and disease. Every class has three **different** salaries and three different "
        "diseases: 3-diverse, as the last lesson asked. Look at class 1 all the same."
    )
    release = paper()
    group = int(pick("Class", ["1", "2", "3"], "similar", "The class that you look at.")) - 1
    (check,) = DistinctDiversity(l=3, attribute=SALARY).checks(release.data)
    levels = check.levels(release.partition)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        frame = as_published(release)
        table(frame, "The people in three classes.", np.flatnonzero(frame["class"] == group + 1).tolist())
        parts.tiles([Tile("Different salaries", f"{levels[group]:.0f}", "In this class: what l-diversity counts.")])
    with right:
        class_chart(release, SALARY, group, "lesson-similar-shares")
    salaries = release.data.domain[SALARY].positions[release.data.codes[SALARY]]
    first = salaries[release.partition.rows(0)]
    ask(
        "what do you know of everybody in class 1?",
        f"Salaries from {first.min():,.0f} to {first.max():,.0f}, while the table goes up to "
        f"{salaries.max():,.0f}: all of them earn little. And all three diseases are diseases of the stomach. The "
        "values differ, their meaning does not: the **similarity attack**. Diversity counts values, it does not "
        "know which are close.",
    )


def tested(positive: int) -> Release:
    """A thousand people, twenty of them positive in all; a class of twenty has so many of them."""
    result = np.zeros(PEOPLE, dtype=bool)
    result[:positive] = True
    result[CLASS : CLASS + POSITIVE - positive] = True
    frame = pd.DataFrame({"age": np.arange(PEOPLE) // 10, "result": np.where(result, "positive", "negative")})
    data = Microdata(frame, {"age": "quasi-identifier", "result": "sensitive"})
    return generalized(data, Partition((np.arange(PEOPLE) >= CLASS).astype(np.int32)))


def _skewed() -> None:
    st.markdown(
        f"A test on {PEOPLE:,} people; {POSITIVE} are positive, which nobody wants known of himself. A class of "
        f"{CLASS} people has both results, so it is 2-diverse. **How many of them are positive?**"
    )
    positive = whole("Positive in the class", 1, CLASS - 1, 10, "positive", f"Of {CLASS} people.")
    release = tested(positive)
    found = attacks.sensitive_posterior(release, "result")
    code = release.data.domain["result"].code_of("positive")
    before = float((release.data.codes["result"] == code).mean())
    after = float(np.asarray(found)[0, code])
    class_chart(release, "result", 0, "lesson-skewed-shares")
    parts.tiles(
        [
            Tile("Belief before", f"{before:.0%}", "Positive, for anybody: the share in the table."),
            Tile("Belief after", f"{after:.0%}", "Positive, for anybody in this class."),
            Tile("Times as likely", f"{after / before:.0f}", "Belief after divided by belief before."),
        ],
        columns=3,
    )
    ask(
        "both results occur. Is anything wrong?",
        f"Everybody in the class was positive with {before:.0%}; after reading the release it is {after:.0%}, "
        f"{after / before:.0f} times as much. This is the **skewness attack**: the class is far from the table. "
        "Diversity is blind to it, with 19 positive people as with 1.",
    )


def close(t: float) -> Partition:
    """The people in classes of at least two rows whose salaries are t-close to the table's."""
    requirements = (KAnonymity(k=2), TCloseness(t=t, ground="ordered", attribute=SALARY))
    return Mondrian(requirements=requirements).anonymize(data_of(TABLE, ("age",))).partition


def _close() -> None:
    st.markdown(
        "The cure: the salaries of every class must be spread **nearly as in the whole table**. Their distance (0: the "
        "same, 1: as far as can be) may be t at most. That is t-closeness; how the distance is measured is the next "
        "lesson. (Here with age only, at least two rows per class.)"
    )
    t = slider("t", 0.05, 0.5, 0.4, "t", "Largest distance of a class from the table.")
    release = generalized(data_of(TABLE, ("age",)), close(t))
    distances = privacy.emd(release, SALARY, "ordered")
    before = privacy.emd(paper(), SALARY, "ordered")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        table(as_published(release), f"The people in classes within {t:g} of the table.")
    with right:
        st.markdown("**Distance of each class**")
        table(
            pd.DataFrame(
                {"class": np.arange(len(distances)) + 1, "rows": release.partition.sizes, "distance": distances}
            ),
            "Distance of each class from the table.",
        )
        parts.tiles(
            [
                Tile("Classes", f"{len(distances)}", "More classes: finer values."),
                Tile("Largest", f"{distances.max():.3f}", "Of any class from the table; at most t."),
            ]
        )
    ask(
        "what happens to the classes when t gets smaller?",
        f"With t = {t:g} there are {len(distances)}, the farthest {distances.max():.3f} from the table. The class of "
        f"the badly paid in the first step is {before[0]:.3f} away: below that, its like cannot be published. Rows "
        "must be mixed with better paid ones until knowing the class tells hardly more than knowing the table. The "
        "price is coarser ages.",
    )


STEPS = (
    Step("Different, and yet alike", _similar),
    Step("Far more than usual", _skewed),
    Step("Stay close to the table: t-closeness", _close),
)
