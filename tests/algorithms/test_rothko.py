"""The Rothko algorithms in memory: the tree is Mondrian's, the sampling keeps its requirements and says what it did."""

from __future__ import annotations

import copy
import pickle
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, Hierarchy, InfeasibleError, Microdata, ParameterError, Release, privacy
from anoncore.algorithms import Mondrian, RothkoSampling, RothkoTree
from anoncore.algorithms.rothko.partition_tree import PartitionTree
from anoncore.algorithms.rothko.rothko import Rothko
from anoncore.algorithms.rothko.rothko_sampling import Sampling, counted, divided, grown, prune
from anoncore.algorithms.rothko.rows import MemoryRows
from anoncore.algorithms.rothko.setting import Setting, Statistics
from anoncore.datasets.rothko_synthetic import load_rothko
from anoncore.engines.file_rows import RowsWriter, rows_batch, rows_schema
from anoncore.requirements import EntropyDiversity, KAnonymity, Requirement, TCloseness, VarianceDiversity
from tests.papers.rothko_runs import coded

from .test_mondrian import REQUIREMENTS, people

COUNTABLE = [one for one in REQUIREMENTS if not any(isinstance(part, VarianceDiversity) for part in one)]
TINY = 1e-4
"""Megabytes of frontier memory that hold a set or two, so that rows are divided often."""


def made(algorithm: Rothko | Mondrian, data: Microdata) -> Release | None:
    try:
        return algorithm.anonymize(data)
    except InfeasibleError:
        return None


@pytest.mark.slow
@given(
    data=people(),
    requirements=st.sampled_from(COUNTABLE),
    split=st.sampled_from(["median", "infogain"]),
    recoding=st.sampled_from(["rows", "regions"]),
    memory_rows=st.sampled_from([1, 2, 5, 40]),
    frontier_memory=st.sampled_from([TINY, 5 * TINY, 1.0]),
)
@settings(max_examples=60)
def test_the_tree_gives_mondrians_partition(data, requirements, split, recoding, memory_rows, frontier_memory):
    fields = {"requirements": requirements, "split": split, "target": "shoe", "recoding": recoding}
    expected = made(Mondrian(**fields, strict=True), data)
    found = made(RothkoTree(**fields, memory_rows=memory_rows, frontier_memory=frontier_memory), data)
    assert (found is None) == (expected is None)
    if expected is None or found is None:
        return
    np.testing.assert_array_equal(found.partition.group, expected.partition.group)
    for name in data.quasi_identifiers:
        assert found.recoding(name).group_texts.tolist() == expected.recoding(name).group_texts.tolist()


@pytest.mark.slow
@given(
    data=people(),
    requirements=st.sampled_from(REQUIREMENTS),
    split=st.sampled_from(["median", "infogain", "regression", "loss"]),
    memory_rows=st.integers(2, 12),
    growth=st.sampled_from(["memory", "confident"]),
    alpha=st.sampled_from([0.05, 0.5]),
    seed=st.integers(0, 5),
)
@settings(max_examples=40)
def test_the_sampling_keeps_every_requirement(data, requirements, split, memory_rows, growth, alpha, seed):
    algorithm = RothkoSampling(
        requirements,
        split=split,
        target="shoe",
        memory_rows=memory_rows,
        sample_rows=max(memory_rows - 1, 1),
        growth=growth,
        alpha=alpha,
        seed=seed,
    )
    release = made(algorithm, data)
    if release is None:
        return
    assert privacy.check(release, requirements) == ()
    if "No allowable cut is left" in release.notes[-1] and split == "median" and requirements == (KAnonymity(k=3),):
        assert_minimal(release, k=3)


def assert_minimal(release: Release, k: int) -> None:
    """No group has a clean cut of an attribute without hierarchy with k rows on both sides."""
    data = release.data
    for group in range(release.partition.n_groups):
        rows = release.partition.rows(group)
        for name in data.quasi_identifiers:
            if data.domain[name].tree is None:
                falls = np.cumsum(np.bincount(data.codes[name][rows]))
                assert not ((falls >= k) & (falls <= len(rows) - k)).any()


