"""Places to compute are handed out in turn to visitors; nobody waits for ever, and nobody can hold a place for ever."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.tasks import jobs
from dashboard.tasks.jobs import JobQueue, Ticket

WAIT = 20


@pytest.fixture(autouse=True, scope="module")
def nobody_else_computes() -> None:
    """What tests of other files have begun has ended: it is cancelled, and ends at its next report."""
    assert jobs.cancel_all(60)


def _tickets(queue: JobQueue, owners: str, order: list[str]) -> list[Ticket]:
    made = []
    for place, owner in enumerate(owners):
        made.append(Ticket(owner, lambda name=f"{owner}{place}": order.append(name)))
        queue.enter(made[-1])
    return made


def test_visitors_take_turns_whatever_the_number_of_their_jobs() -> None:
    order: list[str] = []
    queue = JobQueue(1, 9.0)
    tickets = _tickets(queue, "aaabc", order)
    assert order == ["a0"]
    assert [queue.place(one) for one in tickets] == [0, 1, 4, 2, 3]
    for one in (0, 1, 3, 4, 2):
        queue.leave(tickets[one])
    assert order == ["a0", "a1", "b3", "c4", "a2"]
    assert queue.waiting() == 0


def test_who_leaves_the_line_is_never_called() -> None:
    order: list[str] = []
    queue = JobQueue(1, 9.0)
    tickets = _tickets(queue, "abb", order)
    queue.leave(tickets[1])
    queue.leave(tickets[1])
    assert queue.waiting("b") == 1
    queue.leave(tickets[0])
    assert order == ["a0", "b2"]


def test_a_long_job_lets_a_waiting_one_go_first_and_goes_on_after_it() -> None:
    queue = JobQueue(1, 0.0)
    said: list[str] = []
    ended = threading.Event()

    def short() -> None:
        said.append("short")
        queue.leave(other)

    def long() -> None:
        said.append("long begins")
        while queue.waiting("b") == 0:
            time.sleep(0.001)
        queue.pause(ticket)
        said.append("long goes on")
        queue.leave(ticket)
        ended.set()

    ticket = Ticket("a", threading.Thread(target=long, daemon=True).start)
    other = Ticket("b", threading.Thread(target=short, daemon=True).start)
    queue.enter(ticket)
    queue.enter(other)
    assert ended.wait(WAIT)
    assert said == ["long begins", "short", "long goes on"]


def test_a_job_keeps_its_place_while_nobody_waits_or_its_time_is_not_over() -> None:
    alone, patient = JobQueue(1, 0.0), JobQueue(1, 999.0)
    only = Ticket("a", lambda: None)
    alone.enter(only)
    alone.pause(only)
    assert only.has_turn
    first, second = _tickets(patient, "ab", [])
    patient.pause(first)
    assert (first.has_turn, second.has_turn) == (True, False)


def test_long_jobs_that_cannot_pause_do_not_keep_others_waiting() -> None:
    order: list[str] = []
    queue = JobQueue(2, 9.0, most=4)
    mine = _tickets(queue, "aaa", order)
    assert order == ["a0", "a1"], "one person alone has all places"
    others = _tickets(queue, "bcbd", order)
    assert order == ["a0", "a1", "b0", "c1"], "whoever has no turn gets one, up to four at a time"
    queue.leave(mine[0])
    assert order[4:] == ["d3"]
    queue.leave(others[1])
    queue.leave(mine[1])
    assert order[5:] == ["a2"]
    queue.leave(others[0])
    assert order[6:] == ["b2"], "the second one of b, which has no turn any more"
    for ticket in (*mine, *others):
        queue.leave(ticket)
    assert queue.waiting() == 0


def test_a_place_that_will_be_given_back_is_waited_for() -> None:
    order: list[str] = []
    queue = JobQueue(2, 9.0, most=4)
    queue.enter(Ticket("a", lambda: order.append("a0"), can_pause=True))
    queue.enter(Ticket("a", lambda: order.append("a1")))
    waiting = _tickets(queue, "b", order)
    assert order == ["a0", "a1"]
    assert queue.place(waiting[0]) == 1


def test_a_visitor_computes_although_another_holds_all_workers() -> None:
    go = threading.Event()
    held = [jobs.start(lambda report: go.wait(WAIT), owner="test-h") for _ in range(4 * jobs.MAX_WORKERS)]
    try:
        mine = jobs.start(lambda report: "mine", owner="test-i")
        assert mine.wait(WAIT / 2)
        assert mine.value == "mine"
        assert sum(one.ticket is not None and one.ticket.has_turn for one in held) == jobs.MAX_WORKERS
    finally:
        go.set()
    for one in held:
        assert one.wait(WAIT)


@given(
    st.integers(1, 3),
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 5)), min_size=1, max_size=25),
)
@settings(max_examples=30)
def test_places_are_never_exceeded_and_everybody_gets_a_turn(places: int, steps: list[tuple[str, int]]) -> None:
    queue, running, begun = JobQueue(places, 9.0), [], []
    tickets: list[Ticket] = []

    def entered(owner: str) -> None:
        ticket = Ticket(owner, lambda: begun.append(ticket))
        tickets.append(ticket)
        queue.enter(ticket)

    for owner, ends in steps:
        entered(owner)
        for _ in range(ends):
            running = [one for one in tickets if one.has_turn]
            assert len(running) <= places
            assert queue.waiting() == 0 or len(running) == places
            if running:
                queue.leave(running[0])
    while any(one.has_turn for one in tickets):
        queue.leave(next(one for one in tickets if one.has_turn))
    assert len(begun) == len(tickets) == len(set(map(id, begun)))
    assert queue.waiting() == 0


def test_a_waiting_visitor_sees_his_place_and_may_cancel() -> None:
    go, started = threading.Event(), threading.Semaphore(0)

    def busy(report: jobs.Report) -> None:
        started.release()
        go.wait(WAIT)

    held = [jobs.start(busy, owner=f"test-a{number}") for number in range(jobs.MOST_WORKERS)]
    try:
        for _ in held:
            assert started.acquire(timeout=WAIT)
        mine = [jobs.start(lambda report: 1, owner="test-b") for _ in range(2)]
        other = jobs.start(lambda report: 2, owner="test-c")
        assert mine[0].text == "Waiting for a free processor, place 1 in the queue"
        assert [one.text[-14:] for one in (mine[1], other)] == [" 3 in the queue"[-14:], " 2 in the queue"[-14:]]
        mine[1].cancel()
        assert mine[1].status == "cancelled"
    finally:
        go.set()
    assert mine[0].wait(WAIT)
    assert other.wait(WAIT)
    assert (mine[0].value, other.value, mine[1].value) == (1, 2, None)


@pytest.mark.slow
def test_a_job_that_pauses_can_be_cancelled_there() -> None:
    go, paused = threading.Event(), []

    def long(report: jobs.Report) -> None:
        while True:
            report(0.5, "Long")
            paused.append(1)
            time.sleep(0.001)

    job = jobs.start(long, owner="test-d", can_pause=True)
    others = [
        jobs.start(lambda report: go.wait(WAIT), owner=f"test-e{number}") for number in range(jobs.MOST_WORKERS + 1)
    ]
    try:
        end = time.monotonic() + WAIT
        while "place" not in job.text and time.monotonic() < end:
            time.sleep(0.01)
        assert job.text.startswith("Long (waiting for a free processor, place ")
        job.cancel()
        assert job.wait(0)
    finally:
        go.set()
    for one in others:
        assert one.wait(WAIT)


def test_a_crash_of_one_job_leaves_the_others() -> None:
    def crash(report: jobs.Report) -> None:
        raise SystemError("inside")

    crashed = [jobs.start(crash, owner="test-f") for _ in range(3 * jobs.MAX_WORKERS)]
    fine = jobs.start(lambda report: "fine", owner="test-g")
    assert fine.wait(WAIT)
    assert fine.value == "fine"
    for one in crashed:
        assert one.wait(WAIT)
        assert one.status == "failed"
