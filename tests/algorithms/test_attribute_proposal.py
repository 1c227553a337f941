"""What algorithms say about the groups of attributes that they choose, and about people."""

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata, Partition, privacy
from anoncore.algorithms import ALGORITHMS, Anatomy, Mondrian, RandomBuckets, Slicing, VerticalFragmentation
from anoncore.algorithms.slicing.attribute_partition import partition_attributes
from anoncore.algorithms.slicing.columns import sliced_release
from anoncore.algorithms.vertical.mutual_information import mutual_information
from anoncore.base.errors import DataError
from anoncore.utility.associations import association
from tests.privacy.releases import builtin

TUPLE_OF_GROUPS = tuple[tuple[str, ...], ...]
GROUPED = [kind for kind in ALGORITHMS.values() if kind.grouping_fields]


@pytest.fixture
def data():
    rng = np.random.default_rng(4)
    age = rng.integers(20, 60, 300)
    frame = pd.DataFrame(
        {
            "age": age,
            "pension": age // 10,
            "town": rng.choice(list("abc"), 300),
            "car": rng.choice(["red", "blue"], 300),
            "illness": rng.choice(["flu", "cold", "gout", "ulcer"], 300),
        }
    )
    return Microdata(frame, dict.fromkeys(frame, "quasi-identifier") | {"illness": "sensitive"})


def by_hand(kind):
    return next(name for name, info in kind.model_fields.items() if str(TUPLE_OF_GROUPS) in str(info.annotation))


def test_whatever_takes_groups_by_hand_proposes_some():
    takes = {kind.name for kind in ALGORITHMS.values() if str(TUPLE_OF_GROUPS) in str(kind.model_fields)}
    assert takes == {kind.name for kind in GROUPED} == {"slicing", "random-buckets", "vertical-fragmentation"}


@pytest.mark.parametrize("kind", GROUPED, ids=lambda kind: kind.name)
def test_a_proposal_depends_on_nothing_but_its_fields(kind, data):
    assert set(kind.grouping_fields) <= set(kind.model_fields)
    found = kind().proposed_groups(data)
    changed = kind(**{by_hand(kind): (("age", "town"), ("pension", "car"))})
    assert changed.proposed_groups(data).groups == found.groups
    assert len(found.centres) == len(found.groups)
    assert all(centre in group for centre, group in zip(found.centres, found.groups, strict=True) if centre)
    names = list(found.association.index)
    assert names == list(found.association.columns)
    assert {name for group in found.groups for name in group} <= set(names)
    assert np.allclose(found.association, found.association.T)


@pytest.mark.parametrize("kind", GROUPED, ids=lambda kind: kind.name)
def test_the_proposal_given_by_hand_is_what_the_algorithm_does(kind, data):
    algorithm = kind(**({"sensitive_column_size": 1} if kind is Slicing else {}))
    groups = algorithm.proposed_groups(data).groups
    own = algorithm.anonymize(data)
    hand = algorithm.replace(**{by_hand(kind): groups}).anonymize(data)
    assert [part.attributes for part in hand.fragments] == [part.attributes for part in own.fragments]


def test_columns_come_from_phi_squared_and_fragments_from_information(data):
    sliced = Slicing(columns=3, intervals=5).proposed_groups(data)
    expected = partition_attributes(data, 3, None, 5)
    assert (sliced.groups, sliced.centres) == (expected.columns, expected.medoids)
    pd.testing.assert_frame_equal(sliced.association, association(data, 5))
    assert sliced.may_overlap
    vertical = VerticalFragmentation(fragments=2, bins=4).proposed_groups(data)
    pd.testing.assert_frame_equal(vertical.association, mutual_information(data, bins=4))
    assert "illness" not in {name for group in vertical.groups for name in group}
    assert not vertical.may_overlap


def test_others_propose_nothing_and_too_many_groups_are_refused(data):
    assert Mondrian().proposed_groups(data) is None
    with pytest.raises(DataError, match="9 columns need as many attributes"):
        RandomBuckets(columns=9).proposed_groups(data)


def test_slicing_promises_to_people():
    table = builtin("slicing-table-1")
    buckets = Partition(np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    columns = (("age", "sex"), ("zipcode", "disease"))
    release = sliced_release(table, buckets, columns, Slicing(l=2, attribute_columns=columns))
    (held,) = privacy.personal_guarantees(release)
    assert (held.attribute, held.asked, held.holds) == ("disease", 2, True)
    assert held.reached == pytest.approx(2)
    assert "l = 2, holds for every person" in held.sentence
    (failed,) = privacy.personal_guarantees(sliced_release(table, buckets, columns, Slicing(l=3)))
    assert not failed.holds
    assert "p = 0.5 (asked: at most 1/l = 0.3333)" in failed.sentence
    (counted,) = privacy.personal_guarantees(
        sliced_release(table, buckets, columns, Slicing(l=2, diversity="distinct"))
    )
    assert counted.reached == 2
    assert "at least 2 values of 'disease' are possible" in counted.sentence


def test_other_releases_promise_nothing_to_people(data):
    assert privacy.personal_guarantees(Anatomy(l=2).anonymize(data)) == ()
    assert (
        privacy.personal_guarantees(sliced_release(data, Partition(np.zeros(300, np.int32)), [data.attributes])) == ()
    )
