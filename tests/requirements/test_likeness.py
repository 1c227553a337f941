"""beta-likeness: gains by hand, a plain definition on random tables, and releases of Adult judged by it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncore import Microdata, privacy
from anoncore.algorithms import Incognito, LocalRecoding, Mondrian, RothkoTree, Slicing
from anoncore.requirements import BetaLikeness, KAnonymity
from tests.many_tables import few_and_many
from tests.privacy.releases import adult
from tests.requirements.tables import grouped, random_groups

BETAS = (0.0, 0.25, 0.5, 1.0, 2.0, 5.0)


def is_alike(group, whole, beta, protected=None):
    """The definition, value by value."""
    for value, count in Counter(group).items():
        p, q = whole.count(value) / len(whole), count / len(group)
        if (protected is None or value in protected) and (q - p) / p > min(beta, -math.log(p)) + 1e-12:
            return False
    return True


def verdicts(data, partition, beta):
    (check,) = BetaLikeness(beta=beta).checks(data)
    return check.holds(check.levels(partition)).tolist()


def test_gains_by_hand():
    # The table has a 1/2, b 1/4, c 1/4. In the first group a has 2/3, which is a gain of 1/3, and b 1/3, a gain of 1/3;
    # in the second c has 2/5, a gain of 3/5, and a and b have less than in the table.
    sample = grouped(list("aab" + "aabcc"), [0] * 3 + [1] * 5)
    (check,) = BetaLikeness(beta=0.5).checks(sample.data)
    levels = check.levels(sample.partition)
    np.testing.assert_allclose(levels, [1 / 3, 3 / 5])
    assert check.holds(levels).tolist() == [True, False]


def test_a_frequent_value_is_bounded_by_its_own_share():
    # Half of the table has a. In the first class everybody has it, a gain of 1, which is more than ln 2 = 0.69 and so
    # too much for every beta; in the second b has 4/5, a gain of 3/5.
    frame = pd.DataFrame({"age": [20] * 3 + [70] * 5, "s": list("aaa" + "abbbb")})
    data = Microdata(frame, {"age": "quasi-identifier", "s": "sensitive"})
    release = Mondrian([KAnonymity(k=3)]).anonymize(data)
    (check,) = BetaLikeness(beta=9).checks(data)
    assert check.levels(release.partition).tolist() == [math.inf, pytest.approx(0.6)]
    (violation,) = privacy.check(release, [BetaLikeness(beta=9)])
    assert "gains more than -ln of its share, so that no beta is large enough" in violation.sentence


def test_a_gain_of_exactly_beta_holds():
    # a has 1/4 of the table and 1/2 of the first group, a gain of 1; -ln 1/4 = 1.39 allows it.
    sample = grouped(list("aabc" + "bbcc"), [0] * 4 + [1] * 4)
    assert verdicts(sample.data, sample.partition, 1.0) == [True, True]
    assert verdicts(sample.data, sample.partition, 0.999) == [False, True]


@given(random_groups(("a", "a", "a", "b", "b", "c", None)), st.sampled_from(BETAS))
def test_it_is_the_plain_definition(sample, beta):
    expected = [is_alike(sample.members(group), sample.values, beta) for group in range(sample.partition.n_groups)]
    assert verdicts(sample.data, sample.partition, beta) == expected


FEW_AND_MANY = few_and_many(30)


@pytest.mark.parametrize("seed", FEW_AND_MANY)
def test_it_is_the_plain_definition_on_larger_tables(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_values = int(rng.integers(2, 120)), int(rng.integers(1, 9))
    shares = rng.dirichlet(np.full(n_values, 0.7))
    values = rng.choice([*"abcdefgh"[: n_values - 1], None], n_rows, p=shares).tolist()
    group = np.unique(rng.integers(0, 5, n_rows), return_inverse=True)[1].tolist()
    protected = {values[0]} if seed % 3 == 0 and values[0] is not None else None
    tags = {} if protected is None else {"sensitive_values": {"s": protected}}
    sample = grouped(values, group, **tags)
    for beta in BETAS:
        expected = [
            is_alike(sample.members(number), values, beta, protected) for number in range(sample.partition.n_groups)
        ]
        assert verdicts(sample.data, sample.partition, beta) == expected


def test_the_table_as_one_group_gains_nothing():
    sample = grouped(list("abbccc"), [0] * 6)
    (check,) = BetaLikeness(beta=0).checks(sample.data)
    assert check.table_level(6) == 0
    assert check.holds(check.levels(sample.partition)).all()


def test_counts_of_billions_are_compared_exactly():
    # A table of 4 billion people, half of whom have a; a group of 2 billion with one person more than its half.
    sample = grouped(["a", "b"], [0, 0])
    (check,) = BetaLikeness(beta=0).checks(sample.data)
    half = 2**31
    large = replace(check, reference=np.array([half, half, 2 * half], dtype=np.float64))
    assert large.table_level(half, np.array([half // 2, half // 2])) == 0
    assert large.table_level(half, np.array([half // 2 + 1, half // 2 - 1])) == pytest.approx(2 / half)


@pytest.mark.slow
@pytest.mark.parametrize("beta", [2.0, 4.0])
@pytest.mark.parametrize(
    "method",
    [
        lambda wanted: Mondrian(requirements=wanted),
        lambda wanted: RothkoTree(requirements=wanted),
        lambda wanted: Incognito(requirements=wanted),
        lambda wanted: LocalRecoding(requirements=wanted),
        lambda wanted: Slicing(l=1.2, sensitive_column_size=1, requirements=wanted),
    ],
    ids=["mondrian", "rothko", "incognito", "local-recoding", "slicing"],
)
def test_releases_of_adult_keep_the_plain_definition(method, beta):
    data = adult(["age", "sex", "race", "education"], "occupation")
    release = method([KAnonymity(k=5), BetaLikeness(beta=beta)]).anonymize(data)
    secrets = data.frame["occupation"].astype(object).where(data.frame["occupation"].notna(), None).to_numpy()
    whole = Counter(secrets.tolist())
    assert release.partition.n_groups > 1
    for group in range(release.partition.n_groups):
        inside = Counter(secrets[release.partition.rows(group)].tolist())
        for value, count in inside.items():
            p, q = whole[value] / len(secrets), count / inside.total()
            assert (q - p) / p <= min(beta, -math.log(p)) + 1e-9
