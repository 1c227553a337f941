"""Refinement: against all tables that the classes allow, by hand, on opened releases, and on Adult."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

from anoncore import Hierarchy, Microdata, ParameterError, Release, ReleaseError, attacks
from anoncore.algorithms import Anatomy, LocalRecoding, Mondrian, OptimalRecoding
from anoncore.attacks.combinatorial_refinement import ALONE, LEFT_OVER, least_share
from anoncore.requirements import DistinctDiversity, KAnonymity
from tests.algorithms.plain_local_recoding import PlainLocalRecoding, Row
from tests.algorithms.test_incognito import arx_adult, needs_data
from tests.attacks.naive_refinement import (
    Combination,
    by_rule,
    is_possible,
    least_belief,
    n_worlds,
    order,
    worlds,
)
from tests.attacks.test_definetti import FEW_AND_MANY

KNOWN = ["age", "sex"]
AGES = {age: (age, f"{age[0]}0s", "*") for age in ("21", "22", "31", "32", "33")}
SEXES = {sex: (sex, "*") for sex in "fm"}
PATHS = (AGES, SEXES)
ROLES = dict.fromkeys(KNOWN, "quasi-identifier") | {"ill": "sensitive"}
HIERARCHY = {"age": Hierarchy.from_table(pd.DataFrame(AGES.values()))}
MOST_WORLDS = 250


def table(rows: list[tuple[str, str, str]], as_numbers: bool = False) -> Microdata:
    """A table of people, whose ages have a hierarchy or are numbers without one."""
    frame = pd.DataFrame(rows, columns=[*KNOWN, "ill"])
    if as_numbers:
        return Microdata(frame.astype({"age": int}), ROLES, kinds={"age": "numeric"})
    return Microdata(frame, ROLES, kinds={"age": "nominal"}, hierarchies=HIERARCHY)


def paths_of(data: Microdata) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """The path of every age and every sex."""
    return (AGES if data.domain["age"].tree is not None else {age: (age, "*") for age in AGES}), SEXES


def combination_of(data: Microdata, row: int) -> Combination:
    """What is known of a person."""
    return tuple(paths[str(data.frame[name].iloc[row])] for name, paths in zip(KNOWN, paths_of(data), strict=True))


def classes_of(release: Release) -> list[list[Combination]]:
    """The combinations of values that the cells of each class allow."""
    data = release.data
    return [
        list(
            product(
                *(
                    [paths[data.domain[name].texts[code]] for code in release.recoding(name).values(group)]
                    for name, paths in zip(KNOWN, paths_of(data), strict=True)
                )
            )
        )
        for group in range(release.partition.n_groups)
    ]


def random_release(seed: int) -> Release:
    """A local recoding of a few rows that has generalized classes and not too many worlds."""
    rng = np.random.default_rng(seed)
    while True:
        n = int(rng.integers(5, 13))
        rows = list(zip(rng.choice(list(AGES), n), rng.choice(list(SEXES), n), rng.choice(list("abc"), n), strict=True))
        data = table(rows, as_numbers=seed % 4 == 3)
        release = LocalRecoding(requirements=[KAnonymity(k=int(rng.integers(2, 4)))]).anonymize(data)
        classes = classes_of(release)
        if any(len(allowed) > 1 for allowed in classes) and n_worlds(classes, release.partition.sizes) <= MOST_WORLDS:
            return release


def losses(data: Microdata) -> list[dict[tuple[str, ...], list[float]]]:
    """The loss of each value at each level, by the values that the table has."""
    found = []
    for name, paths in zip(KNOWN, paths_of(data), strict=True):
        values = [paths[value] for value in data.domain[name].texts]
        found.append(
            {
                path: [
                    (sum(other[level] == path[level] for other in values) - 1) / max(len(values) - 1, 1)
                    for level in range(len(path))
                ]
                for path in values
            }
        )
    return found


class WithoutRest(PlainLocalRecoding):
    """Local recoding that leaves out the rows that are left over."""

    def join(self, rest: list[Row], found: list[list[Row]]) -> list[list[Row]]:
        return found


def is_made(release: Release, world: Sequence[Counter[Combination]], k: int, leaves_rest: bool) -> bool:
    """Whether local recoding makes the classes of a release, with the rows that they have in a world, of these rows.

    Unless it `leaves_rest`, no row may be left over.
    """
    data = release.data
    domains = [data.domain[name] for name in KNOWN]
    texts = [domain.texts.tolist() for domain in domains]
    contents = [
        sorted(tuple(texts[a].index(path[0]) for a, path in enumerate(combination)) for combination in rows.elements())
        for rows in world
    ]
    bounds = [release.recoding(name) for name in KNOWN]
    plain = (PlainLocalRecoding if leaves_rest else WithoutRest)(domains, lambda group: len(group) >= k)
    made = []
    for group in plain.groups([row for rows in contents for row in rows], 100):
        cells = []
        for a, domain in enumerate(domains):
            low, high = min(row[a] for row in group), max(row[a] for row in group)
            spans = [plain.span(a, low, level) for level in range(plain.height(a) + 1)]
            lowest = next(span for span in spans if span[0] <= low and high <= span[1])
            cells.append((low, high) if domain.tree is None else lowest)
        made.append((cells, sorted(group)))
    published = [[(one.low[number], one.high[number]) for one in bounds] for number in range(len(world))]
    return sorted(made) == sorted(zip(published, contents, strict=True))


@pytest.mark.parametrize("seed", FEW_AND_MANY)
def test_bounds_are_those_of_all_tables_that_the_inequalities_allow(seed: int) -> None:
    """They hold for the true table, and for any of ten others of which local recoding makes these classes too."""
    release = random_release(seed)
    data, classes, sizes = release.data, classes_of(release), release.partition.sizes
    found = attacks.refinement(release, "ill", draws=0)
    true = [Counter() for _ in classes]
    for row in range(data.n_rows):
        combination = combination_of(data, row)
        true[release.partition.group[row]][combination] += 1
    known = release.algorithm.cell_knowledge(release).applies
    uses = [not any(allowed == classes[other] for other in np.flatnonzero(~known)) for allowed in classes]
    assert (LEFT_OVER in found.notes) == (not all(known))
    before = order(classes, losses(data))
    possible = [
        world for world in worlds(classes, sizes) if is_possible(world, classes, found.k, uses, [False] * 9, before)
    ]
    rng = np.random.default_rng(seed)
    every = list(worlds(classes, sizes)) if all(known) else []
    sample = [every[place] for place in rng.permutation(len(every))[:10]]
    same = [world for world in [*possible, *sample] if is_made(release, world, found.k, not all(known))]
    assert all(found.is_least)
    for number, codes, low, high in zip(found.cell_class, found.cell_codes, found.low, found.high, strict=True):
        combination = tuple(
            paths[data.domain[name].texts[code]] for name, paths, code in zip(KNOWN, paths_of(data), codes, strict=True)
        )
        counts = [world[number][combination] for world in possible]
        assert (low, high) == (min(counts), max(counts))
        assert low <= true[number][combination] <= high
        assert all(low <= world[number][combination] <= high for world in same)
    assert tuple(true) in same
    for row in range(data.n_rows):
        combination = combination_of(data, row)
        in_class = [data.frame["ill"].iloc[release.partition.rows(number)] for number in range(len(classes))]
        secret = data.frame["ill"].iloc[row]
        shares = [Fraction(int((own == secret).sum()), len(own)) for own in in_class]
        least = least_belief(possible, combination, shares)
        assert found.without_attack[row] <= found.own_belief[row] + 1e-12
        assert found.own_belief[row] <= least + 1e-12
        fitting = [number for number in range(len(classes)) if any(world[number][combination] for world in possible)]
        if len(fitting) == 1:
            assert found.own_belief[row] == pytest.approx(float(least))


BOTH = HIERARCHY | {"sex": Hierarchy.from_table(pd.DataFrame(SEXES.values()))}


def made_by_arx_s_rule(seed: int) -> tuple[pd.DataFrame, pd.DataFrame, int]:
    """A few people, what ARX's rule publishes of them, and its k."""
    rng = np.random.default_rng(seed)
    while True:
        n, k = int(rng.integers(4, 9)), int(rng.integers(2, 4))
        people = pd.DataFrame(
            {"age": rng.choice(list(AGES), n), "sex": rng.choice(list(SEXES), n), "ill": rng.choice(list("abc"), n)}
        )
        rows = [(AGES[age], SEXES[sex]) for age, sex in zip(people["age"], people["sex"], strict=True)]
        domain = [{path: [level / 2 for level in range(len(path))] for path in paths.values()} for paths in PATHS]
        published = pd.DataFrame(by_rule(rows, domain, k), columns=KNOWN).assign(ill=people["ill"])
        if len(set(people["sex"])) == 2 and len(set(people["age"])) == len(AGES) and (published["age"] != "*").any():
            return people, published, k


