"""The releases behind the board: the order of the work, what is cancelled, and what stays."""

from __future__ import annotations

import threading
import time

import numpy as np
import pandas as pd
import pytest

from anoncore import CancelledError, Microdata
from anoncore.search.keeping import keeping
from dashboard.board.bench import MOST_ATTEMPTS, Bench
from dashboard.workspace import LoadedTable, Tags, Workspace

ROLES = {"age": "quasi-identifier", "illness": "sensitive"}
WAIT = 30


def table(n=120):
    draw = np.random.default_rng(2)
    frame = pd.DataFrame({"age": draw.integers(20, 60, n), "illness": draw.choice(["flu", "cold", "gout"], n)})
    return LoadedTable("t", "people", frame, "digest", (), None, Tags(roles=ROLES))


class Board:
    """A bench with a table; `wish` asks for Mondrian with these k, one column each."""

    def __init__(self):
        self.table = table()
        self.data = Microdata(self.table.frame, ROLES)
        self.bench = Bench(Workspace("here"))

    def wish(self, *ks, measures=(), names=None):
        wanted = {
            f"c{place}": keeping(names[place] if names else "mondrian", {}, {"k": k}, (), self.data)
            for place, k in enumerate(ks)
        }
        return self.bench.wish(
            wanted,
            dict.fromkeys(wanted, 0),
            self.data,
            self.table,
            self.table.suggested,
            "illness",
            measures,
        )

    def finish(self):
        end = time.monotonic() + WAIT
        while self.bench.is_busy and time.monotonic() < end:
            time.sleep(0.01)
        assert not self.bench.is_busy


@pytest.fixture
def board():
    made = Board()
    yield made
    made.bench.cancel()


def test_estimates_of_all_numbers_come_before_any_exact_one(board):
    done = []

    def task(name):
        def work(release, argument, progress):
            done.append(name)
            return {"value": argument}

        return work

    measures = (
        (("first", 1), task("first estimate"), task("first exact")),
        (("second", 2), task("second estimate"), task("second exact")),
    )
    (attempt,) = board.wish(3, measures=measures).values()
    board.finish()
    assert done == ["first estimate", "second estimate", "first exact", "second exact"]
    assert attempt.slow[("first", 1)].exact == {"value": 1}
    assert attempt.slow[("second", 2)].estimate == {"value": 2}
    # Asked once more, nothing is done again.
    board.wish(3, measures=measures)
    board.finish()
    assert len(done) == 4


def test_no_exact_number_is_begun_while_another_column_waits_for_its_estimate(board):
    done, gate = [], threading.Event()

    def estimate(release, progress):
        first = not done
        done.append("estimate")
        if not first:
            assert gate.wait(WAIT)
        return {"value": 1}

    def exact(release, progress):
        done.append("exact")
        return {"value": 2}

    # Both releases are there before a number is asked for.
    board.wish(3, 5)
    board.finish()
    board.wish(3, 5, measures=((("number",), estimate, exact),))
    end = time.monotonic() + WAIT
    while len(done) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.05)
    before = list(done)
    gate.set()
    board.finish()
    assert before == ["estimate", "estimate"]
    assert done[2:] == ["exact", "exact"]


def test_an_estimate_that_is_exact_is_the_number_itself(board):
    measures = ((("number",), lambda release, progress: {"value": 0.3, "is_exact": True}, None),)
    (attempt,) = board.wish(3, measures=measures).values()
    board.finish()
    assert attempt.slow[("number",)].exact == {"value": 0.3}
    assert attempt.slow[("number",)].estimate is None


@pytest.mark.parametrize("estimated", [True, False])
def test_a_number_that_is_asked_otherwise_is_cancelled_and_the_new_one_begins(board, estimated):
    started, ended = threading.Event(), threading.Event()

    def endless(release, argument, progress):
        started.set()
        while True:
            try:
                progress(0.5, "working")
            except CancelledError:
                ended.set()
                raise
            time.sleep(0.005)

    def at_once(release, argument, progress):
        return {"value": argument}

    first, then = (("belief", 2), endless, endless), (("belief", 3), at_once, at_once)
    board.wish(3, measures=(first if estimated else (first[0], None, endless),))
    assert started.wait(WAIT)
    (attempt,) = board.wish(3, measures=(then,)).values()
    board.finish()
    assert ended.wait(WAIT)
    assert attempt.slow[("belief", 3)].exact == {"value": 3}
    assert attempt.slow[("belief", 2)].exact is None


def test_what_nobody_wishes_for_any_more_is_cancelled_and_begun_anew_when_it_is(board):
    started, stop = threading.Event(), threading.Event()
    ended = []

    def slow(release, progress):
        started.set()
        while not stop.is_set():
            try:
                progress(0.5, "working")
            except CancelledError:
                ended.append("cancelled")
                raise
            time.sleep(0.005)
        return {"value": 1.0}

    measures = ((("slow",), None, slow),)
    board.wish(3, measures=measures)
    assert started.wait(WAIT)
    board.wish(5)
    end = time.monotonic() + WAIT
    while not ended and time.monotonic() < end:
        time.sleep(0.01)
    assert ended == ["cancelled"]
    stop.set()
    (attempt,) = board.wish(3, measures=measures).values()
    board.finish()
    assert attempt.slow[("slow",)].exact == {"value": 1.0}


def test_a_release_that_was_made_is_shown_again_and_not_made_anew(board):
    first = board.wish(3)["c0"]
    board.finish()
    board.wish(7)
    board.finish()
    assert board.wish(3)["c0"] is first
    assert not board.bench.is_busy


def test_a_failing_measure_is_a_sentence_and_the_others_go_on(board):
    def broken(release, progress):
        raise ZeroDivisionError("bad")

    measures = ((("broken",), None, broken), (("fine",), None, lambda release, progress: {"value": 2.0}))
    (attempt,) = board.wish(3, measures=measures).values()
    board.finish()
    assert "ZeroDivisionError: bad" in attempt.slow[("broken",)].problem
    assert attempt.slow[("fine",)].exact == {"value": 2.0}


def test_what_no_table_can_keep_is_a_sentence(board):
    (attempt,) = board.wish(500).values()
    board.finish()
    assert "k = 500 is not possible" in attempt.problem
    assert attempt.run is None


def test_only_so_many_releases_are_kept(board):
    for k in range(2, 2 + MOST_ATTEMPTS + 5):
        board.wish(k)
    board.finish()
    assert len(board.bench.attempts) == MOST_ATTEMPTS


def test_at_rest_nothing_is_computed_and_what_is_there_stays(board):
    attempt = board.wish(3)["c0"]
    board.finish()
    board.bench.rest()
    assert not board.bench.is_busy
    assert attempt in board.bench.attempts
    assert attempt.run is not None
