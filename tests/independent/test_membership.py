"""Attacks on membership equal the enumeration of all tuples, linkings and joined rows on tiny random tables."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import isclose, prod
from random import Random
from typing import Any

import numpy as np
import pytest

from anoncore import Partition, Release, attacks
from tests.privacy.releases import fragment, sliced

from . import joins, membership
from .definitions import known_of, mean
from .fragments import random_fragments
from .tables import NUMBERS, SEEDS, TOWNS, WORK, Table, groups, texts

approx = pytest.approx


def tiny(numbers: str, seed: int) -> tuple[Random, Table]:
    """Up to six people with few different values, in up to four groups."""
    random = Random(f"membership {numbers} {seed}")
    n = random.choice([1, 2, 4, 5, 6])
    columns = {
        "age": NUMBERS[numbers](random, n),
        "town": texts(random, TOWNS[:3], n),
        "work": texts(random, list(WORK)[:3], n),
        "secret": texts(random, TOWNS[4:], n),
    }
    how = random.choice(["one-class", "random", "random", "each-alone"])
    return random, Table(columns, groups(random, how, n), {"work": WORK}, frozenset({"age"}))


def crowded(numbers: str, seed: int) -> tuple[Random, Table]:
    """A dozen people who are told apart by little, so that several groups are published with equal cells."""
    random = Random(f"crowded {numbers} {seed}")
    columns = {
        "age": NUMBERS[numbers](random, 12),
        "town": [random.choice(TOWNS[:2]) for _ in range(12)],
        "work": [random.choice(["clerk", "pupil"]) for _ in range(12)],
        "secret": [""] * 12,
    }
    return random, Table(columns, groups(random, "random", 12), {"work": WORK}, frozenset({"age"}))


def columns_of(random: Random) -> list[list[str]]:
    """Columns of a sliced table: some attributes, in any order, sometimes one of them in two columns."""
    names = random.sample(["age", "town", "work", "secret"], random.choice([2, 3, 4, 4]))
    cuts = sorted(random.sample(range(1, len(names)), min(random.choice([0, 1, 1, 2]), len(names) - 1)))
    columns = [names[low:high] for low, high in zip([0, *cuts], [*cuts, len(names)], strict=True)]
    if len(columns) > 1 and random.random() < 0.4:
        first, second = random.sample(range(len(columns)), 2)
        columns[second].append(random.choice(columns[first]))
    return columns


def by_class(counts: list[int]) -> list[int]:
    found = Counter(0 if count <= 10 else 1 if count <= 20 else 2 for count in counts)
    return [found[place] for place in range(3)]


@pytest.mark.slow
@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("numbers", NUMBERS)
def test_fake_tuples_and_matching_buckets(seeds, numbers):
    for seed in seeds:
        random, table = tiny(numbers, seed)
        columns = columns_of(random)
        release = sliced(table.data(), table.group, columns)
        published = [name for name in table.columns if any(name in column for column in columns)]
        for names in (published, random.sample(published, random.randint(1, len(published)))):
            expected = membership.fake_tuples(table.rows(), table.group, columns, names)
            found = attacks.membership(release, attributes=None if names is published else names)
            told = (names, columns, table)
            assert found.exact, told
            assert set(found.attributes) == set(names), told
            assert found.fake == len(expected.of_fakes), told
            assert found.interval == (found.fake, found.fake), told
            assert isclose(found.belief, expected.belief), told
            assert isclose(found.belief.baseline, expected.baseline), told
            assert found.matching_buckets.tolist() == expected.of_rows, told
            assert found.histogram["fake"].tolist() == by_class(expected.of_fakes), told
            assert found.histogram["original"].tolist() == by_class(expected.of_rows), told
            estimate = attacks.membership(
                release, attributes=names, exact=False, draws=400, confidence=1 - 1e-6, seed=seed
            )
            assert estimate.interval[0] <= len(expected.of_fakes) <= estimate.interval[1], told
            assert estimate.matching_buckets.tolist() == expected.of_rows, told


def label(value: Any) -> str:
    """What stands over a value of the secret, which is a text or missing."""
    return "(missing)" if value is None else str(value)


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("numbers", NUMBERS)
def test_what_is_inferred_about_one_person_step_by_step(seeds, numbers):
    for seed in seeds:
        random, table = tiny(numbers, seed)
        columns = columns_of(random)
        published = {name for column in columns for name in column}
        known = [name for name in table.quasi if name in published]
        largest = max(map(len, table.groups()))
        if "secret" not in published or len(columns) < 2 or not known or largest ** (len(columns) - 1) > 20:
            continue  # nothing to infer, or more ways to link rows than can be tried
        release = sliced(table.data(), table.group, columns)
        row = random.randrange(table.n_rows)
        person = table.rows()[row]
        expected = membership.fitting_buckets(table.rows(), table.group, columns, known, "secret", person)
        found = attacks.matching_buckets(release, "secret", row)
        told = (row, columns, table)
        assert found.own == table.group[row], told
        assert list(found.buckets.index) == list(expected), told
        total = sum(one.linked for one in expected.values())
        for number, one in expected.items():
            line = found.buckets.loc[number]
            assert line["size"] == table.group.count(number), told
            assert np.allclose(line["f"], float(one.linked)), told
            assert np.allclose(line["p"], float(one.linked / total)), told
            shown = dict(zip(release.fragments, one.columns, strict=True))
            for name, share in ((column.name, share) for column, share in shown.items()):
                assert np.allclose(line[name], float(share)), told
            values = {label(value): float(share) for value, share in one.values.items()}
            assert found.values.loc[number].tolist() == approx([values.get(one, 0.0) for one in found.values]), told
        belief = {label(value): float(share) for value, share in membership.belief(expected).items()}
        assert found.probability.tolist() == approx([belief.get(one, 0.0) for one in found.probability.index]), told
        assert set(belief) <= set(found.probability.index), told


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("numbers", NUMBERS)
def test_how_well_regions_hide_who_is_in_the_table(seeds, numbers):
    for random, table in [make(numbers, seed) for seed in seeds for make in (tiny, crowded)]:
        exact = random.sample(table.quasi, random.choice([0, 0, 1, 3]))
        data = table.data()
        partition = Partition(np.array(table.group, dtype=np.int32))
        ranges = [name for name in table.quasi if name not in exact]
        release = Release(data, (fragment(data, "release", partition, [*exact, "secret"], ranges),))
        expected = [membership.fitting_a_class(table, row, exact) for row in range(table.n_rows)]
        found = attacks.region_membership(release)
        told = (exact, table)
        assert found.fitting.tolist() == [fitting for fitting, _ in expected], told
        assert found.belief.tolist() == approx([there / fitting for fitting, there in expected]), told
        assert found.largest == approx(max(there / fitting for fitting, there in expected)), told
        assert found.mean == approx(mean([there / fitting for fitting, there in expected])), told
        n_members = len({known_of(table, row) for row in range(table.n_rows)})
        n_combinations = prod(len(set(table.columns[name])) for name in table.quasi)
        assert found.mean.baseline == approx(n_members / n_combinations), told


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("sets", [False, True])
def test_how_likely_the_join_holds_a_person(seeds, sets):
    for seed in seeds:
        fragments = random_fragments(Random(f"likelihood {seed}"))
        release, ways = fragments.release(sets), fragments.ways(sets)
        rows = {
            places: joins.expected_rows([one[place] for one, place in zip(ways, places, strict=True)])
            for places in product(*(range(len(each)) for each in ways))
        }
        alike = [fragments.alike(place) for place in range(len(ways))]
        own = [
            sum(rows[same] for same in product(*(one[group] for one, group in zip(alike, groups_of_row, strict=True))))
            for groups_of_row in zip(*fragments.group, strict=True)
        ]
        n_classes = [len({tuple(same) for same in one}) for one in alike]
        total = sum(rows.values())
        found = attacks.join_likelihood(release)
        told = (sets, fragments)
        assert found.common == "c", told
        assert found.total == approx(float(total)), told
        assert found.joined.tolist() == approx([float(one) for one in own]), told
        if total:
            likelihood = [float(one / total) for one in own]
            assert found.likelihood.tolist() == approx(likelihood), told
            assert found.largest == approx(max(likelihood)), told
            assert found.mean == approx(mean(likelihood)), told
            assert found.mean.baseline == approx(1 / prod(n_classes)), told
        assert found.unmatched == approx(own.count(0) / len(own)), told
