"""The command that compiles everything beforehand does each task once and says how far it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from anoncore.cli import main
from anoncore.front.warmup import tasks
from anoncore.front.warmup.tasks import Task


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
    assert main(["warm-up"]) == 1
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
    assert main(["warm-up"]) == 0
    assert done == ["last"]
    assert "2 of 3 were compiled before." in capsys.readouterr().out
    assert main(["warm-up", "--again"]) == 1
    assert done == ["last", "first", "last"]
