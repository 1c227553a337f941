"""The synthetic tables of the Rothko paper: distributions, functions and chunks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.base.errors import DataError
from anoncore.datasets.rothko_synthetic import (
    ATTRIBUTES,
    TARGETS,
    chunks,
    class_c2,
    class_c7,
    load_rothko,
    target_r7,
    target_r10,
)


@pytest.fixture(scope="module")
def synthetic() -> pd.DataFrame:
    return load_rothko()


def c2(row) -> str:
    if row.age < 40 and 50_000 <= row.salary <= 100_000:
        return "A"
    if 40 <= row.age < 60 and 75_000 <= row.salary <= 125_000:
        return "A"
    if row.age >= 60 and 25_000 <= row.salary <= 75_000:
        return "A"
    return "B"


def r7(row) -> float:
    return 0.67 * (row.salary + row.commission) - 0.2 * row.loan - 20_000


def r10(row) -> float:
    equity = 0.0 if row.hyears < 20 else 0.1 * row.hvalue * (row.hyears - 20)
    return 0.67 * (row.salary + row.commission) - 5000 * row.elevel + 0.2 * equity - 10_000


def test_shape_and_types(synthetic):
    assert synthetic.shape == (100_000, 13)
    assert tuple(synthetic.columns) == ATTRIBUTES + TARGETS
    assert (synthetic[list(ATTRIBUTES)].dtypes == np.int32).all()
    assert (synthetic[["R7", "R10"]].dtypes == np.float64).all()
    assert set(synthetic["C2"]) == set(synthetic["C7"]) == {"A", "B"}


def test_distributions_are_those_of_figure_7(synthetic):
    uniform = {
        "salary": (20_000, 150_000),
        "age": (20, 80),
        "elevel": (0, 4),
        "car": (1, 20),
        "zipcode": (1, 9),
        "hyears": (1, 30),
        "loan": (0, 500_000),
    }
    for name, (low, high) in uniform.items():
        column = synthetic[name]
        assert column.between(low, high).all(), name
        assert column.mean() == pytest.approx((low + high) / 2, abs=0.02 * (high - low)), name
        assert column.var() == pytest.approx(((high - low + 1) ** 2 - 1) / 12, rel=0.03), name
    for name in ("age", "elevel", "car", "zipcode", "hyears"):
        low, high = uniform[name]
        assert set(synthetic[name]) == set(range(low, high + 1)), name
    well_paid = synthetic["salary"] >= 75_000
    assert (synthetic.loc[well_paid, "commission"] == 0).all()
    assert synthetic.loc[~well_paid, "commission"].between(10_000, 75_000).all()
    h = synthetic["hvalue"] / (synthetic["zipcode"] * 100_000)
    assert h.between(0.5 - 1e-5, 1.5 + 1e-5).all()
    assert h.mean() == pytest.approx(1.0, abs=0.01)


def test_attributes_are_drawn_independently(synthetic):
    correlation = synthetic[["salary", "age", "elevel", "car", "zipcode", "hyears", "loan"]].corr().to_numpy()
    assert np.abs(correlation - np.eye(7)).max() < 0.02


def test_targets_equal_the_functions_row_by_row(synthetic):
    sample = synthetic.head(3000)
    records = list(sample.itertuples())
    assert sample["C2"].tolist() == [c2(row) for row in records]
    assert sample["C7"].tolist() == ["A" if r7(row) > 0 else "B" for row in records]
    assert sample["R7"].to_numpy() == pytest.approx([r7(row) for row in records])
    assert sample["R10"].to_numpy() == pytest.approx([r10(row) for row in records])


@settings(max_examples=30)
@given(
    salary=st.sampled_from(
        [20_000, 24_999, 25_000, 49_999, 50_000, 75_000, 75_001, 100_000, 100_001, 125_000, 125_001]
    ),
    age=st.sampled_from([20, 39, 40, 59, 60, 80]),
    hyears=st.sampled_from([1, 19, 20, 21, 30]),
    commission=st.integers(0, 75_000),
    loan=st.integers(0, 500_000),
    hvalue=st.integers(50_000, 1_350_000),
    elevel=st.integers(0, 4),
)
def test_functions_at_the_edges_of_their_ranges(**values):
    row = pd.Series(values)
    columns = {name: np.array([value], dtype=np.int32) for name, value in values.items()}
    assert list(class_c2(columns)) == [c2(row)]
    assert target_r7(columns) == pytest.approx([r7(row)])
    assert target_r10(columns) == pytest.approx([r10(row)])


def test_an_income_of_exactly_zero_is_class_b():
    # 0.67 * 40,000 - 0.2 * 34,000 - 20,000 = 0
    columns = {name: np.array([value], dtype=np.int32) for name, value in [("salary", 40_000), ("commission", 0)]}
    for loan, expected in ((33_999, "A"), (34_000, "B"), (34_001, "B")):
        assert list(class_c7(columns | {"loan": np.array([loan], dtype=np.int32)})) == [expected]


@pytest.mark.parametrize("chunk_rows", [70_000, 65_536, 50_000, 9_999, 200_000])
def test_chunks_hold_the_same_rows_whatever_their_size(chunk_rows):
    parts = list(chunks(150_000, chunk_rows, seed=4, targets=TARGETS))
    assert [len(part) for part in parts[:-1]] == [chunk_rows] * (len(parts) - 1)
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), load_rothko(150_000, seed=4))


def test_chunks_of_one_row():
    parts = list(chunks(20, 1))
    assert tuple(parts[0].columns) == ATTRIBUTES
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), load_rothko(20, targets=()))


def test_a_longer_table_begins_with_the_shorter_one_and_seeds_differ():
    pd.testing.assert_frame_equal(load_rothko(90_000).head(10), load_rothko(10))
    assert not load_rothko(10, seed=1).equals(load_rothko(10, seed=2))
    blocks = load_rothko(131_072, targets=())
    assert not blocks.iloc[:65_536].reset_index(drop=True).equals(blocks.iloc[65_536:].reset_index(drop=True))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: load_rothko(0), "number of rows of at least 1; 0 was given"),
        (lambda: load_rothko(5, seed=-1), "seed of at least 0; -1 was given"),
        (lambda: load_rothko(5, targets=["C3"]), "no target 'C3'; the targets are C2, C7, R7, R10"),
        (lambda: chunks(5, 0), "number of rows of at least 1"),
        (lambda: chunks(5, 5, targets=["C3"]), "no target 'C3'"),
    ],
)
def test_what_cannot_be_generated_is_refused_at_once(call, message):
    with pytest.raises(DataError, match=message):
        call()
