"""The minimality attack: the paper's example, every world of small tables anonymized anew, and what it refuses."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import numpy as np
import pandas as pd
import pytest

from anoncore import Hierarchy, InfeasibleError, Microdata, ParameterError, ReleaseError, attacks
from anoncore.algorithms import (
    Algorithm,
    Anatomy,
    Incognito,
    LocalRecoding,
    Mondrian,
    OptimalRecoding,
    RandomPartition,
    RothkoSampling,
    RothkoTree,
)
from anoncore.attacks import known_refusals
from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    Requirement,
    TCloseness,
    VarianceDiversity,
)

from .naive_minimality import belief, groups_of, kept_worlds, refused_wrongly, with_values, worlds

ROLES = {"age": "quasi-identifier", "town": "quasi-identifier", "disease": "sensitive"}
REQUIREMENTS: list[list[Requirement]] = [
    [FrequencyDiversity(l=2)],
    [DistinctDiversity(l=2)],
    [KAnonymity(k=2), FrequencyDiversity(l=1.5)],
    [EntropyDiversity(l=1.6)],
    [RecursiveDiversity(c=1.5, l=2)],
    [TCloseness(t=0.35, ground="equal")],
]
MOST_WORLDS = 120


def small_table(seed: int) -> Microdata:
    """Five to eight people; ages may repeat, and some attributes have a hierarchy."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 9))
    ages = rng.integers(20, 27, n) if rng.random() < 0.5 else rng.permutation(np.arange(20, 20 + n))
    frame = pd.DataFrame(
        {
            "age": ages,
            "town": rng.choice(list("ABC"), n),
            "disease": rng.choice(["flu", "cold", "HIV"], n, p=[0.5, 0.3, 0.2]),
        }
    )
    hierarchies = {"age": Hierarchy.by_width(frame["age"], width=2)} if rng.random() < 0.7 else {}
    return Microdata(frame, ROLES, hierarchies=hierarchies)


def methods(requirements: list[Requirement]) -> list[Algorithm]:
    return [
        Mondrian(requirements=requirements),
        Mondrian(requirements=requirements, strict=True),
        Mondrian(requirements=requirements, split="loss"),
        RothkoTree(requirements=requirements, memory_rows=4),
        Incognito(requirements=requirements),
        LocalRecoding(requirements=requirements),
        OptimalRecoding(requirements=requirements, max_suppression=0.0),
    ]


def has_few_worlds(release) -> bool:
    return sum(1 for _ in islice(worlds(release, "disease"), MOST_WORLDS + 1)) <= MOST_WORLDS


@pytest.mark.parametrize("method", [Incognito, Mondrian])
def test_the_example_of_the_paper(method) -> None:
    # Wong et al., VLDB 2007, section 1: two people of q1 have HIV, five of q2 do not. Every way to give one of the two
    # cases of HIV to a person of q2 leaves both q1 (at most 1 of 2) and q2 (at most 2 of 5) with at most a half, so
    # they would have been published apart. They were not, so both cases belong to q1.
    people = pd.DataFrame({"q": ["q1"] * 2 + ["q2"] * 5, "disease": ["HIV"] * 2 + ["none"] * 5})
    roles = {"q": "quasi-identifier", "disease": "sensitive"}
    data = Microdata(people, roles, sensitive_values={"disease": {"HIV"}})
    release = method(requirements=[FrequencyDiversity(l=2)]).anonymize(data)
    assert release.partition.n_groups == 1
    found = attacks.minimality(release, "disease")
    assert found.belief[:, 0].tolist() == [1.0] * 2 + [0.0] * 5
    assert found.without.tolist() == pytest.approx([2 / 7] * 7)
    assert found.right == 1.0
    assert found.right.baseline == pytest.approx(5 / 7)
    assert found.lift == pytest.approx(2 / 7)
    assert found.exposed == pytest.approx(2 / 7)
    assert (found.largest, found.largest.baseline) == (1.0, pytest.approx(2 / 7))
    assert found.interval == (-1.0, 1.0)
    assert found.exact.all()


