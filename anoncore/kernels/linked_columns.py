"""Count queries on columns that share buckets: rows of a column linked at random with rows of its parent column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import kernel


class LinkedColumns(NamedTuple):
    """Columns in the order of linking, each but the first with a parent before it.

    `places` int32 (n_rows, n_attributes): the weight of each row's cell; the attributes of column c are
    `part_start[c]:part_start[c + 1]`. Rows of column c and of its parent are linked where `own[c]` of the one equals
    `asked[c]` of the other (bucket and shared values, dense); `counts[c]` has the rows of each such number.
    """

    places: Int32
    part_start: Int64
    parent: Int64
    own: Int64
    asked: Int64
    counts: Int64


@kernel
def count_linked(columns: LinkedColumns, weights: Floats) -> Floats:
    """Expected number of rows, linked at random, that match: `weights` (n_queries, n_places) says how far cells do."""
    n_columns, n_rows = columns.own.shape
    result = np.zeros(len(weights))
    row_weight = np.empty((n_columns, n_rows))
    sums = np.empty(columns.counts.shape[1])
    for query in range(len(weights)):
        weight = weights[query]
        row_weight[:] = 1.0
        for back in range(n_columns):
            column = n_columns - 1 - back
            sums[:] = 0.0
            total = 0.0
            for row in range(n_rows):
                share = row_weight[column, row]
                for place in range(columns.part_start[column], columns.part_start[column + 1]):
                    if share == 0.0:
                        break
                    share *= weight[columns.places[row, place]]
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
