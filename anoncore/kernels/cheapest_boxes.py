"""The classes that lose least for their prices: branch and bound over the boxes around a row.

The box of some rows is the cells that a class of them publishes, and its loss the sum of what these cells lose, in
whole numbers of `UNIT` per domain, so that every comparison is exact. With a price per row the excess of k rows is the
sum of their prices less k times the loss of their box. The search finds the k rows around a given row, its leader, of
which the excess is largest, among rows that cost no more than the leader. At prices of 0 they are those of the cheapest
box.

- `prices` int64 (n,): price of every row; `ranks` int64 (n,): a leader is searched among rows of no higher rank.
- `members`, `copies` int32 (n_leaders, k): the rows that were found, and how often each is among the k.

All boxes of a search hold its leader. So the cell of a hierarchy is one of the nodes above the leader's value, and as a
number it is the loss of the lowest of them that holds a row: cells of numbers and of hierarchies are both ranges around
the leader, at 0. A branch says of a row that the box holds it or does not; without it the box holds no row either by
which it would come to hold that row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bytes, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.sorting import stable_positions

UNIT = 2**32
"""The loss of a cell that covers its whole domain."""
NOTHING = -(2**62)
"""The excess where there are no k rows; all others are far above."""
MOST_DEPTH = 64
"""Rows that are put into a box one after the other at most; what would need more is left unsearched."""
PRUNINGS = 2
"""How often the rows that are left of a branch are counted anew because some were dropped."""
COARSE = 8
"""An excess above 0 is known well enough to within this part of it: prices are lowered by more than they need be."""


class BoxRows(NamedTuple):
    """The different rows of a table, sorted by the attributes of which other values cost most.

    `numbers` int64 (n, n_numbers): where numbers lie on their axis, in `UNIT` per domain. `leaves` int32 (n, n_trees):
    codes of attributes with a hierarchy. `values` int32 (n, n_sets): codes of all others, of which another value adds
    `added` int64 (n_sets,) to a box. `amounts` int64 (n,): how many rows of the table are alike.

    Hierarchies have the codes from `code_start` int64 (n_trees,) on in `leaf`, and the nodes from `node_start` int64
    (n_trees,) on in `first`, `last`, `parent` int32 and `loss` int64, that of a cell with this node.

    Rows that agree with row i in the first p attributes are `begins[p, i]`..`ends[p, i]`-1, both int64 (d + 1, n). A
    box with i and any other row loses `steps[p]` int64 (d + 1,) or more; steps fall.
    """

    numbers: Int64
    leaves: Int32
    values: Int32
    added: Int64
    amounts: Int64
    code_start: Int64
    leaf: Int32
    node_start: Int64
    first: Int32
    last: Int32
    parent: Int32
    loss: Int64
    begins: Int64
    ends: Int64
    steps: Int64


class Near(NamedTuple):
    """The m rows that may share a box with a leader, by falling price.

    `row`, `price`, `amount` int64 (m,). `offset` int64 (m, n_ranges): where a row lies from the leader, of numbers and
    then of hierarchies. `place` int64 (m, d): the row's values, numbered over all attributes; those of attribute a are
    `start[a]`..`start[a + 1]`-1, ascending, and `value` int64 says offset or code of each.
    """

    row: Int64
    price: Int64
    amount: Int64
    offset: Int64
    place: Int64
    value: Int64
    start: Int64


class Branches(NamedTuple):
    """The boxes from the leader's own to the present one, by depth, and what is known of each.

    `low`, `high` int64 (MOST_DEPTH + 1, n_ranges); the last one is scratch. `inside` uint8 (n_values,): which values of
    sets the present box has; `opened` int64 (MOST_DEPTH, n_sets) those that came with the next box, `n_opened` in
    number. `loss`, `upper` int64 (MOST_DEPTH,): loss of the box, and what no excess of a box that holds it is above.
    `begin`, `end` int64: its rows in `alive` int32. `split` int64: the row that the next box holds in addition.
    """

    low: Int64
    high: Int64
    inside: Bytes
    opened: Int64
    n_opened: Int64
    loss: Int64
    upper: Int64
    begin: Int64
    end: Int64
    split: Int64
    alive: Int32


class Scratch(NamedTuple):
    """Memory of a box: `growth` int64 (m,) what a row adds to its loss, `score` int64 (m,) the row's price less its
    part of that, `counts`, `charge` int64 (n_values,), and a `heap` int64 (2, m + 1).
    """

    growth: Int64
    score: Int64
    counts: Int64
    charge: Int64
    heap: Int64


@inner_kernel
def tree_loss(rows: BoxRows, tree: int, code: int, other: int) -> int:
    """Loss of the lowest node that holds two codes."""
    base = rows.node_start[tree]
    node = base + rows.leaf[rows.code_start[tree] + code]
    while rows.first[node] > other or rows.last[node] < other:
        node = base + rows.parent[node]
    return rows.loss[node]


@inner_kernel
def pair_loss(rows: BoxRows, i: int, j: int, limit: int) -> int:
    """Loss of the box of two rows; any number from `limit` on where it is no less than that."""
    loss = 0
    for a in range(rows.values.shape[1]):
        if rows.values[i, a] != rows.values[j, a]:
            loss += rows.added[a]
    for a in range(rows.numbers.shape[1]):
        loss += abs(rows.numbers[i, a] - rows.numbers[j, a])
    for a in range(rows.leaves.shape[1]):
        if loss < limit and rows.leaves[i, a] != rows.leaves[j, a]:
            loss += tree_loss(rows, a, rows.leaves[i, a], rows.leaves[j, a])
    return loss


@inner_kernel
def near(rows: BoxRows, leader: int, begin: int, end: int, limit: int, prices: Int64, ranks: Int64, k: int) -> Near:
    """The rows begin..end-1, but for the leader, of no higher rank, whose box with the leader loses less than limit."""
    row, m = np.empty(end - begin, np.int64), 0
    for j in range(begin, end):
        if j != leader and ranks[j] <= ranks[leader] and pair_loss(rows, leader, j, limit) < limit:
            row[m] = j
            m += 1
    row = row[:m]
    row = row[stable_positions(-prices[row])]
    n_numbers, n_trees, n_sets = rows.numbers.shape[1], rows.leaves.shape[1], rows.values.shape[1]
    n_ranges = n_numbers + n_trees
    d = n_ranges + n_sets
    price, amount, offset = np.empty(m, np.int64), np.empty(m, np.int64), np.empty((m, n_ranges), np.int64)
    place, start, value = np.empty((m, d), np.int64), np.zeros(d + 1, np.int64), np.empty(m * d, np.int64)
    for t in range(m):
        price[t], amount[t] = prices[row[t]], min(rows.amounts[row[t]], k - 1)
    column = np.empty(m, np.int64)
    for a in range(d):
        for t in range(m):
            j = row[t]
            if a < n_numbers:
                column[t] = rows.numbers[j, a] - rows.numbers[leader, a]
            elif a < n_ranges:
                tree = a - n_numbers
                column[t] = tree_loss(rows, tree, rows.leaves[leader, tree], rows.leaves[j, tree])
            else:
                column[t] = rows.values[j, a - n_ranges]
            if a < n_ranges:
                offset[t, a] = column[t]
        at = start[a] - 1
        for t in stable_positions(column):
            if at < start[a] or value[at] != column[t]:
                at += 1
                value[at] = column[t]
            place[t, a] = at
        start[a + 1] = at + 1
    return Near(row, price, amount, offset, place, value[: start[d]], start)


@inner_kernel
def branches(rows: BoxRows, leader: int, others: Near) -> Branches:
    """The box of the leader alone."""
    m, n_ranges = others.offset.shape
    n_sets = rows.values.shape[1]
    inside = np.zeros(len(others.value), np.uint8)
    for a in range(n_sets):
        for v in range(others.start[n_ranges + a], others.start[n_ranges + a + 1]):
            inside[v] = others.value[v] == rows.values[leader, a]
    alive = np.empty(m * (MOST_DEPTH + 1), np.int32)
    for t in range(m):
        alive[t] = t
    end = np.zeros(MOST_DEPTH, np.int64)
    end[0] = m
    return Branches(
        np.zeros((MOST_DEPTH + 1, n_ranges), np.int64),
        np.zeros((MOST_DEPTH + 1, n_ranges), np.int64),
        inside,
        np.zeros((MOST_DEPTH, n_sets), np.int64),
        np.zeros(MOST_DEPTH, np.int64),
        np.zeros(MOST_DEPTH, np.int64),
        np.zeros(MOST_DEPTH, np.int64),
        np.zeros(MOST_DEPTH, np.int64),
        end,
        np.zeros(MOST_DEPTH, np.int64),
        alive,
    )


@inner_kernel
def offer(heap: Int64, state: tuple[int, int, int], value: int, amount: int, r: int) -> tuple[int, int, int]:
    """Offer rows of one value to the r largest; `state` is the size of the heap, their number and their sum."""
    size, n_rows, total = state
    if n_rows >= r and value <= heap[0, 0]:
        return state
    at = size
    while at > 0 and heap[0, (at - 1) >> 1] > value:
        heap[0, at], heap[1, at] = heap[0, (at - 1) >> 1], heap[1, (at - 1) >> 1]
        at = (at - 1) >> 1
    heap[0, at], heap[1, at] = value, amount
    size, n_rows, total = size + 1, n_rows + amount, total + value * amount
    while n_rows > r:
        less = min(n_rows - r, heap[1, 0])
        heap[1, 0] -= less
        n_rows, total = n_rows - less, total - less * heap[0, 0]
        if heap[1, 0] > 0:
            continue
        size -= 1
        value, amount, at = heap[0, size], heap[1, size], 0
        while 2 * at + 1 < size:
            below = 2 * at + 1
            if below + 1 < size and heap[0, below + 1] < heap[0, below]:
                below += 1
            if heap[0, below] >= value:
                break
            heap[0, at], heap[1, at] = heap[0, below], heap[1, below]
            at = below
        heap[0, at], heap[1, at] = value, amount
    return size, n_rows, total


@inner_kernel
def drop_those_beyond(others: Near, boxes: Branches, depth: int) -> None:
    """Drop the row that the box shall not hold, and those with which the box would hold it."""
    row, n_ranges, kept = boxes.split[depth], others.offset.shape[1], boxes.begin[depth]
    for at in range(boxes.begin[depth], boxes.end[depth]):
        t = boxes.alive[at]
        holds = True
        for a in range(n_ranges):
            low, high = min(boxes.low[depth, a], others.offset[t, a]), max(boxes.high[depth, a], others.offset[t, a])
            holds = holds and low <= others.offset[row, a] <= high
        for a in range(n_ranges, others.place.shape[1]):
            v = others.place[row, a]
            holds = holds and (boxes.inside[v] > 0 or v == others.place[t, a])
        if not holds:
            boxes.alive[kept] = t
            kept += 1
    boxes.end[depth] = kept


@inner_kernel
def drop_those_far(
    rows: BoxRows, others: Near, boxes: Branches, depth: int, room: int, r: int, k: int, growth: Int64
) -> None:
    """Work out what every row adds to the box, and drop those with which no excess is large enough.

    `room` is what prices must be worth at least, beside the leader's, for the box as it is.
    """
    begin, end, n_ranges = boxes.begin[depth], boxes.end[depth], others.offset.shape[1]
    dearest, n_rows = 0, 0
    for at in range(begin, end):
        if n_rows == r - 1:
            break
        t = boxes.alive[at]
        amount = min(others.amount[t], r - 1 - n_rows)
        dearest, n_rows = dearest + amount * others.price[t], n_rows + amount
    kept = begin
    for at in range(begin, end):
        t = boxes.alive[at]
        grown = 0
        for a in range(n_ranges):
            offset = others.offset[t, a]
            grown += max(boxes.low[depth, a] - offset, 0) + max(offset - boxes.high[depth, a], 0)
        for a in range(n_ranges, others.place.shape[1]):
            if boxes.inside[others.place[t, a]] == 0:
                grown += rows.added[a - n_ranges]
        if dearest + others.price[t] - k * grown > room or grown == 0:
            growth[t] = grown
            boxes.alive[kept] = t
            kept += 1
    boxes.end[depth] = kept


@inner_kernel
def best_threshold(others: Near, boxes: Branches, depth: int, r: int, k: int, work: Scratch) -> tuple[int, int]:
    """What r rows are worth at most, as each adds to the loss of the box, and how much they add where it is most.

    The box grows at least by what the row adds that adds most: of the rows up to any growth the dearest r are taken.
    """
    begin = boxes.begin[depth]
    m = boxes.end[depth] - begin
    growth = np.empty(m, np.int64)
    for at in range(m):
        growth[at] = work.growth[boxes.alive[begin + at]]
    order = stable_positions(growth)
    state, most, threshold, at = (0, 0, 0), NOTHING, 0, 0
    while at < m:
        grown = growth[order[at]]
        while at < m and growth[order[at]] == grown:
            t = boxes.alive[begin + order[at]]
            state = offer(work.heap, state, others.price[t], others.amount[t], r)
            at += 1
        if state[1] == r and state[2] - k * grown > most:
            most, threshold = state[2] - k * grown, grown
    return most, threshold


@inner_kernel
def charge_range(others: Near, a: int, low: int, high: int, r: int, k: int, work: Scratch) -> None:
    """Charge every value of a range its part of the loss by which the range grows to hold it.

    The way from one value to the next is paid by all rows of the k that lie beyond, which are at most those that are
    left there.
    """
    start, end = others.start[a], others.start[a + 1]
    for v in range(start, end):
        if low <= others.value[v] <= high:
            work.charge[v] = 0
    n_beyond, v = 0, end - 1
    while v >= start and others.value[v] > high:
        n_beyond += work.counts[v]
        work.counts[v] = n_beyond
        v -= 1
    reached, charge, nearest = high, 0, v + 1
    for v in range(nearest, end):
        if work.counts[v] > 0:
            charge += k * (others.value[v] - reached) // min(r, work.counts[v])
            reached = others.value[v]
        work.charge[v] = charge
    n_beyond, v = 0, start
    while v < end and others.value[v] < low:
        n_beyond += work.counts[v]
        work.counts[v] = n_beyond
        v += 1
    reached, charge, nearest = low, 0, v - 1
    for v in range(nearest, start - 1, -1):
        if work.counts[v] > 0:
            charge += k * (reached - others.value[v]) // min(r, work.counts[v])
            reached = others.value[v]
        work.charge[v] = charge


@inner_kernel
def best_charged(
    rows: BoxRows, others: Near, boxes: Branches, depth: int, r: int, k: int, work: Scratch
) -> tuple[int, int]:
    """What r rows are worth at most, where each pays its part of the loss that is added, and the least that one is.

    A value that the box lacks is paid by the rows of the k that have it, which are at most those that are left with it.
    """
    begin, end, n_ranges, d = boxes.begin[depth], boxes.end[depth], others.offset.shape[1], others.place.shape[1]
    work.counts[:] = 0
    for at in range(begin, end):
        t = boxes.alive[at]
        for a in range(d):
            work.counts[others.place[t, a]] += others.amount[t]
    for a in range(n_ranges):
        charge_range(others, a, boxes.low[depth, a], boxes.high[depth, a], r, k, work)
    for a in range(n_ranges, d):
        for v in range(others.start[a], others.start[a + 1]):
            is_new = boxes.inside[v] == 0 and work.counts[v] > 0
            work.charge[v] = k * rows.added[a - n_ranges] // min(r, work.counts[v]) if is_new else 0
    for at in range(begin, end):
        t = boxes.alive[at]
        work.score[t] = others.price[t]
        for a in range(d):
            work.score[t] -= work.charge[others.place[t, a]]
    return best_scores(others, boxes, depth, r, work)


@inner_kernel
def best_scores(others: Near, boxes: Branches, depth: int, r: int, work: Scratch) -> tuple[int, int]:
    """The sum of the r largest scores and the least of them; the sum is `NOTHING` where there are fewer rows."""
    state = (0, 0, 0)
    for at in range(boxes.begin[depth], boxes.end[depth]):
        t = boxes.alive[at]
        state = offer(work.heap, state, work.score[t], others.amount[t], r)
    if state[1] < r:
        return NOTHING, NOTHING
    return state[2], work.heap[0, 0]


@inner_kernel
def most_worth(
    rows: BoxRows, others: Near, boxes: Branches, depth: int, room: int, r: int, k: int, work: Scratch
) -> tuple[int, int]:
    """What r rows are worth at most less k times what they add to the loss of the box, and the least score of r rows.

    Rows with which that is no more than `room` are dropped. Scores are those by which the rows were valued last.
    """
    drop_those_far(rows, others, boxes, depth, room, r, k, work.growth)
    most, threshold = best_threshold(others, boxes, depth, r, k, work)
    is_charged = False
    for _ in range(PRUNINGS):
        if most <= room:
            return most, NOTHING
        worth, least = best_charged(rows, others, boxes, depth, r, k, work)
        if worth < most:
            most, is_charged = worth, True
        kept = boxes.begin[depth]
        for at in range(boxes.begin[depth], boxes.end[depth]):
            t = boxes.alive[at]
            if worth - least + work.score[t] > room:
                boxes.alive[kept] = t
                kept += 1
        if kept == boxes.end[depth]:
            break
        boxes.end[depth] = kept
    if not is_charged:
        for at in range(boxes.begin[depth], boxes.end[depth]):
            t = boxes.alive[at]
            work.score[t] = others.price[t] - (k * work.growth[t] // r if work.growth[t] > threshold else 0)
    worth, least = best_scores(others, boxes, depth, r, work)
    return (NOTHING if worth == NOTHING else most), least


@inner_kernel
def take(
    rows: BoxRows,
    others: Near,
    boxes: Branches,
    depth: int,
    least: int,
    r: int,
    work: Scratch,
    taken: Int32,
    copies: Int32,
) -> tuple[int, int, int, int]:
    """Take the r rows of the largest scores into `taken` and `copies`, from 1 on.

    Returns how many different ones they are, the sum of their prices, the loss of the box with them, and the one of
    them that adds most to the box, -1 where none adds anything.
    """
    n_ranges, d = others.offset.shape[1], others.place.shape[1]
    low, high = boxes.low[MOST_DEPTH], boxes.high[MOST_DEPTH]
    low[:], high[:] = boxes.low[depth], boxes.high[depth]
    n_taken, worth, loss, split, missing = 0, 0, boxes.loss[depth], -1, r
    # Rows above the least score first: only so many of those with just that are taken as there is room for.
    for above in (True, False):
        for at in range(boxes.begin[depth], boxes.end[depth]):
            t = boxes.alive[at]
            if missing == 0 or work.score[t] < least or (work.score[t] > least) != above:
                continue
            n_taken += 1
            taken[n_taken], copies[n_taken] = t, min(others.amount[t], missing)
            missing, worth = missing - copies[n_taken], worth + copies[n_taken] * others.price[t]
            if work.growth[t] > (0 if split < 0 else work.growth[split]):
                split = t
            for a in range(n_ranges):
                low[a], high[a] = min(low[a], others.offset[t, a]), max(high[a], others.offset[t, a])
            for a in range(n_ranges, d):
                if boxes.inside[others.place[t, a]] == 0:
                    boxes.inside[others.place[t, a]] = 2
                    loss += rows.added[a - n_ranges]
    for a in range(n_ranges):
        loss += high[a] - low[a] - boxes.high[depth, a] + boxes.low[depth, a]
    for at in range(1, n_taken + 1):
        for a in range(n_ranges, d):
            if boxes.inside[others.place[taken[at], a]] == 2:
                boxes.inside[others.place[taken[at], a]] = 0
    return n_taken, worth, loss, split


@inner_kernel
def enter(others: Near, boxes: Branches, depth: int, split: int, growth: int) -> None:
    """Make the next box: the present one and a row."""
    n_ranges, begin, end = others.offset.shape[1], boxes.begin[depth], boxes.end[depth]
    boxes.split[depth], boxes.n_opened[depth], boxes.loss[depth + 1] = split, 0, boxes.loss[depth] + growth
    for a in range(n_ranges):
        boxes.low[depth + 1, a] = min(boxes.low[depth, a], others.offset[split, a])
        boxes.high[depth + 1, a] = max(boxes.high[depth, a], others.offset[split, a])
    for a in range(n_ranges, others.place.shape[1]):
        v = others.place[split, a]
        if boxes.inside[v] == 0:
            boxes.inside[v] = 1
            boxes.opened[depth, boxes.n_opened[depth]] = v
            boxes.n_opened[depth] += 1
    boxes.begin[depth + 1], boxes.end[depth + 1] = end, 2 * end - begin
    boxes.alive[end : 2 * end - begin] = boxes.alive[begin:end]


@inner_kernel
def enough(best: int, slack: int) -> int:
    """The excess that one has to be above to be worth a search."""
    return best + max(slack, best // COARSE)


@inner_kernel
def largest_excess(
    rows: BoxRows,
    leader: int,
    others: Near,
    k: int,
    floor: int,
    price: int,
    slack: int,
    most_boxes: int,
    members: Int32,
    copies: Int32,
) -> tuple[int, int, int, int, int]:
    """The largest excess above `floor` of k rows with the leader, to within `slack`.

    Returns it, what no excess is above, how many different rows it has, the loss of their box, and how many boxes were
    looked at. Where no excess is above the floor, it is the floor, and no rows.
    """
    own = min(rows.amounts[leader], k)
    r, m = k - own, len(others.row)
    best, upper, n_members, best_loss, n_boxes, depth = floor, floor, 0, 0, 0, 0
    if r == 0:
        members[0], copies[0] = leader, k
        return k * price, k * price, 1, 0, 0
    boxes = branches(rows, leader, others)
    n_values = len(others.value)
    work = Scratch(
        np.empty(m, np.int64),
        np.empty(m, np.int64),
        np.empty(n_values, np.int64),
        np.empty(n_values, np.int64),
        np.empty((2, m + 1), np.int64),
    )
    taken, amounts = np.empty(k + 1, np.int32), np.empty(k + 1, np.int32)
    while depth >= 0:
        n_boxes += 1
        base = own * price - k * boxes.loss[depth]
        most, least = most_worth(rows, others, boxes, depth, enough(best, slack) - base, r, k, work)
        boxes.upper[depth], split = max(most, NOTHING - base) + base, -1
        if boxes.upper[depth] > enough(best, slack):
            n_taken, worth, loss, split = take(rows, others, boxes, depth, least, r, work, taken, amounts)
            if own * price + worth - k * loss > best:
                best, best_loss, n_members = own * price + worth - k * loss, loss, n_taken + 1
                members[0], copies[0] = leader, own
                for at in range(1, n_members):
                    members[at], copies[at] = others.row[taken[at]], amounts[at]
        if split >= 0 and boxes.upper[depth] > enough(best, slack):
            if n_boxes < most_boxes and depth + 1 < MOST_DEPTH:
                enter(others, boxes, depth, split, work.growth[split])
                depth += 1
                continue
            # What is not searched stays possible: here, and without the last row of each box above.
            for at in range(depth + 1):
                upper = max(upper, boxes.upper[at])
            break
        upper = max(upper, min(boxes.upper[depth], enough(best, slack)))
        depth -= 1
        if depth >= 0:
            for at in range(boxes.n_opened[depth]):
                boxes.inside[boxes.opened[depth, at]] = 0
            drop_those_beyond(others, boxes, depth)
    # Rows were dropped where they led to no more than was enough at that time.
    return best, max(upper, enough(best, slack)), n_members, best_loss, n_boxes


@kernel
def search_boxes(
    rows: BoxRows,
    leaders: Int64,
    k: int,
    prices: Int64,
    ranks: Int64,
    is_priced: bool,
    slack: int,
    most_boxes: int,
    excess: Int64,
    sizes: Int64,
    losses: Int64,
    members: Int32,
    copies: Int32,
) -> int:
    """Search the largest excess around each leader, and lower its price by what no excess is above.

    Without prices, which are 0 then, it is the cheapest box of k rows around each leader, whatever its loss; -`excess`
    is k times a loss that none is below. Written are, for each leader, `excess`, `sizes`, `losses` int64 (n_leaders,):
    what no excess is above, the number of different rows of the one that was found, and the loss of their box.

    With prices the ranks are all different, and no leader comes before rows of lower ranks. So prices break no set of k
    rows at the end: the one of the highest rank in it was searched when all others had their final price.

    Returns how many boxes were looked at.
    """
    n_boxes = 0
    for at in range(len(leaders)):
        i = leaders[at]
        excess[at], sizes[at], losses[at] = 0, 0, 0
        if is_priced and prices[i] <= 0:
            # No row costs more than the leader, so that nothing is above 0.
            continue
        p = len(rows.steps) - 1
        while is_priced and rows.steps[p] < prices[i]:
            p -= 1
        while True:
            # With prices no box is looked for that loses more than its dearest row costs, else none beyond the block.
            limit = prices[i] if is_priced else rows.steps[p]
            floor = 0 if is_priced else -k * limit
            others = near(rows, i, rows.begins[p, i], rows.ends[p, i], limit, prices, ranks, k)
            _, upper, n_members, loss, n_looked = largest_excess(
                rows, i, others, k, floor, prices[i], slack, most_boxes, members[at], copies[at]
            )
            n_boxes += n_looked
            if is_priced or n_members > 0 or p == 0:
                break
            p -= 1
            while p > 0 and rows.steps[p] == rows.steps[p + 1]:
                p -= 1
        excess[at], sizes[at], losses[at] = upper, n_members, loss
        if is_priced:
            prices[i] -= max(upper, 0)
    return n_boxes
