"""The quick ways find what numba's own ways find, and nothing of them is left behind."""

import numpy as np
import pytest
from numba.core import compiler, errors, ir

from anoncore.kernels import quick_compiling
from anoncore.kernels.compiler import kernel


def awkward(values, pairs, *rest, scale=1.0):
    first, (second, third) = values[0], (values[1:], pairs)
    numbers = [first, scale, len(rest)]
    for i in range(len(second)):
        if i in (1, 2) and not numbers:
            raise ValueError("none", i)
        numbers[i], values[i, ...] = values[i], {"a": third, "b": numbers[-1]}
    return (numbers[i : len(values)], f"{first}{scale}")


def test_the_same_variables_in_the_same_order():
    n_found = 0
    for block in compiler.run_frontend(awkward).blocks.values():
        for statement in block.body:
            whole = statement.__dict__
            found = quick_compiling._variables(statement, whole)
            assert found == quick_compiling._slow_listing(statement, whole)
            n_found += len(found)
    assert n_found > 50


def test_numba_is_left_as_it_was():
    before = ir.Inst._rec_list_vars, errors._termcolor_inst
    with quick_compiling.quickly():
        assert str(errors.TypingError("no such type")) == "no such type"
        with quick_compiling.quickly():
            assert ir.Inst._rec_list_vars is quick_compiling._variables
        assert ir.Inst._rec_list_vars is quick_compiling._variables
    assert (ir.Inst._rec_list_vars, errors._termcolor_inst) == before


def test_an_array_that_does_not_fit_is_refused():
    @kernel
    def written(values, begin, end, other):
        values[begin:end] = other

    values = np.zeros(5)
    written(values, 1, 3, np.ones(2))
    assert values.tolist() == [0, 1, 1, 0, 0]
    with pytest.raises(ValueError, match="of a different size"):
        written(values, 1, 3, np.ones(3))
    assert values.tolist() == [0, 1, 1, 0, 0]


def test_closures_are_inlined():
    @kernel
    def shifted(values, by):
        def moved(one):
            return one + by

        return [moved(one) for one in values]

    assert shifted(np.arange(3), 2) == [2, 3, 4]