@pytest.mark.slow
def test_beliefs_are_those_of_all_worlds_that_give_the_same_release() -> None:
    compared: Counter[str] = Counter()
    for seed in range(6):
        data = small_table(seed)
        for method in methods(REQUIREMENTS[seed % len(REQUIREMENTS)]):
            try:
                release = method.anonymize(data)
            except InfeasibleError:
                continue
            if not has_few_worlds(release):
                continue
            found = attacks.minimality(release, "disease")
            expected = belief(kept_worlds(release, "disease"), len(data.domain["disease"]))
            compared[method.name] += 1
            if found.complete:
                assert found.belief == pytest.approx(expected), (seed, method)
            else:
                # With a part of what readers know, no value is ruled out that some world of the method has.
                assert (found.belief[expected > 0] > 0).all(), (seed, method)
    assert set(compared) == {"mondrian", "rothko-tree", "incognito", "local-recoding", "optimal-recoding"}


@pytest.mark.parametrize("step", [1, 7, 1000])
@pytest.mark.parametrize("seed", range(3))
def test_numbers_may_have_any_common_step(seed: int, step: int) -> None:
    rng = np.random.default_rng(seed)
    n = 20
    frame = pd.DataFrame(
        {
            "age": 20 + step * rng.integers(0, 12, n),
            "pay": rng.integers(0, 12, n),
            "born": pd.Timestamp("1990-01-01") + pd.to_timedelta(7 * rng.integers(0, 12, n), unit="D"),
            "disease": rng.choice(["flu", "cold", "HIV"], n),
        }
    )
    data = Microdata(frame, dict.fromkeys(["age", "pay", "born"], "quasi-identifier") | {"disease": "sensitive"})
    for method in (Mondrian(strict=True), RothkoTree(memory_rows=8)):
        release = method.replace(requirements=[DistinctDiversity(l=2)]).anonymize(data)
        refusals = release.algorithm.refusals(release)
        assert len(refusals)
        assert not refused_wrongly(refusals, data)


@pytest.mark.parametrize("method", [Incognito(), OptimalRecoding(max_suppression=0.0)])
def test_of_combinations_that_lose_as_much_the_earlier_one_was_refused(method) -> None:
    # Both attributes have two values, so publishing a or b alone loses as much, and a would have been preferred. It
    # makes the classes {0, 1, 4} and {2, 3}; b makes {0, 2, 4} and {1, 3}, which have one and one case of flu. Of the
    # six ways to deal these, a breaks 2-diversity only where 2 and 3 have the flu.
    people = pd.DataFrame({"a": list("xxyyx"), "b": list("xyxyx"), "disease": ["cold", "HIV", "flu", "flu", "cold"]})
    data = Microdata(people, {"a": "quasi-identifier", "b": "quasi-identifier", "disease": "sensitive"})
    release = method.replace(requirements=[DistinctDiversity(l=2)]).anonymize(data)
    assert groups_of(release) == [(0, 2, 4), (1, 3)]
    found = attacks.minimality(release, "disease")
    assert found.complete
    assert found.right == 1.0
    assert found.belief == pytest.approx(belief(kept_worlds(release, "disease"), 3))


def test_a_search_that_may_end_early_refuses_no_ties() -> None:
    people = pd.DataFrame({"a": list("xxyyx"), "b": list("xyxyx"), "disease": ["cold", "HIV", "flu", "flu", "cold"]})
    data = Microdata(people, {"a": "quasi-identifier", "b": "quasi-identifier", "disease": "sensitive"})
    short = OptimalRecoding(requirements=[DistinctDiversity(l=2)], max_suppression=0.0, most_checked=3)
    found = attacks.minimality(short.anonymize(data), "disease")
    assert not found.complete
    assert "lose as much" in found.limits


