"""Functions that make and return no array count no references; all memory is given back once all the same."""

import gc
import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from numba.core.runtime import _nrt_python, rtsys

from anoncore.kernels.compiler import inner_kernel, kernel


class Work(NamedTuple):
    numbers: np.ndarray
    table: np.ndarray


class Twice(NamedTuple):
    first: Work
    second: Work


@inner_kernel
def same(values):
    return values


@inner_kernel
def field(work):
    return work.numbers


@inner_kernel
def view(values, start):
    return values[start:]


@inner_kernel
def row(work, i):
    return work.table[i]


@inner_kernel
def whole(work):
    return work


@inner_kernel
def swapped(twice):
    return Twice(twice.second, twice.first)


@inner_kernel
def read(twice, i):
    first, second = twice
    values = first.numbers[1:]
    return values[i] + second.numbers[i] + second.table[i, 0] + twice[0].table[i].sum()


@inner_kernel
def write(work, i, number):
    work.numbers[i] = number
    row = work.table[i]
    row[0] = number
    work.table[i, 1:][:] = number


@inner_kernel
def shifted(values):
    values[1:] = values[:-1]


@inner_kernel
def either(first, second, is_first):
    return first if is_first else second


@inner_kernel
def longest(values, n):
    while values.shape[0] > n:
        values = values[1:]
    return values


@inner_kernel
def grown(values, n):
    for _ in range(n):
        wider = np.empty(values.shape[0] + 1)
        wider[:-1] = values
        wider[-1] = values.sum()
        values = wider
    return values


@inner_kernel
def checked(work, n):
    if n > work.numbers.shape[0]:
        raise ValueError("too many")
    return work.numbers[:n]


@inner_kernel
def copied(values, at):
    return values[at]


@inner_kernel
def power(values, n):
    if n == 0:
        return values
    return power(values * 2, n - 1)


@kernel
def returns_argument(values):
    return same(values)


@kernel
def returns_field(values):
    table = np.ones((3, 4))
    return field(Work(values * 2, table))


@kernel
def returns_field_of_argument(values):
    return field(Work(values, np.ones((3, 4))))


@kernel
def returns_views(values):
    new = np.arange(9.0)
    return view(view(new, 2), 1), view(values, 1), row(Work(values, values.copy().reshape((2, 3))), 1)


@kernel
def returns_whole(values):
    work = whole(Work(values, np.zeros((2, 2))))
    work = whole(Work(work.numbers + 1, work.table))
    return work.numbers, work.table


@kernel
def swaps(values):
    twice = Twice(Work(values, np.ones((6, 2))), Work(values + 1, np.zeros((6, 2))))
    for _ in range(5):
        twice = swapped(twice)
    return twice.first.numbers, twice.second.table, read(twice, 2)


@kernel
def writes(values):
    work = Work(values.copy(), np.ones((6, 3)))
    for i in range(6):
        write(work, i, 10.0 * i)
    return work.numbers, work.table


@kernel
def overlaps(values):
    moved = values * 2
    shifted(moved)
    return moved


@kernel
def chooses(values):
    kept = either(values, values * 3, False)
    again = either(kept, values, True)
    for i in range(4):
        again = either(again, values + i, i % 2 == 0)
    return kept, again, either(values, again, True)


@kernel
def rebinds(values):
    return longest(values, 2), longest(values * 2, 3), grown(values, 3), grown(values, 0)


@kernel
def keeps_many(values):
    kept = [values]
    for i in range(3):
        kept.append(same(kept[-1] + i))
        kept[0] = view(kept[-1], 1)
    return kept[0], kept[-1]


@kernel
def copies(values):
    some = copied(values, np.array([0, 2, 4]))
    flags = copied(values, values > 2)
    return some, flags, copied(some, slice(1, None))


@kernel
def calls_itself(values):
    return power(values, 4), power(values, 0)


@kernel
def raises(values):
    work = Work(values, np.zeros((1, 1)))
    return checked(work, 3), checked(work, 4)


KERNELS = [
    returns_argument,
    returns_field,
    returns_field_of_argument,
    returns_views,
    returns_whole,
    swaps,
    writes,
    overlaps,
    chooses,
    rebinds,
    keeps_many,
    copies,
    calls_itself,
    raises,
]


@pytest.fixture
def memory():
    """Counts what numba's functions take and give back."""
    was_counted = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    yield rtsys.get_allocation_stats
    if not was_counted:
        _nrt_python.memsys_disable_stats()


def in_python(made, values):
    """What the kernel gives where all functions run as they are written."""
    with pytest.MonkeyPatch.context() as patch:
        for name, one in list(globals().items()):
            if isinstance(one, Dispatcher):
                patch.setitem(globals(), name, one.py_func)
        return made.py_func(values)


def as_lists(result):
    return [np.asarray(one).tolist() for one in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.slow
@pytest.mark.parametrize("made", KERNELS[:-1], ids=lambda made: made.py_func.__name__)
def test_all_memory_is_given_back_once_and_results_are_those_of_python(made, memory):
    values = np.arange(6.0)
    made(values)
    gc.collect()
    before, references = memory(), sys.getrefcount(values)
    for _ in range(50):
        result = made(values)
    wanted = in_python(made, values)
    assert as_lists(result) == as_lists(wanted)
    # What is handed out stays whole after its memory would have been used again.
    rest = [np.full(6, -1.0) for _ in range(200)] + [made(values + 100) for _ in range(20)]
    assert as_lists(result) == as_lists(wanted)
    del result, wanted, rest
    gc.collect()
    after = memory()
    assert after.alloc - before.alloc == after.free - before.free
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free
    assert sys.getrefcount(values) == references


def test_what_an_exception_interrupts_can_be_called_again():
    values = np.arange(3.0)
    for _ in range(20):
        with pytest.raises(ValueError, match="too many"):
            raises(values)
    assert [one.tolist() for one in raises(np.arange(4.0))] == [[0.0, 1.0, 2.0], [0.0, 1.0, 2.0, 3.0]]
    assert values.tolist() == [0.0, 1.0, 2.0]


def code_of(function):
    """The code in LLVM's language of the only signature that a function was compiled for."""
    (compiled,) = function.overloads.values()
    return compiled.library.get_llvm_str()


def test_functions_that_only_read_and_write_their_arguments_count_nothing():
    @inner_kernel
    def total(twice):
        first, second = twice
        numbers = first.numbers
        result = 0.0
        for i in range(numbers.shape[0]):
            result += numbers[i] + second.table[i, 0] + first.table[i][1]
            second.numbers[i] = result
        return result

    @kernel
    def entry(numbers, table):
        work = Work(numbers, table)
        return total(Twice(work, work))

    assert entry(np.ones(3), np.ones((3, 2))) == 9.0
    assert "NRT_incref" not in code_of(total)
    assert "NRT_decref" not in code_of(total)


def test_functions_that_make_or_return_arrays_count():
    # Functions of this test alone, as the code of a kernel that calls no such function is taken from the disk.
    @inner_kernel
    def returned(values):
        return values

    @inner_kernel
    def copied_from(values, at):
        return values[at]

    @kernel
    def entry(values):
        return returned(copied_from(values, np.array([0, 2])))

    assert entry(np.arange(3.0)).tolist() == [0.0, 2.0]
    for function in (returned, copied_from):
        assert any("NRT_incref" in one.library.get_llvm_str() for one in function.overloads.values())
