"""Exact values in buckets: slicing, the attack that learns from all groups, and two releases together."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd

from anoncore import Microdata, Partition, Release, attacks, datasets
from anoncore.algorithms import Algorithm, Anatomy, ForegroundSafe, Mondrian
from anoncore.algorithms.slicing.columns import sliced_release
from anoncore.attacks import Composition, ForegroundKnowledge
from anoncore.requirements import DistinctDiversity, KAnonymity
from dashboard.charts.attacks import group_people, person_shares
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
    generalized,
    published,
    say,
    share_chart,
    side_by_side,
    table,
)

TABLE = "slicing-table-1"
SENSITIVE = "disease"
CUTS = {
    "age, sex | zipcode, disease": (("age", "sex"), ("zipcode", "disease")),
    "age, sex, zipcode | disease": (("age", "sex", "zipcode"), ("disease",)),
    "each on its own": (("age",), ("sex",), ("zipcode",), ("disease",)),
}

SLICING = Lesson.named("slicing")


def sliced(cut: str) -> Release:
    """The paper's two buckets, with the columns cut so."""
    return sliced_release(data_of(TABLE), published(TABLE), CUTS[cut])


def row_of(person: str) -> int:
    """The row of a person by age, sex and zip code, such as `22 M 47906`."""
    frame = datasets.table(TABLE).load()
    texts = [f"{age} {sex} {code}" for age, sex, code in zip(frame.age, frame.sex, frame.zipcode, strict=True)]
    return texts.index(person)


@SLICING.step
def _columns(cut: str) -> Question:
    release = sliced(cut)
    columns = enumerate(as_columns(release, "group"), start=1)
    side_by_side(
        ("Original", datasets.table(TABLE).load()), *((f"Column {number}", frame) for number, frame in columns)
    )
    found = attacks.membership(release)
    assert isinstance(found, attacks.Membership)
    figures(
        ("Real rows", f"{len(set(map(tuple, datasets.table(TABLE).load().to_numpy())))}", "Of the table."),
        ("Invented rows", f"{float(found.fake):,.0f}", "Combinations that fit a group but are not real."),
        columns=3,
    )
    return (
        "what can still be read exactly, and what not?",
        "Every single value, and values in one column together: with the first cut, which zip code has which disease. "
        f"What lies in different columns is linked by the group only: {float(found.fake):,.0f} more combinations "
        "fit as well as the real rows.",
    )


@SLICING.step
def _buckets(person: str) -> Question:
    row = row_of(person)
    release = sliced("age, sex | zipcode, disease")
    found = attacks.matching_buckets(release, SENSITIVE, row)
    names = {"column 1": "share with age, sex", "column 2": "share with zipcode", "f": "product", "p": "chance"}
    shown = found.buckets.rename(columns=names).reset_index(names="group")
    shown["group"] += 1
    table(shown, "The matching buckets.")
    say("Product: the shares multiplied. Chance: the group's part of all products.")
    values = found.values.reset_index(names="group")
    values["group"] += 1
    table(values, "Shares of the diseases among the rows that match.")
    say("Which diseases go with the person's zip code in that group, by share.")
    figures(("Matching buckets", f"{len(found.buckets)}", "Groups in which the person may be."), columns=3)
    first = attacks.matching_buckets(release, SENSITIVE, 0)
    return (
        "which diseases can the first person (22, M, 47906) have?",
        f"This person matches {len(first.buckets)} group. There their zip code goes with "
        + " and ".join(f"{name} ({share:.0%})" for name, share in first.probability.items() if share > 0)
        + ". Age and sex say no more: they are in another column.",
    )


@SLICING.step
def _belief(cut: str, person: str) -> Question:
    row = row_of(person)
    release = sliced(cut)
    found = attacks.matching_buckets(release, SENSITIVE, row)
    domain = release.data.domain[SENSITIVE]
    everyone = attacks.attribute_disclosure(release, SENSITIVE)
    belief = found.probability.reindex(domain.texts).to_numpy()
    left, right = beside(3, 2)
    with left:
        bars = person_shares(domain, belief, everyone.baseline, STYLE)
        bars.data[1].name = "this person"
        chart(
            bars,
            "belief",
            "Blue: what the attacker believes of this person. Grey: what they would guess from the table.",
            f"Bars of the belief in each disease, at most {belief.max():.0%}.",
        )
    with right:
        figures(
            ("This person", f"{belief.max():.0%}", "The belief in the likeliest disease."),
            ("Anybody", f"{float(everyone.largest):.0%}", "The largest belief about any of the eight people."),
        )
    best = {one: float(attacks.attribute_disclosure(sliced(one), SENSITIVE).largest) for one in CUTS}
    return (
        "is anybody believed to have a disease with more than one half?",
        f"With this cut the largest belief is {float(everyone.largest):.0%}. "
        + "; ".join(f"{one}: {share:.0%}" for one, share in best.items())
        + ". At most 1/l is called l-diversity: the first cut is 2-diverse and keeps zip code and "
        "disease together, which generalization would have blurred.",
    )


