"""Functions that only kernels call become machine code as parts of kernels, and literals are no types of their own."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from anoncore.kernels.compiler import InnerCode, inlined_kernel, inner_kernel, kernel

MODULE = """
import numpy as np
from anoncore.kernels.compiler import inner_kernel, kernel

@inner_kernel
def scaled(values, factor):
    result = np.empty(values.shape[0])
    for i in range(values.shape[0]):
        if factor == 0:
            raise ValueError("nothing is left")
        result[i] = values[i] * factor
    return result

@inner_kernel
def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)

@kernel
def first(values):
    return scaled(scaled(values, 2), values.shape[0])

@kernel
def second(values):
    return scaled(values, 0 if values[0] < 0 else 3).sum() + power(2.0, 5)

@kernel
def third(values):
    return first(values)[1:]
"""


def library_of(function):
    """The library of the only signature that a function was compiled for."""
    (compiled,) = function.overloads.values()
    return compiled.library


def test_only_what_python_calls_becomes_machine_code():
    @inner_kernel
    def doubled(x):
        return 2 * x

    @kernel
    def shifted(x, by):
        return doubled(x) + doubled(by)

    assert shifted(3, 4) == 14
    assert isinstance(library_of(doubled), InnerCode)
    assert not isinstance(library_of(shifted), InnerCode)
    (compiled,) = doubled.overloads.values()
    assert library_of(doubled).get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0


def test_an_inlined_kernel_is_a_piece_of_each_function_that_calls_it():
    def powers(x):
        total = x
        for power in range(40):
            total += x**power // 3
        return total

    inlined, inner = inlined_kernel(powers), inner_kernel(powers)

    @kernel
    def with_inlined(x):
        return inlined(x) + inlined(x + 1)

    @kernel
    def with_inner(x):
        return inner(x) + inner(x + 1)

    assert with_inlined(1) == with_inner(1)
    assert not [one.name for one in library_of(with_inlined).get_defined_functions() if "6powers" in one.name]


def test_a_kernel_is_compiled_once_for_all_literal_numbers():
    @inner_kernel
    def clipped(x, low, is_open):
        return low if is_open and x < low else x

    @kernel
    def clip(x):
        return clipped(x, 1, True) + clipped(x, 2, False) + clipped(x, x, x > 0)

    assert clip(5) == 15
    assert len(clipped.signatures) == 1


def test_a_function_that_calls_itself_and_one_that_raises(tmp_path):
    (tmp_path / "kernels_of_a_test.py").write_text(MODULE)
    sys.path.insert(0, str(tmp_path))
    try:
        from kernels_of_a_test import first, second
    finally:
        sys.path.remove(str(tmp_path))
    assert first(np.arange(3.0)).tolist() == [0.0, 6.0, 12.0]
    assert second(np.ones(2)) == 38.0
    with pytest.raises(ValueError, match="nothing is left"):
        second(-np.ones(2))


@pytest.mark.slow
def test_code_from_the_disk_is_linked_with_kernels_of_another_process(tmp_path: Path):
    (tmp_path / "kernels_of_a_test.py").write_text(MODULE)
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])]),
    }

    def tell(*names: str) -> list[str]:
        """What the kernels give, in a process of their own, and how often code came from the disk."""
        ask = "import numpy as np, kernels_of_a_test as k\n"
        for name in names:
            ask += f"print(np.sum(k.{name}(np.arange(3.0))), sum(k.{name}.stats.cache_hits.values()))\n"
        told = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, check=True)
        return told.stdout.splitlines()

    assert tell("first") == ["18.0 0"]
    # The second kernel is new and compiles the inner function anew; the first one is whole and needs nothing.
    assert tell("second", "first") == ["41.0 0", "18.0 1"]
    # A kernel that came from the disk for another one that is compiled can be called by Python as well.
    assert tell("third", "first") == ["18.0 0", "18.0 1"]
