"""Conditional tables: what they accept, and that draws follow them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.base.errors import DataError
from anoncore.datasets.census import ConditionalTable, draw_network, percentages, reweighted


def test_percentages_become_probabilities():
    assert percentages(((25.0, 75.0), (0.0, 100.0))).tolist() == [[0.25, 0.75], [0.0, 1.0]]


@pytest.mark.parametrize("rows", [((50.0, 49.0),), ((-1.0, 101.0),), (60.0, 41.0)])
def test_percentages_that_do_not_sum_to_100_are_refused(rows):
    with pytest.raises(DataError, match="sum to 100"):
        percentages(rows)


def test_factors_are_odds_ratios():
    # Odds 1:3 times factor 3 gives even odds.
    assert reweighted(np.array([0.25, 0.75]), np.array([3.0, 1.0])) == pytest.approx([0.5, 0.5])
    with pytest.raises(DataError, match="without any possible value"):
        reweighted(np.array([0.0, 1.0]), np.array([1.0, 0.0]))


def test_a_table_of_the_wrong_shape_or_sum_is_refused():
    with pytest.raises(DataError, match="one axis per parent"):
        ConditionalTable("b", ("a",), ("x", "y"), np.array([0.5, 0.5]))
    with pytest.raises(DataError, match="of 3 values"):
        ConditionalTable("b", (), ("x", "y", "z"), np.array([0.5, 0.5]))
    with pytest.raises(DataError, match="does not sum to 1"):
        ConditionalTable("b", (), ("x", "y"), np.array([0.5, 0.6]))


def test_draws_follow_the_row_of_their_parents():
    probabilities = np.array([[[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]], [[0.0, 0.0, 1.0], [0.1, 0.0, 0.9]]])
    conditional = ConditionalTable("c", ("a", "b"), ("x", "y", "z"), probabilities)
    rng = np.random.default_rng(1)
    parents = {"a": rng.integers(0, 2, 80_000), "b": rng.integers(0, 2, 80_000)}
    drawn = conditional.draw(rng, parents, 80_000)
    for a in (0, 1):
        for b in (0, 1):
            of_row = drawn[(parents["a"] == a) & (parents["b"] == b)]
            shares = np.bincount(of_row, minlength=3) / len(of_row)
            # Five standard deviations of a share from 20,000 draws.
            assert np.abs(shares - probabilities[a, b]).max() < 5 * 0.5 / np.sqrt(19_000)
            assert (shares[probabilities[a, b] == 0] == 0).all()


@settings(max_examples=20)
@given(
    rows=st.lists(
        st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(lambda row: sum(row) > 0), min_size=1, max_size=30
    ),
    seed=st.integers(0, 1000),
)
def test_impossible_values_are_never_drawn(rows, seed):
    weights = np.array(rows, dtype=float)
    probabilities = weights / weights.sum(axis=1, keepdims=True)
    conditional = ConditionalTable("c", ("a",), tuple("wxyz"), probabilities)
    rng = np.random.default_rng(seed)
    a = rng.integers(0, len(rows), 300)
    drawn = conditional.draw(rng, {"a": a}, 300)
    assert (probabilities[a, drawn] > 0).all()


def test_a_network_hands_groups_of_a_parent_on():
    ages = ConditionalTable("age", (), (10, 20, 70), percentages((20.0, 30.0, 50.0)))
    works = ConditionalTable("works", ("adult",), ("no", "yes"), np.array([[1.0, 0.0], [0.0, 1.0]]))
    groups = {"adult": ("age", np.array([0, 1, 1]))}
    codes = draw_network([ages, works], groups, 1000, np.random.default_rng(0))
    assert (codes["works"] == (codes["age"] > 0)).all()
