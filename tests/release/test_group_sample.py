"""Some groups of a release as a release of their own: the same cells, and everybody with the same chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import (
    AnonymizationError,
    Distorted,
    Exact,
    Fragment,
    Generalized,
    GroupValues,
    Kind,
    Microdata,
    Partition,
    Release,
)
from anoncore.algorithms import ALGORITHMS, Anatomy, Mondrian
from anoncore.base.random_numbers import generator
from anoncore.release import group_sample
from anoncore.release.group_sample import sampled
from anoncore.release.recoding import ColumnRegions, WrittenRegions
from anoncore.requirements import KAnonymity

N = 3_000
SLOW = {"attack-safe", "dp-marginals"}


def people(n: int = N, seed: int = 0) -> Microdata:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "town": rng.choice(list("ABCDE"), n),
            "sex": rng.choice(["f", "m"], n),
            "ill": rng.choice(["flu", "cold", "gout", "HIV"], n),
        }
    )
    roles = dict.fromkeys(["age", "town", "sex"], "quasi-identifier") | {"ill": "sensitive"}
    return Microdata(frame, roles, kinds={"age": Kind.NUMERIC})


def assert_same_cells(release: Release, part: Release, rows: np.ndarray) -> None:
    for before, after in zip(release.fragments, part.fragments, strict=True):
        for name, recoding in before.recodings.items():
            assert type(after.recodings[name]) is type(recoding)
            assert after.recodings[name].texts().tolist() == recoding.texts()[rows].tolist()
            assert part.data.codes[name].tolist() == release.data.codes[name][rows].tolist()


def rows_of_part(release: Release, part: Release) -> np.ndarray:
    """Which rows of the table are in the part, by the number that each row has in an attribute of its own."""
    return release.data.frame["row"].searchsorted(part.data.frame["row"])


def numbered(data: Microdata) -> Microdata:
    frame = data.frame.assign(row=np.arange(data.n_rows))
    return Microdata(frame, {**data.roles, "row": "insensitive"})


@pytest.mark.parametrize("name", sorted(name for name in ALGORITHMS if name not in SLOW))
def test_cells_of_whole_groups_stay_what_they_are(name: str) -> None:
    data = numbered(people(1_200))
    kind = ALGORITHMS[name]
    needed = {"mondrian": {"requirements": [KAnonymity(k=5)]}}.get(name, {})
    try:
        release = kind(**needed).anonymize(data)
    except AnonymizationError as error:
        pytest.skip(f"no release of this table with the usual parameters: {error}")
    found = sampled(release, 300, seed=3)
    if release.is_synthetic or not release.is_shared:
        assert (found.share, found.release) == (1.0, release)
        return
    rows = rows_of_part(release, found.release)
    assert found.share == len(rows) / 1_200
    assert_same_cells(release, found.release, rows)
    sizes = release.partition.sizes[np.unique(release.partition.group[rows])]
    if sizes.max() < 800:
        assert np.sort(found.release.partition.sizes).tolist() == np.sort(sizes).tolist(), "groups are whole"
    if release.suppressed_group is not None and found.release.suppressed_group is not None:
        stands = found.release.partition.group == found.release.suppressed_group
        assert (release.partition.group[rows][stands] == release.suppressed_group).all()


def test_every_form_of_cells_can_be_of_some_groups() -> None:
    data = people(900)
    partition = Partition((np.arange(900) // 3).astype(np.int32))
    age, ill = data.domain["age"], data.domain["ill"]
    codes = data.codes["ill"]
    regions = Generalized.of_rows(age, partition, data.codes["age"])
    written = np.array([f"group {number}" for number in range(300)], object)
    offsets, members = partition.value_sets(codes, len(ill))
    columns = Partition((np.arange(900) % 7).astype(np.int32))
    fragments = (
        Fragment("regions", partition, {"age": regions}),
        Fragment(
            "written",
            partition,
            {"age": WrittenRegions(age, partition, "interval", regions.low, regions.high, written=written)},
        ),
        Fragment("sets", partition, {"ill": GroupValues(ill, partition, offsets, members, codes)}),
        Fragment("changed", partition, {"ill": Distorted(ill, partition, codes[::-1].copy(), codes)}),
        Fragment("exact", partition, {"ill": Exact(ill, partition, codes)}),
        Fragment(
            "columns",
            partition,
            {"age": ColumnRegions(age, partition, Generalized.of_rows(age, columns, data.codes["age"]))},
        ),
        Fragment(
            "categories", partition, {"town": Generalized.of_rows(data.domain["town"], partition, data.codes["town"])}
        ),
    )
    release = Release(data, fragments)
    part = sampled(release, 200, seed=1).release
    groups = [
        sorted(part.data.frame.loc[part.partition.group == group, "age"]) for group in range(part.partition.n_groups)
    ]
    assert part.partition.n_groups in (66, 67)
    whole = [sorted(data.frame["age"][3 * group : 3 * group + 3]) for group in range(300)]
    assert all(group in whole for group in groups)
    rows = np.flatnonzero(np.isin(release.recoding("age").partition.group, [whole.index(group) for group in groups]))
    assert len(rows) >= part.data.n_rows
    for before, after in zip(release.fragments, part.fragments, strict=True):
        for name, recoding in after.recodings.items():
            assert isinstance(recoding, type(before.recodings[name]))
            assert set(recoding.texts()) <= set(before.recodings[name].texts())
            assert len(recoding.texts()) == part.data.n_rows
            assert recoding.loss().shape == (part.partition.n_groups,)


@given(st.integers(0, 200), st.integers(3, 9))
@settings(max_examples=20, deadline=None)
def test_shares_of_the_people_here_are_shares_of_all(seed: int, size: int) -> None:
    """Anatomy's groups are of two sizes or three, and what is drawn has as many people as was asked, by size."""
    release = Anatomy(l=3, seed=1).anonymize(people(N, seed))
    found = sampled(release, 30 * size, seed)
    assert abs(found.release.data.n_rows - 30 * size) <= 8
    large = (release.partition.sizes == release.partition.sizes.max()).mean()
    here = (found.release.partition.sizes == release.partition.sizes.max()).mean()
    assert abs(large - here) <= 2 / found.release.partition.n_groups


