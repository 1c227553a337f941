"""Contingency counts of all pairs of attributes: how many rows have each pair of cells.

- `cells` int32 (n_attributes, n_rows): cell of attribute a in every row, 0..n_cells[a]-1.
- `starts` int64 (n_attributes + 1,): the cells of attribute a are lines and columns `starts[a]`..`starts[a + 1] - 1` of
  the result.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import kernel


@kernel
def pair_counts(cells: Int32, starts: Int64) -> Floats:
    """Rows per pair of cells, symmetric float (total cells, total cells)."""
    n_attributes = cells.shape[0]
    counts = np.zeros((starts[n_attributes], starts[n_attributes]))
    for a in range(n_attributes):
        for b in range(a, n_attributes):
            for row in range(cells.shape[1]):
                counts[starts[a] + cells[a, row], starts[b] + cells[b, row]] += 1.0
    # Only pairs a <= b were counted; the other half of the matrix mirrors them.
    for i in range(counts.shape[0]):
        for j in range(i):
            counts[i, j] = counts[j, i]
    return counts
