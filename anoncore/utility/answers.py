"""Answers to count queries from the original rows and from what a release publishes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from anoncore.kernels.arrays import Bytes, Codes, Floats, Int64, record
from anoncore.kernels.grouping import dense_key, starts_of
from anoncore.kernels.queries import (
    ExactRows,
    LinkedColumns,
    LinkRows,
    RegionRows,
    count_linked,
    estimate_by_link,
    prefix_counts,
)
from anoncore.release.overlap import Link, links
from anoncore.release.partition import Partition
from anoncore.release.recoding import ColumnRegions, Exact, Generalized, GroupValues, Recoding
from anoncore.release.release import Fragment, Release
from anoncore.utility.reconstruction import Regions, regions_of
from anoncore.utility.workload import QueryWorkload


def has_linked_columns(release: Release) -> bool:
    """Whether a column of shared buckets is generalized on its own, or columns share attributes."""
    names = [name for fragment in release.fragments for name in fragment.attributes]
    recodings = [recoding for fragment in release.fragments for recoding in fragment.recodings.values()]
    return len(names) > len(set(names)) or any(isinstance(one, ColumnRegions) for one in recodings)


@record
class ColumnTables:
    """Columns that share buckets, as the rows linked at random among equal shared values show them.

    A region counts with the share of its values that a query accepts. Expected counts follow the tree in which the
    columns link: every row of a column weighs what it matches itself, times the mean weight of the rows that it may be
    linked with in each column below it.
    """

    columns: LinkedColumns
    regional: tuple[tuple[int, int, Regions], ...]

    @classmethod
    def of(cls, release: Release, workload: QueryWorkload) -> ColumnTables:
        """Lay out the queried attributes, each in the first column that publishes it."""
        fragments = release.fragments
        through = links([fragment.attributes for fragment in fragments])
        order = [0, *(link.column for link in through)]
        n_places = int(workload.starts[-1])
        places: list[Codes] = []
        regional: list[tuple[int, int, Regions]] = []
        starts = [0]
        for fragment in (fragments[number] for number in order):
            for attribute, name in enumerate(workload.attributes):
                if release.fragment_of(name) is fragment:
                    first, last = (int(start) for start in workload.starts[attribute : attribute + 2])
                    lines, regions = _cells(fragment.recodings[name])
                    places.append((lines + (first if regions is None else n_places)).astype(np.int32))
                    if regions is not None:
                        regional.append((first, last, regions))
                        n_places += len(regions.sizes)
            starts.append(len(places))
        own, asked = _numbers(release, through)
        counts = np.zeros((len(order), int(own.max()) + 1), np.int64)
        for column, numbers in enumerate(own):
            counts[column] = np.bincount(numbers, minlength=counts.shape[1])
        columns = LinkedColumns(
            places=np.ascontiguousarray(np.stack(places, axis=1)),
            part_start=np.array(starts, np.int64),
            parent=np.array([-1, *(order.index(link.parent) for link in through)], np.int64),
            own=own,
            asked=asked,
            counts=counts,
        )
        return cls(columns, tuple(regional))

    def estimate(self, accept: Bytes) -> Floats:
        """Expected number of matching rows of each query in a block, float (n_queries,)."""
        weights = [accept.astype(np.float64)]
        for first, last, regions in self.regional:
            prefix = np.zeros((last - first + 1, accept.shape[1]))
            np.cumsum(accept[first:last], axis=0, out=prefix[1:])
            accepted = np.add.reduceat(prefix[regions.high + 1] - prefix[regions.low], regions.offsets[:-1], axis=0)
            weights.append(accepted / regions.sizes[:, None])
        return count_linked(self.columns, np.ascontiguousarray(np.concatenate(weights).T))


def _cells(recoding: Recoding) -> tuple[Int64, Regions | None]:
    """The number of each row's cell; where cells are regions, also the values of each region."""
    if isinstance(recoding, ColumnRegions):
        return recoding.classes.partition.group.astype(np.int64), regions_of(recoding.classes)
    if isinstance(recoding, Generalized | GroupValues):
        return recoding.partition.group.astype(np.int64), regions_of(recoding)
    return recoding.bounds()[0].astype(np.int64), None


