"""Possible worlds of a release, kept where every refusal of its method is confirmed.

A world says who of a class has which of its published records. Readers who know the method keep a world only where it
agrees with what the method refused: in each refusal at least one group of rows breaks a requirement.

- `record` int32 (n_rows,): the record of each row in the world at hand; a record is a combination of sensitive values.
- `cells` int32 (n_records, n_columns): where the sensitive values of each record are counted, as in `checking`.
- `members` int64: the rows of the classes that are dealt anew, class after class from `class_start[c]` on.
- `rows`, `group_start`, `refusal_start` int64: the groups of all refusals, as in `Refusals`; `chosen` int64 are the
  refusals that count.
- `tally` int64 (n_signatures, m): how often people of each signature have each value of the attacked attribute in the
  worlds kept; `signature` int64 (n_members,) says whose line a member counts in, `secret` int32 (n_records,) which
  value a record has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Int32, Int64
from anoncore.kernels.checking import KernelChecks, all_hold, count_cells, new_tally, rows_hold
from anoncore.kernels.compiler import inner_kernel, kernel


class RefusedGroups(NamedTuple):
    """The groups of all refusals, and what the records of rows hold; the arrays are described above."""

    cells: Int32
    secret: Int32
    rows: Int64
    group_start: Int64
    refusal_start: Int64


@kernel
def groups_hold(checks: KernelChecks, cells: Int32, rows: Int64, starts: Int64) -> Bools:
    """Whether each group of rows satisfies every check, bool (n_groups,).

    `cells` int32 (n_rows, n_columns) are those of all rows, `rows` int64 the rows of group g from starts[g] on.
    """
    result = np.empty(len(starts) - 1, np.bool_)
    counts = np.zeros(checks.count_start[-1], np.int64)
    for group in range(len(result)):
        own = rows[starts[group] : starts[group + 1]]
        result[group] = rows_hold(cells, None, own, new_tally(None), counts, checks)
    return result


@inner_kernel
def _group_holds(checks: KernelChecks, refused: RefusedGroups, record: Int32, group: int, counts: Int64) -> bool:
    """Whether a group satisfies every check in this world; `counts` comes and goes as zeros."""
    own = refused.rows[refused.group_start[group] : refused.group_start[group + 1]]
    for row in own:
        count_cells(counts, refused.cells[record[row]], 1)
    result = all_hold(checks, counts, len(own))
    for row in own:
        count_cells(counts, refused.cells[record[row]], -1)
    return result


@inner_kernel
def _is_confirmed(
    checks: KernelChecks, refused: RefusedGroups, refusal: int, record: Int32, latest: Int64, counts: Int64
) -> tuple[bool, int]:
    """Whether a group of a refusal breaks a requirement, and how many rows were counted to tell.

    `latest[refusal]` is the group that did so last. It is looked at first, because it often does so in the next world
    too.
    """
    work = 0
    first = refused.refusal_start[refusal]
    n_groups = refused.refusal_start[refusal + 1] - first
    for step in range(n_groups):
        group = first + (latest[refusal] + step) % n_groups
        work += refused.group_start[group + 1] - refused.group_start[group]
        if not _group_holds(checks, refused, record, group, counts):
            latest[refusal] = group - first
            return True, work
    return False, work


@inner_kernel
def _deal(record: Int32, members: Int64, begin: int, end: int) -> None:
    """Deal the records of one class to its people at random."""
    for i in range(end - 1, begin, -1):
        other = begin + int(np.random.random() * (i - begin + 1))  # noqa: NPY002
        a, b = members[i], members[other]
        record[a], record[b] = record[b], record[a]


@kernel
def drawn_worlds(
    checks: KernelChecks,
    refused: RefusedGroups,
    chosen: Int64,
    classes_start: Int64,
    classes: Int64,
    record: Int32,
    members: Int64,
    class_start: Int64,
    signature: Int64,
    tally: Int64,
    wanted: int,
    most_work: int,
    seed: int,
) -> tuple[int, int, int]:
    """Deal the records of each class at random until `wanted` worlds are kept or the work is spent.

    A world is given up at the first refusal that is not confirmed in it. So the records of a class are dealt when the
    first refusal is looked at that has rows of it: refusal `chosen[i]` those of the classes (by their place in
    `class_start`) `classes[classes_start[i] : classes_start[i + 1]]`, and the refusals that ended most worlds come
    first. Work is counted in rows. Returns how many worlds were kept, how many were begun, and the work.
    """
    np.random.seed(seed)  # noqa: NPY002  (the compiled generator, which has no other form)
    counts = np.zeros(checks.count_start[-1], np.int64)
    latest = np.zeros(len(refused.refusal_start) - 1, np.int64)
    order = np.arange(len(chosen))
    dealt_in = np.zeros(len(class_start) - 1, np.int64)
    kept, drawn, work = 0, 0, 0
    # A draw that has kept less than a hundredth of what is wanted after a tenth of the work is given up.
    while kept < wanted and work < most_work and (10 * work < most_work or 100 * kept >= wanted):
        drawn += 1
        confirmed = True
        for place in range(len(order)):
            i = order[place]
            for c in classes[classes_start[i] : classes_start[i + 1]]:
                if dealt_in[c] < drawn:
                    _deal(record, members, class_start[c], class_start[c + 1])
                    dealt_in[c] = drawn
                    work += class_start[c + 1] - class_start[c]
            confirmed, counted = _is_confirmed(checks, refused, chosen[i], record, latest, counts)
            work += counted
            if not confirmed:
                order[place], order[place // 2] = order[place // 2], order[place]
                break
        if confirmed:
            kept += 1
            for i in range(len(members)):
                tally[signature[i], refused.secret[record[members[i]]]] += 1
    return kept, drawn, work


@inner_kernel
def _next_arrangement(record: Int32, members: Int64, begin: int, end: int) -> bool:
    """Deal the records of one class in the next order there is, or in the first one and say False after the last.

    Each different arrangement of equal and different records comes once, in lexicographic order.
    """
    i = end - 2
    while i >= begin and record[members[i]] >= record[members[i + 1]]:
        i -= 1
    if i >= begin:
        j = end - 1
        while record[members[j]] <= record[members[i]]:
            j -= 1
        a, b = members[i], members[j]
        record[a], record[b] = record[b], record[a]
    low, high = i + 1, end - 1
    while low < high:
        a, b = members[low], members[high]
        record[a], record[b] = record[b], record[a]
        low += 1
        high -= 1
    return i >= begin


@kernel
def all_worlds(
    checks: KernelChecks,
    refused: RefusedGroups,
    chosen: Int64,
    record: Int32,
    members: Int64,
    class_start: Int64,
    signature: Int64,
    tally: Int64,
) -> tuple[int, int]:
    """Look at every world; the records of each class must come in ascending order. Returns worlds kept and looked at.

    Worlds that differ only in who of two people has which of two equal records are one. Every world stands for as many
    deals as any other, so all count alike.
    """
    counts = np.zeros(checks.count_start[-1], np.int64)
    latest = np.zeros(len(refused.refusal_start) - 1, np.int64)
    kept, looked_at = 0, 0
    while True:
        confirmed = True
        for refusal in chosen:
            confirmed, _ = _is_confirmed(checks, refused, refusal, record, latest, counts)
            if not confirmed:
                break
        looked_at += 1
        if confirmed:
            kept += 1
            for i in range(len(members)):
                tally[signature[i], refused.secret[record[members[i]]]] += 1
        c = 0
        while c < len(class_start) - 1:
            if _next_arrangement(record, members, class_start[c], class_start[c + 1]):
                break
            c += 1
        if c == len(class_start) - 1:
            return kept, looked_at
