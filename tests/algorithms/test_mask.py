"""Mask: what it changes, how much, and what it leaves alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import DataError, Distorted, InfeasibleError, Microdata, ParameterError, privacy
from anoncore.algorithms import Mask, Mondrian
from anoncore.requirements import FrequencyDiversity, KAnonymity
from tests.privacy.releases import adult
from tests.requirements.tables import misleading_index

LOW = {"Preschool", "1st-4th", "5th-6th", "7th-8th"}


def people(seed, n=120, protected=("x",), index=None):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 30, n),
            "town": rng.choice(list("abc"), n),
            "s": rng.choice(list("xyzuvw"), n, p=[0.1, 0.1, 0.2, 0.2, 0.2, 0.2]),
        },
        index=index,
    )
    roles = {"age": "quasi-identifier", "town": "quasi-identifier", "s": "sensitive"}
    return Microdata(frame, roles=roles, sensitive_values={"s": set(protected)} if protected else {})


def share_counts(data, partition, codes):
    """Rows of the most frequent protected value in each group."""
    view = data.sensitive_view("s", codes)
    counts = partition.histogram(view.codes, view.size)
    return counts[:, :1].max(axis=1) if view.unique >= 0 else counts.max(axis=1)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), k=st.integers(4, 9), l=st.sampled_from([2, 3]), several=st.booleans())
def test_shares_after_distortion_are_drawn_from_groups_that_were_diverse(seed, k, l, several):
    data = people(seed, protected=() if several else ("x", "y"), index=misleading_index(120))
    release = Mask(k=k, l=l, seed=seed).anonymize(data)
    partition, sizes = release.partition, release.partition.sizes
    assert np.array_equal(partition.group, Mondrian(requirements=[KAnonymity(k=k)]).anonymize(data).partition.group)
    before = share_counts(data, partition, data.codes["s"])
    after = share_counts(data, partition, release.published_codes("s"))
    violating = before * l > sizes
    changed = np.zeros(partition.n_groups, dtype=np.bool_)
    changed[partition.group[release.published_codes("s") != data.codes["s"]]] = True
    assert (changed == violating).all()
    assert (after * l <= sizes).all()
    shares = before[~violating] / sizes[~violating] if (~violating).any() else np.array([1 / l])
    n_values = len(data.domain["s"])
    for group in np.flatnonzero(violating):
        limits = np.minimum(np.round(shares * sizes[group]), sizes[group] // l)
        if several:
            limits = np.maximum(limits, -(-sizes[group] // n_values))
            assert after[group] <= limits.max()
        else:
            assert after[group] in limits


def test_only_rows_that_are_too_frequent_get_another_value():
    data = people(1, protected=("x", "y"))
    release = Mask(k=5, l=3, seed=1).anonymize(data)
    recoding = release.recoding("s")
    assert isinstance(recoding, Distorted)
    moved = recoding.codes != recoding.original
    low = [data.domain["s"].code_of(value) for value in "xy"]
    assert np.isin(recoding.original[moved], low).all()
    assert not np.isin(recoding.codes[moved], low).any()
    assert f"{moved.sum()} of 120 values" in release.notes[0]
    assert privacy.check(release, [KAnonymity(k=5), FrequencyDiversity(l=3)]) == ()


def test_a_table_that_is_diverse_everywhere_is_left_as_it_is():
    frame = pd.DataFrame({"age": range(20), "s": list("xyzu") * 5})
    roles = {"age": "quasi-identifier", "s": "sensitive"}
    release = Mask(k=4, l=2, seed=0).anonymize(Microdata(frame, roles=roles))
    assert release.recoding("s").n_changed == 0


def test_a_seed_gives_the_same_for_any_order_of_rows():
    data = people(8)
    shuffled = np.random.default_rng(0).permutation(120)
    other = Microdata(data.frame.iloc[shuffled], roles=data.roles, sensitive_values={"s": {"x"}})
    tables = [Mask(k=5, l=3, seed=7).anonymize(one).tables()["release"] for one in (data, other)]
    pd.testing.assert_frame_equal(*tables)
    different = Mask(k=5, l=3, seed=8).anonymize(data).tables()["release"]
    assert not tables[0].equals(different)


def test_what_cannot_be_done_says_why():
    with pytest.raises(ParameterError, match="k = 3 is below l = 4"):
        Mask(k=3, l=4)
    with pytest.raises(InfeasibleError, match="l = 4"):
        Mask(k=5, l=4).anonymize(people(0, protected=("x", "y", "z", "u")))
    two = pd.DataFrame({"age": range(30), "s": list("xyx") * 10})
    data = Microdata(two, roles={"age": "quasi-identifier", "s": "sensitive"})
    with pytest.raises(InfeasibleError):
        Mask(k=5, l=2).anonymize(data)
    several = Microdata(people(0).frame, roles={"age": "quasi-identifier", "town": "sensitive", "s": "sensitive"})
    with pytest.raises(DataError, match="protects one sensitive attribute"):
        Mask(k=5, l=2).anonymize(several)


def test_adult():
    names = ["age", "workclass", "marital-status", "occupation", "race"]
    plain = adult(names, "education")
    data = Microdata(plain.frame, roles=plain.roles, sensitive_values={"education": LOW})
    release = Mask(k=10, l=10, seed=1).anonymize(data)
    assert privacy.check(release, [KAnonymity(k=10), FrequencyDiversity(l=10)]) == ()
    assert 0 < release.recoding("education").n_changed < 0.05 * data.n_rows
