"""What a reader of a release reconstructs of two attributes: how many rows are expected at each pair of values.

The reader takes all values of a region for equally likely, and all links between the rows of one group as well. They
link fragments with groups of their own by the first attribute that both publish.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from anoncore.base.errors import ReleaseError
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, record
from anoncore.kernels.grouping import (
    first_rows,
    numbered_inside_groups,
    numbered_sets,
    occurring_pairs,
    owners,
    runs_from,
    starts_of,
)
from anoncore.kernels.two_way import linked_frequencies, rectangle_frequencies, region_totals
from anoncore.release.partition import Partition
from anoncore.release.recoding import ColumnRegions, Generalized, GroupValues, Recoding
from anoncore.release.release import Fragment, Release

TOLERANCE = 1e-9
"""Share of the rows below which rows that are left over come from rounding."""
MOST_CELLS = 4_000_000
"""Pairs of regions, or entries of a table of codes, that are held at once."""
WORD_BITS = 64


@record
class Regions:
    """Runs of codes: group g allows `low[i]..high[i]` (included) for i in `offsets[g]:offsets[g + 1]`.

    `sizes` int64 (n_groups,) is the number of values allowed. As a prefix sum over codes gives the weight of a run by
    one difference, no measure has to walk over a region.
    """

    offsets: Int64
    low: Int64
    high: Int64
    sizes: Int64

    def numbered(self, n_codes: int) -> Int64:
        """A number for each group, int64 (n_groups,); groups have the same one where they allow the same codes."""
        if len(self.low) == len(self.sizes):
            return numbered_inside_groups(self.low, self.high)[0]
        words, one = None, np.uint64(1)
        if n_codes < WORD_BITS:
            # A set as a word with one bit per code: a run from a to b is 2^(b + 1) - 2^a.
            words = (one << (self.high + 1).astype(np.uint64)) - (one << self.low.astype(np.uint64))
        sets = numbered_sets(self.offsets, np.column_stack((self.low, self.high)), words)
        return sets if words is None else np.unique(sets, return_inverse=True)[1].astype(np.int64)

    def some(self, groups: Int64) -> Regions:
        """The regions of some groups."""
        n_runs = np.diff(self.offsets)[groups]
        runs = runs_from(self.offsets[groups], n_runs)
        return Regions(starts_of(n_runs), self.low[runs], self.high[runs], self.sizes[groups])

    def allow(self, group: Codes, codes: Codes, n_codes: int) -> Bools:
        """Whether the group of each row allows the row's code, bool (n_rows,)."""
        # Runs ascend within a group, so that the last one that begins at or before the code is the only candidate.
        begins = owners(np.diff(self.offsets)) * n_codes + self.low
        run = np.searchsorted(begins, group.astype(np.int64) * n_codes + codes, side="right") - 1
        allowed: Bools = (run >= self.offsets[group]) & (codes <= self.high[run])
        return allowed

    def shares(self, cell: Codes | Int64, n_cells: int, begin: int = 0, end: int | None = None) -> Floats:
        """Share of the values of the groups begin..end-1 in each cell, float (number of groups, n_cells).

        `cell` (n_codes,) is the cell of each code.
        """
        end = len(self.sizes) if end is None else end
        up_to = np.zeros((len(cell) + 1, n_cells), np.int32)
        up_to[np.arange(1, len(cell) + 1), cell] = 1
        np.cumsum(up_to, axis=0, out=up_to)
        runs = slice(self.offsets[begin], self.offsets[end])
        hits = up_to[self.high[runs] + 1] - up_to[self.low[runs]]
        per_group = np.add.reduceat(hits, self.offsets[begin:end] - self.offsets[begin], axis=0)
        return per_group / self.sizes[begin:end, None]

    def largest(self, values: Floats) -> Floats:
        """The largest value among the codes that each group allows, float (n_groups,), of one value per code."""
        ends = np.column_stack((self.low, self.high + 1)).ravel()
        of_run = np.maximum.reduceat(np.append(values, -np.inf), ends)[::2]
        largest: Floats = np.maximum.reduceat(of_run, self.offsets[:-1])
        return largest


