"""The spread of the numbers of a group, from how often each number of the attribute occurs in it.

- `counts` int64 (n_values,): rows of the group with each value.
- `high`, `low` float (n_values,): each number as the sum of two doubles, so that neighbours which one double cannot
  tell apart still differ; `high` is NaN for a missing value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from anoncore.kernels.compiler import inner_kernel


@inner_kernel
def squared_deviations(counts: Any, high: Any, low: Any) -> tuple[int, float]:
    """Rows of the group with a known number, and the sum of their squared deviations from the mean."""
    # Every number is taken relative to the first one of the group. Equal numbers then give exactly 0, and numbers that
    # agree in most of their digits keep the digits in which they differ.
    first, known, total = -1, 0, 0.0
    for value in range(counts.shape[0]):
        if counts[value] > 0 and not np.isnan(high[value]):
            if first < 0:
                first = value
            known += counts[value]
            total += counts[value] * ((high[value] - high[first]) + (low[value] - low[first]))
    if known == 0:
        return 0, 0.0
    mean, squares = total / known, 0.0
    for value in range(counts.shape[0]):
        if counts[value] > 0 and not np.isnan(high[value]):
            squares += counts[value] * ((high[value] - high[first]) + (low[value] - low[first]) - mean) ** 2
    return known, squares
