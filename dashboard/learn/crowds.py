"""Crowds: linking and k-anonymity, and what a crowd of equals gives away: l-diversity, similarity and skewness with
t-closeness, and the earth mover's distance by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from anoncore import Microdata, Partition, Release, attacks, datasets, privacy
from anoncore.algorithms import Mondrian
from anoncore.algorithms.slicing.columns import sliced_release
from anoncore.attacks import Reidentification
from anoncore.privacy import Transport
from anoncore.requirements import DistinctDiversity, KAnonymity, TCloseness
from dashboard.charts.groups import along_order, from_surplus_to_lack, through_tree
from dashboard.learn.lesson_parts import (
    STYLE,
    Lesson,
    Question,
    as_in_paper,
    as_published,
    ask_for,
    beside,
    chart,
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


TABLE = "t-closeness-table-2.10"
SALARY = "salary"
PEOPLE, CLASS, POSITIVE = 1_000, 20, 20
"""The made-up test: people in all, in the class that is looked at, and with a positive result in all."""

CLOSENESS = Lesson.named("closeness")


@CLOSENESS.step
def _similar(group: int) -> Question:
    group -= 1
    release = as_in_paper(TABLE)
    (check,) = DistinctDiversity(l=3, attribute=SALARY).checks(release.data)
    levels = check.levels(release.partition)
    left, right = beside(3, 2)
    with left:
        frame = as_published(release)
        table(frame, "The people in three groups.", np.flatnonzero(frame["group"] == group + 1).tolist())
        figures(("Different salaries", f"{levels[group]:.0f}", "In this group: what l-diversity counts."))
    with right:
        class_chart(release, SALARY, group, "similar-shares")
    salaries = release.data.domain[SALARY].positions[release.data.codes[SALARY]]
    first = salaries[release.partition.rows(0)]
    return (
        "what do you know of everybody in group 1?",
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


@CLOSENESS.step
def _skewed(positive: int) -> Question:
    release = tested(positive)
    found = attacks.sensitive_posterior(release, "result")
    code = release.data.domain["result"].code_of("positive")
    before = float((release.data.codes["result"] == code).mean())
    after = float(np.asarray(found)[0, code])
    class_chart(release, "result", 0, "skewed-shares")
    figures(
        ("Belief before", f"{before:.0%}", "Positive, for anybody: the share in the table."),
        ("Belief after", f"{after:.0%}", "Positive, for anybody in this group."),
        ("Times as likely", f"{after / before:.0f}", "Belief after divided by belief before."),
        columns=3,
    )
    return (
        "both results occur. Is anything wrong?",
        f"Everybody in the group was positive with {before:.0%}; after reading the release it is {after:.0%}, "
        f"{after / before:.0f} times as much. This is the **skewness attack**: the group is far from the table. "
        "Diversity is blind to it, with 19 positive people as with 1.",
    )


def close(t: float) -> Partition:
    """The people in classes of at least two rows whose salaries are t-close to the table's."""
    requirements = (KAnonymity(k=2), TCloseness(t=t, ground="ordered", attribute=SALARY))
    return Mondrian(requirements=requirements).anonymize(data_of(TABLE, ("age",))).partition


@CLOSENESS.step
def _close(t: float) -> Question:
    release = generalized(data_of(TABLE, ("age",)), close(t))
    distances = privacy.emd(release, SALARY, "ordered")
    before = privacy.emd(as_in_paper(TABLE), SALARY, "ordered")
    left, right = beside(3, 2)
    with left:
        table(as_published(release), f"The people in groups within {t:g} of the table.")
    with right:
        table(
            pd.DataFrame(
                {"group": np.arange(len(distances)) + 1, "rows": release.partition.sizes, "distance": distances}
            ),
            "Distance of each group from the table.",
        )
        figures(
            ("Groups", f"{len(distances)}", "More groups: finer values."),
            ("Largest", f"{distances.max():.3f}", "Of any group from the table; at most t."),
        )
    return (
        "what happens to the groups when t gets smaller?",
        f"With t = {t:g} there are {len(distances)}, the farthest {distances.max():.3f} from the table. The group of "
        f"the badly paid in the first step is {before[0]:.3f} away: below that, its like cannot be published. Rows "
        "must be mixed with better paid ones until knowing the group tells hardly more than knowing the table. The "
        "price is coarser ages.",
    )


LEVELS = ("low", "middle", "high")

MOVING = Lesson.named("moving")


