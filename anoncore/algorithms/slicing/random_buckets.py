"""Buckets of a fixed size: slicing against membership disclosure, without a promise about sensitive values."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from anoncore.algorithms.attribute_proposal import AttributeProposal
from anoncore.algorithms.base import Algorithm, Seed
from anoncore.algorithms.slicing.columns import (
    GROUPING_FIELDS,
    AttributeColumns,
    ColumnCount,
    Intervals,
    SensitiveColumnSize,
    choose_columns,
    propose_columns,
    sliced_release,
)
from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.grouping import dense_key, put_at, starts_of
from anoncore.kernels.slicing_spread import spread
from anoncore.release.openness import Minimality, Openness
from anoncore.release.partition import Partition
from anoncore.release.release import Release
from anoncore.requirements import Requirement
from anoncore.table.microdata import Microdata
from anoncore.utility.associations import INTERVALS


class RandomBuckets(Algorithm):
    """Publishes exact values in columns of correlated attributes, each permuted within buckets of `size` rows.

    It hides who is in the table, because values of different people meet in a bucket by chance (see
    `attacks.membership`). It promises nothing about sensitive values. The last bucket has the rows that remain.

    `grouping` says which rows share a bucket. `random` deals them at random, as the paper's experiment does. `spread`
    puts each row, those with the rarest column value first, into the bucket that shows the fewest of its column values
    so far. Values that many people share then stand in as many buckets as possible, so that more tuples that are not in
    the table match a bucket, and each of them matches many.

    Notes
    -----
    Assumes: membership is what must be hidden; nothing is promised about sensitive values.
    Cost: for `random` O(n) once the columns are chosen and the rows are in order; `spread` looks at the buckets for
      each row.
    Use: it should be uncertain who is in the table at all, or as the yardstick of slicing's membership experiment.
    Avoid: sensitive values need protection: slicing does both.

    References
    ----------
    Li et al., slicing, 2009, sections 5 and 6.3; the grouping it leaves to future work.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import RandomBuckets
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu", "cold"] * 3})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = RandomBuckets(size=4, columns=2, seed=0).anonymize(data)
    >>> release.partition.sizes.tolist()
    [4, 2]
    >>> [fragment.attributes for fragment in release.fragments]
    [('age',), ('disease',)]
    """

    name = "random-buckets"
    title = "Random buckets"
    source = "Li, Li, Zhang and Molloy, Slicing, 2009, sections 5 and 6.3"
    family = "slicing"
    grouping_fields = GROUPING_FIELDS
    group_word = "bucket"
    summary = (
        "Shuffles sets of attributes against each other in groups of one size, so that nobody's presence is certain."
    )
    minimality = Minimality(
        Openness.DEPENDS,
        "Where the columns are given by hand and the rows are dealt at random, nothing depends on who has which "
        "sensitive value. Columns that the method chooses follow the associations of the table, and the grouping "
        "`spread` looks at all values, sensitive ones among them.",
    )

    size: Annotated[int, Field(ge=2, title="Group size", description="Rows in a group.")] = 100
    columns: ColumnCount = 2
    grouping: Annotated[
        Literal["random", "spread"],
        Field(title="Grouping", description="Rows at random, or equal column values spread over the groups."),
    ] = "random"
    sensitive_column_size: SensitiveColumnSize = None
    attribute_columns: AttributeColumns = None
    intervals: Intervals = INTERVALS
    seed: Seed = None

    def promises(self, data: Microdata) -> tuple[Requirement, ...]:
        """None."""
        return ()

    def validate_data(self, data: Microdata) -> None:
        """Raise DataError for columns that do not fit the table."""
        data.require_quasi_identifiers()
        self.resolve_columns(data)

    def resolve_columns(self, data: Microdata) -> tuple[tuple[str, ...], ...]:
        """The columns into which the attributes of a table are put.

        Parameters
        ----------
        data : Microdata
            The table.

        Returns
        -------
        tuple of tuple of str
            The attributes of each column, in published order.

        Raises
        ------
        DataError
            Where columns given by hand do not fit the table.
        """
        return choose_columns(data, self.attribute_columns, self.columns, self.sensitive_column_size, self.intervals)

    def proposed_groups(self, data: Microdata) -> AttributeProposal:
        """The columns of the clustering, the one with the sensitive attribute last."""
        return propose_columns(data, self.columns, self.sensitive_column_size, self.intervals)

    def _release(self, data: Microdata, progress: Progress) -> Release:
        columns = self.resolve_columns(data)
        progress(0.1, "Dealing rows into groups")
        # From content order, so that a seed gives the same buckets for any order of the rows.
        rows = data.canonical_order[np.random.default_rng(self.seed).permutation(data.n_rows)]
        if self.grouping == "random":
            group = put_at(rows, (np.arange(data.n_rows) // self.size).astype(np.int32))
        else:
            # A bucket has no more rows than the table, and memory is taken for as many as it may have.
            group = _spread(data, columns, rows, min(self.size, data.n_rows))
        return sliced_release(data, Partition(group), columns, self)


def _spread(data: Microdata, columns: tuple[tuple[str, ...], ...], rows: Int64, size: int) -> Int32:
    """The bucket of each row; `rows` orders rows whose rarest column value is equally rare."""
    keys = [dense_key((data.codes[name] for name in column), data.n_rows) for column in columns]
    rarest = np.min([np.bincount(key)[key] for key in keys], axis=0)
    starts = starts_of(int(key.max()) + 1 for key in keys)
    values = np.column_stack([key + start for key, start in zip(keys, starts[:-1], strict=True)])
    return spread(values, int(starts[-1]), rows[np.argsort(rarest[rows], kind="stable")], size)
