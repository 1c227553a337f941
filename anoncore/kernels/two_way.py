"""Joint frequencies of two attributes at chosen pairs of values, by what a release publishes.

A reader takes all values of a region for equally likely. Two cells that stand together therefore spread their weight
evenly over a rectangle of pairs of codes, and what a pair of values gets is the sum over the rectangles that cover it.

- `x`, `y` int32 (n_pairs,): the pairs of codes that are asked for, sorted by `x`.
- Region r of an attribute is the runs `low[i]..high[i]` (included) for i in `offsets[r]:offsets[r + 1]`, all int64,
  with `sizes[r]` values in all.
- `cells_x`, `cells_y` int32 and `weight` float (n_cells,): published cells that stand together, as numbers of regions,
  and how many rows they are.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Codes, Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.sorting import find_value

MOST_DENSE = 4_096
"""Pairs of values that are all summed, also where these are more than rows: no pair has to be looked for then."""
SEARCHED = 8
"""Pairs of one value that are gone through in the time in which another value is looked up among them, about."""


@inner_kernel
def _add(sums: Floats, code: int, weight: float) -> None:
    """Add a weight to every code from this one on: a Fenwick tree holds the differences."""
    place = code + 1
    while place < len(sums):
        sums[place] += weight
        place += place & -place


@inner_kernel
def _at(sums: Floats, code: int) -> float:
    """What has been added at a code."""
    total, place = 0.0, code + 1
    while place > 0:
        total += sums[place]
        place -= place & -place
    return total


@inner_kernel
def _n_events(offsets: Int64, low: Int64, high: Int64, cells: Int32, n_codes: int) -> Int64:
    """Where the events of each code begin, int64 (n_codes + 2,): a cell's runs begin and end there."""
    starts = np.zeros(n_codes + 2, np.int64)
    for region in cells:
        for run in range(offsets[region], offsets[region + 1]):
            starts[low[run] + 1] += 1
            starts[high[run] + 2] += 1
    for code in range(n_codes + 1):
        starts[code + 1] += starts[code]
    return starts


@kernel
def rectangle_frequencies(
    x: Codes,
    y: Codes,
    offsets_x: Int64,
    low_x: Int64,
    high_x: Int64,
    sizes_x: Int64,
    offsets_y: Int64,
    low_y: Int64,
    high_y: Int64,
    sizes_y: Int64,
    cells_x: Int32,
    cells_y: Int32,
    weight: Floats,
    n_codes_x: int,
    n_codes_y: int,
) -> Floats:
    """Rows that the cells leave at each pair of codes, float (n_pairs,).

    A sweep along the codes of x adds the runs of y when a run of x begins and takes them away after it ends.
    """
    starts = _n_events(offsets_x, low_x, high_x, cells_x, n_codes_x)
    filled = starts[: n_codes_x + 1].copy()
    cell_of = np.empty(starts[n_codes_x + 1], np.int32)
    for cell in range(len(cells_x)):
        for run in range(offsets_x[cells_x[cell]], offsets_x[cells_x[cell] + 1]):
            cell_of[filled[low_x[run]]] = cell
            filled[low_x[run]] += 1
            cell_of[filled[high_x[run] + 1]] = -cell - 1
            filled[high_x[run] + 1] += 1
    result = np.empty(len(x))
    sums = np.zeros(n_codes_y + 2)
    pair = 0
    for code in range(n_codes_x):
        if pair == len(x):
            break
        for event in range(starts[code], starts[code + 1]):
            begins = cell_of[event] >= 0
            cell = cell_of[event] if begins else -cell_of[event] - 1
            share = weight[cell] / (sizes_x[cells_x[cell]] * sizes_y[cells_y[cell]])
            for run in range(offsets_y[cells_y[cell]], offsets_y[cells_y[cell] + 1]):
                _add(sums, low_y[run], share if begins else -share)
                _add(sums, high_y[run] + 1, -share if begins else share)
        while pair < len(x) and x[pair] == code:
            result[pair] = _at(sums, y[pair])
            pair += 1
    return result


@kernel
def linked_frequencies(
    x: Codes, y: Codes, codes_x: Codes, codes_y: Codes, n_codes_x: int, n_codes_y: int, starts: Int64
) -> Floats:
    """Rows expected at each pair of values where all links inside a group are equally likely, float (n_pairs,).

    The pairs are sorted by x and then by y here. `codes_x` and `codes_y` (n_rows,) are the values of one group's rows
    after those of the other: group g has those from `starts[g]` to before `starts[g + 1]`. The result is the sum over
    groups of count * count / rows of the group.
    """
    is_dense = n_codes_x * n_codes_y <= max(MOST_DENSE, len(codes_x))
    sums = np.zeros((n_codes_x, n_codes_y) if is_dense else (0, 0))
    result = np.zeros(len(x))
    first = np.zeros(n_codes_x + 1, np.int64)
    for pair in range(len(x)):
        first[x[pair] + 1] = pair + 1
    for code in range(n_codes_x):
        first[code + 1] = max(first[code + 1], first[code])
    count_x, count_y = np.zeros(n_codes_x, np.int64), np.zeros(n_codes_y, np.int64)
    seen_x, seen_y = np.empty(n_codes_x, np.int64), np.empty(n_codes_y, np.int64)
    for group in range(len(starts) - 1):
        n_x = n_y = 0
        for place in range(starts[group], starts[group + 1]):
            a, b = codes_x[place], codes_y[place]
            if count_x[a] == 0:
                seen_x[n_x] = a
                n_x += 1
            if count_y[b] == 0:
                seen_y[n_y] = b
                n_y += 1
            count_x[a] += 1
            count_y[b] += 1
        n_rows = starts[group + 1] - starts[group]
        for i in range(n_x):
            a = seen_x[i]
            share = count_x[a] / n_rows
            begin, end = first[a], first[a + 1]
            if is_dense:
                for j in range(n_y):
                    sums[a, seen_y[j]] += share * count_y[seen_y[j]]
            elif n_y * SEARCHED < end - begin:
                for j in range(n_y):
                    pair = find_value(y, begin, end, seen_y[j])
                    if pair < end and y[pair] == seen_y[j]:
                        result[pair] += share * count_y[y[pair]]
            else:
                for pair in range(begin, end):
                    result[pair] += share * count_y[y[pair]]
            count_x[a] = 0
        for j in range(n_y):
            count_y[seen_y[j]] = 0
    if is_dense:
        for pair in range(len(x)):
            result[pair] = sums[x[pair], y[pair]]
    return result


@kernel
def region_totals(
    offsets: Int64,
    low: Int64,
    high: Int64,
    sizes: Int64,
    cells: Int32,
    other: Int32,
    weight: Floats,
    shape: tuple[int, int],
) -> Floats:
    """Expected rows with each code of one attribute and each region of another one, float of that shape."""
    sums = np.zeros((shape[0] + 1, shape[1]))
    for cell in range(len(cells)):
        region = cells[cell]
        share = weight[cell] / sizes[region]
        for run in range(offsets[region], offsets[region + 1]):
            sums[low[run], other[cell]] += share
            sums[high[run] + 1, other[cell]] -= share
    for code in range(1, shape[0]):
        for column in range(shape[1]):
            sums[code, column] += sums[code - 1, column]
    return sums[: shape[0]]
