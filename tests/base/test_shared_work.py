"""Steps that runs have in common: worked out once, by whoever asks first, and by another where that one fails."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from anoncore.base.shared_work import MOST_KEPT, SharedWork, digest, shared, sharing


class Table:
    """Something that is a table only by being itself."""


def test_without_sharing_every_run_works_for_itself():
    made = []
    for _ in range(2):
        shared(Table(), ("step",), lambda: made.append(1))
    assert len(made) == 2


def test_one_run_works_for_all_others_with_the_same_key_and_table():
    work, table, made = SharedWork(), Table(), []

    def make(name):
        made.append(name)
        return name

    with sharing(work):
        assert shared(table, ("a", 1), lambda: make("first")) == "first"
        assert shared(table, ("a", 1), lambda: make("again")) == "first"
        assert shared(table, ("a", 2), lambda: make("other key")) == "other key"
        assert shared(Table(), ("a", 1), lambda: make("other table")) == "other table"
    assert shared(table, ("a", 1), lambda: make("outside")) == "outside"
    assert made == ["first", "other key", "other table", "outside"]


def test_none_is_a_result_too():
    work, table, made = SharedWork(), Table(), []
    for _ in range(2):
        assert work.take(table, ("nothing",), lambda: made.append(1)) is None
    assert len(made) == 1


def test_others_wait_for_the_run_that_began():
    work, table = SharedWork(), Table()
    begun, go_on = threading.Event(), threading.Event()
    made = []

    def slow():
        made.append(1)
        begun.set()
        assert go_on.wait(20)
        return 42

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(work.take, table, ("slow",), slow)
        assert begun.wait(20)
        others = [pool.submit(work.take, table, ("slow",), slow) for _ in range(2)]
        assert not any(other.done() for other in others)
        go_on.set()
        assert [one.result(20) for one in (first, *others)] == [42, 42, 42]
    assert len(made) == 1


def test_where_one_fails_another_that_waits_begins_anew():
    work, table = SharedWork(), Table()
    begun, go_on = threading.Event(), threading.Event()

    def failing():
        begun.set()
        assert go_on.wait(20)
        raise ValueError("cancelled")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(work.take, table, ("step",), failing)
        assert begun.wait(20)
        second = pool.submit(work.take, table, ("step",), lambda: "made")
        go_on.set()
        with pytest.raises(ValueError, match="cancelled"):
            first.result(20)
        assert second.result(20) == "made"
    assert work.take(table, ("step",), lambda: "again") == "made"


def test_only_so_many_results_are_kept():
    work, table = SharedWork(), Table()
    for number in range(MOST_KEPT + 1):
        work.take(table, (number,), lambda: 0)
    assert work.take(table, (0,), lambda: 1) == 1
    assert work.take(table, (MOST_KEPT,), lambda: 1) == 0


def test_a_digest_tells_arrays_apart():
    one = np.arange(6, dtype=np.int32)
    others = [one[::-1], one.astype(np.int64), one.reshape(2, 3), one[:5]]
    assert len({digest(one), *map(digest, others)}) == 5
    assert digest(one) == digest(one.copy())
    assert digest(one, one[:0]) != digest(one)
