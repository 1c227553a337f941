"""What was promised or asked against what is reached."""

import pytest

from anoncore import Release, privacy
from anoncore.algorithms import Anatomy
from anoncore.requirements import DistinctDiversity, FrequencyDiversity, KAnonymity, RecursiveDiversity, TCloseness
from tests.privacy.releases import builtin, generalized
from tests.privacy.test_profile import two_partitions

HEARTS = (0, 0, 0, 1, 1, 1, 2, 2, 2)


def test_promises_of_the_algorithm_come_first_and_only_once():
    release = Anatomy(l=2, seed=1).anonymize(builtin("slicing-table-1"))
    found = privacy.guarantees(release, [DistinctDiversity(l=2, attribute="disease"), KAnonymity(k=2)])
    assert [one.requirement for one in found] == [
        FrequencyDiversity(l=2.0, attribute="disease"),
        DistinctDiversity(l=2, attribute="disease"),
        KAnonymity(k=2),
    ]
    assert all(one.holds and one.n_violations == 0 for one in found)
    assert all(one.reached >= one.asked for one in found)


def test_a_requirement_that_fails_says_how_often_and_where():
    release = generalized(builtin("t-closeness-table-2.8"), HEARTS)
    (one,) = privacy.guarantees(release, [RecursiveDiversity(c=1.5, l=2)])
    assert (one.asked, one.holds, one.n_groups, one.n_violations, one.group) == (1.5, False, 3, 2, 0)
    assert one.sentence == (
        "recursive (c, l)-diversity (c = 1.5, l = 2) fails in 2 of 3 groups: the worst group has "
        "too few people or different values of 'disease', so that no c is large enough (asked: below 1.5)."
    )


def test_reached_is_the_worst_level_whichever_way_it_counts():
    release = generalized(builtin("t-closeness-table-2.10"), HEARTS)
    found = privacy.guarantees(release, [TCloseness(t=0.4, ground="ordered", attribute="salary"), KAnonymity(k=3)])
    assert found[0].reached == pytest.approx(privacy.emd(release, "salary").max())
    assert found[0].holds
    assert found[1].sentence == "k-anonymity (k = 3) holds: the worst group has size 3 (asked: at least 3)."


def test_every_sensitive_attribute_has_its_entry():
    release = generalized(builtin("t-closeness-table-2.10"), HEARTS)
    found = privacy.guarantees(release, [DistinctDiversity(l=3)])
    assert [(one.attribute, one.reached) for one in found] == [("salary", 3), ("disease", 3)]


def test_fragments_with_partitions_of_their_own_count_together():
    data, fragments = two_partitions()
    (one,) = privacy.guarantees(Release(data, fragments), [KAnonymity(k=2)])
    assert (one.reached, one.fragment, one.group, one.n_groups, one.n_violations) == (1, "two", 1, 5, 2)


def test_nothing_was_promised_by_nobody():
    assert privacy.guarantees(generalized(builtin("slicing-table-1"), [0] * 8)) == ()
