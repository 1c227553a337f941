"""Beliefs of readers who know what a method refused: worlds counted or drawn, class by linked class."""

from __future__ import annotations

from itertools import pairwise
from math import lgamma, log
from typing import TYPE_CHECKING

import numpy as np

from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Floats, Int32, Int64, record
from anoncore.kernels.grouping import distinct, grouped_rows, owners, starts_of
from anoncore.kernels.refused_groups import RefusedGroups, all_worlds, drawn_worlds
from anoncore.privacy.refusals import Refusals
from anoncore.release.release import Release
from anoncore.requirements import CheckSet
from anoncore.table.microdata import SensitiveValues

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_COUNTED = 20_000
"""Worlds of linked classes up to which all are counted."""
FEWEST_KEPT = 100
"""Worlds that must be kept of those drawn; with fewer, some refusals are set aside."""
MOST_WORK = 500_000_000
"""Rows counted in worlds for one release; it is shared among the linked classes by their number of rows."""
LEAST_WORK = 100_000
"""Rows counted in worlds that any linked classes may take."""


@record
class Beliefs:
    """Beliefs by signature: people whom the readers cannot tell apart.

    `probability` float (n_signatures, m), `signature` int64 (n_rows,) says which signature each row has, and `drawn`
    int64 (n_signatures,) how many worlds were drawn and kept for a belief, 0 where it is exact.
    """

    probability: Floats
    signature: Int64
    drawn: Int64
    n_used: int
    n_worlds: int


def beliefs_by_refusals(
    release: Release, view: SensitiveValues, refusals: Refusals, wanted: int, seed: int, progress: Progress
) -> Beliefs:
    """The belief about each person that is left when every world must agree with the refusals.

    Parameters
    ----------
    release : Release
        The release.
    view : SensitiveValues
        The attacked attribute.
    refusals : Refusals
        What the method refused.
    wanted : int
        Worlds to keep of classes that are not counted in full.
    seed : int
        Makes the draw repeatable.
    progress : callable
        Called with the share done and a text.

    Returns
    -------
    Beliefs
        The beliefs.
    """
    return _Readers(release, view, refusals, wanted, seed).run(progress)


