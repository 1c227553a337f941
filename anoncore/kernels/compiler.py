"""How hot loops are compiled: nogil, cached on disk, and requirements called through a fixed C signature."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from anoncore.kernels.compiled_code import keep, kept_level
from anoncore.kernels.linking import KernelCompiler, UnrollingCompiler

F = TypeVar("F", bound=Callable[..., Any])

LEVEL_SIGNATURE = numba.types.float64(
    numba.types.CPointer(numba.types.int64),  # counts of the sensitive values in the group
    numba.types.int64,  # number of counts
    numba.types.int64,  # rows of the group
    numba.types.int64,  # position whose rows each count as a value of their own, -1 if none
    numba.types.CPointer(numba.types.float64),  # the requirement's reference numbers
)


def kernel(function: F) -> F:
    """Compile `function` with numba: no Python objects, no GIL, cached on disk; division by zero gives inf or nan."""
    return _compiled(function, no_cpython_wrapper=False)


def unrolled_kernel(function: F) -> F:
    """Like `kernel`, with unrolled loops: for what is measured to be faster so, because it takes longer to compile."""
    return _compiled(function, no_cpython_wrapper=False, compiler=UnrollingCompiler)


def inner_kernel(function: F) -> F:
    """Compile a function that only kernels call: leaves out the entry points from Python and C, which cost seconds.

    It becomes machine code only as a part of the kernels that call it.
    """
    return _compiled(function, no_cpython_wrapper=True)


def _compiled(function: F, no_cpython_wrapper: bool, compiler: type[KernelCompiler] = KernelCompiler) -> F:
    """The function as numba compiles it when it is first called."""
    compiled: Any = numba.njit(
        nogil=True,
        error_model="numpy",
        no_cpython_wrapper=no_cpython_wrapper,
        no_cfunc_wrapper=True,
        pipeline_class=compiler,
    )(function)
    keep(function, compiled)
    by_type = compiled.get_call_template

    def get_call_template(given: Any, named: Any) -> Any:
        return by_type(tuple(_plain(one) for one in given), {name: _plain(one) for name, one in named.items()})

    compiled.get_call_template = get_call_template
    kept: F = compiled
    return kept


def _plain(given: Any) -> Any:
    """The type that stands for an argument's type where one kernel calls another.

    numba takes every literal for a type of its own, so that f(x, 0), f(x, 1) and f(x, n) would be compiled as three
    functions, and a number read from an array of 32 bits for another type than one of 64 bits. Every signed whole
    number is handed on as one of 64 bits instead.
    """
    kind = numba.types.unliteral(given)
    return numba.types.int64 if isinstance(kind, numba.types.Integer) and kind.signed else kind


class LevelFunction:
    """The level of a requirement as a C function that every kernel can call by its address.

    It is compiled when its address is first asked for, so that importing a requirement compiles nothing.
    """

    def __init__(self, function: Callable[..., float]) -> None:
        self.__wrapped__ = function
        self._lock = threading.Lock()
        self._compiled: Any = None

    def __call__(self, *arguments: Any) -> float:
        """The level, by the function as it is written."""
        return self.__wrapped__(*arguments)

    @property
    def address(self) -> int:
        """Where the compiled function stands in memory."""
        with self._lock:
            if self._compiled is None:
                self._compiled = kept_level(self.__wrapped__, LEVEL_SIGNATURE)
            return int(self._compiled.address)


def level_function(function: Callable[..., float]) -> LevelFunction:
    """Make the level of a requirement a C function that every kernel can call by its address.

    A fixed signature keeps requirements open-ended: a new one brings its own function, and no kernel is recompiled.
    """
    return LevelFunction(function)


@intrinsic  # type: ignore[untyped-decorator]
def call_level(typingctx: Any, address: Any, counts: Any, size: Any, unique: Any, reference: Any) -> Any:
    """Call a level function: `call_level(address, counts, size, unique, reference) -> float64` (arrays are 1-d)."""
    int64, float64 = numba.types.int64, numba.types.float64
    signature = float64(int64, counts, int64, int64, reference)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count_array = make_array(signature.args[1])(context, builder, arguments[1])
        reference_array = make_array(signature.args[4])(context, builder, arguments[4])
        i64, f64 = ir.IntType(64), ir.DoubleType()
        function_type = ir.FunctionType(f64, [i64.as_pointer(), i64, i64, i64, f64.as_pointer()])
        function = builder.inttoptr(arguments[0], function_type.as_pointer())
        length = cgutils.unpack_tuple(builder, count_array.shape, count=1)[0]
        return builder.call(function, [count_array.data, length, arguments[2], arguments[3], reference_array.data])

    return signature, generate
