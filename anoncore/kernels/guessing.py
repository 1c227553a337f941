"""What adversaries look up for many people at once: which cells fit them, which record is nearest to them, and how many
people of a population lie in each of many regions.

Cells and people lie in a space with an axis per attribute that the adversary knows. A region is a cell on its own, and
a point of a population stands for all people who have the same values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Bools, Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.sorting import find_value

BLOCK = 128
"""Points that share a bounding box: few enough for tight boxes, enough that the boxes cost little beside the points."""
ROUNDING = 1e-9
"""How far sums of the same distances in another order may differ; records that are this near are equally near."""

MOST_ALLOWED = 20_000_000
"""Codes of an axis times records, up to which it is noted for each pair whether the record allows the code."""


class Regions(NamedTuple):
    """Cells as regions of the space.

    `low`, `high` int32 (n_cells, n_axes): the lowest and the highest code of a cell on every axis. `set_start` int64
    (n_cells, n_axes + 1): on an axis where a cell is a set of codes, the set is `members[set_start[c, a]:set_start[c, a
    + 1]]` int32, ascending; it is empty where the cell is all of its range.
    """

    low: Int32
    high: Int32
    set_start: Int64
    members: Int32


class Positions(NamedTuple):
    """Where people stand: `below`, `above` int32 (n_people, n_axes) are the codes of the table next to their values.

    Both are equal where a value is a code. A number that the table does not have lies between two codes.
    """

    below: Int32
    above: Int32


@kernel
def count_inside(people: Positions, weight: Int64, regions: Regions) -> Int64:
    """Weight of the points in each region, int64 (n_regions,).

    Point p is inside region r if low[r, a] <= below[p, a] and above[p, a] <= high[r, a] on every axis a, and where the
    region is a set, if p has a code and the code is a member. Points are read in blocks with a bounding box, so points
    that are sorted by content are read only near a region.
    """
    below, above, low, high = people.below, people.above, regions.low, regions.high
    n_points, n_axes = below.shape
    n_blocks = (n_points + BLOCK - 1) // BLOCK
    floor, ceiling = np.empty((n_blocks, n_axes), np.int32), np.empty((n_blocks, n_axes), np.int32)
    for block in range(n_blocks):
        for axis in range(n_axes):
            least, most = above[block * BLOCK, axis], below[block * BLOCK, axis]
            for point in range(block * BLOCK + 1, min((block + 1) * BLOCK, n_points)):
                least, most = min(least, above[point, axis]), max(most, below[point, axis])
            floor[block, axis], ceiling[block, axis] = least, most
    counts = np.zeros(len(low), np.int64)
    for region in range(len(low)):
        for block in range(n_blocks):
            near = True
            for axis in range(n_axes):
                if ceiling[block, axis] < low[region, axis] or floor[block, axis] > high[region, axis]:
                    near = False
                    break
            if not near:
                continue
            for point in range(block * BLOCK, min((block + 1) * BLOCK, n_points)):
                if _is_inside(people, point, regions, region):
                    counts[region] += weight[point]
    return counts


@inner_kernel
def _fits(people: Positions, person: int, regions: Regions, region: int, axis: int) -> bool:
    """Whether a person fits a region on one axis."""
    below, above = people.below[person, axis], people.above[person, axis]
    if below < regions.low[region, axis] or above > regions.high[region, axis]:
        return False
    begin, end = regions.set_start[region, axis], regions.set_start[region, axis + 1]
    if end == begin:
        return True
    if below != above:
        return False
    position = find_value(regions.members, begin, end, below)
    return position < end and regions.members[position] == below


@inner_kernel
def _is_inside(people: Positions, person: int, regions: Regions, region: int) -> bool:
    """Whether a person lies in a region."""
    inside = True
    for axis in range(people.below.shape[1]):
        inside = inside and _fits(people, person, regions, region, axis)
    return inside


@kernel
def group_weights(
    people: Positions,
    regions: Regions,
    weight: Floats,
    group: Int64,
    n_groups: int,
    power: int,
    product: Floats,
) -> None:
    """Multiply `product` float64 (n_people, n_groups) by the weight of the cells in each group that fit each person.

    `weight` float64 (n_cells,) is added up over the fitting cells of a group, `group` int64 (n_cells,). With a `power`
    of -1 the product is divided by the sum, where there is one.
    """
    sums = np.empty(n_groups)
    first_low, first_high = _first(regions.low, -1), _first(regions.high, 0)
    for person in range(len(people.below)):
        first_below, first_above = _own(people.below, person), _own(people.above, person)
        sums[:] = 0.0
        for cell in range(len(regions.low)):
            if first_low[cell] > first_below or first_high[cell] < first_above:
                continue
            if product[person, group[cell]] > 0.0 and _is_inside(people, person, regions, cell):
                sums[group[cell]] += weight[cell]
        for place in range(n_groups):
            if power > 0:
                product[person, place] *= sums[place]
            elif sums[place] > 0.0:
                product[person, place] /= sums[place]


@kernel
def secret_scores(
    people: Positions,
    regions: Regions,
    weight: Floats,
    group: Int64,
    product: Floats,
    entry_start: Int64,
    entry_code: Int64,
    entry_share: Floats,
    scores: Floats,
) -> None:
    """Add to `scores` float64 (n_people, n_codes) what the fitting cells say of the secret.

    Cell c says that the secret is `entry_code[e]` with `entry_share[e]` for e from `entry_start[c]` to
    `entry_start[c + 1]`; it counts by its weight times the person's `product` float64 (n_people, n_groups) of the
    cell's group.
    """
    first_low, first_high = _first(regions.low, -1), _first(regions.high, 0)
    for person in range(len(people.below)):
        first_below, first_above = _own(people.below, person), _own(people.above, person)
        for cell in range(len(regions.low)):
            if first_low[cell] > first_below or first_high[cell] < first_above:
                continue
            factor = product[person, group[cell]]
            if factor > 0.0 and _is_inside(people, person, regions, cell):
                for entry in range(entry_start[cell], entry_start[cell + 1]):
                    scores[person, entry_code[entry]] += factor * weight[cell] * entry_share[entry]


@kernel
def fitting_cells(people: Positions, regions: Regions) -> tuple[Int64, Int64]:
    """The cells that fit each person: `cell[start[p]:start[p + 1]]`."""
    start = np.zeros(len(people.below) + 1, np.int64)
    first_low, first_high = _first(regions.low, -1), _first(regions.high, 0)
    cells = np.empty(4 * len(people.below) + 1, np.int64)
    place = 0
    for person in range(len(people.below)):
        first_below, first_above = _own(people.below, person), _own(people.above, person)
        for cell in range(len(regions.low)):
            if first_low[cell] > first_below or first_high[cell] < first_above:
                continue
            if _is_inside(people, person, regions, cell):
                if place == len(cells):
                    more = np.empty(2 * place, np.int64)
                    more[:place] = cells
                    cells = more
                cells[place] = cell
                place += 1
        start[person + 1] = place
    return start, cells[:place].copy()


@inner_kernel
def _first(codes: Int32, without: int) -> Int32:
    """The codes of all cells on the first axis, next to each other in memory; `without` where there is no axis."""
    first = np.full(len(codes), without, np.int32)
    if codes.shape[1] > 0:
        first[:] = codes[:, 0]
    return first


@inner_kernel
def _own(codes: Int32, person: int) -> int:
    """A person's code on the first axis; 0 where there is no axis, so that everything fits."""
    return codes[person, 0] if codes.shape[1] > 0 else 0


