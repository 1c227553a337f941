"""Mondrian as its docstring tells it: row numbers and values in lists, recursion, and every candidate cut tried."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from .definitions import mean
from .tables import Table

Rows = list[int]
Sides = list[Rows]
TIE = 1e-10
"""Costs per row that differ by less are equal, and the first cut of them is taken."""


@cache
def in_order(table: Table, name: str) -> list[Any]:
    """The values that occur: as the hierarchy lists them, else sorted; missing last."""
    values = set(table.columns[name])
    known = [one for one in table.paths[name] if one in values] if name in table.paths else sorted(values - {None})
    return [*known, None] if None in values else known


@cache
def ranks(table: Table, name: str) -> list[int]:
    """The place of each row's value among those that occur."""
    return [in_order(table, name).index(value) for value in table.columns[name]]


@cache
def positions(table: Table, name: str) -> list[Fraction]:
    """Where the values lie: a number at itself, missing one mean step above the largest, a category at its rank."""
    known = [Fraction(value) for value in in_order(table, name) if name in table.numeric and value is not None]
    if not known:
        return list(map(Fraction, ranks(table, name)))
    above = known[-1] + ((known[-1] - known[0]) / (len(known) - 1) if len(known) > 1 else 1)
    return [above if value is None else Fraction(value) for value in table.columns[name]]


