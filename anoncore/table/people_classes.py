"""People whose rows a reader can link: who shows the same rows in one table or in several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from anoncore.base.errors import DataError
from anoncore.base.texts import quoted
from anoncore.kernels.arrays import Codes, Int64
from anoncore.table.pseudonyms import id_text


@dataclass(frozen=True)
class LinkedRows:
    """The rows of one table, each with its person and with what it shows of that person.

    Attributes
    ----------
    person : ndarray of int, shape (n_rows,)
        Number of each row's person, the same in all tables.
    shown : ndarray of int, shape (n_rows,)
        A number for what the row shows, such as `dense_key` gives; rows that show the same have the same.
    """

    person: Codes | Int64
    shown: Codes | Int64


def people_in_tables(columns: Sequence[pd.Series], names: Sequence[str]) -> tuple[list[str], list[Int64]]:
    """The different people of several tables and the number of each row's person among them.

    Ids are one person where their texts are the same, as for `Pseudonyms`.

    Parameters
    ----------
    columns : sequence of Series, shape (n_rows,)
        The column of each table that says whose row it is.
    names : sequence of str
        The names of the tables, for errors.

    Returns
    -------
    list of str, shape (n_people,)
        The texts of the ids, in the order in which they first occur.
    list of ndarray of int64, shape (n_rows,)
        Number of each row's person, per table.

    Raises
    ------
    DataError
        Where a row does not say whose it is, or says it by something that is no id.
    """
    number_of: dict[str, int] = {}
    people = []
    for column, name in zip(columns, names, strict=True):
        missing = int(column.isna().sum())
        if missing:
            raise DataError(
                f"{missing:,} of {len(column):,} rows of '{name}' do not say whose they are in '{column.name}', so "
                "they cannot be joined by the person; fill the column in or leave these rows out."
            )
        codes, different = pd.factorize(column)
        numbers = np.empty(len(different), dtype=np.int64)
        for place, value in enumerate(different):
            text = id_text(value)
            if text is None:
                raise DataError(
                    f"'{column.name}' of '{name}' has the value {quoted(value)}, which is no id that every table "
                    "writes alike; turn the column into whole numbers or text."
                )
            numbers[place] = number_of.setdefault(text, len(number_of))
        people.append(numbers[codes])
    return list(number_of), people


def linked_classes(tables: Sequence[LinkedRows], n_people: int) -> Codes:
    """Classes of people whom a reader cannot tell apart who links all rows of a person, in one table or in several.

    Two people are in one class if they have equally many rows in every table and their rows show the same there, each
    as often. So who has no row in a table is told from those who have one. A class is never larger than the number of
    people whose single rows in one of the tables look alike.

    Parameters
    ----------
    tables : sequence of LinkedRows
        The rows of every table.
    n_people : int
        Number of people; each has a row in some table.

    Returns
    -------
    ndarray of int32, shape (n_people,)
        Number of each person's class, from 0 without gaps.

    Examples
    --------
    Ann (0) and Bob (1) have a visit of kind 7 and one of kind 8 each, in whatever order; Cem (2) has two of kind 7:

    >>> import numpy as np
    >>> from anoncore.table.people_classes import LinkedRows, linked_classes
    >>> visits = LinkedRows(np.array([0, 0, 1, 1, 2, 2]), np.array([7, 8, 8, 7, 7, 7]))
    >>> linked_classes([visits], 3).tolist()
    [0, 0, 1]
    """
    classes = np.zeros(n_people, dtype=np.int64)
    for rows in tables:
        order = np.lexsort((rows.shown, rows.person))
        shown = rows.shown[order].astype(np.int64)
        counts = np.bincount(rows.person, minlength=n_people)
        begin = np.cumsum(counts) - counts
        classes = _together(classes, counts)
        n_numbers = n_people
        # People of one class have equally many rows, so they are compared row by row, along the sorted rows of each.
        comparing, place = np.flatnonzero(counts), 0
        while len(comparing):
            classes[comparing] = n_numbers + _together(classes[comparing], shown[begin[comparing] + place])
            n_numbers += len(comparing)
            place += 1
            comparing = comparing[counts[comparing] > place]
    return pd.factorize(classes)[0].astype(np.int32)


def _together(one: Int64, other: Int64) -> Int64:
    """A number for each pair of numbers, from 0 in the order in which the pairs first occur."""
    return pd.factorize(pd.factorize(one)[0] * (int(other.max()) + 1) + other)[0].astype(np.int64)