@kernel
def nearest_records(
    people: Positions,
    place: Floats,
    regions: Regions,
    low_place: Floats,
    high_place: Floats,
    is_number: Bools,
) -> tuple[Int64, Floats]:
    """The nearest record of each person, int64 (n_people,), and its distance, float64 (n_people,).

    The distance is Gower's, from a value to the cell that the record publishes: on an axis of numbers how far the
    person's `place` float64 (n_people, n_axes) lies outside the record's `low_place` to `high_place`; on any other axis
    0 where the person fits the cell, else 1. Of equally near records the first is taken.
    """
    below, above, low, high = people.below, people.above, regions.low, regions.high
    n_records, n_axes = low.shape
    # Axis by axis over all records: such loops run on several records at once, which is faster than to leave most
    # records early.
    codes, low_places, high_places = low.T.copy(), low_place.T.copy(), high_place.T.copy()
    has_one = np.ones(n_axes, np.bool_)
    for axis in range(n_axes):
        for record in range(n_records):
            if low[record, axis] != high[record, axis]:
                has_one[axis] = False
                break
    # Which records allow a code is looked up once for all people who have it, axis by axis.
    first = np.zeros(n_axes + 1, np.int64)
    for axis in range(n_axes):
        n_codes = 0 if is_number[axis] or has_one[axis] else int(high[:, axis].max()) + 1
        first[axis + 1] = first[axis] + (n_codes if n_codes * n_records <= MOST_ALLOWED else 0)
    allows = np.zeros((first[-1], n_records), np.uint8)
    for axis in range(n_axes):
        if first[axis + 1] > first[axis]:
            for record in range(n_records):
                begin, end = regions.set_start[record, axis], regions.set_start[record, axis + 1]
                if end > begin:
                    for member in regions.members[begin:end]:
                        allows[first[axis] + member, record] = 1
                else:
                    for code in range(low[record, axis], high[record, axis] + 1):
                        allows[first[axis] + code, record] = 1
    nearest, distance = np.zeros(len(below), np.int64), np.empty(len(below))
    far = np.empty(n_records)
    for person in range(len(people.below)):
        far[:] = 0.0
        for axis in range(n_axes):
            at, code = place[person, axis], below[person, axis]
            if is_number[axis]:
                lowest, highest = low_places[axis], high_places[axis]
                for record in range(n_records):
                    far[record] += max(lowest[record] - at, 0.0) + max(at - highest[record], 0.0)
            elif has_one[axis] and code == above[person, axis]:
                published = codes[axis]
                for record in range(n_records):
                    far[record] += 1.0 if published[record] != code else 0.0
            elif code == above[person, axis] and 0 <= code < first[axis + 1] - first[axis]:
                allowed = allows[first[axis] + code]
                for record in range(n_records):
                    far[record] += 1.0 if allowed[record] == 0 else 0.0
            else:
                for record in range(n_records):
                    if not _fits(people, person, regions, record, axis):
                        far[record] += 1.0
        best = 0
        for record in range(1, n_records):
            if far[record] < far[best] - ROUNDING:
                best = record
        nearest[person], distance[person] = best, far[best]
    return nearest, distance


@kernel
def records_inside(
    record: Int64, axes: Int64, upwards: Bools, is_number: Bools, content: Int64, low: Int32, high: Int32, weight: Int64
) -> Int64:
    """How many published records a predicate takes for certain, int64 (n_predicates,), counted up to 2.

    Predicate p is made from the cells of `record[p]` on `axes[p]` int64 (n_predicates, n_used): numbers at least the
    cell's lowest one, where `upwards[p, i]`, else at most its highest one; on any other axis what has the same cell, by
    its number `content` int64 (n_records, n_axes). `weight` int64 (n_records,) says how often a record is published.
    """
    counts = np.zeros(len(record), np.int64)
    for predicate in range(len(record)):
        own = record[predicate]
        for other in range(len(low)):
            inside = True
            for place in range(axes.shape[1]):
                axis = axes[predicate, place]
                if not is_number[axis]:
                    inside = content[other, axis] == content[own, axis]
                elif upwards[predicate, place]:
                    inside = low[other, axis] >= low[own, axis]
                else:
                    inside = high[other, axis] <= high[own, axis]
                if not inside:
                    break
            if inside:
                counts[predicate] += weight[other]
                if counts[predicate] > 1:
                    break
    return counts
