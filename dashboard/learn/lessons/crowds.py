"""Crowds: linking and k-anonymity, and what a crowd of equals gives away: l-diversity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from anoncore import Microdata, Partition, attacks, datasets
from anoncore.algorithms import Mondrian
from anoncore.algorithms.slicing.columns import sliced_release
from anoncore.attacks import Reidentification
from anoncore.requirements import DistinctDiversity, KAnonymity
from dashboard.learn.lessons.board import (
    Lesson,
    Question,
    as_in_paper,
    as_published,
    ask_for,
    beside,
    class_chart,
    data_of,
    figures,
    generalized,
    say,
    share_chart,
    side_by_side,
    table,
)

PATIENTS = "t-closeness-table-2.7"
LIST = "t-closeness-table-2.6"
KNOWN = ("job", "age", "sex")
CENSUS = ("sex", "age", "income")

LINKING = Lesson.named("linking")


def linked() -> Reidentification:
    """The patients as they are, against the list with names."""
    data = data_of(PATIENTS)
    release = sliced_release(data, Partition(np.arange(data.n_rows, dtype=np.int32)), [data.attributes])
    return attacks.reidentification(release, population=data_of(LIST))


@LINKING.step
def _tables(patient: str) -> Question:
    patients, people = datasets.table(PATIENTS).load(), datasets.table(LIST).load()
    keys = list(map(tuple, people[list(KNOWN)].to_numpy()))
    listed = [row for row, key in enumerate(map(tuple, patients[list(KNOWN)].to_numpy())) if key in keys]
    texts = {row: f"{patients.job[row]}, {patients.age[row]}, {patients.sex[row]}" for row in listed}
    row = next(row for row, text in texts.items() if text == patient)
    fitting = [place for place, key in enumerate(keys) if key == tuple(patients.loc[row, list(KNOWN)])]
    side_by_side(("The published patients", patients, [row]), ("The public list with names", people, fitting))
    found = linked()
    sizes = found.population_size
    figures(
        ("People who fit", f"{sizes[row]}", "People on the list with the patient's job, age and sex."),
        ("Chance of the right name", f"{1 / sizes[row]:.0%}", "One divided by the people who fit."),
        columns=3,
    )
    named = {key: place for place, key in enumerate(keys)}
    certain = [
        f"{people.name[named[tuple(patients.loc[one, list(KNOWN)])]]} has {patients.disease[one].lower()}"
        for one in listed
        if sizes[one] == 1
    ]
    return (
        "whose disease is now known for certain?",
        f"{' and '.join(certain)}: only one person on the list fits. No name was published, but job, age and sex "
        "together work like one. Attributes that somebody else may know of a person are called **quasi-identifiers**.",
    )


def alone(n_rows: int, names: tuple[str, ...]) -> float:
    """Share of the people of the census-like table who are alone with their values of these attributes."""
    data = data_of("census", names, n_rows)
    release = sliced_release(data, Partition(np.arange(n_rows, dtype=np.int32)), [data.attributes])
    return float((attacks.reidentification(release).class_size == 1).mean())


@LINKING.step
def _three(names: Sequence[str], n_rows: int) -> Question:
    if not names:
        ask_for("Choose at least one attribute.")
    sets = [tuple(names[: place + 1]) for place in range(len(names))]
    shares = [alone(n_rows, one) for one in sets]
    labels = [one[0] if len(one) == 1 else f"+ {one[-1]}" for one in sets]
    share_chart(
        labels,
        shares,
        "share of the people who are alone",
        "alone",
        f"Of {n_rows:,} people, those whose combination of values nobody else has.",
    )
    return (
        "no attribute alone says much. Why do all of them together?",
        f"Each attribute cuts every crowd into smaller ones: with {sets[0][0]} alone {shares[0]:.1%} of the people are "
        f"alone, with all {len(names)} it is {shares[-1]:.1%}. Crowds shrink by multiplication.",
    )


def crowded(k: int) -> tuple[Microdata, Partition, Reidentification]:
    """The patients in classes of at least k, and what the list with names still tells of them."""
    data = data_of(PATIENTS)
    partition = Mondrian(requirements=(KAnonymity(k=k),)).anonymize(data).partition
    return data, partition, attacks.reidentification(generalized(data, partition))


@LINKING.step
def _crowd(k: int) -> Question:
    data, partition, found = crowded(k)
    left, right = beside(3, 2)
    with left:
        table(as_published(generalized(data, partition)), f"The patients, {k}-anonymous.")
    with right:
        figures(
            ("Smallest group", f"{found.class_size.min()}", "Fewest rows that look alike."),
            ("Largest risk", f"{found.prosecutor.largest:.0%}", "Chance to pick anybody's own row."),
        )
    return (
        "what does k promise, and what is its price?",
        f"Whoever looks for a person finds at least {found.class_size.min()} rows that fit, so a guess at the row is "
        f"right with {found.prosecutor.largest:.0%} at most. The price: ages become ranges and jobs become sets. "
        "Whether the *diseases* of those rows differ, k does not ask. That is the next lesson.",
    )


IN_CLASSES = "t-closeness-table-2.8"
SENSITIVE = "disease"
SHORT = ("age", "sex")
"""What the last step publishes of each patient."""

DIVERSITY = Lesson.named("diversity")


@DIVERSITY.step
def _alike(group: int) -> Question:
    group -= 1
    release = as_in_paper(IN_CLASSES)
    left, right = beside(3, 2)
    with left:
        frame = as_published(release)
        table(frame, "The patients in three groups.", np.flatnonzero(frame["group"] == group + 1).tolist())
    with right:
        class_chart(release, SENSITIVE, group, "alike-shares")
    belief = attacks.attribute_disclosure(release, SENSITIVE).belief[release.partition.rows(group)].max()
    figures(
        ("Rows that fit", f"{release.partition.sizes[group]}", "The crowd: rows that look alike."),
        ("Largest belief", f"{belief:.0%}", "How sure the attacker is of somebody's disease."),
        columns=3,
    )
    everyone = attacks.attribute_disclosure(release, SENSITIVE).belief[release.partition.rows(0)].max()
    return (
        "what does the neighbour have?",
        f"He is in group 1, where everybody has heart disease: you are {everyone:.0%} sure. You do not need to know "
        "which row is his. This is the **homogeneity attack**: a crowd does not help if all in it are alike.",
    )


def with_background(chance: float, other: float) -> np.ndarray:
    """p(heart disease) of each person of class 3; the first is known to have it with `chance`, the others `other`."""
    release = as_in_paper(IN_CLASSES)
    rows = release.partition.rows(2)
    texts = release.data.domain[SENSITIVE].texts[release.data.codes[SENSITIVE][rows]]
    return attacks.group_probabilities([chance, other, other], int((texts == "Heart Disease").sum()))


@DIVERSITY.step
def _background(rare: float, usual: float) -> Question:
    found = with_background(rare, usual)
    frame = pd.DataFrame(
        {
            "person": ["she", "second", "third"],
            "heart disease, before": [rare, usual, usual],
            "heart disease, after": found,
            "fever, after": 1 - found,
        }
    )
    left, right = beside(3, 2)
    with left:
        table(frame, "Chances before and after the attacker reads group 3.", [0])
        say(
            "One of the three has heart disease; the attacker weighs which. Chances after are those of the possible "
            "ways to hand the three diseases to three people."
        )
    with right:
        figures(("She has fever", f"{1 - found[0]:.1%}", "The attacker's belief after reading group 3."))
    return (
        "how sure is the attacker of fever, and what if they knew nothing?",
        f"With what they know: {1 - found[0]:.1%}. If all three were alike to them it would be "
        f"{1 - with_background(0.3, 0.3)[0]:.0%}. This is the **background knowledge attack**: ruling out one value "
        "leaves the others. The fewer values a group has, the fewer must be ruled out.",
    )


def diverse(l: int) -> Partition:
    """The patients in classes of at least two rows and at least l diseases."""
    requirements = (KAnonymity(k=2), DistinctDiversity(l=l))
    return Mondrian(requirements=requirements).anonymize(data_of(IN_CLASSES, SHORT)).partition


@DIVERSITY.step
def _diverse(l: int) -> Question:
    release = generalized(data_of(IN_CLASSES, SHORT), diverse(l))
    left, right = beside(3, 2)
    with left:
        table(as_published(release), f"The patients in groups of at least {l} diseases.")
    (check,) = DistinctDiversity(l=l).checks(release.data)
    levels = check.levels(release.partition)
    belief = attacks.attribute_disclosure(release, SENSITIVE).largest
    with right:
        figures(
            ("Groups", f"{release.partition.n_groups}", "More groups: finer values."),
            ("Fewest diseases", f"{levels.min():.0f}", "Different diseases in the poorest group."),
        )
        figures(("Largest belief", f"{belief:.0%}", "How sure the attacker can be of anybody's disease."))
    return (
        "from which l on is nobody in a group where all are alike?",
        f"From l = 2 on. With l = {l} the poorest group has {levels.min():.0f} different, and the attacker is sure "
        f"of somebody's disease with {belief:.0%} at most."
        + (" With l = 1 nothing is asked for, and the attack works: raise l." if l == 1 else "")
        + " What it does not see: whether the different values **mean** the same. That is the next lesson.",
    )
