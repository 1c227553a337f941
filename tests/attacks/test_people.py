"""Risks and beliefs where one person may have several rows, against pandas and by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata, Partition, attacks
from anoncore.algorithms import Anatomy, Mondrian, RandomBuckets
from anoncore.algorithms.base import generalized_release
from anoncore.attacks.person import person_view
from anoncore.base.errors import DataError, InfeasibleError
from anoncore.requirements import KAnonymity

some = settings(max_examples=20)
ROLES = {"age": "quasi-identifier", "illness": "sensitive"}


@st.composite
def visits(draw: st.DrawFn) -> pd.DataFrame:
    n = draw(st.integers(4, 20))
    return pd.DataFrame(
        {
            "who": draw(st.lists(st.sampled_from("ABCDEFGH"), min_size=n, max_size=n)),
            "age": draw(st.lists(st.integers(20, 26), min_size=n, max_size=n)),
            "illness": draw(st.lists(st.sampled_from(["flu", "cold", "gout"]), min_size=n, max_size=n)),
        }
    )


def released(frame):
    data = Microdata(frame, ROLES, unit="who")
    return Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data) if data.n_people > 1 else None


def classes(frame, release):
    """The frame with its published ages, by which an adversary tells classes apart."""
    return frame.assign(shown=release.recoding("age").texts())


@some
@given(visits())
def test_risk_is_one_in_the_people_of_the_smallest_class(frame):
    release = released(frame)
    if release is None:
        return
    found = attacks.reidentification(release)
    shown = classes(frame, release)
    people = shown["shown"].map(shown.groupby("shown")["who"].nunique())
    smallest = people.groupby(frame["who"]).min()
    assert found.class_size.tolist() == frame["who"].map(smallest).tolist()
    assert found.prosecutor.largest == pytest.approx(1 / smallest.min())
    assert found.prosecutor.mean == pytest.approx((1 / smallest).mean())
    assert found.prosecutor.at_risk == pytest.approx((1 / smallest > 0.2 + 1e-9).mean())
    assert found.prosecutor.mean.baseline == pytest.approx(1 / frame["who"].nunique())
    assert found.marketer.mean == pytest.approx((1 / smallest).mean())
    if not frame["who"].is_unique:
        assert any("Different people are counted by 'who'" in note for note in found.notes)


@some
@given(visits())
def test_beliefs_are_shares_of_people_who_have_a_value_at_all(frame):
    release = released(frame)
    if release is None:
        return
    belief = attacks.sensitive_posterior(release, "illness")
    domain = list(release.data.domain["illness"])
    for group in range(release.partition.n_groups):
        rows = release.partition.rows(group)
        part = frame.iloc[rows]
        with_value = part.groupby("illness")["who"].nunique().reindex(domain, fill_value=0)
        for row in rows:
            np.testing.assert_allclose(belief[row], with_value / part["who"].nunique(), atol=1e-12)
    strongest = pd.Series(belief.max(axis=1)).groupby(frame["who"]).max()
    found = attacks.attribute_disclosure(release, "illness")
    if not frame["who"].is_unique:
        np.testing.assert_allclose(found.belief, strongest, atol=1e-12)
    true = pd.Series(belief[np.arange(len(frame)), release.data.codes["illness"]])
    pairs = true.groupby([frame["who"], frame["illness"]]).max()
    assert found.truth == pytest.approx(pairs.mean())
    assert found.largest == pytest.approx(belief.max())
    table = frame.groupby("illness")["who"].nunique() / frame["who"].nunique()
    assert found.largest.baseline == pytest.approx(table.max())
    distance = attacks.posterior_emd(release, "illness")
    assert ((distance >= -1e-12) & (distance <= 1)).all()


def test_a_person_with_ten_rows_is_as_findable_as_anybody():
    frame = pd.DataFrame({"who": ["A"] * 10 + ["B", "C"], "age": [30] * 12, "illness": ["flu"] * 10 + ["flu", "cold"]})
    release = generalized_release(Mondrian(), Microdata(frame, ROLES, unit="who"), Partition(np.zeros(12, np.int32)))
    assert attacks.reidentification(release).prosecutor.largest == pytest.approx(1 / 3)
    belief = attacks.sensitive_posterior(release, "illness")[0]
    np.testing.assert_allclose(belief, [1 / 3, 2 / 3])
    view = person_view(release, 0, "illness")
    assert view.group_size == 3
    np.testing.assert_allclose(view.belief, belief)


def test_a_person_with_several_values_is_believed_to_have_each():
    frame = pd.DataFrame({"who": list("AABB"), "age": [30] * 4, "illness": ["flu", "cold"] * 2})
    release = generalized_release(Mondrian(), Microdata(frame, ROLES, unit="who"), Partition(np.zeros(4, np.int32)))
    assert attacks.sensitive_posterior(release, "illness")[0].tolist() == [1.0, 1.0]
    assert attacks.posterior_emd(release, "illness").tolist() == [0.0] * 4


@pytest.mark.slow
@some
@given(visits())
def test_beliefs_in_buckets_follow_their_definition(frame):
    data = Microdata(frame, ROLES, unit="who")
    try:
        release = Anatomy(l=2, seed=1).anonymize(data)
    except InfeasibleError:
        return
    belief = attacks.sensitive_posterior(release, "illness")
    group = release.partition.group
    for row in range(len(frame)):
        expected, total = np.zeros(len(data.domain["illness"])), 0.0
        for number in range(release.partition.n_groups):
            part = frame[group == number]
            fits = part.loc[part["age"] == frame["age"][row], "who"].nunique() / part["who"].nunique()
            have = part.groupby("illness")["who"].nunique().reindex(list(data.domain["illness"]), fill_value=0)
            expected += fits * have.to_numpy() / part["who"].nunique()
            total += fits
        np.testing.assert_allclose(belief[row], expected / total, atol=1e-12)


def test_a_population_has_one_row_per_person():
    frame = pd.DataFrame({"who": list("AAB"), "age": [30] * 3, "illness": ["flu"] * 3})
    data = Microdata(frame, ROLES, unit="who")
    release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    other = Microdata(frame, ROLES, unit="who")
    with pytest.raises(DataError, match="The population has several rows of one person"):
        attacks.reidentification(release, population=other)


def test_attacks_that_count_rows_say_so():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {"who": rng.integers(0, 20, 40), "age": rng.integers(20, 30, 40), "illness": rng.choice(list("abcd"), 40)}
    )
    said = "Rows are counted here, not people: each of the 40 rows is taken for another person, although 'who'"
    data = Microdata(frame, ROLES, unit="who")
    classes = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    assert attacks.foreground_knowledge(classes, "illness").notes[0].startswith(said)
    assert attacks.region_membership(classes).notes[0].startswith(said)
    buckets = RandomBuckets(size=5, seed=1).anonymize(data)
    assert said in attacks.membership(buckets).method
    assert attacks.matching_buckets(buckets, "illness", 0).notes[0].startswith(said)
    plain = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(Microdata(frame.drop(columns="who"), ROLES))
    assert not any(said in note for note in attacks.foreground_knowledge(plain, "illness").notes)
