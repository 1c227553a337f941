"""Memorization: a copy is memorized, other people's rows are not, and rare values count as much as frequent ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata, ParameterError, Release, attacks
from anoncore.algorithms import Mondrian
from anoncore.requirements import KAnonymity
from tests.many_tables import few_and_many
from tests.shared_data import require

ROLES = {"age": "quasi-identifier", "town": "quasi-identifier", "wage": "quasi-identifier", "ill": "sensitive"}


def people(n: int, seed: int) -> pd.DataFrame:
    """Illnesses of which one is frequent and one rare, and which follow from the town with a chance of one half."""
    rng = np.random.default_rng(seed)
    town = rng.choice(["A", "B", "C"], n, p=[0.7, 0.2, 0.1])
    ill = np.where(rng.random(n) < 0.5, town, rng.choice(["A", "B", "C"], n, p=[0.7, 0.2, 0.1]))
    return pd.DataFrame({"age": rng.integers(20, 90, n), "town": town, "wage": rng.integers(1, 9_999, n), "ill": ill})


def raw(data: Microdata) -> Release:
    return Mondrian(requirements=[KAnonymity(k=1)]).anonymize(data)


def test_a_copy_is_memorized_whole() -> None:
    members, others = Microdata(people(800, 0), ROLES).split(control=0.5, seed=0)
    found = attacks.memorization(raw(members), "ill", others)
    assert found.members > 0.97
    assert found.memorized > 0.95
    assert found.memorized_interval[0] > 0.8
    assert float(found.memorized) == pytest.approx(float(found.difference) / (1 - float(found.control)))


def test_crowds_are_memorized_the_less_the_larger_they_are() -> None:
    members, others = Microdata(people(3_000, 1), ROLES).split(control=0.5, seed=0)
    shares = [
        float(
            attacks.memorization(Mondrian(requirements=[KAnonymity(k=k)]).anonymize(members), "ill", others).memorized
        )
        for k in (1, 3, 50)
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < 0.15


def held(seed: int) -> bool:
    """Whether the interval holds 0 for a table of people who are in neither part."""
    mine, theirs = (Microdata(people(300, 10 * seed + place), ROLES) for place in range(2))
    release = Release.from_published(people(400, 10 * seed + 9), original=mine, rows="synthetic")
    low, high = attacks.memorization(release, "ill", theirs).memorized_interval
    return low <= 0 <= high


def test_other_peoples_rows_are_not_memorized_but_tell_of_everybody() -> None:
    assert held(3)


@pytest.mark.slow
def test_intervals_around_other_peoples_rows_hold_zero_as_often_as_they_say() -> None:
    assert sum(held(seed) for seed in range(20)) >= 18


def test_every_value_counts_as_much_as_any_other() -> None:
    """Whoever names the most frequent of three values is right about that one alone, however frequent it is."""
    members, others = Microdata(people(2_000, 4), ROLES).split(control=0.5, seed=0)
    found = attacks.memorization(raw(members), "ill", others, n_queries=10_000)
    assert found.members.baseline == pytest.approx(1 / 3, abs=0.03)
    own, codes = members.frame["ill"].to_numpy(), others.frame["ill"].to_numpy()
    everybody = np.concatenate([own, codes])
    weight = {value: len(everybody) / (everybody == value).sum() for value in "ABC"}
    weights = np.array([weight[value] for value in own])
    assert found.members.baseline == pytest.approx(weights[own == "A"].sum() / weights.sum())


def test_the_marginal_model_is_naive_bayes() -> None:
    """By hand: of three people from A two have the flu; nobody else says anything of B."""
    frame = pd.DataFrame({"town": list("AAAB"), "ill": ["flu", "flu", "gout", "gout"]})
    members = Microdata(frame, {"town": "quasi-identifier", "ill": "sensitive"})
    others = Microdata(
        pd.DataFrame({"town": list("AB"), "ill": ["flu", "gout"]}), {"town": "quasi-identifier", "ill": "sensitive"}
    )
    found = attacks.memorization(raw(members), "ill", others)
    # It says flu of A (3 * 3/4 against 3 * 2/4) and gout of B (3 * 2/4 against 3 * 1/4).
    assert found.adversaries.loc["marginal model", "control"] == 1.0
    # Flu and gout each count for half of it: all of the flu, and one of two with gout.
    flu, gout = 6 / 3, 6 / 3
    right = (2 * flu + gout) / (2 * flu + 2 * gout)
    assert found.adversaries.loc["marginal model", "members"] == pytest.approx(right)


KNOWN = ["town", "trade", "sex"]
FEW_AND_MANY = few_and_many(5)


def random_people(rng: np.random.Generator) -> pd.DataFrame:
    n = int(rng.integers(15, 40))
    frame = pd.DataFrame({name: rng.choice(list("ABCD")[: rng.integers(2, 5)], n) for name in KNOWN})
    return frame.assign(ill=np.where(rng.random(n) < 0.6, frame["town"], rng.choice(list("ABC"), n)))


Row = tuple[str, ...]
"""A person or record: the known values, then the illness."""


def by_naive_bayes(published: list[Row], n_values: list[int], person: Row, illnesses: list[str]) -> str:
    """The illness that the published pairs of a known value and an illness speak for, each with 1 added."""
    scores = []
    for ill in illnesses:
        with_it = [record for record in published if record[-1] == ill]
        score = float(np.log(len(with_it) + 1.0))
        for axis, n in enumerate(n_values):
            alike = sum(record[axis] == person[axis] for record in with_it)
            score += float(np.log((alike + 1) / (len(with_it) + n)))
        scores.append(score)
    return illnesses[int(np.argmax(scores))]


def of_nearest(published: list[Row], person: Row) -> set[str]:
    """The illnesses of the published records that differ from the person in the fewest known values."""
    differ = [sum(mine != its for mine, its in zip(person[:-1], record[:-1], strict=True)) for record in published]
    return {record[-1] for record, n in zip(published, differ, strict=True) if n == min(differ)}


def rows_of(frame: pd.DataFrame) -> list[Row]:
    return list(frame[[*KNOWN, "ill"]].itertuples(index=False, name=None))


@pytest.mark.parametrize("seed", FEW_AND_MANY)
def test_what_is_right_is_that_of_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    published, mine, theirs = (random_people(rng) for _ in range(3))
    roles = dict.fromkeys(KNOWN, "quasi-identifier") | {"ill": "sensitive"}
    # The table holds people whom the release lacks; the adversary learns from the release, and knows which values
    # there are.
    members = Microdata(pd.concat([mine, published], ignore_index=True), roles)
    theirs = theirs[theirs[KNOWN].isin({name: [*members.frame[name]] for name in KNOWN}).all(axis=1)]
    release = Release.from_published(published, original=members, rows="synthetic")
    found = attacks.memorization(release, "ill", Microdata(theirs, roles))
    records, illnesses = rows_of(published), [str(value) for value in members.domain["ill"]]
    n_values = [members.frame[name].nunique() for name in KNOWN]
    sides = {"members": rows_of(members.frame), "control": rows_of(theirs)}
    frequency = Counter(person[-1] for people_of in sides.values() for person in people_of)
    for side, people_of in sides.items():
        whole = sum(1 / frequency[person[-1]] for person in people_of)

        def share(is_right: Callable[[Row], bool], people_of: list[Row] = people_of, whole: float = whole) -> float:
            return sum(1 / frequency[person[-1]] for person in people_of if is_right(person)) / whole

        assert found.adversaries.loc["marginal model", side] == pytest.approx(
            share(lambda person: by_naive_bayes(records, n_values, person, illnesses) == person[-1])
        )
        # Of records that are equally near any may be taken.
        surely = share(lambda person: of_nearest(records, person) == {person[-1]})
        perhaps = share(lambda person: person[-1] in of_nearest(records, person))
        assert surely - 1e-9 <= found.adversaries.loc["nearest record", side] <= perhaps + 1e-9
    left = 1 - float(found.control)
    share = float(found.difference) / left if left > 0 else np.nan
    assert float(found.memorized) == pytest.approx(share, nan_ok=True)


def test_without_people_outside_nothing_is_called_memorized() -> None:
    data = Microdata(people(200, 5), ROLES)
    found = attacks.memorization(Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data), "ill")
    assert np.isnan(float(found.memorized))
    assert any("Without a control part" in note for note in found.notes)


def test_what_is_asked_wrongly_is_refused() -> None:
    data = Microdata(people(60, 6), ROLES)
    with pytest.raises(ParameterError, match="tolerance"):
        attacks.memorization(raw(data), "ill", tolerance=1.5)
    with pytest.raises(ParameterError, match="control part is the released table"):
        attacks.memorization(raw(data), "ill", data)


@pytest.mark.slow
def test_on_adult_a_copy_is_memorized_and_large_classes_are_not() -> None:
    frame = pd.read_csv(require("adult.csv"))
    roles = dict.fromkeys(frame.columns, "quasi-identifier") | {"occupation": "sensitive"}
    members, others = Microdata(frame, roles).split(control=0.3, seed=1)
    shares = {}
    for k in (1, 5, 10, 50):
        found = attacks.memorization(Mondrian(requirements=[KAnonymity(k=k)]).anonymize(members), "occupation", others)
        shares[k] = float(found.memorized)
    assert shares[1] > 0.95
    assert shares[1] > shares[5] > shares[10]
    assert shares[50] < 0.1