@pytest.fixture(scope="module")
def numbers() -> Microdata:
    roles = dict.fromkeys(("salary", "age", "loan"), "quasi-identifier") | {"zipcode": "sensitive"}
    return Microdata(load_rothko(6_000, seed=2), roles)


def test_a_table_that_fits_is_mondrians(numbers):
    expected = Mondrian((KAnonymity(k=10),), strict=True).anonymize(numbers).partition.group
    for algorithm in (RothkoTree, RothkoSampling):
        np.testing.assert_array_equal(algorithm((KAnonymity(k=10),)).anonymize(numbers).partition.group, expected)


def test_the_account_counts_scans_and_divisions(numbers):
    # 6,000 rows: two levels of the median (3,000 and 1,500), each one scan; one division into four files.
    note = RothkoTree((KAnonymity(k=10),), memory_rows=1_600).anonymize(numbers).notes[-1]
    assert "found in 2 scans and 1 divisions" in note


@pytest.mark.parametrize(
    ("requirements", "split"),
    [((KAnonymity(k=10),), "median"), ((KAnonymity(k=10),), "infogain"), ((EntropyDiversity(l=3),), "median")],
)
@pytest.mark.parametrize("levels", [1, 3, 5])
def test_each_level_takes_one_scan(numbers, requirements, split, levels):
    """The median halves the rows, and as many levels as it takes for parts that fit in memory are scanned once each.

    By information gain parts are uneven, and the depth of the tree above memory is counted by its own cuts.
    """
    memory_rows = int(6_000 / 2**levels * 1.05)
    data = Microdata(numbers.frame, {**numbers.roles, "C2": "insensitive"})
    model = RothkoTree(requirements, split=split, target="C2", memory_rows=memory_rows)
    setting = Setting.of(model, data)
    depth = {0: 0}
    split_node = PartitionTree.split

    def watched(tree, node, *cut):
        children = split_node(tree, node, *cut)
        depth.update(dict.fromkeys(children, depth[node] + 1))
        return children

    with patch.object(PartitionTree, "split", watched):
        parts = list(model.parts(setting, coded(data, setting)))
    assert sum(part.rows.n_rows for part in parts) == 6_000
    # A leaf that is larger than memory and has no cut takes a scan of its own level, too.
    has_large_leaf = any(part.is_class for part in parts)
    assert setting.counters.scans == max(depth.values()) + has_large_leaf
    assert setting.counters.repartitions == 1
    assert setting.counters.scans >= levels


class ScannedByTwo(MemoryRows):
    """Rows of which two workers scan a half each, with accumulators of their own that are sent over and merged."""

    def scan(self, accumulator):
        empty, half = pickle.dumps(accumulator), self.n_rows // 2
        for rows in (self.rows[:half], self.rows[half:]):
            own = pickle.loads(empty)
            own.add(rows)
            accumulator.merge(pickle.loads(pickle.dumps(own)))


def test_what_two_workers_count_is_merged(numbers):
    model = RothkoTree((EntropyDiversity(l=3),), memory_rows=900)
    parts = []
    for kind in (MemoryRows, ScannedByTwo):
        setting = Setting.of(model, numbers)
        found = model.parts(setting, kind(coded(numbers, setting).rows))
        parts.append([(part.rows.rows[:, -1].tolist(), part.region.tolist(), part.is_class) for part in found])
    assert parts[0] == parts[1]
    assert len(parts[0]) > 6


def test_rows_that_are_all_alike_are_one_class():
    data = Microdata(
        pd.DataFrame({"age": [40] * 30, "size": [3] * 30}), dict.fromkeys(("age", "size"), "quasi-identifier")
    )
    release = RothkoTree((KAnonymity(k=2),), memory_rows=5).anonymize(data)
    assert release.partition.n_groups == 1


