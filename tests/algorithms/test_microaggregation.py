"""Microaggregation: MDAV and merging against plain twins, the bound of strata, and the promises of every variant."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import CancelledError, DataError, Hierarchy, InfeasibleError, Microdata, privacy
from anoncore.algorithms import Microaggregation
from anoncore.algorithms.closeness.locality import QuasiSpace
from anoncore.algorithms.closeness.microaggregation import Strata, worst_distance
from anoncore.datasets import table
from anoncore.kernels import nearest, swapping
from anoncore.kernels.nearest import centers, draw_strata, mdav, merge_until_close
from anoncore.release.partition import Partition
from anoncore.requirements import CheckSet, TCloseness
from anoncore.requirements.t_closeness import ground_reference
from tests.kernels.from_python import from_python
from tests.shared_data import needs

from .close_tables import close_tables, contents, plain_ordered, shuffled
from .plain_locality import PlainSpace, plainly_merged
from .plain_microaggregation import PlainClusters

distance, worst_excess = from_python(nearest.distance), from_python(swapping.worst_excess)
needs_adult = needs("adult.csv")
VARIANTS = ["merge", "swap", "t-first"]
CLUSTERINGS = ["halving", "nearest"]


def plane(n: int, seed: int) -> Microdata:
    """Points in general position with a category, so that no two distances tie."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"a": rng.random(n), "b": rng.random(n), "c": rng.choice(list("xyz"), n), "s": rng.integers(0, 4, n)}
    )
    return Microdata(frame, roles={**dict.fromkeys("abc", "quasi-identifier"), "s": "sensitive"})


def twin_of(space: QuasiSpace) -> PlainClusters:
    return PlainClusters(space.kernel.point.tolist(), [True, True, False])


def clusters_of(group) -> set[frozenset[int]]:
    partition = Partition(group)
    return {frozenset(partition.rows(number).tolist()) for number in range(partition.n_groups)}


@pytest.mark.slow
@settings(max_examples=20)
@given(n=st.integers(1, 40), k=st.integers(1, 6), seed=st.integers(0, 9999))
def test_clusters_are_those_of_plain_mdav(n, k, seed):
    data = plane(n, seed)
    space = QuasiSpace.of(data, 0)
    checks = CheckSet((), data)
    group = np.full(n, -1, dtype=np.int32)
    rows = np.arange(n)
    n_clusters = mdav(space.kernel, rows, k, checks.cells, checks.kernel, group, 0)
    assert n_clusters == group.max() + 1
    expected = twin_of(space).mdav(rows.tolist(), k)
    assert clusters_of(group) == {frozenset(cluster) for cluster in expected}


