"""Machine code for kernels alone: the functions that they call are optimized and translated as parts of them.

numba prepares every compiled function to be called by itself: it optimizes the function together with all that it
calls, and translates that to machine code. A function that a kernel calls is then optimized and translated again as a
part of the kernel, and so on up to the last caller. Here compiled functions remain in LLVM's intermediate language
until Python asks for the address of a kernel. Only then is that one optimized and translated, with all that it calls.

This uses numba's inner interfaces: how a library of compiled code is linked with others and made ready.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import llvmlite.binding as llvm
from numba.core import config
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment

from anoncore.kernels.inference import remembered_calls
from anoncore.kernels.lowering import borrow
from anoncore.kernels.quick_compiling import look_before_inlining, quickly

if TYPE_CHECKING:
    from collections.abc import Iterator

OBJECTS_BEFORE_COLLECTION = 50_000
"""New objects after which Python looks for garbage while numba compiles.

numba makes millions of small objects and keeps most of them until the end: to look at them after every 700 new ones, as
Python does, takes a tenth of the time of compiling.
"""


class LateLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The compiled code of one function, translated to machine code when its address is first asked for."""

    unrolls = False
    """Whether loops are unrolled where LLVM expects to gain by it; see `UnrolledLibrary`."""
    _is_translated = False

    def finalize(self) -> None:
        """Link the code of all functions that this one calls; from then on others can link it."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        names = [variable.name for variable in self._final_module.global_variables]
        self._dynamic_globals += [name for name in names if name.startswith("numba.dynamic.globals")]
        self._finalized = True
        # A function that calls itself is called by its address.
        if any(name.startswith(".numba.unresolved$") for name in names):
            self._translate()

    def get_pointer_to_function(self, name: str) -> int:
        """Address of a function, 0 if there is none of this name."""
        self._ensure_finalized()
        if not self._is_translated:
            try:
                is_declaration = self._final_module.get_function(name).is_declaration
            except NameError:
                return 0
            if is_declaration:
                return 0
            self._translate()
        # Machine code that was loaded from disk has no functions in the intermediate language: only its symbols tell.
        address: int = super().get_pointer_to_function(name)
        return address

    def _translate(self) -> None:
        """Optimize the code with all that it calls, and translate it to machine code."""
        if self._is_translated:
            return
        self._is_translated = True
        self._shared_module = None
        self._optimize_final_module()
        self._dynamic_globals.clear()
        self._finalize_final_module()
        # What a function needs of Python, such as its constants, is known by name; the code of each function looks for
        # it in a variable of that name.
        for variable in self._final_module.global_variables:
            if variable.name.startswith("_ZN08NumbaEnv"):
                environment = lookup_environment(variable.name)
                if environment is not None:
                    self._codegen.set_env(variable.name, environment)

    def _optimize_final_module(self) -> None:
        """Optimize the kernel with all that it calls, in one go.

        numba first inlines what it can without optimizing it, to find more references that need not be counted. Here
        functions were simplified and rid of these one by one, so that this first go would change nothing but the time.
        """
        tuning = llvm.create_pipeline_tuning_options(config.OPT)
        tuning.loop_vectorization, tuning.slp_vectorization = config.LOOP_VECTORIZE, config.SLP_VECTORIZE
        tuning.loop_unrolling = self.unrolls
        builder = llvm.create_pass_builder(self._codegen._tm, tuning)
        manager = builder.getModulePassManager()
        manager.add_refprune_pass()
        manager.run(self._final_module, builder)

    def _optimize_functions(self, ll_module: Any) -> None:
        """Simplify each function by itself, before it is linked with others.

        This is for what numba writes most clumsily, so that there is less to link and to keep. All else, above all
        about loops, is done once for the whole kernel.
        """
        ll_module.data_layout = self._codegen._data_layout
        manager = llvm.create_new_module_pass_manager()
        manager.add_sroa_pass()
        manager.add_instruction_combine_pass()
        manager.add_simplify_cfg_pass()
        manager.add_refprune_pass()
        manager.run(ll_module, self._codegen._pass_builder())

    @property
    def codegen(self) -> Any:
        """Whom numba tells what a function needs of Python: this library, as long as there is no machine code."""
        return self._codegen if self._is_translated else self

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing to do before the code is translated."""

    def serialize_using_object_code(self) -> Any:
        """What is kept on disk: machine code where there is some, else the intermediate code."""
        if self._is_translated:
            return super().serialize_using_object_code()
        return self.name, "bitcode", self._get_module_for_linking().as_bitcode()

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> LateLibrary:
        """The library that was kept on disk."""
        name, kind, code = state
        if kind == "bitcode":
            library: LateLibrary = codegen.create_library(name)
            library._final_module = llvm.parse_bitcode(code)
            library._finalize_dynamic_globals()
            library._finalized = True
        else:
            library = super()._unserialize(codegen, state)
            library._is_translated = True
        return library


class UnrolledLibrary(LateLibrary):
    """The compiled code of a kernel that repeats what its loops do several times before they begin anew.

    That takes longer to compile, and most kernels are not faster for it. It is for those that are.
    """

    unrolls = True


@contextmanager
def _with_late_libraries(codegen: Any, library: type[LateLibrary]) -> Iterator[None]:
    """Let numba compile functions, its own ones too, into `library`, and look for garbage less often.

    numba compiles in one thread at a time.
    """
    before, thresholds = codegen._library_class, gc.get_threshold()
    codegen._library_class = library
    gc.set_threshold(OBJECTS_BEFORE_COLLECTION, *thresholds[1:])
    try:
        yield
    finally:
        codegen._library_class = before
        gc.set_threshold(*thresholds)


class KernelCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler, which leaves functions that only kernels call in the intermediate language."""

    library: type[LateLibrary] = LateLibrary

    def define_pipelines(self) -> list[Any]:
        """The steps from Python to machine code."""
        pipelines: list[Any] = super().define_pipelines()
        for steps in pipelines:
            borrow(steps)
            look_before_inlining(steps)
        return pipelines

    def _compile_core(self) -> Any:
        with _with_late_libraries(self.state.targetctx.codegen(), self.library), remembered_calls(), quickly():
            return super()._compile_core()


class UnrollingCompiler(KernelCompiler):
    """The compiler of kernels whose loops are unrolled."""

    library = UnrolledLibrary
