"""Where one person may have several rows: every requirement against pandas, which counts different people."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata, Partition
from anoncore.base.errors import DataError
from anoncore.requirements import (
    BetaLikeness,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
    VarianceDiversity,
)
from anoncore.table.people import repeated_identifiers

VALUES = ("flu", "ulcer", "cancer", "angina")
some = settings(max_examples=30)


@st.composite
def visits(draw: st.DrawFn, values=VALUES) -> pd.DataFrame:
    """One to 16 rows of up to six people, in up to four groups."""
    n = draw(st.integers(1, 16))
    frame = pd.DataFrame(
        {
            "who": draw(st.lists(st.sampled_from("ABCDEF"), min_size=n, max_size=n)),
            "s": draw(st.lists(st.sampled_from(list(values)), min_size=n, max_size=n)),
            "group": draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)),
        }
    )
    frame["group"] = np.unique(frame["group"], return_inverse=True)[1]
    return frame.set_axis([0] * n)


def levels(requirement, frame, **tags):
    data = Microdata(frame.drop(columns="group"), {"s": "sensitive"}, unit="who", **tags)
    (check,) = requirement.checks(data)
    return check.levels(Partition(frame["group"].to_numpy()))


def people(frame):
    return frame.groupby("group")["who"].nunique().to_numpy()


def people_with(frame):
    """The different people of each group who have each value."""
    return [part.groupby("s")["who"].nunique().sort_values(ascending=False) for _, part in frame.groupby("group")]


def shares(frame):
    pairs = frame.drop_duplicates(["who", "s"])["s"]
    return pairs.value_counts(normalize=True)


@some
@given(visits())
def test_k_counts_people(frame):
    assert levels(KAnonymity(k=2), frame).tolist() == people(frame).tolist()


@some
@given(visits())
def test_distinct_diversity_counts_values_but_no_more_than_people(frame):
    different = frame.groupby("group")["s"].nunique().to_numpy()
    assert levels(DistinctDiversity(l=2), frame).tolist() == np.minimum(different, people(frame)).tolist()


@some
@given(visits())
def test_frequency_diversity_is_the_share_of_people_who_have_a_value_at_all(frame):
    plain = people(frame) / [counts.max() for counts in people_with(frame)]
    np.testing.assert_allclose(levels(FrequencyDiversity(l=2), frame), plain, rtol=1e-12)


@some
@given(visits())
def test_entropy_is_that_of_different_pairs_but_no_more_than_people(frame):
    plain = []
    for counts, size in zip(people_with(frame), people(frame), strict=True):
        share = counts / counts.sum()
        plain.append(min(math.exp(-(share * np.log(share)).sum()), size))
    np.testing.assert_allclose(levels(EntropyDiversity(l=2), frame), plain, rtol=1e-12)


@some
@given(visits(), st.integers(2, 4))
def test_recursive_diversity_compares_counts_of_people(frame, l):
    plain = []
    for counts, size in zip(people_with(frame), people(frame), strict=True):
        tail = counts.iloc[l - 1 :].sum()
        plain.append(counts.iloc[0] / tail if tail and size >= l else math.inf)
    np.testing.assert_allclose(levels(RecursiveDiversity(c=2, l=l), frame), plain, rtol=1e-12)


@some
@given(visits())
def test_closeness_compares_different_pairs_of_group_and_table(frame):
    table = shares(frame)
    plain = [
        shares(part).reindex(table.index, fill_value=0).sub(table).abs().sum() / 2 for _, part in frame.groupby("group")
    ]
    np.testing.assert_allclose(levels(TCloseness(t=0.5, ground="equal"), frame), plain, atol=1e-12)


@some
@given(visits())
def test_likeness_compares_the_shares_of_people_who_have_a_value_at_all(frame):
    table = frame.groupby("s")["who"].nunique() / frame["who"].nunique()
    plain = []
    for counts, size in zip(people_with(frame), people(frame), strict=True):
        gain = counts / size / table[counts.index] - 1
        is_bounded = (gain <= -np.log(table[counts.index]) + 1e-12).all()
        plain.append(max(gain.max(), 0) if is_bounded else math.inf)
    np.testing.assert_allclose(levels(BetaLikeness(beta=1), frame), plain, atol=1e-12)


@some
@given(visits((1.0, 2.5, 7.0)))
def test_variance_is_that_of_different_pairs(frame):
    plain = [part.drop_duplicates(["who", "s"])["s"].var(ddof=0) for _, part in frame.groupby("group")]
    np.testing.assert_allclose(levels(VarianceDiversity(v=1), frame, kinds={"s": "numeric"}), plain, atol=1e-12)


@pytest.mark.slow
@some
@given(visits(), st.permutations(range(16)))
def test_the_order_of_the_rows_decides_nothing(frame, order):
    again = frame.iloc[[row for row in order if row < len(frame)]]
    for requirement in (
        KAnonymity(k=2),
        FrequencyDiversity(l=2),
        EntropyDiversity(l=2),
        BetaLikeness(),
        TCloseness(t=0.5),
    ):
        np.testing.assert_allclose(levels(requirement, frame), levels(requirement, again), atol=1e-12)


@some
@given(visits())
def test_a_unit_that_no_row_shares_changes_nothing(frame):
    plain = Microdata(frame[["s"]], {"s": "sensitive"})
    own = frame.assign(who=np.arange(len(frame)))
    partition = Partition(frame["group"].to_numpy())
    for requirement in (
        KAnonymity(k=2),
        DistinctDiversity(l=2),
        EntropyDiversity(l=2),
        BetaLikeness(),
        TCloseness(t=0.5),
    ):
        (check,) = requirement.checks(plain)
        assert levels(requirement, own).tolist() == check.levels(partition).tolist()


def test_where_only_some_values_need_protection_every_other_person_counts_as_a_value():
    frame = pd.DataFrame({"who": list("AABC"), "s": ["flu", "flu", "cold", "HIV"], "group": 0})
    protected = {"sensitive_values": {"s": {"HIV"}}}
    # HIV, and A and B with values of their own.
    assert levels(DistinctDiversity(l=2), frame, **protected).tolist() == [3.0]
    assert levels(FrequencyDiversity(l=2), frame, **protected).tolist() == [3.0]


def test_the_largest_share_may_rise_where_groups_share_a_person():
    frame = pd.DataFrame({"who": ["1", "2", "3", "2"], "s": list("xyxy"), "group": [0, 0, 1, 1]})
    assert levels(FrequencyDiversity(l=2), frame).tolist() == [2.0, 2.0]
    assert levels(FrequencyDiversity(l=2), frame.assign(group=0)).tolist() == [1.5]
    data = Microdata(frame, {"s": "sensitive"}, unit="who")
    assert not FrequencyDiversity(l=2).is_monotone(data)
    assert KAnonymity(k=2).is_monotone(data)
    assert DistinctDiversity(l=2).is_monotone(data)
    assert FrequencyDiversity(l=2).is_monotone(Microdata(frame, {"s": "sensitive"}))


def test_the_unit_is_an_identifier_and_has_no_codes():
    frame = pd.DataFrame({"who": [7, 7, 8], "age": [1, 2, 3]})
    data = Microdata(frame, {"age": "quasi-identifier"}, unit="who")
    assert data.identifiers == ("who",)
    assert "who" not in data.codes
    assert data.people.tolist() == [0, 0, 1]
    assert data.n_people == 2
    assert data.with_quasi_identifiers([]).n_people == 2


def test_categories_that_no_row_has_are_nobody():
    who = pd.Categorical(["b", "b", "a"], categories=["a", "z", "b"])
    assert Microdata(pd.DataFrame({"who": who}), unit="who").n_people == 2


@pytest.mark.parametrize(
    ("who", "role", "unit", "message"),
    [
        ([1, 1], None, "patient", "unit names 'patient', which the table lacks"),
        ([1, 1], "quasi-identifier", "who", "cannot be a quasi-identifier attribute; drop its role"),
        ([1, 1], "sensitive", "who", "cannot be a sensitive attribute; drop its role"),
        ([1, None], None, "who", "1 row does not say whose it is in 'who'"),
    ],
)
def test_units_that_cannot_be(who, role, unit, message):
    with pytest.raises(DataError, match=message):
        Microdata(pd.DataFrame({"who": who}), {} if role is None else {"who": role}, unit=unit)


def test_identifiers_whose_values_repeat_are_noticed():
    frame = pd.DataFrame({"patient": [1, 1, 2], "name": ["A", "B", "C"], "country": ["NL"] * 3, "note": [None, 1, 1]})
    assert repeated_identifiers(frame, list(frame)) == {"patient": (2, 3)}


def test_categories_and_measurements_name_nobody():
    n = 120
    frame = pd.DataFrame(
        {
            "class": ["<=50K", ">50K"] * (n // 2),
            "weight": [60.5, 72.25, 80.0] * (n // 3),
            "income": [0, 900, 12_500, 71_000] * (n // 4),
            "visitor": list(range(n // 20)) * 20,
            "number": [4_711, 1_234, 9_876, 5_555, 2_001, 7_000] * (n // 6),
            "with gaps": [1.0, None, 2.0, 2.0] * (n // 4),
        }
    )
    assert repeated_identifiers(frame, list(frame)) == {"visitor": (6, 120), "number": (6, 120)}
    assert repeated_identifiers(frame[:12], ["with gaps"]) == {"with gaps": (2, 9)}


def test_a_column_with_infinite_numbers_names_nobody():
    frame = pd.DataFrame({"rate": [float("inf"), 1.0, 1.0, 2.0]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert repeated_identifiers(frame, ["rate"]) == {}
