"""The published cells, numbered, with which an adversary compares a person's quasi-identifiers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from anoncore.kernels.arrays import Codes, Floats, Int64, runs_from, starts_of
from anoncore.privacy.published import published_values
from anoncore.release.partition import Partition
from anoncore.release.recoding import Exact, Generalized, GroupValues
from anoncore.release.release import Fragment
from anoncore.table.keys import DENSE, dense_key


def published_key(fragment: Fragment, known: Collection[str]) -> Int64:
    """Rows numbered by what the fragment publishes of the known attributes, int64 (n_rows,)."""
    recodings = [recoding for name, recoding in fragment.recodings.items() if name in known]
    return dense_key((column for one in recodings for column in one.content()), fragment.partition.n_rows)


def key_inside_groups(fragment: Fragment, known: Collection[str]) -> Int64:
    """Rows numbered by the known attributes that tell people of one group apart, int64 (n_rows,).

    Left out are cells that all rows of a group share; of all others the adversary compares what is published.
    """
    told = [
        name
        for name, recoding in fragment.recodings.items()
        if name in known and not isinstance(recoding, Generalized | GroupValues)
    ]
    return published_key(fragment, told)


def _people_of(of_row: Int64 | Codes, people: Codes, size: int = 0) -> Int64:
    """How many different people the rows of each number have, int64 (n_numbers,), at least `size` of them."""
    n_people = int(people.max()) + 1
    pairs = np.unique(of_row.astype(np.int64) * n_people + people)
    return np.bincount(pairs // n_people, minlength=size)


@dataclass(frozen=True, eq=False)
class Cells:
    """What a fragment shows of each value in each group: one cell per group and value that occurs in it.

    Cells are sorted by group, then value. `of_row` int64 (n_rows,) is the cell of each row; `group`, `value`, `count`
    and `share` (of the group's rows) have one entry per cell. Where one person may have several rows, `people` int32
    (n_rows,) says whose each row is, and `count` and `share` are of different people.
    """

    of_row: Int64
    group: Int64
    value: Int64
    count: Int64
    share: Floats
    people: Codes | None = None

    @classmethod
    def of(cls, partition: Partition, key: Int64, people: Codes | None = None) -> Cells:
        """The cells of a partition whose rows are numbered by `key`, int64 (n_rows,), from 0 without gaps."""
        size = int(key.max()) + 1
        combined, of_row, count = np.unique(
            partition.group.astype(np.int64) * size + key, return_inverse=True, return_counts=True
        )
        group, value = np.divmod(combined, size)
        if people is not None:
            count = _people_of(of_row, people, len(combined))
            return cls(of_row, group, value, count, count / _people_of(partition.group, people)[group], people)
        return cls(of_row, group, value, count, count / partition.sizes[group])

    def __len__(self) -> int:
        return len(self.group)


@dataclass(frozen=True, eq=False)
class Entries:
    """Sensitive values of each cell: codes `code[start[c]:start[c + 1]]` with their shares of the cell."""

    start: Int64
    code: Int64
    share: Floats

    @classmethod
    def of(cls, fragment: Fragment, cells: Cells, attribute: str, n_codes: int) -> Entries:
        """Values of a sensitive attribute as the fragment publishes them beside the cells.

        Where a group has only a set of values, each of them is equally likely for every cell of the group.
        """
        partition, codes = published_values(fragment, attribute)
        if isinstance(fragment.recodings[attribute], Exact):
            pairs, of_row, count = np.unique(cells.of_row * n_codes + codes, return_inverse=True, return_counts=True)
            if cells.people is not None:
                count = _people_of(of_row, cells.people, len(pairs))
            cell, code = np.divmod(pairs, n_codes)
            start = np.searchsorted(cell, np.arange(len(cells) + 1))
            return cls(start, code, count / cells.count[cell])
        sizes = partition.sizes[cells.group]
        positions = runs_from(partition.starts[cells.group], sizes)
        return cls(starts_of(sizes), codes[positions].astype(np.int64), np.repeat(1 / sizes, sizes))

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def sizes(self) -> Int64:
        """Number of values of each cell, int64 (n_cells,)."""
        return np.diff(self.start)

    @property
    def cell(self) -> Int64:
        """The cell of each entry, int64 (n_entries,)."""
        return np.repeat(np.arange(len(self)), self.sizes)

    @property
    def totals(self) -> Floats:
        """What the shares of each cell add up to: 1, or more where a person may have several values."""
        sums = np.add.reduceat(self.share, self.start[:-1])
        return np.where(np.abs(sums - 1) < 1e-9, 1.0, sums)

    def some(self, cells: Int64) -> Entries:
        """The entries of some cells, in their order."""
        sizes = self.sizes[cells]
        at = runs_from(self.start[cells], sizes)
        return Entries(starts_of(sizes), self.code[at], self.share[at])

    def share_of(self, cells: Int64, codes: Int64 | Codes, n_codes: int) -> Floats:
        """The share that some codes have in some cells, float (len(cells),); codes ascend within each cell."""
        if len(self) * n_codes <= DENSE * (len(self.code) + len(cells)):
            return self.dense(n_codes)[cells, codes]
        keys, wanted = self.cell * n_codes + self.code, cells * n_codes + codes
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, self.share[place], 0.0)

    def dense(self, n_codes: int) -> Floats:
        """Share of every code in each cell, (n_cells, n_codes): for cells of which few are looked at together."""
        shares = np.zeros((len(self), n_codes))
        shares[self.cell, self.code] = self.share
        return shares
