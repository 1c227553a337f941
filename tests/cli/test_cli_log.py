"""What commands tell beside their results: lines of progress for a pipe, nothing, or an object a line."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from anoncore.cli import log as log_module
from anoncore.cli import main
from anoncore.cli.command import COMMANDS
from anoncore.cli.log import Log

LONG = ("run", "verify", "evaluate", "sweep", "report", "check", "warm-up")

RECIPE = """
[source]
builtin = "census"
rows = 120
[algorithm]
name = "mondrian"
requirements = [{name = "k-anonymity", k = 3}]
"""


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


Told = Callable[..., list[str]]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Told:
    """Gives the lines on an error stream, which is no terminal, after reports of (seconds since the last, share)."""
    # The lines of these tests come with reports alone; another test is about a step that reports nothing.
    monkeypatch.setattr(log_module._Lines, "_watch", lambda lines: None)

    def lines(reports: list[tuple[float, float]], style: log_module.Style = "plain") -> list[str]:
        clock = Clock()
        with Log(style, "run", clock).progress() as report:
            for number, (seconds, share) in enumerate(reports):
                clock.now += seconds
                report(share, f"step {number}")
        return capsys.readouterr().err.splitlines()

    return lines


def test_a_line_comes_every_ten_seconds_while_little_is_done(told):
    lines = told([(1.0, number / 1000) for number in range(1, 41)])
    assert lines == [
        "anoncore:   1% step 9 (10 s)",
        "anoncore:   2% step 19 (20 s)",
        "anoncore:   3% step 29 (30 s)",
        "anoncore:   4% step 39 (40 s)",
    ]


def test_a_line_comes_with_every_twentieth_of_the_work(told):
    lines = told([(1.5, share / 100) for share in range(1, 101)])
    assert [int(line.split("%")[0].split()[-1]) for line in lines] == list(range(5, 101, 5))


def test_lines_of_a_fast_run_do_not_come_faster_than_one_a_second(told):
    lines = told([(1 / 16, share / 80) for share in range(1, 81)])
    assert [line.split()[-2:] for line in lines] == [[f"({second}", "s)"] for second in range(1, 6)]
    assert told([(1 / 128, share / 100) for share in range(1, 101)]) == []


def test_json_lines_have_the_share_and_quiet_has_none(told):
    (line,) = told([(2.0, 0.25)], "json")
    entry = json.loads(line)
    assert (entry["level"], entry["command"], entry["share"], entry["text"]) == ("progress", "run", 0.25, "step 0")
    assert entry["seconds"] == 2.0
    assert told([(60.0, 0.5)], "quiet") == []


def test_a_step_that_reports_nothing_is_told_again(monkeypatch):
    monkeypatch.setattr(log_module, "EVERY_SECONDS", 0.05)
    over = threading.Event()

    class Stream(io.StringIO):
        def write(self, text: str) -> int:
            if len(self.getvalue().splitlines()) >= 2:
                over.set()
            return super().write(text)

    stream = Stream()
    monkeypatch.setattr(sys, "stderr", stream)
    with Log().progress() as report:
        report(0.01, "one long step")
        assert over.wait(30)
    lines = stream.getvalue().splitlines()
    assert len(lines) >= 3
    assert all("1% one long step" in line for line in lines)
    count = len(lines)
    threading.Event().wait(0.2)
    assert len(stream.getvalue().splitlines()) == count


def test_a_reader_who_goes_away_does_not_end_the_work(monkeypatch):
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Gone())
    clock = Clock()
    with Log("plain", "run", clock).progress() as report:
        clock.now += 60
        report(0.5, "half")
    Log().warn("nobody hears this")


def test_every_long_command_takes_the_options_and_not_both_of_them(capsys):
    assert set(LONG) <= set(COMMANDS)
    for command in LONG:
        with pytest.raises(SystemExit):
            main([command, "-h"])
        said = capsys.readouterr().out
        assert "--quiet" in said, command
        assert "--log-json" in said, command
        with pytest.raises(SystemExit) as stop:
            main([command, "--quiet", "--log-json"])
        assert stop.value.code == 2
        assert "not allowed with argument" in capsys.readouterr().err


def test_notes_warnings_errors_and_the_end_are_told_in_each_style(tmp_path: Path, capsys):
    recipe = tmp_path / "r.toml"
    text = RECIPE.replace("mondrian", "random-partition").replace(
        'requirements = [{name = "k-anonymity", k = 3}]', "k = 3"
    )
    recipe.write_text("guessable_seed = true\n" + text + "seed = 1\n", encoding="utf-8")
    seed = "the recipe holds a seed"
    assert main(["run", str(recipe), "--output", str(tmp_path / "a"), "--quiet"]) == 0
    said = capsys.readouterr()
    assert seed in said.err  # a warning is told, whatever the style
    assert "Written:" in said.out
    assert main(["run", str(recipe), "--output", str(tmp_path / "b"), "--log-json"]) == 0
    said = capsys.readouterr()
    entries = [json.loads(line) for line in said.err.splitlines()]
    assert [entry["level"] for entry in entries if entry["level"] != "progress"] == ["note", "warning", "end"]
    assert entries[-1]["exit"] == 0
    assert seed in entries[-2]["text"]
    assert "Written:" in said.out
    assert main(["run", str(recipe), "--output", str(tmp_path / "b"), "--log-json"]) == 2
    entries = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(entry["level"], entry.get("exit")) for entry in entries] == [("error", None), ("end", 2)]
    assert "exists; choose another --output" in entries[0]["text"]


def test_quiet_leaves_notes_out(tmp_path: Path, capsys):
    table = tmp_path / "people.csv"
    table.write_bytes("age;town\n21;Köln\n22;Köln\n23;Ulm\n24;Ulm\n".encode("latin-1"))
    assert main(["check", str(table), "--known", "age"]) == 0
    assert "anoncore: " in capsys.readouterr().err
    assert main(["check", str(table), "--known", "age", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_a_run_whose_error_stream_nobody_reads_still_writes_its_release(tmp_path: Path):
    recipe = tmp_path / "r.toml"
    recipe.write_text(RECIPE.replace("120", "20000"), encoding="utf-8")
    code = (
        "import sys\n"
        "from anoncore.cli import log\n"
        "log.EVERY_SHARE, log.LEAST_SECONDS = 0.0001, 0.0\n"
        "from anoncore.cli import main\n"
        f"sys.exit(main(['run', {str(recipe)!r}, '--output', {str(tmp_path / 'out')!r}]))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert b"anoncore: " in process.stderr.readline()
        process.stderr.close()
        assert process.stdout is not None
        said = process.stdout.read().decode()
        assert process.wait() == 0
    assert "Written:" in said
    assert len(list((tmp_path / "out").iterdir())) == 2
