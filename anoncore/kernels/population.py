"""How many people of a population lie in each of many regions.

- `below`, `above` int32 (n_points, n_axes): the codes of the table next to a point on each axis. They are equal where
  the point has a code; a number of the population that the table does not have lies between two codes.
- `weight` int64 (n_points,): people at each point.
- `low`, `high` int32 (n_regions, n_axes): a region is a box, from its lowest to its highest code on every axis.
- `set_start` int64 (n_regions, n_axes + 1), `members` int32: on an axis where a region is a set of codes, the set is
  `members[set_start[r, a]:set_start[r, a + 1]]`, ascending; it is empty where the region is all of the box.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.matching import find_value

BLOCK = 128
"""Points that share a bounding box: few enough for tight boxes, enough that the boxes cost little beside the points."""


@kernel
def count_inside(
    below: Int32,
    above: Int32,
    weight: Int64,
    low: Int32,
    high: Int32,
    set_start: Int64,
    members: Int32,
) -> Int64:
    """Weight of the points in each region, int64 (n_regions,).

    Point p is inside region r if low[r, a] <= below[p, a] and above[p, a] <= high[r, a] on every axis a, and where the
    region is a set, if p has a code and the code is a member. Points are read in blocks with a bounding box, so points
    that are sorted by content are read only near a region.
    """
    n_points, n_axes = below.shape
    n_blocks = (n_points + BLOCK - 1) // BLOCK
    floor, ceiling = np.empty((n_blocks, n_axes), np.int32), np.empty((n_blocks, n_axes), np.int32)
    for block in range(n_blocks):
        for axis in range(n_axes):
            least, most = above[block * BLOCK, axis], below[block * BLOCK, axis]
            for point in range(block * BLOCK + 1, min((block + 1) * BLOCK, n_points)):
                least, most = min(least, above[point, axis]), max(most, below[point, axis])
            floor[block, axis], ceiling[block, axis] = least, most
    counts = np.zeros(low.shape[0], np.int64)
    for region in range(low.shape[0]):
        for block in range(n_blocks):
            near = True
            for axis in range(n_axes):
                if ceiling[block, axis] < low[region, axis] or floor[block, axis] > high[region, axis]:
                    near = False
                    break
            if not near:
                continue
            for point in range(block * BLOCK, min((block + 1) * BLOCK, n_points)):
                if is_inside(below[point], above[point], low[region], high[region], set_start[region], members):
                    counts[region] += weight[point]
    return counts


@inner_kernel
def is_inside(below: Int32, above: Int32, low: Int32, high: Int32, set_start: Int64, members: Int32) -> bool:
    """Whether one point lies in one region; the arguments are the point's and the region's lines."""
    for axis in range(below.shape[0]):
        if below[axis] < low[axis] or above[axis] > high[axis]:
            return False
        begin, end = set_start[axis], set_start[axis + 1]
        if end > begin:
            if below[axis] != above[axis]:
                return False
            position = find_value(members, begin, end, below[axis])
            if position == end or members[position] != below[axis]:
                return False
    return True
