"""Files of visitors are read side by side: nobody waits for another one's file, and each has one at a time."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from anoncore import DataError
from anoncore.algorithms import Anatomy
from anoncore.sources import TableSource, read_table
from anoncore.sources.apart import Limits
from dashboard.serving import quotas
from dashboard.session import loaded_table, session_file, state
from dashboard.session.workspace import MicrodataStore, Workspace
from dashboard.tasks import reading
from tests.dashboard.results import put

pytestmark = pytest.mark.slow

MB = 1 << 20


def with_quota(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    found = SimpleNamespace(quotas=SimpleNamespace(memory_megabytes=4_000))
    monkeypatch.setattr(reading.settings, "current", lambda: found)
    monkeypatch.setattr(quotas, "free_for_tables", lambda: free)


def test_one_persons_file_keeps_nobody_waiting_and_a_second_one_its_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "WAIT_SECONDS", 0.05)
    with reading.turn(10, "ann", None):
        with reading.turn(10, "bob", None), quotas.loading():
            pass
        with pytest.raises(DataError, match="Others are loading"), reading.turn(10, "ann", None):
            pass
    with reading.turn(10, "ann", None):
        pass


def test_only_a_few_are_read_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "WAIT_SECONDS", 0.05)
    with ExitStack() as open_turns:
        for number in range(reading.MOST_AT_ONCE):
            open_turns.enter_context(reading.turn(10, f"{number}", None))
        with pytest.raises(DataError, match="Others are loading"), reading.turn(10, "last", None):
            pass


def test_who_waits_goes_on_when_a_turn_ends() -> None:
    begun = threading.Event()

    def second() -> None:
        with reading.turn(10, "ann", None):
            begun.set()

    with reading.turn(10, "ann", None):
        thread = threading.Thread(target=second)
        thread.start()
        assert not begun.wait(0.05)
    thread.join(10)
    assert begun.is_set()


def test_what_is_being_read_counts_as_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with_quota(monkeypatch, 1_000 * MB)
    with reading.turn(10, "ann", None) as first:
        assert first.memory <= 1_000 * MB
        with pytest.raises(DataError, match="nearly all of the 4,000 MB"), reading.turn(10, "bob", None):
            pass
    made: list[int] = []
    with_quota(monkeypatch, 0)
    with pytest.raises(DataError, match="nearly all of the"), reading.turn(10, "bob", lambda: made.append(1)):
        pass
    assert made == [1]


def test_a_small_file_of_a_large_table_is_read_where_nobody_else_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five million rows of nine columns of few values are 21 MB of Parquet, and 1.8 GB in memory."""
    monkeypatch.setattr(reading, "free_memory", lambda: 3_000 * MB)
    given: list[int] = []

    def read(content: bytes, name: str, *, limits: Limits, **_: Any) -> TableSource:
        given.append(limits.memory)
        return read_table(content, name)

    monkeypatch.setattr(reading, "read_table_apart", read)
    assert len(reading.table(b"a\n1\n", "a.csv", MB, "ann").frame) == 1
    with_quota(monkeypatch, 2_000 * MB)
    assert len(reading.table(b"a\n1\n", "a.csv", MB, "ann").frame) == 1
    assert given[0] == 1_500 * MB
    assert given[1] < 800 * MB


def test_a_file_by_its_path_is_read_to_the_limit_only(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n", encoding="utf-8")
    assert reading.table_at(tmp_path / "a.csv", MB, "ann").frame.shape == (1, 1)
    (tmp_path / "b.csv").write_bytes(b"a\n" + b"1\n" * MB)
    with pytest.raises(DataError, match=r"is larger than 1\.0 MB"):
        reading.table_at(tmp_path / "b.csv", MB, "ann")
    with pytest.raises(DataError, match="cannot be opened"):
        reading.table_at(tmp_path / "c.csv", MB, "ann")


def test_what_is_no_table_is_read_apart_as_well() -> None:
    asked = "anoncore.table.hierarchy_files:hierarchy_paths"
    found = reading.answer(asked, b"ulm;south;*\nkiel;north;*\n", "towns.csv", "ann", about={"name": "towns.csv"})
    assert found == [["ulm", ["south", "*"]], ["kiel", ["north", "*"]]]
    with pytest.raises(DataError, match=r"'towns\.csv' is empty"):
        reading.answer(asked, b"", "towns.csv", "ann", about={"name": "towns.csv"})


def test_a_saved_session_is_tried_apart_and_refused_where_it_takes_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Workspace("one")
    made = loaded_table.builtin_table("census", 600)
    here.load(made, made.suggested)
    data = MicrodataStore().get(made, made.suggested)
    for l in (2, 3):
        put(here, Anatomy(l=l), made, made.suggested, Anatomy(l=l).anonymize(data))
    content = session_file.save(here)
    assert reading.answer("dashboard.session.state:tried_session", content, "s.zip", "ann", least=state.SESSION) == 2
    less = replace(state.SESSION, memory=100 * MB)
    monkeypatch.setattr(reading, "usual_limits", lambda n_bytes: less)
    with pytest.raises(DataError, match=r"Reading 's\.zip' takes more than 100 MB of memory"):
        reading.answer("dashboard.session.state:tried_session", content, "s.zip", "ann")


def test_built_in_tables_of_a_session_are_made_only_where_so_many_rows_may_be_loaded(monkeypatch) -> None:
    def refused(n_rows: int, what: str) -> None:
        raise DataError(f"{what} has {n_rows} rows")

    monkeypatch.setattr(quotas, "require_rows", refused)
    monkeypatch.setattr(loaded_table, "builtin_table", lambda *asked: pytest.fail("the table was made first"))
    with pytest.raises(DataError, match="A table of the session has 7000 rows"):
        state._allowed_table("census", 7_000)
