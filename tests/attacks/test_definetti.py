"""deFinetti's attack: against its definition, by hand, on secrets that nothing tells, and on Adult."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from anoncore import (
    DataError,
    Exact,
    Fragment,
    Generalized,
    Microdata,
    ParameterError,
    Partition,
    Release,
    ReleaseError,
    attacks,
)
from anoncore.algorithms import Algorithm, Anatomy, Mondrian, Slicing, StackAndDeal, VerticalFragmentation
from anoncore.requirements import KAnonymity
from tests.attacks.naive_definetti import assigned, by_regions
from tests.attacks.test_foreground_control import adult_sample, people, tagged
from tests.many_tables import few_and_many
from tests.shared_data import require

KNOWN = ["age", "town"]


FEW_AND_MANY = few_and_many(20)


def random_table(seed: int) -> Microdata:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 26))
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 20 + rng.integers(2, 6), n),
            "town": rng.choice(list("ABC"), n),
            "ill": rng.choice(["flu", "gout", "cold", "none"][: rng.integers(2, 5)], n),
        }
    )
    return Microdata(frame, dict.fromkeys(KNOWN, "quasi-identifier") | {"ill": "sensitive"})


def in_groups(data: Microdata, seed: int) -> Release:
    """Groups of two to five people of whom nothing tells who has which secret."""
    rng = np.random.default_rng(seed)
    number = np.empty(data.n_rows, dtype=np.int64)
    number[rng.permutation(data.n_rows)] = np.arange(data.n_rows) // int(rng.integers(2, 6))
    buckets = Partition(number)
    parts = [KNOWN, ["ill"]] if seed % 3 else [["age"], ["town", "ill"]]
    return Release(
        data,
        tuple(
            Fragment(str(place), buckets, {name: Exact(data.domain[name], buckets, data.codes[name]) for name in names})
            for place, names in enumerate(parts)
        ),
    )


def alike(release: Release) -> list[list[int]]:
    """Rows whom nothing published tells apart, in the order in which the attack takes them."""
    data, shown = release.data, release.fragment_of("ill")
    key = {
        row: (
            int(release.partition.group[row]),
            *(int(data.codes[name][row]) for name in KNOWN if name in shown.recodings and len(release.fragments) > 1),
        )
        for row in range(data.n_rows)
    }
    groups: dict[tuple[int, ...], list[int]] = {}
    for row in data.canonical_order.tolist():
        groups.setdefault(key[row], []).append(row)
    return list(groups.values())


def stood(release: Release) -> tuple[list[int], list[list[int]], list[tuple[int, ...]], list[int], list[int]]:
    """The rows group by group, the places of each group, and who stands at them: what is known, secrets, sizes."""
    data = release.data
    rows = [row for group in alike(release) for row in group]
    starts = np.cumsum([0, *(len(group) for group in alike(release))])
    groups = [list(range(begin, end)) for begin, end in pairwise(starts)]
    known = [tuple(int(data.codes[name][row]) for name in KNOWN) for row in rows]
    return (
        rows,
        groups,
        known,
        [int(data.codes["ill"][row]) for row in rows],
        [len(data.domain[name]) for name in KNOWN],
    )


@pytest.mark.parametrize("seed", FEW_AND_MANY)
def test_assignments_are_those_of_the_definition(seed: int) -> None:
    data = random_table(seed)
    release = in_groups(data, seed) if seed % 4 else Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
    starts = 1 + seed % 3
    found = attacks.definetti(release, "ill", draws=0, starts=starts, burn_in=2, samples=6, seed=seed)
    rows, groups, known, secrets, sizes = stood(release)
    counts = assigned(known, groups, secrets, sizes, starts, 2, 6, np.random.default_rng(seed))
    for row, count, secret in zip(rows, counts, secrets, strict=True):
        assert found.own_belief[row] == pytest.approx(count[secret] / 6)
        assert found.belief[row] == pytest.approx(max(count.values()) / 6)
    assert float(found.recall) == pytest.approx(np.mean(found.own_belief > 0.5 + 1e-9))
    without = [0.0] * len(rows)
    for group in groups:
        for place in group:
            without[place] = sum(secrets[other] == secrets[place] for other in group) / len(group)
    assert found.without_attack[rows].tolist() == pytest.approx(without)


@pytest.mark.parametrize("seed", FEW_AND_MANY)
def test_regions_tell_what_the_definition_says(seed: int) -> None:
    data = random_table(seed)
    release = Mondrian(requirements=[KAnonymity(k=2 + seed % 3)]).anonymize(data)
    found = attacks.definetti(release, "ill", learns_from="regions", draws=0)
    rows, groups, known, secrets, sizes = stood(release)
    regions = [
        [set(release.recoding(name).values(int(release.partition.group[rows[group[0]]])).tolist()) for name in KNOWN]
        for group in groups
    ]
    beliefs = by_regions(known, groups, secrets, regions, sizes)
    for row, belief, secret in zip(rows, beliefs, secrets, strict=True):
        assert found.own_belief[row] == pytest.approx(belief[secret])
        assert found.belief[row] == pytest.approx(max(belief.values()))


def test_regions_by_hand() -> None:
    """Towns A and B in one class with one flu and one gout; A alone with two flus.

    With 1 added, A has 0.5 + 2 + 1 of 3 + 2 among those with flu, and 0.5 + 1 of 1 + 2 among those with gout. So flu
    weighs 3.5 / 5 and gout 1.5 / 3 for the one from A, who has flu with 0.7 / 1.2.
    """
    frame = pd.DataFrame({"town": list("ABAA"), "ill": ["flu", "gout", "flu", "flu"]})
    data = Microdata(frame, {"town": "quasi-identifier", "ill": "sensitive"})
    classes = Partition([0, 0, 1, 1])
    fragment = Fragment(
        "table",
        classes,
        {
            "town": Generalized.of_rows(data.domain["town"], classes, data.codes["town"]),
            "ill": Exact(data.domain["ill"], classes, data.codes["ill"]),
        },
    )
    found = attacks.definetti(Release(data, (fragment,)), "ill", learns_from="regions", draws=0)
    assert found.own_belief[0] == pytest.approx(0.7 / 1.2)
    assert found.own_belief[1] == pytest.approx(0.5 / (0.5 + 0.3))
    assert found.own_belief[2:].tolist() == [1.0, 1.0]


def test_one_protected_set_counts_as_one_value() -> None:
    frame = people(600, 1)
    harmless = Microdata(
        frame,
        dict.fromkeys(["town", "trade", "sex"], "quasi-identifier") | {"ill": "sensitive"},
        sensitive_values={"ill": {"0", "1"}},
    )
    release = Anatomy(l=3, seed=0).anonymize(harmless)
    found = attacks.definetti(release, "ill", draws=0)
    needs = frame["ill"].isin(["0", "1"]).to_numpy()
    assert np.isnan(found.own_belief).tolist() == (~needs).tolist()
    assert np.allclose(found.own_belief[needs], found.belief[needs])
    whole = attacks.definetti(Anatomy(l=3, seed=0).anonymize(tagged(frame)), "ill", draws=0)
    assert whole.recall > whole.recall.baseline


def by_town(n: int, seed: int) -> Microdata:
    """Illnesses that follow from the town with a chance of 0.7, and else from nothing."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"town": rng.integers(0, 6, n), "trade": rng.integers(0, 3, n), "sex": rng.integers(0, 2, n)})
    ill = np.where(rng.random(n) < 0.7, frame["town"], rng.integers(0, 6, n))
    return tagged(frame.astype(str).assign(ill=ill.astype(str)))


