"""Memorization: a copy is memorized, other people's rows are not, and rare values count as much as frequent ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata, ParameterError, Release, attacks
from anoncore.algorithms import Mondrian
from anoncore.requirements import KAnonymity
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
