"""Joins of fragments equal those written out row by row, and by every way to fill a class of a set of values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore import AnonymizationError, GroupValues, Microdata, Release, privacy
from anoncore.algorithms import VerticalFragmentation

from . import joins
from .fragments import COMMON, Fragments, random_fragments
from .tables import SEEDS

approx = pytest.approx


def asked(random: Random) -> tuple[int, int, float]:
    return random.choice([1, 2, 3, 5]), random.choice([1, 2]), random.choice([0.3, 0.5, 0.9, 1.0])


class Joins:
    """All joins of one class each of certain fragments: their rows, their levels, and which of them break something."""

    def __init__(self, classes: Sequence[list[list[joins.Filled]]], sets: bool, k: int, l: int, delta: float) -> None:
        combined = list(product(*classes))
        self.rows = [joins.joined_rows([ways[0] for ways in one]) for one in combined]
        eta = [joins.eta(one, k) for one in combined]
        self.levels = eta if sets else [len(rows) or None for rows in self.rows]
        self.broken = [level is not None and level < (delta if sets else k) for level in self.levels]
        self.uniform = [0 < len(set(rows)) < l for rows in self.rows]
        self.reduced = [self.each_takes_away([set(ways[0]) for ways in one]) for one in combined]

    @staticmethod
    def each_takes_away(values: list[set[Any]]) -> bool:
        """Whether the classes have a value in common, and any fewer of them more values."""
        common = set.intersection(*values)
        fewer = [set.intersection(*some) for size in range(2, len(values)) for some in combinations(values, size)]
        return bool(common) and all(len(one) > len(common) for one in fewer)

    def lowest(self) -> float | None:
        return min((float(level) for level in self.levels if level is not None), default=None)


def check_all(check: privacy.JoinCheck, ways: list[list[list[joins.Filled]]], sets: bool, told: Any) -> None:
    """Two fragments are counted in full; of more, at least the joins that no join of fewer of their classes bounds."""
    k, l, delta = check.k, check.l, check.delta
    safe = True
    assert len(check.joins) == 2 ** len(ways) - 1 - len(ways), told
    for found in check.joins:
        classes = [ways[int(name.removeprefix("F")) - 1] for name in found.fragments]
        expected = Joins(classes, sets, k, l, delta if delta is not None else 1)
        linked = [rows for rows in expected.rows if rows]
        assert found.n_joins == len(expected.rows), told
        safe = safe and not any(expected.broken) and not any(expected.uniform)
        if len(classes) == 2:
            assert found.n_broken == sum(expected.broken), told
            assert found.n_uniform == sum(expected.uniform), told
            assert found.lowest == (None if not linked else approx(expected.lowest())), told
            assert found.n_linked == len(linked), told
            assert found.fewest_values == min((len(set(rows)) for rows in linked), default=None), told
            if linked and not sets:
                largest = max(rows.count(value) / len(rows) for rows in linked for value in rows)
                assert found.largest_share == approx(largest), told
                assert found.lowest_diversity == approx(min(map(joins.diversity, linked))), told
        else:
            pairs = zip(expected.broken, expected.uniform, expected.reduced, strict=True)
            counted = [(broken, uniform) for broken, uniform, reduced in pairs if reduced]
            assert sum(broken for broken, _ in counted) <= found.n_broken <= sum(expected.broken), told
            assert sum(uniform for _, uniform in counted) <= found.n_uniform <= sum(expected.uniform), told
            levels = [float(level) for level in expected.levels if level is not None]
            assert found.lowest is None or any(math.isclose(found.lowest, level, abs_tol=1e-9) for level in levels)
            least = [float(level) for level, one in zip(expected.levels, expected.reduced, strict=True) if one]
            assert found.lowest is not None or not least, told
            assert not least or found.lowest <= min(least) + 1e-9, told
    assert check.holds == safe, told


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("sets", [False, True])
@pytest.mark.parametrize("published", [False, True])
def test_every_join_is_checked(seeds, sets, published):
    for seed in seeds:
        random = Random(f"joins {seed}")
        fragments = random_fragments(random)
        k, l, delta = asked(random)
        release = fragments.release(sets)
        check = privacy.joins(release, k=k, l=l, delta=delta, published=published)
        told = (k, l, delta, fragments)
        assert (check.common, check.k, check.l, check.delta) == (COMMON, k, l, delta if sets else None), told
        check_all(check, fragments.ways(sets, published), sets, told)
        if published and check.holds:
            assert privacy.require_safe_joins(release, k=k, l=l, delta=delta).holds, told
        elif published:
            with pytest.raises(AnonymizationError, match="not safe to join"):
                privacy.require_safe_joins(release, k=k, l=l, delta=delta)


def pair(fragments: Fragments, sets: bool, places: tuple[int, int], published: bool) -> tuple[Any, Any]:
    """Levels of the joins of two fragments and which are broken, by the thresholds of releases of no algorithm."""
    first, second = (fragments.ways(sets, published)[place] for place in places)
    found = Joins([first, second], sets, k=2, l=1, delta=0.5)
    empty = math.nan if sets else 0.0
    levels = np.array([empty if level is None else float(level) for level in found.levels])
    shape = len(first), len(second)
    return levels.reshape(shape), np.array(found.broken).reshape(shape)


def severity(levels: Any, broken: Any) -> Iterator[tuple[int, float]]:
    """By class, what the worst ones have less of: fewer safe joins, then a smaller lowest level."""
    for one, unsafe in zip(levels, broken, strict=True):
        linked = one[(one > 0) | unsafe]
        yield -int(unsafe.sum()), min(linked, default=math.inf)


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("sets", [False, True])
def test_joins_of_two_fragments_are_listed(seeds, sets):
    for seed in seeds:
        fragments = random_fragments(Random(f"pairs {seed}"))
        release = fragments.release(sets)
        places = tuple(Random(seed).sample(range(len(fragments.group)), 2))
        (before, broken), (after, broken_after) = (
            pair(fragments, sets, places, published) for published in (False, True)
        )
        told = (sets, places, fragments)
        for published, levels in ((False, before), (True, after)):
            np.testing.assert_allclose(privacy.pair_levels(release, *places, published=published), levels)
        for published, levels, unsafe in ((False, before, broken), (True, after, broken_after)):
            listed = privacy.unsafe_pairs(release, *places, published=published)
            cells = list(zip(listed["first class"], listed["second class"], strict=True))
            assert sorted(cells) == [tuple(cell) for cell in np.argwhere(unsafe).tolist()], told
            assert listed["level"].tolist() == approx(sorted(levels[unsafe].tolist())), told
            classes = [fragments.classes(published)[place] for place in places]
            for row in listed.to_dict("records"):
                first, second = classes[0][row["first class"]], classes[1][row["second class"]]
                assert (row["first rows"], row["second rows"]) == (len(first), len(second)), told
                assert row["common values"] == len(set(first) & set(second)), told
                cell = row["first class"], row["second class"]
                assert row["level"] == approx(levels[cell]), told
                assert published or row["published level"] == approx(after[cell], nan_ok=True), told
        worst = privacy.worst_joins(release, *places, most=2)
        assert (worst.threshold, worst.by_eta) == (0.5 if sets else 2, sets), told
        assert (worst.n_broken, worst.n_joins) == (broken.sum(), broken.size), told
        shown = np.ix_(worst.first, worst.second)
        np.testing.assert_allclose(worst.before, before[shown])
        np.testing.assert_allclose(worst.after, after[shown])
        np.testing.assert_array_equal(worst.broken_before, broken[shown])
        np.testing.assert_array_equal(worst.broken_after, broken_after[shown])
        for taken, ranks in (
            (worst.first, list(severity(before, broken))),
            (worst.second, list(severity(before.T, broken.T))),
        ):
            assert [ranks[place][0] for place in taken] == [rank[0] for rank in sorted(ranks)[:2]], told


def table(seed: int) -> Microdata:
    random = Random(f"vertical {seed}")
    n = random.choice([4, 6, 9])
    columns = {
        name: pd.Series([random.choice([*range(5), None]) for _ in range(n)], dtype="Float64") for name in ("a", "b")
    }
    columns["d"] = pd.Series([random.choice("uvw") for _ in range(n)], dtype=object)
    columns[COMMON] = pd.Series([random.choice(["x", "x", "y", "z", None]) for _ in range(n)], dtype=object)
    return Microdata(pd.DataFrame(columns), {**dict.fromkeys("abd", "quasi-identifier"), COMMON: "sensitive"})


def shown_classes(release: Release) -> list[list[list[joins.Filled]]]:
    """Every way to fill each class of a real release, from its cells."""
    found = []
    for fragment in release.fragments:
        recoding, group = fragment.recodings[COMMON], fragment.partition.group.tolist()
        each = []
        for number in range(max(group) + 1):
            if isinstance(recoding, GroupValues):
                each.append(joins.fillings(recoding.values(number).tolist(), group.count(number)))
            else:
                codes = recoding.codes.tolist()
                each.append([[code for code, g in zip(codes, group, strict=True) if g == number]])
        found.append(each)
    return found


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("enforce", ["naive", "dependency", "selectivity"])
@pytest.mark.parametrize("fragments", [2, 3])
def test_what_the_method_makes_is_safe(seeds, enforce, fragments):
    for seed in seeds:
        data = table(seed)
        k, delta = Random(seed).choice([(2, 0.5), (2, 1.0), (3, 0.3), (4, 0.7)])
        method = VerticalFragmentation(k=k, delta=delta, fragments=fragments, enforce=enforce, seed=seed)
        release = method.anonymize(data)
        ways, told = shown_classes(release), (k, delta, data.frame)
        sets = enforce == "selectivity"
        assert all(len(filled) >= k for each in ways for one in each for filled in one), told
        for some in (some for size in range(2, len(ways) + 1) for some in combinations(ways, size)):
            assert not any(Joins(some, sets, k, 1, delta).broken), told
        assert privacy.joins(release).holds, told
