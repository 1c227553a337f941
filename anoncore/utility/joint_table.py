"""The table of two attributes before and after: how many rows have each pair of values, and how many a reader expects.

Values are joined into bins, so that attributes with thousands of values make a table that can be looked at. A reader
spreads a region evenly over its values, so what a bin gets of a region is the share of the region's values in the bin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anoncore.kernels.arrays import Floats, record
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.utility.reconstruction import Column, Reader, pairs_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Bins = npt.NDArray[np.int64]
Shape = tuple[int, int]


@record
class JointTable:
    """Rows in each pair of bins of two attributes.

    `before` float (bins of the first, bins of the second) counts the rows of the table; `after`, of the same shape, is
    what a reader of the release expects.
    """

    before: Floats
    after: Floats

    @property
    def moved(self) -> float:
        """Share of the rows that lie in another pair of bins than in the table, from 0 to 1."""
        return float(np.abs(self.before - self.after).sum()) / 2 / float(self.before.sum())


def joint_table(release: Release, first: str, second: str, bins: tuple[Bins, Bins]) -> JointTable:
    """The table of two published attributes before and after.

    `bins` are two int arrays of the sizes of the domains: the bin of each code of the first attribute and of the second
    one. With a bin for each code the table is the one that `two_way_error` measures.
    """
    data = release.data
    shape = int(bins[0].max()) + 1, int(bins[1].max()) + 1
    key = bins[0][data.codes[first]] * shape[1] + bins[1][data.codes[second]]
    before = np.bincount(key, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
    return JointTable(before, _expected(Reader(release), first, second, bins))


def _expected(reader: Reader, first: str, second: str, bins: tuple[Bins, Bins]) -> Floats:
    """Rows that a reader expects in each pair of bins."""
    release, together = reader.release, reader.together(first, second)
    fragments = (
        (together, together) if together is not None else (release.fragment_of(first), release.fragment_of(second))
    )
    one, other = reader.column(fragments[0], first), reader.column(fragments[1], second)
    if together is None and not release.is_shared:
        indicators = [_indicator(of_code) for of_code in bins]
        result = np.zeros((indicators[0].shape[0], indicators[1].shape[0]))
        for mine, theirs, weight in reader.joined(fragments, one, other):
            result += ((indicators[0] @ mine) * weight) @ (indicators[1] @ theirs).T
        return result
    shares = one.regions.shares(bins[0], int(bins[0].max()) + 1), other.regions.shares(bins[1], int(bins[1].max()) + 1)
    if together is None:
        partition = release.partition
        mine, theirs = (
            _rows_of_groups(column, share, partition) for column, share in zip((one, other), shares, strict=True)
        )
        return np.asarray(mine.T @ (theirs / partition.sizes[:, None]))
    cells, others, rows = pairs_of(one.of_row, other.of_row)
    linked = _sparse(rows, cells, others, (one.n_regions, other.n_regions))
    return np.asarray(reader.scale * (shares[0].T @ (linked @ shares[1])))


def _indicator(bin_of: Bins) -> csr_array:
    """1 where a code lies in a bin, (n_bins, n_codes)."""
    n_codes = len(bin_of)
    return _sparse(np.ones(n_codes), bin_of, np.arange(n_codes), (int(bin_of.max()) + 1, n_codes))


def _sparse(values: npt.NDArray[Any], rows: npt.NDArray[Any], columns: npt.NDArray[Any], shape: Shape) -> csr_array:
    """The matrix of a shape with these values in these rows and columns, and 0 elsewhere."""
    from scipy.sparse import csr_array

    return csr_array((values.astype(np.float64), (rows, columns)), shape=shape)


def _rows_of_groups(column: Column, shares: Floats, partition: Partition) -> Floats:
    """Expected rows of each group in each bin, float (n_groups, n_bins)."""
    groups, cells, rows = pairs_of(partition.group, column.of_row)
    counts = _sparse(rows, groups, cells, (partition.n_groups, column.n_regions))
    return np.asarray(counts @ shares)
