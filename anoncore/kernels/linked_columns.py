"""Count queries on columns that share buckets: rows of a column linked at random with rows of its parent column.

The columns form a tree. Linked with each row of the parent is a random row of the child among those that have the same
bucket and agree on the attributes that both show. What a query expects of a whole linked row is therefore a product of
averages, computed from the leaves of the tree to its root.

- `weights` float (n_queries, n_places): how far a cell matches a query, 0 to 1; an attribute that the query leaves open
  has weight 1 everywhere. The cells of all attributes stand one after the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import kernel


class LinkedColumns(NamedTuple):
    """Columns in the order of linking, each but the first with a parent before it.

    `places` int32 (n_rows, n_attributes): where the cell of each row has its weight; the attributes of column c are
    `part_start[c]:part_start[c + 1]`. `parent` int64 (n_columns,). `own`, `asked` int64 (n_columns, n_rows): rows of
    column c and of its parent may be linked where `own[c]` of the one equals `asked[c]` of the other; it numbers the
    pairs of a bucket and values of the shared attributes. `counts` int64 (n_columns, n_numbers): rows of column c with
    each such number.
    """

    places: Int32
    part_start: Int64
    parent: Int64
    own: Int64
    asked: Int64
    counts: Int64


@kernel
def count_linked(columns: LinkedColumns, weights: Floats) -> Floats:
    """Expected number of rows, linked at random, that match each query, float (n_queries,)."""
    n_columns, n_rows = columns.own.shape
    result = np.zeros(len(weights))
    row_weight = np.empty((n_columns, n_rows))
    sums = np.empty(columns.counts.shape[1])
    for query in range(len(weights)):
        weight = weights[query]
        row_weight[:] = 1.0
        # From the last column back: a parent stands before its children, so when its turn comes, row_weight already has
        # what all of its children expect of its rows.
        for column in range(n_columns - 1, -1, -1):
            sums[:] = 0.0
            total = 0.0
            for row in range(n_rows):
                share = row_weight[column, row]
                for attribute in range(columns.part_start[column], columns.part_start[column + 1]):
                    if share == 0.0:
                        break
                    share *= weight[columns.places[row, attribute]]
                sums[columns.own[column, row]] += share
                total += share
            if column == 0:
                result[query] = total
                break
            parent = columns.parent[column]
            for row in range(n_rows):
                number = columns.asked[column, row]
                row_weight[parent, row] *= sums[number] / columns.counts[column, number]
    return result
