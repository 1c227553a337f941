"""What a method refused to publish, as its readers can tell: groups of rows of which at least one breaks a rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from anoncore.base.errors import ReleaseError
from anoncore.kernels.arrays import Int64, record
from anoncore.kernels.grouping import distinct, starts_of
from anoncore.kernels.refused_groups import groups_hold
from anoncore.release.partition import Partition
from anoncore.requirements import CheckSet, Requirement
from anoncore.table.microdata import Microdata

MOST_ENTRIES = 20_000_000
"""Row numbers that the groups of all refusals may hold together; further refusals are left out."""
OTHER = "The release is not the one that its method makes of this table, so what the method refused is not known."


@record
class Refusals:
    """Everything that a method refused on the way to a release, as far as its readers can tell.

    A refusal is a way to group some rows that the method would have taken before what it published. Because it did not,
    at least one group of the refusal breaks a requirement. Refusals of which sizes alone tell that are left out.

    Attributes
    ----------
    requirements : tuple of Requirement
        The requirements of the method.
    rows : ndarray of int64, shape (n_entries,)
        The rows of all groups, one group after the other.
    group_start : ndarray of int64, shape (n_groups + 1,)
        Where each group begins in `rows`.
    refusal_start : ndarray of int64, shape (n_refusals + 1,)
        Where each refusal begins among the groups.
    complete : bool
        Whether the refusals are all that the method's choices tell: every table with these classes and these refusals
        is published in the same way.
    limits : str
        Where they are not complete: what is left out, as a sentence.
    """

    requirements: Sequence[Requirement]
    rows: Int64
    group_start: Int64
    refusal_start: Int64
    complete: bool
    limits: str = ""

    def __len__(self) -> int:
        return len(self.refusal_start) - 1


@dataclass(eq=False)
class RefusalList:
    """Gathers the refusals of one release while the method's steps are followed.

    `known` are the classes that are published, of which readers can count everything; `checks` judges groups of rows.
    """

    data: Microdata
    requirements: Sequence[Requirement]
    known: Partition
    checks: CheckSet = field(init=False)
    limits: list[str] = field(default_factory=list)
    _groups: list[Int64] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)
    _seen: set[tuple[int, ...]] = field(default_factory=set)
    _n_entries: int = 0

    def __post_init__(self) -> None:
        self.checks = CheckSet(self.requirements, self.data)
        self._kernel = self.checks.kernel
        self._words = np.random.default_rng(11).integers(0, 2**64, self.data.n_rows, dtype=np.uint64)

    @property
    def reads_secrets(self) -> bool:
        """Whether any requirement looks at a sensitive attribute; if none does, no refusal tells anything."""
        return len(self.checks.views) > 0

    def hold(self, groups: Sequence[Int64]) -> bool:
        """Whether all groups satisfy the requirements, with the values that the rows really have.

        Readers can tell this of groups that are made of whole classes.
        """
        starts = starts_of(map(len, groups))
        return bool(groups_hold(self._kernel, self.checks.cells, np.concatenate(groups), starts).all())

    def is_published(self, groups: Iterable[Int64]) -> bool:
        """Whether no class has rows in several of the groups, which together hold whole classes."""
        seen = np.concatenate([distinct(self.known.group[rows]) for rows in groups])
        return len(distinct(seen)) == len(seen)

    def add(self, groups: Sequence[Int64]) -> None:
        """Remember that at least one of the groups breaks a requirement.

        Raises ReleaseError where in this very table none does: a method that followed its rules refused no such groups.
        """
        if not self.reads_secrets or min(map(len, groups)) < self._kernel.minimum_rows:
            return
        # Of a group of whole classes the counts are published. If it breaks a requirement, nothing new is told; if it
        # holds, another group of the refusal is the one that does not.
        open_groups = []
        for rows in groups:
            if not self._is_whole(rows):
                open_groups.append(rows)
            elif not self.hold([rows]):
                return
        # The sum of a random word per row tells sets of rows apart, but for a chance of 2^-64.
        word = tuple(sorted(int(self._words[rows].sum()) for rows in open_groups))
        if word in self._seen:
            return
        self._seen.add(word)
        if not open_groups or self.hold(open_groups):
            raise ReleaseError(OTHER)
        size = sum(map(len, open_groups))
        if self._n_entries + size > MOST_ENTRIES:
            self.leave_out("There are more refusals than are looked at.")
            return
        self._n_entries += size
        self._groups += open_groups
        self._sizes.append(len(open_groups))

    def leave_out(self, sentence: str) -> None:
        """Note something that the method's choices tell and that no refusal says."""
        if sentence not in self.limits:
            self.limits.append(sentence)

    def _is_whole(self, rows: Int64) -> bool:
        classes, counts = np.unique(self.known.group[rows], return_counts=True)
        return bool((counts == self.known.sizes[classes]).all())

    def finish(self) -> Refusals:
        """All refusals as arrays."""
        rows = np.concatenate([*self._groups, np.zeros(0, np.int64)]).astype(np.int64)
        return Refusals(
            requirements=self.requirements,
            rows=rows,
            group_start=starts_of(map(len, self._groups)),
            refusal_start=starts_of(self._sizes),
            complete=not self.limits,
            limits=" ".join(self.limits),
        )
