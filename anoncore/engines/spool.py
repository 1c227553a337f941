"""Coding a large table once: its domains, and its rows as a file of codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from anoncore.algorithms.rothko.rothko import Rothko
from anoncore.algorithms.rothko.setting import Setting
from anoncore.base.errors import DataError
from anoncore.base.faults import writing
from anoncore.base.pipeline import in_threads, read_ahead
from anoncore.base.texts import did_you_mean, listing
from anoncore.engines.column_coding import CodedColumn, CountedTable, code_column, distinct_series, distinct_values
from anoncore.engines.file_rows import FileRows, RowsWriter, rows_batch, rows_schema
from anoncore.engines.input_digest import InputDigest
from anoncore.engines.table_profile import MOST_VALUES, TableProfile
from anoncore.kernels.arrays import Int32, Words
from anoncore.sources.large_table import LargeTable
from anoncore.sources.parquet import check_type
from anoncore.table.domain import Kind
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.microdata import Kinds, Role, Roles, roles_by_column

HierarchyMaker = Callable[[Any], Hierarchy]
"""Makes the hierarchy of a column from (part of) its values, a Series."""


def no_check(columns: Sequence[str]) -> None:
    """Have nothing against any columns."""


@dataclass(frozen=True)
class Tags:
    """What `Microdata` takes besides the table; hierarchies are made once the values are known.

    `check_columns` hears the columns of the table and raises what it has against them.
    """

    roles: Roles = field(default_factory=dict)
    kinds: Kinds = field(default_factory=dict)
    orders: Mapping[str, list[Any]] = field(default_factory=dict)
    hierarchies: Mapping[str, HierarchyMaker] = field(default_factory=dict)
    sensitive_values: Mapping[str, list[Any]] = field(default_factory=dict)
    check_columns: Callable[[Sequence[str]], None] = no_check


def profile_of(
    table: CountedTable, tags: Tags, algorithm: Rothko, step: Callable[[str], None]
) -> tuple[TableProfile, dict[str, CodedColumn]]:
    """The table as requirements see it, and how the columns that matter are coded; `step` hears what is read.

    Raises DataError for tags that do not fit, as `Microdata` does.
    """
    tags.check_columns(table.names)
    roles = roles_by_column(tags.roles, table.names)
    for what in ("kinds", "orders", "hierarchies", "sensitive_values"):
        unknown = [name for name in getattr(tags, what) if name not in table.names]
        if unknown:
            raise DataError(
                f"{what} names {listing(unknown)}, which the table lacks; it has {listing(table.names, 30)}."
                f"{did_you_mean(unknown[0], table.names)}"
            )
    columns: dict[str, CodedColumn] = {}
    hierarchies: dict[str, Hierarchy] = {}
    names = _coded_names(roles, algorithm, table.names)
    with closing(in_threads(lambda name: distinct_values(table, name, MOST_VALUES), names)) as all_counted:
        for name, counted in zip(names, all_counted, strict=True):
            step(f"Finding the values of '{name}'")
            make = tags.hierarchies.get(name)
            hierarchy = make(_weighted(name, counted)) if make is not None else None
            if hierarchy is not None:
                hierarchies[name] = hierarchy
            kind = Kind(tags.kinds[name]) if name in tags.kinds else None
            columns[name] = code_column(name, counted, kind, tags.orders.get(name), hierarchy)
    profile = TableProfile(
        table.n_rows,
        {name: roles[name] for name in table.names if name in roles},
        {name: column.domain for name, column in columns.items()},
        {name: column.counts for name, column in columns.items()},
        {name: values for name, values in tags.sensitive_values.items() if name in columns},
        hierarchies,
        [name for name in table.names if name not in roles],
    )
    return profile, columns


def _coded_names(roles: Mapping[str, Role], algorithm: Rothko, names: tuple[str, ...]) -> list[str]:
    """Quasi-identifiers, what requirements protect, and the target, in the table's order."""
    wanted = {name for name, role in roles.items() if role is Role.QUASI_IDENTIFIER}
    for requirement in algorithm.requirements:
        if not requirement.attribute_free:
            named = getattr(requirement, "attribute", None)
            wanted |= {named} if named else {name for name, role in roles.items() if role is Role.SENSITIVE}
    if algorithm.uses_target and algorithm.target is not None:
        wanted.add(algorithm.target)
    return [name for name in names if name in wanted and roles.get(name, Role.IDENTIFIER) is not Role.IDENTIFIER]


WEIGHTED_ROWS = 1_000_000


def _weighted(name: str, counted: pa.Table) -> Any:
    """The distinct values as often as they occur, thinned out to about a million where there are more."""
    rows = counted.column("rows").to_numpy()
    share = min(1.0, WEIGHTED_ROWS / rows.sum())
    return distinct_series(name, counted).repeat(np.ceil(rows * share).astype(np.int64))


class RowCoder:
    """Turns batches of a table into coded rows, with every column that is published as it is carried along.

    `wanted` are the columns that a batch needs.
    """

    def __init__(self, setting: Setting, columns: Mapping[str, CodedColumn]) -> None:
        data = setting.data
        self.carried = [name for name in data.attributes if name not in data.quasi_identifiers]
        views = [(view.attribute, getattr(view, "recode")) for view in setting.checks.views]  # noqa: B009
        names: list[tuple[str, Any]] = [(name, None) for name in data.quasi_identifiers] + views
        if setting.model.uses_target and setting.model.target is not None:
            names.append((setting.model.target, None))
        self.wanted = list(dict.fromkeys([*(name for name, _ in names), *self.carried]))
        self._coders = [(self.wanted.index(name), columns[name].coder, recode) for name, recode in names]
        self._carried_places = [self.wanted.index(name) for name in self.carried]

    def codes(self, batch: pa.RecordBatch) -> Int32:
        """The codes of a batch that begins with the wanted columns, int32 (n, width)."""
        codes = np.empty((batch.num_rows, len(self._coders)), np.int32)
        for position, (place, coder, recode) in enumerate(self._coders):
            own = coder(batch.column(place))
            codes[:, position] = own if recode is None else recode[own]
        for place in self._carried_places:
            check_type(batch.schema.field(place))
        return codes

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The coded rows of a batch whose columns are the wanted ones."""
        codes = self.codes(batch)
        schema = rows_schema(codes.shape[1], [batch.schema.field(place) for place in self._carried_places])
        return rows_batch(codes, [batch.column(place) for place in self._carried_places], schema)


def spool_rows(
    table: LargeTable,
    setting: Setting,
    columns: Mapping[str, CodedColumn],
    path: Path,
    done: Callable[[int], None],
    key: str | None = None,
) -> tuple[FileRows, str]:
    """Write the coded rows, and say the keyed hash of the table (none without a key); `done` hears how many rows are
    written.
    """
    coder = RowCoder(setting, columns)
    digest = None if key is None else InputDigest(key, coder.wanted)
    writer: RowsWriter | None = None
    n, sums = 0, []

    def work(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Words | None]:
        return coder(batch), None if digest is None else digest.of_batch(batch)

    with closing(in_threads(work, read_ahead(table.batches(coder.wanted)))) as batches:
        for coded, hashed in batches:
            with writing(path.parent):
                writer = writer or RowsWriter(path, coded.schema)
                writer.write(coded)
            n += coded.num_rows
            if hashed is not None:
                sums.append(hashed)
            done(n)
    if writer is None:
        raise DataError(f"'{table.name}' has no rows.")
    with writing(path.parent):
        return writer.close(), "" if digest is None else digest.total(n, sums)
