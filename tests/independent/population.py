"""Who of a population fits a published record, decided person by person and cell by cell from what a reader sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .definitions import mean, ordered_values
from .tables import Table

Person = dict[str, Any]
Fits = Callable[[Any], bool]
Class = tuple[Any, ...]


def exactly(value: Any) -> tuple[Class, Fits]:
    """A cell that shows a value as it is."""
    return ("value", value), lambda other: bool(other == value)


def cell(table: Table, name: str, rows: Sequence[int]) -> tuple[Class, Fits]:
    """What is published of a column for a group: something that is equal where cells look the same, and who fits it."""
    values = {table.columns[name][row] for row in rows}
    numbers = sorted(value for value in values if value is not None)
    if len(values) == 1:
        return exactly(*values)
    if name in table.numeric:
        # A range with missing values reads "20-60 or (missing)", up to the largest number of the table.
        low, high = numbers[0], numbers[-1]
        if None in values:
            high = max(value for value in table.columns[name] if value is not None)
        shown = "range", low, high, None in values
        return shown, lambda other: None in values if other is None else low <= other <= high
    if name not in table.paths:
        return ("set", frozenset(values)), lambda other: other in values
    paths = table.paths[name]
    for level in range(len(next(iter(paths.values()))) - 1):
        labels = {None if value is None else paths[value][level] for value in values}
        if len(labels) == 1:
            below = {value for value, path in paths.items() if path[level] in labels}
            return ("node", *labels), below.__contains__
    return ("everybody",), lambda other: True


@dataclass(frozen=True)
class Published:
    """The quasi-identifiers that one fragment shows of each row, as cells, and who fits all of them."""

    cells: list[dict[str, tuple[Class, Fits]]]

    def records(self, row: int) -> int:
        """f: the rows that look like this one."""
        return sum(self.look(other) == self.look(row) for other in range(len(self.cells)))

    def look(self, row: int) -> list[Class]:
        return [shown for shown, _ in self.cells[row].values()]

    def people(self, row: int, population: Sequence[Person]) -> int:
        """F: the people who fit, and never fewer than the records, who are people too."""
        fitting = sum(all(fits(person[name]) for name, (_, fits) in self.cells[row].items()) for person in population)
        return max(fitting, self.records(row))

    def classes(self) -> list[int]:
        """One row of each class."""
        return [row for row in range(len(self.cells)) if self.look(row) not in map(self.look, range(row))]


def generalized(table: Table) -> Published:
    of_group = [{name: cell(table, name, rows) for name in table.quasi} for rows in table.groups()]
    return Published([of_group[group] for group in table.group])


def exact(table: Table, names: Sequence[str]) -> Published:
    return Published([{name: exactly(table.columns[name][row]) for name in names} for row in range(table.n_rows)])


def text(value: Any) -> Any:
    """How a number is written where the population has texts."""
    if value is None or isinstance(value, str):
        return value
    return str(int(value)) if value == int(value) else str(value)


def generalized_for_texts(table: Table) -> Published:
    """The same table read by somebody whose people have their numbers as texts: those in a range that the table has."""
    found = generalized(table)
    domains = {name: ordered_values(table, name) for name in table.numeric & set(table.quasi)}
    return Published(
        [
            {
                name: (shown, in_range(fits, domains[name]) if name in domains else fits)
                for name, (shown, fits) in cells.items()
            }
            for cells in found.cells
        ]
    )


def in_range(fits: Fits, domain: Sequence[Any]) -> Fits:
    texts = {text(value) for value in domain if fits(value)}
    return lambda other: other in texts


@dataclass(frozen=True)
class Risks:
    """f and F of every record by the fragment that tells most, and the risks that follow."""

    records: list[int]
    people: list[int]
    journalist: float

    @property
    def prosecutor(self) -> float:
        return mean([1 / size for size in self.records])

    @property
    def marketer(self) -> float:
        return mean([1 / size for size in self.people])


def risks(fragments: Sequence[Published], n_rows: int, population: Sequence[Person] | None) -> Risks:
    """By El Emam and Dankar; the journalist's mean is the larger of classes / sum of F and the mean of 1 / F."""

    def people(one: Published, row: int) -> int:
        return one.records(row) if population is None else one.people(row, population)

    fewest = [min(people(one, row) for one in fragments) for row in range(n_rows)]
    by_class = [len(one.classes()) / sum(people(one, row) for row in one.classes()) for one in fragments]
    return Risks(
        records=[min(one.records(row) for one in fragments) for row in range(n_rows)],
        people=fewest,
        journalist=max([*by_class, mean([1 / size for size in fewest])]),
    )
