"""What numba does slowly for every function that it compiles, done quickly while a kernel is compiled.

- It lists the variables of every statement a dozen times, by a function that asks of every value what it could be.
- Where an answer is "no such type", which is how it finds out what a function is, it paints the text of the exception
  for a terminal that never shows it.
- Where a kernel writes one array into a piece of another it makes ready a text with both shapes, for the case that they
  do not fit; all that text can do is then compiled into the kernel.
- It looks for closures to inline, and afterwards analyses every function anew. Kernels without closures have none.

This uses numba's inner interfaces.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from numba.core import errors as numba_errors
from numba.core import ir
from numba.core.compiler_machinery import register_pass
from numba.core.untyped_passes import InlineClosureLikes
from numba.extending import overload
from numba.np import arrayobj

if TYPE_CHECKING:
    from collections.abc import Iterator

errors: Any = numba_errors
"""numba's exceptions, whose annotations leave out how they are painted."""
_slow_listing: Any = ir.Inst._rec_list_vars
WITHOUT_VARIABLES = frozenset({str, int, float, bool, type(None), ir.Loc})
"""Types of most parts of a statement: they name no variable."""


def _variables(statement: Any, value: Any) -> list[Any]:
    """The variables in a part of a statement, in their order; as numba's own function lists them."""
    kind = type(value)
    if kind is ir.Var:
        return [value]
    if kind is dict:
        value = value.values()
    elif kind is not list and kind is not tuple:
        return [] if kind in WITHOUT_VARIABLES else list(_slow_listing(statement, value))
    found: list[Any] = []
    for part in value:
        kind = type(part)
        if kind is ir.Var:
            found.append(part)
        elif kind not in WITHOUT_VARIABLES:
            found += _variables(statement, part)
    return found


class Unpainted:
    """Leaves the text of exceptions as it is."""

    def __getattr__(self, style: str) -> Any:
        return str


def refuse_shape(source: Any, place: Any) -> None:
    """Raise ValueError because an array does not fit where it is to be written."""
    raise ValueError("An array was to be written into a piece of another that is of a different size.")


@overload(refuse_shape)  # type: ignore[untyped-decorator]
def _refuse_shape(source: Any, place: Any) -> Any:
    """The same inside kernels."""

    def refuse(source: Any, place: Any) -> None:
        raise ValueError("An array was to be written into a piece of another that is of a different size.")

    return refuse


@contextmanager
def quickly() -> Iterator[None]:
    """Inside this block numba lists variables and raises exceptions quickly; it compiles in one thread at a time."""
    before = ir.Inst._rec_list_vars, errors._termcolor_inst, arrayobj.raise_with_shape_context
    ir.Inst._rec_list_vars, errors._termcolor_inst = _variables, Unpainted()
    arrayobj.raise_with_shape_context = refuse_shape
    try:
        yield
    finally:
        ir.Inst._rec_list_vars, errors._termcolor_inst, arrayobj.raise_with_shape_context = before


@register_pass(mutates_CFG=True, analysis_only=False)
class InlineClosuresIfAny(InlineClosureLikes):  # type: ignore[misc]
    """The step of numba's compiler that inlines closures, for functions that have some."""

    _name = "inline_closures_if_any"

    def run_pass(self, state: Any) -> bool:
        """Look for closures first."""
        blocks = state.func_ir.blocks.values()
        if any(True for block in blocks for _ in block.find_exprs(op="make_function")):
            return bool(super().run_pass(state))
        return False


def look_before_inlining(steps: Any) -> None:
    """Let a list of the compiler's steps inline closures only where there are some."""
    steps.passes = [(InlineClosuresIfAny if one is InlineClosureLikes else one, about) for one, about in steps.passes]
    steps.finalize()
