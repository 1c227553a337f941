"""How likely the join of fragments holds a person's record."""

from itertools import product
from math import prod

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import GroupValues, Microdata, Partition, Release, attacks
from anoncore.algorithms import VerticalFragmentation
from anoncore.attacks import JoinLikelihood, join_likelihood
from tests.privacy.releases import fragment as one_fragment
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
@settings(max_examples=25)
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
    rows, look_of_row = [], []
    for fragment in release.fragments:
        recoding = fragment.recodings["c"]
        known = [cells.group_texts for name, cells in fragment.recodings.items() if name != "c"]
        looks = [tuple(texts) for texts in zip(*known, strict=True)]
        look_of_row.append([looks[group] for group in fragment.partition.group])
        shown = []
        for row, group in enumerate(fragment.partition.group.tolist()):
            values = recoding.values(group).tolist() if isinstance(recoding, GroupValues) else [recoding.codes[row]]
            shown += [(looks[group], value, 1 / len(values)) for value in values]
        rows.append(shown)
    joined = {}
    for combination in product(*rows):
        if len({value for _, value, _ in combination}) == 1:
            key = tuple(look for look, _, _ in combination)
            joined[key] = joined.get(key, 0.0) + prod(weight for _, _, weight in combination)
    own = zip(*look_of_row, strict=True)
    expected = np.array([joined.get(key, 0.0) for key in own])
    assert found.total == pytest.approx(sum(joined.values()))
    assert found.joined == pytest.approx(expected)
    assert found.unmatched == pytest.approx((expected == 0).mean())


def test_groups_with_equal_cells_are_one_class():
    """Both groups of the first fragment read 1-2, so nobody can tell its rows x, y from x, z."""
    frame = pd.DataFrame({"age": [1, 2, 1, 2], "zip": list("AABB"), "ill": list("xyxz")})
    data = Microdata(frame, {"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"})
    parts = Partition([0, 0, 1, 1]), Partition([0, 1, 0, 1])
    release = Release(
        data,
        tuple(
            one_fragment(data, name, part, ["ill"], [name]) for name, part in zip(["age", "zip"], parts, strict=True)
        ),
    )
    found = join_likelihood(release)
    # By age everybody is in one class of {x x y z}; by zip all of A and B share {A, B}: the whole join fits everybody.
    assert found.total == 2 * 2 + 1 + 1
    assert found.likelihood.tolist() == [1.0] * 4
    apart = Release(data, (release.fragments[0], one_fragment(data, "zip", Partition([0, 0, 1, 1]), ["ill"], ["zip"])))
    # By zip {x y} and {x z}: of the joined rows 2 + 1 fit those of A, as many those of B.
    assert join_likelihood(apart).joined.tolist() == [3.0] * 4


def test_more_fragments_make_membership_less_likely():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"q{i}": rng.integers(0, 50, 200) for i in range(4)} | {"c": rng.choice(list("xy"), 200)})
    data = Microdata(frame, {**dict.fromkeys(["q0", "q1", "q2", "q3"], "quasi-identifier"), "c": "sensitive"})
    likelihood = [
        join_likelihood(VerticalFragmentation(k=5, fragments=m, seed=0).anonymize(data)).mean for m in (2, 3, 4)
    ]
    assert likelihood[0] > likelihood[1] > likelihood[2]