def moves(plan: Transport) -> pd.DataFrame:
    """The moves of a plan: from, to, the mass, how far, and the work."""
    return pd.DataFrame(
        {
            "from": [plan.values[code] for code in plan.source],
            "to": [plan.values[code] for code in plan.target],
            "mass": plan.mass,
            "distance": plan.distance,
            "work": plan.mass * plan.distance,
        }
    )


def three_levels(counts: tuple[int, int, int]) -> Release:
    """A class with so many rows of each level, and nine others with three rows of each."""
    levels = np.repeat(LEVELS, counts).tolist() + list(LEVELS) * 3
    frame = pd.DataFrame({"age": np.arange(len(levels)), "level": levels})
    roles = {"age": "quasi-identifier", "level": "sensitive"}
    data = Microdata(frame, roles, kinds={"level": "ordinal"}, orders={"level": LEVELS})
    return generalized(data, Partition((np.arange(len(levels)) >= sum(counts)).astype(np.int32)))


@MOVING.step
def _heaps(low: int, middle: int, high: int) -> Question:
    if low + middle + high == 0:
        ask_for("Give the group at least one row.")
    plan = privacy.transport(three_levels((low, middle, high)), "level", 0)
    left, right = beside(5, 4)
    with left:
        chart(
            along_order(plan, STYLE, "the group"),
            "heaps",
            "Above: shares in the group and in the table, which holds the group and nine more rows, three of "
            "each level. Below: how much earth crosses from one level to the next.",
            f"Two distributions over three levels, {plan.cost:.3f} apart.",
        )
    with right:
        table(moves(plan), "The moves.")
        figures(("Distance (EMD)", f"{plan.cost:.3f}", "The sum of the work of all moves."))
        say("Work = mass × distance. From low to high is the whole way, 1; to the neighbour it is half of it.")
    return (
        "when is the distance 0, and when is it largest?",
        f"Now it is {plan.cost:.3f}. It is 0 when the group has as many of each level as the table, say 2, 2 and "
        "2; it is largest when all rows sit at one end, because then earth must go the whole way. This is the "
        "**earth mover's distance**, EMD.",
    )


@MOVING.step
def _salaries(group: int) -> Question:
    group -= 1
    plan = privacy.transport(as_in_paper(TABLE), "salary", group)
    chart(
        along_order(plan, STYLE, f"group {group + 1}"),
        "salaries",
        "Above: shares in the group and in the table. Below: earth that crosses between neighbours.",
        f"Two distributions over nine salaries, {plan.cost:.3f} apart.",
    )
    costs = [privacy.transport(as_in_paper(TABLE), "salary", other).cost for other in range(3)]
    figures(
        *(
            (f"Group {other}", f"{cost:.3f}", "Earth mover's distance from the table.")
            for other, cost in enumerate(costs, start=1)
        )
    )
    return (
        "all three groups have three different salaries. Why are their distances so different?",
        f"Group 1 has the three lowest, so all its earth must travel up: {costs[0]:.3f}. Group 2 is spread over "
        f"the whole range, so earth goes to near neighbours only: {costs[1]:.3f}.",
    )


@MOVING.step
def _grounds(ground: Literal["equal", "hierarchical"], group: int) -> Question:
    group -= 1
    plan = privacy.transport(as_in_paper(TABLE), "disease", group, ground)
    draw = from_surplus_to_lack if ground == "equal" else through_tree
    chart(
        draw(plan, STYLE, f"group {group + 1}"),
        "grounds",
        "Bars: shares in the group and in the table (grey). Beside them: the mass that moves.",
        f"Two distributions over diseases, {plan.cost:.3f} apart.",
    )
    left, right = beside(3, 2)
    with left:
        table(moves(plan), "The moves.")
    with right:
        figures(("Distance (EMD)", f"{plan.cost:.3f}", "The sum of the work of all moves."))
    equal = [privacy.emd(as_in_paper(TABLE), "disease", "equal")[one] for one in range(3)]
    tree = [privacy.emd(as_in_paper(TABLE), "disease", "hierarchical")[one] for one in range(3)]
    return (
        "which of the two notices that group 1 has stomach diseases only?",
        f"Equal does not: it gives {equal[0]:.3f} to group 1 and {equal[2]:.3f} to group 3, though group 1 has three "
        f"stomach diseases and group 3 is mixed. Hierarchical gives {tree[0]:.3f} and {tree[2]:.3f}: earth that stays "
        "inside the stomach is cheap, earth that must go to the lungs is not.",
    )
