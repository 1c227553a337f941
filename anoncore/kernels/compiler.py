"""How hot loops are compiled: nogil, cached on disk, and requirements called through a fixed C signature."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar, cast

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import NopythonTypeInference
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from anoncore.kernels.compiled_code import keep, kept_level

F = TypeVar("F", bound=Callable[..., Any])

LEVEL_SIGNATURE = numba.types.float64(
    numba.types.CPointer(numba.types.int64),  # counts of the sensitive values in the group
    numba.types.int64,  # number of counts
    numba.types.int64,  # rows of the group
    numba.types.int64,  # position whose rows each count as a value of their own, -1 if none
    numba.types.CPointer(numba.types.float64),  # the requirement's reference numbers
)

BORROWING = frozenset(
    ["getattr", "getitem", "static_getitem", "getiter", "iternext", "pair_first", "exhaust_iter", "cast", "build_tuple"]
)
"""numba's names of expressions that give parts of what there is, or put it together."""


class InnerCode(JITCodeLibrary):  # type: ignore[misc]
    """The code of an inner kernel, which becomes machine code only as a part of the kernels that call it.

    numba optimizes every compiled function together with all that it calls and translates that to machine code, so that
    it can be called by itself; as a part of each caller all this is done again. Here the code is linked with what it
    calls and left in LLVM's intermediate language, which halves the time of compiling.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        """Simplify what numba writes clumsily, so that there is less to link; all else is done once for the kernel."""
        ll_module.data_layout = self._codegen._data_layout
        passes = llvm.create_new_module_pass_manager()
        passes.add_sroa_pass()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.add_refprune_pass()
        passes.run(ll_module, self._codegen._pass_builder())

    def finalize(self) -> None:
        """Link the code of all functions that this one calls; from then on others can link it."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True
        # A function that calls itself does so by its address.
        if any(variable.name.startswith(".numba.unresolved$") for variable in self._final_module.global_variables):
            self._optimize_final_module()
            self._finalize_final_module()

    @property
    def codegen(self) -> Any:
        """Whom numba tells what the machine code of a function needs of Python: there is no such code."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing to do."""


@register_pass(mutates_CFG=False, analysis_only=True)
class CountReferencesIfNeeded(AnalysisPass):  # type: ignore[misc]
    """Count no references to arrays in a function that makes no array, is given none by what it calls, returns none.

    numba counts up every array of every argument when a function begins and down when it ends, though its caller holds
    them all the while. With workspaces of dozens of arrays that takes longer than many a function's own work.
    """

    _name = "count_references_if_needed"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Look at all that the function assigns, and at what it returns."""
        models = state.targetctx.data_model_manager
        owns = models[state.return_type].contains_nrt_meminfo()
        for block in state.func_ir.blocks.values():
            for made in block.find_insts(numba.core.ir.Assign):
                holds_memory = models[state.typemap[made.target.name]].contains_nrt_meminfo()
                owns = owns or (holds_memory and not _is_borrowed(state, made.value))
            # An array is copied first where it is written into another one that may lie in the same memory.
            for written in block.find_insts((numba.core.ir.SetItem, numba.core.ir.StaticSetItem)):
                owns = owns or models[state.typemap[written.value.name]].contains_nrt_meminfo()
        if not owns:
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        return False


def _is_borrowed(state: Any, value: Any) -> bool:
    """Whether all memory in a value is that of other values of the function: a part of one, or a tuple of some."""
    types = numba.types
    if not isinstance(value, numba.core.ir.Expr):
        return isinstance(value, numba.core.ir.Arg | numba.core.ir.Var)
    if value.op == "call":
        return isinstance(state.typemap[value.func.name], types.NamedTupleClass)
    if value.op in ("getitem", "static_getitem") and isinstance(state.typemap[value.value.name], types.Array):
        # Other indices than these give a copy.
        index = state.calltypes[value].args[1]
        steps = index if isinstance(index, types.BaseTuple) else (index,)
        return all(isinstance(step, types.Integer | types.SliceType | types.EllipsisType) for step in steps)
    return value.op in BORROWING


class InnerCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler, which makes `InnerCode`."""

    def define_pipelines(self) -> list[Any]:
        """numba's own steps, which write into the library that is there, and the one that leaves out counting."""
        self.state.library = InnerCode(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        pipelines: list[Any] = super().define_pipelines()
        for steps in pipelines:
            steps.add_pass_after(CountReferencesIfNeeded, NopythonTypeInference)
            steps.finalize()
        return pipelines


def kernel(function: F) -> F:
    """Compile `function` with numba: no Python objects, no GIL, cached on disk; division by zero gives inf or nan."""
    compiled = _compiled(function)
    keep(function, compiled)
    return cast("F", compiled)


def inner_kernel(function: F) -> F:
    """Compile a function that only kernels call: it becomes machine code only as a part of the kernels that call it."""
    return cast("F", _compiled(function, no_cpython_wrapper=True, pipeline_class=InnerCompiler))


def inlined_kernel(function: F) -> F:
    """Like `inner_kernel`, for what is measured to be faster as a piece of each function that calls it.

    A call hands on every array as a pointer, its sizes and its strides, and counts references to it. That can take
    longer than a short function's own work, above all in a loop; the longer callers take longer to compile.
    """
    return cast("F", _compiled(function, no_cpython_wrapper=True, pipeline_class=InnerCompiler, forceinline=True))


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    """The function as numba compiles it when it is first called."""
    compiled: Any = numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)(function)
    by_type = compiled.get_call_template

    def get_call_template(given: Any, named: Any) -> Any:
        return by_type(tuple(_plain(one) for one in given), {name: _plain(one) for name, one in named.items()})

    compiled.get_call_template = get_call_template
    return compiled


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

    @cached_property
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
