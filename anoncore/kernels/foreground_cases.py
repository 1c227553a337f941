"""Groups as the adversary sees them: how many people of each signature, and how many of them have a value x.

Two groups with equally many rows of every signature have one composition; with equally many rows with x as well they
are one case, and everything about x is computed once for both. Which value x is does not matter to a case, so all
values share the cases of an attribute set, and what is counted once for a case serves every value and every step.

- `order` int64 (n_rows,), `starts` int64 (n_groups + 1,): rows by group; those of group g at `starts[g]:starts[g + 1]`.
- `classes` int32 (n_rows,): signature of every row, 0..m; rare signatures share the last one, m.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.foreground_circle import POINTS, WIDTH, expect_around
from anoncore.kernels.foreground_shares import Supports, supports_of
from anoncore.kernels.foreground_worlds import expected_counts, set_share_of_group
from anoncore.kernels.sorting import filled_with, sort_in_place

LOG_RANGE = 280.0
"""Numbers of ways, and products of odds, stay below e^280 each: their products are far inside the range of a double."""
TINY, HUGE = 1e-250, 1e250
MANY = 32
"""From so many people with x on, a sum around a circle is quicker than multiplying three polynomials or more."""


class Compositions(NamedTuple):
    """Composition c has `counts[e]` rows of signature `classes[e]` for the entries e in start[c]:start[c + 1].

    The classes of a composition ascend. `of_group` int64 (n_groups,) is the composition of each group.
    """

    start: Int64
    classes: Int32
    counts: Int64
    of_group: Int64


class Cases(NamedTuple):
    """Case i: a group of composition `composition[i]`, of two entries or more, in which `n[i]` people have x.

    `ways[ways_start[i]:ways_start[i + 1]]` says in how many ways so many people of an entry may have x. For two entries
    it begins with the smallest possible number in the first one, the rest being in the second. For more it is a list
    for each entry after the other, from 0 people to all or n. It is empty where it is not needed (one person with x)
    and where its numbers would be too large for a double. The other fields are those of Compositions.
    """

    start: Int64
    classes: Int32
    counts: Int64
    composition: Int64
    n: Int64
    ways_start: Int64
    ways: Floats


class Occurrences(NamedTuple):
    """In how many groups each value meets which case: `groups[i]` groups are case `case[i]`.

    The occurrences of value x are those in value_start[x]:value_start[x + 1], each case at most once. Groups in which
    everybody looks alike are no case; their rows with x are `certain` in the supports.
    """

    value_start: Int64
    case: Int64
    groups: Int64
    supports: Supports


@kernel
def refine(classes: Int32, codes: Int32, m: int, size: int, minimum_rows: float) -> tuple[Int32, Int64, Int64]:
    """Split m signatures by the codes 0..size-1 of one more attribute, and keep those with enough rows.

    Returns the signature of every row (n_rows,), and of each one that is kept its number before the split times `size`
    plus its code, and its rows.
    """
    # Rows without a signature are counted behind all others, which costs less than asking every row whether it has one.
    rows, number = np.zeros((m + 1) * size, np.int64), np.empty((m + 1) * size, np.int32)
    for row in range(len(codes)):
        rows[classes[row] * size + codes[row]] += 1
    n_kept = 0
    for i in range(m * size):
        n_kept += rows[i] >= minimum_rows
    kept, rows_kept = np.empty(n_kept, np.int64), np.empty(n_kept, np.int64)
    refined, place = np.empty(len(codes), np.int32), 0
    number[:] = n_kept
    for i in range(m * size):
        if rows[i] >= minimum_rows:
            kept[place], rows_kept[place], number[i] = i, rows[i], place
            place += 1
    for row in range(len(codes)):
        refined[row] = number[classes[row] * size + codes[row]]
    return refined, kept, rows_kept


@kernel
def compositions(order: Int64, starts: Int64, classes: Int32, n_classes: int) -> Compositions:
    """Find the groups with equally many rows of every signature."""
    n_groups = len(starts) - 1
    of_group = np.empty(n_groups, np.int64)
    start = np.zeros(n_groups + 1, np.int64)
    entry_class = np.empty(len(order), np.int32)
    entry_count = np.empty(len(order), np.int64)
    # The hash of a group is the sum of a number of 64 bits for each of its rows, so their order does not matter and
    # nothing needs to be sorted before the hash is known. Equal hashes decide nothing: the entries are compared.
    hashes = np.empty(n_classes, np.uint64)
    for signature in range(n_classes):
        hashes[signature] = mixed(np.uint64(signature))
    # An open-addressing hash table, of which at most half is ever filled; its size is a power of two, so that the
    # position of a hash in it is a mask and not a division.
    slots = 16
    while slots < 2 * n_groups:
        slots *= 2
    table, mask = filled_with(slots, -1), np.uint64(slots - 1)
    count = np.zeros(n_classes, np.int64)
    n_compositions = 0
    for group in range(n_groups):
        # The group's signatures are written behind all compositions; they stay there only if it is a new one.
        begin = start[n_compositions]
        end, key = begin, np.uint64(0)
        for position in range(starts[group], starts[group + 1]):
            signature = classes[order[position]]
            if count[signature] == 0:
                entry_class[end] = signature
                end += 1
            count[signature] += 1
            key += hashes[signature]
        key = (key ^ (key >> np.uint64(32))) & mask
        while table[key] >= 0:
            other = start[table[key]]
            is_same = start[table[key] + 1] - other == end - begin
            for e in range(end - begin):
                is_same = is_same and count[entry_class[other + e]] == entry_count[other + e]
            if is_same:
                break
            key = (key + np.uint64(1)) & mask
        if table[key] < 0:
            table[key] = n_compositions
            n_compositions += 1
            start[n_compositions] = end
            sort_in_place(entry_class[begin:end])
        of_group[group] = table[key]
        for e in range(begin, end):
            entry_count[e] = count[entry_class[e]]
            count[entry_class[e]] = 0
    n_entries = start[n_compositions]
    return Compositions(
        start[: n_compositions + 1].copy(), entry_class[:n_entries].copy(), entry_count[:n_entries].copy(), of_group
    )


@inner_kernel
def mixed(key: np.uint64) -> np.uint64:
    """A hash of 64 bits (splitmix64): every bit of the key changes half of its bits."""
    key = (key + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(29))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(32))


@kernel
def cases_of(
    groups: Compositions, n_classes: int, group: Int64, n: Int64, value_start: Int64
) -> tuple[Cases, Occurrences, Int64]:
    """The different cases of all values, and the occurrence of each pair of a group and a value that it publishes.

    Pair p says that `n[p]` rows of group `group[p]` have value x, for the pairs p in value_start[x]:value_start[x + 1].
    Its occurrence is -1 where everybody in the group looks alike.
    """
    n_pairs, n_values = len(group), len(value_start) - 1
    start, of_group = groups.start, groups.of_group
    composition, people_with_x = np.empty(n_pairs, np.int64), np.empty(n_pairs, np.int64)
    # The cases of a composition form a chain, from the one found last to the first; chains are short.
    newest, before = filled_with(len(start) - 1, -1), np.empty(n_pairs, np.int64)
    occurrence_of_case = filled_with(n_pairs, -1)
    occurrence_of_pair = np.empty(n_pairs, np.int64)
    occurrence_start = np.zeros(n_values + 1, np.int64)
    occurring, occurring_groups = np.empty(n_pairs, np.int64), np.zeros(n_pairs, np.int64)
    n_cases, n_occurrences = 0, 0
    for value in range(n_values):
        for pair in range(value_start[value], value_start[value + 1]):
            own = of_group[group[pair]]
            if start[own + 1] - start[own] == 1:
                occurrence_of_pair[pair] = -1
                continue
            case = newest[own]
            while case >= 0 and people_with_x[case] != n[pair]:
                case = before[case]
            if case < 0:
                case = n_cases
                composition[case], people_with_x[case] = own, n[pair]
                before[case] = newest[own]
                newest[own] = case
                n_cases += 1
            if occurrence_of_case[case] < occurrence_start[value]:
                occurrence_of_case[case] = n_occurrences
                occurring[n_occurrences] = case
                n_occurrences += 1
            occurrence_of_pair[pair] = occurrence_of_case[case]
            occurring_groups[occurrence_of_case[case]] += 1
        occurrence_start[value + 1] = n_occurrences
    ways_start = np.zeros(n_cases + 1, np.int64)
    for case in range(n_cases):
        begin, end = start[composition[case]], start[composition[case] + 1]
        ways_start[case + 1] = ways_start[case] + _number_of_ways(groups.counts, begin, end, people_with_x[case])
    ways = np.empty(ways_start[-1])
    for case in range(n_cases):
        if ways_start[case + 1] > ways_start[case]:
            begin, end = start[composition[case]], start[composition[case] + 1]
            _write_ways(groups.counts, begin, end, people_with_x[case], ways, ways_start[case])
    composition, people_with_x = composition[:n_cases].copy(), people_with_x[:n_cases].copy()
    occurring, occurring_groups = occurring[:n_occurrences].copy(), occurring_groups[:n_occurrences].copy()
    found = supports_of(
        start,
        groups.classes,
        of_group[group],
        n,
        value_start,
        occurrence_of_pair,
        occurring,
        composition,
        occurrence_start,
        n_classes - 1,
    )
    return (
        Cases(start, groups.classes, groups.counts, composition, people_with_x, ways_start, ways),
        Occurrences(occurrence_start, occurring, occurring_groups, found),
        occurrence_of_pair,
    )


@inner_kernel
def _number_of_ways(counts: Int64, begin: int, end: int, n: int) -> int:
    """How many numbers `ways` holds for a case of the entries begin..end-1."""
    people, numbers = 0, 0
    for e in range(begin, end):
        people += counts[e]
        numbers += min(counts[e], n) + 1
    if n == 1 or n * np.log(people) > LOG_RANGE:
        return 0
    if end - begin == 2:
        return min(counts[begin], n) - max(0, n - counts[begin + 1]) + 1
    return numbers


@inner_kernel
def _write_ways(counts: Int64, begin: int, end: int, n: int, ways: Floats, at: int) -> None:
    """Write the ways of a case of the entries begin..end-1 from position `at`."""
    if end - begin == 2:
        a, b = counts[begin], counts[begin + 1]
        low, high = max(0, n - b), min(a, n)
        ways[at] = _choose(a, low) * _choose(b, n - low)
        for k in range(low, high):
            ways[at + k - low + 1] = ways[at + k - low] * ((a - k) / (k + 1.0)) * ((n - k) / (b - n + k + 1.0))
        return
    for e in range(begin, end):
        high = min(counts[e], n)
        ways[at] = 1.0
        for k in range(high):
            ways[at + k + 1] = ways[at + k] * ((counts[e] - k) / (k + 1.0))
        at += high + 1


@inner_kernel
def _choose(n: int, k: int) -> float:
    """The number of ways to choose k of n."""
    ways = 1.0
    for i in range(min(k, n - k)):
        ways = ways * (n - i) / (i + 1.0)
    return ways


@inner_kernel
def room(cases: Cases) -> int:
    """How many numbers `expect` needs to work with, at most."""
    most = 0
    for case in range(len(cases.n)):
        entries = cases.start[cases.composition[case] + 1] - cases.start[cases.composition[case]]
        if entries > 2 and cases.ways_start[case + 1] > cases.ways_start[case]:
            most = max(most, (2 * entries + 1) * (cases.n[case] + 1))
    return most


@inner_kernel
def expect(
    cases: Cases,
    occurring: Int64,
    share: Floats,
    support: Int32,
    expected: Floats,
    log_weights: Floats,
    work: Floats,
    weigh: bool,
) -> None:
    """Write how many people of each entry are expected to have x, for the cases `occurring` one by one.

    `share` float (m + 1,): that of x in each signature of `support`, which has all of these cases but the last, and in
    the last one; that is negative where it is the share of x in each case itself. `expected` float has the entries of
    these cases one after the other. `log_weights` float, of one number a case, gets with `weigh` the logarithm of the
    weight of all possible worlds, in units of the world in which nobody has x whose share is not 1, else 0. It gets NaN
    where the shares may contradict the case, and where only `log_weight` of `foreground_worlds` can tell. `work` float
    has the size that
    `room` says.
    """
    # Fields are taken out of their tuple once: to hand a tuple to a function for every case would take longer than
    # the rest.
    start, classes, counts = cases.start, cases.classes, cases.counts
    composition, people_with_x, ways_start, ways = cases.composition, cases.n, cases.ways_start, cases.ways
    odds, points = np.empty(len(share)), np.empty((WIDTH, POINTS))
    low, high, rare, unset = 1.0, 1.0, len(share) - 1, share[-1]
    is_of_group = unset < 0.0
    for i in support:
        odds[i] = share[i] / (1.0 - share[i])
        if odds[i] > 0.0:
            low, high = min(low, odds[i]), max(high, odds[i])
    if is_of_group:
        # Where everybody has x, the case is left to `expected_counts` below.
        for case in occurring:
            people = 0
            for e in range(start[composition[case]], start[composition[case] + 1]):
                people += counts[e]
            if people_with_x[case] < people:
                own = people_with_x[case] / (people - people_with_x[case])
                low, high = min(low, own), max(high, own)
    else:
        odds[rare] = unset / (1.0 - unset)
        if odds[rare] > 0.0:
            low, high = min(low, odds[rare]), max(high, odds[rare])
    # Up to so many people with x products of the odds stay far inside the range of a double. Odds may be infinite.
    farthest = LOG_RANGE / (np.log(high) - np.log(low) + 1e-9)
    at = 0
    for i in range(len(occurring)):
        case = occurring[i]
        begin, end = start[composition[case]], start[composition[case] + 1]
        n, total, log_weights[i] = people_with_x[case], 0.0, np.nan
        if is_of_group:
            set_share_of_group(share, counts[begin:end], n)
            odds[rare] = share[rare] / (1.0 - share[rare])
        if n == 1:
            # One person has x: each with a probability in proportion to their odds.
            for e in range(begin, end):
                expected[at + e - begin] = counts[e] * odds[classes[e]]
                total += expected[at + e - begin]
            if TINY < total < HUGE:
                for e in range(end - begin):
                    expected[at + e] /= total
        elif n <= farthest and ways_start[case + 1] > ways_start[case] and (end - begin == 2 or n < MANY):
            if end - begin == 2:
                one, two = odds[classes[begin]], odds[classes[begin + 1]]
                if one > 0.0 and two > 0.0:
                    # A sum over how many people of the first entry have x. Both expected numbers are summed, and none
                    # is n minus the other: a small one would lose its digits.
                    k = max(0, n - counts[begin + 1])
                    power, in_one, in_two = 1.0, 0.0, 0.0
                    for j in range(n):
                        power *= one if j < k else two
                    for j in range(ways_start[case], ways_start[case + 1]):
                        world = ways[j] * power
                        total += world
                        in_one += k * world
                        in_two += (n - k) * world
                        power *= one / two
                        k += 1
                    expected[at] = in_one / total
                    expected[at + 1] = in_two / total
            elif end - begin == 3:
                here = expected[at : at + 3]
                total = _expect_three(
                    classes[begin:end], counts[begin:end], n, ways[ways_start[case] :], odds, here, work
                )
            else:
                total = _expect_many(classes, counts, begin, end, n, ways, ways_start[case], odds, expected, at, work)
        if TINY < total < HUGE:
            log_weights[i] = np.log(total) if weigh else 0.0
        elif n > 1:
            here = expected[at : at + end - begin]
            log_weights[i] = expect_around(odds, classes[begin:end], counts[begin:end], n, here, points, weigh)
        if np.isnan(log_weights[i]):
            expected_counts(share, classes[begin:end], counts[begin:end], n, -1, expected[at : at + end - begin])
        at += end - begin
    share[rare] = unset


@inner_kernel
def _expect_three(
    classes: Int32, counts: Int64, n: int, ways: Floats, odds: Floats, expected: Floats, work: Floats
) -> float:
    """The same for one case of three entries, by a sum over how many people of each have x; returns the weight."""
    width, ways_at = n + 1, 0
    for e in range(3):
        power = 1.0
        for k in range(min(counts[e], n) + 1):
            work[e * width + k] = ways[ways_at + k] * power
            power *= odds[classes[e]]
        ways_at += min(counts[e], n) + 1
    total, in_one, in_two, in_three = 0.0, 0.0, 0.0, 0.0
    for i in range(max(0, n - counts[1] - counts[2]), min(counts[0], n) + 1):
        rest, worlds, with_two, with_three = n - i, 0.0, 0.0, 0.0
        for j in range(max(0, rest - counts[2]), min(counts[1], rest) + 1):
            world = work[width + j] * work[2 * width + rest - j]
            worlds += world
            with_two += j * world
            with_three += (rest - j) * world
        weight = work[i]
        total += weight * worlds
        in_one += i * (weight * worlds)
        in_two += weight * with_two
        in_three += weight * with_three
    expected[0], expected[1], expected[2] = in_one / total, in_two / total, in_three / total
    return total


@inner_kernel
def _expect_many(
    classes: Int32,
    counts: Int64,
    begin: int,
    end: int,
    n: int,
    ways: Floats,
    ways_at: int,
    odds: Floats,
    expected: Floats,
    at: int,
    work: Floats,
) -> float:
    """The same for one case of the entries begin..end-1, by generating polynomials; returns the weight.

    The coefficient of z^k in (1 + odds z)^count is the weight of an entry of whose people k have x; in the product
    over all entries that of z^n is the weight of all worlds. What an entry contributes follows from its own
    polynomial and the products of those before and those after it.
    """
    entries, width = end - begin, n + 1
    # Rows of `work`: the polynomial of each entry, the product of those before each entry, that of those after it.
    products, after = entries * width, 2 * entries * width
    people, total = 0, 0.0
    work[products] = 1.0
    for i in range(entries):
        count, own = counts[begin + i], i * width
        top, degree = min(count, n), min(people, n)
        power = 1.0
        for k in range(top + 1):
            work[own + k] = ways[ways_at + k] * power
            power *= odds[classes[begin + i]]
        ways_at += top + 1
        people += count
        is_last = i == entries - 1
        for j in range(n if is_last else 0, min(people, n) + 1):
            mass = 0.0
            for k in range(max(0, j - degree), min(top, j) + 1):
                mass += work[own + k] * work[products + i * width + j - k]
            if is_last:
                total = mass
            else:
                work[products + (i + 1) * width + j] = mass
    work[after] = 1.0
    degree_after = 0
    for i in range(entries - 1, -1, -1):
        count, own = counts[begin + i], i * width
        people -= count
        top, degree = min(count, n), min(people, n)
        mass = 0.0
        for k in range(1, top + 1):
            rest, need = 0.0, n - k
            for j in range(max(0, need - degree), min(degree_after, need) + 1):
                rest += work[products + i * width + need - j] * work[after + j]
            mass += k * (work[own + k] * rest)
        expected[at + i] = mass / total
        longer = min(degree_after + count, n)
        # From the highest coefficient down, so that those that are still needed are the old ones; an entry's own
        # polynomial begins with 1.
        for j in range(longer, -1, -1):
            mass = 0.0
            for k in range(max(0, j - degree_after), min(top, j) + 1):
                mass += work[own + k] * work[after + j - k]
            work[after + j] = mass
        degree_after = longer
    return total
