"""Hundreds of random tables of awkward shapes, as plain lists, and the releases made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore import Hierarchy, Microdata, Partition, Release
from tests.privacy.releases import fragment, generalized

Paths = dict[Any, tuple[str, ...]]
WORK: Paths = {
    "clerk": ("office", "paid", "*"),
    "boss": ("office", "paid", "*"),
    "smith": ("hand", "paid", "*"),
    "pupil": ("school", "unpaid", "*"),
    "none": ("none at all", "unpaid", "*"),
}
ILL: Paths = {
    "flu": ("lung", "*"),
    "cold": ("lung", "*"),
    "ulcer": ("stomach", "*"),
    "gastritis": ("stomach", "*"),
    "\u6d41\u611f": ("other", "*"),
}
TOWNS = ["K\u00f6ln, S\u00fcd", "\u6771\u4eac", "\u0645\u062f\u064a\u0646\u0629", 'say "a"', "", " ", "{b}", "0-9"]


@dataclass(frozen=True, eq=False)
class Table:
    """Columns as lists (None: missing), the group of each row, and the paths of columns with a hierarchy.

    A table is equal to itself alone, so that what a definition asks of it again and again is kept by it.
    """

    columns: dict[str, list[Any]]
    group: list[int]
    paths: dict[str, Paths]
    numeric: frozenset[str]

    quasi = ("age", "town", "work")
    secret = "secret"

    @property
    def n_rows(self) -> int:
        return len(self.group)

    def rows(self) -> list[dict[str, Any]]:
        """The rows, each with its values by column."""
        return [{name: values[row] for name, values in self.columns.items()} for row in range(self.n_rows)]

    def groups(self) -> list[list[int]]:
        """Row numbers of each group."""
        return self._rows_of_groups

    @cached_property
    def _rows_of_groups(self) -> list[list[int]]:
        return [[row for row, g in enumerate(self.group) if g == group] for group in range(max(self.group) + 1)]

    def data(self) -> Microdata:
        """The table as the package takes it, under an index that repeats and misleads."""
        frame = pd.DataFrame(
            {
                name: pd.array(values, dtype="Float64") if name in self.numeric else pd.Series(values, dtype=object)
                for name, values in self.columns.items()
            }
        )
        frame.index = pd.Index([(self.n_rows - 1 - row) // 2 for row in range(self.n_rows)])
        return Microdata(
            frame,
            roles={**dict.fromkeys(self.quasi, "quasi-identifier"), self.secret: "sensitive", "*": "insensitive"},
            kinds={name: "numeric" if name in self.numeric else "nominal" for name in self.columns},
            hierarchies={name: Hierarchy(paths) for name, paths in self.paths.items()},
        )

    def releases(self) -> dict[str, Release]:
        """Generalization and bucketization with these groups, made once for all that look at them."""
        return self._releases

    @cached_property
    def _releases(self) -> dict[str, Release]:
        data = self.data()
        partition = Partition(np.array(self.group, dtype=np.int32))
        buckets = (
            fragment(data, "quasi-identifiers", partition, self.quasi),
            fragment(data, "sensitive", partition, [self.secret]),
        )
        return {"generalized": generalized(data, self.group), "bucketized": Release(data, buckets)}


Column = Callable[[Random, int], list[Any]]


def few(random: Random, n: int) -> list[Any]:
    return [float(random.randint(0, 5)) for _ in range(n)]


def with_gaps(random: Random, n: int) -> list[Any]:
    return [random.choice([None, 1.5, 2.0, 40.0]) for _ in range(n)]


def constant(random: Random, n: int) -> list[Any]:
    return [7.0] * n


def all_unique(random: Random, n: int) -> list[Any]:
    return random.sample([float(number) for number in range(-n, 2 * n)], n)


def huge(random: Random, n: int) -> list[Any]:
    return [random.choice([-1.0, 1.0]) * random.randint(0, 10**12) for _ in range(n)]


def none_known(random: Random, n: int) -> list[Any]:
    return [None] * n


def one_known(random: Random, n: int) -> list[Any]:
    return [random.choice([None, 3.0]) for _ in range(n)]


NUMBERS: dict[str, Column] = {
    "few": few,
    "with-gaps": with_gaps,
    "constant": constant,
    "all-unique": all_unique,
    "huge": huge,
    "none-known": none_known,
    "one-known": one_known,
}
SIZES = {"one-row": 1, "two-rows": 2, "small": 7, "medium": 40}
GROUPINGS = ("one-class", "each-alone", "random", "uneven")
TABLES_PER_SHAPE = 12
SHAPES = [pytest.param(name, marks=() if name == "with-gaps" else pytest.mark.slow) for name in NUMBERS]
"""One of the shapes of numbers in the quick tests, the others among the slow ones."""
SEEDS = [pytest.param(range(4), id="few-tables"), pytest.param(range(4, 40), id="many-tables", marks=pytest.mark.slow)]
"""A few random tables in the quick tests, many more among the slow ones."""


def groups(random: Random, how: str, n: int) -> list[int]:
    if how == "one-class":
        return [0] * n
    if how == "each-alone":
        return random.sample(range(n), n)
    drawn = [random.randint(0, 3) if how == "random" or random.random() < 0.2 else 0 for _ in range(n)]
    known = {group: place for place, group in enumerate(dict.fromkeys(drawn))}
    return [known[group] for group in drawn]


def texts(random: Random, values: list[Any], n: int) -> list[Any]:
    """Values of the list, sometimes with missing ones, sometimes all the same, sometimes all different."""
    how = random.random()
    if how < 0.15:
        return [random.choice(values)] * n
    chosen = [random.choice(values) for _ in range(n)]
    return [None if how < 0.5 and random.random() < 0.3 else value for value in chosen]


@cache
def tables(numbers: str) -> tuple[Table, ...]:
    """The random tables of one shape of numbers: of every size and grouping, with three kinds of secrets."""
    return tuple(_drawn(numbers))


def _drawn(numbers: str) -> Iterator[Table]:
    for seed in range(TABLES_PER_SHAPE * len(GROUPINGS)):
        random = Random(f"{numbers} {seed}")
        n = SIZES[random.choice(list(SIZES))]
        columns = {
            "age": NUMBERS[numbers](random, n),
            "town": texts(random, TOWNS, n) if seed % 5 else [f"town {row}" for row in range(n)],
            "work": texts(random, list(WORK), n),
        }
        secret = ("number", "text", "tree")[seed % 3]
        numeric, paths = {"age"}, {"work": WORK}
        if secret == "number":
            columns["secret"] = NUMBERS[random.choice(list(NUMBERS))](random, n)
            numeric.add("secret")
        elif secret == "text":
            columns["secret"] = texts(random, TOWNS, n)
        else:
            columns["secret"] = texts(random, list(ILL), n)
            paths["secret"] = ILL
        yield Table(columns, groups(random, GROUPINGS[seed % len(GROUPINGS)], n), paths, frozenset(numeric))
