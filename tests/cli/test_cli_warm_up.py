"""The command that compiles everything beforehand does each task once, in one process or more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from anoncore.cli import main
from anoncore.front.warmup import tasks
from anoncore.front.warmup.tasks import Task
from anoncore.front.warmup.workshop import Done


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Three tasks that compile nothing, on a machine where none was done; gives the names of those that ran."""
    ran: list[str] = []

    def broken() -> None:
        raise RuntimeError("no compiler")

    every = (
        Task("first", "First", lambda: ran.append("first")),
        Task("broken", "Broken", broken),
        Task("last", "Last", lambda: ran.append("last")),
    )
    monkeypatch.setattr(tasks, "_folder", lambda: tmp_path)
    for module in ("anoncore.cli.warming", tasks.__name__):
        monkeypatch.setattr(f"{module}.tasks", lambda: every)
    return ran


def test_every_task_is_done_and_one_that_fails_is_said(done: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warm-up", "--processes", "1"]) == 1
    assert done == ["first", "last"]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" (")[0] for line in lines[:3]] == ["[1/3] First", "[2/3] Broken", "[3/3] Last"]
    assert "(failed: RuntimeError: no compiler)" in lines[1]
    assert lines[3].startswith("The compiled code lies in ")
    assert tasks.is_done(tasks.EVERYTHING)


def test_what_was_done_before_is_skipped_unless_it_is_wanted_again(
    done: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    tasks.set_done("first")
    tasks.set_done("broken")
    assert main(["warm-up", "--processes", "1"]) == 0
    assert done == ["last"]
    assert "2 of 3 were compiled before." in capsys.readouterr().out
    assert main(["warm-up", "--again", "--processes", "1"]) == 1
    assert done == ["last", "first", "last"]


class Processes:
    """Two processes of which one ends in its second task, and the other then cannot go on either."""

    def __init__(self, command: list[str], n_workers: int) -> None:
        assert command
        assert n_workers == 2

    def do_tasks(self, names: list[str]) -> None:
        assert names == ["first", "broken", "last"]

    def results(self, n_tasks: int) -> Iterator[Done]:
        assert n_tasks == 3
        yield Done("broken", "its process ended with code 9", 0.0)
        yield Done("first", "", 1.25)

    def close(self) -> None:
        pass


def test_what_its_processes_leave_is_done_here_and_a_task_that_ended_one_is_not_tried_again(
    done: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anoncore.cli.warming.Workshop", Processes)
    assert main(["warm-up", "--processes", "2"]) == 1
    assert done == ["last"]
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["[1/3] Broken (failed: its process ended with code 9)", "[2/3] First (1.2 s)"]
    assert lines[2].startswith("[3/3] Last (")


def test_no_process_at_all_is_refused_and_nothing_is_done(done: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warm-up", "--processes", "0"]) == 2
    assert "--processes is 0; it takes at least 1 process to compile." in capsys.readouterr().err
    assert done == []
