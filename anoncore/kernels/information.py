"""Mutual information of all pairs of columns, and the threshold of a column that tells most about a class.

- `cells`, `columns` int32 (n_columns, n_rows): cell of every row in each column, 0..sizes[column]-1.
- `sizes` int64 (n_columns,): number of cells of each column.
- `xlogx` float (n_rows + 1,): x ln x for x = 0..n_rows. Counts are small whole numbers, so all logarithms that the
  entropies need are taken once.

The entropy of counts c_v that sum to n is (n ln n - sum of c_v ln c_v) / n.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import kernel


@kernel
def pair_information(cells: Int32, sizes: Int64, xlogx: Floats) -> Floats:
    """Mutual information in nats, symmetric float (n_columns, n_columns); the diagonal has the entropies."""
    n_columns, n_rows = cells.shape
    entropy = np.empty(n_columns)
    for a in range(n_columns):
        single = np.zeros(sizes[a], np.int64)
        for row in range(n_rows):
            single[cells[a, row]] += 1
        total = 0.0
        for count in single:
            total += xlogx[count]
        entropy[a] = (xlogx[n_rows] - total) / n_rows
    information = np.empty((n_columns, n_columns))
    for a in range(n_columns):
        information[a, a] = entropy[a]
        for b in range(a + 1, n_columns):
            width = sizes[b]
            joint = np.zeros(sizes[a] * width, np.int64)
            for row in range(n_rows):
                joint[cells[a, row] * width + cells[b, row]] += 1
            total = 0.0
            for count in joint:
                total += xlogx[count]
            value = max(entropy[a] + entropy[b] - (xlogx[n_rows] - total) / n_rows, 0.0)
            information[a, b], information[b, a] = value, value
    return information


@kernel
def best_threshold(
    columns: Int32, rows: Int64, sizes: Int64, classes: Int32, n_classes: int, xlogx: Floats
) -> tuple[int, int, float]:
    """The column and code with the largest gain of information (nats) when rows up to this code are split off.

    `rows` int64: the rows to split; `classes` int32 (n_rows,): class of every row, 0..n_classes-1. Of equal gains the
    first wins; gain 0 and column -1 where nothing can be split.
    """
    n = len(rows)
    whole = np.zeros(n_classes, np.int64)
    for row in rows:
        whole[classes[row]] += 1
    before = xlogx[n]
    for count in whole:
        before -= xlogx[count]
    best_column, best_code, best_gain = -1, -1, 0.0
    left = np.empty(n_classes, np.int64)
    for column in range(len(columns)):
        counts = np.zeros((sizes[column], n_classes), np.int64)
        low, high = sizes[column], -1
        for row in rows:
            code = columns[column, row]
            counts[code, classes[row]] += 1
            low, high = min(low, code), max(high, code)
        # From the lowest code up the left side only gains rows; the right side is what the whole has and the left has
        # not. Codes without rows are the same threshold as the code before them.
        left[:] = 0
        n_left = 0
        for code in range(low, high):
            n_code = 0
            for value in range(n_classes):
                left[value] += counts[code, value]
                n_code += counts[code, value]
            if n_code == 0:
                continue
            n_left += n_code
            after = xlogx[n_left] + xlogx[n - n_left]
            for value in range(n_classes):
                after -= xlogx[left[value]] + xlogx[whole[value] - left[value]]
            gain = (before - after) / n
            if gain > best_gain + 1e-12:
                best_column, best_code, best_gain = column, code, gain
    return best_column, best_code, best_gain
