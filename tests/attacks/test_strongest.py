"""All attacks beside each other: each as it is by itself, ranked by what lies above its control."""

from __future__ import annotations

import sys
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore import CancelledError, DataError, Microdata, ParameterError, Release, attacks
from anoncore.algorithms import ALGORITHMS, Anatomy, Mondrian, StackAndDeal, VerticalFragmentation
from anoncore.attacks.foreground import first_answer
from anoncore.base.progress import Progress
from anoncore.requirements import KAnonymity
from tests.attacks.test_definetti import by_town
from tests.attacks.test_foreground_control import adult_sample
from tests.shared_data import require

MODULE = sys.modules["anoncore.attacks.strongest"]  # the function has its name

ALL = {
    "reidentification",
    "singling_out",
    "linkability",
    "shifted_dates",
    "attribute_disclosure",
    "foreground_knowledge",
    "definetti",
    "minimality",
    "refinement",
    "composition",
    "inference",
    "memorization",
    "membership",
    "region_membership",
}


@pytest.fixture(scope="module")
def buckets() -> Release:
    return Anatomy(l=3, seed=0).anonymize(by_town(600, 0))


@pytest.fixture(scope="module")
def found(buckets: Release) -> attacks.Strongest:
    return attacks.strongest(buckets, "ill")


def test_each_attack_gets_what_it_gets_by_itself(buckets: Release, found: attacks.Strongest) -> None:
    by_name = {one.name: one for one in found.tried}
    alone = attacks.definetti(buckets, "ill")
    assert by_name["definetti"].share == float(alone.recall)
    assert by_name["definetti"].control == float(alone.control)
    foreground = attacks.foreground_knowledge(buckets, "ill")
    assert by_name["foreground_knowledge"].share == float(foreground.recall)
    assert by_name["foreground_knowledge"].control == float(foreground.control)
    again = attacks.strongest(buckets, "ill", aims=("attribute",), foreground=foreground)
    assert again.frame().equals(found.frame().query("aim == 'attribute'").reset_index(drop=True))
    groups = attacks.attribute_disclosure(buckets, "ill").confidence
    assert by_name["attribute_disclosure"].share == pytest.approx((groups > 0.5 + 1e-9).mean())
    risk = attacks.reidentification(buckets).prosecutor.mean
    assert (by_name["reidentification"].share, by_name["reidentification"].control) == (float(risk), risk.baseline)


def test_the_strongest_of_each_aim_lies_farthest_above_its_control(found: attacks.Strongest) -> None:
    assert {one.name for one in found.tried} | set(found.not_tried) == ALL
    for aim in ("identity", "attribute", "membership"):
        of_aim = [one for one in found.tried if one.aim == aim]
        best = getattr(found, aim)
        assert best is of_aim[0]
        assert float(best.gain) == pytest.approx(max(float(one.gain) for one in of_aim), abs=0.0005)
        gains = [max(one.share - one.control, 0) for one in of_aim]
        assert gains == pytest.approx([float(one.gain) for one in of_aim])
    assert found.attribute is not None
    assert found.attribute.gain > 0.1


@pytest.mark.parametrize(
    ("outcomes", "strongest"),
    [
        ({"definetti": (0.3183, 0.3193), "attribute_disclosure": (0.0, 0.0)}, "definetti"),
        ({"definetti": (0.3183, 0.3193), "attribute_disclosure": (0.0004, 0.0)}, "definetti"),
        ({"definetti": (0.3183, 0.3193), "attribute_disclosure": (0.01, 0.0)}, "attribute_disclosure"),
        ({"definetti": (0.15, 0.154), "foreground_knowledge": (0.32, 0.35)}, "foreground_knowledge"),
        ({"definetti": (0.5, 0.3), "foreground_knowledge": (0.25, 0.05)}, "definetti"),
    ],
)
def test_nothing_less_nothing_is_no_stronger_than_a_share_that_chance_gets_as_well(
    buckets: Release, monkeypatch: pytest.MonkeyPatch, outcomes: dict[str, tuple[float, float]], strongest: str
) -> None:
    """Else a reader is told 0% where an attack gives away a third of the people, as on shuffled secrets."""

    def outcome(name: str) -> Any:
        return lambda asked, progress: (outcomes[name][0], "share", outcomes[name][1], MODULE.SHUFFLED)

    made = tuple(replace(one, run=outcome(one.name)) for one in MODULE._ATTACKS if one.name in outcomes)
    monkeypatch.setattr(MODULE, "_ATTACKS", made)
    found = attacks.strongest(buckets, "ill", aims=("attribute",))
    assert found.attribute is found.tried[0]
    assert found.attribute.name == strongest
    assert float(found.attribute.gain) == pytest.approx(max(outcomes[strongest][0] - outcomes[strongest][1], 0))


