"""How much of a run was compiling: told for the work that waited for it, in all of its threads, and only once."""

from __future__ import annotations

import threading
from time import perf_counter

import numba
import numpy as np

from anoncore.base.compile_time import CompileTime, Pool, recorded


def fresh():
    """A function that nobody has compiled yet."""

    @numba.njit
    def total(values):
        found = 0
        for value in values:
            found += value
        return found

    return total


def test_the_first_call_compiles_and_the_second_does_not():
    function, values = fresh(), np.arange(5)
    begin = perf_counter()
    with recorded() as first:
        assert function(values) == 10
    assert 0 < first.seconds <= perf_counter() - begin
    with recorded() as second:
        function(values)
    assert second.seconds == 0


def test_compiling_in_the_threads_of_a_pool_counts_for_the_work_that_uses_it():
    values = np.arange(5)
    begin = perf_counter()
    with recorded() as compiling, Pool(2) as pool:
        assert sum(pool.map(lambda function: function(values), [fresh(), fresh()])) == 20
    # Threads that compile or wait beside each other count once.
    assert 0 < compiling.seconds <= perf_counter() - begin


def test_the_compiling_of_others_is_theirs():
    function, values = fresh(), np.arange(5)
    with recorded() as mine:
        other = threading.Thread(target=function, args=(values,))
        other.start()
        other.join()
    assert mine.seconds == 0


def test_threads_beside_each_other_count_once():
    time = CompileTime()
    time.begin()
    time.begin()
    time.end()
    assert time.seconds == 0
    time.end()
    assert time.seconds > 0
    once = time.seconds
    time.begin()
    time.end()
    assert time.seconds > once