KINDS = "foreground-table-8"
STORY = "foreground-table-1"
GROUP = ("s1", "s1", "s2", "s2")
WITH_X = 2
EVERY_ROW_COUNTS = 0.9
"""An error so large that the attacker relies on every signature; the tables have a handful of rows."""

WORLDS = Lesson.named("worlds")


def bucketized(name: str) -> Release:
    """The paper's groups: the quasi-identifier in one table, the sensitive attribute in another."""
    data = data_of(name)
    return sliced_release(data, published(name), (data.quasi_identifiers, data.sensitive))


def attacked(release: Release) -> ForegroundKnowledge:
    """What the attack finds in a small release."""
    return attacks.foreground_knowledge(release, release.data.sensitive[0], epsilon=EVERY_ROW_COUNTS)


def _two_tables(release: Release, marked: int = 0) -> None:
    known, secret = as_columns(release, "group")
    side_by_side(
        *(
            (title, frame, np.flatnonzero(frame["group"] == marked))
            for title, frame in (("Who", known), ("What", secret))
        )
    )


@WORLDS.step
def _story() -> Question:
    release = bucketized(STORY)
    _two_tables(release, 1)
    view = attacked(release).group(release, 0, value="Heart Disease")
    japanese = int((release.data.frame["nationality"] == "Japanese").sum())
    figures(
        ("Alex, by group 1 alone", f"{view.without_attack:.0%}", "Chance of heart disease: 1 of 2 people."),
        ("Alex, by all groups", f"{view.probability[0]:.0%}", "Chance of heart disease with the attack."),
        columns=3,
    )
    return (
        "group 1 has flu and heart disease. Who of the two has which?",
        f"By group 1 alone it is {view.without_attack:.0%}. But look at the other groups: {japanese} of the six "
        "people are Japanese, and wherever Japanese are without an American, there is no heart disease. So the "
        f"Japanese in group 1 most likely has flu, and Alex heart disease: {view.probability[0]:.0%}. Nothing but "
        "the release was needed.",
    )


@WORLDS.step
def _learned(group: int) -> Question:
    group -= 1
    release = bucketized(KINDS)
    _two_tables(release)
    found = attacked(release)
    shares = found.distribution(release)
    left, right = beside()
    with left:
        share_chart(
            shares["signature"].tolist(),
            shares["learned"].to_numpy(),
            "share with x, as learned",
            "learned",
            "The shares under which every group is expected to have as many x as are published.",
        )
    with right:
        view = found.group(release, group)
        people = group_people(view, found.r, STYLE)
        people.update_xaxes(title="chance of x")
        chart(
            people,
            "people",
            "Chance of x for each person of the group. Dotted: by the group alone. A star: really has x.",
            f"Bars of the chance of x, up to {view.probability.max():.0%}.",
        )
    return (
        "who has x in group 1, and how do you know?",
        f"s1 has x with {shares['learned'].iloc[0]:.0%}, s2 with {shares['learned'].iloc[1]:.0%}: group 2 has only "
        "s1 and one x, group 3 has only s2 and none. So in group 1 it must be the s1: "
        f"{found.group(release, 0).probability[0]:.0%} instead of {found.group(release, 0).without_attack:.0%}. A "
        "release tells about everybody at once: that is **foreground knowledge**.",
    )


