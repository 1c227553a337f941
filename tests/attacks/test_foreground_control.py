"""The control of the foreground-knowledge attack, and the epsilon that lies farthest above it."""

from __future__ import annotations

from math import isnan
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata, ParameterError, Release, attacks
from anoncore.algorithms import Anatomy, ForegroundSafe, Mondrian, StackAndDeal
from anoncore.attacks.foreground import chosen_epsilon
from anoncore.attacks.foreground.control import Excess, dealt_over_groups
from anoncore.base.progress import silent
from anoncore.cli import main
from anoncore.measures import value_of
from anoncore.release.partition import Partition
from anoncore.requirements import KAnonymity
from dashboard.board import facts
from tests.shared_data import require

KNOWN = ["town", "trade", "sex"]
ADULT = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country", "salary-class"]


def people(n: int, seed: int, follows: float = 0.7) -> pd.DataFrame:
    """Illnesses that follow from town and trade with this probability, and else from nothing."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"town": rng.integers(0, 4, n), "trade": rng.integers(0, 3, n), "sex": rng.integers(0, 2, n)})
    sick = np.where(rng.random(n) < follows, (frame["town"] + 2 * frame["trade"]) % 6, rng.integers(0, 6, n))
    return frame.astype(str).assign(ill=sick.astype(str))


def tagged(frame: pd.DataFrame) -> Microdata:
    return Microdata(frame, dict.fromkeys(KNOWN, "quasi-identifier") | {"ill": "sensitive"})


def adult_sample(n: int) -> Microdata:
    frame = pd.read_csv(require("adult.csv"))[[*ADULT, "occupation"]]
    sample = frame.sample(n, random_state=0) if n < len(frame) else frame
    return Microdata(sample, dict.fromkeys(ADULT, "quasi-identifier") | {"occupation": "sensitive"})


def test_what_is_tied_to_what_others_know_lies_above_the_control() -> None:
    found = attacks.foreground_knowledge(Anatomy(l=3, seed=0).anonymize(tagged(people(1_500, 0))), "ill")
    assert found.learned
    assert found.excess == pytest.approx(found.recall - found.control)
    assert found.excess > 0.3
    assert found.excess_interval[0] > 0
    assert found.control_interval[0] <= found.control <= found.control_interval[1]


def test_a_shuffled_secret_gives_nobody_away_above_chance() -> None:
    """Of 20 tables with nothing to learn, the interval of the excess holds 0 in about 19."""
    held = []
    for seed in range(20):
        data = tagged(people(400, seed)).with_shuffled("ill", seed)
        found = attacks.foreground_knowledge(Anatomy(l=2, seed=seed).anonymize(data), "ill", epsilon=0.1, seed=seed)
        held.append(found.excess_interval[0] <= 0 <= found.excess_interval[1])
    assert sum(held) >= 17


def test_the_control_is_the_same_attack_on_the_method_run_again() -> None:
    data = tagged(people(300, 1))
    release = Anatomy(l=3, seed=7).anonymize(data)
    found = attacks.foreground_knowledge(release, "ill", epsilon=0.1, seed=4)
    again = [
        attacks.foreground_knowledge(
            Anatomy(l=3, seed=seed).anonymize(data.with_shuffled("ill", seed)), "ill", epsilon=0.1, draws=0
        )
        for seed in (5, 6, 7)
    ]
    assert found.control == pytest.approx(np.mean([one.recall for one in again]))
    assert isnan(again[0].control)


def test_it_is_repeated_whatever_the_method_draws() -> None:
    release = Anatomy(l=3).anonymize(tagged(people(300, 2)))
    first, second = (attacks.foreground_knowledge(release, "ill") for _ in range(2))
    assert (first.recall, first.control, first.epsilon) == (second.recall, second.control, second.epsilon)


def test_a_table_made_elsewhere_is_compared_with_secrets_dealt_over_its_groups() -> None:
    data = tagged(people(600, 3))
    release = Anatomy(l=3, seed=0).anonymize(data)
    read = Release.from_published(release.tables(), data.roles, original=data)
    found = attacks.foreground_knowledge(read, "ill", epsilon=0.1, draws=12)
    assert any("dealt anew over its groups" in note for note in found.notes)
    assert found.excess > 0.2
    own = attacks.foreground_knowledge(release, "ill", epsilon=0.1, draws=12)
    # Rows that are alike in all that is known may have changed places.
    assert found.recall == pytest.approx(own.recall, abs=0.02)
    # Of three draws the mean alone scatters by as much.
    assert found.control == pytest.approx(own.control, abs=0.1)


def test_groups_exchange_their_secrets_with_groups_of_their_size() -> None:
    partition = Partition(np.repeat(np.arange(6), [2, 2, 2, 3, 3, 4]))
    source = dealt_over_groups(partition, 0)
    assert sorted(source) == list(range(16))
    giver = [set(partition.group[source[partition.rows(group)]]) for group in range(6)]
    # Three groups of two and two of three exchange whole; the group of four is the only one of its size.
    assert all(len(one) == 1 for one in giver)
    assert {next(iter(one)) for one in giver[:3]} == {0, 1, 2}
    assert giver[5] == {5}


def test_groups_of_a_size_of_their_own_exchange_with_the_next() -> None:
    partition = Partition(np.repeat(np.arange(4), [2, 3, 4, 5]))
    source = dealt_over_groups(partition, 1)
    moved = partition.group[source] != partition.group
    assert moved.mean() > 0.5


@pytest.mark.parametrize("epsilon", [0.01, 0.02])
def test_where_nothing_could_be_learned_it_does_not_say_zero(epsilon: float) -> None:
    release = Anatomy(l=3, seed=0).anonymize(tagged(people(300, 4)))
    found = attacks.foreground_knowledge(release, "ill", epsilon=epsilon)
    assert not found.learned
    assert isnan(found.recall)
    assert isnan(found.excess)
    assert found.notes[-1].startswith("The table is too small for this certainty")


def test_a_table_too_small_for_any_certainty_says_so_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = people(9, 5)
    release = Anatomy(l=2, seed=0).anonymize(tagged(frame))
    with pytest.raises(ValueError, match="too small for this certainty"):
        value_of(release, "foreground-excess", "ill")
    assert facts.given_away(release, "ill", 2, lambda share, text: None)["learned"] is False
    frame.to_csv(tmp_path / "people.csv", index=False)
    main(["check", str(tmp_path / "people.csv"), "--known", ",".join(KNOWN), "--secret", "ill", "--foreground", "2"])
    assert "Foreground breach of 'ill': not measured" in capsys.readouterr().out


def test_every_face_gives_the_same_numbers() -> None:
    release = Mondrian(requirements=(KAnonymity(k=5),)).anonymize(tagged(people(800, 6)))
    found = attacks.foreground_knowledge(release, "ill", r=2)
    shown = facts.given_away(release, "ill", 2, lambda share, text: None)
    assert (shown["value"], shown["control"], shown["excess"]) == (found.recall, found.control, found.excess)
    assert value_of(release, "foreground-excess", "ill") == found.excess


def test_the_estimate_is_what_epsilon_was_chosen_by() -> None:
    release = StackAndDeal(k=4, seed=0).anonymize(tagged(people(1_000, 7)))
    about, found = attacks.foreground_knowledge_estimate(release, "ill"), attacks.foreground_knowledge(release, "ill")
    assert about.epsilon == found.epsilon
    assert about.low <= found.recall <= about.high


def test_foreground_safe_guards_against_the_epsilon_that_gives_most_away() -> None:
    data = tagged(people(1_200, 8, follows=0.0))
    data = data.with_quasi_identifiers(["town"])
    plain = attacks.foreground_knowledge(Anatomy(l=2, seed=0).anonymize(data), "ill", r=2)
    release = ForegroundSafe(l=2, seed=0).anonymize(data)
    assert f"epsilon {plain.epsilon:g}" in release.notes[0]
    guarded = attacks.foreground_knowledge(release, "ill", r=2, epsilon=plain.epsilon, draws=0)
    assert guarded.recall == 0


def test_without_a_control_epsilon_has_to_be_given() -> None:
    release = Anatomy(l=3, seed=0).anonymize(tagged(people(100, 9)))
    with pytest.raises(ParameterError, match="give epsilon"):
        attacks.foreground_knowledge(release, "ill", draws=0)
    with pytest.raises(ParameterError, match="draws is how often"):
        attacks.foreground_knowledge(release, "ill", epsilon=0.1, draws=-1)


def test_an_excess_by_hand() -> None:
    """Draws 0.1, 0.2, 0.3: mean 0.2, standard deviation 0.1; Student's 0.975 quantile with 2 degrees is 4.303."""
    found = Excess.of(0.6, [0.1, 0.2, 0.3], 1_000)
    assert (found.control, found.excess) == pytest.approx((0.2, 0.4))
    assert found.control_interval == pytest.approx((0.0, 0.2 + 4.303 * 0.1 / 3**0.5), abs=1e-3)
    assert found.excess_interval == pytest.approx((0.4 - 4.303 * 0.1 * (4 / 3) ** 0.5, 0.4 + 0.4968), abs=1e-3)


