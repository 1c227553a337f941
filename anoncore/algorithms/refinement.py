"""Refinement of finished classes: rows move to other classes as long as the information loss of the table falls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import partial
from threading import Event

import numpy as np

from anoncore.algorithms.refined_work import LEAST_SAVED, MOST_ROUNDS, RefinedCells, Work, in_round
from anoncore.base.errors import CancelledError
from anoncore.base.progress import Progress, part_of
from anoncore.kernels.arrays import Bools, Codes, Int64
from anoncore.kernels.grouping import distinct, put_at, starts_of
from anoncore.kernels.refined_classes import Classes
from anoncore.kernels.refining import CHANGED, EVERYTHING, NEAR_CHANGED, swap_rows
from anoncore.release.partition import Partition
from anoncore.requirements import CheckSet, Requirement
from anoncore.table.microdata import Microdata

MANY_CLASSES = 50_000
"""Classes from which on the table is refined in two parts, and those classes that did not change are not looked at anew
with all their rows together."""
MOST_UNEVEN = 0.1
"""By how much the share of rows in one of two parts may differ from a half."""
SECONDS_BETWEEN_REPORTS = 0.1


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
    looked at again, until that saves next to nothing. A table of many classes is refined in two parts at once first,
    and then as a whole.

    Near are the classes of rows that stand beside a row in one of d orders. In the order of attribute a rows are sorted
    by the attributes after it, from the first one on again after the last, and by a itself last, so that rows which
    differ in nothing but a are neighbors.

    `cells` are the values that the classes cover, where these are not those of the table.
    """
    checks = CheckSet(requirements, data)
    order = order_of_rows(data, partition)
    cells = cells if cells is not None else RefinedCells.of(data)
    if partition.n_groups < MANY_CLASSES:
        work = Work.of(cells, checks, order, partition.group[order])
        work.refine(EVERYTHING, EVERYTHING, progress)
    else:
        work = _refined_apart(cells, checks, order, partition.group[order], progress)
    return numbered(work.classes, work.order)


def swapped(
    data: Microdata, partition: Partition, kind: Codes, requirements: Sequence[Requirement], progress: Progress
) -> Partition:
    """The classes after rows have changed places with rows of the same kind, each of which saves loss.

    `kind` int32 (n_rows,): how many rows of each kind a class has stays the same. The classes that a row changes places
    with are near as they are for `refined`.
    """
    order = order_of_rows(data, partition)
    work = Work.of(RefinedCells.of(data), CheckSet(requirements, data), order, partition.group[order])
    own = np.ascontiguousarray(kind[order])

    def swap(begin: int, end: int) -> float:
        return swap_rows(work.rows, work.classes, own, begin, end, work.checks.kernel)

    for number in range(MOST_ROUNDS):
        if in_round(swap, 0, partition.n_groups, number, progress) <= LEAST_SAVED * work.rows.codes.size:
            break
    return numbered(work.classes, order)


def _refined_apart(cells: RefinedCells, checks: CheckSet, order: Int64, group: Codes, progress: Progress) -> Work:
    """Refine two parts of the table, each by itself in a thread of its own, then the rows of each with the other part.

    What the parts are depends on the classes alone, so that the result is the same on every machine.
    """
    is_second = _second_part(cells.codes[order], group)
    parts = [Work.of(cells, checks, order[side], group[side]) for side in (~is_second, is_second)]
    _at_once([partial(part.refine, EVERYTHING, None) for part in parts], part_of(progress, 0.0, 0.6))
    # The first part has the lower numbers, because classes are numbered by their first row.
    first, second = (part.classes.group for part in parts)
    joined = np.concatenate([first, second + int(first.max()) + 1])
    work = Work.of(cells, checks, np.concatenate([part.order for part in parts]), joined)
    classes = work.classes
    classes.saved[:] = np.concatenate([part.classes.saved for part in parts])
    np.maximum.at(classes.most_saved, classes.group, classes.saved)
    # A row is still to be compared with classes of its own part that changed after its class was visited.
    classes.visits[0] = max(int(part.classes.visits[0]) for part in parts)
    for name in ("visited", "changed"):
        of_rows = [getattr(part.classes, name)[part.classes.group] for part in parts]
        getattr(classes, name)[classes.group] = np.concatenate(of_rows)
    n_first = len(distinct(first))
    _meet(work, range(n_first), range(n_first, work.n_classes), part_of(progress, 0.6, 0.65))
    _meet(work, range(n_first, work.n_classes), range(n_first), part_of(progress, 0.65, 0.7))
    work.refine(CHANGED, NEAR_CHANGED, part_of(progress, 0.7, 1.0))
    return work


