"""Mondrian written plainly over lists of code tuples: the oracle of the compiled one. Slow and short."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from anoncore.table.domain import Domain, Kind

Row = tuple[int, ...]


@dataclass
class PlainMondrian:
    """A row is a tuple of codes, those of the split attributes first; `allowed` judges a side."""

    domains: Sequence[Domain]
    allowed: Callable[[list[Row]], bool]
    split: str = "median"
    strict: bool = False
    min_gain: float = 0.01
    target: Callable[[Row], float] = lambda row: 0.0

    def groups(self, rows: list[Row]) -> list[list[Row]]:
        sides = self.cut(sorted(rows))
        return [rows] if sides is None else [group for side in sides for group in self.groups(side)]

    def cut(self, rows: list[Row]) -> list[list[Row]] | None:
        if self.split != "median":
            best = self.cheapest(rows)
            if best is not None and not (self.split == "infogain" and self.gain(rows, best) < self.min_gain):
                return best
        for a in sorted(range(len(self.domains)), key=lambda a: -self.width(rows, a)):
            for sides in self.medians(rows, a):
                if self.all_allowed(sides):
                    return sides
        for a, domain in enumerate(self.domains):
            cuts = [sides for sides in self.cuts(rows, a) if domain.tree is None and self.all_allowed(sides)]
            if cuts:
                return min(cuts, key=lambda sides: abs(2 * len(sides[0]) - len(rows)))
        return None

    def all_allowed(self, sides: list[list[Row]]) -> bool:
        return all(self.allowed(side) for side in sides)

    def width(self, rows: list[Row], a: int) -> Fraction:
        """Width of the interval or node (not of the set) that holds the rows."""
        domain = self.domains[a]
        low, high = min(row[a] for row in rows), max(row[a] for row in rows)
        if low == high:
            return Fraction(0)
        if domain.tree is not None:
            first, last = self.node(rows, a)
            return Fraction(last - first, len(domain) - 1)
        at = [Fraction(float(position)) for position in domain.positions]
        return (at[high] - at[low]) / (at[-1] - at[0])

    def node(self, rows: list[Row], a: int) -> tuple[int, int]:
        tree = self.domains[a].tree
        codes = {row[a] for row in rows}
        spans = zip(tree.first.tolist(), tree.last.tolist(), strict=True)
        inside = [(first, last) for first, last in spans if first <= min(codes) and max(codes) <= last]
        return min(inside, key=lambda node: node[1] - node[0])

    def cuts(self, rows: list[Row], a: int) -> list[list[list[Row]]]:
        """Every clean cut of an attribute: all thresholds, or the children of the lowest common node."""
        if self.domains[a].tree is None:
            codes = sorted({row[a] for row in rows})
            return [
                [[row for row in rows if row[a] <= code], [row for row in rows if row[a] > code]] for code in codes[:-1]
            ]
        tree = self.domains[a].tree
        first, last = self.node(rows, a)
        spans = list(zip(tree.first.tolist(), tree.last.tolist(), strict=True))
        below = [spans[child] for child in range(1, len(spans)) if spans[tree.parent[child]] == (first, last)]
        sides = [[row for row in rows if low <= row[a] <= high] for low, high in sorted(below)]
        return [[side for side in sides if side]] if first < last else []

    def medians(self, rows: list[Row], a: int) -> list[list[list[Row]]]:
        """The more balanced clean cut beside the median value, then (unless strict) the halves."""
        if self.width(rows, a) == 0:
            return []
        if self.domains[a].tree is not None:
            return self.cuts(rows, a)
        n = len(rows)
        by_value = sorted(rows, key=lambda row: row[a])
        value = by_value[n // 2][a]
        below, up_to = (sum(row[a] < value for row in rows), sum(row[a] <= value for row in rows))
        left = below if min(below, n - below) > min(up_to, n - up_to) else up_to
        sizes = [left] if self.strict or below >= n // 2 else [left, n // 2]
        return [[by_value[:size], by_value[size:]] for size in sizes if 0 < size < n]

    def cheapest(self, rows: list[Row]) -> list[list[Row]] | None:
        best, cost = None, math.inf
        for a in range(len(self.domains)):
            for sides in self.cuts(rows, a):
                if self.all_allowed(sides) and self.cost(sides) < cost - 1e-10 * len(rows):
                    best, cost = sides, self.cost(sides)
        return best

    def cost(self, sides: list[list[Row]]) -> float:
        if self.split == "infogain":
            return sum(len(side) * self.entropy(side) for side in sides)
        if self.split == "regression":
            return sum(self.squared_error(side) for side in sides)
        return float(sum(len(side) * sum(self.loss(side, a) for a in range(len(self.domains))) for side in sides))

    def loss(self, rows: list[Row], a: int) -> Fraction:
        domain = self.domains[a]
        if domain.kind is Kind.NUMERIC or domain.tree is not None or len(domain) == 1:
            return self.width(rows, a)
        return Fraction(len({row[a] for row in rows}) - 1, len(domain) - 1)

    def entropy(self, rows: list[Row]) -> float:
        counts = Counter(self.target(row) for row in rows).values()
        return -sum(count / len(rows) * math.log2(count / len(rows)) for count in counts)

    def squared_error(self, rows: list[Row]) -> float:
        mean = sum(self.target(row) for row in rows) / len(rows)
        return sum((self.target(row) - mean) ** 2 for row in rows)

    def gain(self, rows: list[Row], sides: list[list[Row]]) -> float:
        return self.entropy(rows) - self.cost(sides) / len(rows)
