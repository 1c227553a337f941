"""How much Rothko reads and writes, by the analysis of the paper.

For binary splits of a balanced tree under k-anonymity. Reads and writes are in the unit of `size`: the table's blocks,
rows or bytes. Source: LeFevre and DeWitt, Rothko (TR 1590), section 4.
"""

from __future__ import annotations

from math import ceil, floor, log2, sqrt
from typing import NamedTuple

from anoncore.algorithms.rothko.confident_checks import critical_value


class InputOutput(NamedTuple):
    """What a run reads and writes, in the unit of the table's size."""

    reads: float
    writes: float


def tree_height(n_rows: int, memory_rows: int) -> int:
    """Levels of the tree before every leaf fits in memory: max(0, ceil(log2(R / TM)))."""
    return max(0, ceil(log2(n_rows / memory_rows)))


def tree_repartitions(height: int, cached_groups: int) -> int:
    """Divisions of the rows with memory for so many frequency groups: ceil(height / (floor(log2 F_CACHE) + 1))."""
    return ceil(height / (floor(log2(cached_groups)) + 1))


def tree_io(size: float, n_rows: int, memory_rows: int, cached_groups: int) -> InputOutput:
    """RothkoTree: reads |R| (height + repartitions + 1), writes |R| repartitions."""
    height = tree_height(n_rows, memory_rows)
    repartitions = tree_repartitions(height, cached_groups)
    return InputOutput(size * (height + repartitions + 1), size * repartitions)


def confident_levels(n_rows: int, memory_rows: int, k: int, alpha: float = 0.05) -> int:
    """Levels that a sample as large as memory supports.

    The largest x with 1 / 2^x - p0 >= z_{alpha / 2} sqrt(p0 (1 - p0) / n * (N - n) / (N - 1)).
    """
    n, share = min(memory_rows, n_rows), min(k / n_rows, 1.0)
    correction = (n_rows - n) / (n_rows - 1) if n_rows > 1 else 0.0
    bound = share + critical_value(alpha, 2) * sqrt(share * (1 - share) / n * correction)
    return max(floor(log2(1 / bound) + 1e-12), 0)


def sampling_repartitions(n_rows: float, memory_rows: int, k: int, alpha: float = 0.05) -> int:
    """Divisions of the rows: none where they fit or no level is confident, else one more than a leaf needs."""
    if n_rows <= memory_rows:
        return 0
    levels = confident_levels(round(n_rows), memory_rows, k, alpha)
    return 1 + sampling_repartitions(n_rows / 2**levels, memory_rows, k, alpha) if levels > 0 else 0


def sampling_io(size: float, n_rows: int, memory_rows: int, k: int, alpha: float = 0.05) -> InputOutput:
    """RothkoSampling: reads |R| (2 repartitions + 1), writes |R| repartitions."""
    repartitions = sampling_repartitions(n_rows, memory_rows, k, alpha)
    return InputOutput(size * (2 * repartitions + 1), size * repartitions)
