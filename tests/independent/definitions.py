"""Every requirement and measure once more, slowly, from plain lists and the definition alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import linprog

from .tables import Table

Level = Callable[[Table, list[int]], float]


def secrets(table: Table, rows: Sequence[int]) -> list[Any]:
    return [table.columns[table.secret][row] for row in rows]


def everything(table: Table) -> range:
    return range(table.n_rows)


@cache
def ordered_values(table: Table, name: str) -> list[Any]:
    """The values that occur, numbers by size, the rest in any order; missing last."""
    values = set(table.columns[name])
    known = sorted(value for value in values if value is not None)
    return [*known, None] if None in values else known


def counts(table: Table, rows: list[int]) -> list[int]:
    return sorted(Counter(secrets(table, rows)).values(), reverse=True)


def size(table: Table, rows: list[int]) -> float:
    return len(rows)


def distinct(table: Table, rows: list[int]) -> float:
    return len(counts(table, rows))


def largest_share(table: Table, rows: list[int]) -> float:
    return counts(table, rows)[0] / len(rows)


def frequency(table: Table, rows: list[int]) -> float:
    return len(rows) / counts(table, rows)[0]


def entropy(table: Table, rows: list[int]) -> float:
    """2 to the entropy in bits."""
    return 2.0 ** -sum(count / len(rows) * math.log2(count / len(rows)) for count in counts(table, rows))


def recursive(table: Table, rows: list[int]) -> float:
    """x1 / (x2 + ... + xm): (c, 2)-diversity holds for every c above it."""
    first, *tail = counts(table, rows)
    return first / sum(tail) if tail else math.inf


def variance(table: Table, rows: list[int]) -> float:
    known = [value for value in secrets(table, rows) if value is not None]
    return float(np.var(known)) if known else 0.0


def shares(table: Table, rows: Sequence[int]) -> dict[Any, float]:
    found = Counter(secrets(table, rows))
    return {value: found[value] / len(rows) for value in ordered_values(table, table.secret)}


@cache
def whole_shares(table: Table) -> dict[Any, float]:
    return shares(table, everything(table))


def equal_distance(table: Table, rows: list[int]) -> float:
    """Mass that must move: what the group has of each value beyond the table's share."""
    whole = whole_shares(table)
    return sum(max(share - whole[value], 0.0) for value, share in shares(table, rows).items())


def ordered_distance(table: Table, rows: list[int]) -> float:
    """Area between the two cumulative distributions, over the ranks scaled to 0..1."""
    values = ordered_values(table, table.secret)
    if len(values) == 1:
        return 0.0
    own, whole = shares(table, rows), whole_shares(table)
    below = [abs(sum(own[value] - whole[value] for value in values[: rank + 1])) for rank in range(len(values) - 1)]
    return sum(below) / (len(values) - 1)


def interval_distance(table: Table, rows: list[int]) -> float:
    """Area between the two cumulative distributions, over numbers scaled to 0..1; missing lies a mean step above."""
    values = ordered_values(table, table.secret)
    known = [value for value in values if value is not None]
    places = [float(value) for value in known] or [0.0]
    if values[-1] is None and known:
        places.append(places[-1] + ((places[-1] - places[0]) / (len(known) - 1) if len(known) > 1 else 1.0))
    if places[-1] == places[0]:
        return 0.0
    own, whole = shares(table, rows), whole_shares(table)
    area = 0.0
    for rank in range(len(values) - 1):
        below = abs(sum(own[value] - whole[value] for value in values[: rank + 1]))
        area += below * (places[rank + 1] - places[rank])
    return area / (places[-1] - places[0])


def hierarchical_distance(table: Table, rows: list[int]) -> float:
    """Cheapest transport, as a linear program; a move costs the height of the lowest common node / the whole height."""
    values = ordered_values(table, table.secret)
    paths = table.paths[table.secret]
    height = len(next(iter(paths.values())))

    def cost(one: Any, other: Any) -> float:
        if one == other:
            return 0.0
        if one is None or other is None:
            return 1.0
        return (
            next(level for level in range(1, height + 1) if paths[one][level - 1] == paths[other][level - 1]) / height
        )

    own, whole = shares(table, rows), whole_shares(table)
    m = len(values)
    out = np.kron(np.eye(m), np.ones(m))
    into = np.kron(np.ones(m), np.eye(m))
    wanted = np.array([*own.values(), *whole.values()])
    costs = np.array([cost(one, other) for one in values for other in values])
    return float(linprog(costs, A_eq=np.vstack([out, into]), b_eq=wanted, method="highs").fun)


def largest_gain(table: Table, rows: list[int]) -> float:
    """The smallest beta with which no value gains more than min(beta, -ln p) of its share p of the table."""
    whole = whole_shares(table)
    gains = {value: (share - whole[value]) / whole[value] for value, share in shares(table, rows).items()}
    is_bounded = all(gain <= -math.log(whole[value]) + 1e-12 for value, gain in gains.items())
    return max(*gains.values(), 0.0) if is_bounded else math.inf


def everybody_is_in_the_table(table: Table, rows: list[int]) -> float:
    """The presence of those who fit a class where the table is its own population."""
    return 1.0


LEVELS: dict[str, Level] = {
    "distinct-l": distinct,
    "entropy-l": entropy,
    "frequency-l": frequency,
    "max-share": largest_share,
    "recursive-c": recursive,
    "t-ordered": ordered_distance,
    "t-interval": interval_distance,
    "t-equal": equal_distance,
    "t-hierarchical": hierarchical_distance,
}
"""By the names of the levels of a profile."""