class _Readers:
    """The beliefs of one release while linked classes are looked at one after the other."""

    def __init__(self, release: Release, view: SensitiveValues, refusals: Refusals, wanted: int, seed: int) -> None:
        self.partition, self.view, self.refusals = release.partition, view, refusals
        self.wanted, self.rng = wanted, np.random.default_rng(seed)
        checks = CheckSet(refusals.requirements, release.data)
        self.checks = checks.kernel
        columns = np.column_stack([checks.cells, view.codes])
        values, record = np.unique(columns, axis=0, return_inverse=True)
        self.record: Int32 = record.ravel().astype(np.int32)
        self.refused = RefusedGroups(
            cells=np.ascontiguousarray(values[:, :-1]),
            secret=np.ascontiguousarray(values[:, -1]),
            rows=refusals.rows,
            group_start=refusals.group_start,
            refusal_start=refusals.refusal_start,
        )
        self.classes_of = self._links()
        self.word = self.rng.integers(0, 2**63, len(refusals.group_start) - 1, dtype=np.uint64)
        self.of_row = np.zeros(len(self.record), np.uint64)
        counts = self.partition.histogram(view.codes, view.size)
        self.probability: list[Floats] = [counts / self.partition.sizes[:, None]]
        self.drawn = [np.zeros(self.partition.n_groups, np.int64)]
        self.signature = self.partition.group.astype(np.int64)
        self.n_signatures = self.partition.n_groups
        self.n_used = self.n_worlds = self.n_settled = 0

    def _links(self) -> csr_array:
        """Which refusals have rows in which classes, (n_refusals, n_classes)."""
        from scipy.sparse import csr_array

        refusals = self.refusals
        of_group = owners(np.diff(refusals.refusal_start))
        of_entry = np.repeat(of_group, np.diff(refusals.group_start))
        pairs = distinct(of_entry * self.partition.n_groups + self.partition.group[refusals.rows])
        shape = (len(refusals), self.partition.n_groups)
        refusal, group = pairs // self.partition.n_groups, pairs % self.partition.n_groups
        return csr_array((np.ones(len(pairs), np.int32), (refusal, group)), shape=shape)

    def run(self, progress: Progress) -> Beliefs:
        """Look at all classes that a refusal touches."""
        waiting = self._linked(np.arange(len(self.refusals)))
        self.n_rows = max(sum(int(self.partition.sizes[classes].sum()) for classes, _ in waiting), 1)
        while waiting:
            progress(0.2 + 0.8 * self.n_settled / self.n_rows, f"{self.n_settled:,} of {self.n_rows:,} people")
            classes, chosen = waiting.pop()
            if not self._look(classes, chosen):
                waiting += self._linked(self._fewer(chosen))
        return Beliefs(
            np.concatenate(self.probability), self.signature, np.concatenate(self.drawn), self.n_used, self.n_worlds
        )

    def _linked(self, chosen: Int64) -> list[tuple[Int64, Int64]]:
        """Classes that these refusals link, directly or through others, with the refusals that link them."""
        if not len(chosen):
            return []
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        links = self.classes_of[chosen]
        n = len(chosen)
        touched = distinct(links.indices)
        column = np.searchsorted(touched, links.indices)
        edges = (owners(np.diff(links.indptr)), n + column)
        graph = csr_array((np.ones(len(column)), edges), shape=(n + len(touched), n + len(touched)))
        n_sets, label = connected_components(graph, directed=False)
        sets: list[tuple[Int64, Int64]] = []
        by_class, class_starts = grouped_rows(label[n:], n_sets)
        by_refusal, refusal_starts = grouped_rows(label[:n], n_sets)
        for classes, refusals in zip(
            np.split(touched[by_class], class_starts[1:-1]),
            np.split(chosen[by_refusal], refusal_starts[1:-1]),
            strict=True,
        ):
            sets.append((classes.astype(np.int64), refusals))
        return sets

    def _fewer(self, chosen: Int64) -> Int64:
        """The refusals without those that link most classes or, where all link equally many, without half of them."""
        spread = np.diff(self.classes_of.indptr)[chosen]
        if spread.min() < spread.max():
            return (
                chosen[spread <= np.median(spread)]
                if np.median(spread) < spread.max()
                else chosen[spread < spread.max()]
            )
        return chosen[: len(chosen) // 2]

    def _look(self, classes: Int64, chosen: Int64) -> bool:
        """Count or draw the worlds of some classes, and take over the beliefs; False where too few worlds are kept."""
        members = np.concatenate([self.partition.rows(group) for group in classes]).astype(np.int64)
        starts = starts_of(self.partition.sizes[classes])
        signature, own = self._signatures(members, chosen)
        tally = np.zeros((len(own), self.view.size), np.int64)
        given = self.record[members].copy()
        if self._n_worlds(classes) <= log(MOST_COUNTED):
            for begin, end in pairwise(starts):
                self.record[members[begin:end]] = np.sort(self.record[members[begin:end]])
            kept, _ = all_worlds(self.checks, self.refused, chosen, self.record, members, starts, signature, tally)
            drawn = 0
        else:
            work = max(int(MOST_WORK * len(members) / self.n_rows), LEAST_WORK)
            links = self.classes_of[chosen]
            kept, _, _ = drawn_worlds(
                self.checks,
                self.refused,
                chosen,
                links.indptr.astype(np.int64),
                np.searchsorted(classes, links.indices),
                self.record,
                members,
                starts,
                signature,
                tally,
                self.wanted,
                work,
                int(self.rng.integers(2**31)),
            )
            drawn = kept
        self.record[members] = given
        if kept == 0 or 0 < drawn < FEWEST_KEPT:
            return False
        self.probability.append(tally / (kept * own[:, None]))
        self.drawn.append(np.full(len(own), drawn, np.int64))
        self.signature[members] = self.n_signatures + signature
        self.n_signatures += len(own)
        self.n_settled += len(members)
        self.n_used += len(chosen)
        self.n_worlds += kept
        return True

    def _signatures(self, members: Int64, chosen: Int64) -> tuple[Int64, Int64]:
        """Whom the readers cannot tell apart: people of one class who lie in the same refused groups.

        Returns the signature of each member, and the number of people of each.
        """
        word = self.of_row
        first, last = self.refusals.refusal_start[chosen], self.refusals.refusal_start[chosen + 1]
        for group in np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)]):
            rows = self.refusals.rows[self.refusals.group_start[group] : self.refusals.group_start[group + 1]]
            word[rows] += self.word[group]
        keys = np.column_stack((word[members], self.partition.group[members].astype(np.uint64)))
        word[members] = 0
        _, signature, own = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        return signature.ravel().astype(np.int64), own

    def _n_worlds(self, classes: Int64) -> float:
        """The logarithm of the number of different worlds of some classes."""
        total = 0.0
        for group in classes:
            counts = np.bincount(self.record[self.partition.rows(group)])
            total += lgamma(counts.sum() + 1) - sum(lgamma(count + 1) for count in counts[counts > 1])
        return total
