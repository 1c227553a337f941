"""Classes of people whose rows are linked: by hand, against plain counting of rows, and what is no person."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.base.errors import DataError
from anoncore.table.people_classes import LinkedRows, linked_classes, people_in_tables

tables = st.lists(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 2)), min_size=1, max_size=20), min_size=1, max_size=3
)


def linked(rows: list[tuple[int, int]]) -> LinkedRows:
    person, shown = np.array(rows).T
    return LinkedRows(person, shown)


def test_an_absence_is_known_too() -> None:
    people, visits = linked([(0, 5), (1, 5), (2, 5)]), linked([(0, 1), (1, 1)])
    assert linked_classes([people, visits], 3).tolist() == [0, 0, 1]


def test_the_number_of_rows_tells_people_apart() -> None:
    assert linked_classes([linked([(0, 1), (0, 1), (1, 1)])], 2).tolist() == [0, 1]


@settings(max_examples=100, deadline=None)
@given(tables)
def test_against_counting_rows_of_each_person(rows: list[list[tuple[int, int]]]) -> None:
    ids = sorted({person for table in rows for person, _ in table})
    number = {person: place for place, person in enumerate(ids)}
    given_tables = [[(number[person], shown) for person, shown in table] for table in rows]
    classes = linked_classes([linked(table) for table in given_tables], len(ids))
    shows = [
        tuple(frozenset(Counter(shown for whose, shown in table if whose == person).items()) for table in given_tables)
        for person in range(len(ids))
    ]
    for one in range(len(ids)):
        for other in range(len(ids)):
            assert (classes[one] == classes[other]) == (shows[one] == shows[other])
    assert set(classes.tolist()) == set(range(int(classes.max()) + 1))


def test_ids_of_numbers_and_texts_are_the_same_people() -> None:
    ids, numbers = people_in_tables([pd.Series([12, 7]), pd.Series(["7", "12", "012"])], ["people", "visits"])
    assert ids == ["12", "7", "012"]
    assert [one.tolist() for one in numbers] == [[0, 1], [1, 0, 2]]


@pytest.mark.parametrize(
    ("ids", "says"),
    [(["a", None], "1 of 2 rows of 'visits' do not say"), ([1.5, 2.0], "has the value 1.5, which is no id")],
)
def test_what_is_no_person_is_refused(ids: list[object], says: str) -> None:
    with pytest.raises(DataError, match=says):
        people_in_tables([pd.Series(ids, name="patient")], ["visits"])
