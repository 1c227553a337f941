"""Types of NumPy arrays by short names, for every signature of the package; and where runs of places begin.

An annotation names the type of an array's numbers; the docstring of the function or class says its shape and what the
numbers mean.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
"""Flags of 0 and 1 where loops add or multiply them: eight bits each, like Bools, but numbers."""
Int32 = npt.NDArray[np.int32]
Codes = npt.NDArray[np.int32]
"""Codes of values: the position of each value in its attribute's domain."""
Int64 = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64]
"""Row numbers, counted from 0."""
Counts = npt.NDArray[np.uint32]
"""Numbers of rows in tables that are so large that half the memory matters."""
Words = npt.NDArray[np.uint64]
"""Words of 64 bits: sets with one bit per member, or hashes."""
Floats = npt.NDArray[np.float64]


def starts_of(sizes: Iterable[int]) -> Int64:
    """Where runs of these sizes begin that follow each other, and where the last one ends, int64 (n_runs + 1,)."""
    sizes = sizes if isinstance(sizes, np.ndarray) else np.fromiter(sizes, dtype=np.int64)
    return np.append(np.int64(0), np.cumsum(sizes, dtype=np.int64))


def runs_from(begin: Int64 | int, sizes: Int64) -> Int64:
    """The places of runs, one run after the other: `sizes[i]` whole numbers from `begin[i]` on, int64 (sum,)."""
    return np.arange(sizes.sum()) + np.repeat(begin - np.cumsum(sizes) + sizes, sizes)