def regions_of(recoding: Generalized | GroupValues) -> Regions:
    """The regions of an attribute that is published by group."""
    if recoding.offsets is not None and recoding.members is not None:
        return _runs(recoding.offsets, recoding.members)
    low, high = recoding.low.astype(np.int64), recoding.high.astype(np.int64)
    return Regions(np.arange(len(low) + 1), low, high, recoding.sizes)


def _runs(offsets: Int64, members: Codes) -> Regions:
    """Turn sets of codes, each ascending, into runs of neighbouring codes."""
    begins = np.ones(len(members), np.bool_)
    begins[1:] = members[1:] != members[:-1] + 1
    begins[offsets[:-1]] = True
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(members)) - 1
    codes = members.astype(np.int64)
    return Regions(np.searchsorted(first, offsets), codes[first], codes[last], np.diff(offsets))


@record
class Column:
    """One attribute as a fragment publishes it: the region of every row, and which codes a region allows.

    `group` is the partition whose groups are the regions; None where the regions vary inside a group.
    """

    of_row: Codes
    regions: Regions
    n_codes: int
    group: Partition | None
    is_exact: bool

    @property
    def n_regions(self) -> int:
        """Number of regions."""
        return len(self.regions.sizes)

    @cached_property
    def number(self) -> Codes:
        """The number of each region in `different`, int32 (n_regions,)."""
        if self.is_exact:
            return np.arange(self.n_codes, dtype=np.int32)
        return self.regions.numbered(self.n_codes).astype(np.int32)

    @cached_property
    def different(self) -> Regions:
        """Every region once: many groups have the same."""
        return self.regions if self.is_exact else self.regions.some(first_rows(self.number))

    @property
    def spread(self) -> tuple[Regions, int]:
        """The different regions, and the number of codes over which they spread."""
        return self.different, self.n_codes

    @cached_property
    def rows(self) -> Codes:
        """The number of each row's region in `different`, int32 (n_rows,)."""
        return self.of_row if self.is_exact else self.number[self.of_row]


def paired_attributes(release: Release) -> list[str]:
    """The published quasi-identifiers and sensitive attributes, whose pairs the two-way error looks at.

    Raises ReleaseError where they are fewer than two.
    """
    wanted = {*release.data.quasi_identifiers, *release.data.sensitive}
    names = [name for name in release.attributes if name in wanted]
    if len(names) < 2:
        raise ReleaseError(
            "The release publishes fewer than two quasi-identifiers and sensitive attributes; the two-way error needs "
            "a pair."
        )
    return names


def column_of(recoding: Recoding) -> Column:
    """How a fragment publishes an attribute."""
    n_codes = len(recoding.domain)
    if isinstance(recoding, Generalized | GroupValues):
        partition = recoding.partition
        return Column(partition.group, regions_of(recoding), n_codes, partition, False)
    if isinstance(recoding, ColumnRegions):
        classes = recoding.classes
        return Column(classes.partition.group, regions_of(classes), n_codes, None, False)
    codes, _ = recoding.bounds()
    every = np.arange(n_codes + 1, dtype=np.int64)
    alone = Regions(every, every[:-1], every[:-1], np.ones(n_codes, np.int64))
    return Column(codes, alone, n_codes, None, True)