@WORLDS.step
def _weighed(first: float, second: float) -> Question:
    worlds = attacks.possible_worlds((first, first, second, second), WITH_X)
    frame = pd.DataFrame(
        np.where(worlds.has_value, "x", "·"), columns=[f"t{n} ({s})" for n, s in enumerate(GROUP, start=1)]
    ).assign(weight=worlds.weight, chance=worlds.share)
    left, right = beside(3, 2)
    with left:
        table(frame, "The possible worlds with their weights.", [int(np.argmax(worlds.share))])
        say(f"Chance: the weight as a part of all {worlds.weight.sum():.4f}.")
    with right:
        share_chart(
            list(frame.columns[:4]),
            worlds.probability,
            "chance of x",
            "worlds",
            "Of each person: the chances of the worlds in which they have x, added up.",
        )
    return (
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


@WORLDS.step
def _safe(method: str) -> Question:
    release = regrouped(method)
    _two_tables(release)
    found = attacked(release)
    figures(
        ("Largest chance of x", f"{found.breach_probability.max():.0%}", "Of anybody, with the attack."),
        ("By the groups alone", f"{found.without_attack.max():.0%}", "What it should be at most."),
        columns=3,
    )
    before, after = (attacked(regrouped(one)).breach_probability.max() for one in (Anatomy.title, ForegroundSafe.title))
    return (
        "what does the attack still learn with ForegroundSafe?",
        "It still learns how often each kind has x. But inside a group all are of one kind, so that no longer "
        f"tells them apart: nobody's chance of x is above {after:.0%}, against {before:.0%} by Anatomy. Rows and "
        "values are the same; only who is grouped with whom has changed.",
    )


CENSUS = ("sex", "age", "education")
SECRET = "diagnosis"
PATIENTS = ("Ann", "Ben", "Cleo", "Dora", "Emil", "Finn", "Gus", "Hana")
FIRST = {"Ann": 0, "Ben": 0, "Cleo": 0, "Dora": 1, "Emil": 1, "Finn": 1}
SECOND = {"Cleo": 0, "Dora": 0, "Hana": 0, "Emil": 1, "Finn": 1, "Gus": 1}
"""The patients of each hospital, and the class that it publishes each of them in."""

HOSPITALS = Lesson.named("hospitals")


def hospital(classes: dict[str, int]) -> Release:
    """What a hospital publishes of its patients; the rows are labelled with their names."""
    data = data_of(TABLE)
    frame = data.frame.set_axis(list(PATIENTS), axis=0).loc[list(classes)]
    return generalized(Microdata(frame, data.roles), Partition(np.array(list(classes.values()), dtype=np.int32)))


def both() -> Composition:
    """The two hospitals side by side."""
    return attacks.composition([hospital(FIRST), hospital(SECOND)], "disease", l=2)


@HOSPITALS.step
def _two(name: str) -> Question:
    found = both()
    place = list(found.people).index(name)
    releases = [(classes[name] + 1, as_published(hospital(classes))) for classes in (FIRST, SECOND)]
    side_by_side(
        *(
            (f"The {title} hospital", shown, np.flatnonzero(shown["group"] == group))
            for title, (group, shown) in zip(("first", "second"), releases, strict=True)
        )
    )
    values = [str(value) for value in found.values]
    texts = [", ".join(value for value, p in zip(values, one[place], strict=True) if p > 0) for one in found.alone]
    together = [value for value, p in zip(values, found.belief[place], strict=True) if p > 0]
    figures(
        ("First hospital alone", f"{found.possible_alone[0, place]}", "Possible diseases.", texts[0]),
        ("Second hospital alone", f"{found.possible_alone[1, place]}", "Possible diseases.", texts[1]),
        ("Both", f"{found.possible[place]}", "Diseases that both allow.", ", ".join(together)),
    )
    certain = [str(one) for one, possible in zip(found.people, found.possible, strict=True) if possible == 1]
    return (
        "whose disease is known for certain, though each hospital keeps two possible?",
        f"{' and '.join(certain)}. A disease that one of the hospitals rules out is ruled out; what is left is what "
        "the two groups have in common. Neither hospital made a mistake, and neither knew of the other.",
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


@HOSPITALS.step
def _many(k: int, l: int, shared: int) -> Question:
    found = overlapping(k, l, shared)
    alone = float(found.few.baseline or 0)
    share_chart(
        ["one release alone", "both together"],
        [alone, float(found.few)],
        f"people with fewer than {l} left",
        "hospitals",
        f"Of the {len(found.people):,} people in both samples, those with fewer than {l} possible diagnoses.",
    )
    return (
        "each release promises l. What do both together promise?",
        "Nothing. l is promised for each group alone. A person's two groups hold other people, hence other "
        f"diagnoses; only what both contain is possible: {float(found.few):.1%} of these people fall below {l}. "
        "Larger groups contain more diagnoses and so have more in common; where nobody falls below l, the table was "
        "kind, for no k or l of one release promises anything about two.",
    )
