"""What goes into the log when something fails: where, and what kind of error, but never its message.

Messages of errors quote values of the visitor's table; the log outlives the visit and has other readers.
"""

from __future__ import annotations

import logging
import traceback
from typing import Any

from streamlit import config


def failure_text(error: BaseException) -> str:
    """The kind of error and the lines of code it came through, without its message or values of variables."""
    frames = "".join(traceback.format_tb(error.__traceback__)).rstrip()
    name = type(error).__qualname__
    return f"{name}\n{frames}" if frames else name


class _Factory:
    """Makes log records as before, with the errors' messages left out."""

    def __init__(self, make: Any) -> None:
        self.make = make

    def __call__(self, *arguments: Any, **named: Any) -> logging.LogRecord:
        record: logging.LogRecord = self.make(*arguments, **named)
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            record.msg, record.args = f"{record.getMessage()}: {failure_text(error)}", None
        record.exc_info = record.exc_text = None
        return record


def install() -> None:
    """Keep messages of errors out of all logs of this process, and off its output; once is enough.

    Where the package rich is installed beside us, Streamlit prints failures of a page with their messages straight to
    the standard output, past every log.
    """
    config.set_option("logger.enableRich", False)
    make = logging.getLogRecordFactory()
    if not isinstance(make, _Factory):
        logging.setLogRecordFactory(_Factory(make))