class Reader:
    """A reader of the release, who reconstructs the joint frequencies of pairs of attributes."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self.data = release.data
        self.columns: dict[tuple[str, str], Column] = {}
        self._ordered: dict[tuple[str, str], Codes] = {}

    @property
    def scale(self) -> float:
        """Rows of the original for each published one: other than 1 only where rows are nobody's."""
        return self.data.n_rows / self.release.n_records

    def column(self, fragment: Fragment, name: str) -> Column:
        """How a fragment publishes an attribute, worked out once."""
        key = (fragment.name, name)
        if key not in self.columns:
            self.columns[key] = column_of(fragment.recodings[name])
        return self.columns[key]

    def together(self, first: str, second: str) -> Fragment | None:
        """The first fragment that publishes both attributes, if there is one."""
        return next((one for one in self.release.fragments if {first, second} <= set(one.recodings)), None)

    def expected(self, first: str, second: str, x: Codes, y: Codes) -> Floats:
        """Expected rows at pairs of codes of two attributes, float (n_pairs,); the pairs are sorted by `x` and `y`.

        They are as many rows as the original has, also where more or fewer are published.
        """
        together = self.together(first, second)
        if together is not None:
            return self.scale * self._of_rows(self.column(together, first), self.column(together, second), x, y)
        return self._across(first, second, x, y)

    def _of_rows(self, one: Column, other: Column, x: Codes, y: Codes) -> Floats:
        """Expected rows where the cells of a row belong together."""
        if one.group is not None and one.group is other.group:
            place, cells, others, _ = numbered_inside_groups(one.number, other.number)
            return spread(one.spread, other.spread, cells, others, np.bincount(place, one.group.sizes), x, y)
        return spread(
            one.spread,
            other.spread,
            *pairs_of(one.rows, other.rows, len(one.different.sizes), len(other.different.sizes)),
            x,
            y,
        )

    def _across(self, first: str, second: str, x: Codes, y: Codes) -> Floats:
        """Expected rows where no fragment publishes both attributes."""
        fragments = self.release.fragment_of(first), self.release.fragment_of(second)
        one, other = self.column(fragments[0], first), self.column(fragments[1], second)
        if not self.release.is_shared:
            expected = np.zeros(len(x))
            for mine, theirs, weight in self.joined(fragments, one, other, len(x)):
                expected += np.einsum("ij,ij,j->i", mine[x], theirs[y], weight)
            return expected
        if one.group is not None or other.group is not None:
            # All rows of a group have the same region, so it does not matter which of them are linked.
            return self._of_rows(one, other, x, y)
        partition = self.release.partition
        if one.is_exact and other.is_exact:
            codes = self._in_groups(fragments[0], first), self._in_groups(fragments[1], second)
            return linked_frequencies(x, y, *codes, one.n_codes, other.n_codes, partition.starts)
        expected = np.zeros(len(x))
        for cells, others, weight in _linked(one, other, partition):
            expected += spread(one.spread, other.spread, cells, others, weight, x, y)
        return expected

    def _in_groups(self, fragment: Fragment, name: str) -> Codes:
        """The codes of an exact attribute, those of one group's rows after the other, int32 (n_rows,)."""
        key = (fragment.name, name)
        if key not in self._ordered:
            column = self.column(fragment, name)
            # Codes that are taken from all over the table are found sooner where few bytes hold all of them.
            small = column.of_row.astype(np.min_scalar_type(column.n_codes))
            self._ordered[key] = small[self.release.partition.order].astype(np.int32)
        return self._ordered[key]

    def joined(
        self, fragments: tuple[Fragment, Fragment], one: Column, other: Column, n_held: int = 0
    ) -> Iterator[tuple[Floats, Floats, Floats]]:
        """What is expected where fragments with groups of their own are joined by an attribute that both publish.

        Each item has the expected rows of one attribute and of the other one with each linking value, float (n_codes,
        n_links), and float (n_links,): the pairs of rows of a linking value count by this weight. `n_held` are the
        rows of a table that the caller makes of an item.
        """
        shared = next((name for name in fragments[0].recodings if name in fragments[1].recodings), None)
        left = [totals(column)[:, None] for column in (one, other)]
        n_left = float(self.data.n_rows)
        if shared is not None:
            links = [self.column(fragment, shared) for fragment in fragments]
            own, foreign = totals(links[0]), totals(links[1])
            paired = np.minimum(own, foreign)
            shares = [np.divide(paired, total, out=np.zeros_like(total), where=total > 0) for total in (own, foreign)]
            weight = np.divide(shares[0] * shares[1], paired, out=np.zeros_like(own), where=paired > 0)
            step = max(1, MOST_CELLS // max(one.n_codes, other.n_codes, n_held))
            for begin in range(0, len(own), step):
                codes = slice(begin, min(begin + step, len(own)))
                mine = _by_link(one, links[0], codes.start, codes.stop)
                theirs = _by_link(other, links[1], codes.start, codes.stop)
                left[0] -= mine @ shares[0][codes, None]
                left[1] -= theirs @ shares[1][codes, None]
                yield mine, theirs, weight[codes]
            n_left -= float(paired.sum())
        # Changed values may leave more rows of a link in one fragment than in the other; those are linked at random.
        if n_left > TOLERANCE * self.data.n_rows:
            yield left[0], left[1], np.array([1 / n_left])


def pairs_of(one: Codes, other: Codes, n_one: int = 0, n_other: int = 0) -> tuple[Codes, Codes, Int64]:
    """The combinations that occur, sorted, as codes, and the rows of each."""
    first, second, counts = occurring_pairs(one, other, n_one, n_other)
    return first.astype(np.int32), second.astype(np.int32), counts.astype(np.int64)


def spread(
    one: tuple[Regions, int],
    other: tuple[Regions, int],
    cells: Codes | Int64,
    others: Codes | Int64,
    weight: Int64 | Floats,
    x: Codes,
    y: Codes,
) -> Floats:
    """Expected rows at each pair of codes where each pair of the different regions is spread evenly over its values.

    Of both attributes the different regions are given, and the number of codes.
    """
    (a, n_one), (b, n_other) = one, other
    return rectangle_frequencies(
        x,
        y,
        a.offsets,
        a.low,
        a.high,
        a.sizes,
        b.offsets,
        b.low,
        b.high,
        b.sizes,
        cells.astype(np.int32),
        others.astype(np.int32),
        weight.astype(np.float64),
        n_one,
        n_other,
    )


def _linked(one: Column, other: Column, partition: Partition) -> Iterator[tuple[Codes, Codes, Floats]]:
    """Every two regions of a group, by their numbers in `different`, with the rows that link them, n_a n_b / size, in
    parts that memory can hold.
    """
    mine, theirs = (pairs_of(partition.group, column.rows) for column in (one, other))
    widths = [np.bincount(side[0], minlength=partition.n_groups) for side in (mine, theirs)]
    starts = [starts_of(width) for width in widths]
    products = np.cumsum(widths[0] * widths[1])
    begin = 0
    while begin < partition.n_groups:
        before = products[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(products, before + MOST_CELLS, side="right")))
        rows = np.arange(starts[0][begin], starts[0][end])
        width = widths[1][mine[0][rows]]
        first = np.repeat(rows, width)
        second = runs_from(starts[1][mine[0][rows]], width)
        weight = mine[2][first] * theirs[2][second] / partition.sizes[mine[0][first]]
        yield mine[1][first], theirs[1][second], weight
        begin = end


