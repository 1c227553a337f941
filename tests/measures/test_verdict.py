"""The verdict on a release: asked and held, asked and failed, and what nobody asked for and fails badly."""

from __future__ import annotations

import pandas as pd
import pytest

from anoncore import Microdata, Release, attacks, privacy
from anoncore.algorithms import Anatomy, Mondrian, Slicing
from anoncore.measures import verdict
from anoncore.measures.verdict import FAR, FOUND, GIVEN_AWAY
from anoncore.requirements import FrequencyDiversity, KAnonymity, TCloseness
from anoncore.requirements.worth import NEAR_CERTAIN
from tests.privacy.releases import builtin, generalized
from tests.shared_data import require

PEOPLE = pd.DataFrame({"age": range(20, 40), "illness": ["flu", "cold"] * 10})
ROLES = {"age": "quasi-identifier", "illness": "sensitive"}


def mondrian(*requirements):
    return Mondrian(requirements=requirements)


def names(found):
    return [one.name for one in found.not_asked]


def test_a_release_that_is_good_in_all_of_it():
    found = verdict(mondrian(KAnonymity(k=4), FrequencyDiversity(l=2)).anonymize(Microdata(PEOPLE, ROLES)))
    assert found.is_good
    assert (len(found.held), found.failed, found.not_asked) == (2, (), ())
    assert found.headline == "Everything that was asked holds."


def test_one_illness_in_a_class_is_named_beside_what_holds():
    data = Microdata(PEOPLE.assign(illness=["flu"] * 10 + ["cold"] * 10), ROLES)
    found = verdict(mondrian(KAnonymity(k=5)).anonymize(data))
    assert not found.is_good
    assert found.asked == "Everything that was asked holds."
    assert found.headline.startswith("Everything that was asked holds. Not asked for, and not protected: ")
    belief, distance = found.not_asked
    assert (belief.name, belief.value, belief.baseline, belief.level) == ("largest-belief", 1.0, 0.5, NEAR_CERTAIN)
    assert belief.sentence == (
        "An adversary is at least 90% sure of 'illness' in 20 of 20 rows (100%), and 100% sure in the worst of them; "
        "guessing is 50.0% sure."
    )
    assert (distance.name, distance.value, distance.level) == ("t", 0.5, FAR)


def test_what_guessing_knows_too_is_no_fault_of_the_release():
    data = Microdata(PEOPLE.assign(illness=["flu"] * 19 + ["cold"]), ROLES)
    found = verdict(mondrian(KAnonymity(k=10)).anonymize(data))
    assert float(attacks.attribute_disclosure(generalized(data, [0] * 20), "illness").largest) == 0.95
    assert names(found) == ["largest-belief"], (
        "one group has the flu alone: all of the doubt that guessing leaves is gone"
    )
    whole = verdict(mondrian(KAnonymity(k=20)).anonymize(data))
    assert whole.not_asked == ()


def test_distance_is_left_out_where_one_was_asked_for():
    data = Microdata(PEOPLE.assign(illness=["flu"] * 10 + ["cold"] * 10), ROLES)
    release = mondrian(KAnonymity(k=5), TCloseness(t=0.6, ground="equal")).anonymize(data)
    assert "t" not in names(verdict(release))


def test_being_found_counts_where_no_class_size_was_asked_for():
    data = Microdata(PEOPLE, ROLES)
    found = verdict(Anatomy(l=2).anonymize(data))
    (one,) = (one for one in found.not_asked if one.name == "reidentified-largest")
    assert (one.value, one.level, one.baseline) == (1.0, FOUND, 1 / 20)
    assert one.sentence == (
        "An adversary who knows the quasi-identifiers of a person finds their row with more than one chance in three "
        "for 100% of the people, and with 100% for the worst protected; picking a row at random finds it with 5.0%."
    )
    asked = verdict(mondrian(KAnonymity(k=2), FrequencyDiversity(l=2)).anonymize(data))
    assert "reidentified-largest" not in names(asked), "k = 2 was asked for, and holds"


