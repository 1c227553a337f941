"""How far one column of a table tells another: the rows whose value the other rows with the same value show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from anoncore.kernels.arrays import Codes, Int64
from anoncore.table.keys import dense_key, occurring_pairs

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


def close_relations(
    codes: Mapping[str, Codes], free: tuple[str, ...], tagged: tuple[str, ...], sample: Int64
) -> list[Relation]:
    """Free columns that tell a tagged one, or that a tagged one tells, of all or nearly all rows.

    Single columns come first. Two free columns that together tell a tagged one, and two tagged columns that together
    tell a free one, follow where neither of the two does so alone. `sample` are the rows on which pairs are tried
    before those that seem to tell something are counted on all rows.
    """
    n_rows = len(next(iter(codes.values()), ()))
    # A value that stands in a single row is neither told nor tells, so a column of many such values cannot be close.
    able = {name for name in (*free, *tagged) if _repeated(codes[name]) >= NEARLY * n_rows}
    guess = {name: _guessed(codes[name]) / n_rows for name in able}
    free, tagged = (tuple(name for name in names if name in able and guess[name] < 1) for names in (free, tagged))
    found: list[Relation] = []
    for one in free:
        for other in tagged:
            there, back = told_rows(codes[one], codes[other])
            found.append(Relation((one,), other, there / n_rows, guess[other]))
            found.append(Relation((other,), one, back / n_rows, guess[one]))
    found = [one for one in found if one.is_close]
    single = {(one.telling[0], one.told) for one in found}
    forth = _by_pairs(codes, free, tagged, single, guess, sample)
    return found + forth + _by_pairs(codes, tagged, free, single, guess, sample)


def _by_pairs(
    codes: Mapping[str, Codes],
    telling: tuple[str, ...],
    told: tuple[str, ...],
    single: set[tuple[str, str]],
    guess: Mapping[str, float],
    sample: Int64,
) -> list[Relation]:
    """Pairs of columns that tell another one which neither of them tells alone."""
    found = []
    telling, told = telling[:MOST_PAIRED], told[:MOST_PAIRED]
    some = {name: codes[name][sample] for name in (*telling, *told)}
    some_guess = {name: _guessed(some[name]) / len(sample) for name in told}
    for pair in combinations(telling, 2):
        key: Int64 | None = None
        few = dense_key((some[name] for name in pair), len(sample))
        for name in told:
            alone = any((one, name) in single for one in pair)
            if alone or not _relation(pair, name, few, some[name], some_guess[name]).is_close:
                continue
            if key is None:
                key = dense_key((codes[one] for one in pair), len(codes[name]))
            found.append(_relation(pair, name, key, codes[name], guess[name]))
    return [one for one in found if one.is_close]


def _relation(pair: tuple[str, ...], told: str, key: Int64, codes: Codes, guessing: float) -> Relation:
    return Relation(pair, told, told_rows(key, codes)[0] / len(codes), guessing)


def told_rows(one: Codes | Int64, other: Codes | Int64) -> tuple[int, int]:
    """Rows whose `other` the column `one` tells, and rows whose `one` the column `other` tells."""
    n_one, n_other = int(one.max()) + 1, int(other.max()) + 1
    first, second, counts = occurring_pairs(one, other, n_one, n_other)
    return _right(first, counts, n_one), _right(second, counts, n_other)


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


def _guessed(codes: Codes) -> int:
    """Rows that have the most frequent value."""
    return int(np.bincount(codes).max())


def _repeated(codes: Codes) -> int:
    """Rows whose value stands in another row too."""
    counts = np.bincount(codes)
    return int(counts[counts > 1].sum())


@dataclass(frozen=True)
class Split:
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


def split_groups(
    group: Codes | Int64, columns: Mapping[str, Codes | Int64], k: int, people: Codes | None = None
) -> Split:
    """The sizes of groups before and after their rows are told apart by the columns.

    `people` numbers whose row each is, where several may be of one person: sizes then count different people, and the
    rows are those of groups with fewer than k of them.
    """
    smallest_before, below_before = _smallest_and_below(dense_key((group,), len(group)), k, people)
    smallest, below = _smallest_and_below(dense_key((group, *columns.values()), len(group)), k, people)
    return Split(tuple(columns), k, smallest, smallest_before, below, below_before)


def rows_below(group: Codes | Int64, k: int, people: Codes | None = None) -> int:
    """The number of rows in groups of fewer than k rows or, where `people` numbers whose row each is, people."""
    return _smallest_and_below(dense_key((group,), len(group)), k, people)[1]


def _smallest_and_below(key: Int64, k: int, people: Codes | None) -> tuple[int, int]:
    rows = np.bincount(key)
    sizes = rows
    if people is not None:
        width = int(people.max()) + 1
        sizes = np.bincount(np.unique(key * width + people) // width)
    return int(sizes.min()), int(rows[sizes < k].sum())
