"""Joins of the classes of fragments on a common attribute: every joined row and every way to fill a class."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

Filled = list[Any]
"""The common values of the rows of one class."""


def joined_rows(classes: Sequence[Filled]) -> list[Any]:
    """The join of one class of each fragment: one row for every choice of rows that have the same value."""
    return [rows[0] for rows in product(*classes) if len(set(rows)) == 1]


def fillings(values: Sequence[Any], size: int) -> list[Filled]:
    """Every way to fill a class of which only the set of values is published: each value has one row or more."""
    return [
        [value for value, count in zip(values, counts, strict=True) for _ in range(count)]
        for counts in product(range(1, size + 1), repeat=len(values))
        if sum(counts) == size
    ]


def expected_rows(classes: Sequence[list[Filled]]) -> Fraction:
    """Rows of the join of one class of each fragment, on average over every way to fill each of them."""
    rows = sum(len(joined_rows(filled)) for filled in product(*classes))
    return Fraction(rows, prod(map(len, classes)))


def eta(classes: Sequence[list[Filled]], k: int) -> Fraction | None:
    """Share of the ways to fill the classes in which their join has k rows; None where they have no value in common."""
    rows = [len(joined_rows(filled)) for filled in product(*classes)]
    if not all(rows):
        assert not any(rows), "a common value stands in every class, however it is filled"
        return None
    return Fraction(sum(one >= k for one in rows), len(rows))


def diversity(values: Sequence[Any]) -> float:
    """exp(entropy) of the values of some rows."""
    shares = [count / len(values) for count in Counter(values).values()]
    return math.exp(-sum(share * math.log(share) for share in shares))
