"""Steps between classes that may also cost something, the less so the cooler it is: simulated annealing.

Rows are drawn at random. A row moves to a class near it, or changes places with a row of that class, or a new class is
founded around it. Such a step is made where it costs less than a random threshold (Kirkpatrick, Gelatt and Vecchi,
Science 1983), and all classes that it changes still keep every requirement. What rows, classes and their arrays are
says `refined_classes`; `row_at` int32 (n_orders, n_rows) is the row at each place of each order. Throughout,
`classes.saved` is up to date.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.checking import KernelChecks
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.refined_classes import (
    Classes,
    Memory,
    RefinedRows,
    added_by,
    cover,
    cover_anew,
    holds,
    link,
    members,
    note_saved,
    unlink,
)
from anoncore.kernels.refining import FARTHEST, LEAST_GAIN, MOST_TOGETHER, REACH, best_class, exchange, new_memory
from anoncore.kernels.xorshift import next_state

DRAWS = 2.0**32
"""Random numbers are below it."""
FOUNDED = 0.03
"""Part of the steps that found a class; they take longer than others."""
MOVED = 0.5
"""Part of the steps up to which a row moves; between both it changes places."""
MOST_PASSED = 16
"""Rows of a class of which one is drawn."""


@inner_kernel
def _saved_by_leaving(classes: Classes, row: int) -> float:
    """What all cells of a class lose less if a row leaves it."""
    c = classes.group[row]
    return classes.loss[c] + (classes.size[c] - 1) * classes.saved[row]


@inner_kernel
def _cost_of_joining(rows: RefinedRows, classes: Classes, c: int, row: int) -> float:
    """What all cells of a class that is not empty lose more if a row joins it."""
    return classes.loss[c] + (classes.size[c] + 1) * added_by(rows, classes, c, row)


@inner_kernel
def _move(rows: RefinedRows, classes: Classes, row: int, target: int, counts: Int64) -> None:
    """Put a row into another class."""
    own = int(classes.group[row])
    unlink(rows, classes, row)
    link(rows, classes, target, row)
    if classes.size[own] > 0:
        cover_anew(rows, classes, own)
        note_saved(rows, classes, own, counts)
    cover_anew(rows, classes, target)
    note_saved(rows, classes, target, counts)


@inner_kernel
def _may_leave(rows: RefinedRows, classes: Classes, row: int, memory: Memory, checks: KernelChecks) -> bool:
    """Whether the class of a row keeps every requirement without it."""
    c = classes.group[row]
    return classes.size[c] > max(checks.minimum_rows, 1) and holds(rows, classes, c, -1, row, memory, checks)


@inner_kernel
def _nearest_row(
    rows: RefinedRows,
    classes: Classes,
    row_at: Int32,
    row: int,
    c: int,
    breaks: bool,
    state: int,
    memory: Memory,
    checks: KernelChecks,
) -> tuple[int, int]:
    """The row near another that joins class c at the least cost, -1 where there is none, and the random state.

    Without `breaks`, only rows are asked whose class can do without them; else three of four by chance.
    """
    nearest, least, n = -1, np.inf, len(rows.codes)
    for side in range(2 * len(row_at)):
        o, way = side >> 1, 1 if side & 1 else -1
        at = rows.places[o, row]
        for _ in range(REACH):
            at += way
            if at < 0 or at >= n:
                break
            other = row_at[o, at]
            if classes.group[other] == c:
                continue
            if breaks:
                state = next_state(state)
                if state & 0x30000 == 0:
                    continue
            cost = _cost_of_joining(rows, classes, c, other) - _saved_by_leaving(classes, other)
            if cost < least and (breaks or _may_leave(rows, classes, other, memory, checks)):
                nearest, least = other, cost
    return nearest, state


@inner_kernel
def _found_class(
    rows: RefinedRows,
    classes: Classes,
    row_at: Int32,
    row: int,
    empty: int,
    breaks: bool,
    threshold: float,
    state: int,
    memory: Memory,
    checks: KernelChecks,
) -> tuple[bool, int]:
    """Make a class of a row and those nearest to it, if that costs at most the threshold; and the random state.

    With `breaks`, rows are taken from any class. The others of a class that no longer keeps the requirements then join
    the best ones.
    """
    moved, origin = np.empty(2 * MOST_TOGETHER, np.int32), np.empty(2 * MOST_TOGETHER, np.int32)
    n_moved, cost, nearest, is_founded = 0, 0.0, row, False
    while nearest >= 0 and n_moved < min(MOST_TOGETHER, 2 * checks.minimum_rows):
        cost -= _saved_by_leaving(classes, nearest)
        if n_moved > 0:
            cost += _cost_of_joining(rows, classes, empty, nearest)
        moved[n_moved], origin[n_moved] = nearest, classes.group[nearest]
        n_moved += 1
        _move(rows, classes, nearest, empty, memory.counts)
        if holds(rows, classes, empty, -1, -1, memory, checks):
            is_founded = True
            break
        nearest, state = _nearest_row(rows, classes, row_at, row, empty, breaks, state, memory, checks)
    for i in range(n_moved if breaks else 0):
        c = origin[i]
        if not is_founded or classes.size[c] == 0 or holds(rows, classes, c, -1, -1, memory, checks):
            continue
        for other in members(classes, c):
            gain = _saved_by_leaving(classes, other)
            target, price = best_class(rows, classes, other, threshold - cost + gain, -1, memory, checks)
            if target < 0 or n_moved == len(moved):
                is_founded = False
                break
            moved[n_moved], origin[n_moved] = other, c
            n_moved += 1
            cost += price - gain
            _move(rows, classes, other, target, memory.counts)
    if is_founded and cost <= threshold:
        return True, state
    for i in range(n_moved - 1, -1, -1):
        _move(rows, classes, moved[i], origin[i], memory.counts)
    return False, state


@inner_kernel
def _change_places(
    rows: RefinedRows, classes: Classes, row: int, other: int, threshold: float, memory: Memory, checks: KernelChecks
) -> None:
    """Put each of two rows into the class of the other, if that costs at most the threshold."""
    own, target = classes.group[row], classes.group[other]
    size, there = classes.size[own], classes.size[target]
    # What both classes cover shrinks as rows leave, so that the exchange costs at least this much.
    cost = size * (added_by(rows, classes, own, other) - classes.saved[row])
    cost += there * (added_by(rows, classes, target, row) - classes.saved[other])
    if cost > threshold or not holds(rows, classes, own, other, row, memory, checks):
        return
    if not holds(rows, classes, target, row, other, memory, checks):
        return
    before = size * classes.loss[own] + there * classes.loss[target]
    exchange(rows, classes, row, other)
    cost = size * classes.loss[own] + there * classes.loss[target] - before
    if cost > threshold or abs(cost) < LEAST_GAIN:
        exchange(rows, classes, row, other)
    else:
        note_saved(rows, classes, own, memory.counts)
        note_saved(rows, classes, target, memory.counts)


@inner_kernel
def _next_empty(classes: Classes, c: int) -> int:
    """The first empty class from class c on, and after the last from the first one; -1 where there is none."""
    n = len(classes.size)
    for i in range(n):
        if classes.size[(c + i) % n] == 0:
            return (c + i) % n
    return -1


@kernel
def anneal(
    rows: RefinedRows, classes: Classes, row_at: Int32, heat: float, n_steps: int, state: int, checks: KernelChecks
) -> int:
    """Take random steps, whose costs are `heat` cells on the average where they are at the threshold.

    `state` is that of the random numbers; returned is the one at the end.
    """
    n, n_orders = len(rows.codes), len(row_at)
    memory = new_memory(rows, classes, checks)
    empty = _next_empty(classes, 0)
    for c in range(len(classes.size)):
        if classes.size[c] > 0:
            note_saved(rows, classes, c, memory.counts)
    for _ in range(n_steps):
        state = next_state(state)
        row = (state >> 3) % n
        own = classes.group[row]
        if classes.loss[own] <= LEAST_GAIN:
            continue
        state = next_state(state)
        o, way = (state >> 3) % n_orders, 1 if state & 0x10000 else -1
        state = next_state(state)
        # Near places are drawn more often than those farther away.
        at = rows.places[o, row] + way * (1 + int(FARTHEST * (state / DRAWS) ** 2))
        if at < 0 or at >= n:
            continue
        state = next_state(state)
        threshold = -heat * np.log((state + 1) / DRAWS)
        state = next_state(state)
        kind, breaks = state / DRAWS, bool(state & 0x10000)
        if kind < FOUNDED:
            if empty >= 0 and (breaks or _may_leave(rows, classes, row, memory, checks)):
                is_founded, state = _found_class(
                    rows, classes, row_at, row, empty, breaks, threshold, state, memory, checks
                )
                if is_founded:
                    empty = _next_empty(classes, empty)
            continue
        target = classes.standing[o, at]
        if target == own:
            continue
        if kind < MOVED:
            cost = _cost_of_joining(rows, classes, target, row) - _saved_by_leaving(classes, row)
            if cost > threshold or abs(cost) < LEAST_GAIN or not _may_leave(rows, classes, row, memory, checks):
                continue
            if holds(rows, classes, target, row, -1, memory, checks):
                _move(rows, classes, row, target, memory.counts)
            continue
        # Not the row that stands near, which is to be in the same class, unless it is alone.
        state = next_state(state)
        other = classes.first[target]
        for _ in range((state >> 3) % min(classes.size[target], MOST_PASSED)):
            other = classes.after[other]
        if other == row_at[o, at]:
            other = classes.after[other] if classes.after[other] >= 0 else classes.first[target]
        _change_places(rows, classes, row, other, threshold, memory, checks)
    return state


@kernel
def repair(rows: RefinedRows, classes: Classes, checks: KernelChecks) -> bool:
    """Let the rows of classes that break a requirement join the best others; whether none is left."""
    memory = new_memory(rows, classes, checks)
    for c in range(len(classes.size)):
        if classes.size[c] == 0 or holds(rows, classes, c, -1, -1, memory, checks):
            continue
        for row in members(classes, c):
            target, _ = best_class(rows, classes, row, np.inf, -1, memory, checks)
            if target < 0:
                return False
            unlink(rows, classes, row)
            link(rows, classes, target, row)
            cover(rows, classes, target, row)
    return True