def test_draws_that_are_all_the_same_still_leave_doubt() -> None:
    """None of 100 people in any of three draws: as many as (0 + 1) / (300 + 2) are allowed for."""
    found = Excess.of(0.05, [0.0, 0.0, 0.0], 100)
    share = 1 / 302
    wide = 4.303 * (share * (1 - share) / 100) ** 0.5
    assert found.excess_interval == pytest.approx(
        (0.05 - wide * (4 / 3) ** 0.5, 0.05 + wide * (4 / 3) ** 0.5), abs=1e-4
    )


def test_a_person_keeps_their_values_together_when_secrets_are_shuffled() -> None:
    frame = pd.DataFrame({"patient": np.repeat(np.arange(50), 3), "town": "A", "ill": np.repeat(np.arange(50), 3)})
    roles = {"town": "quasi-identifier", "ill": "sensitive"}
    shuffled = Microdata(frame, roles, kinds={"ill": "nominal"}, unit="patient").with_shuffled("ill", 1)
    by_person = pd.Series(shuffled.codes["ill"]).groupby(frame["patient"]).nunique()
    assert (by_person == 1).all()
    assert (shuffled.codes["ill"] != np.repeat(np.arange(50), 3)).mean() > 0.8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "epsilon", "recall", "control"),
    [
        (500, 0.05, 0.214, 0.128),
        (3_000, 0.05, 0.721, 0.205),
        (45_222, 0.01, 0.627, 0.0004),
    ],
)
def test_anatomy_on_samples_of_adult(n: int, epsilon: float, recall: float, control: float) -> None:
    """Beside figures that another implementation gave for other samples of these sizes."""
    release = Anatomy(l=3, seed=1).anonymize(adult_sample(n))
    found = attacks.foreground_knowledge(release, "occupation", epsilon=epsilon)
    assert found.recall == pytest.approx(recall, abs=0.16)
    assert found.control == pytest.approx(control, abs=0.13)
    assert found.excess_interval[0] > 0
    chosen = attacks.foreground_knowledge(release, "occupation")
    assert chosen.excess > found.excess - 0.03