def _meet(work: Work, visited: range, others: range, progress: Progress) -> None:
    """Let rows of the visited classes join the other ones, all of which count as changed meanwhile."""
    classes, place = work.classes, slice(others.start, others.stop)
    classes.visits[0] += 1
    before, now = classes.changed[place].copy(), int(classes.visits[0])
    classes.changed[place] = now
    work.visit(NEAR_CHANGED, visited.start, visited.stop, 0, progress)
    after = classes.changed[place]
    classes.changed[place] = np.where(after == now, before, after)


def _second_part(codes: Codes, group: Codes) -> Bools:
    """Which rows are of the second of two parts, of about equal size, that cut through no class and separate few.

    At the median of an attribute, each class is of the part in which most of its range lies. Of the attributes at which
    the parts are about equal, it is the one at which fewest classes lie on both sides. Without such an attribute the
    classes are halved in the order of their first rows.
    """
    different, begins, number = np.unique(group, return_index=True, return_inverse=True)
    fewest, second = len(different) + 1, (begins > np.median(begins))[number]
    for a in range(codes.shape[1]):
        column = codes[:, a]
        below = starts_of(np.bincount(column)) / len(column)
        cut = int(np.abs(below - 0.5).argmin())
        low, high = (np.full(len(different), start, np.int32) for start in (len(below), -1))
        np.minimum.at(low, number, column)
        np.maximum.at(high, number, column)
        is_second, n_cut = (low + high >= 2 * cut - 1)[number], int(((low < cut) & (high >= cut)).sum())
        if n_cut < fewest and abs(is_second.mean() - 0.5) <= MOST_UNEVEN:
            fewest, second = n_cut, is_second
    rows_of_second: Bools = second
    return rows_of_second


def _at_once(tasks: Sequence[Callable[[Progress], None]], progress: Progress) -> None:
    """Do tasks in threads of their own; each is told how to report, and all end where `progress` raises."""
    shares, is_over = [0.0] * len(tasks), Event()

    def run(number: int) -> None:
        def report(share: float, text: str) -> None:
            shares[number] = share
            if is_over.is_set():
                raise CancelledError

        tasks[number](report)

    with ThreadPoolExecutor(len(tasks)) as pool:
        running = [pool.submit(run, number) for number in range(len(tasks))]
        try:
            while True:
                state = wait(running, SECONDS_BETWEEN_REPORTS, FIRST_EXCEPTION)
                if not state.not_done or any(one.exception() for one in state.done):
                    break
                progress(sum(shares) / len(shares), "Refining both halves of the table")
        finally:
            is_over.set()
    # Where one failed, the others only say that they were stopped.
    for one in sorted(running, key=lambda one: isinstance(one.exception(), CancelledError)):
        one.result()


def numbered(classes: Classes, order: Int64) -> Partition:
    """The classes that are left, of the rows in their own order."""
    return Partition.alike([put_at(order, classes.group)])


def content_ranks(data: Microdata) -> Int64:
    """The rank of each row by content, rows in canonical order, int64 (n_rows,); rows of equal content share theirs."""
    words = data.content_words[:, data.canonical_order]
    return np.cumsum(np.concatenate(([False], (words[:, 1:] != words[:, :-1]).any(axis=0))))


def order_of_rows(data: Microdata, partition: Partition) -> Int64:
    """The rows by content, and rows of equal content by their class, so that the order of the input decides nothing.

    Classes of equal content are interchangeable; others are told apart by what rows they have.
    """
    ordered, rank = data.canonical_order, content_ranks(data)
    # Random words per content: their sum over a class tells it from others, but with a probability of 2^-64.
    word = np.random.default_rng(21).integers(0, 2**64, int(rank[-1]) + 1, dtype=np.uint64)[rank]
    sums = np.zeros(partition.n_groups, np.uint64)
    group = partition.group[ordered]
    np.add.at(sums, group, word)
    by_class = np.lexsort((sums[group], rank))
    order: Int64 = ordered[by_class]
    return order
