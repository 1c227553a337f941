"""Nothing of a table reaches the output of the server or a log, whatever fails and whatever is installed beside it."""

from __future__ import annotations

import io
import logging
import re
import sys
import threading
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest

from dashboard.tasks import quiet_log
from tests.dashboard import browser

APP = Path(__file__).with_name("failing_app.py")
SECRET = re.compile("Ottilie|Geheimrat")
BUTTONS = ("log", "warn", "thread", "task", "clear up", "callback", "job", "page")

no_browser = pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}")


def _impossible_date() -> bytes:
    """A workbook with a date that no calendar has, about which its reader warns, and a secret."""
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["name", "born"], *(["Ottilie Geheimrat", 1] for _ in range(4))):
        sheet.append(row)
    for cell in sheet["B"][1:]:
        cell.value, cell.number_format = 99_999_999, "yyyy-mm-dd"
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _uploads() -> dict[str, bytes]:
    """Tables with a secret that cannot be read, or only with complaints."""
    frame = pd.DataFrame({"name": ["Ottilie Geheimrat"] * 4, "age": range(4)})
    parquet = io.BytesIO()
    frame.to_parquet(parquet)
    return {
        "ragged.csv": b'name,age\nOttilie Geheimrat,1\nOttilie Geheimrat,2,3,4\n"Ottilie Geheimrat',
        "odd.csv": "name,age\nOttilie Geheimrat,ü\n".encode("utf-16")[:-1] + b"\xff\x00\xd8",
        "twice.csv": b"Ottilie Geheimrat,Ottilie Geheimrat\n1,2\n",
        "cut.parquet": parquet.getvalue()[:-20],
        "spoilt.parquet": parquet.getvalue().replace(b"Ottilie", b"Ottil\xff\xfe"),
        "dates.xlsx": _impossible_date(),
        "cut.xlsx": _impossible_date()[:-200],
        "people.csv": frame.to_csv(index=False).encode(),
    }


@pytest.mark.browser
@no_browser
def test_a_server_in_which_everything_fails_prints_nothing_of_the_table(chrome: Any, tmp_path: Path) -> None:
    assert find_spec("rich") is not None, "Streamlit prints failures by it where it is there, and past the log"
    printed = tmp_path / "printed.txt"
    with (
        printed.open("wb") as output,
        browser.serving(APP, output=output, PYTHONPATH=str(browser.ROOT)) as (address, _process),
    ):
        visitor = browser.visitor(chrome, address)
        visitor.open("table")
        for name, content in _uploads().items():
            _upload(visitor, name, content)
        visitor.see("4 rows")
        visitor.go("Reference")
        for name in BUTTONS:
            visitor.page.get_by_text("All buttons are drawn.").wait_for()
            visitor.press(name)
            if name in ("callback", "page"):
                visitor.page.get_by_test_id("stException").wait_for()
                visitor.open(visitor.page.url)
    told = printed.read_text()
    assert not SECRET.search(told)
    assert "Failure in a thread: ValueError" in told
    assert "Failure in clearing up: ValueError" in told
    assert "A background job failed: ValueError" in told
    assert "UserWarning" in told
    assert "A message of " in told
    assert told.count("failing_app.py") >= len(BUTTONS)


def _upload(visitor: Any, name: str, content: bytes) -> None:
    chooser = visitor.page.get_by_test_id("stFileUploaderDropzoneInput").first
    with visitor.run():
        chooser.set_input_files({"name": name, "mimeType": "application/octet-stream", "buffer": content})


def _log_of(caplog: pytest.LogCaptureFixture, name: str) -> logging.Logger:
    quiet_log.install()
    caplog.clear()
    caplog.set_level(logging.DEBUG)
    return logging.getLogger(name)


def test_of_another_librarys_message_only_the_words_of_its_code_are_kept(caplog: pytest.LogCaptureFixture) -> None:
    secret = "Ottilie Geheimrat"
    other = _log_of(caplog, "other.library")
    other.warning("Skipped %s in line %d", secret, 17)
    other.warning("Skipped %(cell)s", {"cell": secret})
    other.warning(f"Skipped {secret}")
    other.warning(secret + " was skipped")
    other.warning("Skipped a line")
    first, second, third, fourth, fifth = (record.getMessage() for record in caplog.records)
    assert (first, second) == ("Skipped %s in line %d", "Skipped %(cell)s")
    for built in (third, fourth):
        assert re.fullmatch(r"A message of .*test_output\.py, line \d+", built)
    assert fifth == "Skipped a line"


def test_own_messages_are_whole(caplog: pytest.LogCaptureFixture) -> None:
    _log_of(caplog, "dashboard.tasks.jobs").error("A background job failed: %s", "ValueError")
    assert caplog.messages == ["A background job failed: ValueError"]


def test_a_warning_says_where_and_not_what() -> None:
    quiet_log.install()
    text = warnings.formatwarning("Cell A2 is Ottilie Geheimrat", UserWarning, "reader.py", 7)
    assert text == "reader.py:7: UserWarning\n"


def test_failures_that_nobody_catches_say_where_and_not_what(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)
    quiet_log.install()
    # The traceback shows lines of code, so the secret must not stand in this one.
    secret = "".join(("Ottilie ", "Geheimrat"))
    try:
        raise ValueError(secret)
    except ValueError as error:
        sys.excepthook(ValueError, error, error.__traceback__)
        threading.excepthook(threading.ExceptHookArgs((ValueError, error, error.__traceback__, None)))
    told = capsys.readouterr().err
    assert secret not in told
    assert re.findall("^Failure in .*", told, re.MULTILINE) == [
        "Failure in the program: ValueError",
        "Failure in a thread: ValueError",
    ]
    assert told.count("test_output.py") == 2


def test_a_hook_that_was_set_on_purpose_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr("threading.excepthook", told.append)
    quiet_log.install()
    assert threading.excepthook == told.append
