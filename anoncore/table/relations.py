"""How far one column of a table tells another: the rows whose value the other rows with the same value show."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np

from anoncore.base.showing import Result
from anoncore.kernels.arrays import Codes, Int64
from anoncore.kernels.grouping import dense_key, occurring_pairs
from anoncore.table.people import distinct_pairs

NEARLY = 0.9
"""Share of the wrong guesses that a column must put right to count as one that nearly tells another."""
MOST_PAIRED = 12
"""Columns of either side that are tried in pairs."""


@dataclass(frozen=True)
class Relation:
    """How far one or two columns tell another one.

    A row's value is told if it is the most frequent one, by more than a tie, among the other rows that have the same
    value in `telling`. The row itself does not count: a column whose values are all different tells nothing that a
    reader of the table did not know before.

    Attributes
    ----------
    telling : tuple of str
        The columns that are looked at: one, or two together.
    told : str
        The column whose values they tell.
    share : float
        Share of the rows whose value is told.
    guessing : float
        Share of the rows with the most frequent value: what guessing that value for everybody gets.

    Examples
    --------
    >>> from anoncore.table.relations import Relation
    >>> Relation(("education-num",), "education", share=1.0, guessing=0.33).is_close
    True
    """

    telling: tuple[str, ...]
    told: str
    share: float
    guessing: float

    @property
    def strength(self) -> float:
        """Share of the wrong guesses that are put right, from 0 to 1 (Goodman and Kruskal's lambda)."""
        return (self.share - self.guessing) / (1 - self.guessing) if self.guessing < 1 else 0.0

    @property
    def is_close(self) -> bool:
        """Whether the column is told of all or nearly all rows."""
        return self.strength >= NEARLY


class CountedColumns(Protocol):
    """A table somewhere, known by how often values and combinations of values occur.

    `n_rows` is the number of its rows.
    """

    n_rows: int

    def counts(self, name: str) -> Int64 | None:
        """Rows of each value of a column, in whatever order; None where there are too many values to count."""

    def pairs(self, telling: tuple[str, ...], told: str) -> tuple[Int64, Int64, Int64] | None:
        """The combinations that occur: a number for what stands in `telling`, a number for what stands in `told`, and
        the rows that have both, each (n_combinations,); None where there are too many.
        """

    def sample(self, names: Collection[str]) -> Mapping[str, Codes]:
        """Codes of the same few rows of some columns."""


class CodedColumns:
    """Columns in memory, as `CountedColumns` asks for them; `rows` are those of the sample."""

    def __init__(self, codes: Mapping[str, Codes], rows: Int64) -> None:
        self._codes, self._rows = codes, rows
        self.n_rows = len(next(iter(codes.values()), ()))
        self._key: tuple[tuple[str, ...], Codes | Int64] | None = None

    def counts(self, name: str) -> Int64:
        """Rows of each code."""
        return np.bincount(self._codes[name]).astype(np.int64)

    def pairs(self, telling: tuple[str, ...], told: str) -> tuple[Int64, Int64, Int64]:
        """The combinations that occur, of codes or, where two columns tell, of numbers for both together."""
        if self._key is None or self._key[0] != telling:
            first = self._codes[telling[0]]
            key = first if len(telling) == 1 else dense_key((self._codes[name] for name in telling), self.n_rows)
            self._key = telling, key
        key, other = self._key[1], self._codes[told]
        return occurring_pairs(key, other)

    def sample(self, names: Collection[str]) -> Mapping[str, Codes]:
        """The codes of the chosen rows."""
        return {name: self._codes[name][self._rows] for name in names}


def close_relations(
    codes: Mapping[str, Codes], free: tuple[str, ...], tagged: tuple[str, ...], sample: Int64
) -> list[Relation]:
    """Free columns that tell a tagged one, or that a tagged one tells; see `counted_relations`.

    `sample` are the rows on which pairs are tried before those that seem to tell something are counted on all rows.
    """
    return counted_relations(CodedColumns(codes, sample), free, tagged)


def counted_relations(table: CountedColumns, free: tuple[str, ...], tagged: tuple[str, ...]) -> list[Relation]:
    """Free columns that tell a tagged one, or that a tagged one tells, of all or nearly all rows.

    Single columns come first. Two free columns that together tell a tagged one, and two tagged columns that together
    tell a free one, follow where neither of the two does so alone; they are tried on a sample before they are counted.
    What the table cannot count is passed over.
    """
    n_rows = table.n_rows
    guess: dict[str, float] = {}
    for name in (*free, *tagged):
        counts = table.counts(name)
        # A value that stands in a single row is neither told nor tells, so a column of many such values cannot be
        # close. Nor is there anything to tell where all rows have one value.
        if counts is not None and _repeated(counts) >= NEARLY * n_rows and len(counts) and counts.max() < n_rows:
            guess[name] = int(counts.max()) / n_rows
    free, tagged = (tuple(name for name in names if name in guess) for names in (free, tagged))
    found: list[Relation] = []
    for one in free:
        for other in tagged:
            pairs = table.pairs((one,), other)
            if pairs is not None:
                there, back = told_of_pairs(*pairs)
                found.append(Relation((one,), other, there / n_rows, guess[other]))
                found.append(Relation((other,), one, back / n_rows, guess[one]))
    found = [one for one in found if one.is_close]
    single = {(one.telling[0], one.told) for one in found}
    forth = _by_pairs(table, free, tagged, single, guess)
    return found + forth + _by_pairs(table, tagged, free, single, guess)


def _by_pairs(
    table: CountedColumns,
    telling: tuple[str, ...],
    told: tuple[str, ...],
    single: set[tuple[str, str]],
    guess: Mapping[str, float],
) -> list[Relation]:
    """Pairs of columns that tell another one which neither of them tells alone."""
    found = []
    telling, told = telling[:MOST_PAIRED], told[:MOST_PAIRED]
    if len(telling) < 2 or not told:
        return []
    some = table.sample((*telling, *told))
    n_some = len(some[told[0]])
    some_guess = {name: int(np.bincount(some[name]).max()) / n_some for name in told}
    for pair in combinations(telling, 2):
        few = dense_key((some[name] for name in pair), n_some)
        for name in told:
            alone = any((one, name) in single for one in pair)
            if alone or not Relation(pair, name, told_rows(few, some[name])[0] / n_some, some_guess[name]).is_close:
                continue
            pairs = table.pairs(pair, name)
            if pairs is not None:
                found.append(Relation(pair, name, told_of_pairs(*pairs)[0] / table.n_rows, guess[name]))
    return [one for one in found if one.is_close]


def told_rows(one: Codes | Int64, other: Codes | Int64) -> tuple[int, int]:
    """Rows whose `other` the column `one` tells, and rows whose `one` the column `other` tells."""
    return told_of_pairs(*occurring_pairs(one, other))


def told_of_pairs(one: Int64, other: Int64, counts: Int64) -> tuple[int, int]:
    """As `told_rows`, of the pairs that occur and the rows of each."""
    return _right(one, counts, int(one.max()) + 1), _right(other, counts, int(other.max()) + 1)


def _right(owner: Int64, counts: Int64, n_owners: int) -> int:
    """Rows that are told: those of each owner's largest count, where it is ahead also without the row itself."""
    largest = np.zeros(n_owners, dtype=np.int64)
    np.maximum.at(largest, owner, counts)
    is_largest = counts == largest[owner]
    second = np.zeros(n_owners, dtype=np.int64)
    np.maximum.at(second, owner[~is_largest], counts[~is_largest])
    # Two values that share the largest count are a tie, which the second largest count has to say.
    tied = np.bincount(owner[is_largest], minlength=n_owners) > 1
    second[tied] = largest[tied]
    return int(largest[largest - 1 > second].sum())


def _repeated(counts: Int64) -> int:
    """Rows whose value stands in another row too, by the rows of each value."""
    return int(counts[counts > 1].sum())


@dataclass(frozen=True)
class Split(Result):
    """What becomes of groups when their rows are told apart by further columns.

    Attributes
    ----------
    columns : tuple of str
        The columns that tell the rows apart.
    k : int
        The size that groups should have.
    smallest, smallest_before : int
        Size of the smallest group with and without the columns, in rows or, where a unit is given, in people.
    n_below, n_below_before : int
        Rows in groups of fewer than k, with and without the columns.
    """

    columns: tuple[str, ...]
    k: int
    smallest: int
    smallest_before: int
    n_below: int
    n_below_before: int


def smallest_and_below(key: Int64, k: int, people: Codes | None) -> tuple[int, int]:
    """The size of the smallest group and the rows in groups of fewer than k; `key` numbers groups without gaps."""
    rows = np.bincount(key)
    sizes = rows if people is None else distinct_pairs(people, key, len(rows))
    return int(sizes.min()), int(rows[sizes < k].sum())
