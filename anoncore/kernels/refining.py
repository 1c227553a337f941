"""Steps that lower the information loss of all cells together: rows that leave their class alone, together or in turn.

Four kinds of steps change finished classes: a row moves to another class; rows that share what widens their class
leave it together; two rows of two classes exchange their places; all rows of a class join others. A step is made where
it saves loss and both classes still keep every requirement. What rows, classes and their arrays are says
`refined_classes`.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Int32
from anoncore.kernels.attributes import CATEGORY, HIERARCHY
from anoncore.kernels.checking import KernelChecks, new_tally
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.refined_classes import (
    Classes,
    Memory,
    RefinedRows,
    added_by,
    count,
    cover,
    cover_anew,
    forget,
    holds,
    link,
    members,
    narrow,
    note_change,
    note_saved,
    saved_without,
    unlink,
)
from anoncore.kernels.sorting import sort_in_place

REACH = 8
"""Classes that a row is compared with on each side of it in each order, counted anew where the class changes."""
REACH_OF_SWAPS = 4
"""The same for rows that exchange their places, because every row of such a class is looked at."""
FARTHEST = 48
"""Rows that are looked at on each side in each order to find these classes."""
LEAST_GAIN = 1e-9
"""Cells that a step must save at least, so that rounding does not decide what is done."""
EVERYTHING, CHANGED, NEAR_CHANGED = 0, 1, 2
"""Which classes are visited: all; those that changed since they were visited last; or all, but of those that did not
change only single rows, which are compared with the classes that did."""
MOST_TOGETHER = 64
"""Rows that may leave their class together, or all rows of a class that is dissolved."""


@inner_kernel
def best_class(
    rows: RefinedRows, classes: Classes, row: int, most: float, since: int, memory: Memory, checks: KernelChecks
) -> tuple[int, float]:
    """The class near a row that it can join at the least cost below `most`, and that cost; -1 where there is none.

    Of the classes, those are looked at that changed during the visit `since` or later; all of them where it is -1.
    """
    # This is where nearly all time is spent: arrays of their own are read faster than those of a tuple, and calls cost
    # more than what they would do.
    codes, form, code_start = rows.codes, rows.attributes.form, rows.attributes.code_start
    node_start, first, last = rows.attributes.node_start, rows.attributes.first, rows.attributes.last
    parent, axis, unit, word_start = rows.attributes.parent, rows.axis, rows.unit, rows.word_start
    standing, places, seen, group = classes.standing, rows.places, memory.seen, classes.group
    low, high, nodes, bits = classes.low, classes.high, classes.node, classes.bits
    loss, sizes, changed = classes.loss, classes.size, classes.changed
    n, d = codes.shape
    best = -1
    own, previous = group[row], -1
    memory.searches[0] += 1
    search = memory.searches[0]
    for side in range(2 * len(standing)):
        o, step = side >> 1, 1 if side & 1 else -1
        at, n_asked = places[o, row], 0
        for _ in range(FARTHEST):
            at += step
            if at < 0 or at >= n or n_asked == REACH:
                break
            c = standing[o, at]
            if c == previous:
                continue
            previous = c
            if c == own:
                continue
            n_asked += 1
            # What was asked for this row already is not asked again. A row that joins has the class's loss at least.
            if loss[c] >= most - LEAST_GAIN or seen[c] == search or changed[c] < since:
                continue
            seen[c] = search
            size, cost = sizes[c], loss[c]
            for a in range(d):
                code = codes[row, a]
                added = 0.0
                if form[a] == CATEGORY:
                    if (bits[c, word_start[a] + (code >> 6)] >> np.uint64(code & 63)) & np.uint64(1) == np.uint64(0):
                        added = unit[a]
                elif form[a] == HIERARCHY:
                    begin = node_start[a]
                    node = nodes[c, a]
                    before = last[begin + node] - first[begin + node]
                    while first[begin + node] > code or last[begin + node] < code:
                        node = parent[begin + node]
                    added = (last[begin + node] - first[begin + node] - before) * unit[a]
                elif code < low[c, a]:
                    added = axis[code_start[a] + low[c, a]] - axis[code_start[a] + code]
                elif code > high[c, a]:
                    added = axis[code_start[a] + code] - axis[code_start[a] + high[c, a]]
                cost += (size + 1) * added
                if cost >= most - LEAST_GAIN:
                    break
            if cost < most - LEAST_GAIN and holds(rows, classes, c, row, -1, memory, checks):
                best, most = c, cost
    return best, most


@inner_kernel
def _give_away(
    rows: RefinedRows, classes: Classes, some: Int32, most: float, memory: Memory, checks: KernelChecks
) -> float:
    """Give these rows of a class to other classes, if that costs less than `most` and what is left of their class keeps
    every requirement; returns what is saved.
    """
    own, n, d = classes.group[some[0]], len(some), rows.codes.shape[1]
    low, high, node = np.empty((n, d), np.int32), np.empty((n, d), np.int32), np.empty((n, d), np.int32)
    bits, losses = np.empty((n, classes.bits.shape[1]), np.uint64), np.empty(n)
    left, n_moved = most, 0
    for i in range(n):
        # `left` is what is still saved if the other rows cost nothing.
        c, cost = best_class(rows, classes, some[i], left, -1, memory, checks)
        if c < 0:
            break
        low[i], high[i], node[i], bits[i] = classes.low[c], classes.high[c], classes.node[c], classes.bits[c]
        losses[i] = classes.loss[c]
        unlink(rows, classes, some[i])
        link(rows, classes, c, some[i])
        cover(rows, classes, c, some[i])
        left -= cost
        n_moved += 1
    if n_moved == n and (classes.size[own] == 0 or holds(rows, classes, own, -1, -1, memory, checks)):
        note_change(classes, own)
        for row in some:
            note_change(classes, classes.group[row])
        return left
    for i in range(n_moved - 1, -1, -1):
        c = classes.group[some[i]]
        unlink(rows, classes, some[i])
        link(rows, classes, own, some[i])
        classes.low[c], classes.high[c], classes.node[c], classes.bits[c] = low[i], high[i], node[i], bits[i]
        classes.loss[c] = losses[i]
    return 0.0


@inner_kernel
def _leave_together(
    rows: RefinedRows, classes: Classes, c: int, a: int, low: int, high: int, memory: Memory, checks: KernelChecks
) -> float:
    """Give away the rows of a class whose codes of attribute a are low..high; returns the loss that is saved.

    Where several rows share what widens their class, no single one of them saves anything by leaving alone.
    """
    counts, n = memory.counts, 0
    for code in range(low, high + 1):
        n += counts[rows.attributes.code_start[a] + code]
    if n < 2 or n > MOST_TOGETHER or classes.size[c] - n < max(checks.minimum_rows, 1):
        return 0.0
    return _give_away_codes(rows, classes, c, a, low, high, n, memory, checks)


@inner_kernel
def _give_away_codes(
    rows: RefinedRows,
    classes: Classes,
    c: int,
    a: int,
    low: int,
    high: int,
    n: int,
    memory: Memory,
    checks: KernelChecks,
) -> float:
    """`_leave_together` where there are n such rows, which is a number that may leave."""
    counts, size, loss = memory.counts, classes.size[c], classes.loss[c]
    some, n, row = np.empty(n, np.int32), 0, classes.first[c]
    while row >= 0:
        if low <= rows.codes[row, a] <= high:
            some[n] = row
            n += 1
        row = classes.after[row]
    sort_in_place(some)
    lows, highs, nodes = classes.low[c].copy(), classes.high[c].copy(), classes.node[c].copy()
    bits = classes.bits[c].copy()
    for i in range(n):
        narrow(rows, classes, c, int(some[i]), counts)
    gain, saved = size * loss - (size - n) * classes.loss[c], 0.0
    if gain > LEAST_GAIN:
        saved = _give_away(rows, classes, some, gain, memory, checks)
    if saved == 0.0:
        classes.low[c], classes.high[c], classes.node[c], classes.bits[c] = lows, highs, nodes, bits
        classes.loss[c] = loss
        for i in range(n):
            count(rows, int(some[i]), counts)
    return saved


@inner_kernel
def _blocks_leave(rows: RefinedRows, classes: Classes, c: int, memory: Memory, checks: KernelChecks) -> float:
    """Let the rows leave together that share a category, an end of a range, or a node below that of the class."""
    attributes, saved = rows.attributes, 0.0
    for a in range(rows.codes.shape[1]):
        if attributes.form[a] == CATEGORY:
            for code in range(classes.low[c, a], classes.high[c, a] + 1):
                word, bit = rows.word_start[a] + (code >> 6), np.uint64(1) << np.uint64(code & 63)
                if classes.bits[c, word] & bit and classes.low[c, a] < classes.high[c, a]:
                    saved += _leave_together(rows, classes, c, a, code, code, memory, checks)
            continue
        for is_high in range(2):
            if classes.low[c, a] == classes.high[c, a]:
                break
            low = high = int(classes.high[c, a] if is_high else classes.low[c, a])
            if attributes.form[a] == HIERARCHY:
                begin, node = attributes.node_start[a], attributes.leaf[attributes.code_start[a] + low]
                while attributes.parent[begin + node] != classes.node[c, a]:
                    node = attributes.parent[begin + node]
                low, high = int(attributes.first[begin + node]), int(attributes.last[begin + node])
            saved += _leave_together(rows, classes, c, a, low, high, memory, checks)
    return saved


@inner_kernel
def _best_mate(rows: RefinedRows, classes: Classes, row: int, kind: Int32, since: int, memory: Memory) -> int:
    """The row of the same kind in a class near with which an exchange seems to save most; -1 where none seems to save.

    What a row would save by leaving is as old as `classes.saved`, and both classes are taken to cover what they cover
    now, so that the exchange has to be tried to know what it saves. `since` is that of `best_class`.
    """
    own, n = classes.group[row], len(rows.codes)
    size, mate, most = classes.size[own], -1, LEAST_GAIN
    memory.searches[0] += 1
    search = memory.searches[0]
    for side in range(2 * len(rows.places)):
        o, step = side >> 1, 1 if side & 1 else -1
        at, n_asked, previous = rows.places[o, row], 0, own
        for _ in range(FARTHEST):
            at += step
            if at < 0 or at >= n or n_asked == REACH_OF_SWAPS:
                break
            c = classes.standing[o, at]
            if c == previous:
                continue
            previous = c
            if c == own:
                continue
            n_asked += 1
            if classes.changed[c] < since or memory.seen[c] == search:
                continue
            memory.seen[c] = search
            gain, saved_there = size * classes.saved[row], classes.size[c] * classes.most_saved[c]
            if gain + saved_there <= most:
                continue
            gain -= classes.size[c] * added_by(rows, classes, c, row)
            if gain + saved_there <= most:
                continue
            other = classes.first[c]
            while other >= 0:
                total = gain + classes.size[c] * classes.saved[other]
                if total > most and kind[other] == kind[row]:
                    total -= size * added_by(rows, classes, own, other)
                    if total > most:
                        mate, most = other, total
                other = classes.after[other]
    return mate


@inner_kernel
def exchange(rows: RefinedRows, classes: Classes, one: int, other: int) -> None:
    """Put each of two rows into the class of the other."""
    c, target = classes.group[one], classes.group[other]
    unlink(rows, classes, one)
    unlink(rows, classes, other)
    link(rows, classes, target, one)
    link(rows, classes, c, other)
    cover_anew(rows, classes, c)
    cover_anew(rows, classes, target)


@inner_kernel
def _swap_rows(
    rows: RefinedRows,
    classes: Classes,
    c: int,
    some: Int32,
    kind: Int32,
    since: int,
    memory: Memory,
    checks: KernelChecks,
) -> float:
    """Exchange rows that alone widen a class for rows of other classes, of the same kind; returns the loss saved.

    `some` are the rows that the class has at first.
    """
    saved = 0.0
    note_saved(rows, classes, c, memory.counts)
    for row in some:
        if classes.saved[row] <= LEAST_GAIN:
            continue
        mate = _best_mate(rows, classes, row, kind, since, memory)
        if mate < 0:
            continue
        target = classes.group[mate]
        if not holds(rows, classes, c, mate, row, memory, checks):
            continue
        if not holds(rows, classes, target, row, mate, memory, checks):
            continue
        size, there = classes.size[c], classes.size[target]
        before = size * classes.loss[c] + there * classes.loss[target]
        exchange(rows, classes, row, mate)
        gain = before - size * classes.loss[c] - there * classes.loss[target]
        if gain <= LEAST_GAIN:
            exchange(rows, classes, row, mate)
            continue
        note_saved(rows, classes, c, memory.counts)
        note_saved(rows, classes, target, memory.counts)
        note_change(classes, c)
        note_change(classes, target)
        saved += gain
    return saved


@inner_kernel
def _are_alike(rows: RefinedRows, one: int, other: int) -> bool:
    """Whether two rows of different people have the same values, so that neither may do what the other may not."""
    if rows.people is not None:
        return False
    for a in range(rows.codes.shape[1]):
        if rows.codes[one, a] != rows.codes[other, a]:
            return False
    same = True
    for s in range(rows.cells.shape[1]):
        same &= rows.cells[one, s] == rows.cells[other, s]
    return same


@inner_kernel
def _move_rows(
    rows: RefinedRows, classes: Classes, c: int, some: Int32, since: int, memory: Memory, checks: KernelChecks
) -> float:
    """Move single rows of a class, which has the rows `some`, to other classes; returns the loss that is saved."""
    counts, saved, stays = memory.counts, 0.0, -1
    for row in some:
        if stays >= 0 and _are_alike(rows, stays, row):
            continue
        size = classes.size[c]
        gain = classes.loss[c] + (size - 1) * saved_without(rows, classes, c, row, counts)
        if gain <= LEAST_GAIN or size == 1 or not holds(rows, classes, c, -1, row, memory, checks):
            continue
        target, cost = best_class(rows, classes, row, gain, since, memory, checks)
        if target < 0:
            stays = row
            continue
        unlink(rows, classes, row)
        narrow(rows, classes, c, row, counts)
        link(rows, classes, target, row)
        cover(rows, classes, target, row)
        note_change(classes, c)
        note_change(classes, target)
        saved += gain - cost
        stays = -1
    return saved


@inner_kernel
def _begin_visit(classes: Classes, c: int) -> int:
    """Count a visit of a class; returns the number of the last one, or -1 where the class changed since then."""
    before = classes.visited[c] if classes.changed[c] < classes.visited[c] else -1
    classes.visits[0] += 1
    classes.visited[c] = classes.visits[0]
    return before


@inner_kernel
def _is_visited(classes: Classes, c: int, scope: int) -> bool:
    """Whether a class is to be looked at: it can lose less, and if only changed classes are visited, it changed."""
    if classes.size[c] == 0 or classes.loss[c] <= LEAST_GAIN:
        return False
    return scope != CHANGED or classes.changed[c] >= classes.visited[c]


@inner_kernel
def _refine_class(
    rows: RefinedRows, classes: Classes, c: int, kind: Int32, since: int, memory: Memory, checks: KernelChecks
) -> float:
    """Let rows of one class leave, alone, together or in exchange for others; returns the loss that is saved.

    Where the class did not change since a visit before, `since` is its number; else it is -1. What was tried then is
    not tried again, but for single rows with the classes that changed since.
    """
    at_first = members(classes, c)
    for row in at_first:
        count(rows, row, memory.counts)
    saved = _move_rows(rows, classes, c, at_first, since, memory, checks)
    if since < 0 or saved > 0.0:
        saved += _blocks_leave(rows, classes, c, memory, checks)
    for row in at_first:
        forget(rows, row, memory.counts)
    saved += _swap_rows(rows, classes, c, members(classes, c), kind, since, memory, checks)
    size = classes.size[c]
    if size <= MOST_TOGETHER and (since < 0 or saved > 0.0):
        saved += _give_away(rows, classes, members(classes, c), size * classes.loss[c], memory, checks)
    return saved


@inner_kernel
def new_memory(rows: RefinedRows, classes: Classes, checks: KernelChecks) -> Memory:
    """Memory in which nothing is counted and no class was asked."""
    return Memory(
        np.zeros(rows.attributes.code_start[-1], np.int64),
        np.zeros(checks.count_start[-1], np.int64),
        np.zeros(len(classes.size), np.int64),
        np.zeros(1, np.int64),
        new_tally(rows.people),
    )


@kernel
def refine_classes(
    rows: RefinedRows, classes: Classes, begin: int, end: int, scope: int, checks: KernelChecks
) -> float:
    """Refine the classes begin..end-1 in turn, or those of the `scope`; returns the loss that is saved, in cells."""
    memory, saved = new_memory(rows, classes, checks), 0.0
    same_kind = np.zeros(len(rows.codes), np.int32)
    for c in range(begin, end):
        if _is_visited(classes, c, scope):
            since = _begin_visit(classes, c)
            if scope == EVERYTHING:
                since = -1
            saved += _refine_class(rows, classes, c, same_kind, since, memory, checks)
    return saved


@kernel
def swap_rows(rows: RefinedRows, classes: Classes, kind: Int32, begin: int, end: int, checks: KernelChecks) -> float:
    """Exchange rows of the classes begin..end-1 for rows of the same kind; returns the loss that is saved, in cells.

    `kind` int32 (n_rows,). How many rows of each kind a class has never changes.
    """
    memory, saved = new_memory(rows, classes, checks), 0.0
    for c in range(begin, end):
        if classes.loss[c] > LEAST_GAIN:
            saved += _swap_rows(rows, classes, c, members(classes, c), kind, -1, memory, checks)
    return saved
