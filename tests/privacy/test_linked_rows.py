"""k over all rows that a pseudonym joins: by hand, against plain Python, and wherever k over rows is said."""

from __future__ import annotations

from collections import Counter

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Exact, Fragment, Microdata, Partition, Policy, Release, attacks, privacy
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.measures import answer, verdict
from anoncore.requirements import KAnonymity

VISITS = pd.DataFrame(
    {
        "patient": list("AABBCC"),
        "age": [20, 60, 21, 61, 22, 22],
        "illness": ["flu", "cold", "gout", "flu", "cold", "gout"],
    }
)
ROLES = {"age": "quasi-identifier", "illness": "sensitive"}
K2 = (KAnonymity(k=2),)


def released(pseudonym: str | None = "patient", unit: str | None = None) -> Release:
    return Mondrian(requirements=K2).anonymize(Microdata(VISITS, ROLES, pseudonym=pseudonym, unit=unit))


def test_by_hand() -> None:
    """Classes are 20-22 (A, B, C, C) and 60-61 (A, B): A and B have a row in each, and C alone has two in one."""
    release = released()
    found = privacy.linked_k(release)
    assert float(privacy.profile(release).k) == 2
    assert found.alike.tolist() == [2, 2, 1]
    assert found.k == 1
    assert found.k.baseline == 3
    assert found.pseudonym == "patient"
    assert found.finding(2) == (
        "'patient', a pseudonym, joins the rows of a person: by all of them somebody hides among 1 person, and 1 of 3 "
        "people hide among fewer than 2"
    )


def test_without_a_pseudonym_single_rows_are_looked_at() -> None:
    found = privacy.linked_k(released(None, "patient"))
    assert (found.alike.tolist(), found.pseudonym, found.finding(2)) == ([2, 2, 3], None, "")


def test_the_pseudonym_is_published_as_it_is() -> None:
    assert sorted(released().pandas_tables()["release"]["patient"]) == list("AABBCC")
    assert "patient" not in released(None, "patient").pandas_tables()["release"]


def test_check_says_where_it_fails() -> None:
    (violation,) = privacy.check(released(), K2)
    assert violation.level == 1
    assert violation.sentence == (
        "Group 0 (3 people in 4 rows) has somebody who hides among 1 person by all rows that the pseudonym "
        "'patient' joins, but k-anonymity (k = 2) asks for at least 2."
    )
    assert privacy.check(released(None, "patient"), K2) == ()


def test_the_verdict_is_never_green_on_k_over_rows_alone() -> None:
    found = verdict(released())
    assert not found.is_good
    assert "hides among 1 person" in found.breaking
    assert found.headline.startswith(
        "Everything that was asked holds over what is known; 'patient', a pseudonym, joins"
    )
    assert any("with every other release that is made with the same key" in one for one in found.decided)
    assert not any("patient" in text for text in (verdict(released(None, "patient")).breaking,))


def test_the_answer_says_it() -> None:
    said = answer([released()], K2, is_attacked=False)
    assert said.tone == "bad"
    assert "joins the rows of a person" in said.text


def test_one_row_per_person_breaks_nothing_but_is_named() -> None:
    people = VISITS.assign(patient=list("ABCDEF"))
    release = Mondrian(requirements=K2).anonymize(Microdata(people, ROLES, pseudonym="patient"))
    found = verdict(release)
    assert found.breaking == ""
    assert privacy.check(release, K2) == ()
    assert any("is published as a pseudonym" in one for one in found.decided)
    assert privacy.linked_k(release).k == privacy.profile(release).k


def test_more_is_asked_than_is_promised() -> None:
    twins = pd.concat([VISITS, VISITS.assign(patient=list("DDEEFF"))])
    release = Mondrian(requirements=K2).anonymize(Microdata(twins, ROLES, pseudonym="patient"))
    assert privacy.linked_k(release).k == 2
    assert verdict(release).breaking == ""
    assert "hide among fewer than 3" in verdict(release, [KAnonymity(k=3)]).breaking


def test_groups_that_join_tables_are_content_too() -> None:
    """In buckets the pseudonym stands beside known values; which bucket a row is in tells people apart, too."""
    people = pd.DataFrame({"patient": list("AABBAABB"), "age": [20] * 8, "illness": ["flu", "cold"] * 4})
    data = Microdata(people.iloc[:4], ROLES, pseudonym="patient")
    same = Partition([0, 0, 0, 0])
    apart = Partition([0, 0, 1, 1])
    for partition, k in ((same, 2), (apart, 1)):
        parts = [
            Fragment(name, partition, {one: Exact(data.domain[one], partition, data.codes[one]) for one in columns})
            for name, columns in (("known", ("patient", "age")), ("secret", ("illness",)))
        ]
        assert privacy.linked_k(Release(data, tuple(parts))).k == k


def test_a_method_of_two_tables_publishes_it() -> None:
    release = Anatomy(l=2, seed=1).anonymize(Microdata(VISITS, ROLES, pseudonym="patient"))
    assert "patient" in release.attributes
    assert privacy.linked_k(release).k == 1


def slow_linked(rows: list[tuple[int, int]], groups: dict[int, int]) -> list[int]:
    """People in the order of their numbers: how many have the same multiset of groups."""
    own = {person: Counter(groups[age] for one, age in rows if one == person) for person in sorted(dict(rows))}
    return [sum(other == mine for other in own.values()) for mine in own.values()]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(20, 23)), min_size=4, max_size=30))
def test_against_plain_python(rows: list[tuple[int, int]]) -> None:
    frame = pd.DataFrame(rows, columns=["patient", "age"])
    data = Microdata(frame, {"age": "quasi-identifier"}, pseudonym="patient")
    partition = Partition((frame["age"] >= 22).astype(int).tolist() if frame["age"].min() < 22 else [0] * len(frame))
    exact = Fragment(
        "release", partition, {name: Exact(data.domain[name], partition, data.codes[name]) for name in data.attributes}
    )
    groups = {age: age for age in range(20, 24)}
    if data.people is not None:
        assert privacy.linked_k(Release(data, (exact,))).alike.tolist() == slow_linked(rows, groups)


def test_more_joining_never_hides_people_among_more() -> None:
    joined, single = privacy.linked_k(released()), privacy.linked_k(released(None, "patient"))
    assert (joined.alike <= single.alike).all()


@pytest.mark.parametrize("name", ["patient"])
def test_the_pseudonym_is_no_value_that_somebody_knows(name: str) -> None:
    assert privacy.tag_leaks(released()) == ()
    assert privacy.all_but_secrets(released()) is None
    assert name in released().attributes


def test_a_person_is_found_by_joined_rows() -> None:
    """C alone has two rows in one class; without a pseudonym every class has two people or more."""
    joined, single = (attacks.reidentification(one) for one in (released(), released(None, "patient")))
    assert joined.class_size.tolist() == [2, 2, 2, 2, 1, 1]
    assert joined.prosecutor.largest == joined.journalist.largest == 1
    assert single.prosecutor.largest == 0.5
    assert any("The pseudonym 'patient' joins rows" in note for note in joined.notes)


def test_a_policy_is_not_kept_over_single_rows() -> None:
    policy = Policy.loads('format = 1\nname = "two"\nsource = "a test"\n[levels]\nk = 2\n')
    assert policy.judge(released(None, "patient")).lines[0].status == "kept"
    assert policy.judge(released()).lines[0].status == "broken"