REQUIREMENTS: dict[str, Callable[[dict[str, Any]], Level]] = {
    "k-anonymity": lambda fields: size,
    "distinct-diversity": lambda fields: distinct,
    "entropy-diversity": lambda fields: entropy,
    "frequency-diversity": lambda fields: frequency,
    "recursive-diversity": lambda fields: recursive,
    "beta-likeness": lambda fields: largest_gain,
    "delta-presence": lambda fields: everybody_is_in_the_table,
    "t-closeness": lambda fields: LEVELS[f"t-{fields['ground']}"],
    "variance-diversity": lambda fields: variance,
}
"""By the names of the requirements; the fields choose where there is a choice (l of the recursive one is 2)."""


@cache
def position(table: Table, name: str, value: Any) -> float:
    """Where a number lies; missing one mean step above the largest."""
    known = ordered_values(table, name)
    numbers = [one for one in known if one is not None]
    if value is not None:
        return float(value)
    if not numbers:
        return 0.0
    return numbers[-1] + ((numbers[-1] - numbers[0]) / (len(numbers) - 1) if len(numbers) > 1 else 1.0)


def region(table: Table, name: str, rows: list[int]) -> tuple[Any, ...]:
    """What is published of a column for these rows: lowest and highest position, or the values it may stand for."""
    values = {table.columns[name][row] for row in rows}
    if name in table.numeric:
        at = [position(table, name, value) for value in values]
        return min(at), max(at)
    if name not in table.paths or len(values) == 1:
        return tuple(sorted(values, key=str))
    paths = table.paths[name]
    below_top = range(len(next(iter(paths.values()))) - 1)
    for level in below_top:
        labels = {None if value is None else paths[value][level] for value in values}
        if len(labels) == 1:
            inside = [one for one in ordered_values(table, name) if one is not None and paths[one][level] in labels]
            return tuple(sorted(inside, key=str))
    return tuple(sorted(ordered_values(table, name), key=str))


def cell_loss(table: Table, name: str, rows: list[int]) -> float:
    domain = ordered_values(table, name)
    if len(domain) == 1:
        return 0.0
    found = region(table, name, rows)
    if name in table.numeric:
        whole = [position(table, name, value) for value in domain]
        return (found[1] - found[0]) / (max(whole) - min(whole))
    return (len(found) - 1) / (len(domain) - 1)


def information_loss(table: Table, form: str) -> float:
    if form == "bucketized":
        return 0.0
    cells = [
        len(rows) * (cell_loss(table, name, rows) if len(rows) > 1 else 0.0)
        for rows in table.groups()
        for name in table.quasi
    ]
    return sum(cells) / table.n_rows / len(table.quasi)


def known_of(table: Table, row: int) -> tuple[Any, ...]:
    return tuple(table.columns[name][row] for name in table.quasi)


@cache
def beliefs(table: Table, form: str) -> list[dict[Any, float]]:
    """p(t, s) of each row: its own group's shares, or those of all buckets that show its quasi-identifiers."""
    if form == "generalized":
        own = {row: shares(table, rows) for rows in table.groups() for row in rows}
        return [own[row] for row in everything(table)]
    found = []
    for row in everything(table):
        fits = [
            sum(known_of(table, one) == known_of(table, row) for one in rows) / len(rows) for rows in table.groups()
        ]
        belief: dict[Any, float] = Counter()
        for fit, rows in zip(fits, table.groups(), strict=True):
            for value, share in shares(table, rows).items():
                belief[value] += fit / sum(fits) * share
        found.append(belief)
    return found


@cache
def class_sizes(table: Table, form: str) -> list[int]:
    """Records that are published with the same quasi-identifiers as each record."""
    if form == "bucketized":
        shown = [known_of(table, row) for row in everything(table)]
    else:
        of_group = [tuple(region(table, name, rows) for name in table.quasi) for rows in table.groups()]
        shown = [of_group[group] for group in table.group]
    return [Counter(shown)[one] for one in shown]


def usual_distance(table: Table, rows: list[int]) -> float:
    return (ordered_distance if table.secret in table.numeric else equal_distance)(table, rows)


def mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


CRITERIA: dict[str, Callable[[Table, str], float]] = {
    "k": lambda table, form: min(map(len, table.groups())),
    "distinct-l": lambda table, form: min(distinct(table, rows) for rows in table.groups()),
    "max-share": lambda table, form: max(largest_share(table, rows) for rows in table.groups()),
    "t": lambda table, form: max(usual_distance(table, rows) for rows in table.groups()),
    "largest-belief": lambda table, form: max(max(one.values()) for one in beliefs(table, form)),
    "belief-in-truth": lambda table, form: mean(
        [one[table.columns["secret"][row]] for row, one in enumerate(beliefs(table, form))]
    ),
    "believed-above-half": lambda table, form: mean(
        [max(one.values()) > 0.5 * (1 + 1e-9) for one in beliefs(table, form)]
    ),
    "reidentified-mean": lambda table, form: mean([1 / size for size in class_sizes(table, form)]),
    "reidentified-largest": lambda table, form: 1 / min(class_sizes(table, form)),
    "information-loss": information_loss,
    "average-group-size": lambda table, form: mean([len(rows) for rows in table.groups()]),
    "discernibility": lambda table, form: sum(len(rows) ** 2 for rows in table.groups()),
}


def conditional_entropy(table: Table) -> float:
    return sum(len(rows) * math.log2(entropy(table, rows)) for rows in table.groups()) / table.n_rows


def rmse(table: Table) -> float:
    """Error of the group's mean as a guess, over the rows with a number."""
    known = [[value for value in secrets(table, rows) if value is not None] for rows in table.groups()]
    errors = [(value - mean(values)) ** 2 for values in known if values for value in values]
    return math.sqrt(mean(errors))
