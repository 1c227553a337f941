"""Compiling happens in processes beside the server, in the order of need, and ends with it; without them it goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

import psutil
import pytest
from pydantic import BaseModel

from anoncore.algorithms import ALGORITHMS
from anoncore.base.errors import InfeasibleError
from anoncore.front.warmup import tasks
from anoncore.front.warmup.worker import key_of
from anoncore.front.warmup.workshop import Worker
from anoncore.kernels import compiled_code
from anoncore.kernels.compiled_code import Wanted
from anoncore.measures.evaluation import MEASURES
from dashboard.session.wishes import FIRST_K, FIRST_L, FIRST_METHODS, FIRST_T
from dashboard.tasks import jobs, redrawing, warmup
from dashboard.tasks.warmup import ServersWorkshop

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60

SCRIPTED = """
import json, sys
names, boundaries, log = {names}, {boundaries}, open({log!r}, "a")
def ask(**answer):
    print(json.dumps(answer), flush=True)
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)
done = {{}}
while True:
    order = ask(**done)
    told = order.get("task") or order.get("name") or "list"
    print(told, file=log, flush=True)
    if told == "list":
        done = {{"tasks": names}}
        continue
    if told == "die":
        sys.exit(3)
    done = {{"task": told, "problem": "", "seconds": 0.0}} if "task" in order else {{}}
    if "task" in order and boundaries:
        while "name" in (inner := ask(begins="boundary of " + told)):
            print(inner["name"], file=log, flush=True)
"""
"""A process that notes its orders and compiles nothing."""


def wanted(name: str) -> Wanted:
    return Wanted("anoncore.kernels.none", name, ("int64",))


@pytest.fixture
def open_workshop(tmp_path: Path) -> Iterator[Callable[..., tuple[ServersWorkshop, Callable[[], list[str]]]]]:
    """Open workshops whose processes follow the script; gives each with what its processes were told so far."""
    opened: list[ServersWorkshop] = []

    def start(
        names: tuple[str, ...] = (), boundaries: bool = False, n_workers: int = 1
    ) -> tuple[ServersWorkshop, Callable]:
        log = tmp_path / f"log {len(opened)}"
        script = SCRIPTED.format(names=list(names), boundaries=boundaries, log=str(log))
        opened.append(ServersWorkshop([sys.executable, "-c", script], n_workers))
        return opened[-1], lambda: log.read_text().split() if log.exists() else []

    yield start
    for one in opened:
        one.close()


def until(holds: Callable[[], object]) -> None:
    """Wait until something holds; fail where it does not come to hold."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "It did not come to hold."
        time.sleep(0.02)


def test_the_tasks_begin_with_what_the_pages_begin_with() -> None:
    names = [task.name for task in tasks.tasks()]
    assert names[:2] == ["pages", f"make-{FIRST_METHODS[0]}"]
    assert tasks.FIRST_METHODS == FIRST_METHODS
    assert tasks.LEVELS == {"k": FIRST_K, "l": FIRST_L, "t": FIRST_T}
    made = [name.removeprefix("make-") for name in names if name.startswith("make-")]
    assert made[: len(FIRST_METHODS)] == list(FIRST_METHODS)
    assert sorted(made) == sorted(name for name, kind in ALGORITHMS.items() if not kind.extra)
    assert {name.replace(".", "-").replace("_", "-") for name in MEASURES} <= set(names)
    assert {f"{what}-{name}" for what in ("people", "choices") for name in made} <= set(names)
    assert len(names) == len(set(names))


def test_every_other_choice_of_a_method_is_tried_also_where_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    class Method(BaseModel):
        way: Literal["usual", "refused", "other"] = "usual"
        k: int = 2
        refine: bool = False

        def anonymize(self, data: object) -> None:
            tried.append((self.way, self.k, self.refine))
            if self.way == "refused":
                raise InfeasibleError("not on this table")

    monkeypatch.setattr(tasks, "_release", lambda name, has_people: SimpleNamespace(algorithm=Method(k=5)))
    tasks._choices("method")
    assert tried == [("refused", 5, False), ("other", 5, False), ("usual", 5, True)]


def test_every_task_is_done_in_its_order(open_workshop) -> None:
    workshop, told = open_workshop(("first", "second", "third"))
    workshop.do_tasks()
    until(lambda: [one.task for one in workshop.done] == ["first", "second", "third"])
    assert told() == ["list", "first", "second", "third"]


