"""How far columns tell each other, and what becomes of groups: against pandas, and by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.table.relations import NEARLY, close_relations, smallest_and_below, told_rows

COLUMN = st.lists(st.integers(0, 3), min_size=1, max_size=40)


def codes(values):
    return pd.factorize(np.array(values))[0].astype(np.int32)


def plainly_told(one, other):
    """Rows whose `other` is the most frequent one, by more than a tie, among all other rows with the same `one`."""
    told = 0
    for row in range(len(one)):
        rest = [other[mate] for mate in range(len(one)) if mate != row and one[mate] == one[row]]
        ranked = Counter(rest).most_common()
        ahead = len(ranked) == 1 or (len(ranked) > 1 and ranked[0][1] > ranked[1][1])
        told += bool(ahead and ranked[0][0] == other[row])
    return told


@settings(max_examples=100)
@given(st.data())
def test_told_rows_against_a_plain_count(data):
    one = data.draw(COLUMN)
    other = data.draw(st.lists(st.integers(0, 2), min_size=len(one), max_size=len(one)))
    assert told_rows(codes(one), codes(other)) == (plainly_told(one, other), plainly_told(other, one))


def test_many_values_are_counted_like_few():
    rng = np.random.default_rng(3)
    one = rng.integers(0, 900, 1_000).astype(np.int32)
    other = rng.integers(0, 700, 1_000).astype(np.int32)
    assert told_rows(one, other) == (
        plainly_told(one.tolist(), other.tolist()),
        plainly_told(other.tolist(), one.tolist()),
    )


def test_a_column_of_different_values_tells_nothing():
    different = np.arange(50, dtype=np.int32)
    halves = (different % 2).astype(np.int32)
    assert told_rows(different, halves) == (0, 0)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=30))
def test_the_sizes_of_groups_against_pandas(rows):
    frame = pd.DataFrame(rows, columns=["group", "a", "b"])
    sizes = frame.groupby(["group", "a", "b"]).size()
    key = frame.groupby(["group", "a", "b"]).ngroup().to_numpy()
    assert smallest_and_below(key, 3, None) == (sizes.min(), sizes[sizes < 3].sum())


def test_nearly_is_nine_wrong_guesses_of_ten_put_right():
    # Guessing is right for 50 of 100 rows; with the column 96 are right, 46 of the other 50.
    told = np.repeat([0, 1], 50).astype(np.int32)
    telling = told.copy()
    telling[:4] = 1
    table = {"x": telling, "q": told}
    everyone = np.arange(100)
    close = [one for one in close_relations(table, ("x",), ("q",), everyone) if one.told == "q"]
    assert [(one.telling, one.share, one.guessing) for one in close] == [(("x",), 0.96, 0.5)]
    assert close[0].strength == pytest.approx(46 / 50)
    telling[:6] = 1
    assert close_relations(table, ("x",), ("q",), everyone) == []
    assert NEARLY == 0.9


@pytest.mark.parametrize("n_rows", [60, 30_000])
def test_two_columns_that_tell_only_together(n_rows):
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 2, n_rows).astype(np.int32), rng.integers(0, 2, n_rows).astype(np.int32)
    table = {"a": first, "b": second, "both": (first ^ second).astype(np.int32)}
    sample = np.arange(0, n_rows, -(-n_rows // 10_000))
    (found,) = close_relations(table, ("a", "b"), ("both",), sample)
    assert (found.telling, found.told, found.share) == (("a", "b"), "both", 1.0)
    (found,) = close_relations(table, ("both",), ("a", "b"), sample)
    assert (found.telling, found.told) == (("a", "b"), "both")


def test_the_order_of_rows_changes_nothing():
    rng = np.random.default_rng(2)
    table = {name: rng.integers(0, 3, 300).astype(np.int32) for name in "abc"}
    table["d"] = table["a"] * 3 + table["b"]
    order = rng.permutation(300)
    turned = {name: column[order] for name, column in table.items()}
    everyone = np.arange(300)
    assert close_relations(table, ("c", "d"), ("a", "b"), everyone) == close_relations(
        turned, ("c", "d"), ("a", "b"), everyone
    )
