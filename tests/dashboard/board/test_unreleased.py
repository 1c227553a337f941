"""What a table gives away before any release, on tables worked out by hand."""

import pandas as pd
import pytest

from anoncore import DataError, Microdata
from dashboard.board.unreleased import sentences

PEOPLE = pd.DataFrame(
    {
        # 20 is one person's; both of 30 have the flu; one of 40 has the flu and one gout.
        "age": [20, 30, 30, 40, 40],
        "illness": ["gout", "flu", "flu", "flu", "gout"],
        "who": ["a", "b", "b", "c", "d"],
    }
)
ROLES = {"age": "quasi-identifier", "illness": "sensitive", "who": "identifier"}


def test_who_is_found_and_whose_secret_is_certain_then():
    frame = PEOPLE.assign(who=list("abcde"))
    assert sentences(Microdata(frame, ROLES)) == (
        "As it is, this table lets 1 of 5 people (20.0%) be found by what others know: nobody else has the same "
        "values.",
        "Whoever knows these values is certain of the 'illness' of 3 people (60.0%).",
    )


def test_people_of_several_rows_count_once():
    """Both rows of 30 are those of b, so b is found as well."""
    assert sentences(Microdata(PEOPLE, {"age": "quasi-identifier", "illness": "sensitive"}, unit="who")) == (
        "As it is, this table lets 3 of 5 people's rows (60.0%) be found by what others know: nobody else has the same "
        "values.",
        "Whoever knows these values is certain of the 'illness' of 2 people (50.0%).",
    )


def test_without_a_secret_only_being_found_is_told():
    assert len(sentences(Microdata(PEOPLE, {"age": "quasi-identifier"}))) == 1


def test_rows_are_no_people_where_nobody_said_whose_they_are():
    found, certain = sentences(Microdata(PEOPLE, ROLES))
    assert found.startswith("As it is, this table lets 1 of 5 rows (20.0%) be found")
    assert found.endswith(": no other row has the same values.")
    assert certain == "Whoever knows these values is certain of the 'illness' of 3 rows (60.0%)."


def test_columns_on_which_nobody_decided_count_as_known():
    visits = PEOPLE.drop(columns="who").assign(visits=[1, 1, 2, 1, 1], town=list("xxxyz"))
    tagged = {"age": "quasi-identifier", "illness": "sensitive"}
    # Both of 30 differ in their visits, and both of 40 in their town: now everybody is alone.
    assert sentences(Microdata(visits, tagged)) == (
        "As it is, this table lets 5 of 5 people (100%) be found by what others know, the 2 columns on which nobody "
        "decided (visits, town) counted as known: nobody else has the same values.",
        "Whoever knows these values is certain of the 'illness' of 5 people (100%).",
    )
    assert "the column on which nobody decided (town) counted as known" in " ".join(
        sentences(Microdata(visits, {**tagged, "visits": "insensitive"}))
    )
    # What is published by decision does not count as known.
    assert "lets 1 of 5 people (20.0%)" in sentences(Microdata(visits, {**tagged, "*": "insensitive"}))[0]


def test_of_a_table_without_any_tag_rows_are_told_and_all_columns_counted_as_known():
    (found,) = sentences(Microdata(PEOPLE))
    assert found == (
        "As it is, this table lets 3 of 5 rows (60.0%) be found by what others know, all 3 columns counted as known, "
        "as nobody decided on any: no other row has the same values."
    )
    (found,) = sentences(Microdata(PEOPLE[["age"]]))
    assert ", its only column counted as known, as nobody decided on it: " in found


def test_copies_of_a_row_hide_nobody_if_they_are_one_persons():
    # Every row is there twice; of the four different ones, two share the age 40.
    frame = pd.DataFrame({"age": [20, 30, 40, 40] * 2, "illness": ["gout", "flu", "flu", "gout"] * 2})
    tags = {"age": "quasi-identifier", "illness": "sensitive"}
    found, copies, certain = sentences(Microdata(frame, tags))
    assert found == (
        "As it is, this table lets none of 8 people be found by what others know: the least hidden share their values "
        "with 1 other."
    )
    assert copies == (
        "But its rows are 4 different ones, each there 2 times or more. If rows that are alike in everything are one "
        "person's, 2 of 4 people are found."
    )
    assert certain.startswith("Whoever knows these values is certain of the 'illness' of 4 people")
    # Where a row is there but once, or values are so few that all repeat, equal rows are no copies.
    assert len(sentences(Microdata(frame[:-1], tags))) == 2
    assert len(sentences(Microdata(pd.concat([frame] * 6), tags))) == 2


def test_something_must_be_known_to_others():
    with pytest.raises(DataError):
        sentences(Microdata(PEOPLE, {"illness": "sensitive", "*": "insensitive"}))