def test_the_frame_has_every_attack_once_and_says_why_some_were_not_tried(found: attacks.Strongest) -> None:
    frame = found.frame()
    assert sorted(frame["attack"]) == sorted(ALL)
    left = frame[frame["gain"].isna()]
    assert set(left["attack"]) == set(found.not_tried)
    assert (left["why_not"].str.len() > 20).all()
    assert (frame.loc[frame["gain"].notna(), "why_not"] == "").all()
    assert "No earlier release" in frame.set_index("attack").loc["composition", "why_not"]


@pytest.mark.slow
def test_people_outside_the_table_and_an_earlier_release_let_more_attacks_be_tried() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "name": [f"p{row}" for row in range(300)],
            "age": rng.integers(20, 80, 300),
            "town": rng.choice(list("ABCD"), 300),
            "ill": rng.choice(["flu", "gout", "cold"], 300),
        }
    )
    roles = {"name": "identifier", "age": "quasi-identifier", "town": "quasi-identifier", "ill": "sensitive"}
    members, others = Microdata(frame, roles).split(control=0.3, seed=0)
    release = Mondrian(requirements=[KAnonymity(k=4)]).anonymize(members)
    earlier = StackAndDeal(k=4).anonymize(members)
    found = attacks.strongest(release, "ill", control=others, earlier=earlier, by="name", draws=1)
    assert {"singling_out", "linkability", "inference", "composition"} <= {one.name for one in found.tried}
    by_name = {one.name: one for one in found.tried}
    joint = attacks.composition([release, earlier], "ill", by="name", l=2.0).breach
    assert (by_name["composition"].share, by_name["composition"].control) == (float(joint), joint.baseline)
    assert by_name["inference"].compared_with == "the same attack on people who are not in the table"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_shuffled_secrets_give_no_attack_a_gain(seed: int) -> None:
    data = by_town(500, seed).with_shuffled("ill", seed)
    found = attacks.strongest(Mondrian(requirements=[KAnonymity(k=8)]).anonymize(data), "ill", seed=seed)
    assert found.attribute is not None
    assert float(found.attribute.gain) < 0.1


@pytest.mark.slow
def test_readers_of_a_known_method_are_among_them() -> None:
    release = Mondrian(requirements=[KAnonymity(k=8)]).anonymize(by_town(300, 1))
    found = attacks.strongest(release, "ill", draws=1)
    assert "minimality" in {one.name for one in found.tried}


@pytest.mark.slow
def test_a_release_whose_method_nobody_knows_is_held_against_guessing() -> None:
    data = by_town(300, 1)
    tables = Mondrian(requirements=[KAnonymity(k=8)]).anonymize(data).tables()
    found = attacks.strongest(Release.from_published(tables, dict(data.roles)), "ill", draws=1)
    by_name = {one.name: one for one in found.tried}
    assert by_name["attribute_disclosure"].compared_with == "guessing without the release"
    assert "minimality" in found.not_tried


@pytest.mark.slow
def test_only_some_values_may_need_protection() -> None:
    data = by_town(400, 0)
    some = Microdata(data.frame, dict(data.roles), sensitive_values={"ill": {"0"}})
    found = attacks.strongest(Mondrian(requirements=[KAnonymity(k=8)]).anonymize(some), "ill", draws=1)
    assert found.attribute is not None
    assert -1 <= float(found.attribute.gain) <= 1


def test_what_is_asked_wrongly_is_refused_and_cancelling_stops_all(buckets: Release) -> None:
    with pytest.raises(ParameterError, match="at least 1"):
        attacks.strongest(buckets, "ill", draws=0)
    other = attacks.foreground_knowledge(buckets, "ill", r=3, epsilon=0.2, draws=1)
    with pytest.raises(ParameterError, match="with r = 3, and all attacks about 'ill' with r = 2"):
        attacks.strongest(buckets, "ill", foreground=other)
    with pytest.raises(ParameterError, match="r must be at least 1"):
        attacks.strongest(buckets, "ill", r=0.5)
    with pytest.raises(DataError, match="no attribute 'height'"):
        attacks.strongest(buckets, "height")

    def stop(_share: float, _text: str) -> None:
        raise CancelledError("stopped")

    with pytest.raises(CancelledError):
        attacks.strongest(buckets, "ill", progress=stop)