def _numbers(release: Release, through: tuple[Link, ...]) -> tuple[Int64, Int64]:
    """For each column, in the order of linking, a number per row of the column and per row of its parent.

    Rows of the two columns may be linked where these numbers are equal.
    """
    n_rows = release.data.n_rows
    group = np.asarray(release.partition.group, np.int64)
    own, asked = [group], [group]
    for link in through:
        names = sorted(link.attributes)
        sides = [_content(release.fragments[side], names) for side in (link.column, link.parent)]
        both = [np.concatenate(pair) for pair in zip(*sides, strict=True)]
        numbers = dense_key([np.tile(group, 2), *both], 2 * n_rows)
        own.append(numbers[:n_rows])
        asked.append(numbers[n_rows:])
    return np.array(own), np.array(asked)


def _content(fragment: Fragment, names: list[str]) -> list[Codes]:
    return [codes for name in names for codes in fragment.recodings[name].content()]


class Estimator(Protocol):
    """Answers blocks of queries from a release."""

    def estimate(self, accept: Bytes) -> Floats:
        """Expected number of matching rows of each query in a block, float (n_queries,)."""


def estimator(release: Release, workload: QueryWorkload) -> Estimator:
    """How a release answers queries: by groups, or by fragments with partitions of their own."""
    if release.is_shared and has_linked_columns(release):
        return ColumnTables.of(release, workload)
    if release.is_shared:
        return GroupTables.of(release.fragments, release, workload)
    return LinkedFragments.of(release, workload, _link(release, workload.sensitive))


def original_places(workload: QueryWorkload) -> Codes:
    """The line of a block at which each value of the original rows stands, int32 (n_rows, n_attributes)."""
    columns = [workload.data.codes[name] for name in workload.attributes]
    return np.ascontiguousarray(np.stack(columns, axis=1) + workload.starts[:-1], np.int32)


@record
class GroupTables(Estimator):
    """Fragments with one partition: sum over groups of |G| x product of the fragments' shares in G.

    The share of exact attributes of a fragment is that of the rows that match jointly; a generalized attribute's is
    that of its region's values, all of them equally likely.
    """

    exact: ExactRows
    regions: RegionRows
    first: Int64
    last: Int64

    @classmethod
    def of(
        cls, fragments: Sequence[Fragment], release: Release, workload: QueryWorkload, without: str | None = None
    ) -> GroupTables:
        """Lay out the queried attributes that these fragments are the first to publish; `without` is left out."""
        partition = fragments[0].partition
        columns_of_fragments: list[list[Codes]] = []
        regional: list[tuple[int, Generalized | GroupValues]] = []
        for fragment in fragments:
            columns = []
            for number, name in enumerate(workload.attributes):
                if name == without or release.fragment_of(name) is not fragment:
                    continue
                recoding = fragment.recodings[name]
                if isinstance(recoding, Generalized | GroupValues):
                    regional.append((number, recoding))
                else:
                    columns.append(recoding.bounds()[0][partition.order] + workload.starts[number])
            if columns:
                columns_of_fragments.append(columns)
        widths = [len(columns) for columns in columns_of_fragments]
        places = [column for columns in columns_of_fragments for column in columns]
        rows = np.stack(places, axis=1) if places else np.zeros((partition.n_rows, 0))
        exact = ExactRows(np.ascontiguousarray(rows, np.int32), starts_of(widths), partition.starts)
        first = np.array([workload.starts[number] for number, _ in regional], np.int64)
        last = np.array([workload.starts[number + 1] for number, _ in regional], np.int64)
        return cls(exact, _region_rows([recoding for _, recoding in regional], partition), first, last)

    def estimate(self, accept: Bytes) -> Floats:
        """Expected number of matching rows of each query in a block, float (n_queries,)."""
        return self.estimate_by_link(_unlinked(np.diff(self.exact.starts)), 1, accept)[0]

    def estimate_by_link(self, link: LinkRows, n_values: int, accept: Bytes) -> Floats:
        """Expected number of matching rows per linking value, float (n_values, n_queries)."""
        prefix = prefix_counts(accept, self.first, self.last)
        return estimate_by_link(self.exact, self.regions, link, n_values, accept, prefix)


