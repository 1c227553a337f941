"""Refinement of finished classes: rows move to other classes as long as the information loss of the table falls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Codes, Floats, Int64
from anoncore.kernels.attributes import CATEGORY, HIERARCHY
from anoncore.kernels.refined_classes import Classes, RefinedRows
from anoncore.kernels.refining import CHANGED, EVERYTHING, NEAR_CHANGED, refine_classes, swap_rows
from anoncore.release.partition import Partition
from anoncore.requirements import CheckSet, Requirement
from anoncore.table.domain import Domain
from anoncore.table.kernel_attributes import kernel_attributes
from anoncore.table.microdata import Microdata

MOST_ROUNDS = 12
"""Rounds after which the refinement ends at the latest."""
LEAST_SAVED = 1e-4
"""Loss per cell that a round over all classes must save for another round to follow."""
LEAST_SAVED_BY_CHANGED = 2e-5
"""Loss per cell that a round over the classes that changed must save for another one to follow; these cost less."""
MANY_CLASSES = 50_000
"""Classes from which on those that did not change are not looked at anew with all their rows together."""
CLASSES_AT_ONCE = 2_000
"""Classes that the kernel looks at before progress is told."""
MOST_TALLIED = 2**24
"""Classes times sensitive values up to which every class has its tally."""
LARGEST_KEY = 2**62


@dataclass(frozen=True, eq=False)
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


def refined(
    data: Microdata,
    partition: Partition,
    requirements: Sequence[Requirement],
    progress: Progress,
    cells: RefinedCells | None = None,
) -> Partition:
    """The classes after rows have moved between them, each of which saves loss and leaves every requirement kept.

    Class by class, a row leaves for the class near it where it costs least, if its own class saves more than that and
    both still satisfy all requirements. Rows that share a category, an end of a range or a node of a hierarchy leave
    together in the same way, and two rows exchange their classes where that saves loss. A class whose rows can all join
    others at less than it loses is dissolved. The loss is that of the tightest regions of the rows present. After a
    round over all classes, rounds follow over those that changed, until they save next to nothing; then all classes are
    looked at again, until that saves next to nothing.

    Near are the classes of rows that stand beside a row in one of d orders. In the order of attribute a rows are sorted
    by the attributes after it, from the first one on again after the last, and by a itself last, so that rows which
    differ in nothing but a are neighbors.

    `cells` are the values that the classes cover, where these are not those of the table.
    """
    checks = CheckSet(requirements, data)
    order = _order_of_rows(data, partition)
    cells = cells if cells is not None else RefinedCells.of(data)
    rows = _rows(cells, checks, order)
    classes = _classes(rows, cells.domains, partition.group[order], int(checks.kernel.count_start[-1]))
    again = EVERYTHING if partition.n_groups < MANY_CLASSES else NEAR_CHANGED
    scope = EVERYTHING

    def refine(begin: int, end: int) -> float:
        return refine_classes(rows, classes, begin, end, scope, checks.kernel)

    for number in range(MOST_ROUNDS):
        saved = _round(refine, partition.n_groups, number, progress) / rows.codes.size
        if saved > (LEAST_SAVED_BY_CHANGED if scope == CHANGED else LEAST_SAVED):
            scope = CHANGED
        elif scope == CHANGED:
            scope = again
        else:
            break
    return _numbered(classes, order)


def swapped(
    data: Microdata, partition: Partition, kind: Codes, requirements: Sequence[Requirement], progress: Progress
) -> Partition:
    """The classes after rows have changed places with rows of the same kind, each of which saves loss.

    `kind` int32 (n_rows,): how many rows of each kind a class has stays the same. The classes that a row changes places
    with are near as they are for `refined`.
    """
    checks, cells, order = CheckSet(requirements, data), RefinedCells.of(data), _order_of_rows(data, partition)
    rows = _rows(cells, checks, order)
    classes = _classes(rows, cells.domains, partition.group[order], int(checks.kernel.count_start[-1]))
    own = np.ascontiguousarray(kind[order])

    def swap(begin: int, end: int) -> float:
        return swap_rows(rows, classes, own, begin, end, checks.kernel)

    for number in range(MOST_ROUNDS):
        if _round(swap, partition.n_groups, number, progress) <= LEAST_SAVED * rows.codes.size:
            break
    return _numbered(classes, order)


def _round(step: Callable[[int, int], float], n_groups: int, number: int, progress: Progress) -> float:
    """Do a step for all classes; returns the loss that is saved, in cells."""
    saved = 0.0
    for begin in range(0, n_groups, CLASSES_AT_ONCE):
        progress((number + begin / n_groups) / MOST_ROUNDS, f"Refining the classes, round {number + 1}")
        saved += step(begin, min(begin + CLASSES_AT_ONCE, n_groups))
    return saved


def _numbered(classes: Classes, order: Int64) -> Partition:
    """The classes that are left, of the rows in their own order."""
    group = np.empty(len(order), dtype=np.int32)
    group[order] = classes.group
    return Partition(np.unique(group, return_inverse=True)[1].astype(np.int32))


def within(progress: Progress, begin: float, end: float) -> Progress:
    """Progress of a step that takes the shares from `begin` to `end` of the whole."""
    return lambda share, text: progress(begin + (end - begin) * share, text)


def _order_of_rows(data: Microdata, partition: Partition) -> Int64:
    """The rows by content, and rows of equal content by their class, so that the order of the input decides nothing.

    Classes of equal content are interchangeable; others are told apart by what rows they have.
    """
    ordered = data.canonical_order
    words = data.content_words[:, ordered]
    is_new = np.concatenate(([True], (words[:, 1:] != words[:, :-1]).any(axis=0)))
    rank = np.cumsum(is_new) - 1
    # Random words per content: their sum over a class tells it from others, but with a probability of 2^-64.
    word = np.random.default_rng(21).integers(0, 2**64, int(rank[-1]) + 1, dtype=np.uint64)[rank]
    sums = np.zeros(partition.n_groups, dtype=np.uint64)
    group = partition.group[ordered]
    np.add.at(sums, group, word)
    by_class = np.lexsort((sums[group], rank))
    order: Int64 = ordered[by_class]
    return order


def _rows(cells: RefinedCells, checks: CheckSet, order: Int64) -> RefinedRows:
    """The rows in a given order, as the kernel reads them."""
    codes = np.ascontiguousarray(cells.codes[order])
    places_in_tally = np.zeros((len(codes), len(checks.views)), dtype=np.int64)
    for column, view in enumerate(checks.views):
        places_in_tally[:, column] = checks.kernel.count_start[column] + view.codes[order]
    people = checks.people
    if people is not None:
        people = people._replace(person=people.person[order], pair=np.ascontiguousarray(people.pair[order]))
    attributes = kernel_attributes(cells.domains)
    span = np.where(attributes.span > 0, attributes.span, 1.0) / cells.weights
    sizes = np.diff(attributes.code_start)
    return RefinedRows(
        codes=codes,
        cells=places_in_tally,
        attributes=attributes,
        axis=attributes.position / np.repeat(span, sizes),
        unit=1 / span,
        word_start=np.cumsum([0, *((sizes + 63) // 64)]).astype(np.int64),
        places=_places(codes, sizes),
        people=people,
    )


def _places(codes: Codes, sizes: Int64) -> Codes:
    """The places of the rows in d orders: each attribute sorted by those after it, in a circle, and last by itself."""
    n, d = codes.shape
    places = np.empty((d, n), dtype=np.int32)
    for last in range(d):
        key, capacity = np.zeros(n, dtype=np.int64), 1
        for a in (*range(last + 1, d), *range(last + 1)):
            # Before the key would outgrow int64, it is numbered anew by the combinations that occur.
            if capacity * int(sizes[a]) >= LARGEST_KEY:
                key, capacity = np.unique(key, return_inverse=True)[1], n
            key = key * sizes[a] + codes[:, a]
            capacity *= int(sizes[a])
        places[last, np.argsort(key, kind="stable")] = np.arange(n, dtype=np.int32)
    return places


def _classes(rows: RefinedRows, domains: Sequence[Domain], group: Codes, n_counts: int) -> Classes:
    """What the classes cover, numbered by their first row."""
    n, d = rows.codes.shape
    different, begins, number = np.unique(group, return_index=True, return_inverse=True)
    partition = Partition(np.argsort(np.argsort(begins))[number].astype(np.int32))
    n_groups = len(different)
    low, high, node = (np.zeros((n_groups, d), dtype=np.int32) for _ in range(3))
    bits, loss = np.zeros((n_groups, rows.word_start[-1]), dtype=np.uint64), np.zeros(n_groups)
    for a, domain in enumerate(domains):
        codes, begin, form = np.ascontiguousarray(rows.codes[:, a]), rows.attributes.code_start[a], rows.attributes.form
        low[:, a], high[:, a] = partition.extent(codes)
        if form[a] == CATEGORY:
            offsets, members = partition.value_sets(codes, len(domain))
            of_member = np.repeat(np.arange(n_groups), np.diff(offsets))
            bit = np.uint64(1) << (members & 63).astype(np.uint64)
            np.bitwise_or.at(bits, (of_member, rows.word_start[a] + (members >> 6)), bit)
            loss += (np.diff(offsets) - 1) * rows.unit[a]
        elif form[a] == HIERARCHY and domain.tree is not None:
            node[:, a] = domain.tree.common_ancestor(low[:, a], high[:, a])
            loss += (domain.tree.last - domain.tree.first)[node[:, a]] * rows.unit[a]
        else:
            loss += rows.axis[begin + high[:, a]] - rows.axis[begin + low[:, a]]
    order, starts = partition.order.astype(np.int32), partition.starts
    after, before = np.full(n, -1, dtype=np.int32), np.full(n, -1, dtype=np.int32)
    after[order[:-1]], before[order[1:]] = order[1:], order[:-1]
    after[order[starts[1:] - 1]], before[order[starts[:-1]]] = -1, -1
    sizes, group = partition.sizes.astype(np.int64), partition.group.astype(np.int32)
    standing = np.empty_like(rows.places)
    for own, places in zip(standing, rows.places, strict=True):
        own[places] = group
    is_tallied = rows.people is None and n_groups * n_counts <= MOST_TALLIED
    tallies = np.zeros((n_groups, n_counts) if is_tallied else (0, 0), dtype=np.int64)
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
        visits=np.zeros(1, dtype=np.int64),
        visited=np.zeros(n_groups, dtype=np.int64),
        changed=np.zeros(n_groups, dtype=np.int64),
    )
