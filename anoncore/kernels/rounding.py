"""How far rounding may carry a computed number, and every comparison with a limit that allows for it.

All slack is relative to the limit, so that no verdict depends on the unit in which a number is written. A limit of 0
has no slack: levels are computed so that they are exactly 0 where they should be (sums of counts are whole numbers, and
numbers are subtracted before they are rounded). Whole levels such as a number of rows need none and are not changed by
it, because a share of 1e-12 is less than one row of any table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba.extending import register_jitable

F = TypeVar("F", bound=Callable[..., Any])

ROUNDING = 1e-12
"""Share of a limit by which a level may miss it.

A double holds a number to 1.1e-16 of its size. The level of a group is a sum of terms of one sign, or of differences
that are taken exactly, so it errs by a few hundred times that at most, also for millions of rows. Two different levels
of a table lie much farther apart: they are ratios of counts.
"""
ACCUMULATED = 1e-9
"""Share of a limit by which a number may miss it that an iteration or a long chain of products gives.

Beliefs of an adversary who reads many groups are such numbers; their iterations stop at a change of 1e-12.
"""


def _in_both(function: F) -> F:
    """Let Python call a function as it is, also with arrays, and kernels compile it into their own code."""
    jitable: F = register_jitable(function)
    return jitable


@_in_both
def reaches(level: Any, limit: Any, rounding: float = ROUNDING) -> Any:
    """Whether a level is the limit or above it."""
    return level >= limit - rounding * abs(limit)


@_in_both
def stays_within(level: Any, limit: Any, rounding: float = ROUNDING) -> Any:
    """Whether a level is the limit or below it."""
    return level <= limit + rounding * abs(limit)


@_in_both
def lies_below(level: Any, limit: Any, rounding: float = ROUNDING) -> Any:
    """Whether a level is below the limit, by more than rounding could have moved it."""
    return level < limit - rounding * abs(limit)


@_in_both
def lies_above(level: Any, limit: Any, rounding: float = ROUNDING) -> Any:
    """Whether a level is above the limit, by more than rounding could have moved it."""
    return level > limit + rounding * abs(limit)