@pytest.mark.slow
def test_what_is_tied_lies_above_the_control_and_what_is_not_does_not() -> None:
    found = attacks.definetti(Anatomy(l=3, seed=0).anonymize(by_town(1_500, 0)), "ill")
    assert found.excess_interval[0] > 0.1
    assert found.right > found.right_by_chance + 0.2 > found.right.baseline
    held = []
    for seed in range(20):
        shuffled = by_town(400, seed).with_shuffled("ill", seed)
        low, high = attacks.definetti(Anatomy(l=3, seed=seed).anonymize(shuffled), "ill", seed=seed).excess_interval
        held.append(low <= 0 <= high)
    assert sum(held) >= 17


def test_neither_the_order_of_rows_nor_the_numbers_of_groups_matter() -> None:
    data = random_table(5)
    turned = np.random.default_rng(0).permutation(data.n_rows)
    release = in_groups(data, 5)
    group = release.partition.group
    other = tagged_as(data, turned)
    swapped = Partition(np.unique(group[turned], return_inverse=True)[1])
    again = Release(
        other,
        tuple(
            Fragment(
                fragment.name,
                swapped,
                {name: Exact(other.domain[name], swapped, other.codes[name]) for name in fragment.recodings},
            )
            for fragment in release.fragments
        ),
    )
    first, second = (attacks.definetti(one, "ill", draws=0) for one in (release, again))
    assert float(first.recall) == float(second.recall)
    assert sorted(first.own_belief) == sorted(second.own_belief)


