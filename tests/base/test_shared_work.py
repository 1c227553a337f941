"""Steps that runs have in common: worked out once, by whoever asks first, and by another where that one fails."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from anoncore.base.errors import CancelledError
from anoncore.base.shared_work import MOST_KEPT, Memo, cached, digest, forget, shared, sharing


class Table:
    """Something that is a table only by being itself."""


def test_without_sharing_every_run_works_for_itself():
    made = []
    for _ in range(2):
        shared(Table(), ("step",), lambda: made.append(1))
    assert len(made) == 2


def test_one_run_works_for_all_others_with_the_same_key_and_table():
    work, table, made = Memo(), Table(), []

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
    work, made = Memo(), []
    for _ in range(2):
        assert work.get(("nothing",), lambda: made.append(1)) is None
    assert len(made) == 1


def test_others_wait_for_the_run_that_began():
    work = Memo()
    begun, go_on = threading.Event(), threading.Event()
    made = []

    def slow():
        made.append(1)
        begun.set()
        assert go_on.wait(20)
        return 42

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(work.get, ("slow",), slow)
        assert begun.wait(20)
        others = [pool.submit(work.get, ("slow",), slow) for _ in range(2)]
        assert not any(other.done() for other in others)
        go_on.set()
        assert [one.result(20) for one in (first, *others)] == [42, 42, 42]
    assert len(made) == 1


def test_where_one_fails_another_that_waits_begins_anew():
    work = Memo()
    begun, go_on = threading.Event(), threading.Event()

    def failing():
        begun.set()
        assert go_on.wait(20)
        raise ValueError("cancelled")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(work.get, ("step",), failing)
        assert begun.wait(20)
        second = pool.submit(work.get, ("step",), lambda: "made")
        go_on.set()
        with pytest.raises(ValueError, match="cancelled"):
            first.result(20)
        assert second.result(20) == "made"
    assert work.get(("step",), lambda: "again") == "made"


def test_only_so_many_results_are_kept():
    work = Memo()
    for number in range(MOST_KEPT + 1):
        work.get((number,), lambda: 0)
    assert work.get((0,), lambda: 1) == 1
    assert work.get((MOST_KEPT,), lambda: 1) == 0


def test_what_was_asked_for_last_is_kept():
    memo = Memo(2)
    for name in "abac":
        memo.get((name,), lambda name=name: name)
    assert memo.get(("a",), lambda: "made again") == "a"
    assert memo.get(("b",), lambda: "made again") == "made again"


def test_errors_that_are_kept_are_raised_to_everyone_and_a_cancelled_one_to_nobody_else():
    memo, raised = Memo(kept_errors=(Exception,)), []

    def fail(error):
        raised.append(error)
        raise error

    for _ in range(2):
        with pytest.raises(ValueError, match="of no use"):
            memo.get(("kept",), lambda: fail(ValueError("of no use")))
        with pytest.raises(CancelledError):
            memo.get(("cancelled",), lambda: fail(CancelledError("gone")))
    assert [type(error) for error in raised] == [ValueError, CancelledError, CancelledError]
    assert memo.peek(("kept",)) is None
    assert memo.get(("cancelled",), lambda: "made") == "made"


def test_values_are_looked_at_and_dropped_without_waiting_for_those_being_made():
    memo = Memo()
    begun, go_on = threading.Event(), threading.Event()

    def slow():
        begun.set()
        assert go_on.wait(20)
        return "late"

    memo.get(("a", 1), lambda: "early")
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(memo.get, ("a", 2), slow)
        assert begun.wait(20)
        assert [memo.peek(("a", number)) for number in (1, 2, 3)] == ["early", None, None]
        assert memo.drop(lambda key: key[0] == "a") == ["early", None]
        assert memo.get(("a", 2), lambda: "anew") == "anew"
        go_on.set()
        assert late.result(20) == "late"
    assert memo.peek(("a", 2)) == "anew"


def test_a_digest_tells_arrays_apart():
    one = np.arange(6, dtype=np.int32)
    others = [one[::-1], one.astype(np.int64), one.reshape(2, 3), one[:5]]
    assert len({digest(one), *map(digest, others)}) == 5
    assert digest(one) == digest(one.copy())
    assert digest(one, one[:0]) != digest(one)


def test_what_is_forgotten_is_worked_out_anew_and_the_rest_stays():
    table, other, made = Table(), Table(), []

    def ask(owner, what):
        return cached(owner, what, (), lambda: made.append((owner, what)) or len(made))

    for owner, what in ((table, "beliefs"), (table, "attack"), (other, "beliefs")):
        ask(owner, what)
    forget(table, but=("attack",))
    forget(Table())
    assert [ask(table, "attack"), ask(other, "beliefs"), ask(table, "beliefs")] == [2, 3, 4]
    assert made[3:] == [(table, "beliefs")]