def test_buckets_of_k_people_do_not_hide_whose_row_is_whose():
    """Every age is one person's, and buckets publish it as it is."""
    release = Slicing(l=2, requirements=[KAnonymity(k=2)]).anonymize(Microdata(PEOPLE, ROLES))
    found = verdict(release)
    assert any(sentence.startswith("k-anonymity (k = 2) holds") for sentence in found.held)
    (failing,) = found.not_asked
    assert (failing.name, failing.value) == ("reidentified-largest", 1.0)


def test_what_is_asked_of_class_sizes_and_fails_says_how_surely_people_are_found():
    data = Microdata(PEOPLE, ROLES)
    found = verdict(mondrian(KAnonymity(k=2)).anonymize(data), [KAnonymity(k=3)])
    # In classes of two, people are found with 1/2, which is more than one chance in three.
    assert found.failed
    assert "reidentified-largest" not in names(found)
    assert found.headline.startswith("1 of 2 things that were asked does not hold")


def test_what_was_asked_and_does_not_hold_comes_first():
    release = generalized(Microdata(PEOPLE, ROLES), [0] * 4 + [1] * 16)
    found = verdict(release, [KAnonymity(k=5), FrequencyDiversity(l=2)])
    assert (len(found.held), len(found.failed)) == (1, 1)
    assert found.headline == "1 of 2 things that were asked does not hold."
    assert verdict(release).headline == "Nothing was asked of this release."


@pytest.mark.parametrize(("share", "bad"), [(None, False), (GIVEN_AWAY, False), (0.06, True)])
def test_the_foreground_attack_counts_where_it_was_made(share, bad):
    release = mondrian(KAnonymity(k=4), FrequencyDiversity(l=2)).anonymize(Microdata(PEOPLE, ROLES))
    assert ("foreground-excess" in names(verdict(release, foreground=share))) is bad


NOTED = PEOPLE.assign(decade=[20] * 10 + [30] * 10, note=range(20))
DECADES = {"decade": "quasi-identifier", "illness": "sensitive", "age": "identifier"}
FINDS = "'note', published by decision, finds everybody: 20 of 20 rows lie in groups of fewer than k = 10"


def test_a_column_that_breaks_the_promise_stands_in_the_first_line():
    data = Microdata(NOTED, DECADES | {"note": "insensitive"})
    found = verdict(mondrian(KAnonymity(k=10)).anonymize(data))
    assert found.breaking == FINDS
    assert found.headline == found.asked == f"Everything that was asked holds over what is known; {FINDS}."
    assert not found.is_good
    assert found.not_asked == ()
    assert found.held[0].startswith("k-anonymity (k = 10) holds over what is known: the worst")
    (sentence,) = found.decided
    assert sentence == (
        "'note' is published by decision as it is: with it the smallest group has 1 row instead of 10, and "
        "20 of 20 rows are in groups of fewer than k = 10. Tag 'note' as a quasi-identifier, or leave it out of the "
        "release."
    )


def test_a_column_without_a_role_breaks_nothing():
    found = verdict(mondrian(KAnonymity(k=10)).anonymize(Microdata(NOTED, DECADES)))
    assert (found.breaking, found.decided, found.headline) == ("", (), "Everything that was asked holds.")
    assert found.is_good


def test_a_column_of_a_release_made_elsewhere_was_decided_on_by_nobody():
    published = mondrian(KAnonymity(k=10)).anonymize(Microdata(NOTED, DECADES | {"note": "insensitive"})).tables()
    roles = {name: role for name, role in DECADES.items() if name != "age"}
    alone = Release.from_published(published["release"], roles)
    beside = Release.from_published(published["release"], original=Microdata(NOTED, DECADES))
    for release in (alone, beside):
        assert (release.data.undecided, release.data.insensitive) == (("note",), ("note",))
        found = verdict(release, [KAnonymity(k=10)])
        assert found.headline == (
            "Everything that was asked holds over what is known; "
            f"{FINDS.replace('published by decision', 'on which nobody decided')}."
        )
        assert found.decided[0].startswith("'note' has no role, is published as it is: with it")
    decided = Release.from_published(published["release"], roles | {"*": "insensitive"})
    assert verdict(decided, [KAnonymity(k=10)]).breaking == FINDS


