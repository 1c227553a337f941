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
    assert sentences(Microdata(PEOPLE, ROLES)) == (
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


def test_something_must_be_known_to_others():
    with pytest.raises(DataError):
        sentences(Microdata(PEOPLE, {"illness": "sensitive"}))
