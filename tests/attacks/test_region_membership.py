"""Membership in generalized tables: combinations that fit a class against those that are there."""

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata, Partition, Release, ReleaseError, attacks
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.requirements import KAnonymity
from tests.privacy.releases import builtin, fragment, generalized, sliced


def test_a_table_by_hand():
    frame = pd.DataFrame({"age": [1, 2, 2, 5, 5], "sex": ["f", "f", "f", "f", "m"], "ill": list("abcde")})
    data = Microdata(frame, {"age": "quasi-identifier", "sex": "quasi-identifier", "ill": "sensitive"})
    found = attacks.region_membership(generalized(data, [0, 0, 0, 1, 1]))
    # Class 0: ages 1 to 2, f: 2 combinations, both there. Class 1: age 5, f or m: both there.
    assert found.belief.tolist() == [1.0] * 5
    assert found.mean.baseline == pytest.approx(4 / 6)
    found = attacks.region_membership(generalized(data, [0, 0, 0, 0, 0]))
    assert found.fitting.tolist() == [6.0] * 5
    assert found.belief == pytest.approx(np.full(5, 4 / 6))


def test_exact_values_split_a_class():
    frame = pd.DataFrame({"age": [1, 2, 3, 3], "sex": ["f", "f", "m", "m"], "ill": list("abcd")})
    data = Microdata(frame, {"age": "quasi-identifier", "sex": "quasi-identifier", "ill": "sensitive"})
    whole = Partition(np.zeros(4, dtype=np.int32))
    release = Release(data, (fragment(data, "release", whole, ["sex", "ill"], ["age"]),))
    found = attacks.region_membership(release)
    assert found.fitting.tolist() == [3, 3, 3, 3]
    assert found.belief == pytest.approx([2 / 3, 2 / 3, 1 / 3, 1 / 3])


def test_groups_with_equal_cells_are_one_class():
    """Nobody who reads the table can tell the groups apart, and all four ages from 1 to 4 are there."""
    frame = pd.DataFrame({"age": [1, 4, 1, 2, 3, 4], "ill": list("abcdef")})
    data = Microdata(frame, {"age": "quasi-identifier", "ill": "sensitive"})
    found = attacks.region_membership(generalized(data, [0, 0, 1, 1, 1, 1]))
    assert found.belief.tolist() == [1.0] * 6


def test_coarser_classes_are_less_sure():
    data = _random()
    means = [
        float(attacks.region_membership(Mondrian(requirements=(KAnonymity(k=k),), strict=True).anonymize(data)).mean)
        for k in (1, 5, 50, 400)
    ]
    assert means == sorted(means, reverse=True)
    assert means[0] == 1.0


def _random():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.integers(0, 40, 400), "b": rng.integers(0, 40, 400)})
    return Microdata(frame, dict.fromkeys(frame, "quasi-identifier"))


def test_what_it_is_not_for():
    table = builtin("slicing-table-1")
    with pytest.raises(ReleaseError, match="several fragments"):
        attacks.region_membership(sliced(table, [0] * 8, [("age", "sex", "zipcode"), ("disease",)]))
    with pytest.raises(ReleaseError, match="several fragments"):
        attacks.region_membership(Anatomy(l=2).anonymize(table))
