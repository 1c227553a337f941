"""Inner kernels have no entry point from Python; tests that look at one alone make it one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def from_python(inner: Callable[..., Any]) -> Callable[..., Any]:
    """A function that Python may call and that does nothing but call the inner kernel."""

    @numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]
    def entry(*arguments: Any) -> Any:
        return inner(*arguments)

    called: Callable[..., Any] = entry
    return called
