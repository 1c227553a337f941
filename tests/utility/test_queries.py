"""Count queries: how they are drawn, true counts, estimates of every form of release against slow oracles."""

from __future__ import annotations

from math import ceil

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anoncore import AnonymizationError, DataError, Exact, Fragment, Microdata, Partition, Release, ReleaseError
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.base.errors import ParameterError
from anoncore.requirements import KAnonymity
from anoncore.utility import QueryError, QueryWorkload, query_error
from tests.utility.releases import adult, fragment, generalized, published_values, random_data, random_releases, sliced


def wanted_codes(workload: QueryWorkload, query: int) -> dict[str, set[int]]:
    domain = workload.data.domain
    return {
        name: {domain[name].code_of(value) for value in values} for name, values in workload.predicates(query).items()
    }


def true_count(data: Microdata, wanted: dict[str, set[int]]) -> int:
    rows = pd.DataFrame(data.codes)
    return int(np.logical_and.reduce([rows[name].isin(codes) for name, codes in wanted.items()]).sum())


def match(release: Release, part: Fragment, name: str, row: int, codes: set[int]) -> float:
    allowed = published_values(release, name, row, part)
    return len(codes & set(allowed)) / len(allowed)


def expected_count(release: Release, wanted: dict[str, set[int]]) -> float:
    """Row by row, from what the fragments publish."""
    n = release.data.n_rows
    matching = []
    linked = not release.is_shared and all("ill" in part.recodings for part in release.fragments)
    for part in release.fragments:
        own = [name for name in wanted if release.fragment_of(name) is part and not (linked and name == "ill")]
        matching.append(
            np.array([np.prod([match(release, part, name, row, wanted[name]) for name in own]) for row in range(n)])
        )
    if release.is_shared:
        group = release.partition.group
        return sum(
            (group == g).sum() * np.prod([rows[group == g].mean() for rows in matching])
            for g in range(release.partition.n_groups)
        )
    if not linked:
        return n * np.prod([rows.mean() for rows in matching])
    total = 0.0
    for value in wanted["ill"]:
        chance = [[match(release, part, "ill", row, {value}) for row in range(n)] for part in release.fragments]
        if min(map(sum, chance)) > 0:
            shares = [np.dot(one, rows) / sum(one) for one, rows in zip(chance, matching, strict=True)]
            total += np.mean([sum(one) for one in chance]) * np.prod(shares)
    return total


def answered(release: Release, **arguments: float) -> QueryError | None:
    """The error, or None where no query matches a row."""
    try:
        return query_error(release, **arguments)
    except DataError:
        return None


@pytest.mark.slow
@given(random_releases(), st.integers(1, 3), st.sampled_from([0.05, 0.3, 0.7]), st.integers(0, 99))
@settings(max_examples=30)
def test_counts_and_estimates_equal_the_oracles(
    release: Release, dimensions: int, selectivity: float, seed: int
) -> None:
    # Fragments that share attributes and, by chance, their groups are columns that overlap: test_column_answers.
    names = [name for part in release.fragments for name in part.attributes]
    assume(not release.is_shared or len(names) == len(set(names)))
    error = answered(release, n_queries=12, seed=seed, dimensions=dimensions, selectivity=selectivity)
    if error is None:
        return
    for query in range(12):
        wanted = wanted_codes(error.workload, query)
        assert error.actual[query] == true_count(release.data, wanted)
        assert error.estimate[query] == pytest.approx(expected_count(release, wanted), abs=1e-9)
    known = error.actual > 0
    relative = np.abs(error.actual - error.estimate)[known] / error.actual[known]
    np.testing.assert_allclose(error.relative_error[known], relative)
    assert np.isnan(error.relative_error[~known]).all()
    assert error.n_answered == known.sum()
    assert float(error) == error.mean == pytest.approx(relative.mean())
    assert error.median == pytest.approx(np.median(relative))


@given(random_data(), st.integers(0, 9))
@settings(max_examples=20)
def test_groups_of_one_row_answer_exactly(data: Microdata, seed: int) -> None:
    alone = list(range(data.n_rows))
    releases = (
        generalized(data, alone),
        sliced(data, alone, [["age", "work", "town"], ["ill", "pay"]]),
        sliced(data, alone, [["age"], ["work"], ["town"], ["ill"]]),
    )
    for release in releases:
        error = answered(release, n_queries=30, seed=seed, selectivity=0.3)
        assert error is None or error == 0


