"""Working ahead keeps the order, passes errors on and stops with its reader."""

from __future__ import annotations

import threading

import pytest

from anoncore.base.pipeline import AHEAD, in_threads, read_ahead


def test_the_order_is_kept():
    assert list(in_threads(lambda number: number**2, range(50))) == [number**2 for number in range(50)]
    assert list(read_ahead(iter(range(50)))) == list(range(50))
    assert list(read_ahead(iter([]))) == list(in_threads(str, [])) == []
    assert list(read_ahead(iter([None, 0, False]))) == [None, 0, False]


def test_errors_reach_the_reader():
    def fail(number: int) -> int:
        if number == 3:
            raise ValueError("three")
        return number

    with pytest.raises(ValueError, match="three"):
        list(in_threads(fail, range(10)))
    with pytest.raises(ValueError, match="three"):
        list(read_ahead(fail(number) for number in range(10)))


def test_only_a_few_items_are_taken_ahead():
    taken: list[int] = []

    def items():
        for number in range(100):
            taken.append(number)
            yield number

    reader = in_threads(lambda number: number, read_ahead(items()))
    assert next(reader) == 0
    assert len(taken) <= AHEAD + 2
    reader.close()
    assert threading.active_count() < 20
