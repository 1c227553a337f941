"""Groups, levels and joins of a release, worked out from its published tables alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from anoncore.base.errors import DataError, ReleaseError
from anoncore.base.texts import MISSING_TEXT, quoted
from anoncore.publishing.certification.entries import Attribute
from anoncore.release.partition import Partition
from anoncore.release.reading.published_table import NUMBER, Column, PublishedTable, cell_text, moment_of
from anoncore.release.reading.region_texts import set_parts
from anoncore.release.recoding import Exact, GroupValues, Recoding
from anoncore.release.release import Fragment, Release
from anoncore.table.axis import EXACT
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.microdata import Microdata


@dataclass(frozen=True, eq=False)
class PublishedRelease:
    """Published tables with what a certificate says about their attributes.

    Groups are those that a reader sees: rows with equal published quasi-identifiers, or (`group`) with the same number
    in the column that joins the tables.
    """

    tables: tuple[PublishedTable, ...]
    attributes: Mapping[str, Attribute]
    group: str | None

    def partition(self, table: PublishedTable) -> Partition:
        """The groups of a table. Where a group has only a set of values, rows of different sets stay apart.

        Raises ReleaseError where a joined table lacks some groups of another one, or has them in other sizes.
        """
        if self.group is not None:
            return self._joined_groups[table.name]
        apart = told_apart(list(table.columns), self.attributes, None)
        return Partition(table.keys(apart).astype(np.int32))

    @cached_property
    def _joined_groups(self) -> dict[str, Partition]:
        """The groups of every table, numbered alike."""
        columns = [table.columns[self.group or ""] for table in self.tables]
        first = columns[0]
        for table, one in zip(self.tables[1:], columns[1:], strict=True):
            if one.texts != first.texts or not np.array_equal(one.counts, first.counts):
                here, there = (dict(zip(cells.texts, cells.counts.tolist(), strict=True)) for cells in (first, one))
                differing = sorted(set(there.items()) ^ set(here.items()))[0][0]
                raise ReleaseError(
                    f"The groups of {quoted(table.name)} are not those of {quoted(self.tables[0].name)}: group "
                    f"{differing} has {there.get(differing, 0):,} rows there and {here.get(differing, 0):,} here."
                )
        return {table.name: Partition(one.codes) for table, one in zip(self.tables, columns, strict=True)}

    def joined(self, common: str) -> Release:
        """The tables as fragments with classes of their own that show the common attribute only."""
        is_set = self.attributes[common].form == "set"
        own = [self.partition(table) for table in self.tables]
        members = [
            _members(partition, table.columns[common], common) if is_set else (partition, table.columns[common])
            for partition, table in zip(own, self.tables, strict=True)
        ]
        # Where values were changed, a table may lack some that another one has.
        data = self.microdata({common: Column.of([text for _, cells in members for text in cells.texts])})
        fragments = []
        for table, partition, (spread, cells) in zip(self.tables, own, members, strict=True):
            values = [data.domain[common].code_of(_value(self.attributes[common], text)) for text in cells.texts]
            codes = np.array(values, dtype=np.int32)[cells.codes]
            recoding: Recoding = Exact(data.domain[common], partition, codes)
            if is_set:
                order = np.lexsort((codes, spread.group))
                offsets = np.concatenate(([0], np.cumsum(spread.sizes))).astype(np.int64)
                recoding = GroupValues(data.domain[common], partition, offsets, codes[order])
            fragments.append(Fragment(table.name, partition, {common: recoding}))
        return Release(data, tuple(fragments))

    def people(self) -> Release | None:
        """The joined tables as a release, in which rows of a group are linked in some way.

        None for tables that share attributes or are not joined.
        """
        columns = [name for table in self.tables for name in table.columns if name != self.group]
        if self.group is None or len(self.tables) < 2 or len(set(columns)) < len(columns):
            return None
        cells: dict[str, Column] = {}
        for table in self.tables:
            # Sorted by group, so that rows of joined tables pair up within groups.
            order = self.partition(table).order
            cells |= {name: replace(one, codes=one.codes[order]) for name, one in table.columns.items()}
        first = Partition(np.sort(self.partition(self.tables[0]).group))
        data = self.microdata({name: cells[name] for name in columns})
        fragments = []
        for table in self.tables:
            names = [name for name in table.columns if name != self.group]
            recodings = {name: Exact(data.domain[name], first, data.codes[name]) for name in names}
            fragments.append(Fragment(table.name, first, recodings))
        return Release(data, tuple(fragments))

    @property
    def tells_people(self) -> bool:
        """Whether the tables tell which quasi-identifiers belong to one person: a single table has all of them."""
        return sum(bool(with_role(self.attributes, table.columns)) for table in self.tables) == 1

    def microdata(self, cells: Mapping[str, Column]) -> Microdata:
        """A table of published cells, coded as the original was: same kinds, orders, hierarchies, protected values."""
        frame, kinds, orders, hierarchies, protected = {}, {}, {}, {}, {}
        for name, column in cells.items():
            attribute = self.attributes[name]
            frame[name] = _typed(attribute, column)
            kinds[name] = "nominal" if attribute.form == "region" else attribute.kind or "nominal"
            if attribute.values is not None and attribute.type == "text":
                new = [text for text in column.texts if text and text not in attribute.values]
                orders[name] = [*(text for text in attribute.values if text), *new]
            if attribute.hierarchy is not None:
                hierarchies[name] = Hierarchy.from_table(
                    [[_value(attribute, line[0]), *line[1:]] for line in attribute.hierarchy]
                )
            if attribute.protected is not None:
                protected[name] = [_value(attribute, text) for text in attribute.protected if text in column.texts]
        if not all(protected.values()):
            raise ReleaseError("None of the values that need protection is published.")
        return Microdata(
            pd.DataFrame(frame),
            roles={name: self.attributes[name].role for name in cells},
            kinds=kinds,
            orders=orders,
            hierarchies=hierarchies,
            sensitive_values=protected,
        )


def _value(attribute: Attribute, text: str) -> Any:
    if text == "":
        return None
    if attribute.form == "region" or attribute.type == "text":
        return text
    try:
        return moment_of(text) if attribute.type == "date" else _number(text)
    except ValueError:
        kind = "date" if attribute.type == "date" else "number"
        raise DataError(f"{quoted(attribute.name)} holds {text!r}, which is no {kind}.") from None


def _number(text: str) -> int | float:
    """The number of a cell: whole ones as they are, since a double does not hold all of those above 2^53."""
    number = NUMBER.fullmatch(text)
    return int(text) if number is not None and not number[1] and not number[2] else float(text)


def _typed(attribute: Attribute, column: Column) -> pd.Series[Any]:
    values = [_value(attribute, text) for text in column.texts]
    if attribute.type == "date" and attribute.form != "region":
        cells: pd.Series[Any] = pd.Series(_moments(attribute.name, values))
    else:
        is_long = any(isinstance(value, int) and abs(value) > EXACT for value in values)
        is_number = attribute.type == "number" and attribute.form != "region" and not is_long
        cells = pd.Series(values, dtype="float64" if is_number else "object")
    return cells.iloc[column.codes].reset_index(drop=True)


def _moments(name: str, values: Sequence[pd.Timestamp | None]) -> pd.DatetimeIndex:
    """Points in time in a unit that holds all of them exactly, those with a zone in one zone.

    Raises ReleaseError for points in time of which only some have a zone: nobody can say which of two comes first.
    """
    known = [value for value in values if value is not None]
    zoned = any(value.tz is not None for value in known)
    if zoned and any(value.tz is None for value in known):
        raise ReleaseError(
            f"{quoted(name)} holds points in time with a zone and others without, which have no common order."
        )
    unit: Literal["us", "ns"] = "ns" if any(value.nanosecond for value in known) else "us"
    moments = [value if value is None or not zoned else value.tz_convert("UTC") for value in values]
    return pd.DatetimeIndex(
        [pd.NaT if moment is None else moment.as_unit(unit) for moment in moments],
        dtype=f"datetime64[{unit}, UTC]" if zoned else f"datetime64[{unit}]",
    )


def told_apart(
    names: Sequence[str], attributes: Mapping[str, Attribute], group: str | None, further: Collection[str] = ()
) -> tuple[str, ...]:
    """The columns of a table by which a reader tells its groups apart who knows the columns `further` besides.

    Where a group has only a set of values, rows of different sets stay apart. `group` joins tables; yet what stands
    beside a known column in one table is found by it, whether or not its rows are joined to others.
    """
    role = {name: attributes[name].role for name in names if name != group}
    known = [name for name in role if role[name] == "quasi-identifier" or name in further]
    if group is None:
        return tuple(name for name in names if name in known or attributes[name].form == "set")
    beside = "sensitive" in role.values() or (further and {"quasi-identifier", "insensitive"} <= {*role.values()})
    return (group, *known) if beside else (group,)


def with_members(table: PublishedTable, apart: Sequence[str], name: str) -> tuple[PublishedTable, list[str]]:
    """A table with a row for every value of every group's set, and the columns in it that tell the groups apart.

    Raises DataError as `_members` does.
    """
    partition = Partition(table.keys(apart).astype(np.int32))
    spread, cells = _members(partition, table.columns[name], name)
    rows = partition.order[partition.starts[:-1]][spread.group]
    # A set tells groups apart too, by another name than that of its values.
    known = {f"{one} (set)" if one == name else one: table.columns[one] for one in apart}
    columns = {one: replace(column, codes=column.codes[rows]) for one, column in known.items()}
    return PublishedTable(table.name, columns | {name: cells}), list(columns)


def _members(partition: Partition, cells: Column, name: str) -> tuple[Partition, Column]:
    """Each value of every group's set once, and the partition that puts them in groups.

    Raises DataError for a cell that is no set, or a set of more values than the group has rows.
    """
    first = partition.order[partition.starts[:-1]]
    sets = [set_members(cells.texts[code], name) for code in cells.codes[first]]
    for values, size in zip(sets, partition.sizes.tolist(), strict=True):
        if len(values) > size:
            raise DataError(
                f"{size:,} rows of a group cannot hold the {len(values):,} values that {quoted(name)} has there."
            )
    groups = np.repeat(np.arange(len(sets), dtype=np.int32), [len(members) for members in sets])
    return Partition(groups), Column.of([text for members in sets for text in members])


def set_members(text: str, name: str) -> list[str]:
    """The values of a published set such as `{flu, "a, b"}`, as cell texts. Raises DataError for anything else."""
    members = set_parts(text)
    if members is None:
        raise DataError(f"{quoted(name)} holds {text!r}, which is no set of values.")
    return ["" if member == MISSING_TEXT else cell_text(member) for member in members]


def with_role(attributes: Mapping[str, Attribute], names: Iterable[str], role: str = "quasi-identifier") -> list[str]:
    """Those of some columns that have a role: by default the known ones, by which readers tell rows apart."""
    return [name for name in names if name in attributes and attributes[name].role == role]


def by_name(attributes: Sequence[Attribute]) -> dict[str, Attribute]:
    """Attributes by their name."""
    return {attribute.name: attribute for attribute in attributes}
