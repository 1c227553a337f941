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
from anoncore.kernels.foreground_shares import LearnedShares
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
    has n / N.
    """

    own: Floats
    other: Floats
    breached: int
    flagged: int
    believed: float
    contradicted: int


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
    learned: LearnedShares,
    bound: float,
) -> Beliefs:
    """Attack every row with the learned shares."""
    n_values, n_classes = len(learned.fixed), learned.m + 1
    begins, probability, contradicted = _case_probabilities(cases, held, learned)
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
    return Beliefs(own, other, breached, flagged, believed, contradicted)


@inner_kernel
def _case_probabilities(cases: Cases, held: Occurrences, learned: LearnedShares) -> tuple[Int64, Floats, int]:
    """p(t:x) for a person of each entry of each occurrence; returns where each begins, p, and contradicted groups."""
    start, composition, counts = cases.start, cases.composition, cases.counts
    occurring, groups, value_start, n = held.case, held.groups, held.value_start, cases.n
    supports, like, n_values = held.supports, learned.like, len(learned.fixed)
    begins, most, n_numbers = np.zeros(len(occurring), np.int64), 0, 0
    for value in range(n_values):
        before = n_numbers
        for i in range(value_start[value], value_start[value + 1]):
            begins[i] = n_numbers
            if like[value] < value:
                begins[i] = begins[value_start[like[value]] + i - value_start[value]]
            else:
                n_numbers += start[composition[occurring[i]] + 1] - start[composition[occurring[i]]]
        most = max(most, n_numbers - before)
    probability, contradicted = np.empty(n_numbers), np.zeros(n_values, np.int64)
    expected, log_weights, work = np.empty(most), np.empty(len(occurring)), np.empty(room(cases))
    share = np.zeros(learned.m + 1)
    for value in range(n_values):
        first, last = value_start[value], value_start[value + 1]
        if like[value] < value:
            contradicted[value] = contradicted[like[value]]
            continue
        support = supports.classes[supports.at[value] : supports.at[value] + supports.size[value]]
        for signature in support:
            share[signature] = 0.0
        for j in range(learned.size[value]):
            share[learned.classes[learned.classes_at[value] + j]] = learned.shares[learned.at[value] + j]
        share[-1] = learned.fixed[value]
        expect(cases, occurring[first:last], share, support, expected, log_weights, work, False)
        at = 0
        for i in range(first, last):
            case = occurring[i]
            begin, end = start[composition[case]], start[composition[case] + 1]
            if np.isnan(log_weights[i - first]):
                if learned.fixed[value] < 0.0:
                    set_share_of_group(share, counts[begin:end], n[case])
                weight = log_weight(share, cases.classes[begin:end], counts[begin:end], n[case])
                contradicted[value] += groups[i] if weight == -np.inf else 0
            for e in range(begin, end):
                probability[begins[i] + e - begin] = min(max(expected[at + e - begin] / counts[e], 0.0), 1.0)
            at += end - begin
    return begins, probability, contradicted.sum()


@kernel
def mean_range(published: PublishedValues, groups: Compositions, learned: LearnedShares) -> float:
    """Largest minus smallest share among the rows of a group, averaged over groups and values."""
    start, classes, of_group = groups.start, groups.classes, groups.of_group
    pair_start, pair_value, pair_n = published.pair_start, published.pair_value, published.pair_n
    n_values, rare, fixed = len(learned.fixed), learned.m, learned.fixed
    values_at, values, shares = _by_signature(learned)
    of_group_itself, of_everybody, total = fixed[0] < 0.0, fixed.sum(), 0.0
    # Groups of one composition differ only where people of rare signatures have the share of x in their own group.
    known = np.full(len(start) - 1, np.nan)
    low, high, n_met = np.empty(n_values), np.empty(n_values), np.zeros(n_values, np.int64)
    met = np.empty(n_values, np.int64)
    for group in range(len(of_group)):
        composition = of_group[group]
        begin, end = start[composition], start[composition + 1]
        if end - begin == 1:
            continue
        has_rare = classes[end - 1] == rare
        is_of_group = of_group_itself and has_rare
        if is_of_group or np.isnan(known[composition]):
            # Of the values that no share of a signature here is of, people of rare signatures have the only one.
            spread, n_found, not_met = 0.0, 0, of_everybody if has_rare and not is_of_group else 0.0
            for e in range(begin, end - has_rare):
                for j in range(values_at[classes[e]], values_at[classes[e] + 1]):
                    value = values[j]
                    if n_met[value] == 0:
                        low[value], high[value], met[n_found] = 1.0, 0.0, value
                        n_found += 1
                    low[value], high[value] = min(low[value], shares[j]), max(high[value], shares[j])
                    n_met[value] += 1
            for i in range(n_found):
                if n_met[met[i]] < end - begin - has_rare:
                    low[met[i]] = 0.0
                if has_rare and not is_of_group:
                    low[met[i]], high[met[i]] = min(low[met[i]], fixed[met[i]]), max(high[met[i]], fixed[met[i]])
                    not_met -= fixed[met[i]]
            if is_of_group:
                rows = published.starts[group + 1] - published.starts[group]
                for i in range(pair_start[group], pair_start[group + 1]):
                    value, own = pair_value[i], pair_n[i] / rows
                    if n_met[value] == 0:
                        spread += own
                    else:
                        # 0 is the share of the values that the group does not publish, see below.
                        low[value], high[value] = min(low[value], own), max(high[value], own)
                        n_met[value] = -1
            for i in range(n_found):
                if is_of_group and n_met[met[i]] > 0:
                    low[met[i]] = 0.0
                spread += high[met[i]] - low[met[i]]
                n_met[met[i]] = 0
            known[composition] = spread + not_met
        total += known[composition]
    return total / (len(of_group) * n_values)


@inner_kernel
def _by_signature(learned: LearnedShares) -> tuple[Int64, Int64, Floats]:
    """Where the values of each signature begin, int64 (m + 1,), and these with their shares above 0."""
    begins = np.zeros(learned.m + 1, np.int64)
    for value in range(len(learned.at)):
        for j in range(learned.size[value]):
            begins[learned.classes[learned.classes_at[value] + j] + 1] += learned.shares[learned.at[value] + j] > 0.0
    for signature in range(learned.m):
        begins[signature + 1] += begins[signature]
    values, shares, free = np.empty(begins[-1], np.int64), np.empty(begins[-1]), begins.copy()
    for value in range(len(learned.at)):
        for j in range(learned.size[value]):
            share = learned.shares[learned.at[value] + j]
            if share > 0.0:
                signature = learned.classes[learned.classes_at[value] + j]
                values[free[signature]], shares[free[signature]] = value, share
                free[signature] += 1
    return begins, values, shares


@kernel
def keep_highest(here_own: Floats, here_other: Floats, number: int, own: Floats, other: Floats, leading: Int64) -> None:
    """Raise `own` and `other` to what one more attribute set gives, and note its number where it leads, by position."""
    for position in range(len(own)):
        if max(here_own[position], here_other[position]) > max(own[position], other[position]):
            leading[position] = number
        own[position] = max(own[position], here_own[position])
        other[position] = max(other[position], here_other[position])