def test_only_one_more_scan_where_the_likely_attributes_cannot_be_cut():
    """`a` and `b` are as wide as `c` and have but one row apart from the others, so that k = 3 forbids their cuts."""
    n = 400
    frame = pd.DataFrame({name: [0] * (n - 1) + [99] for name in "ab"} | {"c": np.arange(n) % 100})
    data = Microdata(frame, dict.fromkeys("abc", "quasi-identifier"))
    release = RothkoTree((KAnonymity(k=3),), memory_rows=250).anonymize(data)
    expected = Mondrian((KAnonymity(k=3),), strict=True).anonymize(data)
    np.testing.assert_array_equal(release.partition.group, expected.partition.group)
    assert "found in 2 scans and 1 divisions" in release.notes[-1]


@pytest.mark.parametrize("requirement", [KAnonymity(k=20), EntropyDiversity(l=4), TCloseness(t=0.3)])
def test_the_sampling_is_close_to_mondrian_and_repeatable(numbers, requirement: Requirement):
    algorithm = RothkoSampling((requirement,), memory_rows=1_500, seed=3)
    release = algorithm.anonymize(numbers)
    exact = Mondrian((requirement,), strict=True).anonymize(numbers)
    assert "No allowable cut is left" in release.notes[-1]
    assert release.partition.n_groups == pytest.approx(exact.partition.n_groups, rel=0.1)
    np.testing.assert_array_equal(algorithm.anonymize(numbers).partition.group, release.partition.group)
    assert (algorithm.replace(seed=4).anonymize(numbers).partition.group != release.partition.group).any()


def test_the_sample_does_not_depend_on_the_order_of_the_rows(numbers):
    algorithm = RothkoSampling((KAnonymity(k=20),), memory_rows=1_000, seed=3)
    frame = numbers.frame
    shuffled = np.random.default_rng(0).permutation(len(frame))
    turned = Microdata(frame.iloc[shuffled], numbers.roles)
    found = algorithm.anonymize(turned).partition.group
    np.testing.assert_array_equal(found, algorithm.anonymize(numbers).partition.group[shuffled])


@pytest.mark.slow
def test_wrong_cuts_are_undone_and_counted(numbers):
    algorithm = RothkoSampling((KAnonymity(k=20),), memory_rows=300, growth="confident", alpha=0.5, split="loss")
    release = algorithm.replace(seed=0).anonymize(numbers)
    assert "; 0 nodes" not in release.notes[-1]
    assert release.partition.sizes.min() >= 20
    careful = algorithm.replace(seed=0, alpha=1e-6).anonymize(numbers)
    assert "; 0 nodes" in careful.notes[-1]


@pytest.mark.parametrize("growth", ["memory", "confident"])
def test_the_sampling_reads_the_table_three_times(numbers, growth):
    """For the sample, to divide it while it is counted, and each part to finish it; it writes it once."""
    model = RothkoSampling((KAnonymity(k=20),), memory_rows=1_500, growth=growth, seed=3)
    setting = Setting.of(model, numbers)
    parts = list(model.parts(setting, coded(numbers, setting)))
    assert len(parts) > 3
    assert not any(part.is_class for part in parts)
    read = setting.counters.rows_read + sum(part.rows.n_rows for part in parts)
    assert (read, setting.counters.rows_written) == (3 * 6_000, 6_000)


