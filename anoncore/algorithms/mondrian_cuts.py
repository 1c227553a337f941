"""The cuts of a Mondrian release one by one, made again by the same kernels, and what else was tried at each."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from anoncore.algorithms.cut_order import widths
from anoncore.algorithms.mondrian import Growth, Mondrian
from anoncore.algorithms.refused_cuts import evener_cut
from anoncore.base.errors import ReleaseError
from anoncore.base.progress import Progress, silent
from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.privacy.guarantees import level_texts
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.requirements import Check, CheckSet
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


def cut_steps(
    release: Release, row: int | None = None, most: int | None = MOST_CUTS, progress: Progress = silent
) -> CutSteps:
    """Make the cuts of a release of Mondrian again: the largest region first, or down to the class of one row.

    Parameters
    ----------
    release : Release
        The release.
    row : int, optional
        Number of a row; then only regions that hold it are cut, until the last one is final.
    most : int, optional
        Number of regions that are looked at, at most; None for all.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop.

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
    nodes = [_Node.of(growth, -1, 0, data.n_rows)]
    waiting = [(-data.n_rows, 0)]
    steps: list[int] = []
    while waiting and (most is None or len(steps) < most):
        done = len(steps) / (most or data.n_rows) if row is None else 1 - -waiting[0][0] / data.n_rows
        progress(done, f"{len(steps):,} cuts made again")
        _, number = heapq.heappop(waiting)
        node = nodes[number]
        made = [_Node.of(growth, number, *side) for side in growth.cut_once(node.begin, node.end)]
        steps.append(number)
        node.attribute, node.is_final = _cut_by(node, made), not made
        node.sides = tuple(range(len(nodes), len(nodes) + len(made)))
        nodes += made
        for new, side in zip(node.sides, made, strict=True):
            if row is None or (growth.rows[side.begin : side.end, -1] == row).any():
                heapq.heappush(waiting, (side.begin - side.end, new))
    # A cut moves rows within its region only, so that in the end each region still has its rows where it had them.
    rows = growth.rows[:, -1].astype(np.int64)
    return CutSteps(data.quasi_identifiers, tuple(node.region(rows) for node in nodes), tuple(steps))


@dataclass(eq=False)
class _Node:
    """A region while others are cut: its rows are begin..end-1 of those of the growth."""

    parent: int
    low: Codes
    high: Codes
    begin: int
    end: int
    attribute: int | None = None
    sides: tuple[int, ...] = ()
    is_final: bool = False

    @classmethod
    def of(cls, growth: Growth, parent: int, begin: int, end: int) -> _Node:
        """The node of these rows, of which the first has the box."""
        box = growth.regions[begin]
        return cls(parent, box[:, 0].copy(), box[:, 1].copy(), begin, end)

    def region(self, rows: Int64) -> Region:
        """The region, of all rows in the order of the growth."""
        own = rows[self.begin : self.end]
        return Region(self.parent, self.low, self.high, own, self.attribute, self.sides, self.is_final)


def _cut_by(before: _Node, made: list[_Node]) -> int | None:
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
    # All rows are taken as they stand: in a large table most of the time would go into looking them up.
    which = slice(None) if len(rows) == data.n_rows else rows
    rows = np.arange(data.n_rows)[which]
    counts = [np.bincount(data.codes[domain.name][which], minlength=len(domain)) for domain in domains]
    low, high = np.array([np.flatnonzero(of_code)[[0, -1]] for of_code in counts], np.int32).T
    secrets = {view.attribute: view.codes[which] for view in checks.views}
    found = []
    for domain, of_code, width in zip(domains, counts, widths(domains, spans, low, high).tolist(), strict=True):
        if width == 0.0:
            continue
        side, where = _children(domain.tree, of_code) if domain.tree is not None else _halves(domain, of_code)
        sizes = tuple(np.bincount(side, weights=of_code).astype(np.int64).tolist())
        sides = _Sides(side[data.codes[domain.name][which]], sizes, secrets)
        found.append(Attempt(domain.name, width, where, sizes, _broken(checks, rows, sides)))
    return sorted(found, key=lambda one: -round(one.width, 9))


def _children(tree: Tree, counts: Int64) -> tuple[Codes, str]:
    """The side of each code in the cut into the children of the lowest node with all codes, and the children's names.

    Codes that no row has are on any side.
    """
    codes = np.flatnonzero(counts)
    children = tree.children_of(tree.node_over(codes[0], codes[-1]))
    kept, dense = np.unique(np.searchsorted(tree.first[children], codes, side="right") - 1, return_inverse=True)
    side = np.zeros(len(counts), np.int32)
    side[codes] = dense
    return side, " | ".join(tree.labels[children[one]] for one in kept)


def _halves(domain: Domain, counts: Int64) -> tuple[Codes, str]:
    """The side of each code in the more even of the two clean cuts beside the median value, and where it is."""
    codes, up_to = np.flatnonzero(counts), np.cumsum(counts)
    n_rows = int(up_to[-1])
    value = int(np.searchsorted(up_to, n_rows // 2, side="right"))
    last = evener_cut(value, int(up_to[value] - counts[value]), int(up_to[value]), n_rows)
    if last >= codes[-1]:
        last = value - 1
    if last < codes[0]:
        last = value
    place = int(np.searchsorted(codes, last, side="right"))
    left, right = int(codes[place - 1]), int(codes[place])
    side = (np.arange(len(counts)) > last).astype(np.int32)
    return side, f"up to {domain.text(left)} | from {domain.text(right)}"


@dataclass(eq=False)
class _Sides:
    """The sides of a cut of some rows.

    `of_row` int32 (n,) is the side of each row, `sizes` are the rows of each side, and `secrets` int32 (n,) what each
    row has of the sensitive attributes.
    """

    of_row: Codes
    sizes: tuple[int, ...]
    secrets: Mapping[str, Codes]
    _counted: dict[str, Int64] = field(default_factory=dict)

    def counts(self, attribute: str, n_values: int) -> Int64:
        """Rows of each side with each sensitive value, int64 (n_sides, n_values)."""
        if attribute not in self._counted:
            pairs = self.of_row.astype(np.int64) * n_values + self.secrets[attribute]
            self._counted[attribute] = np.bincount(pairs, minlength=len(self.sizes) * n_values)
        return self._counted[attribute].reshape(len(self.sizes), n_values)

    def levels(self, check: Check, rows: Int64) -> Floats:
        """The level of each side. Where every row is a person, counts tell it, and no rows are sorted by side."""
        if check.people is not None:
            return check.levels(Partition(self.of_row), rows=rows)
        if check.values is None:
            return np.array([check.table_level(size) for size in self.sizes])
        counts = self.counts(check.values.attribute, check.values.size)
        return np.array([check.table_level(size, own) for size, own in zip(self.sizes, counts, strict=True)])


def _broken(checks: CheckSet, rows: Int64, sides: _Sides) -> str:
    """The first requirement that a side fails, with what the side reaches; empty where all hold."""
    for check in checks.checks:
        levels = sides.levels(check, rows)
        failing = np.flatnonzero(~check.holds(levels))
        if len(failing):
            requirement = check.requirement
            level = float(levels[failing[0]])
            reached, asked = level_texts(level, requirement.threshold)
            has = requirement.reached_text(level, reached, check.attribute)
            return f"{requirement.title}: a side has {has}, {requirement.asked_text(asked)} is asked"
    return ""