def totals(column: Column) -> Floats:
    """Expected rows with each code, float (n_codes,)."""
    rows = np.bincount(column.of_row, minlength=column.n_regions).astype(np.float64)
    every = np.arange(column.n_regions, dtype=np.int32)
    regions = column.regions
    sums = region_totals(
        regions.offsets,
        regions.low,
        regions.high,
        regions.sizes,
        every,
        np.zeros_like(every),
        rows,
        (column.n_codes, 1),
    )
    totals: Floats = sums[:, 0]
    return totals


def _by_link(column: Column, link: Column, begin: int, end: int) -> Floats:
    """Expected rows with each code and each code of the linking attribute from `begin` to before `end`."""
    cells, others, counts = pairs_of(column.of_row, link.of_row)
    regions = link.regions
    weight = counts / regions.sizes[others]
    n_runs = np.diff(regions.offsets)[others]
    run = runs_from(regions.offsets[others], n_runs)
    low, high = np.maximum(regions.low[run], begin), np.minimum(regions.high[run], end - 1)
    width = np.maximum(high - low + 1, 0)
    place = owners(width)
    code = runs_from(low, width)
    cell = owners(n_runs)[place]
    own = column.regions
    return region_totals(
        own.offsets,
        own.low,
        own.high,
        own.sizes,
        cells[cell],
        (code - begin).astype(np.int32),
        weight[cell],
        (column.n_codes, end - begin),
    )
