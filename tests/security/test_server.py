"""The server as it is started: who can reach it, what it takes from other sites, what it tells and keeps."""

from __future__ import annotations

import contextlib
import http.client
import logging
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest

from anoncore.algorithms import Anatomy
from dashboard.elements import routes
from dashboard.table import table
from dashboard.tasks import jobs, quiet_log
from tests.dashboard import browser
from tests.dashboard.conftest import Visitor, no_warm_up, visit, visitor
from tests.dashboard.results import add_run

pytestmark = pytest.mark.slow

__all__ = ["no_warm_up", "visit", "visitor"]

SECRET = "Ottilie Geheimrat"
HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with browser.server() as address:
        yield int(address.rsplit(":", 1)[1])


def _status(port: int, method: str, path: str, headers: dict[str, str] | None = None, body: bytes | None = None) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    cookie = browser.cookie(f"http://127.0.0.1:{port}")
    with contextlib.closing(connection):
        connection.request(method, path, body, {"Cookie": f"{cookie['name']}={cookie['value']}", **(headers or {})})
        with connection.getresponse() as answer:
            return answer.status


def _own_addresses() -> set[str]:
    """The addresses of this machine's other network interfaces."""
    found = {str(entry[4][0]) for entry in socket.getaddrinfo(socket.gethostname(), None)}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            found.add(str(probe.getsockname()[0]))
        except OSError:
            pass
    return {one for one in found if not one.startswith("127.") and one != "::1"}


def test_only_this_machine_reaches_it(port: int) -> None:
    assert _status(port, "GET", "/_stcore/health") == 200
    for address in _own_addresses():
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family) as probe:
            probe.settimeout(5)
            with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
                probe.connect((address, port))


def test_an_upload_that_another_site_sends_is_refused(port: int) -> None:
    assert _status(port, "PUT", "/_stcore/upload_file/session/file", body=b"age\n1\n") == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1"])
def test_another_site_cannot_open_a_session(port: int, host: str) -> None:
    asked = {**HANDSHAKE, "Host": f"{host}:{port}", "Origin": "http://evil.example"}
    assert _status(port, "GET", "/_stcore/stream", asked) == 403
    own = {**HANDSHAKE, "Host": f"127.0.0.1:{port}", "Origin": f"http://127.0.0.1:{port}"}
    assert _status(port, "GET", "/_stcore/stream", own) == 101


@pytest.mark.slow
def test_no_page_calls_another_machine(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def connect(_socket: socket.socket, address: Any) -> None:
        asked.append(address)
        raise OSError("no network here")

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket.socket, "connect_ex", connect)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *name, **_: asked.append(name))
    add_run(visitor, Anatomy(l=2))
    for route in routes.ROUTES:
        visitor.open(route.title.lower())
    assert asked == []


def test_the_log_says_where_a_job_failed_but_nothing_of_the_table(caplog: pytest.LogCaptureFixture) -> None:
    def fail(report: jobs.Report) -> None:
        raise ZeroDivisionError(f"no {SECRET} here")

    job = jobs.start(fail)
    assert job.wait(20)
    assert SECRET in job.error
    assert "ZeroDivisionError" in caplog.text
    assert "test_server.py" in caplog.text
    assert SECRET not in caplog.text


def test_the_log_says_where_a_page_failed_but_nothing_of_the_table(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise ValueError(f"no {SECRET} here")

    visitor.upload("people.csv", pd.DataFrame({"name": [SECRET] * 4, "age": range(4)}).to_csv(index=False).encode())
    monkeypatch.setattr(table, "render", fail)
    with caplog.at_level(logging.DEBUG):
        with pytest.raises(AssertionError):
            visitor.open("table")
        visitor.open("learn")
    assert "ValueError" in caplog.text
    assert SECRET not in caplog.text


def test_a_page_that_fails_prints_nothing_of_the_table(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Streamlit would print the failure past the log as soon as it finds the package rich, here an empty stand-in."""

    def fail() -> None:
        raise ValueError(f"no {SECRET} here")

    printed: list[BaseException] = []
    monkeypatch.setitem(sys.modules, "rich", ModuleType("rich"))
    monkeypatch.setattr("streamlit.error_util._print_rich_exception", printed.append)
    visitor.upload("people.csv", pd.DataFrame({"name": [SECRET] * 4, "age": range(4)}).to_csv(index=False).encode())
    monkeypatch.setattr(table, "render", fail)
    with pytest.raises(AssertionError):
        visitor.open("table")
    assert printed == []
    told = capfd.readouterr()
    assert SECRET not in told.out + told.err


def test_the_record_factory_is_installed_once() -> None:
    quiet_log.install()
    factory = logging.getLogRecordFactory()
    quiet_log.install()
    assert logging.getLogRecordFactory() is factory


@pytest.mark.slow
def test_the_address_holds_nothing_of_the_table(visitor: Visitor) -> None:
    frame = pd.DataFrame({"Geheimspalte": [SECRET, "b"] * 20, "age": range(40), "illness": ["x", "y"] * 20})
    roles = {"Geheimspalte": "quasi-identifier", "age": "quasi-identifier", "illness": "sensitive"}
    add_run(visitor, Anatomy(l=2), frame, roles, name="Geheimakte.csv")
    for route in routes.ROUTES:
        visitor.open(route.title.lower())
        for box in visitor.at.selectbox:
            # The test driver cannot choose a run, whose text is not its value; no run is in the address.
            if box.key and box.label != "Release shown" and len(box.options) > 1 and not box.disabled:
                box.select_index(len(box.options) - 1)
        visitor.run()
        address = " ".join(f"{key}={value}" for key, value in visitor.at.query_params.items())
        assert "eheim" not in address


@pytest.mark.slow
def test_nothing_is_left_among_the_temporary_files(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    frame = pd.DataFrame({"age": range(60), "illness": ["x", "y", "z"] * 20})
    visitor.upload("people.csv", frame.to_csv(index=False).encode())
    visitor.tag(age="quasi-identifier", illness="sensitive")
    visitor.make()
    for page in ("privacy", "utility", "publish"):
        visitor.open(page)
    assert list(tmp_path.iterdir()) == []
