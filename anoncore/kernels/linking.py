"""Inner kernels become machine code only as parts of the kernels that call them.

numba optimizes every compiled function together with all that it calls and translates that to machine code, so that it
can be called by itself. A function that a kernel calls is then optimized and translated again as a part of the kernel,
and so on up to the last caller. An inner kernel is never called by itself: here its code is linked with what it calls
and left in LLVM's intermediate language until a kernel takes it in.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class InnerCode(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function that has no address, only callers that link it."""

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


class InnerCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler, which makes `InnerCode`."""

    def define_pipelines(self) -> Any:
        """numba's own steps, which write into the library that is there."""
        self.state.library = InnerCode(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()
