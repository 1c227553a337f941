"""How often values of a large table occur together: what says whether insensitive columns tell protected ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.engines.column_coding import CountedTable
from anoncore.engines.table_profile import MOST_VALUES, TableProfile
from anoncore.kernels.arrays import Codes, Int64
from anoncore.kernels.grouping import dense_key, numbered_inside_groups
from anoncore.table.relations import Relation, counted_relations

SAMPLE = 10_000
"""Rows on which pairs of columns are tried first, as in memory."""
SURELY = 1.2
"""An estimate this many times above a limit is taken for one above it: estimates are off by some hundredths."""


@dataclass(frozen=True)
class FoundRelations:
    """How far the free columns of a table tell tagged ones and are told by them.

    `passed_over` are combinations of columns that have too many values to be counted.
    """

    relations: tuple[Relation, ...] = ()
    passed_over: tuple[tuple[str, ...], ...] = ()


NO_RELATIONS = FoundRelations()
"""Of a table without free columns, and of a run that nobody asked."""


def relations_of(table: CountedTable, profile: TableProfile) -> FoundRelations:
    """What a run in memory finds of the columns that nobody protects, from counts alone.

    Cost: one scan for each free column, and for each pair of a free and a tagged one; none without free columns.
    """
    if not profile.insensitive:
        return NO_RELATIONS
    columns = _JointColumns(table, profile)
    found = counted_relations(columns, profile.insensitive, (*profile.quasi_identifiers, *profile.sensitive))
    return FoundRelations(tuple(found), tuple(columns.passed_over))


class _JointColumns:
    """The columns of a table elsewhere, as `counted_relations` asks for them."""

    def __init__(self, table: CountedTable, profile: TableProfile) -> None:
        self._table, self.n_rows = table, table.n_rows
        self._profile = profile
        self._distinct: dict[str, int] = {}
        self.passed_over: list[tuple[str, ...]] = []

    def counts(self, name: str) -> Int64 | None:
        """Rows of each value; of a coded column they were counted when it was."""
        if name in self._profile.domain:
            of_codes = self._profile.counts[name]
            found = of_codes[of_codes > 0]
        elif self._can_be_counted((name,)):
            column, rows = self._table.joint((name,)).columns
            found = _added(_numbers(column), np.zeros(len(rows), np.int64), rows.to_numpy())[2]
        else:
            return None
        self._distinct[name] = len(found)
        return found

    def pairs(self, telling: tuple[str, ...], told: str) -> tuple[Int64, Int64, Int64] | None:
        """The combinations that occur, and the rows of each."""
        names = (*telling, told)
        if not self._can_be_counted(names):
            return None
        *columns, rows = self._table.joint(names).columns
        codes = [_numbers(column) for column in columns]
        return _added(dense_key(codes[:-1], len(rows)), codes[-1].astype(np.int64), rows.to_numpy())

    def sample(self, names: Collection[str]) -> Mapping[str, Codes]:
        """The codes of some rows."""
        found = self._table.some_rows(list(names), SAMPLE)
        return {name: _numbers(column) for name, column in zip(names, found.columns, strict=True)}

    def _can_be_counted(self, names: tuple[str, ...]) -> bool:
        most = prod(self._distinct.get(name, self.n_rows) for name in names)
        if most <= MOST_VALUES or self._table.about(names) <= SURELY * MOST_VALUES:
            return True
        self.passed_over.append(names)
        return False


def _numbers(column: pa.ChunkedArray) -> Codes:
    """A number for each value of a column; all that is missing has one number."""
    values: Any = column.combine_chunks()
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    codes = values.indices.fill_null(len(values.dictionary))
    return np.asarray(codes.to_numpy(zero_copy_only=False), np.int32)


def _added(one: Codes | Int64, other: Int64, rows: Int64) -> tuple[Int64, Int64, Int64]:
    """The pairs of numbers that occur, with their rows added up: what is missing may be written in two ways."""
    if not len(rows):
        return np.zeros(0, np.int64), np.zeros(0, np.int64), rows
    number, first, second, _ = numbered_inside_groups(one, other)
    return first, second, np.bincount(number, weights=rows).astype(np.int64)
