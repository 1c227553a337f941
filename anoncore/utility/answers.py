"""Answers to count queries from the original rows and from what a release publishes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from anoncore.kernels.arrays import Bytes, Codes, Floats, Int64
from anoncore.kernels.queries import (
    ExactRows,
    LinkRows,
    RegionRows,
    count_matches,
    estimate_by_link,
    estimate_counts,
    prefix_counts,
)
from anoncore.release.partition import Partition
from anoncore.release.recoding import Exact, Generalized, GroupValues, Recoding
from anoncore.release.release import Fragment, Release
from anoncore.utility.column_answers import ColumnTables, has_linked_columns
from anoncore.utility.regions import regions_of
from anoncore.utility.workload import QueryWorkload


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
    link = _link(release, workload.sensitive)
    return IndependentFragments.of(release, workload) if link is None else LinkedFragments.of(release, workload, link)


def original_places(workload: QueryWorkload) -> Codes:
    """The line of a block at which each value of the original rows stands, int32 (n_rows, n_attributes)."""
    columns = [workload.data.codes[name] for name in workload.attributes]
    return np.ascontiguousarray(np.stack(columns, axis=1) + workload.starts[:-1], dtype=np.int32)


def count_original(places: Codes, accept: Bytes) -> Int64:
    """Number of original rows that match each query of a block."""
    return count_matches(places, accept)


@dataclass(frozen=True, eq=False)
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
        exact = ExactRows(
            np.ascontiguousarray(rows, dtype=np.int32), np.cumsum([0, *widths]).astype(np.int64), partition.starts
        )
        first = np.array([workload.starts[number] for number, _ in regional], dtype=np.int64)
        last = np.array([workload.starts[number + 1] for number, _ in regional], dtype=np.int64)
        return cls(exact, _region_rows([recoding for _, recoding in regional], partition), first, last)

    def estimate(self, accept: Bytes) -> Floats:
        """Expected number of matching rows of each query in a block, float (n_queries,)."""
        return estimate_counts(self.exact, self.regions, accept, prefix_counts(accept, self.first, self.last))

    def estimate_by_link(self, link: LinkRows, n_values: int, accept: Bytes) -> Floats:
        """Expected number of matching rows per linking value, float (n_values, n_queries)."""
        prefix = prefix_counts(accept, self.first, self.last)
        return estimate_by_link(self.exact, self.regions, link, n_values, accept, prefix)


@dataclass(frozen=True, eq=False)
class IndependentFragments(Estimator):
    """Fragments that nothing links: the number of rows times the share of each fragment's rows that match."""

    tables: tuple[GroupTables, ...]
    n_rows: int

    @classmethod
    def of(cls, release: Release, workload: QueryWorkload) -> IndependentFragments:
        """One table per fragment."""
        tables = (GroupTables.of((fragment,), release, workload) for fragment in release.fragments)
        return cls(tuple(tables), release.data.n_rows)

    def estimate(self, accept: Bytes) -> Floats:
        """Expected number of matching rows of each query in a block, float (n_queries,)."""
        estimate = np.full(accept.shape[1], float(self.n_rows))
        for table in self.tables:
            estimate *= table.estimate(accept) / self.n_rows
        return estimate


@dataclass(frozen=True, eq=False)
class LinkedFragments(Estimator):
    """Fragments that all publish one attribute: sum over its values c of n_c x product of the shares given c.

    n_c is the mean over the fragments, whose counts differ only where values were distorted.
    """

    tables: tuple[GroupTables, ...]
    links: tuple[LinkRows, ...]
    n_values: int
    accepted: slice | None

    @classmethod
    def of(cls, release: Release, workload: QueryWorkload, link: str) -> LinkedFragments:
        """One table per fragment, with its linking values."""
        tables = (GroupTables.of((fragment,), release, workload, without=link) for fragment in release.fragments)
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
    runs = np.cumsum([0, *(len(region.low) for region in regions)])
    lines = np.cumsum([0, *(len(recoding.domain) + 1 for recoding in recodings)])
    n_groups = partition.n_groups
    return RegionRows(
        np.array([region.offsets + runs[a] for a, region in enumerate(regions)], dtype=np.int64).reshape(
            -1, n_groups + 1
        ),
        np.concatenate([np.zeros(0, np.int64), *(region.low + lines[a] for a, region in enumerate(regions))]),
        np.concatenate([np.zeros(0, np.int64), *(region.high + lines[a] + 1 for a, region in enumerate(regions))]),
        np.array([region.sizes for region in regions], dtype=np.int64).reshape(-1, n_groups),
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


def _link_rows(recoding: Recoding) -> LinkRows:
    """The linking value of each row; where groups publish sets, each value of a set with an even share of the rows."""
    partition = recoding.partition
    if isinstance(recoding, GroupValues):
        weight = np.repeat(partition.sizes / recoding.sizes, recoding.sizes)
        return LinkRows(recoding.offsets.astype(np.int64), recoding.members.astype(np.int32), weight, False)
    codes = recoding.bounds()[0][partition.order]
    return LinkRows(partition.starts, codes, np.ones(len(codes)), True)
