"""Rows put into groups: equivalence classes, buckets or A-groups, as the method calls them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anoncore.base.errors import DataError
from anoncore.kernels.arrays import Codes
from anoncore.kernels.grouping import group_extent, group_histogram, group_value_lists, group_value_sets, rows_by_group

MANY_VALUES = 256
"""Domain size above which a group's values are collected from its rows instead of marking them in a bit per value."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Rows put into groups, each row into one: equivalence classes, buckets or A-groups, as the method calls them.

    Attributes
    ----------
    group : ndarray of int32, shape (n_rows,)
        Number of each row's group in the original order of the rows. Every number from 0 to n_groups - 1 occurs.

    Raises
    ------
    DataError
        Where the numbers are not whole, or one of them does not occur.

    Examples
    --------
    >>> from anoncore import Partition
    >>> partition = Partition([0, 1, 0, 1, 1])
    >>> partition.n_groups, partition.sizes.tolist()
    (2, [2, 3])
    >>> partition.rows(1).tolist()
    [1, 3, 4]
    """

    group: Codes

    def __post_init__(self) -> None:
        given = np.asarray(self.group)
        whole = given.ndim == 1 and len(given) > 0 and given.dtype.kind in "iu"
        if whole and given.min() >= 0 and given.max() < len(given):
            object.__setattr__(self, "group", np.ascontiguousarray(given, dtype=np.int32))
            if self.sizes.all():
                return
        raise DataError("A partition needs one whole group id per row, and every id from 0 to the largest must occur.")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.group)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.sizes)

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Rows per group, int64 (n_groups,)."""
        return np.bincount(self.group)

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:
        """Where each group begins in `order`, int64 (n_groups + 1,)."""
        return np.concatenate(([0], np.cumsum(self.sizes)))

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """Row numbers sorted by group, in row order inside a group, int64 (n_rows,)."""
        return rows_by_group(self.group, self.starts)

    def rows(self, group: int) -> npt.NDArray[np.int64]:
        """The rows of one group.

        Parameters
        ----------
        group : int
            Number of the group.

        Returns
        -------
        ndarray of int64, shape (size of the group,)
            Row numbers, ascending.
        """
        return self.order[self.starts[group] : self.starts[group + 1]]

    def histogram(self, codes: Codes, size: int) -> npt.NDArray[np.int64]:
        """How often each code occurs in each group.

        Parameters
        ----------
        codes : ndarray of int32, shape (n_rows,)
            A code per row.
        size : int
            Number of codes.

        Returns
        -------
        ndarray of int64, shape (n_groups, size)
            Rows of each group with each code.
        """
        return group_histogram(self.group, codes, self.n_groups, size)

    def extent(self, codes: Codes) -> tuple[Codes, Codes]:
        """The smallest and the largest code of each group.

        Parameters
        ----------
        codes : ndarray of int32, shape (n_rows,)
            A code per row.

        Returns
        -------
        two ndarrays of int32, shape (n_groups,)
            The smallest codes and the largest ones.
        """
        return group_extent(self.group, codes, self.n_groups)

    def value_sets(self, codes: Codes, size: int) -> tuple[npt.NDArray[np.int64], Codes]:
        """The different codes of each group.

        Parameters
        ----------
        codes : ndarray of int32, shape (n_rows,)
            A code per row.
        size : int
            Number of codes.

        Returns
        -------
        offsets : ndarray of int64, shape (n_groups + 1,)
            Where each group begins in `members`.
        members : ndarray of int32, shape (offsets[-1],)
            The codes of group g, ascending, are `members[offsets[g]:offsets[g + 1]]`.
        """
        if size > MANY_VALUES:
            return group_value_lists(self.order, self.starts, codes, size)
        return group_value_sets(self.group, codes, self.n_groups, size)
