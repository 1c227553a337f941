"""The cuts that Mondrian refused, found by following the tree of its cuts down to the classes of a release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from anoncore.algorithms.cut_order import widest_first, widths
from anoncore.base.errors import ReleaseError
from anoncore.kernels.arrays import Codes, Int64, record
from anoncore.kernels.attributes import HIERARCHY
from anoncore.kernels.grouping import dense_key, put_at
from anoncore.privacy.refusals import OTHER, RefusalList, Refusals
from anoncore.release.release import Release
from anoncore.requirements import Requirement
from anoncore.table.domain import kernel_attributes

MOST_ENTRIES_OF_NODE = 200_000
"""Row numbers that the refused cuts of one node may hold; further cuts of it are left out."""
ALIKE = (
    "People who agree in all quasi-identifiers and are divided between two groups are divided by the order of their "
    "other values, which is not used."
)
EARLIER = "The cuts that this split tried before it found the ones that it made are not used."
LARGE = "Of large nodes only some of the refused cuts are used."


@record
class Cut:
    """A cut of a node: the rows of each side. `is_certain` is False where the secret decides who lies on which side."""

    sides: tuple[Int64, ...]
    is_certain: bool = True


def refused_cuts(release: Release, requirements: Sequence[Requirement], split: str, strict: bool) -> Refusals:
    """All cuts that readers of a release of Mondrian know to have been refused.

    Readers know everybody's quasi-identifiers and class. A cut that was tried and divides a class was refused. For the
    median every node of the tree is followed. The other splits weigh cuts by costs, so for them the classes alone
    count, of which every cut was refused.
    """
    found = RefusalList(release.data, requirements, release.partition)
    tree = _CutTree(release, found, strict)
    if not found.reads_secrets:
        if not strict and tree.divides_people_who_agree():
            found.leave_out(ALIKE)
    elif split == "median":
        tree.follow()
    else:
        found.leave_out(EARLIER)
        for group in range(release.partition.n_groups):
            tree.add_all(release.partition.rows(group).astype(np.int64))
    return found.finish()


class _CutTree:
    """The cuts of the nodes of a release's tree, in the order in which Mondrian tries them."""

    def __init__(self, release: Release, found: RefusalList, strict: bool) -> None:
        data = release.data
        self.data, self.found, self.strict = data, found, strict
        self.of_row = release.partition.group
        self.domains = [data.domain[name] for name in data.quasi_identifiers]
        self.codes: Codes = np.column_stack([data.codes[name] for name in data.quasi_identifiers])
        self.attributes = kernel_attributes(self.domains)
        self.least = max(found.checks.kernel.minimum_rows, 1)

    @cached_property
    def rank(self) -> Int64:
        """Where each row stands in the order of content, int64 (n_rows,)."""
        return put_at(self.data.canonical_order, np.arange(self.data.n_rows))

    @cached_property
    def likeness(self) -> Int64:
        """A number for each row, the same where all quasi-identifiers agree, int64 (n_rows,)."""
        return dense_key(self.codes.T, self.data.n_rows)

    def divides_people_who_agree(self) -> bool:
        """Whether people who agree in all quasi-identifiers lie in different classes."""
        kinds = int(self.likeness.max()) + 1
        lowest = np.full(kinds, np.iinfo(np.int32).max)
        highest = np.zeros(kinds, np.int32)
        np.minimum.at(lowest, self.likeness, self.of_row)
        np.maximum.at(highest, self.likeness, self.of_row)
        return bool((lowest < highest).any())

    def follow(self) -> None:
        """Go down from the whole table: of each node add what was refused before the cut that was made."""
        nodes = [np.arange(self.data.n_rows)]
        while nodes:
            rows = nodes.pop()
            if (self.of_row[rows] == self.of_row[rows[0]]).all():
                self.add_all(rows)
            else:
                nodes += self._made(rows)

    def add_all(self, rows: Int64) -> None:
        """Add every cut of a class as refused."""
        room = max(MOST_ENTRIES_OF_NODE, len(rows))
        for cut in self._cuts(rows):
            room -= len(rows)
            if room < 0:
                self.found.leave_out(LARGE)
                return
            self._refuse(cut)

    def _made(self, rows: Int64) -> tuple[Int64, ...]:
        """The sides of the cut that was made, after all that were tried before are added as refused."""
        room = max(MOST_ENTRIES_OF_NODE, len(rows))
        for cut in self._cuts(rows):
            if self.found.is_published(cut.sides):
                if self.found.hold(cut.sides):
                    if not cut.is_certain:
                        self.found.leave_out(ALIKE)
                    return cut.sides
                continue
            room -= len(rows)
            if room >= 0:
                self._refuse(cut)
            else:
                self.found.leave_out(LARGE)
        raise ReleaseError(OTHER)

    def _refuse(self, cut: Cut) -> None:
        if cut.is_certain:
            self.found.add(cut.sides)
        else:
            self.found.leave_out(ALIKE)

    def _cuts(self, rows: Int64) -> Iterator[Cut]:
        """All cuts of a node whose sides have enough rows, in the order in which they are tried."""
        if len(rows) < 2 * self.least or len(rows) < 2:
            return
        codes = self.codes[rows]
        low, high = codes.min(axis=0), codes.max(axis=0)
        for a in widest_first(widths(self.domains, self.attributes.span, low, high)):
            if self.attributes.form[a] == HIERARCHY:
                yield from self._children(rows, codes[:, a], a, low[a], high[a])
            else:
                yield from self._medians(rows, codes[:, a])
        for a in range(len(low)):
            if low[a] < high[a] and self.attributes.form[a] != HIERARCHY:
                yield from self._thresholds(rows, codes[:, a])

    def _children(self, rows: Int64, codes: Codes, a: int, low: int, high: int) -> Iterator[Cut]:
        """The cut into the children of the lowest node that holds all codes."""
        tree = self.domains[a].tree
        if tree is None:
            return
        children = tree.children_of(tree.node_over(low, high))
        sides = [rows[(codes >= tree.first[child]) & (codes <= tree.last[child])] for child in children]
        sides = [side for side in sides if len(side)]
        if min(map(len, sides)) >= self.least:
            yield Cut(tuple(sides))

    def _medians(self, rows: Int64, codes: Codes) -> Iterator[Cut]:
        """The more balanced clean cut beside the median; unless strict, the halves that share it."""
        n = len(rows)
        value, below, last = beside_median(codes)
        left = codes <= last
        if self.least <= int(left.sum()) <= n - self.least:
            yield Cut((rows[left], rows[~left]))
        if self.strict or below >= n // 2 or n // 2 < self.least:
            return
        shared = rows[codes == value]
        shared = shared[np.argsort(self.rank[shared], kind="stable")]
        to_left = n // 2 - below
        is_certain = bool(self.likeness[shared[to_left - 1]] != self.likeness[shared[to_left]])
        sides = (
            np.concatenate((rows[codes < value], shared[:to_left])),
            np.concatenate((shared[to_left:], rows[codes > value])),
        )
        yield Cut(sides, is_certain)

    def _thresholds(self, rows: Int64, codes: Codes) -> Iterator[Cut]:
        """Every threshold of an attribute without hierarchy, the most balanced first."""
        n = len(rows)
        order = np.argsort(codes, kind="stable")
        ordered = codes[order]
        left = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
        left = left[(left >= self.least) & (left <= n - self.least)]
        for size in left[np.argsort(np.abs(2 * left - n), kind="stable")]:
            yield Cut((rows[order[:size]], rows[order[size:]]))


def beside_median(codes: Codes) -> tuple[int, int, int]:
    """The median code, the rows below it, and the last code before the more even of the two clean cuts beside it."""
    n = len(codes)
    value = int(np.partition(codes, n // 2)[n // 2])
    below, up_to = int((codes < value).sum()), int((codes <= value).sum())
    return value, below, evener_cut(value, below, up_to, n)


def evener_cut(value: int, below: int, up_to: int, n: int) -> int:
    """The last code before the more even of the two clean cuts beside a median: with `below` rows of n before it, or
    with `up_to`.
    """
    return value - 1 if min(below, n - below) > min(up_to, n - up_to) else value