def test_everybody_has_the_same_chance_also_in_large_groups() -> None:
    """One group of 1,500 people is thinned, groups of five come whole: each person in one of five samples."""
    n = 3_000
    data = people(n)
    group = np.where(np.arange(n) < 1_500, 0, 1 + np.arange(n) // 5).astype(np.int32)
    group = np.unique(group, return_inverse=True)[1].astype(np.int32)
    partition = Partition(group)
    exact = {name: Exact(data.domain[name], partition, data.codes[name]) for name in data.attributes}
    release = Release(numbered(data), (Fragment("all", partition, exact),))
    times = np.zeros(n)
    for seed in range(60):
        part = sampled(release, 600, seed).release
        times[rows_of_part(release, part)] += 1
        assert np.bincount(part.partition.group).max() == 300
    assert times[:1_500].mean() / 60 == pytest.approx(0.2)
    assert times[1_500:].mean() / 60 == pytest.approx(0.2, abs=0.005)
    assert times.max() < 28


def test_the_standard_error_is_that_of_groups() -> None:
    """People of one group think alike, so that a sample of groups varies as much as its groups do."""
    n = 6_000
    data = people(n)
    partition = Partition((np.arange(n) // 6).astype(np.int32))
    exact = {name: Exact(data.domain[name], partition, data.codes[name]) for name in data.attributes}
    release = Release(numbered(data), (Fragment("all", partition, exact),))
    told = np.repeat(np.random.default_rng(2).random(n // 6) < 0.3, 6)
    means, errors = [], []
    for seed in range(200):
        found = sampled(release, 600, seed)
        here = told[rows_of_part(release, found.release)]
        means.append(here.mean())
        errors.append(found.standard_error(here, found.release.partition.group))
    assert np.mean(means) == pytest.approx(told.mean(), abs=0.01)
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.15)


def test_small_and_synthetic_releases_stay_whole() -> None:
    release = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(people(500))
    assert sampled(release, 300).release is release
    assert sampled(release, 300).share == 1.0
    assert sampled(release, 100) is sampled(release, 100), "it is drawn once"


def test_a_suppressed_group_is_still_one() -> None:
    data = numbered(people(2_000))
    partition = Partition((np.arange(2_000) // 20).astype(np.int32))
    regions = {"age": Generalized.of_rows(data.domain["age"], partition, data.codes["age"])}
    release = Release(data, (Fragment("all", partition, regions),), suppressed_group=7)
    came = set()
    for seed in range(20):
        part = sampled(release, 500, seed).release
        suppressed = part.data.frame["row"].between(140, 159)
        assert (part.suppressed_rows == suppressed).all()
        came.add(bool(suppressed.any()))
    assert came == {True, False}


def test_groups_that_are_thinned_give_the_first_rows_of_a_random_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain way: all rows in a random order, sorted by group; of a large group its first rows are taken."""
    monkeypatch.setattr(group_sample, "FEWEST_THINNED", 20)
    data = numbered(people())
    sizes = np.array([700, 800, *[75] * 20])
    partition = Partition(np.random.default_rng(5).permutation(np.repeat(np.arange(len(sizes)), sizes)))
    exact = {name: Exact(data.domain[name], partition, data.codes[name]) for name in data.attributes}
    release = Release(data, (Fragment("all", partition, exact),))
    rows = rows_of_part(release, sampled(release, 300, seed=3).release)
    rng = generator(3)
    rng.random(20), rng.random()
    order = np.lexsort((rng.random(N), partition.group))
    ends = np.cumsum(sizes)
    for group, taken in ((0, 70), (1, 80)):
        first = order[ends[group] - sizes[group] :][:taken]
        assert sorted(first) == sorted(rows[partition.group[rows] == group])
    for group in set(partition.group[rows].tolist()) - {0, 1}:
        assert sorted(rows[partition.group[rows] == group]) == partition.rows(group).tolist()