def even_table(seed: int) -> Microdata:
    """Four to six people whose quasi-identifiers have two values each, so that many combinations lose as much."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 7))
    frame = pd.DataFrame(
        {
            "a": rng.permutation(list("xyxyxy")[:n]),
            "b": rng.permutation(list("xyxyxy")[:n]),
            "disease": rng.choice(["flu", "cold", "HIV"], n),
        }
    )
    return Microdata(frame, {"a": "quasi-identifier", "b": "quasi-identifier", "disease": "sensitive"})


@pytest.mark.parametrize(("seed", "number"), [(1, 1), (12, 5), (18, 1), (46, 0), (0, 1), (4, 3), (13, 5), (20, 1)])
def test_what_is_complete_is_all_that_follows_and_a_part_rules_no_world_out(seed: int, number: int) -> None:
    data, requirements = even_table(seed), REQUIREMENTS[number]
    for method in (Incognito(), OptimalRecoding(max_suppression=0.0), LocalRecoding()):
        try:
            release = method.replace(requirements=requirements).anonymize(data)
        except InfeasibleError:
            continue
        if sum(1 for _ in islice(worlds(release, "disease"), 21)) > 20:
            continue
        found = attacks.minimality(release, "disease")
        expected = belief(kept_worlds(release, "disease"), len(data.domain["disease"]))
        if found.complete:
            assert found.belief == pytest.approx(expected), method
        assert (found.belief[expected > 0] > 0).all(), method


@pytest.mark.parametrize("seed", range(6))
def test_with_k_alone_every_world_gives_the_same_classes_and_nothing_is_learned(seed: int) -> None:
    data = small_table(seed)
    for method in (Mondrian(strict=True), Incognito(), LocalRecoding()):
        release = method.replace(requirements=[KAnonymity(k=2)]).anonymize(data)
        found = attacks.minimality(release, "disease")
        assert found.lift == found.exposed == 0.0
        assert found.interval[1] <= 1.0
        assert found.gain == pytest.approx(np.zeros(data.n_rows))
        assert found.complete
        rng = np.random.default_rng(seed)
        for _ in range(5):
            dealt = rng.permutation(data.codes["disease"])
            again = release.algorithm.anonymize(with_values(data, "disease", dealt))
            assert groups_of(again) == groups_of(release)


def test_people_who_agree_in_everything_known_are_divided_by_their_other_values() -> None:
    # Four people of 30 and two of 31 with k = 3: no clean cut leaves three on both sides, so two or three of the four
    # are divided from the others, in the order of their diseases.
    people = pd.DataFrame({"age": [30] * 4 + [31] * 2, "disease": ["d", "a", "c", "b", "a", "b"]})
    data = Microdata(people, {"age": "quasi-identifier", "disease": "sensitive"})
    release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    assert groups_of(release) == [(0, 4, 5), (1, 2, 3)]
    found = attacks.minimality(release, "disease")
    assert not found.complete
    assert "agree in all quasi-identifiers" in found.limits
    strict = Mondrian(requirements=[KAnonymity(k=3)], strict=True).anonymize(data)
    assert attacks.minimality(strict, "disease").complete


@pytest.mark.parametrize("method", [Mondrian(), Incognito(), LocalRecoding()])
def test_drawn_beliefs_are_near_the_counted_ones(method, monkeypatch) -> None:
    diseases = ["flu", "flu", "cold", "flu", "HIV", "HIV", "flu", "cold", "cold"]
    frame = pd.DataFrame({"age": np.arange(20, 29), "disease": diseases})
    ages = Hierarchy.by_width(frame["age"], width=2)
    data = Microdata(frame, {"age": "quasi-identifier", "disease": "sensitive"}, hierarchies={"age": ages})
    release = method.replace(requirements=[FrequencyDiversity(l=2)]).anonymize(data)
    counted = attacks.minimality(release, "disease")
    monkeypatch.setattr(known_refusals, "MOST_COUNTED", 0.5)
    drawn = attacks.minimality(release, "disease", worlds=4_000)
    assert counted.n_used == drawn.n_used
    assert drawn.belief == pytest.approx(counted.belief, abs=0.04)
    assert not drawn.exact.any() or drawn.n_used == 0


def test_a_seed_repeats_the_draw_and_the_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(8)
    n = 200
    frame = pd.DataFrame(
        {"age": rng.integers(20, 60, n), "town": rng.choice(list("ABC"), n), "disease": rng.choice(list("vwxyz"), n)}
    )
    method = Mondrian(requirements=[FrequencyDiversity(l=3)], strict=True)
    release = method.anonymize(Microdata(frame, ROLES))
    found = attacks.minimality(release, "disease", seed=1)
    assert np.array_equal(found.belief, attacks.minimality(release, "disease", seed=1).belief)
    assert found.n_refusals > 0
    assert found.belief.sum(axis=1) == pytest.approx(np.ones(n))
    turned = attacks.minimality(method.anonymize(Microdata(frame.iloc[::-1], ROLES)), "disease", seed=1)
    exact = found.exact & turned.exact[::-1]
    assert exact.any()
    assert turned.belief[::-1][exact] == pytest.approx(found.belief[exact])
    assert abs(float(turned.truth) - float(found.truth)) < 0.02
    low, high = found.interval
    assert low <= found.lift <= high


def test_each_class_has_as_many_people_with_a_value_as_it_publishes() -> None:
    rng = np.random.default_rng(4)
    n = 120
    frame = pd.DataFrame({"age": rng.integers(20, 50, n), "pay": rng.integers(1, 9, n)})
    data = Microdata(frame, {"age": "quasi-identifier", "pay": "sensitive"})
    for requirement in (VarianceDiversity(v=2.0), TCloseness(t=0.2, ground="ordered")):
        release = Mondrian(requirements=[requirement]).anonymize(data)
        found = attacks.minimality(release, "pay")
        published = release.partition.histogram(data.codes["pay"], len(data.domain["pay"]))
        for group in range(release.partition.n_groups):
            assert found.belief[release.partition.rows(group)].sum(axis=0) == pytest.approx(published[group])


def test_another_secret_is_learned_about_through_the_one_that_is_required() -> None:
    people = pd.DataFrame(
        {"q": ["q1"] * 2 + ["q2"] * 5, "disease": ["HIV"] * 2 + ["none"] * 5, "drug": ["AZT"] * 2 + ["-"] * 5}
    )
    roles = {"q": "quasi-identifier", "disease": "sensitive", "drug": "sensitive"}
    data = Microdata(people, roles, sensitive_values={"disease": {"HIV"}})
    release = Incognito(requirements=[FrequencyDiversity(l=2, attribute="disease")]).anonymize(data)
    found = attacks.minimality(release, "drug")
    assert found.belief[0].tolist() == [0.0, 1.0]
    assert found.values == ("-", "AZT")


def test_it_says_where_it_is_not_measured() -> None:
    data = small_table(1)
    anatomy = Anatomy(l=2, seed=1).anonymize(
        Microdata(data.frame.assign(disease=["flu", "cold"] * (data.n_rows // 2) + ["HIV"] * (data.n_rows % 2)), ROLES)
    )
    with pytest.raises(ReleaseError, match="Anatomy does not tell it"):
        attacks.minimality(anatomy, "disease")
    suppressing = Incognito(requirements=[KAnonymity(k=2)], max_suppression=0.2).anonymize(data)
    with pytest.raises(ReleaseError, match="choose no suppression"):
        attacks.minimality(suppressing, "disease")
    path = LocalRecoding(requirements=[KAnonymity(k=2)], most_nodes=1).anonymize(data)
    with pytest.raises(ReleaseError, match="allow more combinations"):
        attacks.minimality(path, "disease")
    sampled = RothkoSampling(requirements=[KAnonymity(k=2)], seed=1).anonymize(data)
    with pytest.raises(ReleaseError, match="does not tell it"):
        attacks.minimality(sampled, "disease")
    whole = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    for wrong in ({"worlds": 99}, {"seed": -1}):
        with pytest.raises(ParameterError, match="worlds is at least 100 and seed at least 0"):
            attacks.minimality(whole, "disease", **wrong)


@pytest.mark.parametrize("method", [Anatomy(l=2), RandomPartition(k=2)])
def test_methods_that_are_not_open_deal_alike_when_two_people_of_a_group_change_places(method) -> None:
    def chances(diseases: list[str]) -> Counter[tuple[tuple[int, ...], ...]]:
        people = pd.DataFrame({"age": [20, 30, 40, 50], "disease": diseases})
        data = Microdata(people, {"age": "quasi-identifier", "disease": "sensitive"})
        return Counter(tuple(groups_of(method.replace(seed=seed).anonymize(data))) for seed in range(500))

    group = ((0, 2), (1, 3))
    before, after = chances(["flu", "flu", "cold", "cold"])[group], chances(["cold", "flu", "flu", "cold"])[group]
    # Two binomial counts of 500 differ by more than five standard deviations (at most 79) once in a million times.
    assert abs(before - after) < 79
    assert before > 0