@record
class LinkedFragments(Estimator):
    """Fragments that all publish one attribute: sum over its values c of n_c x product of the shares given c.

    n_c is the mean over the fragments, whose counts differ only where values were distorted. Where nothing links the
    fragments, all rows have one value.
    """

    tables: tuple[GroupTables, ...]
    links: tuple[LinkRows, ...]
    n_values: int
    accepted: slice | None

    @classmethod
    def of(cls, release: Release, workload: QueryWorkload, link: str | None) -> LinkedFragments:
        """One table per fragment, with its linking values."""
        tables = (GroupTables.of((fragment,), release, workload, without=link) for fragment in release.fragments)
        if link is None:
            return cls(tuple(tables), tuple(_unlinked(one.partition.sizes) for one in release.fragments), 1, None)
        links = (_link_rows(fragment.recodings[link]) for fragment in release.fragments)
        accepted = None
        if link in workload.attributes:
            number = workload.attributes.index(link)
            accepted = slice(int(workload.starts[number]), int(workload.starts[number + 1]))
        return cls(tuple(tables), tuple(links), len(release.data.domain[link]), accepted)

    def estimate(self, accept: Bytes) -> Floats:
        """Expected number of matching rows of each query in a block, float (n_queries,)."""
        totals = np.array([np.bincount(link.value, link.weight, self.n_values) for link in self.links])
        estimate = np.repeat(totals.mean(axis=0)[:, None], accept.shape[1], axis=1)
        for table, link, total in zip(self.tables, self.links, totals, strict=True):
            estimate *= table.estimate_by_link(link, self.n_values, accept) / np.maximum(total, 1e-300)[:, None]
        if self.accepted is not None:
            estimate *= accept[self.accepted]
        expected: Floats = estimate.sum(axis=0)
        return expected


def _region_rows(recodings: Sequence[Generalized | GroupValues], partition: Partition) -> RegionRows:
    """Lay out the regions of all attributes one after the other, as runs of lines of their prefix counts."""
    regions = [regions_of(recoding) for recoding in recodings]
    runs = starts_of(len(region.low) for region in regions)
    lines = starts_of(len(recoding.domain) + 1 for recoding in recodings)
    n_groups = partition.n_groups
    return RegionRows(
        np.array([region.offsets + runs[a] for a, region in enumerate(regions)], np.int64).reshape(-1, n_groups + 1),
        np.concatenate([np.zeros(0, np.int64), *(region.low + lines[a] for a, region in enumerate(regions))]),
        np.concatenate([np.zeros(0, np.int64), *(region.high + lines[a] + 1 for a, region in enumerate(regions))]),
        np.array([region.sizes for region in regions], np.int64).reshape(-1, n_groups),
    )


def _link(release: Release, sensitive: str) -> str | None:
    """An attribute that every fragment publishes by value, the sensitive one if possible; None if there is none."""
    first, *others = release.fragments
    common = [
        name
        for name, recoding in first.recodings.items()
        if _links(recoding) and all(name in other.recodings and _links(other.recodings[name]) for other in others)
    ]
    return sensitive if sensitive in common else next(iter(common), None)


def _links(recoding: Recoding) -> bool:
    return isinstance(recoding, Exact | GroupValues)


def _unlinked(sizes: Int64) -> LinkRows:
    """Groups whose rows all have the same linking value."""
    return LinkRows(np.arange(len(sizes) + 1), np.zeros(len(sizes), np.int32), sizes.astype(np.float64), False)


def _link_rows(recoding: Recoding) -> LinkRows:
    """The linking value of each row; where groups publish sets, each value of a set with an even share of the rows."""
    partition = recoding.partition
    if isinstance(recoding, GroupValues):
        weight = np.repeat(partition.sizes / recoding.sizes, recoding.sizes)
        return LinkRows(recoding.offsets.astype(np.int64), recoding.members.astype(np.int32), weight, False)
    codes = recoding.bounds()[0][partition.order]
    return LinkRows(partition.starts, codes, np.ones(len(codes)), True)
