"""Classes that are being refined: what kernels read of their rows, and the rounds in which they are visited."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.kernels.attributes import CATEGORY, HIERARCHY
from anoncore.kernels.grouping import combined_key, dense_key, owners, starts_of
from anoncore.kernels.refined_classes import Classes, RefinedRows
from anoncore.kernels.refining import CHANGED, refine_classes
from anoncore.release.partition import Partition
from anoncore.requirements import CheckSet
from anoncore.table.domain import Domain, kernel_attributes
from anoncore.table.microdata import Microdata

MOST_ROUNDS = 12
"""Rounds after which the refinement ends at the latest."""
LEAST_SAVED = 1e-4
"""Loss per cell that a round over all classes must save for another round to follow."""
LEAST_SAVED_BY_CHANGED = 2e-5
"""Loss per cell that a round over the classes that changed must save for another one to follow; these cost less."""
CLASSES_AT_ONCE = 2_000
"""Classes that the kernel looks at before progress is told."""
MOST_TALLIED = 2**24
"""Classes times sensitive values up to which every class has its tally."""


@record
class RefinedCells:
    """What the rows have in their quasi-identifiers, and what a cell that covers a whole domain costs.

    `codes` int32 (n_rows, d), the `domains` of these codes, and `weights` float (d,).
    """

    codes: Codes
    domains: Sequence[Domain]
    weights: Floats

    @classmethod
    def of(cls, data: Microdata) -> RefinedCells:
        """The values of a table, where every quasi-identifier weighs the same."""
        names = data.quasi_identifiers
        codes = np.column_stack([data.codes[name] for name in names])
        return cls(codes, [data.domain[name] for name in names], np.ones(len(names)))


@record
class Work:
    """Classes that are refined: of the rows `order` of a table, in that order."""

    order: Int64
    rows: RefinedRows
    classes: Classes
    checks: CheckSet

    @classmethod
    def of(cls, cells: RefinedCells, checks: CheckSet, order: Int64, group: Codes) -> Work:
        """The rows `order`, of which `group` says the classes."""
        rows = _rows(cells, checks, order)
        return cls(order, rows, _classes(rows, cells.domains, group, int(checks.kernel.count_start[-1])), checks)

    @property
    def n_classes(self) -> int:
        """How many classes there were at first."""
        return len(self.classes.size)

    def visit(self, scope: int, begin: int, end: int, number: int, progress: Progress) -> float:
        """Refine classes of the scope once; returns the loss that is saved per cell of these rows."""

        def step(first: int, last: int) -> float:
            return refine_classes(self.rows, self.classes, first, last, scope, self.checks.kernel)

        return in_round(step, begin, end, number, progress) / self.rows.codes.size

    def refine(self, scope: int, again: int | None, progress: Progress) -> None:
        """Refine classes in rounds, the first over the scope, then over those that changed until these save nothing.

        Then follows a round over `again`, and so on until that saves nothing; without `again` it ends there.
        """
        for number in range(MOST_ROUNDS):
            saved = self.visit(scope, 0, self.n_classes, number, progress)
            if saved > (LEAST_SAVED_BY_CHANGED if scope == CHANGED else LEAST_SAVED):
                scope = CHANGED
            elif scope == CHANGED and again is not None:
                scope = again
            else:
                break


def in_round(step: Callable[[int, int], float], first: int, end: int, number: int, progress: Progress) -> float:
    """Do a step for the classes first..end-1; returns what is saved."""
    saved = 0.0
    for begin in range(first, end, CLASSES_AT_ONCE):
        share = (begin - first) / (end - first)
        progress((number + share) / MOST_ROUNDS, f"Refining the groups, round {number + 1}")
        saved += step(begin, min(begin + CLASSES_AT_ONCE, end))
    return saved


def _rows(cells: RefinedCells, checks: CheckSet, order: Int64) -> RefinedRows:
    """The rows in a given order, as the kernel reads them."""
    codes = np.ascontiguousarray(cells.codes[order])
    people = checks.people
    if people is not None:
        people = people._replace(person=people.person[order], pair=np.ascontiguousarray(people.pair[order]))
    attributes = kernel_attributes(cells.domains)
    span = np.where(attributes.span > 0, attributes.span, 1.0) / cells.weights
    sizes = np.diff(attributes.code_start)
    return RefinedRows(
        codes=codes,
        cells=checks.cells[order],
        attributes=attributes,
        axis=attributes.position / np.repeat(span, sizes),
        unit=1 / span,
        word_start=starts_of((sizes + 63) // 64),
        places=_places(codes),
        people=people,
    )


def _places(codes: Codes) -> Codes:
    """The places of the rows in d orders: each attribute sorted by those after it, in a circle, and last by itself."""
    n, d = codes.shape
    places = np.empty((d, n), np.int32)
    for last in range(d):
        key = combined_key((codes[:, a] for a in (*range(last + 1, d), *range(last + 1))), n)
        places[last, np.argsort(key, kind="stable")] = np.arange(n, dtype=np.int32)
    return places


def _classes(rows: RefinedRows, domains: Sequence[Domain], group: Codes, n_counts: int) -> Classes:
    """What the classes cover, numbered by their first row."""
    n, d = rows.codes.shape
    partition = Partition(dense_key((group,), n).astype(np.int32))
    n_groups = partition.n_groups
    low, high, node = (np.zeros((n_groups, d), np.int32) for _ in range(3))
    bits, loss = np.zeros((n_groups, rows.word_start[-1]), np.uint64), np.zeros(n_groups)
    for a, domain in enumerate(domains):
        codes, begin, form = np.ascontiguousarray(rows.codes[:, a]), rows.attributes.code_start[a], rows.attributes.form
        low[:, a], high[:, a] = partition.extent(codes)
        if form[a] == CATEGORY:
            offsets, members = partition.value_sets(codes, len(domain))
            of_member = owners(np.diff(offsets))
            bit = np.uint64(1) << (members & 63).astype(np.uint64)
            np.bitwise_or.at(bits, (of_member, rows.word_start[a] + (members >> 6)), bit)
            loss += (np.diff(offsets) - 1) * rows.unit[a]
        elif form[a] == HIERARCHY and domain.tree is not None:
            node[:, a] = domain.tree.common_ancestor(low[:, a], high[:, a])
            loss += (domain.tree.last - domain.tree.first)[node[:, a]] * rows.unit[a]
        else:
            loss += rows.axis[begin + high[:, a]] - rows.axis[begin + low[:, a]]
    order, starts = partition.order.astype(np.int32), partition.starts
    after, before = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    after[order[:-1]], before[order[1:]] = order[1:], order[:-1]
    after[order[starts[1:] - 1]], before[order[starts[:-1]]] = -1, -1
    sizes, group = partition.sizes.astype(np.int64), partition.group.astype(np.int32)
    standing = np.empty_like(rows.places)
    for own, places in zip(standing, rows.places, strict=True):
        own[places] = group
    is_tallied = rows.people is None and n_groups * n_counts <= MOST_TALLIED
    tallies = np.zeros((n_groups, n_counts) if is_tallied else (0, 0), np.int64)
    if is_tallied:
        np.add.at(tallies, (group[:, None], rows.cells), 1)
    return Classes(
        low=low,
        high=high,
        node=node,
        bits=bits,
        loss=loss,
        size=sizes,
        group=group,
        first=order[starts[:-1]].copy(),
        after=after,
        before=before,
        standing=standing,
        saved=np.zeros(n),
        most_saved=np.zeros(n_groups),
        tallies=tallies,
        visits=np.zeros(1, np.int64),
        visited=np.zeros(n_groups, np.int64),
        changed=np.zeros(n_groups, np.int64),
    )