def fitting(cell: str, paths: dict[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The values that a cell may stand for."""
    return [path for path in paths.values() if cell in path]


@pytest.mark.parametrize("seed", range(5))
def test_bounds_of_releases_made_by_arx_s_rule_are_those_of_all_tables_that_the_inequalities_allow(seed: int) -> None:
    people, published, k = made_by_arx_s_rule(seed)
    release = Release.from_published(published, ROLES, kinds={"age": "nominal"}, hierarchies=BOTH)
    found = attacks.refinement(release, "ill", k=k)
    assert ALONE in found.notes
    assert np.isnan([found.recall, found.control, found.located, *found.own_belief]).all()
    cells = published[KNOWN].apply(tuple, axis=1)
    first = [cells.iloc[release.partition.rows(group)[0]] for group in range(release.partition.n_groups)]
    classes = [list(product(*map(fitting, own, PATHS))) for own in first]
    suppressed = [own == ("*", "*") for own in first]
    true = [
        Counter(zip(*(part[name].map(paths) for name, paths in zip(KNOWN, PATHS, strict=True)), strict=True))
        for part in (people[cells == own] for own in first)
    ]
    possible = [
        world
        for world in worlds(classes, release.partition.sizes)
        if is_possible(world, classes, k, [True] * len(classes), suppressed, order(classes, None))
    ]
    for number, codes, low, high in zip(found.cell_class, found.cell_codes, found.low, found.high, strict=True):
        combination = tuple(
            paths[release.data.domain[name].texts[code]] for name, paths, code in zip(KNOWN, PATHS, codes, strict=True)
        )
        counts = [world[number][combination] for world in possible]
        assert (low, high) == (min(counts), max(counts))
        assert low <= true[number][combination] <= high


def test_the_original_of_an_opened_release_tells_who_is_breached() -> None:
    """Both of 31 have a; who else is between 30 and 39 has b or c, and is not 31."""
    people = pd.DataFrame({"age": ["31", "31", "32", "33", "21", "21"], "sex": list("ffffmm"), "ill": list("aabccc")})
    published = people.assign(age=["31", "31", "30s", "30s", "21", "21"])
    original = Microdata(people, ROLES, kinds={"age": "nominal"}, hierarchies=HIERARCHY)
    release = Release.from_published(published, ROLES, original=original)
    found = attacks.refinement(release, "ill", k=2)
    assert found.own_belief.tolist() == [1, 1, 0.5, 0.5, 1, 1]
    assert found.without_attack.tolist() == [0.5, 0.5, 0.5, 0.5, 1, 1]
    assert (float(found.recall), found.recall.baseline) == (pytest.approx(4 / 6), pytest.approx(2 / 6))
    assert (float(found.located), found.located.baseline) == (1.0, pytest.approx(4 / 6))
    with pytest.raises(ReleaseError, match="give its k"):
        attacks.refinement(release, "ill")
    with pytest.raises(ReleaseError, match="makes none with fewer than k"):
        attacks.refinement(release, "ill", k=3)


def test_a_release_that_local_recoding_cannot_have_made_is_refused() -> None:
    """Of seven people of three ages three have the same one, and would have been a class where k is 2 or 3.

    Of four people in their thirties with three ages two have the same one, whatever their sex.
    """
    published = pd.DataFrame({"age": ["30s"] * 7, "sex": ["f"] * 7, "ill": list("aabbccc")})
    release = Release.from_published(published, ROLES, kinds={"age": "nominal"}, hierarchies=HIERARCHY)
    assert attacks.refinement(release, "ill", k=4).low.tolist() == [1, 1, 1]
    with pytest.raises(ReleaseError, match="the release was made in another way"):
        attacks.refinement(release, "ill", k=3)
    of_both = published.iloc[:4].assign(sex="*")
    release = Release.from_published(of_both, ROLES, kinds={"age": "nominal"}, hierarchies=BOTH)
    with pytest.raises(ReleaseError, match="the release was made in another way"):
        attacks.refinement(release, "ill", k=2)
    original = table([("31", "f", "a"), ("32", "f", "a"), ("22", "f", "b"), ("33", "f", "b")])
    release = Release.from_published(published.iloc[:4], original=original)
    with pytest.raises(ReleaseError, match="the release was made in another way"):
        attacks.refinement(release, "ill", k=4)


@pytest.mark.parametrize("seed", range(5))
def test_parts_that_are_too_large_have_bounds_that_hold(seed: int) -> None:
    release = random_release(seed)
    exact, apart = attacks.refinement(release, "ill"), attacks.refinement(release, "ill", most_cells=1)
    assert (apart.low <= exact.low).all()
    assert (apart.high >= exact.high).all()
    assert (apart.own_belief <= exact.own_belief + 1e-12).all()
    assert len(apart.notes) == len(exact.notes) + (not all(apart.is_least))


def test_classes_with_too_many_cells_are_left_out_and_the_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    data = table([("31", "f", "a"), ("32", "f", "b"), ("21", "m", "c"), ("33", "m", "c")])
    release = LocalRecoding(requirements=[KAnonymity(k=2)]).anonymize(data)
    every = attacks.refinement(release, "ill")
    monkeypatch.setattr("anoncore.attacks.refined_counts.MOST_PAIRS", 18)
    some = attacks.refinement(release, "ill")
    assert 0 < len(some.low) < len(every.low)
    assert "so many combinations of values that their counts were not bounded" in some.notes[1]
    assert (some.own_belief <= every.own_belief).all()


@pytest.mark.parametrize("seed", range(20))
def test_the_least_share_is_the_least_of_all_counts_within_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    low = rng.integers(0, 2, n)
    high = np.maximum(low + rng.integers(0, 4, n), 1)
    shares = rng.integers(0, 5, n) / 4
    least = min(
        sum(np.array(counts) * shares) / sum(counts)
        for counts in product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))
        if any(counts)
    )
    assert least_share(low, high, shares) == pytest.approx(least)


def test_the_control_is_what_shuffled_secrets_give() -> None:
    data = table([(age, sex, ill) for age, sex in product(AGES, SEXES) for ill in "aab"][:-1])
    method = LocalRecoding(requirements=[KAnonymity(k=4)])
    found = attacks.refinement(method.anonymize(data), "ill", r=1.5, draws=2, seed=4)
    shares = []
    for seed in (5, 6):
        again = attacks.refinement(method.anonymize(data.with_shuffled("ill", seed)), "ill", r=1.5, draws=0)
        shares.append(float(again.recall))
    assert float(found.control) == pytest.approx(np.mean(shares))
    assert float(found.excess) == pytest.approx(float(found.recall) - np.mean(shares))
    assert np.isnan(attacks.refinement(method.anonymize(data), "ill", draws=0).control)


def test_only_local_recoding_by_k_alone_is_attacked() -> None:
    data = table([(age, sex, ill) for age, sex in product(AGES, SEXES) for ill in "ab"])
    k = KAnonymity(k=4)
    diverse = LocalRecoding(requirements=[k, DistinctDiversity(l=2)])
    for method in (Mondrian(requirements=[k]), OptimalRecoding(requirements=[k]), diverse, LocalRecoding(refine=True)):
        with pytest.raises(ReleaseError, match="minimality and downcoding"):
            attacks.refinement(method.anonymize(data), "ill")
    with pytest.raises(ReleaseError, match="minimality and downcoding"):
        attacks.refinement(Anatomy(l=2, seed=1).anonymize(data), "ill")
    release = LocalRecoding(requirements=[k]).anonymize(data)
    for wrong in ({"r": 0.5}, {"draws": -1}, {"k": 1}, {"most_cells": -1}):
        with pytest.raises(ParameterError):
            attacks.refinement(release, "ill", **wrong)


@pytest.mark.slow
@needs_data
def test_on_adult_nearly_everybody_s_class_is_certain() -> None:
    """Four known attributes and the occupation of 30,162 people, k = 5: figures of the page about attacks."""
    data = arx_adult(["age", "sex", "race", "education"], "occupation")
    release = LocalRecoding(requirements=[KAnonymity(k=5)]).anonymize(data)
    found = attacks.refinement(release, "occupation")
    assert (len(found.low), found.n_refused) == (30_646, 3_334)
    assert (float(found.narrowed), round(found.ruled_out, 3)) == (1.0, 0.644)
    assert (round(found.located, 4), round(found.located.baseline, 4)) == (0.999, 0.0002)
    assert (round(found.recall, 4), round(found.recall.baseline, 4)) == (0.0654, 0.0064)
    assert found.control < 0.01
    assert found.excess_interval[0] > 0.05
    alone = attacks.attribute_disclosure(release, "occupation")
    assert found.recall <= np.mean(alone.confidence > 0.5)
