"""Several tables of the same people as one table with a row per person, which any method can anonymize."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError, ParameterError
from anoncore.base.texts import listing
from anoncore.kernels.arrays import record
from anoncore.table.given_table import as_pandas
from anoncore.table.people_classes import people_in_tables


@record
class WideTable:
    """One table with a row per person.

    Attributes
    ----------
    frame : DataFrame
        A row per person, in the order of their ids as texts. Its first column is the person's id. The others have the
        name of the table, the number of the person's row there, and the name of the column, such as `visits 2 year`;
        in a table in which nobody has a second row, the number is left out. A cell is missing where the person has no
        such row.
    columns : dict of str to tuple of str
        The columns that hold each column of a table, by its table and name: `visits year` stands for `visits 1 year`
        and `visits 2 year`. They have one role each.
    n_left_out : int
        People who are left out, because they have more rows in a table than were asked for.
    """

    frame: pd.DataFrame
    columns: dict[str, tuple[str, ...]]
    n_left_out: int

    def by_column(self, tags: Mapping[str, Any]) -> dict[str, Any]:
        """Tags of the columns of the tables, such as their roles, for the columns of the wide table.

        Parameters
        ----------
        tags : mapping of str to object
            What is said of columns, by table and name, such as `{"visits year": "quasi-identifier"}`.

        Returns
        -------
        dict of str to object
            The same for each column of the wide table.

        Raises
        ------
        ParameterError
            For a column that no table has.
        """
        unknown = [name for name in tags if name not in self.columns]
        if unknown:
            raise ParameterError(f"No table has the column {listing(unknown)}; there is {listing(list(self.columns))}.")
        return {column: tag for name, tag in tags.items() for column in self.columns[name]}


@checked
def one_row_per_person(tables: Mapping[str, Any], by: str, most_rows: int = 5) -> WideTable:
    """Put the rows of each person in several tables beside each other, in one table.

    Tables that are published apart and joined by the person show which rows belong together, and whoever has a rare
    combination of them stands out. In one table the combination is what a method sees and hides: k, l and t count
    people, and a reader has nothing more to join. The rows of a person are sorted by their content, so that their
    order in the table tells nothing.

    Parameters
    ----------
    tables : mapping of str to DataFrame, LazyFrame, Arrow table or DuckDB relation
        Two tables or more by their names.
    by : str
        The column that says whose row it is, in every table.
    most_rows : int
        Rows, at most, that a person may have in a table. Whoever has more is left out: a few people with many rows
        would need columns of their own, and hide among nobody.

    Returns
    -------
    WideTable
        The table, what its columns are called, and how many people are left out.

    Raises
    ------
    ParameterError
        For a number of rows below 1.
    DataError
        For a table that lacks the column or has no other, rows that do not say whose they are, and where nobody is
        left.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore.table.wide_table import one_row_per_person
    >>> patients = pd.DataFrame({"id": [1, 2], "age": [44, 21]})
    >>> visits = pd.DataFrame({"id": [1, 1, 2], "year": [2021, 2020, 2020]})
    >>> wide = one_row_per_person({"patients": patients, "visits": visits}, by="id")
    >>> print(wide.frame.to_string(index=False))
    id  patients age  visits 1 year  visits 2 year
     1            44           2020         2021.0
     2            21           2020            NaN
    >>> wide.by_column({"visits year": "quasi-identifier"})
    {'visits 1 year': 'quasi-identifier', 'visits 2 year': 'quasi-identifier'}
    """
    if most_rows < 1:
        raise ParameterError(f"most_rows is {most_rows}; people need at least 1 row.")
    frames = {name: as_pandas(table) for name, table in tables.items()}
    for name, frame in frames.items():
        if by not in frame.columns or len(frame.columns) < 2:
            there = listing([str(one) for one in frame.columns], 30)
            raise DataError(f"'{name}' needs the column '{by}' and another one; it has {there}.")
    ids, people = people_in_tables([frame[by] for frame in frames.values()], list(frames))
    counts = np.array([np.bincount(numbers, minlength=len(ids)) for numbers in people])
    kept = (counts <= most_rows).all(axis=0)
    if not kept.any():
        raise DataError(f"Everybody has more than {most_rows:,} rows in some table; allow more by most_rows.")
    order = np.array(sorted(np.flatnonzero(kept), key=lambda person: ids[person]))
    wide: dict[str, Any] = {by: [ids[person] for person in order]}
    columns: dict[str, tuple[str, ...]] = {}
    for (name, frame), numbers, own in zip(frames.items(), people, counts[:, order], strict=True):
        own_columns = [column for column in frame.columns if column != by]
        content = frame[own_columns].assign(**{by: numbers}).sort_values([by, *own_columns], key=_sortable)
        rank = content.groupby(by).cumcount() + 1
        for column in own_columns:
            cells = content[column].set_axis(pd.MultiIndex.from_arrays([content[by], rank]))
            named = []
            for number in range(1, max(int(own.max()), 1) + 1):
                label = f"{name} {column}" if own.max() <= 1 else f"{name} {number} {column}"
                index = pd.MultiIndex.from_arrays([order, np.full(len(order), number)])
                wide[label] = cells.reindex(index).to_numpy()
                named.append(label)
            columns[f"{name} {column}"] = tuple(named)
    return WideTable(pd.DataFrame(wide), columns, int((~kept).sum()))


def _sortable(column: pd.Series) -> pd.Series:
    """The values of a column, or their texts where these may not have an order."""
    has_order = pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype)
    return column if has_order else column.astype(str)
