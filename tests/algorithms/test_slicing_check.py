"""The incremental check against the paper's: the same buckets and the same probabilities after every split."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata, Partition, attacks
from anoncore.algorithms.slicing.attribute_partition import partition_attributes
from anoncore.algorithms.slicing.columns import sliced_release
from anoncore.algorithms.slicing.tuple_partition import TupleSearch, sensitive_codes
from anoncore.release.overlap import links
from tests.algorithms.plain_slicing import PlainSlicing
from tests.privacy.releases import adult

NAMES = ["age", "q1", "q2", "q3", "s"]


@st.composite
def tables(draw):
    """Up to 14 rows: a number, three categories and S, of which sometimes only some values need protection."""
    n = draw(st.integers(1, 14))
    category = st.sampled_from(["a", "b", "c", None])
    frame = pd.DataFrame({name: pd.Series([draw(category) for _ in range(n)], dtype=object) for name in NAMES[1:4]})
    frame["age"] = [draw(st.sampled_from([20, 21, 30, 31, 60])) for _ in range(n)]
    frame["s"] = [draw(st.sampled_from("vwxyz")) for _ in range(n)]
    roles = dict.fromkeys(NAMES[:4], "quasi-identifier") | {"s": "sensitive"}
    roles |= draw(st.sampled_from([{}, {}, {"q3": "insensitive"}]))
    some = sorted(set(frame["s"]))[: draw(st.sampled_from([0, 0, 1, 2]))]
    return Microdata(frame[NAMES], roles=roles, sensitive_values={"s": some} if some else None)


@st.composite
def partitions(draw):
    """c = 2..4 columns, S with alpha - 1 = 0..2 others."""
    c = draw(st.integers(2, 4))
    alpha = draw(st.integers(1, min(3, 6 - c)))
    names = draw(st.permutations(NAMES[:4]))
    beside, rest = names[: alpha - 1], names[alpha - 1 :]
    cuts = sorted(draw(st.permutations(range(1, len(rest))))[: c - 2])
    columns = [list(rest[begin:end]) for begin, end in zip([0, *cuts], [*cuts, len(rest)], strict=True)]
    return [*columns, [*beside, "s"]]


def compare(data, columns, l, distinct, retry):
    """Step both, bucket by bucket."""
    cells = [{name: (data.codes[name],) for name in column} for column in columns]
    search = TupleSearch.of(data, cells, {"s": l}, distinct, retry)
    shared = [link.attributes for link in links(columns)]
    plain = PlainSlicing(data, columns, l, distinct, retry, shared)
    more = True
    for buckets in plain.steps():
        assert more
        more = search.step(1)
        found = {frozenset(np.flatnonzero(search.group == bucket).tolist()) for bucket in np.unique(search.group)}
        assert found == {frozenset(bucket) for bucket in buckets}
        kept = search.probability()
        codes = dict(zip(plain.values, sensitive_codes(data, "s")[0].tolist(), strict=True))
        for t in range(data.n_rows):
            expected = plain.probabilities(t, buckets)
            assert {value for value in codes if kept[t, codes[value]] > 0} == set(expected)
            if not distinct:
                assert all(kept[t, codes[value]] == pytest.approx(float(p), abs=1e-13) for value, p in expected.items())
    assert not search.step(1)
    return search


@pytest.mark.slow
@settings(max_examples=30)
@given(tables(), partitions(), st.sampled_from([1, 1.5, 2, 3]), st.booleans(), st.booleans())
def test_every_split_as_the_naive_check_decides(data, columns, l, distinct, retry):
    compare(data, columns, l, distinct, retry)


@pytest.mark.slow
@settings(max_examples=20)
@given(
    tables().filter(lambda data: not data.insensitive),
    st.sampled_from(
        [
            [["age", "q1"], ["q1", "q2", "q3", "s"]],
            [["age", "q1", "s"], ["q2", "q3", "s"]],
            [["age", "q1"], ["q1", "q2"], ["q2", "q3", "s"]],
            [["age", "q1", "s"], ["q1", "q2", "s"], ["q3", "s"]],
            [["age", "s"], ["q1"], ["q2", "q3", "s"]],
        ]
    ),
    st.sampled_from([1, 1.5, 2]),
    st.booleans(),
)
def test_overlapping_columns_as_the_naive_check_decides(data, columns, l, distinct):
    compare(data, columns, l, distinct, True)


@settings(max_examples=30)
@given(tables(), partitions(), st.integers(0, 2**32 - 1))
def test_posterior_of_the_release_is_the_naive_one(data, columns, seed):
    group = np.unique(np.random.default_rng(seed).integers(0, 4, data.n_rows), return_inverse=True)[1]
    release = sliced_release(data, Partition(group), columns)
    found = attacks.sensitive_posterior(release, "s")
    unprotected = Microdata(data.frame, roles=data.roles)
    plain = PlainSlicing(unprotected, columns, 1, False)
    buckets = [np.flatnonzero(group == bucket).tolist() for bucket in np.unique(group)]
    texts = data.domain["s"].texts
    for t in range(data.n_rows):
        expected = plain.probabilities(t, buckets)
        assert found[t] == pytest.approx([float(expected.get(text, 0)) for text in texts], abs=1e-9)


def test_a_limit_met_exactly_holds():
    """Figure 2 refuses p = 1/l; the definition, which counts, allows it: here every p is 1/2 at most."""
    frame = pd.DataFrame({"age": [1, 1, 2, 2], "s": ["x", "y", "x", "y"]})
    data = Microdata(frame, roles={"age": "quasi-identifier", "s": "sensitive"})
    search = TupleSearch.of(data, [{"age": (data.codes["age"],)}, {"s": (data.codes["s"],)}], {"s": 2}, False, True)
    while search.step(1):
        pass
    assert search.group.max() == 1
    assert PlainSlicing(data, [["age"], ["s"]], 2, False).probabilities(0, [[0, 1], [2, 3]])["x"] == Fraction(1, 2)


def test_summing_anew_changes_nothing():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({name: rng.integers(0, 6, 400) for name in "abcde"} | {"s": rng.integers(0, 5, 400)})
    data = Microdata(frame, roles=dict.fromkeys("abcde", "quasi-identifier") | {"s": "sensitive"})
    cells = [{name: (data.codes[name],)} for name in "abcde"] + [{"s": (data.codes["s"],)}]
    search = TupleSearch.of(data, cells, {"s": 2.5}, False, True)
    for _ in range(50):
        search.step(1)
    before = search.probability()
    search.sum_anew()
    assert np.abs(search.probability() - before).max() < 1e-15


@pytest.mark.parametrize("columns", [2, 5])
def test_what_is_kept_of_thousands_of_splits_is_the_posterior(columns):
    data = adult(("age", "workclass", "education", "marital-status", "race", "sex"), "occupation")
    parts = partition_attributes(data, columns, sensitive_column_size=2).columns
    cells = [{name: (data.codes[name],) for name in column} for column in parts]
    search = TupleSearch.of(data, cells, {"occupation": 2}, False, True)
    while search.step(4_000_000):
        pass
    assert search.done == data.n_rows
    release = sliced_release(data, Partition(search.group), parts)
    assert release.partition.n_groups > 5_000
    posterior = attacks.sensitive_posterior(release, "occupation")
    assert np.abs(search.probability() - posterior).max() < 1e-12
