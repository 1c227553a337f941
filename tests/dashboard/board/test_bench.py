"""The releases behind the board: the order of the work, what is cancelled, and what stays."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from anoncore import CancelledError, Microdata, privacy
from anoncore.algorithms.synthesis import marginal_synthesis
from anoncore.base import memory, shared_work
from anoncore.base.random_numbers import fresh_seed
from anoncore.measures import promise_marks
from anoncore.requirements import DistinctDiversity, KAnonymity, RecursiveDiversity, TCloseness, VarianceDiversity
from anoncore.search.keeping import keeping
from dashboard.board import bench, facts, grid, wording
from dashboard.board.bench import MOST_ATTEMPTS, Bench
from dashboard.session.loaded_table import LoadedTable, Tags
from dashboard.session.workspace import Workspace
from dashboard.tasks import warmup

ROLES = {"age": "quasi-identifier", "illness": "sensitive"}
WAIT = 30
ASKED = wording.Asked({}, 2, "illness", "illness")


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

    def wish(self, *ks, measures=(), names=None, color=0, asked=(), known=bench.NOTHING_KNOWN):
        wanted = {
            f"c{place}": keeping(names[place] if names else "mondrian", {}, {"k": k}, (), self.data)
            for place, k in enumerate(ks)
        }
        return self.bench.wish(
            wanted,
            dict.fromkeys(wanted, color),
            self.data,
            self.table,
            self.table.suggested,
            "illness",
            asked,
            measures,
            known,
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


def test_estimates_of_late_numbers_come_after_those_that_cells_show(board):
    done, gate = [], threading.Event()

    def estimate(release, progress):
        first = not done
        done.append("estimate")
        if not first:
            assert gate.wait(WAIT)
        return {"value": 1}

    def late(release, progress):
        done.append("late")
        return {"value": 1}

    def exact(release, progress):
        return {"value": 2}

    board.wish(3, 5)
    board.finish()
    board.wish(3, 5, measures=((("number",), estimate, exact), ((facts.STRONGEST,), late, exact)))
    end = time.monotonic() + WAIT
    while len(done) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.05)
    before = list(done)
    gate.set()
    board.finish()
    assert before == ["estimate", "estimate"]
    assert done[2:] == ["late", "late"]


@pytest.mark.parametrize("is_large", [False, True])
def test_of_a_large_table_exact_numbers_are_put_off_when_something_new_is_asked(board, monkeypatch, is_large):
    monkeypatch.setattr(bench, "LARGE", 100 if is_large else 1_000)
    started, stop, ended = threading.Event(), threading.Event(), []

    def exact(release, progress):
        started.set()
        while not stop.is_set():
            try:
                progress(0.5, "working")
            except CancelledError:
                ended.append("put off")
                raise
            time.sleep(0.005)
        return {"value": 2}

    measures = ((("number",), lambda release, progress: {"value": 1}, exact),)
    first = board.wish(3, measures=measures)["c0"]
    assert started.wait(WAIT)
    # Asked once more, it goes on.
    board.wish(3, measures=measures)
    assert first.slow[("number",)].job is not None
    board.wish(3, 5, measures=measures)
    stays = first.slow[("number",)].job is not None
    assert stays is not is_large
    end = time.monotonic() + WAIT
    while is_large and not ended and time.monotonic() < end:
        time.sleep(0.01)
    stop.set()
    board.finish()
    assert ended == ["put off"] * is_large
    assert first.slow[("number",)].exact == {"value": 2}


def test_what_is_possible_instead_is_looked_for_only_where_a_release_may_be_of_it(board, monkeypatch):
    """The page waits for it: where a level has changed, no release of before can be the one that is wished for."""
    looked_for = []
    monkeypatch.setattr(bench, "possible_instead", lambda algorithm, data: looked_for.append(algorithm))
    (attempt,) = board.wish(3).values()
    board.finish()
    board.bench.here.show_on_board([attempt.run])
    board.bench._attempts.clear()
    in_a_job = len(looked_for)
    assert board.wish(3)["c0"].run.release is attempt.run.release
    assert len(looked_for) == in_a_job
    assert board.bench._restored(replace(attempt, algorithm=keeping("mondrian", {}, {"k": 4}, (), board.data))) is None
    assert len(looked_for) == in_a_job
    strict = keeping("mondrian", {"strict": True}, {"k": 3}, (), board.data)
    assert board.bench._restored(replace(attempt, algorithm=strict)) is None
    assert looked_for[in_a_job:] == [strict]


def test_other_draws_are_begun_when_all_columns_have_their_own_numbers(board):
    done, gate = [], threading.Event()

    def exact(release, progress):
        first = not done
        done.append("exact")
        if not first:
            assert gate.wait(WAIT)
        return {"value": 2}

    def draws(release, progress):
        done.append("draws")
        return {}

    board.wish(3, 5)
    board.finish()
    board.wish(3, 5, measures=((("number",), None, exact), (("draws",), None, draws)))
    end = time.monotonic() + WAIT
    while len(done) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.05)
    board.bench.look()
    before = list(done)
    gate.set()
    board.finish()
    assert before == ["exact", "exact"]
    while board.bench.lacks_late_numbers and time.monotonic() < end:
        board.bench.look()
        time.sleep(0.01)
    assert done[2:] == ["draws", "draws"]


def test_what_nobody_waits_for_is_not_worked_out_where_nobody_looks(board):
    done = []

    def draws(release, progress):
        done.append("draws")
        return {}

    (attempt,) = board.wish(3, measures=((("draws",), None, draws),)).values()
    board.finish()
    time.sleep(0.2)
    assert (done, board.bench.is_busy, board.bench.lacks_late_numbers) == ([], False, True)
    board.bench.look()
    end = time.monotonic() + WAIT
    while board.bench.lacks_late_numbers and time.monotonic() < end:
        time.sleep(0.01)
    assert (done, attempt.slow[("draws",)].exact) == (["draws"], {})


def test_no_exact_number_is_begun_where_everybody_is_gone(board, monkeypatch):
    """The estimate comes all the same, nothing is at work then, and whoever comes back has the number."""
    monkeypatch.setattr(bench, "GONE", 0.2)
    gate, done = threading.Event(), []

    def estimate(release, progress):
        assert gate.wait(WAIT)
        return {"value": 1.0}

    def exact(release, progress):
        done.append("exact")
        return {"value": 2.0}

    (attempt,) = board.wish(3, measures=((("given",), estimate, exact),)).values()
    time.sleep(0.4)
    gate.set()
    end = time.monotonic() + WAIT
    while board.bench.running and time.monotonic() < end:
        time.sleep(0.01)
    assert (done, attempt.slow[("given",)].estimate, board.bench.running) == ([], {"value": 1.0}, False)
    assert board.bench.is_busy, "the number is still to come"
    board.bench.look()
    board.finish()
    assert (done, attempt.slow[("given",)].exact) == (["exact"], {"value": 2.0})


@pytest.mark.parametrize("patience", [WAIT, 0.05])
def test_numbers_wait_for_the_releases_of_other_columns_but_not_for_long(board, monkeypatch, patience):
    monkeypatch.setattr(bench, "PATIENCE", patience)
    gate, measured = threading.Event(), threading.Event()
    make = Bench.make

    def gated(self, attempt, report):
        if attempt.column == "c1":
            assert gate.wait(WAIT)
        return make(self, attempt, report)

    def number(release, progress):
        measured.set()
        return {"value": 1}

    monkeypatch.setattr(Bench, "make", gated)
    first, _ = board.wish(3, 5, measures=((("number",), None, number),)).values()
    end = time.monotonic() + WAIT
    while first.run is None and time.monotonic() < end:
        time.sleep(0.01)
    assert measured.wait(0.3 if patience == WAIT else WAIT) == (patience != WAIT)
    gate.set()
    board.finish()
    assert all(one.slow[("number",)].exact == {"value": 1} for one in board.bench.attempts)


@pytest.mark.parametrize("takes_long", [False, True])
def test_an_exact_number_waits_for_a_release_that_is_made_but_not_where_that_takes_long(board, monkeypatch, takes_long):
    monkeypatch.setattr(bench, "PATIENCE", 0.05)
    gate, estimated, measured = threading.Event(), threading.Event(), threading.Event()
    make = Bench.make

    def gated(self, attempt, report):
        if attempt.column == "c1":
            assert gate.wait(WAIT)
        return make(self, attempt, report)

    def estimate(release, progress):
        estimated.set()
        return {"value": 1}

    def exact(release, progress):
        measured.set()
        return {"value": 2}

    monkeypatch.setattr(Bench, "make", gated)
    monkeypatch.setattr(type(keeping("mondrian", {}, {"k": 3}, (), board.data)), "takes_long", takes_long)
    board.wish(3, 5, measures=((("number",), estimate, exact),))
    assert estimated.wait(WAIT)
    assert measured.wait(WAIT if takes_long else 0.3) == takes_long
    gate.set()
    board.finish()
    assert all(one.slow[("number",)].exact == {"value": 2} for one in board.bench.attempts)


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


def test_a_column_is_drawn_with_the_seed_of_the_release_that_it_shall_show(board):
    seed = fresh_seed()
    wanted = keeping("anatomy", {}, {"k": 3}, (), board.data)
    board.bench.draw_with(seed, "c0", wanted, board.table, board.table.suggested)
    named, other = board.wish(3, 3, names=["anatomy", "anatomy"]).values()
    board.finish()
    assert (named.run.algorithm.seed, other.run.algorithm.seed) == (seed, None)
    shown = wanted.replace(seed=seed).anonymize(board.data)
    assert (named.run.release.partition.group == shown.partition.group).all()
    assert not named.is_adapted
    assert not named.has_known_seed, "nobody guesses 128 bits"
    # A saved session brings it as it is.
    board.bench.here.show_on_board([named.run])
    again = Bench(board.bench.here)
    board.bench = again
    (restored,) = board.wish(3, names=["anatomy"]).values()
    assert restored.run.release is named.run.release


def test_what_is_known_of_a_release_is_neither_measured_nor_drawn_anew(board):
    asked = []

    def number(release, progress):
        asked.append(release)
        return {"value": 1.0}

    measures = ((("known",), number, number), (("new",), None, number))
    known = {"c0": bench.Known(1, {("known",): {"value": 7.0}})}
    (attempt,) = board.wish(3, names=["anatomy"], measures=measures, known=known).values()
    board.finish()
    assert attempt.run.algorithm.seed == 1
    assert attempt.slow[("known",)].exact == {"value": 7.0}
    assert len(asked) == 1, "what is not known is measured"
    # A seed that everybody knows is not kept where nobody asks for it any more.
    assert attempt.has_known_seed
    board.bench.here.show_on_board([attempt.run])
    (anew,) = board.wish(3, names=["anatomy"], measures=measures).values()
    board.finish()
    assert anew.run.algorithm.seed is None
    assert not anew.has_known_seed
    assert anew.slow[("known",)].exact == {"value": 1.0}
    # What somebody has typed is their own matter.
    typed = {"c0": keeping("anatomy", {"seed": 5}, {"k": 3}, (), board.data)}
    tags = board.table.suggested
    (own,) = board.bench.wish(typed, {"c0": 0}, board.data, board.table, tags, "illness", (), ()).values()
    board.finish()
    assert own.run.algorithm.seed == 5
    assert not own.has_known_seed


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


def test_of_a_large_table_fewer_releases_are_kept(board, monkeypatch):
    monkeypatch.setattr(bench, "MOST_ROWS", 3 * board.data.n_rows)
    for k in range(2, 10):
        board.wish(k, k + 20)
    board.finish()
    kept = [attempt.algorithm.requirements[0].k for attempt in board.bench.attempts]
    assert kept == [27, 8, 28, 9, 29]


def test_what_numbers_were_worked_out_from_goes_with_the_column_and_the_numbers_stay(board):
    attempt = board.wish(3)["c0"]
    board.finish()
    asked = []

    def ask(what):
        return shared_work.cached(attempt.run.release, what, (), lambda: asked.append(what) or what)

    for what in ("group sample", facts.FOREGROUND):
        ask(what)
    board.wish(4)
    board.finish()
    for what in ("group sample", facts.FOREGROUND):
        ask(what)
    assert asked == ["group sample", facts.FOREGROUND, "group sample"]
    assert attempt.run is not None
    assert attempt.quick


@pytest.mark.parametrize("is_large", [False, True])
def test_freed_memory_of_large_tables_is_returned_after_each_work(board, monkeypatch, is_large):
    returned = []
    monkeypatch.setattr(bench, "LARGE", board.data.n_rows + (not is_large))
    monkeypatch.setattr(memory, "give_back", lambda: returned.append(1))
    board.wish(3, measures=((("number",), None, lambda release, progress: {"value": 1}),))
    board.finish()
    end = time.monotonic() + WAIT
    while is_large and len(returned) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    assert len(returned) == (2 if is_large else 0)


def test_at_rest_nothing_is_computed_and_what_is_there_stays(board):
    attempt = board.wish(3)["c0"]
    board.finish()
    board.bench.rest()
    assert not board.bench.is_busy
    assert attempt in board.bench.attempts
    assert attempt.run is not None


def test_a_release_that_is_kept_gets_the_colour_that_its_column_has_now(board):
    board.wish(3, color=3)
    board.finish()
    (again,) = board.wish(3, color=1).values()
    assert (again.color, again.run.color_index) == (1, 1)
    assert again.quick, "it was not made anew"


def test_what_is_asked_is_judged_with_the_release_and_once(board, monkeypatch):
    calls = []
    guarantees, judged = privacy.guarantees, promise_marks.judged

    def promised(release, *more):
        calls.append("verdict" if more else "all promises")
        return guarantees(release, *more)

    def alone(release, requirements):
        calls.extend(one.parameter for one in requirements)
        return judged(release, requirements)

    monkeypatch.setattr(privacy, "guarantees", promised)
    monkeypatch.setattr(promise_marks, "judged", alone)
    k, l, t = KAnonymity(k=3), DistinctDiversity(l=2), TCloseness(t=0.9)
    (attempt,) = board.wish(3, asked=(k, l, t)).values()
    board.finish()
    assert [mark.symbol for mark in attempt.marks[k, l, t]] == ["k", "l", "t"]
    assert calls == ["all promises", "l", "t", "verdict"]
    # The release stays while something else is asked of all, so it is judged at once.
    board.wish(3, asked=(k, l, KAnonymity(k=2)))
    assert not board.bench.is_busy
    assert [mark.state for mark in attempt.marks[k, l, KAnonymity(k=2)]] == ["kept", "missed", "kept"]
    assert calls == ["all promises", "l", "t", "verdict", "k"]


def test_on_a_machine_that_still_compiles_a_release_is_judged_beside_the_page(board, monkeypatch):
    monkeypatch.setattr(warmup, "is_cold", lambda: True)
    board.wish(3)
    board.finish()
    page = threading.get_ident()
    marks = facts.marks
    seen = []

    def judged(run, asked):
        seen.append(threading.get_ident())
        return marks(run, asked)

    monkeypatch.setattr(facts, "marks", judged)
    (attempt,) = board.wish(3, asked=(KAnonymity(k=2),)).values()
    board.finish()
    assert seen
    assert page not in seen
    assert attempt.marks[(KAnonymity(k=2),)][0].reached


def test_one_that_cannot_be_judged_does_not_keep_the_others_from_it(board):
    unknown = VarianceDiversity(v=1.0)
    (attempt,) = board.wish(3, asked=(KAnonymity(k=3), unknown)).values()
    board.finish()
    assert [mark.state for mark in attempt.marks[KAnonymity(k=3), unknown]] == ["kept", "unknown"]


def test_a_level_that_no_number_reaches_is_said_in_words(board):
    asked = (RecursiveDiversity(c=2.0, l=9),)
    (attempt,) = board.wish(3, asked=asked).values()
    board.finish()
    (mark,) = attempt.marks[asked]
    shown = grid.model([wording.Shown("c0", "x", 0, "", "ready", "", (mark,), attempt.quick["illness"])], ASKED, True)
    assert shown["rows"][0]["cells"][0]["promises"][0]["words"] == "is not reached by any number (asked: 2)"


def test_the_column_that_took_longest_before_begins_first(board, monkeypatch):
    first = board.wish(2, 3, 4)
    board.finish()
    for attempt, seconds in zip(first.values(), (0.1, 0.3, 0.2), strict=True):
        attempt.run = replace(attempt.run, seconds=seconds)
    begun = []
    begin = board.bench._begin
    monkeypatch.setattr(board.bench, "_begin", lambda attempt: (begun.append(attempt.column), begin(attempt)))
    found = board.wish(5, 6, 7)
    assert begun[:3] == ["c1", "c2", "c0"]
    # What is returned and drawn keeps the order of the board.
    assert list(found) == ["c0", "c1", "c2"]
    board.finish()


@pytest.mark.parametrize(
    ("name", "fields"), [("mondrian", {"refine": True}), ("optimal-recoding", {}), ("local-suppression", {})]
)
def test_refined_optimal_and_suppressed_releases_stand_on_the_board(board, name, fields):
    asked = (KAnonymity(k=4),)
    wanted = {"c0": keeping(name, fields, {"k": 4}, (), board.data)}
    tags = board.table.suggested
    found = board.bench.wish(wanted, {"c0": 0}, board.data, board.table, tags, "illness", asked, ())["c0"]
    board.finish()
    assert found.problem == ""
    assert [(mark.symbol, mark.state) for mark in found.marks[asked]] == [("k", "kept")]
    assert found.run.algorithm.to_dict().items() >= fields.items()
    assert 0 < found.quick["illness"]["lost"]["value"] < 1


def test_a_method_that_takes_long_tells_how_far_it_is_and_ends_with_its_column(board, monkeypatch):
    begun, ended = threading.Event(), threading.Event()

    def slow(cells, order, progress):
        try:
            while True:
                progress(0.5, "Counting with noise")
                begun.set()
                time.sleep(0.02)
        finally:
            ended.set()

    monkeypatch.setattr(marginal_synthesis, "why_missing", lambda *needed: "")
    monkeypatch.setattr(marginal_synthesis, "generated", slow)
    board.wish(5, 10, names=["dp-marginals", "mondrian"])
    assert begun.wait(WAIT)
    ((title, job),) = board.bench.long_work
    assert (title, job.text, 0 < job.fraction < 1) == ("Marginal synthesis", "Counting with noise", True)
    assert board.bench.doing == ("Counting with noise",)
    # Others are made meanwhile.
    end = time.monotonic() + WAIT
    while not any(one.run for one in board.bench.attempts) and time.monotonic() < end:
        time.sleep(0.02)
    assert [one.run is not None for one in board.bench.attempts] == [False, True]
    board.wish(10, names=["mondrian"])
    assert ended.wait(WAIT)
    assert (board.bench.long_work, board.bench.doing) == ((), ())


@pytest.mark.slow
def test_whether_something_is_compiled_is_told_while_numbers_end_and_others_begin(board):
    """A draw of the board asks for it, and other threads add numbers meanwhile."""
    board.wish(2)
    board.finish()
    (attempt,) = board.bench.attempts

    def add():
        with board.bench._lock:
            attempt.slow[("number", len(attempt.slow))] = bench.Slow()

    class Growing(dict):
        """While it is walked through, another thread adds a number, unless it has to wait for that."""

        def values(self):
            for slow in super().values():
                other = threading.Thread(target=add)
                other.start()
                other.join(0.05)
                yield slow

    attempt.slow = Growing({("number", 0): bench.Slow(), ("number", 1): bench.Slow()})
    assert board.bench.waits_for_compiler is False
