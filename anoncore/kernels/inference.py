"""What numba finds out about the types of calls, remembered while a kernel is compiled.

For each call of a built-in function, such as each sum of two whole numbers, numba asks dozens of implementations in
turn whether they take these types. Kernels do the same few things with the same few types over and over: nine answers
of ten were given before in the same kernel or in one that it calls.

This uses numba's inner interfaces: how a call's types are found.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction

if TYPE_CHECKING:
    from collections.abc import Iterator

FUNCTIONS: Any = BaseFunction
"""The class of all functions that numba brings along."""

_ask = FUNCTIONS.get_call_type


@contextmanager
def _as_inner_function() -> Iterator[None]:
    """Inside this block numba takes whom it compiles for a function that Python cannot call.

    numba compiles the functions that it brings along, such as those that make arrays, anew for callers with other
    options. Whether Python can call the caller changes nothing in them.
    """
    options = ConfigStack.top_or_none().copy()
    options.no_cpython_wrapper = options.no_cfunc_wrapper = True
    with ConfigStack().enter(options):
        yield


@contextmanager
def remembered_calls() -> Iterator[None]:
    """Inside this block, and in all such blocks inside it, ask for the types of each call once.

    The answers are forgotten with the block, because numba may give others for functions that are compiled otherwise,
    such as the levels of requirements, which handle division by zero in their own way. numba compiles in one thread at
    a time.
    """
    if FUNCTIONS.get_call_type is not _ask:
        yield
        return
    known: dict[Any, Any] = {}

    def remembered(function: Any, context: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        asked = function, context, given, tuple(named.items())
        signature = known.get(asked)
        if signature is None:
            with _as_inner_function():
                signature = known[asked] = _ask(function, context, given, named)
        return signature

    FUNCTIONS.get_call_type = remembered
    try:
        yield
    finally:
        FUNCTIONS.get_call_type = _ask
