"""Count queries: drawing accepted values, counting matching rows, estimating counts from groups and linked columns.

A block holds the predicates of several queries side by side. The inner loops run along the queries: their entries lie
side by side in memory, so the processor computes several at once.

- `accept` uint8 (n_places, n_queries): 1 where query q accepts the value at place p. The values of all attributes stand
  below one another, and an attribute that a query leaves open accepts all.
- `places` int32 (n_rows, n_attributes): the place of each row's value of each attribute.
- `prefix` int32 (n_lines, n_queries): how many values before each code a query accepts, attribute by attribute, each
  with one line more than it has values. A run of codes thus accepts the difference of two lines.
- `match` uint8, `count` and `hits` int32, `factor` float (n_queries,): memory for the group at hand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Bytes, Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel


class ExactRows(NamedTuple):
    """Attributes published exactly, rows sorted by group.

    `places` int32 (n_rows, n_attributes) as above. Attributes that are published together are a part: those of part f
    are the columns `part_start[f]:part_start[f + 1]`. Rows of group g are `starts[g]:starts[g + 1]`.
    """

    places: Int32
    part_start: Int64
    starts: Int64


class RegionRows(NamedTuple):
    """Attributes published by region, that is as runs of values; all arrays are int64.

    Attribute a of group g has the runs `offsets[a, g]:offsets[a, g + 1]`. Run i accepts `prefix[high[i]] -
    prefix[low[i]]` of its values; `sizes` (n_attributes, n_groups) counts the values of all runs.
    """

    offsets: Int64
    low: Int64
    high: Int64
    sizes: Int64


class LinkRows(NamedTuple):
    """The linking values of a fragment: those by which its rows are joined with rows of other fragments.

    The entries `starts[g]:starts[g + 1]` of group g have a `value` int32 and a `weight` float in rows. `by_row`:
    entries are the fragment's rows, so that exact attributes count together with the linking value.
    """

    starts: Int64
    value: Int32
    weight: Floats
    by_row: bool


@kernel
def draw_accepted(chosen: Bools, starts: Int64, wanted: Int64, chance: Floats) -> Bytes:
    """A block of random predicates, (n_places, n_queries).

    `chosen` (n_queries, n_attributes) says which attributes a query constrains; it accepts `wanted[a]` different values
    of attribute a, whose places are `starts[a]:starts[a + 1]`. `chance` in [0, 1), one number per accepted value, in
    order. A partial Fisher-Yates shuffle draws the values; it goes on from the previous query's order, which is as good
    a start as any.
    """
    n_queries, n_attributes = chosen.shape
    accept = np.ones((n_queries, starts[n_attributes]), np.uint8)
    values = np.arange(int(starts[n_attributes]))
    used = 0
    for query in range(n_queries):
        for a in range(n_attributes):
            if not chosen[query, a]:
                continue
            begin, end = starts[a], starts[a + 1]
            accept[query, begin:end] = 0
            for draw in range(begin, begin + wanted[a]):
                other = draw + int(chance[used] * (end - draw))
                used += 1
                values[draw], values[other] = values[other], values[draw]
                accept[query, values[draw]] = 1
    return np.ascontiguousarray(accept.T)


@kernel
def prefix_counts(accept: Bytes, first: Int64, last: Int64) -> Int32:
    """The `prefix` of a block; values of attribute a are at places `first[a]`..`last[a] - 1`."""
    lines = 0
    for a in range(len(first)):
        lines += last[a] - first[a] + 1
    prefix = np.zeros((lines, accept.shape[1]), np.int32)
    line = 0
    for a in range(len(first)):
        for place in range(first[a], last[a]):
            for query in range(accept.shape[1]):
                prefix[line + 1, query] = prefix[line, query] + accept[place, query]
            line += 1
        line += 1
    return prefix


@inner_kernel
def _match_row(match: Bytes, places: Int32, first: int, last: int, accept: Bytes) -> None:
    """Write which queries accept a row in the columns first..last-1 (at least one); `places` are those of the row."""
    place = places[first]
    for query in range(len(match)):
        match[query] = accept[place, query]
    for a in range(first + 1, last):
        place = places[a]
        for query in range(len(match)):
            match[query] &= accept[place, query]


@kernel
def count_matches(places: Int32, accept: Bytes) -> Int64:
    """Rows that match each query, int64 (n_queries,)."""
    match = np.empty(accept.shape[1], np.uint8)
    count = np.zeros(accept.shape[1], np.int64)
    for row in range(len(places)):
        _match_row(match, places[row], 0, places.shape[1], accept)
        for query in range(len(match)):
            count[query] += match[query]
    return count


@inner_kernel
def _multiply_regions(factor: Floats, group: int, regions: RegionRows, prefix: Int32, hits: Int32) -> None:
    """Multiply `factor` by the share of accepted values in the group's region of every attribute."""
    for a in range(len(regions.sizes)):
        begin, end = regions.offsets[a, group], regions.offsets[a, group + 1]
        whole = 1.0 / regions.sizes[a, group]
        low, high = regions.low[begin], regions.high[begin]
        for query in range(len(factor)):
            hits[query] = prefix[high, query] - prefix[low, query]
        for run in range(begin + 1, end):
            low, high = regions.low[run], regions.high[run]
            for query in range(len(factor)):
                hits[query] += prefix[high, query] - prefix[low, query]
        for query in range(len(factor)):
            factor[query] *= hits[query] * whole


