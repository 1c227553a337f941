"""Learned shares p(s:x) of many values, and the signatures whose people may have a value.

Most values of a secret such as a salary stand in few groups. Only the signatures of people in these groups may have
the value; the share of all others is 0 and not stored. So what is learned takes memory and time in proportion to the
rows, and not to the signatures times the values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel
from anoncore.kernels.grouping import owners
from anoncore.kernels.sorting import filled_with, sort_in_place


class Supports(NamedTuple):
    """The signatures whose people may have value x, ascending: `classes[at[x] + j]` for j from 0 to size[x] - 1.

    Rare signatures, of class m, are left out. `certain` float (len(classes),) counts the rows of each signature that
    surely have x, because everybody in their group looks alike. Values may share their signatures.
    """

    at: Int64
    size: Int64
    classes: Int32
    certain: Floats


class LearnedShares(NamedTuple):
    """The shares of every value x in m signatures.

    For j from 0 to size[x] - 1, `shares[at[x] + j]` is the share in signature `classes[classes_at[x] + j]`; it is 0 in
    all other signatures. `fixed` float (n_values,) is that of people of class m, whose signature is rare; negative
    where it is that of each group itself. `like` int64 (n_values,): the first value that differs from x by the names of
    its signatures alone, so that both have the same numbers.
    """

    m: int
    classes_at: Int64
    at: Int64
    size: Int64
    classes: Int32
    shares: Floats
    fixed: Floats
    like: Int64


def stored(shares: Floats, fixed: Floats) -> LearnedShares:
    """Shares of every value in every signature, float (n_values, m), as they are stored."""
    n_values, m = shares.shape
    every, number = np.arange(m, dtype=np.int32), np.arange(n_values)
    size = np.full(n_values, m)
    return LearnedShares(m, np.zeros(n_values, np.int64), m * number, size, every, shares.ravel(), fixed, number)


def positions(at: Int64, size: Int64) -> Int64:
    """The numbers from at[x] to at[x] + size[x] - 1, for one x after the other."""
    return np.repeat(at - np.cumsum(size) + size, size) + np.arange(size.sum())


def written_out(learned: LearnedShares) -> Floats:
    """The shares of every value in every signature, float (n_values, m)."""
    shares = np.zeros((len(learned.at), learned.m))
    classes = learned.classes[positions(learned.classes_at, learned.size)]
    values = learned.shares[positions(learned.at, learned.size)]
    shares[owners(learned.size), classes] = values
    return shares


def shares_of(learned: LearnedShares, value: int) -> Floats:
    """The share of one value in every signature, float (m,)."""
    shares, size, begin = np.zeros(learned.m), learned.size[value], learned.classes_at[value]
    classes = learned.classes[begin : begin + size]
    shares[classes] = learned.shares[learned.at[value] : learned.at[value] + size]
    return shares


def with_shares_of(learned: LearnedShares, value: int, shares: Floats) -> LearnedShares:
    """The same with other shares of one value, float (m,)."""
    classes_at, at, size = learned.classes_at.copy(), learned.at.copy(), learned.size.copy()
    classes_at[value], at[value], size[value] = len(learned.classes), len(learned.shares), learned.m
    return learned._replace(
        classes_at=classes_at,
        at=at,
        size=size,
        classes=np.append(learned.classes, np.arange(learned.m, dtype=np.int32)),
        shares=np.append(learned.shares, shares),
        like=np.arange(len(at)),
    )


@inner_kernel
def supports_of(
    start: Int64,
    classes: Int32,
    composition_of_pair: Int64,
    n: Int64,
    value_start: Int64,
    occurrence_of_pair: Int64,
    case_of_occurrence: Int64,
    composition_of_case: Int64,
    occurrence_start: Int64,
    rare: int,
) -> Supports:
    """The supports of all values.

    Composition c has people of the signatures classes[start[c]:start[c + 1]]. The pairs of value x, and its
    occurrences, are those from value_start[x] and occurrence_start[x] on. Pairs without an occurrence are groups in
    which everybody looks alike, `n` of whom have x.
    """
    n_values = len(value_start) - 1
    first_of_case = filled_with(len(composition_of_case), -1)
    at, size, owner, room = np.zeros(n_values, np.int64), np.zeros(n_values, np.int64), np.arange(n_values), 0
    for value in range(n_values):
        entries, n_alike = 0, 0
        for i in range(occurrence_start[value], occurrence_start[value + 1]):
            own = composition_of_case[case_of_occurrence[i]]
            entries += start[own + 1] - start[own]
        for pair in range(value_start[value], value_start[value + 1]):
            n_alike += occurrence_of_pair[pair] < 0
        # Values that occur once, in equal groups, share their signatures: in large groups all would take much memory.
        if occurrence_start[value + 1] - occurrence_start[value] == 1 and n_alike == 0:
            case = case_of_occurrence[occurrence_start[value]]
            if first_of_case[case] < 0:
                first_of_case[case] = value
            owner[value] = first_of_case[case]
        if owner[value] == value:
            room += min(rare, entries + n_alike)
    support, certain, free = np.empty(room, np.int32), np.zeros(room), 0
    last_value, rows_with_x = filled_with(rare + 1, -1), np.zeros(rare + 1)
    for value in range(n_values):
        if owner[value] < value:
            at[value], size[value] = at[owner[value]], size[owner[value]]
            continue
        at[value], last_value[rare] = free, value
        for i in range(occurrence_start[value], occurrence_start[value + 1]):
            own = composition_of_case[case_of_occurrence[i]]
            for e in range(start[own], start[own + 1]):
                if last_value[classes[e]] != value:
                    last_value[classes[e]] = value
                    support[free] = classes[e]
                    free += 1
        for pair in range(value_start[value], value_start[value + 1]):
            if occurrence_of_pair[pair] < 0:
                signature = classes[start[composition_of_pair[pair]]]
                rows_with_x[signature] += n[pair]
                if last_value[signature] != value:
                    last_value[signature] = value
                    support[free] = signature
                    free += 1
        size[value] = free - at[value]
        sort_in_place(support[at[value] : free])
        for j in range(at[value], free):
            certain[j] = rows_with_x[support[j]]
            rows_with_x[support[j]] = 0.0
    return Supports(at, size, support[:free].copy(), certain[:free].copy())
