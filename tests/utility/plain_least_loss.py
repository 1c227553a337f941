"""The least loss by trying everything: all classes, all partitions and all sets of k rows, on tables of a few rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import combinations

import numpy as np
import pandas as pd

from anoncore import Hierarchy, Kind, Microdata
from anoncore.table.domain import Domain

TREE = {"low": ["a", "b"], "high": {"odd": ["c"], "even": ["d", "e"]}}
Holds = Callable[[Sequence[int]], bool]


def random_table(rng: np.random.Generator, most_rows: int = 9) -> Microdata:
    """A table of a few rows with numbers, sets and perhaps a hierarchy, some cells missing, and a secret."""
    n = int(rng.integers(4, most_rows + 1))
    frame = pd.DataFrame(
        {
            "age": pd.Series(rng.integers(20, rng.integers(22, 40), n), dtype="Int64"),
            "town": rng.choice(list("uvw")[: rng.integers(1, 4)], n).astype(object),
            "grade": rng.choice(list("abcde"), n),
            "ill": rng.choice(list("xyz"), n),
        }
    )
    if rng.random() < 0.3:
        frame.loc[0, ["age", "town"]] = None
    trees = {"grade": Hierarchy.from_nested(TREE)} if rng.random() < 0.5 else {}
    roles = {**dict.fromkeys(["age", "town", "grade"], "quasi-identifier"), "ill": "sensitive"}
    return Microdata(frame, roles, kinds={"age": "numeric"}, hierarchies=trees)


def class_loss(data: Microdata, rows: Sequence[int]) -> Fraction:
    """The mean loss of the cells of a class, as exact as the steps of numbers."""
    return losses_of(data)(rows)


def losses_of(data: Microdata) -> Callable[[Sequence[int]], Fraction]:
    """What classes of a table lose, each cell by its different values, which are looked at once."""
    columns = [
        (data.codes[name].tolist(), cache(partial(cell_loss, data.domain[name]))) for name in data.quasi_identifiers
    ]

    def loss(rows: Sequence[int]) -> Fraction:
        losses = [lost(tuple(sorted({codes[row] for row in rows}))) for codes, lost in columns]
        return sum(losses, Fraction(0)) / len(losses)

    return loss


def cell_loss(domain: Domain, codes: tuple[int, ...]) -> Fraction:
    """The loss of a cell that stands for these values, ascending."""
    if len(domain) == 1:
        return Fraction(0)
    if domain.tree is not None:
        spans = zip(domain.tree.first.tolist(), domain.tree.last.tolist(), strict=True)
        width = min(last - first for first, last in spans if first <= codes[0] and last >= codes[-1])
        return Fraction(width, len(domain) - 1)
    if domain.kind is Kind.NUMERIC:
        steps = [Fraction(float(step)) for step in domain.steps]
        return (steps[codes[-1]] - steps[codes[0]]) / (steps[-1] - steps[0])
    return Fraction(len(codes) - 1, len(domain) - 1)


def least_loss(data: Microdata, k: int, holds: Holds = lambda rows: True) -> Fraction | None:
    """The least loss of all partitions into classes of at least k rows that keep a promise; None if there is none."""

    loss = cache(losses_of(data))

    @cache
    def least(rows: tuple[int, ...]) -> Fraction | None:
        if not rows:
            return Fraction(0)
        best = None
        for size in range(k - 1, len(rows)):
            for others in combinations(rows[1:], size):
                rest = least(tuple(row for row in rows[1:] if row not in others))
                if rest is not None and holds((rows[0], *others)):
                    total = rest + (size + 1) * loss((rows[0], *others))
                    best = total if best is None or total < best else best
        return best

    total = least(tuple(range(data.n_rows)))
    return None if total is None else total / data.n_rows


def is_diverse(data: Microdata, l: float) -> Holds:
    """Whether no sensitive value is that of more than 1/l of a class."""
    ill = data.codes["ill"].tolist()
    return lambda rows: max(Counter(ill[row] for row in rows).values()) * l <= len(rows)


def is_close(data: Microdata, t: float) -> Holds:
    """Whether the sensitive values of a class are within t of those of the table, where all are equally far apart."""
    ill = data.codes["ill"].tolist()
    shares = {value: Fraction(count, len(ill)) for value, count in Counter(ill).items()}

    def holds(rows: Sequence[int]) -> bool:
        counts = Counter(ill[row] for row in rows)
        return sum(abs(Fraction(counts[value], len(rows)) - share) for value, share in shares.items()) / 2 <= t

    return holds


def sets_of(data: Microdata, k: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """All sets of k rows with the loss of a cell of their class."""
    loss = losses_of(data)
    for rows in combinations(range(data.n_rows), k):
        yield rows, loss(rows)
