"""The first answer from what few groups teach: the same attack where all of them do, and an interval that holds."""

from __future__ import annotations

import re
import threading

import numpy as np
import pandas as pd
import pytest

from anoncore import CancelledError, Microdata, attacks
from anoncore.algorithms import Anatomy, Mondrian, StackAndDeal
from anoncore.attacks.foreground import chosen_epsilon, first_answer, mining, sampled_groups, solver
from anoncore.attacks.foreground.mining import Target, attack_sets
from anoncore.attacks.foreground.sampled_groups import Lesson, OfSomeRows, control_of_all, with_more_groups
from anoncore.attacks.foreground.sets import signatures_of
from anoncore.attacks.foreground.solver import FULL
from anoncore.requirements import KAnonymity
from tests.attacks.test_foreground_sets import KNOWN, people, release_of
from tests.privacy.releases import sliced


def two(target: Target) -> tuple[np.ndarray, np.ndarray]:
    """Whether each group is an even one, and an odd one."""
    even = np.arange(target.partition.n_groups) % 2 == 0
    return even, ~even


@pytest.mark.parametrize("names", [["a"], ["b", "d"], ["a", "c", "e"]])
def test_where_all_groups_teach_it_is_the_attack(names: list[str]) -> None:
    release = release_of(1)
    target, signatures = Target.of(release, "ill"), signatures_of(release.data, names, 40)
    assert signatures is not None
    whole = target.attacked(signatures, 0.5, "fixed-point", FULL)
    every = np.ones(release.partition.n_groups, dtype=bool)
    lesson = Lesson.of(target, every, every)
    assert lesson.attacked(signatures, 0.5, "fixed-point", FULL).beliefs.own.tolist() == whole.beliefs.own.tolist()
    rows = OfSomeRows(target, np.arange(release.data.n_rows))
    assert rows.attacked(signatures, 0.5, "fixed-point", FULL).beliefs.own.tolist() == whole.beliefs.own.tolist()


@pytest.mark.parametrize("names", [["a"], ["b", "d"], ["a", "c", "e"]])
def test_values_that_are_solved_one_after_the_other_are_solved_alike(names, monkeypatch: pytest.MonkeyPatch) -> None:
    release = release_of(1)
    target, signatures = Target.of(release, "ill"), signatures_of(release.data, names, 40)
    together = target.attacked(signatures, 0.5, "fixed-point", FULL)
    monkeypatch.setattr(solver, "LONG", 0)
    in_turn = target.attacked(signatures, 0.5, "fixed-point", FULL)
    assert in_turn.beliefs.own.tolist() == together.beliefs.own.tolist()
    assert in_turn.work == together.work
    assert in_turn.leak().learned.tolist() == together.leak().learned.tolist()


def test_an_attack_that_is_cancelled_solves_no_further_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large table one attribute set takes ten seconds on each processor, which somebody else waits for."""
    monkeypatch.setattr(solver, "LONG", 0)
    release, solved, followed = release_of(1), [], solver._followed
    target, signatures = Target.of(release, "ill"), signatures_of(release.data, ["a"], 40)
    begun, go_on = threading.Event(), threading.Event()

    def held(*asked):
        solved.append(asked[3].tolist())
        begun.set()
        assert go_on.wait(60)
        return followed(*asked)

    def sets():
        yield 0.5, signatures
        assert begun.wait(60)
        threading.Timer(0.3, go_on.set).start()
        raise CancelledError("Nobody waits any more.")

    monkeypatch.setattr(solver, "_followed", held)
    with pytest.raises(CancelledError):
        next(attack_sets(sets(), [target], 0.5, "fixed-point"))
    assert target.n_values > 1
    assert solved == [[0]]


def test_an_attack_is_cancelled_while_it_waits_for_an_attribute_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is reported until a set is done, which may take ten seconds."""
    release, begun, go_on, later = release_of(1), threading.Event(), threading.Event(), []
    target, signatures = Target.of(release, "ill"), signatures_of(release.data, ["a"], 40)
    counted = mining.compositions

    def held(*asked):
        begun.set()
        assert go_on.wait(60)
        return counted(*asked)

    def still():
        assert begun.wait(60)
        threading.Timer(0.3, go_on.set).start()
        raise CancelledError("Nobody waits any more.")

    monkeypatch.setattr(mining, "compositions", held)
    monkeypatch.setattr(mining, "cases_of", lambda *asked: later.append("cases"))
    with pytest.raises(CancelledError):
        next(attack_sets([(1.0, signatures)], [target], 0.5, "fixed-point", still=still))
    assert later == [], "the set is not worked at further"


def test_those_who_are_attacked_do_not_teach() -> None:
    """What the even groups teach is the same whoever is attacked, and each person is believed as in the whole."""
    release = release_of(2)
    target, signatures = Target.of(release, "ill"), signatures_of(release.data, ["a", "b"], 40)
    assert signatures is not None
    even, odd = two(target)
    believed = np.full(release.data.n_rows, np.nan)
    for count in (even, odd):
        lesson = Lesson.of(target, even, count)
        assert set(release.partition.group[lesson.rows]) == set(np.flatnonzero(count))
        believed[lesson.rows] = lesson.attacked(signatures, 0.5, "fixed-point", FULL).beliefs.own
    all_groups = Lesson.of(target, even, even | odd)
    found = all_groups.attacked(signatures, 0.5, "fixed-point", FULL).beliefs.own
    assert believed[all_groups.rows].tolist() == found.tolist()
    # With the groups the other way round something else is learned.
    other = Lesson.of(target, odd, even | odd).attacked(signatures, 0.5, "fixed-point", FULL).beliefs.own
    assert np.abs(other - found).max() > 0.01


