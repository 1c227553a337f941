"""The types of calls are found once while a kernel is compiled, and as ever outside."""

import numpy as np
from numba.core.types.functions import BaseFunction

from anoncore.kernels import inference
from anoncore.kernels.compiler import inner_kernel, kernel


def test_each_call_is_asked_for_once(monkeypatch):
    asked = []
    before = inference._ask

    def ask(function, context, given, named):
        asked.append((function, given, tuple(named.items())))
        return before(function, context, given, named)

    monkeypatch.setattr(inference, "_ask", ask)
    monkeypatch.setattr(BaseFunction, "get_call_type", ask)

    @inner_kernel
    def step(values, i):
        return values[i] + values[i + 1] * values[i + 2] + values[i - 1]

    @kernel
    def twice(values, i):
        return step(values, i) + step(values, i + 1) + values[i] * values[i]

    assert twice(np.arange(6.0), 1) == 1 + 2 * 3 + 0 + 2 + 3 * 4 + 1 + 1
    assert BaseFunction.get_call_type is ask
    assert len(asked) == len(set(asked))


def test_divisions_by_zero_stay_apart():
    """numba takes levels of requirements, which are compiled otherwise, for functions that raise."""
    import numba

    @kernel
    def quiet(x, y):
        return x / y

    @numba.njit
    def loud(x, y):
        return x / y

    assert np.isinf(quiet(1.0, 0.0))
    try:
        loud(1.0, 0.0)
    except ZeroDivisionError:
        assert np.isinf(quiet(2.0, 0.0))
    else:
        raise AssertionError
