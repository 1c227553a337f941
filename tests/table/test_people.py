"""Whose rows they are: how many people stand alone, against pandas."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata
from anoncore.table.part import published_beside
from anoncore.table.suggestions import uniqueness

ROLES = {"age": "quasi-identifier", "town": "quasi-identifier"}


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.sampled_from("ABCDE"), st.integers(20, 23), st.sampled_from("xy")), min_size=1, max_size=14)
)
def test_a_person_is_unique_if_nobody_else_has_a_combination_of_theirs(rows):
    frame = pd.DataFrame(rows, columns=["who", "age", "town"])
    found = uniqueness(Microdata(frame, ROLES, unit="who"))
    alone = frame[frame.groupby(["age", "town"])["who"].transform("nunique") == 1]["who"].nunique()
    if frame["who"].is_unique:
        assert found.counted == "rows"
    else:
        people = frame["who"].nunique()
        assert (found.n_unique, found.n_rows) == (alone, people)
        assert found.sentence == f"{alone} of {people} people are unique in these 2 attributes"


def test_whose_row_it_is_says_the_column_that_is_called_so_before_one_with_fewer_values():
    names = pd.DataFrame({"name": list("AAB") * 40, "Patient-Nr": [f"P{place // 2}" for place in range(120)]})
    roles = dict.fromkeys(names, "identifier")
    assert Microdata(names, roles).repeated_identifier == "Patient-Nr"
    # Names of two people for 120 rows are a category, unless the column is called what people are.
    assert Microdata(names[["name"]], {"name": "identifier"}).repeated_identifier is None
    # Where such a column numbers the rows, people who share a name are others.
    numbered = names.assign(**{"Patient-Nr": range(120)})
    assert Microdata(numbered, roles).repeated_identifier is None
    renamed = names[["name"]].set_axis(["patient_id"], axis=1)
    assert Microdata(renamed, {"patient_id": "identifier"}).repeated_identifier == "patient_id"


def test_a_note_says_whether_people_or_rows_are_counted_where_that_matters():
    frame = pd.DataFrame({"who": ["A", "A", "B"], "age": [1, 2, 3], "town": ["x", "y", "x"]})
    asked = Microdata(frame, ROLES | {"who": "identifier"})
    assert asked.unit_note.startswith("Is each of the 2 different values of 'who' a person? They stand in 3 rows")
    assert (asked.people_word, asked.repeated_identifier) == ("rows", "who")
    assert published_beside(asked, np.arange(1)).people_word == "rows", "a part of the rows is asked no other question"
    counted = Microdata(frame, ROLES, unit="who")
    assert counted.unit_note.startswith("Different people are counted by 'who': 3 rows are those of 2 people.")
    assert (counted.people_word, counted.repeated_identifier) == ("people", None)
    assert Microdata(frame, ROLES).unit_note == ""
    assert Microdata(frame, ROLES).people_word == "people"
    assert Microdata(frame.assign(who=list("ABC")), ROLES | {"who": "identifier"}).unit_note == ""