@settings(max_examples=20)
@given(n=st.integers(4, 40), seed=st.integers(0, 9999), t=st.sampled_from([0.3, 0.15, 0.0]))
def test_clusters_are_merged_as_the_plain_twin_merges(n, seed, t):
    data = plane(n, seed)
    space = QuasiSpace.of(data, 0)
    group = (np.random.default_rng(seed).permutation(n) % (n // 2)).astype(np.int32)
    partition = Partition(group)
    wanted = TCloseness(t=t, ground="ordered")
    checks = CheckSet((wanted,), data)
    averages = centers(space.kernel, partition.order, partition.starts)
    codes, m = data.codes["s"], len(data.domain["s"])
    counts = partition.histogram(codes, m).astype(np.int32)
    into = merge_until_close(space.attributes, averages, partition.sizes.copy(), counts, checks.kernel, n)
    whole = np.bincount(codes, minlength=m)

    def excess(rows: set[int]) -> float:
        over = plain_ordered(np.bincount(codes[list(rows)], minlength=m), whole) - t
        return over if over > 1e-9 else 0.0

    merged = clusters_of(np.unique(into[group], return_inverse=True)[1])
    assert all(excess(set(rows)) == 0 for rows in merged)
    starting = [excess(set(rows)) for rows in clusters_of(group)]
    if len(set(starting)) == len(starting):
        plain = twin_of(space).merged([set(partition.rows(g).tolist()) for g in range(partition.n_groups)], excess)
        assert sum(map(len, plain)) == n
        assert abs(len(plain) - len(merged)) <= max(1, len(plain) // 4)


@settings(max_examples=20)
@given(
    data=close_tables(most=40), seed=st.integers(0, 9999), t=st.sampled_from([0.3, 0.15, 0.0]), reach=st.integers(1, 9)
)
def test_clusters_within_reach_are_merged_as_the_plain_twin_merges(data, seed, t, reach):
    space, n = QuasiSpace.of(data, 0), data.n_rows
    group = (np.random.default_rng(seed).permutation(n) % max(n // 3, 1)).astype(np.int32)
    partition, checks = Partition(group), CheckSet((TCloseness(t=t, ground="equal"),), data)
    averages = centers(space.kernel, partition.order, partition.starts)
    counts = np.hstack([partition.histogram(view.codes, view.size) for view in checks.views]).astype(np.int32)

    def excess(mine: np.ndarray, size: int) -> float:
        return float(worst_excess(checks.kernel, mine.astype(np.int64), size))

    expected = plainly_merged(
        PlainSpace(space.attributes, space.codes),
        averages.T.copy(),
        partition.sizes.tolist(),
        list(counts.astype(np.int64)),
        excess,
        reach,
    )
    sizes = partition.sizes.copy()
    into = merge_until_close(space.attributes, averages, sizes, counts, checks.kernel, reach)
    assert into.tolist() == expected


def test_the_distance_mixes_numbers_categories_and_hierarchies():
    tree = Hierarchy.from_nested({"low": ["u", "v"], "high": {"odd": ["w", "x"], "even": ["y"]}})
    frame = pd.DataFrame({"age": [20, 30, 60, 25, 25], "town": list("aabab"), "job": list("uvywx")})
    data = Microdata(frame, roles=dict.fromkeys(frame, "quasi-identifier"), hierarchies={"job": tree})
    space = QuasiSpace.of(data, 0)
    point = space.kernel.point
    apart = [distance(space.attributes, point[0], point[row]) for row in range(3)]
    assert apart == pytest.approx([0, 0.25 + 0 + 1 / 4, 1 + 1 + 1])


@pytest.mark.parametrize(("n", "size"), [(60, 5), (60, 12), (24, 24), (30, 1)])
def test_the_bound_of_strata_is_the_papers_where_every_value_occurs_once(n, size):
    frame = pd.DataFrame({"q": range(n), "s": range(n)})
    data = Microdata(frame, roles={"q": "quasi-identifier", "s": "sensitive"})
    reference = ground_reference(data, data.sensitive_view("s"), "ordered")
    found = worst_distance(reference, n, size, n // size, 0)
    assert found == pytest.approx((n - size) / (2 * (n - 1) * size))


@settings(max_examples=20)
@given(
    counts=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    size=st.integers(1, 4),
    ground=st.sampled_from(["ordered", "interval", "equal"]),
)
def test_no_cluster_of_one_row_per_stratum_is_beyond_the_bound(counts, size, ground):
    codes = np.repeat(np.arange(len(counts)), counts)
    n = len(codes)
    size = min(size, n)
    n_clusters = n // size
    size = n // n_clusters
    extra = n - size * n_clusters
    data = Microdata(pd.DataFrame({"q": range(n), "s": codes**2}), roles={"q": "quasi-identifier", "s": "sensitive"})
    (check,) = TCloseness(t=1.0, ground=ground).checks(data)
    strata = Strata(np.zeros(n, dtype=np.int32), size, n_clusters, extra)
    held = np.bincount(strata.places.bucket, minlength=size)
    begins = np.concatenate(([0], np.cumsum(held)))
    choices = [sorted(set(codes[begins[b] : begins[b + 1]])) for b in range(size)]
    worst = 0.0
    for doubled in {False} if extra == 0 else {True} if extra == n_clusters else {False, True}:
        axes = [*choices, choices[strata.middle]] if doubled else choices
        for taken in product(*axes):
            level = check.levels(Partition(np.zeros(len(taken), dtype=int)), np.array(taken, dtype=np.int32))
            worst = max(worst, float(level[0]))
    found = worst_distance(check.reference, len(data.domain["s"]), size, n_clusters, extra, ground != "equal")
    if ground != "equal":
        assert found == pytest.approx(worst)
    else:
        assert found >= worst - 1e-9


@pytest.mark.slow
@settings(max_examples=30)
@given(n=st.integers(1, 40), size=st.integers(1, 6), seed=st.integers(0, 999))
def test_every_cluster_takes_one_row_of_each_stratum(n, size, seed):
    data = plane(n, seed)
    strata = Strata.within(data, "s", "ordered", 1.0, min(size, n), np.arange(n))
    space = QuasiSpace.of(data, 0)
    group = np.full(n, -1, dtype=np.int32)
    used = draw_strata(space.kernel, np.arange(n), strata.of_row, strata.size, strata.middle, group, 0)
    assert used == strata.n_clusters
    held = Partition(group).histogram(strata.of_row, strata.size)
    assert (np.delete(held, strata.middle, axis=1) == 1).all()
    assert set(held[:, strata.middle].tolist()) <= {1, 2}


@pytest.mark.slow
@settings(max_examples=30)
@given(
    data=close_tables(most=60),
    k=st.integers(1, 8),
    t=st.sampled_from([0.5, 0.2, 0.08, 0.0]),
    variant=st.sampled_from(VARIANTS),
    clustering=st.sampled_from(CLUSTERINGS),
    ground=st.sampled_from(["ordered", "interval", "equal"]),
)
def test_every_variant_keeps_k_and_t(data, k, t, variant, clustering, ground):
    k = min(k, data.n_rows)
    model = Microaggregation(k=k, t=t, variant=variant, clustering=clustering, ground=ground, seed=0)
    if variant == "t-first" and len(data.sensitive) > 1:
        with pytest.raises(DataError, match="one sensitive attribute"):
            model.anonymize(data)
        return
    release = model.anonymize(data)
    assert release.partition.sizes.min() >= k
    for name in data.sensitive:
        assert privacy.emd(release, name, ground=ground).max() <= t + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("clustering", CLUSTERINGS)
def test_row_order_does_not_matter(variant, clustering):
    data = plane(150, 4)
    model = Microaggregation(k=4, t=0.15, variant=variant, clustering=clustering, seed=2)
    assert contents(model.anonymize(data)) == contents(model.anonymize(shuffled(data, 9)))


@pytest.mark.parametrize("variant", VARIANTS)
def test_blocks_keep_the_promises_of_large_tables(variant):
    data = plane(900, 1)
    model = Microaggregation(k=5, t=0.1, variant=variant, clustering="nearest", block_rows=150, seed=0)
    release = model.anonymize(data)
    assert release.partition.sizes.min() >= 5
    assert privacy.emd(release, "s").max() <= 0.1 + 1e-9
    assert release.partition.n_groups > 20


def test_swapping_makes_clusters_close_that_merging_would_lose():
    data = plane(300, 7)
    found = {
        variant: Microaggregation(k=6, t=0.12, variant=variant, clustering="nearest", seed=0).anonymize(data)
        for variant in ("merge", "swap")
    }
    assert found["swap"].partition.n_groups > found["merge"].partition.n_groups


def test_what_cannot_be_done_is_said():
    data = plane(5, 0)
    with pytest.raises(InfeasibleError) as caught:
        Microaggregation(k=6).anonymize(data)
    assert caught.value.nearest == 5

    def stop(done: float, text: str) -> None:
        if done > 0:
            raise CancelledError("stop")

    with pytest.raises(CancelledError):
        Microaggregation(k=2).anonymize(data, stop)


@pytest.mark.slow
@needs_adult
@pytest.mark.parametrize("variant", VARIANTS)
def test_adult_is_clustered_with_every_promise(variant):
    quasi = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex"]
    frame = table("adult").load()[[*quasi, "hours-per-week"]]
    data = Microdata(frame, roles={**dict.fromkeys(quasi, "quasi-identifier"), "hours-per-week": "sensitive"})
    release = Microaggregation(k=5, t=0.1, variant=variant, seed=0).anonymize(data)
    assert release.partition.sizes.min() >= 5
    assert privacy.emd(release, "hours-per-week").max() <= 0.1 + 1e-9
    assert release.partition.n_groups > 4_000
