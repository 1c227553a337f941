"""What need not be solved for by itself: values that pose the same problem, and signatures that nothing tells apart.

- `rows` int64 (m,): number of people of each of the m signatures that are solved for; all others are of class m.
- `start`, `fixed` float (n_values,): the share that every signature of a value begins with, and that of class m.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Floats, Int64
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.foreground_cases import Cases, Occurrences, mixed
from anoncore.kernels.sorting import filled_with, stable_positions


@kernel
def first_like(cases: Cases, held: Occurrences, rows: Int64, start: Floats, fixed: Floats) -> Int64:
    """The first value that poses the same problem as each value, int64 (n_values,).

    Two problems are the same if they differ by the names of signatures alone, and these stand in the same order: then
    all numbers of both are the same to the last bit. That is so of most values which only one person of a group has.
    """
    n_values, m = len(start), len(rows)
    like = np.arange(n_values)
    place, other_place = filled_with(m + 1, -1), filled_with(m + 1, -1)
    slots = 16
    while slots < 2 * n_values:
        slots *= 2
    table, mask = filled_with(slots, -1), np.uint64(slots - 1)
    for value in range(n_values):
        key = _numbered(cases, held, rows, value, place) & mask
        while table[key] >= 0:
            other = table[key]
            if start[other] == start[value] and fixed[other] == fixed[value]:
                _numbered(cases, held, rows, other, other_place)
                if _is_same(cases, held, rows, value, place, other, other_place):
                    like[value] = other
                    break
            key = (key + np.uint64(1)) & mask
        if table[key] < 0:
            table[key] = value
    return like


@inner_kernel
def _numbered(cases: Cases, held: Occurrences, rows: Int64, value: int, place: Int64) -> np.uint64:
    """Write the place of each signature of a value among these, and return a hash of its problem."""
    supports, key = held.supports, np.uint64(0)
    start, classes, counts = cases.start, cases.classes, cases.counts
    for j in range(supports.size[value]):
        signature = supports.classes[supports.at[value] + j]
        place[signature] = j
        key = mixed(key + np.uint64(rows[signature]))
    for i in range(held.value_start[value], held.value_start[value + 1]):
        own = cases.composition[held.case[i]]
        key = mixed(key + np.uint64(cases.n[held.case[i]]))
        for e in range(start[own], start[own + 1]):
            key = mixed(key + np.uint64(place[classes[e]] + 1) + np.uint64(counts[e]) * np.uint64(0x9E3779B97F4A7C15))
    return key


@inner_kernel
def _is_same(
    cases: Cases, held: Occurrences, rows: Int64, value: int, place: Int64, other: int, other_place: Int64
) -> bool:
    """Whether two values pose the same problem, by the places of their signatures."""
    supports, first, last = held.supports, held.value_start[value], held.value_start[value + 1]
    size, shift = supports.size[value], held.value_start[other] - first
    if size != supports.size[other] or last + shift != held.value_start[other + 1]:
        return False
    for j in range(size):
        here, there = supports.at[value] + j, supports.at[other] + j
        if (
            rows[supports.classes[here]] != rows[supports.classes[there]]
            or supports.certain[here] != supports.certain[there]
        ):
            return False
    for i in range(first, last):
        case, other_case = held.case[i], held.case[i + shift]
        own, others = cases.composition[case], cases.composition[other_case]
        begin, entries = cases.start[own], cases.start[own + 1] - cases.start[own]
        ahead = cases.start[others] - begin
        if (
            held.groups[i] != held.groups[i + shift]
            or cases.n[case] != cases.n[other_case]
            or entries != cases.start[others + 1] - cases.start[others]
        ):
            return False
        for e in range(begin, begin + entries):
            if (
                cases.counts[e] != cases.counts[e + ahead]
                or place[cases.classes[e]] != other_place[cases.classes[e + ahead]]
            ):
                return False
    return True


@kernel
def alike_signatures(
    cases: Cases, held: Occurrences, m: int, values: Int64, primes: Int64, inverses: Int64
) -> tuple[Int64, Int64]:
    """Signatures of each of the `values` that nothing tells apart: where its numbers begin, int64 (v + 1,), and these.

    Each has a number of the unknown for every signature of its support and, where there are others, one for all of
    these together, which nobody with x has. `inverses` int64 (n_primes, m): the inverse of each signature's rows modulo
    each of the two `primes`.
    """
    supports, begin = held.supports, np.zeros(len(values) + 1, np.int64)
    for i in range(len(values)):
        begin[i + 1] = begin[i] + supports.size[values[i]] + (supports.size[values[i]] < m)
    alike = np.zeros(begin[-1], np.int64)
    colour, keys = np.zeros(m + 1, np.int64), np.zeros((len(primes), m + 1), np.int64)
    for i in range(len(values)):
        numbers, n_alike = alike[begin[i] : begin[i + 1]], 1
        classes = supports.classes[supports.at[values[i]] : supports.at[values[i]] + supports.size[values[i]]]
        while n_alike < len(numbers):
            colour[m] = n_alike
            for j in range(len(classes)):
                colour[classes[j]] = numbers[j]
            of_number = np.zeros((len(primes), len(numbers)), np.int64)
            for p in range(len(primes)):
                _signature_keys(cases, held, values[i], colour, primes[p], inverses[p], keys[p])
                for j in range(len(classes)):
                    of_number[p, j] = keys[p, classes[j]]
            finer, n_finer = _finer(numbers, of_number)
            if n_finer == n_alike:
                break
            numbers[:] = finer
            n_alike = n_finer
    return begin, alike


@inner_kernel
def _finer(numbers: Int64, keys: Int64) -> tuple[Int64, int]:
    """Numbers of those who agree in their number so far and in all `keys`, in the order of both; and how many."""
    # Whoever was told apart before still is: the number so far comes first, and so is sorted by last.
    order = stable_positions(keys[len(keys) - 1])
    for p in range(len(keys) - 2, -1, -1):
        order = order[stable_positions(keys[p][order])]
    order = order[stable_positions(numbers[order])]
    finer, n_finer = np.zeros(len(numbers), np.int64), 0
    for i in range(len(order)):
        if i > 0:
            here, before = order[i], order[i - 1]
            differs = numbers[here] != numbers[before]
            for p in range(len(keys)):
                differs = differs or keys[p, here] != keys[p, before]
            n_finer += differs
        finer[order[i]] = n_finer
    return finer, n_finer + 1


@inner_kernel
def _signature_keys(
    cases: Cases, held: Occurrences, value: int, colour: Int64, prime: int, inverse: Int64, keys: Int64
) -> None:
    """Write what a step of expectation-maximization can see of each signature of a value, where steps keep it equal.

    `colour` int64 (m + 1,) tells signatures apart so far. A step sees the signature's people by case, as shares of all
    its people, and of a case the people of each colour and n. Both are sums of hashes, modulo `prime`; `inverse` int64
    (m,) has the inverse of each signature's number of people modulo the prime, for a product is a division by it.
    """
    supports = held.supports
    for j in range(supports.at[value], supports.at[value] + supports.size[value]):
        keys[supports.classes[j]] = np.int64(supports.certain[j]) % prime
    for i in range(held.value_start[value], held.value_start[value + 1]):
        case = held.case[i]
        begin, end = cases.start[cases.composition[case]], cases.start[cases.composition[case] + 1]
        people = np.uint64(0)
        for e in range(begin, end):
            people += np.uint64(cases.counts[e]) * mixed(np.uint64(colour[cases.classes[e]]) + np.uint64(prime))
        seen = np.int64(mixed(people ^ mixed(np.uint64(cases.n[case]))) % np.uint64(prime))
        for e in range(begin, end):
            signature = cases.classes[e]
            if signature < len(inverse):
                people_here = (held.groups[i] * cases.counts[e]) % prime
                keys[signature] = (keys[signature] + people_here * seen) % prime
    for j in range(supports.at[value], supports.at[value] + supports.size[value]):
        keys[supports.classes[j]] = keys[supports.classes[j]] * inverse[supports.classes[j]] % prime