def test_a_value_that_nobody_has_who_teaches_is_no_error() -> None:
    """All people with x are in the last group, so that its people are believed alike."""
    frame = pd.DataFrame({"a": list("uv") * 10, "s": ["y"] * 16 + ["x", "x", "y", "y"]})
    data = Microdata(frame, roles={"a": "quasi-identifier", "s": "sensitive"})
    release = sliced(data, [row // 4 for row in range(20)], [["a"], ["s"]])
    target, signatures = Target.of(release, "s"), signatures_of(data, ["a"], 2)
    assert signatures is not None
    last = np.arange(5) == 4
    found = Lesson.of(target, ~last, last).attacked(signatures, 0.5, "fixed-point", FULL)
    assert found.beliefs.own[:2] == pytest.approx([0.5, 0.5])


def test_a_share_that_falls_by_a_factor_goes_on_to_do_so() -> None:
    """Half of it with two times the groups; 2^0.7 - 1 = 0.6245, and 0.2 * 0.5^(1 / 0.6245) = 0.0659."""
    assert with_more_groups(0.4, 0.2, 2) == pytest.approx(0.0659, abs=1e-4)
    assert with_more_groups(0.2, 0.2, 2) == 0.2
    assert with_more_groups(0.1, 0.2, 2) == 0.2
    assert with_more_groups(0.0, 0.0, 2) == 0.0


def test_a_control_falls_as_the_error_of_a_mean() -> None:
    """With four times the groups half of the noise is left: what it fell by is what is left of it."""
    assert control_of_all(0.5, 0.3, 4) == pytest.approx(0.1)
    assert control_of_all(0.9, 0.3, 4) == 0.0
    assert control_of_all(0.2, 0.3, 4) == 0.3


@pytest.fixture
def costly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a table of some thousand rows be one with which the adversary can afford nothing but the fewest sets."""
    monkeypatch.setattr(chosen_epsilon, "EFFORT", 1_000)
    monkeypatch.setattr(chosen_epsilon, "TRIAL_EFFORT", 0)
    monkeypatch.setattr(chosen_epsilon, "EPSILONS", (0.05, 0.1))
    monkeypatch.setattr(first_answer, "SAMPLED_ROWS", 6_000)
    monkeypatch.setattr(sampled_groups, "FEW", 8)
    monkeypatch.setattr(sampled_groups, "MOST_WORK", 2_000_000)


@pytest.mark.slow
def test_the_interval_holds_the_exact_number(costly: None) -> None:
    held, width = [], []
    for seed in range(3):
        data = people(seed, 18_000)
        for method in (Mondrian(requirements=[KAnonymity(k=6)]), StackAndDeal(k=8, seed=seed), Anatomy(l=2, seed=seed)):
            release = method.anonymize(data)
            exact = attacks.foreground_knowledge(release, "ill", draws=1, seed=seed)
            for r in (2.0, 3.0):
                found = attacks.foreground_knowledge_estimate(release, "ill", r, seed=seed)
                assert re.search(r", on [1-6],\d{3} of 18,000 rows$", found.how)
                assert (found.epsilon, found.n_sets) == (exact.epsilon, exact.n_sets) == (0.05, 12)
                assert found.too_costly == exact.too_costly == (0.1,)
                assert 0 <= found.low <= found.high <= 1
                held.append(found.low <= np.mean(exact.own_probability > 1 / r) <= found.high)
                width.append(found.high - found.low)
    assert np.mean(held) >= 0.9
    assert np.median(width) < 0.3


@pytest.mark.slow
def test_it_repeats_and_reports(costly: None) -> None:
    release = StackAndDeal(k=8, seed=1).anonymize(people(1, 18_000))
    seen: list[float] = []
    first = attacks.foreground_knowledge_estimate(release, "ill", progress=lambda share, text: seen.append(share))
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1)
    again = attacks.foreground_knowledge_estimate(StackAndDeal(k=8, seed=1).anonymize(people(1, 18_000)), "ill")
    assert first == again


def test_rare_values_are_taught_by_all_groups_of_the_sample(costly: None) -> None:
    """Of the 6,000 people of the sample about 60 have the value: some of these groups alone would tell nothing."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({name: rng.integers(0, 3, 18_000) for name in KNOWN[:4]})
    frame["ill"] = np.where(rng.random(18_000) < 0.01, "rare", "not")
    roles = dict.fromkeys(KNOWN[:4], "quasi-identifier") | {"ill": "sensitive"}
    data = Microdata(frame, roles=roles, sensitive_values={"ill": {"rare"}})
    found = attacks.foreground_knowledge_estimate(Mondrian(requirements=[KAnonymity(k=6)]).anonymize(data), "ill")
    assert re.search(r", on [56],\d{3} of 18,000 rows$", found.how)