def tagged_as(data: Microdata, rows: np.ndarray) -> Microdata:
    return Microdata(data.frame.iloc[rows].reset_index(drop=True), dict(data.roles))


def test_what_cannot_be_attacked_is_refused_in_a_sentence() -> None:
    data = tagged(people(200, 0))
    release = Anatomy(l=2, seed=0).anonymize(data)
    with pytest.raises(ParameterError, match="starts and samples at least 1"):
        attacks.definetti(release, "ill", samples=0)
    with pytest.raises(ParameterError, match="use one of 'assignments', 'regions'"):
        attacks.definetti(release, "ill", learns_from="rows")  # type: ignore[arg-type]
    with pytest.raises(ReleaseError, match="several fragments"):
        attacks.definetti(release, "ill", learns_from="regions")
    with pytest.raises(DataError, match="no attribute 'height'"):
        attacks.definetti(release, "height")
    with pytest.raises(ReleaseError, match="groups of its own"):
        attacks.definetti(VerticalFragmentation(k=2).anonymize(data), "ill")


@pytest.mark.slow
@pytest.mark.parametrize("l", [2, 4])
def test_anatomy_on_adult_hides_far_less_than_its_l_says(l: int) -> None:
    require("adult.csv")
    found = attacks.definetti(Anatomy(l=l, seed=1).anonymize(adult_sample(15_000)), "occupation")
    assert found.right > found.right.baseline * 1.4
    assert found.excess_interval[0] > 0.15
    assert abs(found.right_by_chance - found.right.baseline) < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("method", [Mondrian(requirements=[KAnonymity(k=10)]), StackAndDeal(k=10, seed=1)])
def test_who_knows_the_others_of_a_class_learns_more_than_its_regions_tell(method: Algorithm) -> None:
    require("adult.csv")
    release = method.anonymize(adult_sample(15_000))
    by_people = attacks.definetti(release, "occupation")
    by_regions = attacks.definetti(release, "occupation", learns_from="regions", draws=0)
    assert by_people.recall > by_regions.recall > by_regions.recall.baseline
    assert by_people.excess_interval[0] > 0.05


def test_slicing_is_attacked_in_its_buckets() -> None:
    data = by_town(1_500, 2)
    sliced = Slicing(l=2, attribute_columns=[["town"], ["trade", "sex"], ["ill"]]).anonymize(data)
    found = attacks.definetti(sliced, "ill")
    assert found.right > found.right.baseline + 0.2
    assert found.excess_interval[0] > 0.1