@pytest.mark.slow
def test_with_two_values_in_a_bucket_every_tilt_is_a_breach_and_none_is_above_chance() -> None:
    found = attacks.foreground_knowledge(
        Anatomy(l=2, seed=1).anonymize(adult_sample(45_222)), "occupation", epsilon=0.01
    )
    assert found.recall > 0.9
    assert found.excess < 0.03


def test_an_adversary_who_can_afford_little_attacks_with_few_sets_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six attributes have 63 sets; with hardly any effort only the fewest are attacked with, never none."""
    monkeypatch.setattr(chosen_epsilon, "EFFORT", 1_000)
    monkeypatch.setattr(chosen_epsilon, "TRIAL_EFFORT", 0)
    monkeypatch.setattr(chosen_epsilon, "EPSILONS", (0.1,))
    frame = people(600, 10)
    for name in ("a", "b", "c"):
        frame[name] = np.random.default_rng(ord(name)).integers(0, 2, len(frame)).astype(str)
    roles = dict.fromkeys([*KNOWN, "a", "b", "c"], "quasi-identifier") | {"ill": "sensitive"}
    found = attacks.foreground_knowledge(Anatomy(l=3, seed=0).anonymize(Microdata(frame, roles)), "ill")
    assert found.learned
    assert found.n_sets == chosen_epsilon.FEWEST_SETS < found.n_all
    assert any(f"{found.n_sets} of {found.n_all} attribute sets" in note for note in found.notes)
    assert found.excess > 0


def test_epsilons_that_take_too_long_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With all the effort there is, no epsilon is left out; with hardly any, only the first is tried."""
    whole = attacks.foreground_knowledge(Anatomy(l=3, seed=0).anonymize(tagged(people(600, 10))), "ill")
    assert whole.too_costly == ()
    monkeypatch.setattr(chosen_epsilon, "EFFORT", 1_000)
    monkeypatch.setattr(chosen_epsilon, "TRIAL_EFFORT", 0)
    release = Anatomy(l=3, seed=0).anonymize(tagged(people(600, 10)))
    found = attacks.foreground_knowledge(release, "ill")
    assert found.too_costly == tuple(one for one in chosen_epsilon.EPSILONS if one > found.epsilon)
    assert len(found.too_costly) >= 1
    assert any("would take too long" in note for note in found.notes)
    assert facts.given_away(release, "ill", 2, silent)["too_costly"] == list(found.too_costly)
    estimated = facts.about_given_away(release, "ill", 2, silent)
    assert estimated["too_costly"] == list(found.too_costly)
    assert attacks.foreground_knowledge(release, "ill", epsilon=0.1).too_costly == ()