@pytest.mark.parametrize("seed", [1, 3, 4, 5])  # of the first six those whose samples err
@pytest.mark.parametrize("kind", ["memory", "file"])
def test_parts_below_a_wrong_cut_are_put_together_again(numbers, seed, kind, tmp_path):
    """They are those of counting all rows first, pruning, and dividing by what is left of the tree."""
    # Medians of 60 rows are far from those of 6,000, so that sides which seem to have 500 rows often have fewer.
    model = RothkoSampling((KAnonymity(k=500),), memory_rows=60)
    setting = Setting.of(model, numbers)
    rows = coded(numbers, setting)
    sampling = Sampling(60, 1.0, until_memory=False, by_tree=True, generator=np.random.default_rng(seed))
    tree = grown(setting, sampling, rows, setting.region)
    grown_leaves = list(tree.leaves())
    statistics = Statistics(setting, tree, grown_leaves)
    rows.scan(statistics)
    expected_tree = copy.deepcopy(tree)
    prune(setting, expected_tree, counted(statistics, expected_tree))
    whole = rows.rows
    # The number of a row in its table is what is carried along here.
    expected = {leaf: sorted(part.rows[:, -1].tolist()) for leaf, part in MemoryRows(whole).divide(expected_tree)}
    if kind == "file":
        schema = rows_schema(whole.shape[1], [])
        writer = RowsWriter(tmp_path / "rows.arrow", schema)
        for begin in range(0, len(whole), 1_000):
            writer.write(rows_batch(whole[begin : begin + 1_000], [], schema))
        rows = writer.close()
    found = divided(setting, rows, tree)
    assert len(found) < len(grown_leaves)
    numbers_of = {
        leaf: sorted((part.rows[:, -1] if kind == "memory" else part.load()[0][:, -2]).tolist()) for leaf, part in found
    }
    assert numbers_of == expected
    assert all(part.n_rows == len(expected[leaf]) for leaf, part in found)
    if kind == "file":
        for _, part in found:
            part.drop()
        assert list(tmp_path.iterdir()) == []


def test_without_a_confident_cut_the_tree_takes_over():
    frame = pd.DataFrame({"age": np.arange(100)})
    data = Microdata(frame, {"age": "quasi-identifier"})
    algorithm = RothkoSampling((KAnonymity(k=45),), memory_rows=10, seed=0)
    release = algorithm.anonymize(data)
    assert release.partition.sizes.tolist() == [50, 50]
    assert "1 parts finished by counts" in release.notes[-1]
    by_loss = algorithm.replace(split="loss").anonymize(data)
    assert by_loss.partition.n_groups == 1
    assert "may be left" in by_loss.notes[-1]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("memory_rows", [7, 60])
def test_closeness_along_a_hierarchy_is_kept(seed, memory_rows):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(0, 40, 300), "size": rng.integers(0, 9, 300)})
    frame["ill"] = rng.choice(["flu", "cold", "gout", "ulcer"], 300)
    roles = {"age": "quasi-identifier", "size": "quasi-identifier", "ill": "sensitive"}
    tree = Hierarchy.from_nested({"lungs": ["flu", "cold"], "other": ["gout", "ulcer"]})
    data = Microdata(frame, roles, hierarchies={"ill": tree})
    fields = {"requirements": (TCloseness(t=0.3, ground="hierarchical"),), "memory_rows": memory_rows}
    found = RothkoTree(**fields, frontier_memory=TINY).anonymize(data)
    expected = Mondrian(fields["requirements"], strict=True).anonymize(data)
    np.testing.assert_array_equal(found.partition.group, expected.partition.group)
    assert found.partition.n_groups > 3
    sampled = RothkoSampling(**fields, seed=seed).anonymize(data)
    assert privacy.check(sampled, fields["requirements"]) == ()


@pytest.mark.parametrize("fields", [{"split": "regression", "target": "salary"}, {"split": "loss"}])
def test_the_tree_refuses_splits_that_counts_do_not_serve(numbers, fields):
    with pytest.raises(DataError, match="needs counts as large as the table; use RothkoSampling"):
        RothkoTree(**fields).anonymize(numbers)
    RothkoSampling(**fields, memory_rows=3_000, seed=0).anonymize(numbers)


def test_the_tree_refuses_variance_diversity(numbers):
    with pytest.raises(DataError, match="Variance diversity needs counts"):
        RothkoTree((VarianceDiversity(v=2.0),)).anonymize(numbers)


@pytest.mark.parametrize("algorithm", [RothkoTree, RothkoSampling])
def test_strict_stays_on(algorithm):
    assert algorithm().strict
    with pytest.raises(ParameterError, match="strict stays on"):
        algorithm(strict=False)
