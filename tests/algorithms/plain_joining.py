"""Joining of groups in which people are given away, written plainly: group by group, by rows and values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

Row = tuple[int, ...]


def joined(
    groups: Sequence[Sequence[int]],
    failing: Sequence[bool],
    known: Sequence[Row],
    sizes: Sequence[int],
    secret: Sequence[str],
    holds: Callable[[Sequence[int]], bool],
) -> set[frozenset[int]]:
    """The groups afterwards. `known` are the codes of each row that are generalized, of `sizes` values each."""
    whole = Counter(secret)
    members = [list(rows) for rows in groups]
    waiting = [fails or not holds(rows) for fails, rows in zip(failing, members, strict=True)]

    def loss(rows: Sequence[int]) -> float:
        spans = [
            (max(known[row][a] for row in rows) - min(known[row][a] for row in rows)) / max(size - 1, 1)
            for a, size in enumerate(sizes)
        ]
        return len(rows) * sum(spans)

    def distance(rows: Sequence[int]) -> float:
        own = Counter(secret[row] for row in rows)
        return sum(abs(own[value] / len(rows) - whole[value] / len(secret)) for value in whole)

    while any(waiting):
        group = waiting.index(True)
        others = [other for other, rows in enumerate(members) if rows and other != group]

        def added(other: int, group: int = group) -> float:
            together = [*members[group], *members[other]]
            return round(loss(together) - loss(members[group]) - loss(members[other]), 9)

        nearest = sorted(others, key=added)[:32]
        alike = sorted(nearest, key=lambda other: round(distance([*members[group], *members[other]]), 9))
        partner = next((other for other in alike if holds([*members[group], *members[other]])), alike[0])
        members[group] += members[partner]
        members[partner] = []
        waiting[partner] = False
        waiting[group] = not holds(members[group])
    return {frozenset(rows) for rows in members if rows}
