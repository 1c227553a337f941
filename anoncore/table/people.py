"""Whose row is whose: a column that says which rows belong to the same person."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from anoncore.base.errors import DataError
from anoncore.kernels.arrays import Codes, Int64
from anoncore.kernels.grouping import distinct
from anoncore.table.coding import encode
from anoncore.table.column_words import says_whose_row
from anoncore.table.people_classes import LinkedRows, linked_classes

MOST_ROWS_OF_ONE = 20
"""Rows per value, on average, up to which the values of an identifier may be people; a category has more."""


MOST_NUMBERS_SKIPPED = 20
"""How many numbers lie between two that were given to people one after the other, at most, on average."""


def people_of(frame: pd.DataFrame, unit: str) -> Codes:
    """The number of each row's person, int32 (n_rows,), in the order of the column's values.

    Raises DataError where the column leaves out whose a row is.
    """
    require_people(frame, unit)
    codes, _ = encode(frame[unit], unit, None, None, None)
    # A column of categories may have some that no row has; people are those who have one.
    return np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int32)


def require_people(frame: pd.DataFrame, unit: str) -> None:
    """Raise DataError where the column leaves out whose a row is."""
    missing = int(frame[unit].isna().sum())
    if missing:
        rows = "1 row does" if missing == 1 else f"{missing:,} rows do"
        raise DataError(
            f"{rows} not say whose {'it is' if missing == 1 else 'they are'} in '{unit}', so people cannot be counted; "
            "fill the column in or leave these rows out."
        )


def distinct_pairs(person: Codes, codes: Codes | Int64, size: int) -> Int64:
    """How many different people have each code, int64 (size,)."""
    pairs = distinct(person.astype(np.int64) * size + codes)
    return np.bincount(pairs % size, minlength=size)


def alike_people(person: Codes, content: Codes | Int64) -> Int64:
    """How many people have the same rows as each, int64 (n_people,): those whom nobody tells apart by all their rows.

    `person` numbers the people without gaps, and `content` says what readers tell rows apart by, int (n_rows,). Rows
    have no order: people are alike where each content stands in equally many rows of theirs. O(n log n).
    """
    classes = linked_classes([LinkedRows(person, content)], int(person.max()) + 1)
    return np.bincount(classes)[classes]


def _measures(column: pd.Series) -> bool:
    """Whether the numbers of a column are measurements, such as incomes, rather than numbers given to people.

    Those are whole, and either follow one another closely or have the same number of digits.
    """
    dtype = column.dtype
    if not pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype):
        return False
    values = distinct(column.dropna().to_numpy(dtype=np.float64))
    if np.isinf(values).any() or (values % 1 != 0).any():
        return True
    follows_closely = values[-1] - values[0] < MOST_NUMBERS_SKIPPED * len(values)
    return not follows_closely and len({len(f"{number:.0f}") for number in values}) > 1


def repeated_identifiers(frame: pd.DataFrame, identifiers: Collection[str]) -> dict[str, tuple[int, int]]:
    """The identifiers by which one person may have several rows: different values and rows that have one, per column.

    Left out are columns whose every value is another one, or in which most rows are missing: these say nothing about
    who has several rows. So are measurements, such as incomes, and categories, with more than 20 rows per value on
    average, unless their name says whose row it is: these are no names. First come those whose name says so, then
    those with the fewest values. Where one that is called so has another value in every row, nobody has several rows.
    """
    if any(says_whose_row(name) and frame[name].is_unique and frame[name].notna().all() for name in identifiers):
        return {}
    repeated = dict[str, tuple[int, int]]()
    for name in identifiers:
        known = int(frame[name].notna().sum())
        different = int(frame[name].nunique())
        names_people = different < known and (known <= MOST_ROWS_OF_ONE * different or says_whose_row(name))
        if different > 1 and names_people and 2 * known > len(frame) and not _measures(frame[name]):
            repeated[name] = (different, known)
    return dict(sorted(repeated.items(), key=lambda one: (not says_whose_row(one[0]), one[1][0])))
