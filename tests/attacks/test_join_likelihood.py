"""How likely the join of fragments holds a person's record."""

from itertools import product
from math import prod

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import GroupValues, Microdata, attacks
from anoncore.algorithms import VerticalFragmentation
from anoncore.attacks import JoinLikelihood, join_likelihood
from tests.privacy.test_joins import UNEVEN, as_sets


def test_by_hand():
    # Classes of the rows: F1 {x x x y}, {y y z z}, F2 {x x y y}, {x y z z}; the joins have 8, 4, 4 and 6 rows, all in
    # all 3 * 3 + 3 * 3 + 2 * 2 = 22.
    found = join_likelihood(UNEVEN)
    assert found.total == 22
    assert found.joined.tolist() == [8, 8, 4, 8, 4, 6, 6, 6]
    assert found.likelihood == pytest.approx(found.joined / 22)
    assert found.largest == pytest.approx(8 / 22)
    assert found.mean == pytest.approx(50 / 8 / 22)
    assert found.largest.baseline == found.mean.baseline == 1 / 4
    assert found.unmatched == 0


def test_value_sets_count_with_the_rows_they_are_expected_to_have():
    # F1 {x y}, {y z}, F2 {x y}, {x y z} of four rows: 2 of each of two values, 4/3 of each of three.
    found = join_likelihood(as_sets(UNEVEN))
    pairs = {(0, 0): 2 * 4, (0, 1): 2 * 8 / 3, (1, 0): 4, (1, 1): 2 * 8 / 3}
    groups = zip(*(fragment.partition.group.tolist() for fragment in UNEVEN.fragments), strict=True)
    assert found.joined == pytest.approx([pairs[pair] for pair in groups])
    assert found.total == pytest.approx(sum(pairs.values()))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1_000), st.integers(2, 3), st.sampled_from(["naive", "dependency", "selectivity"]))
def test_it_is_that_of_the_materialized_join(seed, fragments, enforce):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"q{i}": rng.integers(0, 9, 15) for i in range(3)} | {"c": rng.choice(list("xyz"), 15)})
    data = Microdata(
        frame, {"q0": "quasi-identifier", "q1": "quasi-identifier", "q2": "quasi-identifier", "c": "sensitive"}
    )
    release = VerticalFragmentation(k=3, fragments=fragments, enforce=enforce, seed=0).anonymize(data)
    found = attacks.membership(release)
    assert isinstance(found, JoinLikelihood)
    rows = []
    for fragment in release.fragments:
        recoding = fragment.recodings["c"]
        shown = []
        for row, group in enumerate(fragment.partition.group.tolist()):
            values = recoding.values(group).tolist() if isinstance(recoding, GroupValues) else [recoding.codes[row]]
            shown += [(group, value, 1 / len(values)) for value in values]
        rows.append(shown)
    joined = {}
    for combination in product(*rows):
        if len({value for _, value, _ in combination}) == 1:
            key = tuple(group for group, _, _ in combination)
            joined[key] = joined.get(key, 0.0) + prod(weight for _, _, weight in combination)
    own = zip(*(fragment.partition.group.tolist() for fragment in release.fragments), strict=True)
    expected = np.array([joined.get(key, 0.0) for key in own])
    assert found.total == pytest.approx(sum(joined.values()))
    assert found.joined == pytest.approx(expected)
    assert found.unmatched == pytest.approx((expected == 0).mean())


def test_more_fragments_make_membership_less_likely():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"q{i}": rng.integers(0, 50, 200) for i in range(4)} | {"c": rng.choice(list("xy"), 200)})
    data = Microdata(frame, {**dict.fromkeys(["q0", "q1", "q2", "q3"], "quasi-identifier"), "c": "sensitive"})
    likelihood = [
        join_likelihood(VerticalFragmentation(k=5, fragments=m, seed=0).anonymize(data)).mean for m in (2, 3, 4)
    ]
    assert likelihood[0] > likelihood[1] > likelihood[2]
