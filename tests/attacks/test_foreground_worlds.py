"""Possible worlds of one group: the paper's table, exact enumeration, and groups no list could hold."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import nchypergeom_fisher

from anoncore.attacks import group_probabilities, possible_worlds
from anoncore.base.errors import ParameterError
from tests.attacks.naive_worlds import enumerated

TABLE_5 = [0.5, 0.5, 0.2, 0.2]
shares = st.one_of(
    st.sampled_from([0, 1]), st.integers(1, 99).map(lambda k: Fraction(k, 100)), st.just(Fraction(1, 10**9))
)


def test_table_5():
    found = possible_worlds(TABLE_5, 2)
    assert found.weight == pytest.approx([0.16, 0.04, 0.04, 0.04, 0.04, 0.01])
    assert found.weight.sum() == pytest.approx(0.33)
    assert found.share == pytest.approx(np.array([0.16, 0.04, 0.04, 0.04, 0.04, 0.01]) / 0.33)
    assert found.has_value[0].tolist() == [True, True, False, False]
    assert found.probability == pytest.approx([0.24 / 0.33] * 2 + [0.09 / 0.33] * 2)
    assert group_probabilities(TABLE_5, 2) == pytest.approx(found.probability)


def test_section_5_1_craft_repair_beside_adm_clerical():
    # The worlds weigh 4 % of 98 % and 2 % of 96 %.
    assert group_probabilities([0.02, 0.04], 1)[1] == pytest.approx(0.0392 / 0.0584)
    assert round(group_probabilities([0.02, 0.04], 1)[1], 2) == 0.67


@settings(max_examples=30)
@given(f=st.lists(shares, min_size=1, max_size=12), data=st.data())
@example(f=[1, 1, 0], data=None)
@example(f=[Fraction(1, 10**9)] * 11 + [1], data=None)
def test_polynomials_equal_enumeration(f, data):
    sizes = range(len(f) + 1) if data is None else [data.draw(st.integers(0, len(f)))]
    for n in sizes:
        expected = [float(one) for one in enumerated(f, n)]
        assert group_probabilities([float(one) for one in f], n) == pytest.approx(expected, rel=1e-9, abs=1e-15)


@settings(max_examples=20)
@given(f=st.lists(shares.map(float), min_size=2, max_size=40), data=st.data())
def test_what_every_answer_must_satisfy(f, data):
    n = data.draw(st.integers(0, len(f)))
    p = group_probabilities(f, n)
    assert ((p >= 0) & (p <= 1)).all()
    assert p.sum() == pytest.approx(n)
    assert 1 - group_probabilities([1 - one for one in f], len(f) - n) == pytest.approx(p, abs=1e-9)
    order = np.argsort(f)
    assert (np.diff(p[order]) >= -1e-9).all()


@pytest.mark.parametrize(
    ("size", "low", "high", "n"), [(60, 0.03, 0.2, 25), (4_000, 0.01, 0.5, 140), (30_000, 0.001, 0.999, 900)]
)
def test_large_groups_of_two_signatures_are_a_fisher_hypergeometric(size, low, high, n):
    """Two signatures: the number of x in the second is Fisher's noncentral hypergeometric, odds the ratio of odds."""
    second = size // 3
    p = group_probabilities([low] * (size - second) + [high] * second, n)
    odds = high / (1 - high) / (low / (1 - low))
    mean = nchypergeom_fisher(size, second, n, odds).mean()
    assert p[-1] * second == pytest.approx(mean, rel=1e-6)


def test_60_people_25_with_x():
    f = np.linspace(0.01, 0.9, 60)
    p = group_probabilities(f, 25)
    assert p.sum() == pytest.approx(25)
    odds = f / (1 - f)
    # Removing two people who swap leaves the ratio of their odds given everything else.
    pair = group_probabilities([f[10], f[50]], 1)
    assert pair[1] / pair[0] == pytest.approx(odds[50] / odds[10])


def test_people_of_whom_some_have_it_nearly_surely_and_others_hardly_ever():
    """What puts the needed coefficients near the largest used to end far from them where the odds span 30 digits."""
    f = [0.6428] * 7 + [0.6629] * 3 + [1.6e-37] * 3 + [2.3e-48] * 2 + [0.2499] * 8 + [1 - 2**-52] * 2
    p = group_probabilities(f, 11)
    assert p.sum() == pytest.approx(11, rel=1e-9)
    assert p[-2:] == pytest.approx([1, 1], rel=1e-9)
    small = [0.6428, 0.6629, 1.6e-37, 2.3e-48, 0.2499, 1 - 2**-52]
    exact = enumerated([Fraction(one) for one in small], 3)
    assert group_probabilities(small, 3) == pytest.approx([float(one) for one in exact], rel=1e-9)


def test_shares_that_contradict_the_group_fall_back_to_its_share():
    assert group_probabilities([1.0, 1.0, 0.3], 1).tolist() == [pytest.approx(1 / 3)] * 3
    assert group_probabilities([0.0, 0.0, 0.3], 2).tolist() == [pytest.approx(2 / 3)] * 3
    worlds = possible_worlds([0.0, 0.0, 0.3], 2)
    assert worlds.weight.sum() == 0
    assert worlds.probability == pytest.approx([2 / 3] * 3)


def test_impossible_questions():
    with pytest.raises(ParameterError, match="0 to 3 can have the value, not 4"):
        group_probabilities([0.1, 0.2, 0.3], 4)
    with pytest.raises(ParameterError, match="probability from 0 to 1"):
        group_probabilities([0.1, 1.2], 1)
    with pytest.raises(ParameterError, match="probability from 0 to 1"):
        group_probabilities([], 0)
    with pytest.raises(ParameterError, match="490,314 possible worlds"):
        possible_worlds([0.1] * 23, 8)
