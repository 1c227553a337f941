"""The ways to deal the secrets of a group to its people, where some people cannot have some secrets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

Allowed = tuple[tuple[bool, ...], ...]
MOST_KEPT = 4_096
"""Groups whose dealings are remembered; many groups of a table are alike."""


@lru_cache(maxsize=MOST_KEPT)
def usable(allowed: Allowed, people: tuple[int, ...], slots: tuple[int, ...]) -> Allowed | None:
    """Which values each kind of people has in some way to deal the secrets of a group; None where there is no way.

    `allowed[i][v]`: whether one of the `people[i]` people of kind i may have the value v, which `slots[v]` people have.
    A dealing is a maximum flow; another value is possible for a person where secrets can be passed around in a circle
    (Régin, AAAI 1996).
    """
    flow = [[0] * len(slots) for _ in people]
    left = list(slots)
    for kind, n_people in enumerate(people):
        for _ in range(n_people):
            path = _augmenting(allowed, flow, left, kind)
            if path is None:
                return None
            left[path[-1][1]] -= 1
            for step, (giver, value) in enumerate(path):
                flow[giver][value] += 1
                if step + 1 < len(path):
                    flow[path[step + 1][0]][value] -= 1
    return tuple(
        tuple(
            may and (flow[kind][value] > 0 or kind in _passing(allowed, flow, value)) for value, may in enumerate(own)
        )
        for kind, own in enumerate(allowed)
    )


def _augmenting(
    allowed: Allowed, flow: Sequence[Sequence[int]], left: Sequence[int], kind: int
) -> list[tuple[int, int]] | None:
    """How one more person of a kind gets a value: they take it, its holder the next one, until one is left over."""
    came: dict[int, tuple[int, int] | None] = {kind: None}
    queue = [kind]
    for taker in queue:
        for value, may in enumerate(allowed[taker]):
            if not may:
                continue
            if left[value] > 0:
                path = [(taker, value)]
                while (before := came[path[0][0]]) is not None:
                    path.insert(0, before)
                return path
            for holder in range(len(flow)):
                if flow[holder][value] > 0 and holder not in came:
                    came[holder] = (taker, value)
                    queue.append(holder)
    return None


def _passing(allowed: Allowed, flow: Sequence[Sequence[int]], value: int) -> set[int]:
    """The kinds whose people could give one of their values away if a holder of this value needs another one."""
    reached = {holder for holder in range(len(flow)) if flow[holder][value] > 0}
    queue = list(reached)
    for taker in queue:
        for wanted, may in enumerate(allowed[taker]):
            if may:
                for holder in range(len(flow)):
                    if flow[holder][wanted] > 0 and holder not in reached:
                        reached.add(holder)
                        queue.append(holder)
    return reached
