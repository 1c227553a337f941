"""Groups as compositions of signatures, and probabilities spread from compositions to rows."""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.foreground_solver import Cases
from anoncore.kernels.foreground_worlds import expected_counts


@kernel
def compositions(
    order: Int64, starts: Int64, classes: Int32, n_classes: int
) -> tuple[Int64, Int32, Int64, Int32, Int64]:
    """Groups with equally many rows of every signature, found by hashing.

    Returns the composition of each group (n_groups,), the entry of each row inside it (n_rows,), and the compositions:
    where each begins (n_compositions + 1,), the signature of each entry (ascending) and its rows.
    """
    n_groups = starts.shape[0] - 1
    composition = np.empty(n_groups, np.int64)
    entry_of_row = np.empty(order.shape[0], np.int32)
    start = np.zeros(n_groups + 1, np.int64)
    entry_class = np.empty(order.shape[0], np.int32)
    entry_count = np.empty(order.shape[0], np.int64)
    slots = 16
    while slots < 2 * n_groups:
        slots *= 2
    table = np.full(slots, -1, np.int64)
    count = np.zeros(n_classes, np.int64)
    place = np.zeros(n_classes, np.int32)
    found = 0
    for group in range(n_groups):
        begin = start[found]
        end = begin
        for position in range(starts[group], starts[group + 1]):
            one = classes[order[position]]
            if count[one] == 0:
                entry_class[end] = one
                end += 1
            count[one] += 1
        entry_class[begin:end].sort()
        for e in range(begin, end):
            place[entry_class[e]] = e - begin
            entry_count[e] = count[entry_class[e]]
        for position in range(starts[group], starts[group + 1]):
            row = order[position]
            entry_of_row[row] = place[classes[row]]
            count[classes[row]] = 0
        slot = _find(table, start, entry_class, entry_count, begin, end)
        if table[slot] < 0:
            table[slot] = found
            found += 1
            start[found] = end
        composition[group] = table[slot]
    filled = start[found]
    return (
        composition,
        entry_of_row,
        start[: found + 1].copy(),
        entry_class[:filled].copy(),
        entry_count[:filled].copy(),
    )


@inner_kernel
def _find(table: Int64, start: Int64, entry_class: Int32, entry_count: Int64, begin: int, end: int) -> int:
    """Slot of the composition that equals entries begin..end-1, or the free slot where it belongs."""
    mask = np.uint64(table.shape[0] - 1)
    key = np.uint64(end - begin)
    for e in range(begin, end):
        key = (key ^ np.uint64(entry_class[e])) * np.uint64(0x9E3779B97F4A7C15)
        key = (key ^ (key >> np.uint64(29)) ^ np.uint64(entry_count[e])) * np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(32)
    slot = int(np.int64(key & mask))
    while table[slot] >= 0:
        other = start[table[slot]]
        same = start[table[slot] + 1] - other == end - begin
        for e in range(end - begin):
            if not same:
                break
            same = entry_class[other + e] == entry_class[begin + e] and entry_count[other + e] == entry_count[begin + e]
        if same:
            return slot
        slot = (slot + 1) & (table.shape[0] - 1)
    return slot


@kernel
def case_probabilities(cases: Cases, f: Floats) -> tuple[Floats, Int64, int]:
    """p(t:x) of a row of each entry of each case, where each case begins among them, and groups that f contradicts."""
    start = np.zeros(cases.n.shape[0] + 1, np.int64)
    for case in range(cases.n.shape[0]):
        composition = cases.composition[case]
        start[case + 1] = start[case] + cases.start[composition + 1] - cases.start[composition]
    probability = np.empty(start[-1])
    contradicted = 0
    for case in range(cases.n.shape[0]):
        begin, end = cases.start[cases.composition[case]], cases.start[cases.composition[case] + 1]
        classes, counts = cases.classes[begin:end], cases.counts[begin:end]
        expected = probability[start[case] : start[case + 1]]
        if not expected_counts(f, classes, counts, cases.n[case], -1, expected):
            contradicted += cases.groups[case]
        for e in range(end - begin):
            expected[e] = min(max(expected[e] / counts[e], 0.0), 1.0)
    return probability, start, contradicted


@kernel
def spread(
    order: Int64,
    starts: Int64,
    groups: Int64,
    case_of: Int64,
    case_start: Int64,
    probability: Floats,
    entry_of_row: Int32,
    true: Int32,
    value: int,
    own: Floats,
    other: Floats,
) -> None:
    """Hand the probabilities of value x to the rows of its groups: `own` where x is true of the row, else `other`.

    Both keep the largest value so far.
    """
    for i in range(groups.shape[0]):
        begin = case_start[case_of[i]]
        for position in range(starts[groups[i]], starts[groups[i] + 1]):
            row = order[position]
            p = probability[begin + entry_of_row[row]]
            if true[row] == value:
                own[row] = max(own[row], p)
            else:
                other[row] = max(other[row], p)


@kernel
def mean_range(f: Floats, composition: Int64, start: Int64, classes: Int32) -> float:
    """Largest minus smallest share among the rows of a group, averaged over the groups."""
    n_compositions = start.shape[0] - 1
    width = np.empty(n_compositions)
    for c in range(n_compositions):
        low, high = np.inf, -np.inf
        for e in range(start[c], start[c + 1]):
            low = min(low, f[classes[e]])
            high = max(high, f[classes[e]])
        width[c] = high - low
    total = 0.0
    for group in range(composition.shape[0]):
        total += width[composition[group]]
    return total / composition.shape[0]
