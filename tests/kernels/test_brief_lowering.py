"""Items, shapes and loops that are written directly give what Python gives, for every layout and type of number."""

import numba
import numpy as np
import pytest
from numba.core.lowering import Lower

from anoncore.kernels import brief_lowering
from anoncore.kernels.compiler import kernel
from anoncore.kernels.linking import KernelCompiler


@kernel
def items(values, table, cube, i, j, unsigned):
    values[-1] = values[i] + 1
    table[i, -2] = values[unsigned]
    table[unsigned, 0] = table[-1, j] > 2
    cube[i, j, -1] = cube[-2, unsigned, 1] + table[i, j]
    return values[0], values[-2], table[0, j], table[-i, 1], cube[i, -1, j], cube[0, 0, 0]


@kernel
def narrow(values, flags, places):
    """Numbers of fewer bits and of other types than what is written to them."""
    for i in range(places.shape[0]):
        values[places[i]] = 7.9
        flags[places[i]] = values[places[i] - 1]
    return values.shape[0] + flags.shape[0]


@kernel
def shapes(values, table):
    rows, columns = table.shape
    return values.shape, table.shape[1], rows * columns, table[1:].shape, table.T.shape[0]


@kernel
def visited(start, stop, step):
    """The numbers that loops take, in loops within loops that are left, skipped and begun anew."""
    seen = np.zeros(200, np.int64)
    n = 0
    for i in range(stop):
        for j in range(start, stop):
            if j == i:
                continue
            if j > i + 2:
                break
            seen[n] = 10 * i + j
            n += 1
        seen[n] = i
        n += 1
    for i in range(start, stop, step):
        seen[n] = i
        n += 1
    numbers = range(start, stop) if step > 0 else range(stop, start)
    for i in numbers:
        seen[n] = i
        n += 1
    last = -1
    for i in range(stop):
        last = i
    return seen[:n], last


LAYOUTS = {
    "C": lambda values: values.copy(),
    "Fortran": np.asfortranarray,
    "every other": lambda values: np.repeat(values, 2, axis=values.ndim - 1)[..., ::2],
    "backwards": lambda values: values[..., ::-1].copy()[..., ::-1],
}


CASES = [*((layout, np.float64) for layout in LAYOUTS), ("C", np.int32), ("C", np.uint8)]


@pytest.mark.parametrize(("layout", "dtype"), CASES)
def test_items(layout, dtype):
    given = [np.arange(5), np.arange(12).reshape(3, 4), np.arange(24).reshape(2, 3, 4)]
    for i, j, unsigned in ((0, 1, 0), (1, 2, 1), (-1, -2, 0)):
        mine, plain = ([LAYOUTS[layout](values.astype(dtype)) for values in given] for _ in range(2))
        found = items(*mine, i, j, np.uint64(unsigned))
        assert found == items.py_func(*plain, i, j, unsigned)
        for here, there in zip(mine, plain, strict=True):
            np.testing.assert_array_equal(here, there)


def test_numbers_are_converted_as_numpy_does():
    for dtype in (np.int32, np.uint8, np.float64):
        mine, plain = ((np.arange(6).astype(dtype), np.zeros(6, np.bool_)) for _ in range(2))
        places = np.array([-1, 1, 3], np.int32)
        assert narrow(*mine, places) == narrow.py_func(*plain, places)
        np.testing.assert_array_equal(mine[0], plain[0])
        np.testing.assert_array_equal(mine[1], plain[1])


def test_shapes():
    values, table = np.zeros(3), np.zeros((2, 5))
    assert shapes(values, table) == shapes.py_func(values, table)
    assert shapes(values[:0], np.asfortranarray(table)) == shapes.py_func(values[:0], table)


@pytest.mark.parametrize(
    ("start", "stop", "step"), [(0, 5, 1), (2, 6, 3), (4, 2, -1), (-3, 3, 2), (3, 3, 1), (5, 0, 2)]
)
def test_loops(start, stop, step):
    seen, last = visited(start, stop, step)
    wanted, wanted_last = visited.py_func(start, stop, step)
    np.testing.assert_array_equal(seen, wanted)
    assert last == wanted_last


def test_a_range_without_steps_is_refused():
    with pytest.raises(ValueError, match="must not be zero"):
        visited(0, 3, 0)


@kernel
def calculated(x, y):
    total = x
    total += y
    total *= x - y
    total -= 2
    order = (x < y) + 2 * (x <= y) + 4 * (x > y) + 8 * (x >= y) + 16 * (x == y) + 32 * (x != y)
    return total, order, x * y + 1, x - 1.5


@pytest.mark.parametrize(
    "given", [(3, 4), (-2, -2), (3.5, 4.0), (2.0, -1.0), (np.nan, 1.0), (np.inf, np.inf), (1, 2.5)]
)
def test_calculations(given):
    np.testing.assert_equal(calculated(*given), calculated.py_func(*given))


def test_items_and_loops_are_written_directly(monkeypatch):
    """numba's own translation is asked for none of them."""
    asked = []

    def lower_expr(self, kind, expr):
        asked.append(expr.op)
        return before(self, kind, expr)

    before = Lower.lower_expr
    monkeypatch.setattr(Lower, "lower_expr", lower_expr)

    @numba.njit(pipeline_class=KernelCompiler)  # compiled here: one from the disk would ask for nothing
    def total(values, table):
        whole = 0.0
        for i in range(1, table.shape[0]):
            whole += values[i] * table[i, 0]
        return whole

    assert issubclass(brief_lowering.BriefLower, Lower)
    assert total(np.arange(3.0), np.ones((3, 2))) == 3.0
    assert "call" in asked
    assert not {"getitem", "static_getitem", "getiter", "iternext", "pair_first", "pair_second"} & {
        op for op in asked if op != "static_getitem"
    }
