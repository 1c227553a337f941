"""Answers to count queries from columns that are generalized on their own or share attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anoncore.kernels.arrays import Bytes, Floats, Int64
from anoncore.kernels.linked_columns import LinkedColumns, count_linked
from anoncore.release.overlap import Link, links
from anoncore.release.recoding import ColumnRegions, Generalized, GroupValues, Recoding
from anoncore.release.release import Fragment, Release
from anoncore.table.keys import dense_key
from anoncore.utility.regions import Regions, regions_of
from anoncore.utility.workload import QueryWorkload


def has_linked_columns(release: Release) -> bool:
    """Whether a column of shared buckets is generalized on its own, or columns share attributes."""
    names = [name for fragment in release.fragments for name in fragment.attributes]
    recodings = [recoding for fragment in release.fragments for recoding in fragment.recodings.values()]
    return len(names) > len(set(names)) or any(isinstance(one, ColumnRegions) for one in recodings)


@dataclass(frozen=True, eq=False)
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
        places: list[npt.NDArray[np.int32]] = []
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
        counts = np.zeros((len(order), int(own.max()) + 1), dtype=np.int64)
        for column, numbers in enumerate(own):
            counts[column] = np.bincount(numbers, minlength=counts.shape[1])
        columns = LinkedColumns(
            places=np.ascontiguousarray(np.stack(places, axis=1)),
            part_start=np.array(starts, dtype=np.int64),
            parent=np.array([-1, *(order.index(link.parent) for link in through)], dtype=np.int64),
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
    group = np.asarray(release.partition.group, dtype=np.int64)
    own, asked = [group], [group]
    for link in through:
        names = sorted(link.attributes)
        sides = [_content(release.fragments[side], names) for side in (link.column, link.parent)]
        both = [np.concatenate(pair) for pair in zip(*sides, strict=True)]
        numbers = dense_key([np.tile(group, 2), *both], 2 * n_rows)
        own.append(numbers[:n_rows])
        asked.append(numbers[n_rows:])
    return np.array(own), np.array(asked)


def _content(fragment: Fragment, names: list[str]) -> list[npt.NDArray[np.int32]]:
    return [codes for name in names for codes in fragment.recodings[name].content()]
