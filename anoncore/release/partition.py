"""Rows put into groups: equivalence classes, buckets or A-groups, as the method calls them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np

from anoncore.base.arguments import checked_methods
from anoncore.base.errors import DataError, ParameterError
from anoncore.base.showing import Lines, SizesDrawn
from anoncore.base.texts import counted
from anoncore.kernels.arrays import Codes, Int64, record
from anoncore.kernels.grouping import LARGEST, dense_key, distinct, first_rows, rows_by_group, starts_of


@partial(checked_methods, left_out=("__init__",))
@record
class Partition(SizesDrawn):
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
            object.__setattr__(self, "group", np.ascontiguousarray(given, np.int32))
            if self.sizes.all():
                return
        raise DataError("A partition needs one whole group id per row, and every id from 0 to the largest must occur.")

    def _headline(self) -> str:
        return f"Partition: {self._inline()}"

    def _inline(self) -> str:
        return self.text()

    def _lines(self) -> Lines:
        return []

    def text(self) -> str:
        """Say how many rows, groups and rows per group there are.

        Returns
        -------
        str
            The text, e.g. `5 rows in 2 groups of 2 to 3 rows`.

        Examples
        --------
        >>> from anoncore import Partition
        >>> Partition([0, 1, 0, 1, 1]).text()
        '5 rows in 2 groups of 2 to 3 rows'
        """
        low, high = int(self.sizes.min()), int(self.sizes.max())
        sizes = counted(low, "row") if low == high else f"{low:,} to {counted(high, 'row')}"
        return f"{counted(self.n_rows, 'row')} in {counted(self.n_groups, 'group')} of {sizes}"

    def _group_sizes(self) -> tuple[str, Int64]:
        return "rows per group", self.sizes

    @classmethod
    def alike(cls, columns: Sequence[Codes | Int64]) -> Partition:
        """The rows that are equal in all columns as groups, numbered by their values, those of the first column first.

        Parameters
        ----------
        columns : sequence of ndarray of int32 or int64, shape (n_rows,)
            The columns, at least one.

        Returns
        -------
        Partition
            The groups.

        Examples
        --------
        >>> import numpy as np
        >>> from anoncore import Partition
        >>> Partition.alike([np.array([1, 0, 1, 1]), np.array([0, 0, 0, 2])]).group.tolist()
        [1, 0, 1, 2]
        """
        if not len(columns):
            raise DataError("Rows are alike in columns; give at least one.")
        return cls(dense_key(columns, len(columns[0]), is_sorted=True).astype(np.int32))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.group)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.sizes)

    @cached_property
    def sizes(self) -> Int64:
        """Rows per group, int64 (n_groups,)."""
        return np.bincount(self.group)

    @cached_property
    def starts(self) -> Int64:
        """Where each group begins in `order`, int64 (n_groups + 1,)."""
        return starts_of(self.sizes)

    @cached_property
    def order(self) -> Int64:
        """Row numbers sorted by group, in row order inside a group, int64 (n_rows,)."""
        return rows_by_group(self.group, self.starts)

    @property
    def first_rows(self) -> Int64:
        """The first row of each group, int64 (n_groups,)."""
        return first_rows(self.group)

    def rows(self, group: int) -> Int64:
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
        if not 0 <= group < self.n_groups:
            raise ParameterError(f"There is no group {group}; there are {self.n_groups:,}, counted from 0.")
        return self.order[self.starts[group] : self.starts[group + 1]]

    def histogram(self, codes: Codes, size: int) -> Int64:
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

        Raises
        ------
        ParameterError
            For a negative number of codes, and where a code is not below it.
        """
        _require_below(size, codes)
        counts = np.bincount(self.group * np.int64(size) + codes, minlength=self.n_groups * size)
        return counts.reshape(self.n_groups, size)

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
        low, high = np.full(self.n_groups, LARGEST, np.int32), np.zeros(self.n_groups, np.int32)
        np.minimum.at(low, self.group, codes)
        np.maximum.at(high, self.group, codes)
        return low, high

    def value_sets(self, codes: Codes, size: int) -> tuple[Int64, Codes]:
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

        Raises
        ------
        ParameterError
            For a negative number of codes, and where a code is not below it.
        """
        _require_below(size, codes)
        group, members = np.divmod(distinct(self.group * np.int64(size) + codes, self.n_groups * size), size)
        return starts_of(np.bincount(group)), members.astype(np.int32)


def own_numbers(partition: Partition, first: Partition) -> Partition:
    """The groups, with other numbers where those of a first table are equal, which would say that they are linked."""
    if partition.n_groups == 1 or not np.array_equal(partition.group, first.group):
        return partition
    return Partition((partition.group + 1) % partition.n_groups)


def _require_below(size: int, codes: Codes) -> None:
    """Raise ParameterError where there cannot be so many codes, or where one is too large for that."""
    if size < 0:
        raise ParameterError(f"The number of codes should be at least 0, not {size}.")
    if len(codes) > 0 and int(codes.max()) >= size:
        raise ParameterError(f"Of {size:,} codes the largest can be {size - 1:,}, not {int(codes.max()):,}.")
