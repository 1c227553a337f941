"""Background work: progress, cancelling, failing in plain words, and measures that are computed once."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from anoncore import CancelledError, DataError, InfeasibleError
from dashboard.session import compute
from dashboard.session.loaded_table import Tags
from dashboard.session.workspace import Run
from dashboard.tasks import jobs, redrawing

WAIT = 20


def _run(id: str, release: Any = None) -> Run:
    nothing: Any = SimpleNamespace()
    return Run(id, id, nothing, nothing, release, 0.0, datetime.now(UTC), 0, "t", Tags())


def _finished(job: jobs.Job) -> jobs.Job:
    assert job.wait(WAIT)
    return job


def test_a_job_reports_progress_and_its_value() -> None:
    go, reported = threading.Event(), threading.Event()

    def work(report: jobs.Report) -> int:
        report(0.4, "Cutting")
        reported.set()
        go.wait(WAIT)
        return 42

    job = jobs.start(work, "test")
    assert reported.wait(WAIT)
    assert (job.status, job.fraction, job.text, job.value) == ("running", 0.4, "Cutting", None)
    go.set()
    assert _finished(job).status == "done"
    assert job.value == 42
    assert job.seconds > 0


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (DataError("'age' is odd."), "'age' is odd."),
        (InfeasibleError("l = 9 is not possible."), "l = 9 is not possible."),
        (MemoryError(), "not enough memory"),
        (ZeroDivisionError("division"), "Something went wrong inside the program (ZeroDivisionError: division)."),
    ],
)
def test_a_failed_job_says_why(error: Exception, words: str) -> None:
    def work(report: jobs.Report) -> None:
        raise error

    job = _finished(jobs.start(work))
    assert job.status == "failed"
    assert words in job.error


def test_cancelling_is_immediate_for_the_visitor_and_stops_the_work() -> None:
    started, ended, seen = threading.Event(), threading.Event(), []

    def work(report: jobs.Report) -> str:
        started.set()
        try:
            while True:
                report(0.5, "Still busy")
        except CancelledError as error:
            seen.append(error)
            ended.set()
            raise

    job = jobs.start(work)
    assert started.wait(WAIT)
    job.cancel()
    assert job.status == "cancelled"
    assert job.wait(0)
    assert ended.wait(WAIT)
    assert len(seen) == 1
    assert job.value is None


def test_the_result_of_a_cancelled_job_is_thrown_away() -> None:
    go = threading.Event()
    done = threading.Event()

    def work(report: jobs.Report) -> str:
        go.wait(WAIT)
        done.set()
        return "too late"

    job = jobs.start(work)
    job.cancel()
    go.set()
    job.run(lambda report: "again")
    assert job.status == "cancelled"
    assert job.value is None


def test_cancelling_a_finished_job_comes_too_late() -> None:
    job = _finished(jobs.start(lambda report: 7))
    job.cancel()
    assert (job.status, job.value) == ("done", 7)


def test_fractions_stay_between_nothing_and_all() -> None:
    job = jobs.Job()
    job.report(1.7, "a")
    assert job.fraction == 1.0
    job.report(-1, "b")
    assert job.fraction == 0.0


def test_too_many_jobs_are_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MAX_WAITING", -jobs.MAX_WORKERS)
    job = jobs.start(lambda report: 1)
    assert job.status == "failed"
    assert "try again" in job.error


def test_a_measure_is_computed_once_per_run_name_and_arguments() -> None:
    calls = []

    def measure(release: str, factor: int = 1) -> str:
        calls.append((release, factor))
        return release * factor

    one, two = _run("run-one", "a"), _run("run-two", "b")
    assert [compute.cached("m", one, measure), compute.cached("m", one, measure)] == ["a", "a"]
    assert compute.cached("m", one, measure, 3) == "aaa"
    assert compute.cached("m", two, measure) == "b"
    assert calls == [("a", 1), ("a", 3), ("b", 1)]
    compute.forget(one)
    compute.cached("m", one, measure)
    compute.cached("m", two, measure)
    assert calls == [("a", 1), ("a", 3), ("b", 1), ("a", 1)]


def test_an_error_of_a_measure_is_kept_too() -> None:
    calls = []

    def measure(release: object) -> None:
        calls.append(1)
        raise DataError("No class attribute.")

    run = _run("run-error")
    for _ in range(2):
        with pytest.raises(DataError, match="No class attribute"):
            compute.cached("e", run, measure)
    assert calls == [1]


def test_a_later_measure_is_polled_and_shares_the_cache() -> None:
    go, calls = threading.Event(), []

    def measure(release: str, folds: int, progress: Any = None) -> str:
        progress(0.3, "Fold 3 of 10")
        calls.append(folds)
        go.wait(WAIT)
        return release

    run = _run("run-later", "value")
    first = compute.later("c", run, measure, 10)
    assert first.status == "running"
    assert first.value is None
    go.set()
    job = compute._jobs.get(("run-later", "c", 10), lambda: None)
    _finished(job)
    done = compute.later("c", run, measure, 10)
    assert (done.status, done.value, done.progress) == ("done", "value", 1.0)
    assert compute.cached("c", run, measure, 10) == "value"
    assert calls == [10]


def test_a_page_does_not_stand_still_for_what_is_computed_already(monkeypatch: pytest.MonkeyPatch) -> None:
    go, began = threading.Event(), threading.Event()

    def measure(release: str) -> str:
        began.set()
        go.wait(WAIT)
        return release

    run = _run("run-shared", "value")
    compute.later("s", run, measure)
    assert began.wait(WAIT)
    monkeypatch.setattr(redrawing, "may_end_early", lambda: True)
    with pytest.raises(redrawing.NotReadyError) as wait:
        compute.cached("s", run, measure)
    assert not wait.value.is_ready()
    go.set()
    _finished(compute._jobs.get(("run-shared", "s"), lambda: None))
    assert wait.value.is_ready()
    assert compute.cached("s", run, measure) == "value"


def test_a_later_measure_that_fails_says_why() -> None:
    def measure(release: object) -> None:
        raise DataError("The group has one value.")

    run = _run("run-fails")
    compute.later("f", run, measure)
    _finished(compute._jobs.get(("run-fails", "f"), lambda: None))
    assert compute.later("f", run, measure).error == "The group has one value."
