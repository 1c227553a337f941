"""Refinement by its definition: every table that the classes allow is tried, and local recoding by its rule.

A value is written as its path, from the value itself to `*`. A class is a list of the combinations of values that its
cells allow, and its size; a world says for each class how many of its rows have which combination.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, prod

Path = tuple[str, ...]
Combination = tuple[Path, ...]
State = tuple[int, ...]
World = tuple[Counter[Combination], ...]
Losses = Sequence[dict[Path, Sequence[float]]]
"""For each attribute what each of its values loses at each level."""


def n_worlds(classes: Sequence[Sequence[Combination]], sizes: Sequence[int]) -> int:
    """How many worlds there are."""
    return prod(comb(size + len(allowed) - 1, size) for allowed, size in zip(classes, sizes, strict=True))


def worlds(classes: Sequence[Sequence[Combination]], sizes: Sequence[int]) -> Iterator[World]:
    """All ways in which the rows of the classes may have the combinations that these allow."""
    ways = [
        [Counter(rows) for rows in combinations_with_replacement(allowed, size)]
        for allowed, size in zip(classes, sizes, strict=True)
    ]
    return product(*ways)


def states(classes: Sequence[Sequence[Combination]]) -> list[State]:
    """All combinations of levels."""
    return list(product(*(range(len(path)) for path in classes[0][0])))


def order(classes: Sequence[Sequence[Combination]], losses: Losses | None) -> set[tuple[State, State]]:
    """All pairs of combinations of levels of which the first is tried before the second; see `is_before`."""
    return {pair for pair in product(states(classes), repeat=2) if is_before(*pair, losses)}


def state_of(allowed: Sequence[Combination]) -> State:
    """The lowest level of each attribute at which all values of a class are one."""
    return tuple(
        next(level for level in range(len(paths[0])) if len({path[level] for path in paths}) == 1)
        for paths in zip(*allowed, strict=True)
    )


def at(combination: Combination, state: State) -> tuple[str, ...]:
    """What a combination of values is at a combination of levels."""
    return tuple(path[level] for path, level in zip(combination, state, strict=True))


def is_before(state: State, other: State, losses: Losses | None) -> bool:
    """Whether a combination of levels is tried before another whatever values the rows of a table have."""
    if losses is None:
        return state != other and all(a <= b for a, b in zip(state, other, strict=True))
    added = sum(
        min(by_level[b] - by_level[a] for by_level in of_attribute.values())
        for of_attribute, a, b in zip(losses, state, other, strict=True)
    )
    return added > 1e-9 or (added > -1e-9 and state < other)


def is_possible(
    world: World,
    classes: Sequence[Sequence[Combination]],
    k: int,
    uses: Sequence[bool],
    suppressed: Sequence[bool],
    before: Container[tuple[State, State]],
) -> bool:
    """Whether a world has no group that would have become a class: what refinement uses of the method.

    `uses` are the classes of which something is known; those that are `suppressed` may have been too few at any levels.
    `before` has the pairs of combinations of levels of which the first is tried before the second.
    """
    own = [state_of(allowed) for allowed in classes]
    for state in states(classes):
        later = [number for number, one in enumerate(own) if uses[number] and (state, one) in before]
        rows: Counter[tuple[str, ...]] = Counter()
        for number in later:
            for combination, count in world[number].items():
                if not suppressed[number]:
                    rows[at(combination, state)] += count
        taken = {at(classes[number][0], state) for number, one in enumerate(own) if uses[number] and one == state}
        if any(count >= k for count in rows.values()):
            return False
        if any(at(combination, state) in taken for number in later for combination in world[number]):
            return False
    return True


def by_rule(rows: Sequence[Combination], losses: Losses, k: int) -> list[tuple[str, ...]]:
    """What ARX publishes of each row by its rule.

    In each round the combination of levels with the least loss at which some group of the rows left has k rows is
    taken, and all such groups of it are published; rows that are left at the end are suppressed. The loss of a
    combination of levels is the geometric mean of 1 + the loss of each attribute's widest cell there, less 1.
    """
    heights = [len(next(iter(of_attribute.values()))) for of_attribute in losses]
    widest = [
        [max(loss[level] for loss in of_attribute.values()) for level in range(height)]
        for of_attribute, height in zip(losses, heights, strict=True)
    ]
    cost = {
        state: prod(1 + widest[a][level] for a, level in enumerate(state)) ** (1 / len(state)) - 1
        for state in product(*map(range, heights))
    }
    published = [("*",) * len(heights)] * len(rows)
    left = list(range(len(rows)))
    for state in sorted(cost, key=lambda state: (round(cost[state], 9), state)):
        groups: dict[tuple[str, ...], list[int]] = {}
        for row in left:
            groups.setdefault(at(rows[row], state), []).append(row)
        for group, members in groups.items():
            if len(members) >= k:
                for row in members:
                    published[row] = group
        left = [row for members in groups.values() if len(members) < k for row in members]
    return published


def least_belief(possible: Sequence[World], combination: Combination, shares: Sequence[Fraction]) -> Fraction:
    """The least belief of any world that has somebody with these values, who has a secret with `shares` by class."""
    return min(
        sum(world[number][combination] * share for number, share in enumerate(shares))
        / sum(rows[combination] for rows in world)
        for world in possible
        if any(rows[combination] for rows in world)
    )
