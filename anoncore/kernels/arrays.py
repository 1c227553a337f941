"""Types of NumPy arrays by short names, for every signature of the package, and records of arrays.

An annotation names the type of an array's numbers; the docstring of the function or class says its shape and what the
numbers mean.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

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
T = TypeVar("T")


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
def record(kind: type[T]) -> type[T]:
    """Make a class a frozen dataclass that is compared by identity, because arrays have no single truth value."""
    return dataclass(frozen=True, eq=False)(kind)
