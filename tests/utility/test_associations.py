"""Association error: phi squared by its definition, expected counts row by row."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, Exact, Fragment, Microdata, Partition, Release, ReleaseError
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.base.errors import ParameterError
from anoncore.requirements import KAnonymity
from anoncore.utility import association, association_error
from tests.utility.releases import adult, generalized, published_values, random_data, random_releases, sliced


def phi_squared(counts: np.ndarray) -> float:
    """The definition: 1/(min(d) - 1) sum (f_ij - f_i f_j)^2 / (f_i f_j)."""
    f = counts / counts.sum()
    rows, columns = f.sum(axis=1), f.sum(axis=0)
    most = min(f.shape) - 1
    total = 0.0
    for i in range(f.shape[0]):
        for j in range(f.shape[1]):
            if rows[i] * columns[j] > 0:
                total += (f[i, j] - rows[i] * columns[j]) ** 2 / (rows[i] * columns[j])
    return total / most if most else 0.0


def cell_of_code(data: Microdata, name: str, intervals: int) -> np.ndarray:
    """Equal-width intervals of numbers, one more for missing; empty ones dropped."""
    domain = data.domain[name]
    if domain.kind != "numeric":
        return np.arange(len(domain))
    values = np.array([np.nan if value is None else value for value in domain], dtype=float)
    low, high = np.nanmin(values, initial=np.inf), np.nanmax(values, initial=-np.inf)
    cells = [
        intervals if np.isnan(v) else min(int((v - low) / ((high - low) / intervals or 1)), intervals - 1)
        for v in values
    ]
    return np.unique(cells, return_inverse=True)[1]


def spread(release: Release, part: Fragment, name: str, row: int, cells: np.ndarray) -> np.ndarray:
    """Expected share of a row in each cell of an attribute."""
    share = np.zeros(cells.max() + 1)
    codes = published_values(release, name, row, part)
    for code in codes:
        share[cells[code]] += 1 / len(codes)
    return share


def expected_counts(release: Release, a: str, b: str, intervals: int) -> np.ndarray:
    """Rows spread over the values of their cells; rows of different fragments paired within groups or link values."""
    data, n = release.data, release.data.n_rows
    cells = {name: cell_of_code(data, name, intervals) for name in (a, b, "ill")}
    both = next((part for part in release.fragments if a in part.recodings and b in part.recodings), None)
    if both is not None:
        return sum(
            np.outer(spread(release, both, a, row, cells[a]), spread(release, both, b, row, cells[b]))
            for row in range(n)
        )
    one, two = release.fragment_of(a), release.fragment_of(b)
    in_a = np.array([spread(release, one, a, row, cells[a]) for row in range(n)])
    in_b = np.array([spread(release, two, b, row, cells[b]) for row in range(n)])
    if release.is_shared:
        group = one.partition.group
        return sum(
            np.outer(in_a[group == g].sum(axis=0), in_b[group == g].sum(axis=0)) / (group == g).sum()
            for g in range(one.partition.n_groups)
        )
    if not all("ill" in part.recodings for part in (one, two)):
        return np.outer(in_a.sum(axis=0), in_b.sum(axis=0)) / n
    counts = np.zeros((in_a.shape[1], in_b.shape[1]))
    link_a = np.array([spread(release, one, "ill", row, cells["ill"]) for row in range(n)])
    link_b = np.array([spread(release, two, "ill", row, cells["ill"]) for row in range(n)])
    for value in range(link_a.shape[1]):
        n_a, n_b = link_a[:, value].sum(), link_b[:, value].sum()
        if n_a > 0 and n_b > 0:
            counts += np.outer(link_a[:, value] @ in_a / n_a, link_b[:, value] @ in_b / n_b) * (n_a + n_b) / 2
    return counts


@pytest.mark.slow
@given(random_releases(), st.sampled_from([2, 3, 10]))
@settings(max_examples=30)
def test_equals_the_definition(release: Release, intervals: int) -> None:
    error = association_error(release, intervals)
    differences = []
    for a, b in combinations(release.attributes, 2):
        cells_a, cells_b = (cell_of_code(release.data, name, intervals) for name in (a, b))
        counts = np.zeros((cells_a.max() + 1, cells_b.max() + 1))
        np.add.at(counts, (cells_a[release.data.codes[a]], cells_b[release.data.codes[b]]), 1)
        original, released = phi_squared(counts), phi_squared(expected_counts(release, a, b, intervals))
        assert error.original.loc[a, b] == pytest.approx(original, abs=1e-9)
        assert error.released.loc[a, b] == pytest.approx(released, abs=1e-9)
        assert error.difference.loc[b, a] == pytest.approx(released - original, abs=1e-9)
        differences.append(abs(released - original))
    assert float(error) == pytest.approx(np.mean(differences), abs=1e-9)


@pytest.mark.slow
@given(random_data(min_rows=2))
@settings(max_examples=30)
def test_groups_of_one_row_keep_everything(data: Microdata) -> None:
    alone = list(range(data.n_rows))
    assert association_error(generalized(data, alone)) == pytest.approx(0, abs=1e-12)
    assert association_error(sliced(data, alone, [["age", "work"], ["town"], ["ill", "pay"]])) == pytest.approx(
        0, abs=1e-12
    )
    assert association_error(sliced(data, [0] * data.n_rows, [list(data.attributes)])) == 0


def test_a_bucket_cuts_the_association_by_hand() -> None:
    frame = pd.DataFrame({"sex": list("ffmm"), "ill": ["flu", "flu", "cold", "cold"]})
    data = Microdata(frame, roles={"sex": "quasi-identifier", "ill": "sensitive"})
    error = association_error(sliced(data, [0, 1, 0, 1], [["sex"], ["ill"]]))
    assert error.original.loc["sex", "ill"] == 1
    assert error.released.loc["sex", "ill"] == 0
    assert float(error) == 1
    half = association_error(sliced(data, [0, 1, 0, 2], [["sex"], ["ill"]]))
    # Two rows stay linked, two are mixed: [[1.5, 0.5], [0.5, 1.5]] has phi squared 1/4.
    assert half.released.loc["sex", "ill"] == pytest.approx(0.25)


def test_association_of_a_table() -> None:
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": list("xxyy"), "same": [7] * 4, "name": list("abcd")})
    data = Microdata(frame, roles={"name": "identifier", "*": "insensitive"})
    phi = association(data, intervals=2)
    assert phi.columns.tolist() == phi.index.tolist() == ["a", "b", "same"]
    np.testing.assert_allclose(phi, [[1, 1, 0], [1, 1, 0], [0, 0, 1]])


def test_rare_categories_of_a_huge_domain_share_a_cell() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"zip": rng.integers(0, 900, 3_000).astype(str), "ill": rng.integers(0, 2, 3_000).astype(str)})
    data = Microdata(frame, roles={"zip": "quasi-identifier", "ill": "sensitive"})
    top = frame["zip"].value_counts(sort=False).reindex(data.domain["zip"].values)
    kept = top.sort_values(ascending=False, kind="stable").index[:99]
    pooled = frame["zip"].where(frame["zip"].isin(kept), "rest")
    counts = pd.crosstab(pooled, frame["ill"]).to_numpy()
    assert association(data).loc["zip", "ill"] == pytest.approx(phi_squared(counts))


def test_questions_without_an_answer() -> None:
    data = Microdata(pd.DataFrame({"a": [1, 2], "b": [1, 2]}), roles={"a": "quasi-identifier"})
    partition = Partition(np.zeros(2, dtype=np.int32))
    part = Fragment("only", partition, {"a": Exact(data.domain["a"], partition, data.codes["a"])})
    with pytest.raises(ReleaseError, match="fewer than two attributes"):
        association_error(Release(data, (part,)))
    with pytest.raises(ParameterError, match="at least 2 intervals, not 1"):
        association(data, intervals=1)
    with pytest.raises(DataError, match="only identifiers"):
        association(Microdata(pd.DataFrame({"a": [1]}), roles={"a": "identifier"}))


def test_adult() -> None:
    data = adult(["age", "workclass", "education", "marital-status", "race", "sex"], "occupation")
    error = association_error(Anatomy(l=3, seed=5).anonymize(data))
    inside = [name for name in error.original if name != "occupation"]
    assert (error.difference.loc[inside, inside] == 0).all(axis=None)
    assert error.original.loc["sex", "occupation"] == pytest.approx(0.190, abs=5e-4)
    assert error.original.loc["workclass", "occupation"] == pytest.approx(0.047, abs=5e-4)
    assert error.original.loc["education", "occupation"] == pytest.approx(0.039, abs=5e-4)
    assert error.released.loc["sex", "occupation"] < 0.05
    small, large = (association_error(Mondrian(requirements=[KAnonymity(k=k)]).anonymize(data)) for k in (2, 200))
    assert 0 < small < large
