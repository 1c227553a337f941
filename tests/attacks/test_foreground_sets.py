"""The estimate of the breach: exact where all sets are attacked with, else an interval that keeps its promise."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import CancelledError, Microdata, ParameterError, Release, attacks
from anoncore.algorithms import Mondrian, StackAndDeal
from anoncore.attacks.foreground import chosen_epsilon, first_answer, sampled_sets
from anoncore.attacks.foreground.sampled_sets import interval
from anoncore.requirements import KAnonymity
from tests.privacy.releases import sliced

FEW_ROWS = 0.06
"""With sigma 0.9 signatures of 111 rows are relied upon."""
KNOWN = list("abcdefg")


def people(seed: int, n: int = 1_200) -> Microdata:
    """Seven attributes with three values, and an illness that follows from some of them, with noise."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.choice(3, n, p=[0.6, 0.3, 0.1]) for name in KNOWN})
    sick = (frame["a"] + frame["b"] * frame["c"] + frame["d"]) % 3
    frame["ill"] = np.where(rng.random(n) < 0.4, rng.integers(0, 4, n), sick).astype(str)
    return Microdata(frame, roles=dict.fromkeys(KNOWN, "quasi-identifier") | {"ill": "sensitive"})


def release_of(seed: int, size: int = 4) -> Release:
    data = people(seed)
    return sliced(data, (np.arange(data.n_rows) // size).tolist(), [KNOWN, ["ill"]])


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let so small a table count as a large one."""
    monkeypatch.setattr(first_answer, "QUICK_ROWS", 40_000)


@pytest.mark.slow
@pytest.mark.parametrize("r", [1.5, 2.0, 4.0])
def test_few_sets_are_all_attacked_with(r: float) -> None:
    release = release_of(0)
    found = attacks.foreground_knowledge_estimate(release, "ill", r, FEW_ROWS)
    exact = attacks.foreground_knowledge(release, "ill", r, FEW_ROWS)
    assert found.low == found.value == found.high == float(exact.recall)
    assert (found.is_exact, found.confidence, found.how) == (True, 1.0, "from all attribute sets")
    assert found.n_sets == found.n_all == exact.n_sets > 90
    assert found.baseline == exact.recall.baseline


def test_without_any_frequent_signature_nothing_is_learned() -> None:
    found = attacks.foreground_knowledge_estimate(release_of(0), "ill", epsilon=0.001)
    assert (found.learned, found.n_sets, found.n_all) == (False, 0, 0)
    assert np.isnan([found.value, found.low, found.high, found.control, found.excess]).all()


@pytest.mark.slow
def test_the_interval_holds_the_exact_number(slow: None) -> None:
    held, half = [], []
    for seed in range(8):
        release = release_of(seed, 3 + seed % 4)
        own = attacks.foreground_knowledge(release, "ill", epsilon=FEW_ROWS).own_probability
        for r in (1.5, 2.0, 3.0):
            found = attacks.foreground_knowledge_estimate(release, "ill", r, FEW_ROWS, seed=seed)
            assert found.n_sets == 32 < found.n_all
            assert found.low <= found.value <= found.high
            held.append(found.low <= np.mean(own > 1 / r) <= found.high)
            half.append((found.high - found.low) / 2)
    assert np.mean(held) >= 0.9
    assert np.median(half) < 0.1


@pytest.mark.slow
def test_some_groups_of_a_large_release_tell_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_answer, "SAMPLED_ROWS", 1_500)
    # The exact number takes far longer where buckets mix everybody, so that fewer of these are compared.
    methods = [(seed, Mondrian(requirements=[KAnonymity(k=6)])) for seed in range(5)]
    held, controls = [], []
    for seed, method in [*methods, *((seed, StackAndDeal(k=8, seed=seed)) for seed in range(2))]:
        release = method.anonymize(people(seed, 6_000))
        found = attacks.foreground_knowledge_estimate(release, "ill", seed=seed)
        exact = attacks.foreground_knowledge(release, "ill", draws=1, seed=seed)
        assert re.search(r", on [12],\d{3} of 6,000 rows$", found.how)
        assert found.low < found.value < found.high or found.value == found.low == 0.0
        held.append(found.low <= exact.recall <= found.high)
        controls.append(found.control - float(exact.control))
    assert np.mean(held) >= 0.9
    assert abs(np.mean(controls)) < 0.05, "fewer groups teach more noise, which is no chance of the whole attack"


def test_what_is_afforded_is_what_the_estimate_is_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """With hardly any effort the attack goes through the sets by which epsilon was chosen, and gives away as many."""
    monkeypatch.setattr(chosen_epsilon, "EFFORT", 1_000)
    monkeypatch.setattr(chosen_epsilon, "TRIAL_EFFORT", 0)
    release = release_of(2)
    found = attacks.foreground_knowledge_estimate(release, "ill")
    exact = attacks.foreground_knowledge(release, "ill")
    assert (found.n_sets, exact.n_sets) == (chosen_epsilon.FEWEST_SETS, chosen_epsilon.FEWEST_SETS)
    assert found.value == pytest.approx(float(exact.recall), abs=0.002)
    assert found.low <= exact.recall <= found.high
    assert found.how == f"from the 12 of {exact.n_all:,} attribute sets that can be gone through"


def test_a_seed_repeats_it(slow: None) -> None:
    first, again, other = (
        attacks.foreground_knowledge_estimate(release_of(1), "ill", epsilon=FEW_ROWS, seed=seed) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_a_large_table_is_searched_by_a_sample_of_its_rows(slow: None, monkeypatch: pytest.MonkeyPatch) -> None:
    release = release_of(3)
    whole = attacks.foreground_knowledge_estimate(release, "ill", epsilon=FEW_ROWS)
    monkeypatch.setattr(sampled_sets, "SEARCHED_ROWS", 900)
    some = attacks.foreground_knowledge_estimate(release, "ill", epsilon=FEW_ROWS, seed=5)
    assert 0.7 < some.n_all / whole.n_all < 1.4
    assert some.low <= whole.high
    assert whole.low <= some.high


def test_where_not_all_sets_are_listed_the_interval_allows_for_the_others(
    slow: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampled_sets, "MOST_LISTED", 40)
    release = release_of(4)
    found = attacks.foreground_knowledge_estimate(release, "ill", epsilon=FEW_ROWS)
    exact = float(attacks.foreground_knowledge(release, "ill", epsilon=FEW_ROWS).recall)
    assert (found.n_sets, found.n_all) == (28, 127)
    assert found.low <= exact <= found.high


def test_two_of_four_sets_by_hand() -> None:
    """Of ten people, one set gives away two, the other three; one of them is the same.

    Seen are 4 of 10. Two sets of four are drawn, a half. Chao and Lin's bound adds
    0.3^2 / (2 * 0.1 * 2 / 1 + 0.3 * 1) = 0.09 / 0.7, the other bound 0.3 * 1.
    """
    breached = np.zeros((2, 10), dtype=bool)
    breached[0, :2] = breached[1, 1:4] = True
    value, low, high = interval(breached, 4)
    assert value == pytest.approx(0.4 + (0.09 / 0.7) ** 0.75 * 0.3**0.25)
    assert low == pytest.approx(0.4)
    assert high > value


@settings(max_examples=20)
@given(st.integers(3, 8), st.integers(0, 8), st.integers(1, 30), st.integers(0, 1_000))
def test_the_interval_lies_between_what_is_seen_and_everybody(n_sets: int, more: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    breached = rng.random((n_sets, n)) < rng.random()
    value, low, high = interval(breached, n_sets + more)
    assert breached.any(axis=0).mean() - 1e-9 <= low <= value + 1e-9
    assert value <= high + 1e-9
    assert high <= 1.0
    if more == 0:
        assert value == pytest.approx(breached.any(axis=0).mean())


def test_it_reports_and_can_be_stopped(slow: None) -> None:
    seen: list[float] = []
    attacks.foreground_knowledge_estimate(
        release_of(2), "ill", epsilon=FEW_ROWS, progress=lambda share, text: seen.append(share)
    )
    assert len(seen) == 32
    assert seen == sorted(seen)
    assert seen[-1] == 1

    def stop(share: float, text: str) -> None:
        raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        attacks.foreground_knowledge_estimate(release_of(2), "ill", epsilon=FEW_ROWS, progress=stop)


def test_it_refuses_what_the_attack_refuses() -> None:
    with pytest.raises(ParameterError, match="r must be at least 1"):
        attacks.foreground_knowledge_estimate(release_of(0), "ill", r=0.5)
