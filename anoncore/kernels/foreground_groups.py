"""Groups as compositions of signatures, and probabilities spread from compositions to rows.

Two groups with equally many rows of every signature have one composition and look alike to the adversary. p(t:x), the
probability that person t has the value x, is computed once for each entry of a composition (a signature) and number of
rows with x (together a case), then handed to the rows.

- `order` int64 (n_rows,), `starts` int64 (n_groups + 1,): rows by group; those of group g at `starts[g]:starts[g + 1]`.
- `classes` int32 (n_rows,): signature of every row; rare signatures share the last one.
- `entry_of_row` int32 (n_rows,): the entry of its group's composition that a row belongs to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.foreground_solver import Cases
from anoncore.kernels.foreground_worlds import expected_counts


class GroupedRows(NamedTuple):
    """Rows by group, as above, and `true` int32 (n_rows,): the code of the value that each row has."""

    order: Int64
    starts: Int64
    entry_of_row: Int32
    true: Int32


class CaseProbabilities(NamedTuple):
    """p(t:x) for a person of each entry of each case, float: those of case i at `probability[start[i]:start[i + 1]]`.

    `contradicted` counts the groups in which the shares allow no world; there every row has n / N.
    """

    probability: Floats
    start: Int64
    contradicted: int


@kernel
def compositions(
    order: Int64, starts: Int64, classes: Int32, n_classes: int
) -> tuple[Int64, Int32, Int64, Int32, Int64]:
    """Groups with equally many rows of every signature.

    Returns the composition of each group (n_groups,), `entry_of_row`, and the compositions: where each begins
    (n_compositions + 1,), the signature of each entry (ascending) and its rows.
    """
    n_groups = starts.shape[0] - 1
    composition = np.empty(n_groups, np.int64)
    entry_of_row = np.empty(order.shape[0], np.int32)
    start = np.zeros(n_groups + 1, np.int64)
    entry_class = np.empty(order.shape[0], np.int32)
    entry_count = np.empty(order.shape[0], np.int64)
    # An open-addressing hash table, of which at most half is ever filled; its size is a power of two, so that the
    # position of a hash in it is a mask and not a division.
    slots = 16
    while slots < 2 * n_groups:
        slots *= 2
    table = np.full(slots, -1, np.int64)
    count = np.zeros(n_classes, np.int64)
    entry_of = np.zeros(n_classes, np.int32)
    n_compositions = 0
    for group in range(n_groups):
        # The group's entries are written behind those of all compositions; they stay there only if it is a new one.
        begin = start[n_compositions]
        end = begin
        for position in range(starts[group], starts[group + 1]):
            signature = classes[order[position]]
            if count[signature] == 0:
                entry_class[end] = signature
                end += 1
            count[signature] += 1
        entry_class[begin:end].sort()
        for e in range(begin, end):
            entry_of[entry_class[e]] = e - begin
            entry_count[e] = count[entry_class[e]]
        for position in range(starts[group], starts[group + 1]):
            row = order[position]
            entry_of_row[row] = entry_of[classes[row]]
            count[classes[row]] = 0
        slot = _find(table, start, entry_class, entry_count, begin, end)
        if table[slot] < 0:
            table[slot] = n_compositions
            n_compositions += 1
            start[n_compositions] = end
        composition[group] = table[slot]
    filled = start[n_compositions]
    return (
        composition,
        entry_of_row,
        start[: n_compositions + 1].copy(),
        entry_class[:filled].copy(),
        entry_count[:filled].copy(),
    )


@inner_kernel
def _find(table: Int64, start: Int64, entry_class: Int32, entry_count: Int64, begin: int, end: int) -> int:
    """Slot of the composition that equals entries begin..end-1, or the free slot where it belongs."""
    # Multiplying by odd constants and folding the high bits down mixes every bit of the entries into the low bits,
    # which choose the slot. Equal hashes decide nothing: the entries themselves are compared.
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
def case_probabilities(cases: Cases, f: Floats) -> CaseProbabilities:
    """The probabilities of all cases if the signatures have the shares f, float (n_signatures,)."""
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
    return CaseProbabilities(probability, start, contradicted)


@kernel
def spread(
    rows: GroupedRows,
    groups: Int64,
    case_of: Int64,
    cases: CaseProbabilities,
    value: int,
    own: Floats,
    other: Floats,
) -> None:
    """Hand the probabilities of value x to the rows of the groups that publish x.

    `groups` int64 are these groups, `case_of` the case of each. `own` float (n_rows,) gets p where x is true of the
    row, `other` float (n_rows,) where it is not; both keep the largest p so far.
    """
    for i in range(groups.shape[0]):
        begin = cases.start[case_of[i]]
        for position in range(rows.starts[groups[i]], rows.starts[groups[i] + 1]):
            row = rows.order[position]
            p = cases.probability[begin + rows.entry_of_row[row]]
            if rows.true[row] == value:
                own[row] = max(own[row], p)
            else:
                other[row] = max(other[row], p)


@kernel
def mean_range(f: Floats, composition: Int64, start: Int64, classes: Int32) -> float:
    """Largest minus smallest share among the rows of a group, averaged over the groups.

    `composition` int64 (n_groups,): composition of each group; the signatures in composition c are
    `classes[start[c]:start[c + 1]]`.
    """
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
