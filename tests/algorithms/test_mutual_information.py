from collections import Counter
from math import log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata, ParameterError
from anoncore.algorithms.vertical.mutual_information import equal_frequency, mutual_information


def plain(xs, ys):
    """The definition: sum of p(x, y) ln p(x, y) / (p(x) p(y))."""
    n, joint, left, right = len(xs), Counter(zip(xs, ys, strict=True)), Counter(xs), Counter(ys)
    return sum(c / n * log(c * n / (left[x] * right[y])) for (x, y), c in joint.items())


def test_a_worked_example():
    # a and b are equal: ln 2. c splits each value of a in half: nothing in common.
    data = Microdata(pd.DataFrame({"a": list("xxyy"), "b": list("uuvv"), "c": list("pqpq")}), {"*": "insensitive"})
    found = mutual_information(data)
    assert found.loc["a", "b"] == pytest.approx(log(2))
    assert found.loc["a", "c"] == pytest.approx(0)
    assert np.diag(found) == pytest.approx([log(2)] * 3)
    assert list(found.columns) == ["a", "b", "c"]


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(2, 6))
def test_it_is_the_definition_on_binned_values(seed, n, bins):
    rng = np.random.default_rng(seed)
    numbers = pd.Series(rng.integers(0, 30, n)).astype("Float64")
    numbers[rng.random(n) < 0.2] = pd.NA
    frame = pd.DataFrame({"n": numbers, "c": rng.choice(list("abc"), n), "d": rng.integers(0, 3, n)})
    data = Microdata(frame, {"*": "insensitive"}, kinds={"n": "numeric", "d": "numeric"})
    found = mutual_information(data, bins=bins)
    binned = {name: equal_frequency(data.codes[name], data.domain[name], bins).tolist() for name in frame}
    for one in frame:
        for other in frame:
            assert found.loc[one, other] == pytest.approx(plain(binned[one], binned[other]), abs=1e-12)
    pd.testing.assert_frame_equal(found, found.T)


def test_bins_have_equal_frequency_and_missing_is_one_of_its_own():
    data = Microdata(pd.DataFrame({"x": [*range(20), None, None]}), {"*": "insensitive"})
    found = equal_frequency(data.codes["x"], data.domain["x"], 4)
    assert found.tolist() == [place // 5 for place in range(20)] + [4, 4]
    # Equal numbers share a bin, however many they are; few different numbers are taken as they are.
    many = Microdata(pd.DataFrame({"x": [0] * 15 + list(range(1, 6))}), {"x": "insensitive"})
    assert equal_frequency(many.codes["x"], many.domain["x"], 4).tolist() == [0] * 15 + [1, 1, 1, 1, 1]
    few = Microdata(pd.DataFrame({"x": [1, 1, 1, 7]}), {"x": "insensitive"})
    assert equal_frequency(few.codes["x"], few.domain["x"], 4).tolist() == [0, 0, 0, 1]


def test_only_the_named_attributes_in_their_order_and_at_least_two_bins():
    data = Microdata(pd.DataFrame({"a": [1, 2], "b": [1, 2], "c": [1, 2]}))
    with pytest.raises(ParameterError, match="at least 2 bins"):
        mutual_information(data, bins=1)
