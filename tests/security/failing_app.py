"""The dashboard with failures built in: whatever can go wrong in a server does, and quotes a name of the table.

A visitor of the page Reference presses one button per failure.
"""

from __future__ import annotations

import asyncio
import logging
import runpy
import sys
import threading
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import pandas as pd  # noqa: E402
import streamlit as st  # noqa: E402

from dashboard.learn import reference  # noqa: E402
from dashboard.tasks import jobs  # noqa: E402


def _secret() -> str:
    """Put together here, so that no line of this file shows it: tracebacks print lines."""
    return " ".join(("Ottilie", "Geheimrat"))


def fail(*_arguments: object) -> None:
    """Fail as code of pandas does, with a cell in the message."""
    pd.Series([_secret()]).astype(float)


def log() -> None:
    """What another library may write: a cell as argument, in the text, in an error, and with a traceback."""
    other = logging.getLogger("other.library")
    other.error("Skipped %s", _secret())
    other.error(f"Skipped {_secret()}")
    try:
        fail()
    except ValueError as error:
        other.warning("Could not convert: %s", error)
        other.exception("Could not convert")


def warn() -> None:
    """What readers of files do: tell of a cell in a warning."""
    warnings.warn(f"Cell A2 is {_secret()}", UserWarning, stacklevel=1)


def thread() -> None:
    """A thread that nobody waits for fails."""
    failing = threading.Thread(target=fail)
    failing.start()
    failing.join()


def task() -> None:
    """A task whose failure nobody asks for: asyncio tells of it as soon as it is cleared up."""

    async def work() -> None:
        fail()

    async def start() -> None:
        started = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        del started

    asyncio.run(start())


def clear_up() -> None:
    """A destructor fails."""

    class Failing:
        def __del__(self) -> None:
            fail()

    Failing()


FAILURES = {"log": log, "warn": warn, "thread": thread, "task": task, "clear up": clear_up, "page": fail}


def render() -> None:
    """A button per failure."""
    for name, failure in FAILURES.items():
        if st.button(name):
            failure()
    st.button("callback", on_click=fail)
    if st.button("job"):
        jobs.start(fail).wait(20)
    st.write("All buttons are drawn.")


reference.render = render
runpy.run_path(str(ROOT / "dashboard" / "app.py"), run_name="__main__")
