"""What a command tells beside its results, on the error stream: progress, notes and errors, for people or programs."""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Literal

from anoncore.base.progress import Progress
from anoncore.base.showing import printable

Style = Literal["plain", "quiet", "json"]
WIDTH = 100
EVERY_SECONDS, EVERY_SHARE = 10.0, 0.05
"""A line of progress comes when so much time has passed since the last one, or so much of the work was done."""
LEAST_SECONDS = 1.0
"""Lines do not come faster than this, so that a short run does not fill a log."""


def add_log_options(parser: argparse.ArgumentParser) -> None:
    """Give a command that may take long the options --quiet and --log-json."""
    styles = parser.add_mutually_exclusive_group()
    styles.add_argument(
        "--quiet",
        action="store_true",
        help="tell neither progress nor notes; results, warnings and errors are still told",
    )
    styles.add_argument(
        "--log-json",
        action="store_true",
        help="write progress, notes, warnings and errors as one JSON object a line to the error stream, and last the "
        "exit code; results stay on the output",
    )


class Log:
    """Tells what a command does, in one of three styles.

    `plain` draws one line of progress on a terminal, and writes lines of progress elsewhere; `quiet` tells only
    warnings and errors; `json` writes an object a line. Whoever reads the error stream may go away: the work goes on.
    """

    def __init__(self, style: Style = "plain", command: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self.style, self.command, self.clock = style, command, clock
        self._begun = clock()
        self._lock = threading.Lock()
        self.drawn = ""

    def note(self, text: str) -> None:
        """Tell something that is good to know."""
        if self.style != "quiet":
            self._tell("note", text)

    def warn(self, text: str) -> None:
        """Tell something that should be changed."""
        self._tell("warning", text)

    def error(self, text: str) -> None:
        """Tell why something could not be done."""
        self._tell("error", text)

    def end(self, code: int) -> None:
        """Tell a program that reads along that the command has ended."""
        if self.style == "json":
            self._record("end", exit=code)

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """Progress of one piece of work, told in the log's style until the block ends."""
        if self.style == "quiet":
            yield lambda share, text: None
        elif self.style == "plain" and sys.stderr.isatty():
            with _drawn(self) as report:
                yield report
        else:
            with _Lines(self).told() as report:
                yield report

    def tell_progress(self, share: float, text: str, seconds: float) -> None:
        """Write one line of progress: the share done, what is done, and since when the work goes on."""
        if self.style == "json":
            self._record("progress", text, share=round(share, 4))
        else:
            self.write(f"anoncore: {share:4.0%} {printable(text)} ({seconds:,.0f} s)\n")

    def write(self, text: str) -> None:
        """Write to the error stream, if somebody still reads it."""
        with self._lock:
            try:
                sys.stderr.write(text)
                sys.stderr.flush()
            except BrokenPipeError:
                # Nobody reads it any more. What is left in its buffer goes nowhere: at its end Python would write it
                # once more, fail, and give another exit code.
                with suppress(OSError, ValueError):
                    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
            except (OSError, ValueError):
                # The work is worth more than what is told of it.
                return

    def _tell(self, level: str, text: str) -> None:
        if self.style == "json":
            self._record(level, text)
        else:
            # What is told takes the place of a line of progress that is drawn; the next report draws it anew.
            self.write(f"{self.drawn}anoncore: {_printable_lines(text)}\n")

    def _record(self, level: str, text: str | None = None, **more: Any) -> None:
        entry: dict[str, Any] = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "command": self.command,
            "level": level,
            "seconds": round(self.clock() - self._begun, 3),
        }
        entry |= more if text is None else {"text": _printable_lines(text), **more}
        self.write(json.dumps(entry, ensure_ascii=False) + "\n")


_current: ContextVar[Log | None] = ContextVar("log", default=None)


def log() -> Log:
    """The log of the command that runs; a plain one where none does."""
    return _current.get() or Log()


@contextmanager
def log_of(arguments: argparse.Namespace, command: str) -> Iterator[Log]:
    """The log that the options of a command ask for, which `log` gives until the block ends."""
    style: Style = "plain"
    if getattr(arguments, "log_json", False):
        style = "json"
    elif getattr(arguments, "quiet", False):
        style = "quiet"
    kept = _current.set(Log(style, command))
    try:
        yield log()
    finally:
        _current.reset(kept)


def _printable_lines(text: str) -> str:
    """A text of some lines that commands no terminal: names in it may come from files that others wrote."""
    return "\n".join(map(printable, text.split("\n")))


@contextmanager
def _drawn(told: Log) -> Iterator[Progress]:
    """One line of a terminal that is drawn again and again, and taken away at the end."""

    def report(share: float, text: str) -> None:
        told.write(f"\r{share:4.0%} {printable(text)[: WIDTH - 5]:<{WIDTH - 5}}")

    told.drawn = "\r" + " " * WIDTH + "\r"
    try:
        yield report
    finally:
        told.write(told.drawn)
        told.drawn = ""


class _Lines:
    """Progress line by line, for what is no terminal.

    A line comes with what is reported, and also when nothing was reported for a while: a step may take minutes, and a
    reader of the log wants to know that the work goes on.
    """

    def __init__(self, told: Log) -> None:
        self._log = told
        self._begun = self._last = told.clock()
        self._share, self._text, self._told_share = 0.0, "", 0.0
        self._lock, self._over = threading.Lock(), threading.Event()

    @contextmanager
    def told(self) -> Iterator[Progress]:
        """The function that takes reports; the block's end ends the lines."""
        watch = threading.Thread(target=self._watch, name="progress", daemon=True)
        watch.start()
        try:
            yield self._report
        finally:
            self._over.set()
            watch.join()

    def _report(self, share: float, text: str) -> None:
        with self._lock:
            self._share, self._text = share, text
            self._tell_if_due()

    def _watch(self) -> None:
        while not self._over.wait(EVERY_SECONDS / 10):
            with self._lock:
                if self._text:
                    self._tell_if_due()

    def _tell_if_due(self) -> None:
        now = self._log.clock()
        passed = now - self._last
        more = self._share - self._told_share >= EVERY_SHARE - 1e-9
        if passed >= EVERY_SECONDS or (more and passed >= LEAST_SECONDS):
            self._last, self._told_share = now, self._share
            self._log.tell_progress(self._share, self._text, now - self._begun)
