"""Reading in a process of its own gives the same table, and ends where it takes more than it may."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from typing import Any

import openpyxl
import pandas as pd
import pytest

from anoncore.base.errors import DataError
from anoncore.sources import apart, read_table, table_sheets
from anoncore.sources.apart import Limits, read_table_apart, table_sheets_apart, usual_limits

pytestmark = pytest.mark.slow

MB = 1 << 20
AMPLE = Limits(2_000 * MB, 60, 600, 500 * MB)
ODD = (
    "age,when,zoned,x,flag,none,Ä name,text\n"
    '21,2020-01-01,2020-01-01T10:00:00+02:00,1.5,True,,ü,"a, ""b""\n"\n'
    "44,2020-01-02,2020-01-02T10:00:00Z,,false,,,=1+1\n"
    ",,,-3e5,TRUE,,é,漢字\n"
).encode()


def book() -> bytes:
    content, made = io.BytesIO(), openpyxl.Workbook()
    for row in (["age", "town"], [21, "Ulm"], [44, None]):
        made.active.append(row)
    made.create_sheet("more").append(["a"])
    made.save(content)
    return content.getvalue()


def as_parquet() -> bytes:
    content = io.BytesIO()
    pd.DataFrame({"a": [1, 2], "b": pd.to_datetime(["2020-01-01", None]), "c": ["x", None]}).to_parquet(content)
    return content.getvalue()


@pytest.mark.parametrize(("content", "name"), [(ODD, "a/odd.csv"), (book(), "b.xlsx"), (as_parquet(), "c.parquet")])
def test_it_is_the_same_table(content: bytes, name: str) -> None:
    here, there = read_table(content, name), read_table_apart(content, name, limits=AMPLE)
    pd.testing.assert_frame_equal(there.frame, here.frame)
    assert [str(kind) for kind in there.frame.dtypes] == [str(kind) for kind in here.frame.dtypes]
    assert (there.name, there.format, there.notes, there.digest) == (here.name, here.format, here.notes, here.digest)
    assert table_sheets_apart(content, name, limits=AMPLE) == table_sheets(content, name)


@pytest.mark.parametrize("content", [b"", b"a,a\n1,2\n", b"PK\x03\x04 no workbook", b"a,b\n1\n"])
def test_a_file_that_cannot_be_read_says_the_same(content: bytes) -> None:
    with pytest.raises(DataError) as here:
        read_table(content, "x/bad.csv")
    with pytest.raises(DataError) as there:
        read_table_apart(content, "x/bad.csv", limits=AMPLE)
    assert str(there.value) == str(here.value)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(30 * MB, 60, 600, MB), "Reading 'b.csv' takes more than 30 MB of memory"),
        (Limits(2_000 * MB, 0.05, 600, MB), "Reading 'b.csv' takes more than 0 seconds"),
        (Limits(2_000 * MB, 60, 0.05, MB), "Reading 'b.csv' takes more than 0 seconds"),
        (Limits(2_000 * MB, 60, 600, 1_000), "'b.csv' does not fit into memory"),
    ],
)
def test_it_ends_where_it_takes_more_than_it_may(limits: Limits, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_table_apart(b"a,b\n" + b"1,2\n" * 5_000, "b.csv", limits=limits)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("", "ended the process that read it"),
        ("import os; os.abort()", "ended the process that read it"),
        ("print('no answer')", "ended the process that read it"),
        ("print('[]')", "ended the process that read it"),
        ("print('{}')", "ended the process that read it"),
        ('print(\'{"problem": "Too bad."}\')', "Too bad"),
        (
            "print('{\"name\": 1}'); import sys; sys.stdout.buffer.write(bytes(9 << 20))",
            "more than 1 MB of memory|ended",
        ),
        ("import time; time.sleep(600)", "more than 1 seconds"),
    ],
)
def test_whatever_the_process_does_there_is_a_sentence(
    program: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []

    def start(_command: list[str], **options: Any) -> Any:
        started.append(subprocess_popen([sys.executable, "-c", program], **options))
        return started[-1]

    subprocess_popen = subprocess.Popen
    monkeypatch.setattr(apart.subprocess, "Popen", start)
    with pytest.raises(DataError, match=said):
        read_table_apart(b"a\n" * 100_000, "b.csv", limits=Limits(2_000 * MB, 60, 1, MB))
    assert started[0].poll() is not None
    for thread in threading.enumerate():
        if thread.name in ("give a file", "watch over a reading"):
            thread.join(30)
            assert not thread.is_alive()


def test_limits_grow_with_the_file_and_end_at_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = usual_limits(1_000), usual_limits(50 * MB)
    assert small.memory < 1_500_000_000
    assert small.processor < large.processor
    assert small.memory < large.memory
    monkeypatch.setattr(apart, "free_memory", lambda: 100 * MB)
    assert usual_limits(50 * MB).memory == 100 * MB


def test_the_process_knows_no_secret_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANONCORE_WORKSPACES_KEY", "ANONCORE_SIGN_IN_CLIENT_SECRET", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD"):
        monkeypatch.setenv(name, "geheim")
    started: list[Any] = []
    monkeypatch.setattr(apart.subprocess, "Popen", lambda *_, **options: started.append(options) or _stop())
    with pytest.raises(RuntimeError, match="stop"):
        read_table_apart(b"a\n1\n", "a.csv", limits=AMPLE)
    assert "geheim" not in repr(started[0]["env"])


def _stop() -> None:
    raise RuntimeError("stop")


def test_the_process_that_reads_imports_no_compiler() -> None:
    """Each upload starts one, and a compiler alone takes half a second to import."""
    script = f"import {apart.PROCESS}, sys\nprint(*[name for name in ('numba', 'duckdb') if name in sys.modules])"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.split() == []
