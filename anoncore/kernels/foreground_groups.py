"""The probability p(t:x) that person t has the value x, from learned shares, for every row of a release.

It is computed once for each entry of a case (the people of one signature), then handed to the rows. Between kernels the
rows stand by group: position p is row `order[p]`.

- `order` int64 (n_rows,), `starts` int64 (n_groups + 1,): rows by group; those of group g at `starts[g]:starts[g + 1]`.
- `classes` int32 (n_rows,): signature of every row, 0..m; rare signatures share the last one, m.
- `own`, `other` float (n_rows,), by position: p(t:x) for the value x that is true of the row (0 where its group does
  not publish it, or it needs no protection), and the largest for any other value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.foreground_cases import Cases, Compositions, Occurrences, expect, room
from anoncore.kernels.foreground_worlds import expected_counts, log_weight, set_share_of_group
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.kernels.sorting import filled_with


class PublishedValues(NamedTuple):
    """Rows by group, as above, and the protected values that every group publishes.

    `true` int32 (n_rows,), by position: the code of the value that each row has; codes from `n_values` on need no
    protection. A pair is a group and a value that it publishes. Pairs stand by value: those of value x are
    value_start[x]:value_start[x + 1], and `n[p]` rows of group `group[p]` have it, int64 (n_pairs,). The pairs of group
    g are `pairs[pair_start[g]:pair_start[g + 1]]`, and `pair_value`, `pair_n` int64 (n_pairs,) say their values and
    rows in that order.
    """

    order: Int64
    starts: Int64
    true: Int32
    value_start: Int64
    group: Int64
    n: Int64
    pair_start: Int64
    pairs: Int64
    pair_value: Int64
    pair_n: Int64


class Beliefs(NamedTuple):
    """What the adversary believes of every row after learning from one attribute set.

    `own` and `other` as above. `breached` counts the rows whose own p(t:x) exceeds the bound, `flagged` those that
    have an `other` above it although they lack a protected value, `believed` is the sum of `own` over rows that need
    protection. `contradicted` counts the groups, over all values, in which the shares allow no world: there every row
    has n / N. `mean_range` is the largest minus smallest share in a group, averaged over groups and values.
    """

    own: Floats
    other: Floats
    breached: int
    flagged: int
    believed: float
    contradicted: int
    mean_range: float


@kernel
def person_probabilities(f: Floats, n: int) -> Floats:
    """p(t:x) of each person of a group in which n have x and everybody looks different, with the shares f (N,)."""
    size = len(f)
    expected = np.empty(size)
    classes, counts = np.empty(size, np.int32), filled_with(size, 1)
    for i in range(size):
        classes[i] = i
    expected_counts(f, classes, counts, n, -1, expected)
    for i in range(size):
        expected[i] = min(max(expected[i], 0.0), 1.0)
    return expected


@kernel
def beliefs(
    published: PublishedValues,
    classes: Int32,
    groups: Compositions,
    cases: Cases,
    held: Occurrences,
    occurrence_of_pair: Int64,
    shares: Floats,
    bound: float,
) -> Beliefs:
    """Attack every row with the learned `shares`, float (n_values, m + 1), the last being that of class m (negative
    where it is that of each group itself).
    """
    n_values, n_classes = shares.shape
    begins, probability, contradicted = _case_probabilities(cases, held, shares)
    # Fields are taken out of their tuples once, which saves counting references to them for every row.
    order, starts, true, pairs = published.order, published.starts, published.true, published.pairs
    pair_start, pair_value, pair_n = published.pair_start, published.pair_value, published.pair_n
    composition, entry_start, entry_class = groups.of_group, groups.start, groups.classes
    own, other = np.zeros(len(order)), np.zeros(len(order))
    highest, second = np.zeros(n_classes), np.zeros(n_classes)
    leading, entry_of = filled_with(n_classes, -1), np.zeros(n_classes, np.int64)
    # For a value that the group publishes: where its probabilities begin, and the share of the group that has it.
    # What stands there of other values is from an earlier group, as `last_group` tells.
    at, share, last_group = np.zeros(n_values, np.int64), np.zeros(n_values), filled_with(n_values, -1)
    breached, flagged, believed = 0, 0, 0.0
    for group in range(len(starts) - 1):
        begin, end = entry_start[composition[group]], entry_start[composition[group] + 1]
        first, last = starts[group], starts[group + 1]
        all_alike = end - begin == 1
        for e in range(begin, end):
            signature = entry_class[e]
            highest[signature], second[signature], leading[signature] = 0.0, 0.0, -1
            entry_of[signature] = e - begin
        for i in range(pair_start[group], pair_start[group + 1]):
            value = pair_value[i]
            last_group[value] = group
            if all_alike:
                share[value] = pair_n[i] / (last - first)
            else:
                at[value] = begins[occurrence_of_pair[pairs[i]]]
            for e in range(begin, end):
                signature = entry_class[e]
                p = share[value] if all_alike else probability[at[value] + e - begin]
                if p > highest[signature]:
                    second[signature] = highest[signature]
                    highest[signature], leading[signature] = p, value
                elif p > second[signature]:
                    second[signature] = p
        for position in range(first, last):
            signature, value = classes[order[position]], true[position]
            other[position] = second[signature] if leading[signature] == value else highest[signature]
            needs_protection = value < n_values
            if needs_protection:
                if last_group[value] == group:
                    own[position] = share[value] if all_alike else probability[at[value] + entry_of[signature]]
                believed += own[position]
                breached += lies_above(own[position], bound, ACCUMULATED)
            if n_values > 1 or not needs_protection:
                flagged += lies_above(other[position], bound, ACCUMULATED)
    return Beliefs(own, other, breached, flagged, believed, contradicted, _mean_range(published, groups, shares))


@inner_kernel
def _case_probabilities(cases: Cases, held: Occurrences, shares: Floats) -> tuple[Int64, Floats, int]:
    """p(t:x) for a person of each entry of each occurrence; returns where each begins, p, and contradicted groups."""
    start, composition, classes, counts = cases.start, cases.composition, cases.classes, cases.counts
    occurring, groups, value_start, n = held.case, held.groups, held.value_start, cases.n
    begins, most = np.zeros(len(occurring) + 1, np.int64), 0
    for i in range(len(occurring)):
        begins[i + 1] = begins[i] + start[composition[occurring[i]] + 1] - start[composition[occurring[i]]]
    for value in range(len(shares)):
        most = max(most, begins[value_start[value + 1]] - begins[value_start[value]])
    probability, contradicted = np.empty(begins[-1]), 0
    expected, log_weights, work = np.empty(most), np.empty(len(occurring)), np.empty(room(cases))
    for value in range(len(shares)):
        first, last = value_start[value], value_start[value + 1]
        expect(cases, occurring[first:last], shares[value], expected, log_weights, work, False)
        at = 0
        for i in range(first, last):
            case = occurring[i]
            begin, end = start[composition[case]], start[composition[case] + 1]
            if np.isnan(log_weights[i - first]):
                own = shares[value].copy()
                if own[-1] < 0.0:
                    set_share_of_group(own, counts[begin:end], n[case])
                weight = log_weight(own, classes[begin:end], counts[begin:end], n[case])
                contradicted += groups[i] if weight == -np.inf else 0
            for e in range(begin, end):
                probability[begins[i] + e - begin] = min(max(expected[at + e - begin] / counts[e], 0.0), 1.0)
            at += end - begin
    return begins, probability, contradicted


@inner_kernel
def _mean_range(published: PublishedValues, groups: Compositions, shares: Floats) -> float:
    """Largest minus smallest share among the rows of a group, averaged over groups and values."""
    start, classes, of_group = groups.start, groups.classes, groups.of_group
    pair_start, pair_value, pair_n = published.pair_start, published.pair_value, published.pair_n
    n_values, rare = len(shares), shares.shape[1] - 1
    total = 0.0
    # Groups of one composition differ only where people of rare signatures have the share of x in their own group.
    known = np.full(len(start) - 1, np.nan)
    own = np.zeros(n_values)
    for group in range(len(of_group)):
        composition = of_group[group]
        begin, end = start[composition], start[composition + 1]
        if end - begin == 1:
            continue
        is_of_group = shares[0, rare] < 0.0 and classes[end - 1] == rare
        if is_of_group or np.isnan(known[composition]):
            rows = published.starts[group + 1] - published.starts[group]
            for i in range(pair_start[group], pair_start[group + 1]):
                own[pair_value[i]] = pair_n[i] / rows
            known[composition] = 0.0
            for value in range(n_values):
                low, high = 1.0, 0.0
                for e in range(begin, end):
                    share = own[value] if is_of_group and e == end - 1 else shares[value, classes[e]]
                    low, high = min(low, share), max(high, share)
                known[composition] += high - low
            for i in range(pair_start[group], pair_start[group + 1]):
                own[pair_value[i]] = 0.0
        total += known[composition]
    return total / (len(of_group) * n_values)


@kernel
def keep_highest(here_own: Floats, here_other: Floats, number: int, own: Floats, other: Floats, leading: Int64) -> None:
    """Raise `own` and `other` to what one more attribute set gives, and note its number where it leads, by position."""
    for position in range(len(own)):
        if max(here_own[position], here_other[position]) > max(own[position], other[position]):
            leading[position] = number
        own[position] = max(own[position], here_own[position])
        other[position] = max(other[position], here_other[position])