def test_a_larger_k_that_is_asked_for_counts():
    data = Microdata(NOTED.assign(note=[0] * 5 + [1] * 15), DECADES | {"note": "insensitive"})
    release = mondrian(KAnonymity(k=2)).anonymize(data)
    assert verdict(release).breaking == ""
    found = verdict(release, [KAnonymity(k=8)])
    assert found.breaking == (
        "'note', published by decision, finds 10 of 20 rows, which lie in groups of fewer than k = 8"
    )


def test_columns_that_single_out_together_are_named_together():
    # Eight people of one decade: the column a halves the class, and b and c quarter it only together with each other.
    frame = pd.DataFrame(
        {
            "decade": [20] * 8,
            "illness": ["flu", "cold"] * 4,
            "a": [0, 0, 1, 1, 2, 2, 3, 3],
            "b": [0, 0, 0, 0, 1, 1, 1, 1],
            "c": [0, 0, 1, 1, 0, 0, 1, 1],
        }
    )
    data = Microdata(frame, {"decade": "quasi-identifier", "illness": "sensitive", "*": "insensitive"})
    release = mondrian(KAnonymity(k=4)).anonymize(data)
    assert verdict(release).breaking == (
        "'a', 'b', 'c', published by decision, find everybody: 8 of 8 rows lie in groups of fewer than k = 4"
    )
    assert [leak.split.columns for leak in privacy.tag_leaks(release)] == [("a",), ("b", "c"), ("b", "c")]


def test_a_column_that_only_tells_another_is_named_with_what_it_tells():
    frame = PEOPLE.assign(decade=[20] * 10 + [30] * 10, kind=["lung", "nose"] * 10)
    data = Microdata(frame, DECADES | {"kind": "insensitive"})
    assert verdict(mondrian(KAnonymity(k=5)).anonymize(data)).breaking == (
        "'kind', published by decision, tells 'illness'"
    )


def test_rows_are_no_people_where_an_identifier_repeats_and_nobody_named_a_unit():
    frame = NOTED.assign(age=[number // 2 for number in range(20)])
    data = Microdata(frame, DECADES | {"note": "insensitive"})
    found = verdict(mondrian(KAnonymity(k=10)).anonymize(data))
    assert found.breaking == FINDS.replace("everybody", "every row")


@pytest.mark.parametrize("secret", [["flu"] * 20, [None] * 20])
def test_what_everybody_has_is_no_fault_of_the_release(secret):
    release = mondrian(KAnonymity(k=5)).anonymize(Microdata(PEOPLE.assign(illness=secret), ROLES))
    assert verdict(release).not_asked == ()


def test_protected_values_that_everybody_has_are_no_fault_of_the_release():
    data = Microdata(PEOPLE, ROLES, sensitive_values={"illness": {"flu", "cold"}})
    assert verdict(mondrian(KAnonymity(k=5)).anonymize(data)).not_asked == ()


def test_adult_with_k_alone_is_never_called_good():
    require("adult.csv")
    found = verdict(mondrian(KAnonymity(k=5)).anonymize(builtin("adult")))
    assert found.failed == ()
    assert not found.is_good
    assert "published by decision" in found.headline
    assert any("'education-num' is published by decision and tells 'education'" in one for one in found.decided)
    assert any(one.name == "largest-belief" and one.value == 1 for one in found.not_asked)


@pytest.mark.parametrize(("unit", "counted"), [(None, "people"), ("id", "rows")])
def test_what_an_attack_gives_away_is_told_of_rows_where_people_have_several(unit: str | None, counted: str) -> None:
    frame = pd.DataFrame({"id": [1, 1, 2, 2] if unit else [1, 2, 3, 4], "age": [20, 20, 60, 60], "ill": list("abab")})
    data = Microdata(frame, {"id": "identifier", "age": "quasi-identifier", "ill": "sensitive"}, unit=unit)
    release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    (sentence,) = [one.sentence for one in verdict(release, foreground=0.4).not_asked if "given away" in one.title]
    assert f"gives away 40.0% more of the {counted} than the same attack" in sentence
