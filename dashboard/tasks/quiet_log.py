"""What the server prints and logs when something fails: where, and what kind of error, but never its message.

Messages of errors quote values of the visitor's table; the log outlives the visit and has other readers.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
import warnings
from types import FrameType
from typing import Any

from streamlit import config

OWN_LOGGERS = ("anoncore", "dashboard")
"""Loggers whose messages are written here and never quote a table."""


def failure_text(error: BaseException) -> str:
    """The kind of error and the lines of code it came through, without its message or values of variables."""
    frames = "".join(traceback.format_tb(error.__traceback__)).rstrip()
    name = type(error).__qualname__
    return f"{name}\n{frames}" if frames else name


class _Factory:
    """Makes log records as before, with everything left out that may quote the visitor's table."""

    def __init__(self, make: Any) -> None:
        self.make = make

    def __call__(self, *arguments: Any, **named: Any) -> logging.LogRecord:
        record: logging.LogRecord = self.make(*arguments, **named)
        if record.name.partition(".")[0] not in OWN_LOGGERS:
            _keep_constant(record)
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            record.msg, record.args = f"{record.getMessage()}: {failure_text(error)}", None
        record.exc_info = record.exc_text = None
        return record


def _keep_constant(record: logging.LogRecord) -> None:
    """Of a message that another library wrote, keep only the words that stand in its code.

    A library may put a value of the table, or an error that quotes one, into its message. What stands in its code as a
    constant cannot come from a table. A message that is put together becomes the line of code that wrote it.
    """
    if not _is_constant(record):
        record.msg = f"A message of {record.pathname}, line {record.lineno}"
    record.args = None


def _is_constant(record: logging.LogRecord) -> bool:
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename == record.pathname and frame.f_lineno == record.lineno:
            return any(isinstance(text, str) and text == record.msg for text in frame.f_code.co_consts)
        frame = frame.f_back
    return False


def _warning_text(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """Where a warning came from and its kind. Readers of files quote cells in their warnings."""
    return f"{filename}:{lineno}: {category.__name__}\n"


def _print_failure(error: BaseException | None, where: str) -> None:
    if error is not None and not isinstance(error, SystemExit):
        print(f"Failure in {where}: {failure_text(error)}", file=sys.stderr)


def install() -> None:
    """Keep what may quote a table out of all logs of this process and off its output; once is enough.

    Python and the libraries beside us tell of failures in several ways: log records, warnings, threads and destructors
    that fail, and where the package rich is installed, Streamlit prints failures of a page straight to the standard
    output. All of them keep saying where something failed and what kind of error it was.
    """
    config.set_option("logger.enableRich", False)
    warnings.formatwarning = _warning_text
    # A hook that is not Python's own was set on purpose by whoever runs the program, such as a collector of failures.
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = lambda _kind, error, _trace: _print_failure(error, "the program")
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = lambda failure: _print_failure(failure.exc_value, "a thread")
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = lambda failure: _print_failure(failure.exc_value, "clearing up")
    make = logging.getLogRecordFactory()
    if not isinstance(make, _Factory):
        logging.setLogRecordFactory(_Factory(make))