def test_what_somebody_waits_for_comes_before_tasks_and_within_them(open_workshop) -> None:
    workshop, told = open_workshop(("long", "later"), boundaries=True)
    waiter = threading.Thread(target=workshop.ask, args=(wanted("urgent"),))
    waiter.start()
    until(lambda: workshop.waiting() == {waiter.ident} or not waiter.is_alive())
    workshop.do_tasks()
    waiter.join(PATIENCE)
    assert not waiter.is_alive()
    until(lambda: [one.task for one in workshop.done] == ["long", "later"])
    assert told().index("urgent") < told().index("later")
    assert workshop.waiting() == frozenset()


def test_a_page_ends_early_instead_of_waiting_and_asks_nobody_again_for_what_could_not_be_compiled(
    open_workshop, monkeypatch
) -> None:
    monkeypatch.setattr(redrawing, "is_page", lambda: True)
    monkeypatch.setattr(redrawing, "may_end_early", lambda: True)
    monkeypatch.setattr(warmup, "EVERY_SECONDS", 0.0)
    workshop, told = open_workshop()
    for _ in range(2):
        # The second time it is in work or still to be done, if it is not settled already.
        with suppress(redrawing.NotReadyError):
            workshop.ask(wanted("slow"))
    until(lambda: "slow" in told())
    until(lambda: workshop._is_settled(key_of(wanted("slow"))))
    workshop.ask(wanted("slow"))
    assert told().count("slow") == 1


def test_nothing_is_compiled_by_two_processes_at_a_time() -> None:
    workshop = ServersWorkshop([sys.executable, "-c", "input()"], 0)
    first, second = (Worker(None) for _ in range(2))
    workshop._workers += [first, second]
    key = key_of(wanted("shared"))
    assert workshop._next(first, {"begins": key}) == {}
    answers: list[object] = []
    waiter = threading.Thread(target=lambda: answers.append(workshop._next(second, {"begins": key})))
    waiter.start()
    waiter.join(0.1)
    assert answers == []
    free = threading.Thread(target=workshop._next, args=(first, {}), daemon=True)
    free.start()
    waiter.join(PATIENCE)
    assert answers == [{}]
    workshop._workers.clear()
    workshop.close()


def test_whoever_asks_a_process_that_dies_goes_on_and_no_other_is_started(open_workshop, caplog) -> None:
    workshop, told = open_workshop()
    workshop.ask(wanted("die"))
    until(lambda: not workshop._workers)
    workshop.ask(wanted("again"))
    assert told() == ["die"]
    assert "ended with code 3" in caplog.text


def test_whoever_asks_where_no_process_can_run_goes_on(caplog) -> None:
    workshop = ServersWorkshop(["/there/is/no/such/program"])
    workshop.ask(wanted("anything"))
    assert "could be started" in caplog.text


def test_a_process_that_has_nothing_to_do_ends_and_comes_back(open_workshop, monkeypatch) -> None:
    monkeypatch.setattr("anoncore.front.warmup.workshop.IDLE_SECONDS", 0.1)
    workshop, told = open_workshop()
    workshop.ask(wanted("first"))
    until(lambda: not workshop._workers)
    workshop.ask(wanted("second"))
    assert told() == ["first", "second"]


def test_whoever_waits_when_the_workshop_closes_goes_on(open_workshop) -> None:
    workshop, _ = open_workshop(boundaries=True)
    silent = ServersWorkshop([sys.executable, "-c", "import sys; sys.stdin.read()"], 1)
    waiter = threading.Thread(target=silent.ask, args=(wanted("never"),))
    waiter.start()
    until(lambda: silent.waiting() or not waiter.is_alive())
    silent.close()
    waiter.join(PATIENCE)
    assert not waiter.is_alive()
    workshop.close()
    workshop.ask(wanted("late"))