@pytest.mark.slow
def test_progress_rises_from_0_to_1(buckets: Release) -> None:
    shares: list[float] = []
    attacks.strongest(buckets, "ill", draws=1, progress=lambda share, _text: shares.append(share))
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "attack"),
    [
        (Anatomy(l=3, seed=1), "foreground_knowledge"),
        (Mondrian(requirements=[KAnonymity(k=10)]), "foreground_knowledge"),
        (StackAndDeal(k=10, seed=1), "definetti"),
        (VerticalFragmentation(k=10, seed=1), "attribute_disclosure"),
    ],
)
def test_which_attack_is_strongest_on_adult(method: object, attack: str) -> None:
    require("adult.csv")
    assert type(method) in ALGORITHMS.values()
    found = attacks.strongest(method.anonymize(adult_sample(4_000)), "occupation")  # type: ignore[attr-defined]
    assert found.attribute is not None
    assert found.attribute.name == attack
    assert found.attribute.gain > 0.05


@pytest.mark.slow
def test_a_first_answer_leaves_out_what_takes_long_and_lies_near_the_exact_one() -> None:
    require("adult.csv")
    release = Anatomy(l=3, seed=1).anonymize(adult_sample(20_000))
    first, exact = (
        attacks.strongest(release, "occupation", aims=("attribute",), estimate=is_first) for is_first in (True, False)
    )
    assert first.attribute is not None
    assert exact.attribute is not None
    assert first.attribute.name == exact.attribute.name
    assert float(first.attribute.gain) == pytest.approx(float(exact.attribute.gain), abs=0.1)
    local = Mondrian(requirements=[KAnonymity(k=10)]).anonymize(adult_sample(2_000))
    left_out = attacks.strongest(local, "occupation", aims=("attribute",), estimate=True).not_tried
    assert left_out["minimality"] == "A first answer leaves this attack out, as it takes longer."


@pytest.mark.parametrize("method", [Anatomy(l=3, seed=0), Mondrian(requirements=[KAnonymity(k=6)])])
def test_a_first_answer_about_a_large_release_reads_whole_what_is_not_about_single_groups(
    method: Anatomy | Mondrian, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is alone among some people need not be so among all, and fits more buckets there."""
    monkeypatch.setattr(MODULE, "SAMPLED_ROWS", 200)
    monkeypatch.setattr(first_answer, "SAMPLED_ROWS", 200)
    release = method.anonymize(by_town(2_000, 0))
    first = {one.name: one for one in attacks.strongest(release, "ill", r=4, estimate=True).tried}
    exact = {one.name: one for one in attacks.strongest(release, "ill", r=4, draws=1).tried}
    assert first["reidentification"].share == exact["reidentification"].share
    assert first["attribute_disclosure"].share == exact["attribute_disclosure"].share
    best = max(one.gain for name, one in first.items() if one.aim == "attribute" and name != "attribute_disclosure")
    is_beaten = first["attribute_disclosure"].share < best
    assert first["attribute_disclosure"].compared_with == (MODULE.GUESSING if is_beaten else MODULE.SHUFFLED)
    assert is_beaten or first["attribute_disclosure"].control == exact["attribute_disclosure"].control
    assert first["definetti"].share == pytest.approx(exact["definetti"].share, abs=0.25)


@pytest.mark.parametrize("r", [2, 4, 8])
@pytest.mark.parametrize("method", [Anatomy(l=3, seed=0), Mondrian(requirements=[KAnonymity(k=6)])])
def test_a_first_answer_makes_no_control_that_cannot_change_which_attack_is_strongest(
    method: Anatomy | Mondrian, r: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = method.anonymize(by_town(600, 0))

    def first() -> attacks.Strongest:
        return attacks.strongest(release, "ill", r=r, aims=("attribute",), estimate=True)

    def with_control(asked: Any, progress: Progress) -> Any:
        return MODULE._single_groups(replace(asked, to_beat=-inf), progress)

    short = first()
    always = [replace(one, run=with_control) if one.is_last else one for one in MODULE._ATTACKS]
    monkeypatch.setattr(MODULE, "_ATTACKS", tuple(always))
    long = first()
    best, other = short.attribute, long.attribute
    assert best is not None
    assert other is not None
    assert (best.name, best.share, best.control, best.compared_with) == (
        other.name,
        other.share,
        other.control,
        other.compared_with,
    )
    assert {one.name: one.share for one in short.tried} == {one.name: one.share for one in long.tried}
    assert short.not_tried == long.not_tried
