"""How many people of a population lie in each of many regions."""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.compiler import kernel

BLOCK = 128


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

    Point p has on axis a the codes `below[p, a]` and `above[p, a]` next to it (equal where it has a code). It is inside
    region r if low[r, a] <= below and above <= high[r, a] on every axis, and where the region is a set
    `members[set_start[r, a]:set_start[r, a + 1]]` (ascending; not empty), its code is a member. Points are read in
    blocks with a bounding box, so points that are sorted by content are read only near a region.
    """
    n_points, n_axes = below.shape
    n_blocks = (n_points + BLOCK - 1) // BLOCK
    floor, ceiling = np.empty((n_blocks, n_axes), np.int32), np.empty((n_blocks, n_axes), np.int32)
    for block in range(n_blocks):
        for axis in range(n_axes):
            inside = slice(block * BLOCK, min((block + 1) * BLOCK, n_points))
            floor[block, axis] = above[inside, axis].min()
            ceiling[block, axis] = below[inside, axis].max()
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


@kernel
def is_inside(below: Int32, above: Int32, low: Int32, high: Int32, set_start: Int64, members: Int32) -> bool:
    """Whether one point lies in one region."""
    for axis in range(below.shape[0]):
        if below[axis] < low[axis] or above[axis] > high[axis]:
            return False
        begin, end = set_start[axis], set_start[axis + 1]
        if end > begin:
            if below[axis] != above[axis]:
                return False
            place = begin + np.searchsorted(members[begin:end], below[axis])
            if place == end or members[place] != below[axis]:
                return False
    return True