@inner_kernel
def _multiply_parts(factor: Floats, group: int, exact: ExactRows, accept: Bytes, match: Bytes, count: Int32) -> None:
    """Multiply `factor` by the share of the group's rows that match in all attributes of a part, for every part."""
    begin, end = exact.starts[group], exact.starts[group + 1]
    whole = 1.0 / (end - begin)
    for part in range(len(exact.part_start) - 1):
        first, last = exact.part_start[part], exact.part_start[part + 1]
        count[:] = 0
        for row in range(begin, end):
            _match_row(match, exact.places[row], first, last, accept)
            for query in range(len(match)):
                count[query] += match[query]
        for query in range(len(factor)):
            factor[query] *= count[query] * whole


@kernel
def estimate_by_link(
    exact: ExactRows, regions: RegionRows, link: LinkRows, n_values: int, accept: Bytes, prefix: Int32
) -> Floats:
    """Expected matches of a fragment's own predicates per linking value, float (n_values, n_queries)."""
    n_queries = accept.shape[1]
    estimate = np.zeros((n_values, n_queries))
    factor = np.empty(n_queries)
    match = np.empty(n_queries, np.uint8)
    count = np.empty(n_queries, np.int32)
    for group in range(len(exact.starts) - 1):
        factor[:] = 1.0
        if not link.by_row:
            _multiply_parts(factor, group, exact, accept, match, count)
        _multiply_regions(factor, group, regions, prefix, count)
        for entry in range(link.starts[group], link.starts[group + 1]):
            value, weight = link.value[entry], link.weight[entry]
            if link.by_row and exact.places.shape[1] > 0:
                _match_row(match, exact.places[entry], 0, exact.places.shape[1], accept)
                for query in range(n_queries):
                    estimate[value, query] += factor[query] * weight * match[query]
            else:
                for query in range(n_queries):
                    estimate[value, query] += factor[query] * weight
    return estimate


class LinkedColumns(NamedTuple):
    """Columns that share buckets, as a tree: each but the first has a parent before it.

    Linked with each row of the parent is a random row of the child among those that have the same bucket and agree on
    the attributes that both show.

    `places` int32 (n_rows, n_attributes): where the cell of each row has its weight; the attributes of column c are
    `part_start[c]:part_start[c + 1]`. `parent` int64 (n_columns,). `own`, `asked` int64 (n_columns, n_rows): rows of
    column c and of its parent may be linked where `own[c]` of the one equals `asked[c]` of the other; it numbers the
    pairs of a bucket and values of the shared attributes. `counts` int64 (n_columns, n_numbers): rows of column c with
    each such number.
    """

    places: Int32
    part_start: Int64
    parent: Int64
    own: Int64
    asked: Int64
    counts: Int64


@kernel
def count_linked(columns: LinkedColumns, weights: Floats) -> Floats:
    """Expected number of rows, linked at random, that match each query, float (n_queries,).

    `weights` float (n_queries, n_places): how far a cell matches a query, 0 to 1; an attribute that the query leaves
    open has weight 1 everywhere. The cells of all attributes stand one after the other. What a query expects of a whole
    linked row is a product of averages, computed from the leaves of the tree to its root.
    """
    n_columns, n_rows = columns.own.shape
    result = np.zeros(len(weights))
    row_weight = np.empty((n_columns, n_rows))
    sums = np.empty(columns.counts.shape[1])
    for query in range(len(weights)):
        weight = weights[query]
        row_weight[:] = 1.0
        # From the last column back: a parent stands before its children, so when its turn comes, row_weight already has
        # what all of its children expect of its rows.
        for column in range(n_columns - 1, -1, -1):
            sums[:] = 0.0
            total = 0.0
            for row in range(n_rows):
                share = row_weight[column, row]
                for attribute in range(columns.part_start[column], columns.part_start[column + 1]):
                    if share == 0.0:
                        break
                    share *= weight[columns.places[row, attribute]]
                sums[columns.own[column, row]] += share
                total += share
            if column == 0:
                result[query] = total
                break
            parent = columns.parent[column]
            for row in range(n_rows):
                number = columns.asked[column, row]
                row_weight[parent, row] *= sums[number] / columns.counts[column, number]
    return result