@pytest.fixture
def no_workshop(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Starting anew opens no real workshop; gives what was begun."""
    begun: list[str] = []
    monkeypatch.setattr(warmup, "_workshop", None)
    monkeypatch.setattr(warmup, "load_modules", lambda: None)
    monkeypatch.setattr(warmup, "_drawn", threading.Event())
    monkeypatch.setattr(warmup, "HEAD_START", PATIENCE)
    monkeypatch.setattr(ServersWorkshop, "do_tasks", lambda self: begun.append("tasks"))
    yield begun
    compiled_code.compile_elsewhere(None)


@pytest.mark.parametrize("is_warm", [True, False])
def test_only_a_machine_that_is_cold_gets_to_work(is_warm: bool, no_workshop, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tasks, "_folder", lambda: tmp_path)
    if is_warm:
        tasks.set_done(tasks.EVERYTHING)
    workshop = warmup.start()
    assert warmup.start() is workshop
    # Until the first page is drawn, nothing takes the processors from it.
    assert no_workshop == []
    warmup.set_drawn()
    for thread in threading.enumerate():
        if thread.name == "warm-up":
            thread.join(PATIENCE)
    assert no_workshop == ([] if is_warm else ["tasks"])
    assert workshop._workers == []


def test_a_task_that_fails_is_not_tried_again_and_everything_is_done_with_the_last(tmp_path, monkeypatch) -> None:
    def broken() -> None:
        raise RuntimeError("no compiler")

    every = (tasks.Task("good", "Good", lambda: None), tasks.Task("bad", "Bad", broken))
    monkeypatch.setattr(tasks, "tasks", lambda: every)
    monkeypatch.setattr(tasks, "_folder", lambda: tmp_path)
    assert tasks.run_task(every[1]) == "RuntimeError: no compiler"
    assert tasks.is_done("bad")
    assert not tasks.is_done(tasks.EVERYTHING)
    assert tasks.run_task(every[0]) == ""
    assert tasks.is_done(tasks.EVERYTHING)


def test_a_job_says_that_it_waits_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, seen = threading.Event(), []

    def work(report: jobs.Report) -> None:
        report(0.5, "half")
        monkeypatch.setattr(warmup, "waiting", lambda: frozenset({threading.get_ident()}))
        seen.append(1)
        go_on.wait(PATIENCE)

    job = jobs.start(work)
    until(lambda: seen)
    assert job.text == warmup.TEXT
    monkeypatch.setattr(warmup, "waiting", frozenset)
    assert job.text == "half"
    go_on.set()
    assert job.wait(PATIENCE)


SERVER = """
import os, sys, threading, time
import numpy as np
from numba.core import event
from anoncore.kernels import compiled_code
from anoncore.kernels.sorting import stable_order
from anoncore.requirements.k_anonymity import group_size
from dashboard.tasks.warmup import ServersWorkshop

class Here(event.Listener):
    def on_start(self, event):
        print("compiled here", flush=True)
    def on_end(self, event):
        pass

event.register("numba:compile", Here())
workshop = ServersWorkshop({command}, 1)
compiled_code.compile_elsewhere(workshop.ask)
print(stable_order(np.array([3, 1, 2]), 4, np.arange(3)).tolist(), group_size.address > 0, flush=True)
{then}
"""
WAIT = "print(workshop._workers[0].process.pid, flush=True); time.sleep(600)"


def started(folder: Path, command: str = "()", then: str = "workshop.close()") -> subprocess.Popen[str]:
    """A process that needs two functions compiled, and has an empty folder for what is compiled."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT)}
    script = SERVER.format(command=command, then=then)
    return subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_a_server_compiles_nothing_itself_and_loads_what_was_compiled(tmp_path: Path) -> None:
    assert started(tmp_path).communicate(timeout=PATIENCE)[0] == "[1, 2, 0] True\n"
    # All is there now, so that even a process which cannot ask anybody compiles nothing.
    alone = started(tmp_path, "['/there/is/no/such/program']")
    assert alone.communicate(timeout=PATIENCE)[0] == "[1, 2, 0] True\n"


@pytest.mark.slow
def test_a_server_that_can_ask_nobody_compiles_itself(tmp_path: Path) -> None:
    alone = started(tmp_path, "['/there/is/no/such/program']")
    told = alone.communicate(timeout=PATIENCE)[0].splitlines()
    assert (told[0], told[-1]) == ("compiled here", "[1, 2, 0] True")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal that kills at once.")
def test_the_processes_end_with_a_server_that_is_killed_and_leave_nothing_half_written(tmp_path: Path) -> None:
    with started(tmp_path, then=WAIT) as server:
        assert server.stdout is not None
        server.stdout.readline()
        worker = psutil.Process(int(server.stdout.readline()))
        server.kill()
        assert worker.wait(PATIENCE) in (0, None)
    assert [path.name for path in tmp_path.rglob("*.tmp.*")] == []


@pytest.mark.slow
def test_two_processes_that_compile_one_function_for_other_types_never_share_a_file(tmp_path: Path) -> None:
    script = """
import sys
import numpy as np
from anoncore.kernels.sorting import stable_order
kind = np.dtype(sys.argv[1])
# Both have looked for the code before either has written any.
print("ready", flush=True)
stable_order._cache._cache_file._load_index = lambda: {}
sys.stdin.readline()
print(stable_order(np.array([3, 1, 2], kind), 4, np.arange(3)).tolist(), flush=True)
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", script, kind],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for kind in ("int64", "int32")
    ]
    for one in both:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in both:
        assert one.communicate("go\n", timeout=PATIENCE)[0] == "[1, 2, 0]\n"
    assert len(list(tmp_path.rglob("*stable_order*.nbc"))) == 2
