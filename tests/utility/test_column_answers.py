"""Count queries on columns that overlap or are generalized on their own, against plain oracles."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from anoncore import Microdata, Partition, Release
from anoncore.algorithms import Mondrian
from anoncore.algorithms.slicing.columns import column_classes, sliced_release
from anoncore.kernels.queries import LinkedColumns, count_linked
from anoncore.release.recoding import ColumnRegions
from anoncore.requirements import KAnonymity
from anoncore.utility import QueryWorkload, query_error
from anoncore.utility.answers import ColumnTables, GroupTables, estimator, has_linked_columns

Floats = npt.NDArray[np.float64]
DISJOINT = [("age", "town"), ("sex", "job"), ("ill",)]
OVERLAPPING = [("age", "town"), ("town", "sex"), ("sex", "job", "ill")]


def _data(n: int = 60) -> Microdata:
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 32, n),
            "town": rng.choice(list("abc"), n),
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(["clerk", "smith", "none"], n),
            "ill": rng.choice(["flu", "cold", "gout"], n),
        }
    )
    return Microdata(frame, dict.fromkeys(frame, "quasi-identifier") | {"ill": "sensitive"})


def _release(columns: list[tuple[str, ...]], k: int = 0) -> Release:
    data = _data()
    classes = column_classes(data, columns, (KAnonymity(k=k),)) if k else {}
    return sliced_release(data, Partition(np.arange(60) % 7), columns, classes=classes)


def _workload(release: Release, dimensions: int = 3) -> QueryWorkload:
    data = release.data
    return QueryWorkload(data, data.quasi_identifiers, "ill", 40, dimensions, 0.3, 1)


def _plain(columns: LinkedColumns, weights: Floats) -> list[float]:
    """Row by row, as a recursion over the tree of columns."""
    n_columns, n_rows = columns.own.shape

    def weight(query: int, column: int, row: int) -> float:
        first, last = columns.part_start[column : column + 2]
        found = float(np.prod([weights[query, columns.places[row, place]] for place in range(first, last)]))
        for child in range(column + 1, n_columns):
            if columns.parent[child] == column:
                linked = [one for one in range(n_rows) if columns.own[child, one] == columns.asked[child, row]]
                found *= float(np.mean([weight(query, child, one) for one in linked]))
        return found

    return [sum(weight(query, 0, row) for row in range(n_rows)) for query in range(len(weights))]


def test_disjoint_exact_columns_are_answered_as_groups_are() -> None:
    release = _release(DISJOINT)
    workload = _workload(release)
    assert not has_linked_columns(release)
    accept = workload.block(0)
    as_groups = GroupTables.of(release.fragments, release, workload).estimate(accept)
    assert ColumnTables.of(release, workload).estimate(accept) == pytest.approx(as_groups)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [OVERLAPPING, [("age", "town"), ("town", "sex", "job"), ("town", "ill")]])
def test_overlapping_columns_are_answered_as_linked_tables_are(columns: list[tuple[str, ...]]) -> None:
    release = _release(columns)
    workload = _workload(release, dimensions=2)
    answers = estimator(release, workload)
    assert isinstance(answers, ColumnTables)
    found = answers.estimate(workload.block(0))
    rng = np.random.default_rng(2)
    counts = np.zeros(40)
    wanted = [workload.predicates(query) for query in range(40)]
    values = {name: list(release.data.domain[name].values) for sets in wanted for name in sets}
    masks = [{name: np.isin(values[name], list(sets[name])) for name in sets} for sets in wanted]
    for _ in range(400):
        table = release.linked(rng)
        codes = {name: pd.Index(values[name]).get_indexer(table[name]) for name in values}
        for query, mask in enumerate(masks):
            counts[query] += np.logical_and.reduce([mask[name][codes[name]] for name in mask]).sum() / 400
    assert found == pytest.approx(counts, abs=0.35)


def test_a_generalized_column_counts_the_share_of_its_regions() -> None:
    release = _release(DISJOINT, k=6)
    assert isinstance(release.recoding("age"), ColumnRegions)
    workload = _workload(release, dimensions=4)
    found = estimator(release, workload).estimate(workload.block(0))
    for query in range(40):
        sets = workload.predicates(query)
        shares = []
        for column in DISJOINT:
            share = np.ones(60)
            for name in [name for name in column if name in sets]:
                recoding = release.recoding(name)
                codes = {release.data.domain[name].code_of(value) for value in sets[name]}
                if isinstance(recoding, ColumnRegions):
                    cells = [set(recoding.classes.values(group)) for group in recoding.classes.partition.group]
                else:
                    cells = [{code} for code in release.data.codes[name]]
                share *= [len(codes & cell) / len(cell) for cell in cells]
            shares.append(share)
        buckets = [release.partition.rows(bucket) for bucket in range(7)]
        expected = sum(len(rows) * np.prod([share[rows].mean() for share in shares]) for rows in buckets)
        assert found[query] == pytest.approx(expected)


def test_the_kernel_is_the_plain_recursion() -> None:
    for columns, k in ((OVERLAPPING, 0), (DISJOINT, 6)):
        release = _release(columns, k)
        laid_out = ColumnTables.of(release, _workload(release)).columns
        rng = np.random.default_rng(1)
        weights = rng.random((3, int(laid_out.places.max()) + 1)) * (rng.random((3, 1)) > 0.1)
        assert count_linked(laid_out, weights) == pytest.approx(_plain(laid_out, weights))


def test_columns_whose_regions_are_single_values_are_exact() -> None:
    exact, regional = _release(DISJOINT), _release(DISJOINT, k=1)
    accept = _workload(exact).block(0)
    answers = estimator(regional, _workload(regional))
    assert isinstance(answers, ColumnTables)
    assert answers.estimate(accept) == pytest.approx(estimator(exact, _workload(exact)).estimate(accept))


def test_columns_that_share_everything_are_the_table() -> None:
    data = _data()
    everything = [data.attributes, tuple(data.attributes)]
    release = sliced_release(data, Partition(np.zeros(60, dtype=np.int32)), everything)
    assert float(query_error(release, n_queries=200)) == pytest.approx(0)
    assert float(query_error(Mondrian(requirements=(KAnonymity(k=60),)).anonymize(data), n_queries=200)) > 0.01