@dataclass(frozen=True)
class PlainMondrian:
    """Cuts all rows as long as a cut is allowable; `allowed` judges the rows of one side."""

    table: Table
    allowed: Callable[[Rows], bool]
    split: str = "median"
    target: str = ""
    strict: bool = False
    min_gain: float = 0.01

    def groups(self) -> Sides:
        return self.grow(self.by_content(list(range(self.table.n_rows))))

    def grow(self, rows: Rows) -> Sides:
        sides = self.chosen(rows)
        return [rows] if sides is None else [group for side in sides for group in self.grow(side)]

    def by_content(self, rows: Rows) -> Rows:
        """Rows sorted by the quasi-identifiers, then the sensitive attribute, then what is left."""
        names = [*self.table.quasi, self.table.secret, *sorted(set(self.table.columns) - {*self.table.quasi, "secret"})]
        return sorted(rows, key=lambda row: [self.rank(name, row) for name in names])

    def value(self, name: str, row: int) -> Any:
        return self.table.columns[name][row]

    def rank(self, name: str, row: int) -> int:
        return ranks(self.table, name)[row]

    def position(self, name: str, row: int) -> Fraction:
        return positions(self.table, name)[row]

    def width(self, name: str, rows: Rows) -> Fraction:
        """Extent of the rows as a share of that of the table; with a hierarchy, of their lowest common node."""
        if len(in_order(self.table, name)) == 1:
            return Fraction(0)
        if name in self.table.paths:
            domain = in_order(self.table, name)
            level = self.common_level(name, rows)
            inside = {
                value for value in domain if self.label(name, value, level) == self.label_of(name, rows[0], level)
            }
            return Fraction(len(inside) - 1, len(domain) - 1)
        at, whole = [self.position(name, row) for row in rows], positions(self.table, name)
        return (max(at) - min(at)) / (max(whole) - min(whole))

    def label(self, name: str, value: Any, level: int) -> Any:
        """Group of a value at a level, 0 for the value itself; missing joins the others only at the top."""
        path = next(iter(self.table.paths[name].values()))
        if level == len(path):
            return path[-1]
        return value if level == 0 or value is None else self.table.paths[name][value][level - 1]

    def label_of(self, name: str, row: int, level: int) -> Any:
        return self.label(name, self.value(name, row), level)

    def common_level(self, name: str, rows: Rows) -> int:
        """Lowest level at which all rows are in one group."""
        height = len(next(iter(self.table.paths[name].values())))
        return next(level for level in range(height + 1) if len({self.label_of(name, row, level) for row in rows}) == 1)

    def clean_cuts(self, name: str, rows: Rows) -> Iterator[Sides]:
        """Into the children of the lowest common node, or at each threshold, ascending."""
        ranks = sorted({self.rank(name, row) for row in rows})
        if len(ranks) == 1:
            return
        if name in self.table.paths:
            level = self.common_level(name, rows) - 1
            labels = dict.fromkeys(self.label_of(name, row, level) for row in self.ascending(name, rows))
            yield [[row for row in rows if self.label_of(name, row, level) == label] for label in labels]
            return
        for threshold in ranks[:-1]:
            yield [
                [row for row in rows if self.rank(name, row) <= threshold],
                [row for row in rows if self.rank(name, row) > threshold],
            ]

    def ascending(self, name: str, rows: Rows) -> Rows:
        return sorted(rows, key=lambda row: self.rank(name, row))

    def is_allowable(self, sides: Sides) -> bool:
        return all(map(self.allowed, sides))

    def chosen(self, rows: Rows) -> Sides | None:
        if self.split != "median":
            best = self.best_cut(rows)
            if best is not None and (self.split != "infogain" or self.gain(rows, best) >= self.min_gain):
                return best
        return self.median_cut(rows)

    def best_cut(self, rows: Rows) -> Sides | None:
        best, least = None, math.inf
        for name in self.table.quasi:
            for sides in self.clean_cuts(name, rows):
                cost = sum(self.cost(side) for side in sides)
                if self.is_allowable(sides) and cost < least - TIE * len(rows):
                    best, least = sides, cost
        return best

    def cost(self, side: Rows) -> float:
        """What the best cut has least of, over its sides: bits about the class, squared error, or information loss."""
        if self.split == "infogain":
            return len(side) * self.bits(side)
        if self.split == "regression":
            whole = positions(self.table, self.target)
            span = max(whole) - min(whole) or 1
            numbers = [self.position(self.target, row) / span for row in side]
            middle = mean(numbers)
            return float(sum((number - middle) ** 2 for number in numbers))
        return float(len(side) * sum(self.loss(name, side) for name in self.table.quasi))

    def loss(self, name: str, side: Rows) -> Fraction:
        """What is published of a column: a range, a node, or where there is neither the set of the values."""
        if name in self.table.numeric or name in self.table.paths:
            return self.width(name, side)
        domain, values = (len({self.value(name, row) for row in rows}) for rows in (range(self.table.n_rows), side))
        return Fraction(values - 1, domain - 1) if domain > 1 else Fraction(0)

    def bits(self, rows: Rows) -> float:
        shares = [count / len(rows) for count in Counter(self.value(self.target, row) for row in rows).values()]
        return -sum(share * math.log2(share) for share in shares)

    def gain(self, rows: Rows, sides: Sides) -> float:
        return self.bits(rows) - sum(len(side) / len(rows) * self.bits(side) for side in sides)

    def median_cut(self, rows: Rows) -> Sides | None:
        """The first allowable cut: at the median of the widest attribute, of the next, at last at any threshold."""
        for name in sorted(self.table.quasi, key=lambda name: -self.width(name, rows)):
            for sides in self.medians(name, rows):
                if self.is_allowable(sides):
                    return sides
        for name in self.table.quasi:
            cuts = [] if name in self.table.paths else list(filter(self.is_allowable, self.clean_cuts(name, rows)))
            if cuts:
                return min(cuts, key=lambda sides: abs(len(sides[0]) - len(sides[1])))
        return None

    def medians(self, name: str, rows: Rows) -> Iterator[Sides]:
        if name in self.table.paths:
            yield from self.clean_cuts(name, rows)
            return
        ascending, half = self.ascending(name, rows), len(rows) // 2
        median = self.rank(name, ascending[half])
        below = [row for row in ascending if self.rank(name, row) < median]
        up_to = [row for row in ascending if self.rank(name, row) <= median]
        left = max((up_to, below), key=lambda side: min(len(side), len(rows) - len(side)))
        if 0 < len(left) < len(rows):
            yield [left, [row for row in ascending if row not in left]]
        # With a width of 0 there is nothing to tell the halves apart by.
        if not self.strict and len(below) < half and len({self.rank(name, row) for row in rows}) > 1:
            yield [ascending[:half], ascending[half:]]
