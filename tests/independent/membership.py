"""Who is in the table: every tuple, every way to link rows and every joined row written out, from the definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from math import prod
from typing import Any

from .definitions import known_of, position, region
from .tables import Table

Rows = list[dict[str, Any]]
Columns = Sequence[Sequence[str]]


def buckets_of(rows: Rows, group: Sequence[int]) -> list[Rows]:
    return [[row for row, g in zip(rows, group, strict=True) if g == number] for number in range(max(group) + 1)]


def all_tuples(rows: Rows, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Every combination of values that occur in the table, whether or not somebody has it."""
    for values in product(*({row[name] for row in rows} for name in names)):
        yield dict(zip(names, values, strict=True))


def shows(bucket: Rows, column: Sequence[str], one: dict[str, Any]) -> bool:
    """Whether some row of the bucket has the tuple's values in this column, as far as they are looked up."""
    return any(all(row[name] == one[name] for name in column if name in one) for row in bucket)


@dataclass(frozen=True)
class FakeTuples:
    """Buckets that match each row's tuple and each fake tuple, and how many tuples there are at all."""

    of_rows: list[int]
    of_fakes: list[int]
    n_members: int
    n_combinations: int

    @property
    def belief(self) -> float:
        return self.n_members / (self.n_members + len(self.of_fakes))

    @property
    def baseline(self) -> float:
        return self.n_members / self.n_combinations


def fake_tuples(rows: Rows, group: Sequence[int], columns: Columns, names: Sequence[str]) -> FakeTuples:
    """A bucket matches a tuple if each column shows the tuple's values in one of the bucket's rows."""
    buckets = buckets_of(rows, group)
    members = {tuple(row[name] for name in names) for row in rows}
    matching = {
        tuple(one.values()): sum(all(shows(bucket, column, one) for column in columns) for bucket in buckets)
        for one in all_tuples(rows, names)
    }
    return FakeTuples(
        of_rows=[matching[tuple(row[name] for name in names)] for row in rows],
        of_fakes=[count for one, count in matching.items() if count and one not in members],
        n_members=len(members),
        n_combinations=len(matching),
    )


def linked_tables(bucket: Rows, columns: Columns) -> Iterator[Rows]:
    """Every table that a bucket may come from: columns in any order that agrees on what several columns show."""
    for orders in product(*(permutations(bucket) for _ in columns[1:])):
        table: Rows = []
        for sources in zip(bucket, *orders, strict=True):
            row: dict[str, Any] = {}
            for column, source in zip(columns, sources, strict=True):
                part = {name: source[name] for name in column}
                if any(row.get(name, value) != value for name, value in part.items()):
                    break
                row |= part
            else:
                table.append(row)
                continue
            break
        if len(table) == len(bucket):
            yield table


@dataclass(frozen=True)
class FittingBucket:
    """What one bucket says about a person: share of each column, of linked rows, and the values of these rows."""

    columns: list[Fraction]
    linked: Fraction
    values: dict[Any, Fraction]


def fitting_buckets(
    rows: Rows, group: Sequence[int], columns: Columns, known: Sequence[str], secret: str, person: dict[str, Any]
) -> dict[int, FittingBucket]:
    """Every bucket that may hold a person of whom the known attributes are known, over all ways to link its rows."""
    found = {}
    for number, bucket in enumerate(buckets_of(rows, group)):
        tables = list(linked_tables(bucket, columns))
        fits = [row[secret] for table in tables for row in table if all(row[name] == person[name] for name in known)]
        if fits:
            found[number] = FittingBucket(
                columns=[
                    Fraction(
                        sum(all(row[name] == person[name] for name in column if name in known) for row in bucket),
                        len(bucket),
                    )
                    for column in columns
                ],
                linked=Fraction(len(fits), len(tables) * len(bucket)),
                values={value: Fraction(count, len(fits)) for value, count in Counter(fits).items()},
            )
    return found


def belief(buckets: dict[int, FittingBucket]) -> Counter[Any]:
    """The person is in each bucket in proportion to the share of its linked rows that fit them."""
    total = sum(one.linked for one in buckets.values())
    found: Counter[Any] = Counter()
    for one in buckets.values():
        for value, share in one.values.items():
            found[value] += one.linked / total * share
    return found


def fits_cell(table: Table, name: str, rows: list[int], value: Any) -> bool:
    """Whether a value of the table lies in the region that is published of these rows."""
    shown = region(table, name, rows)
    if name in table.numeric:
        return shown[0] <= position(table, name, value) <= shown[1]
    return value in shown


def fitting_a_class(table: Table, row: int, exact: Sequence[str]) -> tuple[int, int]:
    """Combinations of the table's values that fit the published cells of a row, and those that people with them have.

    Columns in `exact` are published as they are. People of different groups with equal cells look the same.
    """

    def cells(one: int) -> list[tuple[Any, ...]]:
        group = table.groups()[table.group[one]]
        return [(table.columns[name][one],) if name in exact else region(table, name, group) for name in table.quasi]

    own, rows = cells(row), table.groups()[table.group[row]]
    fitting = prod(
        1 if name in exact else sum(fits_cell(table, name, rows, value) for value in set(table.columns[name]))
        for name in table.quasi
    )
    return fitting, len({known_of(table, other) for other in range(table.n_rows) if cells(other) == own})
