"""The cuts of a Mondrian release one by one, made again by the same kernels, and what else was tried at each."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from anoncore.algorithms.cut_order import widths
from anoncore.algorithms.mondrian import Growth, Mondrian
from anoncore.algorithms.refused_cuts import beside_median
from anoncore.base.errors import ReleaseError
from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.privacy.guarantees import COMPARISON_WORDS, level_texts
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.requirements import CheckSet
from anoncore.table.domain import Domain, Tree, kernel_attributes

MOST_CUTS = 300


@record
class Region:
    """A node of the tree of cuts: its box and its rows.

    `low` and `high` int32 (n_attributes,) are the codes of the box, both included; `rows` int64 are the numbers of its
    rows in the table; `parent` is the number of the region that it was cut from, -1 for the whole table. `attribute` is
    the quasi-identifier by which it is cut, None as long as it is whole; `sides` are the numbers of what it was cut
    into. `is_final` says that no cut of it is allowable.
    """

    parent: int
    low: Codes
    high: Codes
    rows: Int64
    attribute: int | None = None
    sides: tuple[int, ...] = ()
    is_final: bool = False


@record
class CutSteps:
    """Cuts of a release in an order in which each comes after the one that made its region.

    `regions` are all regions that were made, the whole table first; `steps` are the numbers of those that were looked
    at, one after the other: each was cut or is final.
    """

    names: tuple[str, ...]
    regions: tuple[Region, ...]
    steps: tuple[int, ...]

    def whole_after(self, step: int) -> list[int]:
        """The regions that are there once so many steps were made, each either final or not looked at yet."""
        there = {0}
        for number in self.steps[:step]:
            if self.regions[number].sides:
                there.remove(number)
                there.update(self.regions[number].sides)
        return sorted(there)


@dataclass(frozen=True)
class Attempt:
    """A cut of a region at the median, or into the children of a hierarchy node, and why it is not allowable.

    `width` is the share of the attribute's domain that the region's rows span, `where` says in words where the cut is,
    `sizes` are the rows of its sides. `broken` says which requirement a side fails; it is empty for an allowable cut.
    """

    attribute: str
    width: float
    where: str
    sizes: tuple[int, ...]
    broken: str


def mondrian_of(release: Release) -> Mondrian:
    """The method of a release. Raises ReleaseError where it is not Mondrian."""
    if not isinstance(release.algorithm, Mondrian):
        raise ReleaseError("Only a release that Mondrian made has cuts that can be shown.")
    return release.algorithm


def cut_steps(release: Release, row: int | None = None, most: int | None = MOST_CUTS) -> CutSteps:
    """Make the cuts of a release of Mondrian again: the largest region first, or down to the class of one row.

    Parameters
    ----------
    release : Release
        The release.
    row : int, optional
        Number of a row; then only regions that hold it are cut, until the last one is final.
    most : int, optional
        Number of regions that are looked at, at most; None for all.

    Returns
    -------
    CutSteps
        The regions and the order in which they were cut.

    Raises
    ------
    ReleaseError
        Where the release was not made by Mondrian.
    """
    model, data = mondrian_of(release), release.data
    growth = Growth.of(model.replace(recoding="regions"), data)
    regions = [_region(growth, -1, 0, data.n_rows)]
    waiting = [(-data.n_rows, 0, 0, data.n_rows)]
    steps: list[int] = []
    while waiting and (most is None or len(steps) < most):
        _, number, lo, hi = heapq.heappop(waiting)
        before = regions[number]
        sides = growth.cut_once(lo, hi)
        steps.append(number)
        made = [_region(growth, number, *side) for side in sides]
        numbers = tuple(range(len(regions), len(regions) + len(made)))
        regions[number] = Region(
            before.parent, before.low, before.high, before.rows, _cut_by(before, made), numbers, not made
        )
        regions += made
        for new, (begin, end) in zip(numbers, sides, strict=True):
            if row is None or row in regions[new].rows:
                heapq.heappush(waiting, (begin - end, new, begin, end))
    return CutSteps(data.quasi_identifiers, tuple(regions), tuple(steps))


def _region(growth: Growth, parent: int, lo: int, hi: int) -> Region:
    box = growth.regions[lo]
    return Region(parent, box[:, 0].copy(), box[:, 1].copy(), growth.rows[lo:hi, -1].astype(np.int64))


def _cut_by(before: Region, made: list[Region]) -> int | None:
    """The attribute in which a side's box is smaller than the box of the region."""
    for side in made:
        smaller = np.flatnonzero((side.low != before.low) | (side.high != before.high))
        if len(smaller):
            return int(smaller[0])
    return None


def attempts(release: Release, rows: Int64) -> list[Attempt]:
    """What Mondrian tries first of a region: for each attribute, the widest first, the cut at the median.

    Attributes in which all rows agree have no cut, and neither have those whose values lie at one place of the axis: of
    numbers from -3 to 2^53 + 1, the last two are one place, since a double has 53 bits.
    """
    data, checks = release.data, CheckSet(mondrian_of(release).requirements, release.data)
    domains = [data.domain[name] for name in data.quasi_identifiers]
    spans = kernel_attributes(domains).span
    columns = np.array([data.codes[domain.name][rows] for domain in domains])
    low, high = columns.min(axis=1), columns.max(axis=1)
    found = []
    for domain, codes, width in zip(domains, columns, widths(domains, spans, low, high).tolist(), strict=True):
        if width == 0.0:
            continue
        if domain.tree is not None:
            side, where = _children(domain.tree, codes)
        else:
            side, where = _halves(domain, codes)
        sizes = tuple(np.bincount(side).tolist())
        found.append(Attempt(domain.name, width, where, sizes, _broken(checks, rows, side)))
    return sorted(found, key=lambda one: -round(one.width, 9))


def _children(tree: Tree, codes: Codes) -> tuple[Codes, str]:
    """The side of each row in the cut into the children of the lowest node with all codes, and the children's names."""
    children = tree.children_of(tree.node_over(codes.min(), codes.max()))
    side = np.searchsorted(tree.first[children], codes, side="right") - 1
    kept, dense = np.unique(side, return_inverse=True)
    return dense.astype(np.int32), " | ".join(tree.labels[children[one]] for one in kept)


def _halves(domain: Domain, codes: Codes) -> tuple[Codes, str]:
    """The side of each row in the more even of the two clean cuts beside the median value, and where it is."""
    value, _, last = beside_median(codes)
    if last >= int(codes.max()):
        last = value - 1
    if last < int(codes.min()):
        last = value
    left, right = codes[codes <= last].max(), codes[codes > last].min()
    return (codes > last).astype(np.int32), f"up to {domain.text(int(left))} | from {domain.text(int(right))}"


def _broken(checks: CheckSet, rows: Int64, side: Codes) -> str:
    """The first requirement that a side fails, with what the side reaches; empty where all hold."""
    sides = Partition(side)
    for check in checks.checks:
        levels: Floats = check.levels(sides, rows=rows)
        failing = np.flatnonzero(~check.holds(levels))
        if len(failing):
            requirement = check.requirement
            level = float(levels[failing[0]])
            reached, asked = level_texts(level, requirement.threshold)
            has = requirement.reached_text(level, reached, check.attribute)
            return f"{requirement.title}: a side has {has}, {COMPARISON_WORDS[requirement.comparison]} {asked} is asked"
    return ""