def test_adult_in_groups_of_one_row_answers_exactly() -> None:
    data = adult(["age", "education", "race", "sex"], "occupation")
    alone = list(range(data.n_rows))
    for release in (generalized(data, alone), sliced(data, alone, [data.quasi_identifiers, data.sensitive])):
        assert query_error(release, n_queries=600) == 0


def test_adult_error_grows_with_the_groups() -> None:
    data = adult(["age", "education", "race", "sex"], "occupation")
    small, large = (
        query_error(Mondrian(requirements=[KAnonymity(k=k)]).anonymize(data), n_queries=1_000) for k in (2, 500)
    )
    buckets = query_error(Anatomy(l=2, seed=1).anonymize(data), n_queries=1_000)
    assert 0 < small.median < large.median
    assert 0 < buckets.median < large.median


def test_a_bucket_by_hand() -> None:
    # One bucket of two people; a query asks for one town and one illness: the bucket says half a row, always.
    frame = pd.DataFrame({"town": ["A", "B"], "ill": ["flu", "cold"]})
    data = Microdata(frame, roles={"town": "quasi-identifier", "ill": "sensitive"})
    error = query_error(sliced(data, [0, 0], [["town"], ["ill"]]), n_queries=50, selectivity=0.25)
    assert set(error.estimate) == {0.5}
    assert error.mean == error.median == 0.5


def test_a_region_by_hand() -> None:
    # Ages 10 to 40 in one group, half with flu: two of the four ages and one illness are expected 4 x 1/2 x 1/2 times.
    frame = pd.DataFrame({"age": [10, 20, 30, 40], "ill": ["flu", "flu", "cold", "cold"]})
    data = Microdata(frame, roles={"age": "quasi-identifier", "ill": "sensitive"})
    error = query_error(generalized(data, [0] * 4), n_queries=80, selectivity=0.25)
    assert set(error.estimate) == {1.0}
    assert set(error.actual) == {0, 1, 2}
    assert set(error.relative_error[error.actual > 0]) == {0.0, 0.5}


def test_fragments_are_combined_through_their_common_attribute_by_hand() -> None:
    frame = pd.DataFrame({"a": list("xxyy"), "b": list("uuvv"), "ill": ["flu", "flu", "cold", "cold"]})
    data = Microdata(frame, roles={"a": "quasi-identifier", "b": "quasi-identifier", "ill": "sensitive"})
    # Within an illness a and b are constant, so the illness links the two fragments without loss.
    parts = (
        fragment(data, "one", Partition(np.array([0, 1, 0, 1], dtype=np.int32)), ["a", "ill"]),
        fragment(data, "two", Partition(np.array([0, 0, 1, 1], dtype=np.int32)), ["b", "ill"]),
    )
    assert query_error(Release(data, parts), n_queries=60, selectivity=0.2) == 0
    unlinked = (parts[0], fragment(data, "two", parts[1].partition, ["b"]))
    error = query_error(Release(data, unlinked), n_queries=60, selectivity=0.1)
    # a and ill are kept together, b is independent: 2 rows become 2 x 1/2.
    assert set(error.relative_error[error.actual > 0]) == {0.5}


@given(random_data(min_rows=3), st.integers(1, 3), st.sampled_from([0.05, 0.4, 1.0]))
@settings(max_examples=30)
def test_queries_are_drawn_as_defined(data: Microdata, dimensions: int, selectivity: float) -> None:
    names = data.quasi_identifiers
    workload = QueryWorkload(data, names, "ill", 20, dimensions, selectivity, seed=4)
    accept = workload.block(0)
    assert accept.shape == (workload.starts[-1], 20)
    for query in range(20):
        constrained = 0
        for place, name in enumerate(workload.attributes):
            size = len(data.domain[name])
            b = min(size, ceil(size * selectivity ** (1 / (dimensions + 1)) - 1e-9))
            column = accept[workload.starts[place] : workload.starts[place + 1], query]
            assert column.sum() in (b, size)
            constrained += column.sum() < size
            if name == "ill":
                assert column.sum() == b
        assert constrained <= dimensions + 1


