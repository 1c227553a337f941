"""Slow, plain microaggregation by its definition, for small tables of numbers and categories."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Point = Sequence[float]


class PlainClusters:
    """MDAV over points; `numeric[a]` says whether axis a is a number in 0..1 or a category."""

    def __init__(self, points: Sequence[Point], numeric: Sequence[bool]) -> None:
        self.points, self.numeric = points, numeric

    def distance(self, one: Point, other: Point) -> float:
        return sum(
            abs(a - b) if number else float(a != b) for a, b, number in zip(one, other, self.numeric, strict=True)
        )

    def center(self, rows: Sequence[int]) -> Point:
        columns = list(zip(*(self.points[row] for row in rows), strict=True))
        return [
            sum(column) / len(column) if number else min(column, key=lambda value: (-column.count(value), value))
            for column, number in zip(columns, self.numeric, strict=True)
        ]

    def farthest(self, rows: Sequence[int], origin: Point) -> int:
        return max(rows, key=lambda row: self.distance(self.points[row], origin))

    def nearest(self, rows: Sequence[int], seed: int, k: int) -> list[int]:
        def apart(row: int) -> float:
            return -1.0 if row == seed else self.distance(self.points[row], self.points[seed])

        return sorted(rows, key=apart)[:k]

    def mdav(self, rows: Sequence[int], k: int) -> list[set[int]]:
        left, seed, clusters = list(rows), None, []
        while left:
            origin = self.center(left) if seed is None else self.points[seed]
            chosen = self.farthest(left, origin)
            seed = chosen if seed is None else None
            cluster = left if len(left) < 2 * k else self.nearest(left, chosen, k)
            clusters.append(set(cluster))
            left = [row for row in left if row not in clusters[-1]]
        return clusters

    def merged(self, clusters: list[set[int]], excess: Callable[[set[int]], float]) -> list[set[int]]:
        """Merge the worst cluster with the one of the nearest center (its larger part's categories)."""
        parts = [(rows, self.center(sorted(rows))) for rows in clusters]
        while len(parts) > 1 and max(excess(rows) for rows, _ in parts) > 0:
            worst = max(range(len(parts)), key=lambda place: excess(parts[place][0]))
            rows, middle = parts.pop(worst)
            nearest = min(range(len(parts)), key=lambda place: self.distance(parts[place][1], middle))
            others, other = parts[nearest]
            a, b = len(rows), len(others)
            new = [
                (x * a + y * b) / (a + b) if number else (x if a > b else y)
                for x, y, number in zip(middle, other, self.numeric, strict=True)
            ]
            parts[nearest] = (rows | others, new)
        return [rows for rows, _ in parts]
