"""Linking: a table without names is joined with a list that has them, and k-anonymity stops it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from anoncore import Microdata, Partition, attacks, datasets
from anoncore.algorithms import Mondrian
from anoncore.attacks import Reidentification
from anoncore.requirements import KAnonymity
from dashboard.charts.lessons import share_bars
from dashboard.elements import parts
from dashboard.elements.parts import Tile
from dashboard.learn.lessons.board import (
    STYLE,
    Step,
    as_published,
    ask,
    data_of,
    generalized,
    in_columns,
    pick,
    table,
    whole,
)

TABLE = "t-closeness-table-2.7"
LIST = "t-closeness-table-2.6"
KNOWN = ("job", "age", "sex")
CENSUS = ("sex", "age", "income")


def linked() -> Reidentification:
    """The patients as they are, against the list with names."""
    data = data_of(TABLE)
    release = in_columns(data, Partition(np.arange(data.n_rows, dtype=np.int32)), [data.attributes])
    return attacks.reidentification(release, population=data_of(LIST))


def _tables() -> None:
    st.markdown(
        "A hospital publishes its patients (left) and leaves the names out. A list with names is public (right). "
        "Both tell job, age and sex: **somebody can lay them side by side.**"
    )
    patients, people = datasets.table(TABLE).load(), datasets.table(LIST).load()
    keys = list(map(tuple, people[list(KNOWN)].to_numpy()))
    listed = [row for row, key in enumerate(map(tuple, patients[list(KNOWN)].to_numpy())) if key in keys]
    texts = {row: f"{patients.job[row]}, {patients.age[row]}, {patients.sex[row]}" for row in listed}
    chosen = pick("Patient", [texts[row] for row in listed], "patient", "Those of the patients who are on the list.")
    row = next(row for row, text in texts.items() if text == chosen)
    fitting = [place for place, key in enumerate(keys) if key == tuple(patients.loc[row, list(KNOWN)])]
    left, right = st.columns(2, gap="medium")
    with left:
        table(patients, "The published patients.", [row])
    with right:
        table(people, "The public list with names.", fitting)
    found = linked()
    sizes = found.population_size
    parts.tiles(
        [
            Tile("People who fit", f"{sizes[row]}", "People on the list with the patient's job, age and sex."),
            Tile("Chance of the right name", f"{1 / sizes[row]:.0%}", "One divided by the people who fit."),
        ],
        columns=3,
    )
    named = {key: place for place, key in enumerate(keys)}
    certain = [
        f"{people.name[named[tuple(patients.loc[one, list(KNOWN)])]]} has {patients.disease[one].lower()}"
        for one in listed
        if sizes[one] == 1
    ]
    ask(
        "whose disease is now known for certain?",
        f"{' and '.join(certain)}: only one person on the list fits. No name was published, but job, age and sex "
        "together work like one. Attributes that somebody else may know of a person are called **quasi-identifiers**.",
    )


def alone(n_rows: int, names: tuple[str, ...]) -> float:
    """Share of the people of the census-like table who are alone with their values of these attributes."""
    data = data_of("census", names, n_rows)
    release = in_columns(data, Partition(np.arange(n_rows, dtype=np.int32)), [data.attributes])
    return float((attacks.reidentification(release).class_size == 1).mean())


def _three() -> None:
    st.markdown(
        "How many people does a handful of attributes tell apart? A well-known estimate says that zip code, date of "
        "birth and sex single out 87% of the people of the United States. Try it on a made-up census: add one "
        "attribute after the other."
    )
    options = ["sex", "age", "income", "occupation", "education", "native-country"]
    names = st.multiselect(
        "What the attacker knows", options, list(CENSUS), key="lesson-known", help="In this order.", width=520
    )
    n_rows = int(pick("People in the table", ["2000", "10000", "40000"], "people", "More people, larger crowds.", 1))
    if not names:
        st.info("Choose at least one attribute.")
        return
    sets = [tuple(names[: place + 1]) for place in range(len(names))]
    shares = [alone(n_rows, one) for one in sets]
    labels = [one[0] if len(one) == 1 else f"+ {one[-1]}" for one in sets]
    parts.chart(
        share_bars(labels, shares, STYLE, "share of the people who are alone"),
        key="lesson-alone",
        caption=f"Of {n_rows:,} people, those whose combination of values nobody else has.",
        alt=f"Bars: {shares[-1]:.1%} of the people are alone with {len(names)} attributes.",
    )
    ask(
        "no attribute alone says much. Why do all of them together?",
        f"Each attribute cuts every crowd into smaller ones: with {sets[0][0]} alone {shares[0]:.1%} of the people are "
        f"alone, with all {len(names)} it is {shares[-1]:.1%}. Crowds shrink by multiplication.",
    )


def crowded(k: int) -> tuple[Microdata, Partition, Reidentification]:
    """The patients in classes of at least k, and what the list with names still tells of them."""
    data = data_of(TABLE)
    partition = Mondrian(requirements=(KAnonymity(k=k),)).anonymize(data).partition
    return data, partition, attacks.reidentification(generalized(data, partition))


def _crowd() -> None:
    st.markdown(
        "The cure: publish job, age and sex so coarsely that **at least k rows look alike**. Rows that look alike are "
        "a *class*. That is k-anonymity."
    )
    k = whole("k", 1, 3, 2, "k", "Fewest rows that must look alike.")
    data, partition, found = crowded(k)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        table(as_published(generalized(data, partition)), f"The patients, {k}-anonymous.")
    with right:
        parts.tiles(
            [
                Tile("Smallest class", f"{found.class_size.min()}", "Fewest rows that look alike."),
                Tile("Largest risk", f"{found.prosecutor.largest:.0%}", "Chance to pick anybody's own row."),
            ]
        )
    ask(
        "what does k promise, and what is its price?",
        f"Whoever looks for a person finds at least {found.class_size.min()} rows that fit, so a guess at the row is "
        f"right with {found.prosecutor.largest:.0%} at most. The price: ages become ranges and jobs become sets. "
        "Whether the *diseases* of those rows differ, k does not ask. That is the next lesson.",
    )


STEPS = (
    Step("Two harmless tables", _tables),
    Step("Three attributes are enough", _three),
    Step("Hide in a crowd: k-anonymity", _crowd),
)
