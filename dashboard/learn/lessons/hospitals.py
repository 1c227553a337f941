"""Composition: two hospitals publish overlapping patients, each safely, and together they give them away."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import streamlit as st

from anoncore import Microdata, Partition, Release, attacks
from anoncore.algorithms import Mondrian
from anoncore.attacks import Composition
from anoncore.requirements import DistinctDiversity, KAnonymity
from dashboard.charts.lessons import share_bars
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.learn.lessons.board import STYLE, Step, as_published, ask, data_of, generalized, pick, table, whole

TABLE = "slicing-table-1"
CENSUS = ("sex", "age", "education")
SECRET = "diagnosis"
PATIENTS = ("Ann", "Ben", "Cleo", "Dora", "Emil", "Finn", "Gus", "Hana")
FIRST = {"Ann": 0, "Ben": 0, "Cleo": 0, "Dora": 1, "Emil": 1, "Finn": 1}
SECOND = {"Cleo": 0, "Dora": 0, "Hana": 0, "Emil": 1, "Finn": 1, "Gus": 1}
"""The patients of each hospital, and the class that it publishes each of them in."""


def hospital(classes: dict[str, int]) -> Release:
    """What a hospital publishes of its patients; the rows are labelled with their names."""
    data = data_of(TABLE)
    frame = data.frame.set_axis(list(PATIENTS), axis=0).loc[list(classes)]
    return generalized(Microdata(frame, data.roles), Partition(np.array(list(classes.values()), dtype=np.int32)))


def both() -> Composition:
    """The two hospitals side by side."""
    return attacks.composition([hospital(FIRST), hospital(SECOND)], "disease", l=2)


def _two() -> None:
    st.markdown(
        "Eight patients, two hospitals. Each publishes its six patients in classes of three, in which **at least two "
        "diseases** occur. Four patients were in both. You know one of them, and where they belong in each table."
    )
    found = both()
    name = pick("Patient", list(found.people), "hospitals-patient", "Patients of both hospitals.")
    place = list(found.people).index(name)
    left, right = st.columns(2, gap="medium")
    for column, title, classes in ((left, "first", FIRST), (right, "second", SECOND)):
        with column:
            shown = as_published(hospital(classes))
            st.markdown(f"**The {title} hospital**")
            marked = np.flatnonzero(shown["class"] == classes[name] + 1).tolist()
            table(shown, f"What the {title} hospital publishes.", marked)
    values = [str(value) for value in found.values]
    texts = [", ".join(value for value, p in zip(values, one[place], strict=True) if p > 0) for one in found.alone]
    together = [value for value, p in zip(values, found.belief[place], strict=True) if p > 0]
    parts.tiles(
        [
            Tile("First hospital alone", f"{found.possible_alone[0, place]}", "Possible diseases.", texts[0]),
            Tile("Second hospital alone", f"{found.possible_alone[1, place]}", "Possible diseases.", texts[1]),
            Tile("Both", f"{found.possible[place]}", "Diseases that both allow.", ", ".join(together)),
        ]
    )
    certain = [str(one) for one, possible in zip(found.people, found.possible, strict=True) if possible == 1]
    ask(
        "whose disease is known for certain, though each hospital keeps two possible?",
        f"{' and '.join(certain)}. A disease that one of the hospitals rules out is ruled out; what is left is what "
        "the two classes have in common. Neither hospital made a mistake, and neither knew of the other.",
    )


@lru_cache(maxsize=32)
def overlapping(k: int, l: int, shared: int) -> Composition:
    """Two samples of 2,000 people of the census-like table that share so many, each k-anonymous and l-diverse."""
    data = data_of("census", CENSUS, 4_000)
    method = Mondrian(requirements=(KAnonymity(k=k), DistinctDiversity(l=l, attribute=SECRET)))
    rows = np.random.default_rng(3).permutation(data.n_rows)
    samples = (rows[:2_000], rows[2_000 - shared : 4_000 - shared])
    releases = [method.anonymize(Microdata(data.frame.iloc[sorted(one)], data.roles)) for one in samples]
    return attacks.composition(releases, SECRET, l=l)


def _many() -> None:
    st.markdown(
        "The same with more people: two samples of 2,000 people of a made-up census, each cut by Mondrian so that "
        "everybody hides among k people with l different diagnoses. **Make k and l larger: does it help?**"
    )
    k = whole("k", 2, 30, 5, "hospitals-k", "Fewest people in a class.")
    l = whole("l", 2, 6, 4, "hospitals-l", "Fewest different diagnoses in a class.")
    shared = int(pick("People in both", ["200", "500", "1000"], "hospitals-shared", "Patients of both hospitals.", 1))
    found = overlapping(k, l, shared)
    alone = float(found.few.baseline or 0)
    parts.chart(
        share_bars(
            ["one release alone", "both together"], [alone, float(found.few)], STYLE, f"people with fewer than {l} left"
        ),
        key="lesson-hospitals",
        caption=f"Of the {len(found.people):,} people in both samples, those with fewer than {l} possible diagnoses.",
        alt=f"Bars: {alone:.1%} in one release alone, {float(found.few):.1%} with both.",
    )
    ask(
        "each release promises l. What do both together promise?",
        "Nothing. l is promised for each class alone. A person's two classes hold other people, hence other "
        f"diagnoses; only what both contain is possible: {float(found.few):.1%} of these people fall below {l}. "
        "Larger classes contain more diagnoses and so have more in common; where nobody falls below l, the table was "
        "kind, for no k or l of one release promises anything about two.",
    )


STEPS = (
    Step("Two hospitals, each safe", _two),
    Step("Two samples of a census", _many),
)