def test_every_value_and_attribute_is_drawn_equally_often() -> None:
    frame = pd.DataFrame({name: np.arange(10) for name in ("a", "b", "c", "ill")})
    data = Microdata(frame, roles=dict.fromkeys("abc", "quasi-identifier") | {"ill": "sensitive"})
    workload = QueryWorkload(data, ("a", "b", "c"), "ill", 3_000, 2, 0.05, seed=1)
    accept = np.hstack([workload.block(index) for index in range(workload.n_blocks)])
    chosen = (accept.reshape(4, 10, -1).sum(axis=1) < 10).mean(axis=1)
    np.testing.assert_allclose(chosen, [2 / 3, 2 / 3, 2 / 3, 1], atol=0.03)
    share = accept[30:].mean(axis=1)
    np.testing.assert_allclose(share, workload.set_sizes[3] / 10, atol=0.03)
    together = (accept[30] & accept[31]).mean()
    assert together == pytest.approx(workload.set_sizes[3] * (workload.set_sizes[3] - 1) / 90, abs=0.03)


def test_a_seed_repeats_the_queries_and_another_one_does_not() -> None:
    data = adult(["age", "education", "sex"], "occupation")
    release = Anatomy(l=3, seed=2).anonymize(data)
    first, again, other = (query_error(release, n_queries=700, seed=seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.estimate, again.estimate)
    np.testing.assert_array_equal(first.actual, again.actual)
    assert (first.actual != other.actual).any()
    shorter = query_error(release, n_queries=512, seed=5)
    np.testing.assert_array_equal(shorter.actual, first.actual[:512])


def test_row_order_does_not_matter() -> None:
    frame = pd.DataFrame({"age": [5, 3, 5, 8, 1, 2], "ill": list("abcabc")}, index=[9, 9, 1, 0, 4, 7])
    roles = {"age": "quasi-identifier", "ill": "sensitive"}
    group, order = np.array([0, 1, 0, 1, 2, 2]), np.array([3, 0, 5, 1, 4, 2])
    one = query_error(generalized(Microdata(frame, roles=roles), group.tolist()), n_queries=100, selectivity=0.3)
    two = query_error(
        generalized(Microdata(frame.iloc[order], roles=roles), group[order].tolist()), n_queries=100, selectivity=0.3
    )
    np.testing.assert_array_equal(one.actual, two.actual)
    np.testing.assert_allclose(one.estimate, two.estimate)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"n_queries": 0}, ParameterError, "at least 1, not 0"),
        ({"dimensions": 2}, ParameterError, "constrains 1 to 1 of the published quasi-identifiers"),
        ({"dimensions": 0}, ParameterError, "not 0"),
        ({"selectivity": 0.0}, ParameterError, "above 0 and at most 1, not 0"),
        ({"selectivity": 1.5}, ParameterError, "not 1.5"),
        ({"seed": -1}, ParameterError, "seed must be at least 0"),
        ({"attribute": "weight"}, DataError, "no attribute 'weight'"),
    ],
)
def test_numbers_out_of_range(arguments: dict[str, float], error: type[AnonymizationError], words: str) -> None:
    frame = pd.DataFrame({"age": [1, 2], "ill": ["a", "b"]})
    data = Microdata(frame, roles={"age": "quasi-identifier", "ill": "sensitive"})
    with pytest.raises(error, match=words):
        query_error(generalized(data, [0, 0]), **arguments)


def test_questions_without_an_answer() -> None:
    frame = pd.DataFrame({"age": [1, 2], "ill": ["a", "b"]})
    data = Microdata(frame, roles={"age": "quasi-identifier", "ill": "sensitive"})
    partition = Partition(np.zeros(2, dtype=np.int32))
    parts = {
        name: Fragment("x", partition, {name: Exact(data.domain[name], partition, data.codes[name])})
        for name in data.attributes
    }
    with pytest.raises(ReleaseError, match="no quasi-identifier"):
        query_error(Release(data, (parts["ill"],)))
    with pytest.raises(ReleaseError, match="does not publish 'ill'"):
        query_error(Release(data, (parts["age"],)))
    workload = QueryWorkload(data, ("age",), "ill", 3, 1, 0.05, 0)
    with pytest.raises(ParameterError, match="numbered 0 to 2, not 3"):
        workload.predicates(3)
    rare = pd.DataFrame({"a": [0, 1, 2, 3], "ill": list("wxyz")})
    lonely = Microdata(rare, roles={"a": "quasi-identifier", "ill": "sensitive"})
    with pytest.raises(DataError, match="None of the queries matches"):
        query_error(generalized(lonely, [0] * 4), n_queries=1, seed=1, selectivity=0.01)
