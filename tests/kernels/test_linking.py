"""Functions that only kernels call become machine code as parts of kernels, and literals are no types of their own."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core.caching import NullCache

from anoncore.kernels.compiler import inner_kernel, kernel, unrolled_kernel
from anoncore.kernels.linking import LateLibrary, UnrolledLibrary

MODULE = """
import numpy as np
from anoncore.kernels.compiler import inner_kernel, kernel, unrolled_kernel

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

    before = gc.get_threshold()
    assert shifted(3, 4) == 14
    assert gc.get_threshold() == before
    assert isinstance(library_of(shifted), LateLibrary)
    assert library_of(shifted)._is_translated
    assert not library_of(doubled)._is_translated


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
        ask += "print(sum(k.scaled.stats.cache_hits.values()))"
        told = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, check=True)
        return told.stdout.split("\n")[:-1]

    assert tell("first") == ["18.0 0", "0"]
    # The second kernel is new and takes the inner function from the disk; the first one is whole and needs nothing.
    assert tell("second", "first") == ["41.0 0", "18.0 1", "1"]
    # A kernel that came from the disk for another one that is compiled can be called by Python as well.
    assert tell("third", "first") == ["18.0 0", "18.0 1", "0"]


def test_loops_are_unrolled_only_where_that_is_asked_for():
    @kernel
    def plain(codes, low, high):
        best = codes[low]
        for i in range(low, high):
            if codes[i] < best and codes[i] * 3 % 7 != 2:
                best = codes[i]
        return best

    @unrolled_kernel
    def unrolled(codes, low, high):
        best = codes[low]
        for i in range(low, high):
            if codes[i] < best and codes[i] * 3 % 7 != 2:
                best = codes[i]
        return best

    # What comes from the disk does not tell how it was compiled.
    plain._cache, unrolled._cache = NullCache(), NullCache()
    codes = np.random.default_rng(1).integers(0, 1_000, 101)
    assert plain(codes, 3, 97) == unrolled(codes, 3, 97) == plain.py_func(codes, 3, 97)
    assert type(library_of(plain)) is LateLibrary
    assert type(library_of(unrolled)) is UnrolledLibrary
    branches = [library_of(one).get_asm_str().count("cmp") for one in (plain, unrolled)]
    assert branches[1] > branches[0]
