"""The information loss of every threshold of an attribute that has few codes in a large node.

`sweep.threshold_costs` reads the node's rows twice per attribute, in the order of the attribute that is cut, and so
jumps through memory. The loss of both sides changes only between codes, though. So here the rows are read once, where
they stand, into a table with one line per code (`AtCodes`), and the sweep runs over the lines. Costs are the same
numbers as those of `sweep.threshold_costs`, added in the same order, so that both always choose the same threshold.

- `rows` int32 (n_rows, n_columns): as in `splitting`; a node is the run of rows lo..hi-1.
- `costs` float (n_codes,): entry c is the loss, times rows, of the threshold behind the c-th code of the node's range.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bytes, Floats, Int32, Int64
from anoncore.kernels.attributes import CATEGORY, HIERARCHY, Attributes, common_node
from anoncore.kernels.checking import KernelChecks, all_hold
from anoncore.kernels.compiler import inner_kernel
from anoncore.kernels.splitting import Node


class AtCodes(NamedTuple):
    """What the node's rows with each code of the attribute that is cut have, one line per code from the lowest on.

    `size` int64 (n_codes,): number of rows. `low`, `high` int32 (n_codes, n_attributes): their smallest and largest
    code of every attribute that has an order. `has` uint8 (n_codes, n_categories): 1 for the categories that occur;
    those of attribute a are the columns `start[a]:start[a + 1]`. `counts` int64 (n_codes, n_counts): rows with each
    sensitive value, laid out as in `KernelChecks`.
    """

    size: Int64
    low: Int32
    high: Int32
    has: Bytes
    start: Int64
    counts: Int64


@inner_kernel
def has_few_codes(n: int, n_codes: int, n_counts: int, attributes: Attributes) -> bool:
    """Whether a table with a line per code has at most as many cells as the node has rows."""
    cells = 2 * len(attributes.form) + n_counts
    for a in range(len(attributes.form)):
        if attributes.form[a] == CATEGORY:
            cells += attributes.code_start[a + 1] - attributes.code_start[a]
    return n_codes * cells <= n


@inner_kernel
def gather(rows: Int32, node: Node, cut: int, attributes: Attributes, n_counts: int, n_sensitive: int) -> AtCodes:
    """Read the node's rows by their code of attribute `cut`."""
    low, high = node.low, node.high
    n_attributes, n_codes = len(low), high[cut] - low[cut] + 1
    start = np.zeros(n_attributes + 1, np.int64)
    for a in range(n_attributes):
        start[a + 1] = start[a] + (high[a] - low[a] + 1 if attributes.form[a] == CATEGORY else 0)
    size = np.zeros(n_codes, np.int64)
    lowest, highest = np.empty((n_codes, n_attributes), np.int32), np.empty((n_codes, n_attributes), np.int32)
    for code in range(n_codes):
        for a in range(n_attributes):
            lowest[code, a], highest[code, a] = high[a], low[a]
    has = np.zeros((n_codes, start[n_attributes]), np.uint8)
    counts = np.zeros((n_codes, n_counts), np.int64)
    for row in range(node.lo, node.hi):
        line = rows[row, cut] - low[cut]
        size[line] += 1
        for a in range(n_attributes):
            code = rows[row, a]
            if attributes.form[a] == CATEGORY:
                has[line, start[a] + code - low[a]] = 1
            else:
                lowest[line, a] = min(lowest[line, a], code)
                highest[line, a] = max(highest[line, a], code)
        for s in range(n_sensitive):
            counts[line, rows[row, n_attributes + s]] += 1
    return AtCodes(size, lowest, highest, has, start, counts)


@inner_kernel
def loss_costs(at_codes: AtCodes, attributes: Attributes) -> Floats:
    """Information loss of both sides of a cut behind each code, summed over their rows: float (n_codes,)."""
    costs = np.zeros(len(at_codes.size))
    _add_side(at_codes, attributes, costs, True)
    _add_side(at_codes, attributes, costs, False)
    return costs


@inner_kernel
def _add_side(at_codes: AtCodes, attributes: Attributes, costs: Floats, forward: bool) -> None:
    """Add the loss of one side at every cut, growing that side code by code.

    A side's extent can be updated when it gains rows, but not when it loses them. So the left sides grow from the
    lowest code up, and the right sides, in a pass of their own (not `forward`), from the highest code down.
    """
    n_codes = len(costs)
    for a in range(len(attributes.form)):
        span = attributes.span[a]
        if span == 0.0:
            continue
        begin, base, form = attributes.code_start[a], attributes.node_start[a], attributes.form[a]
        first, n_categories = at_codes.start[a], at_codes.start[a + 1] - at_codes.start[a]
        seen = np.zeros(n_categories, np.uint8)
        low, high, distinct, node, n = 0, -1, 0, -1, 0
        for i in range(n_codes):
            code = i if forward else n_codes - 1 - i
            if at_codes.size[code] > 0:
                if form == CATEGORY:
                    for category in range(n_categories):
                        if at_codes.has[code, first + category] > seen[category]:
                            seen[category] = 1
                            distinct += 1
                elif n == 0:
                    low, high = at_codes.low[code, a], at_codes.high[code, a]
                else:
                    low, high = min(low, at_codes.low[code, a]), max(high, at_codes.high[code, a])
                n += at_codes.size[code]
            loss = 0.0
            if form == CATEGORY:
                loss = (distinct - 1) / span
            elif form == HIERARCHY:
                if n > 0:
                    if node < 0:
                        node = attributes.leaf[begin + low]
                    node = common_node(attributes, a, node, low, high)
                    loss = (attributes.last[base + node] - attributes.first[base + node]) / span
            elif n > 0:
                loss = (attributes.position[begin + high] - attributes.position[begin + low]) / span
            if forward:
                costs[code] += n * loss
            elif code > 0:
                costs[code - 1] += n * loss


@inner_kernel
def best_code(at_codes: AtCodes, costs: Floats, bound: float, tie: float, checks: KernelChecks) -> tuple[float, int]:
    """Cheapest allowable cut below cost `bound`: its cost and its code, counted from the node's lowest; -1 if none."""
    n_codes, n_counts = at_codes.counts.shape
    left, right = np.zeros(n_counts, np.int64), np.zeros(n_counts, np.int64)
    n, n_left, least = 0, 0, checks.minimum_rows
    for code in range(n_codes):
        n += at_codes.size[code]
        for cell in range(n_counts):
            right[cell] += at_codes.counts[code, cell]
    best, value = bound, -1
    for code in range(n_codes):
        n_left += at_codes.size[code]
        if at_codes.size[code] == 0 or n_left == n:
            continue
        for cell in range(n_counts):
            left[cell] += at_codes.counts[code, cell]
            right[cell] -= at_codes.counts[code, cell]
        if n_left < least or n - n_left < least or costs[code] >= best - tie:
            continue
        if all_hold(checks, left, n_left) and all_hold(checks, right, n - n_left):
            best, value = costs[code], code
    return best, value
