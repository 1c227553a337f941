"""Workspaces in a folder: they come back as they were, tell nothing without the key, and go when nobody comes."""

from __future__ import annotations

import base64
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from anoncore import DataError
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.recipes.release_file import packed
from dashboard.serving import settings, vault
from dashboard.serving.settings import Kept, Settings
from dashboard.serving.vault import Vault
from dashboard.session import keeping, loaded_table, state
from dashboard.session.loaded_table import LoadedTable, Tags, untagged
from dashboard.session.workspace import Workspace
from tests.dashboard.results import put

pytest.importorskip("cryptography", reason="cryptography is not installed; the extra 'serve' brings it")
SECRET = "Ottilie Geheimrat"
KEY = bytes(range(32))
pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    kept = Kept(folder=str(tmp_path), key=base64.b64encode(KEY).decode())
    monkeypatch.setattr(settings, "_used", Settings(workspaces=kept))
    monkeypatch.setattr(keeping, "_written", {})
    return tmp_path


def worked(owner: str = "") -> Workspace:
    """A workspace with a table, two releases of it, and one of them renamed."""
    frame = pd.DataFrame({"name": [SECRET] * 40, "age": range(40), "illness": ["x", "y"] * 20})
    here = Workspace("id-of-the-workspace", owner, "ann@office.example" if owner else "")
    table = LoadedTable("t1", "akte.csv", frame, "d" * 64, ("a note",), None, untagged(frame))
    tags = Tags({"name": "identifier", "age": "quasi-identifier", "illness": "sensitive"}, dict(table.suggested.kinds))
    here.load(table, tags)
    data = state._microdata.get(table, tags)
    for algorithm in (Mondrian(), Anatomy(l=2)):
        put(here, algorithm, table, tags, algorithm.anonymize(data))
    renamed(here, 0, "mine")
    return here


def renamed(here: Workspace, place: int, label: str) -> None:
    """Give the release of a column another name."""
    here.show_on_board([replace(run, label=label) if run is here.runs[place] else run for run in here.runs])


def test_a_workspace_comes_back_as_it_was(folder: Path) -> None:
    here = worked("person")
    keeping.save(here)
    assert here.notices == []
    kept = keeping.load(here.id, loaded_table.builtin_table, state._microdata.get)
    assert kept is not None
    assert (kept.id, kept.owner, kept.person) == (here.id, "person", "ann@office.example")
    assert keeping.id_of("person") == here.id
    assert keeping.id_of("somebody else") is None
    saved = kept.saved
    assert saved.table is not None
    assert here.table is not None
    pd.testing.assert_frame_equal(saved.table.frame, here.table.frame)
    assert (saved.table.name, saved.table.digest, saved.tags.digest) == ("akte.csv", "d" * 64, here.tags.digest)
    assert [(run.label, run.column, run.algorithm) for run in saved.runs] == [
        (run.label, run.column, run.algorithm) for run in here.runs
    ]
    for back, run in zip(saved.runs, here.runs, strict=True):
        # The whole release, but for the numbers of groups, which are drawn anew for every file.
        assert packed(back.release) == packed(run.release)
    assert keeping.load("another-id", loaded_table.builtin_table, state._microdata.get) is None


def test_nothing_can_be_read_and_nobody_else_can_look(folder: Path) -> None:
    here = worked("person")
    keeping.save(here)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) == 4, "the table, the rest, whose it is, and the ledger"
    for path in files:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        content = path.read_bytes()
        for hidden in (b"Geheim", b"akte", b"age", b"PAR1", b"PK\x03\x04", here.id.encode(), b"person"):
            assert hidden not in content
            assert hidden.decode() not in str(path.relative_to(folder))


@pytest.mark.parametrize("change", ["one bit", "cut", "mark alone", "half a nonce", "exchanged", "empty", "table gone"])
def test_what_was_changed_is_not_opened(folder: Path, change: str) -> None:
    here = worked()
    keeping.save(here)
    group = next(path for path in folder.iterdir() if path.is_dir())
    session, table = group / "session", next(path for path in group.iterdir() if path.name != "session")
    content = session.read_bytes()
    if change == "one bit":
        session.write_bytes(content[:-20] + bytes([content[-20] ^ 1]) + content[-19:])
    elif change == "cut":
        session.write_bytes(content[:-1])
    elif change == "mark alone":
        session.write_bytes(content[:21])
    elif change == "half a nonce":
        session.write_bytes(content[:27])
    elif change == "exchanged":
        session.write_bytes(table.read_bytes())
    elif change == "empty":
        session.write_bytes(b"")
    else:
        table.unlink()
    assert keeping.load(here.id, loaded_table.builtin_table, state._microdata.get) is None


def test_an_older_file_that_is_put_back_is_not_opened(folder: Path) -> None:
    here = worked("person")
    keeping.save(here)
    (group,) = (path for path in folder.iterdir() if path.is_dir() and path.name != keeping.PEOPLE)
    older = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    renamed(here, 0, "a newer name")
    keeping.save(here)
    newer = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    changed = [path for path in older if older[path] != newer[path]]
    assert group / "session" in changed
    (group / "session").write_bytes(older[group / "session"])
    for is_restarted in (False, True):
        if is_restarted:
            vault._vaults.clear()
        assert keeping.load(here.id, loaded_table.builtin_table, state._microdata.get) is None
    # Also the whole folder as it was, while the program runs; after a restart that is a backup like any other.
    (group / "session").write_bytes(newer[group / "session"])
    vault._vaults.clear()
    assert keeping.load(here.id, loaded_table.builtin_table, state._microdata.get) is not None
    for path in changed:
        path.write_bytes(older[path])
    assert keeping.load(here.id, loaded_table.builtin_table, state._microdata.get) is None
    # Without its ledger, or with a changed one, nothing is opened, and new files are kept.
    (ledger,) = folder.glob("ledger-*")
    for content in (None, b"", older[ledger][:-1], older[group / "session"]):
        ledger.unlink() if content is None else ledger.write_bytes(content)
        vault._vaults.clear()
        assert keeping.load(here.id, loaded_table.builtin_table, state._microdata.get) is None
    keeping._written.clear()
    keeping.save(here)
    assert keeping.load(here.id, loaded_table.builtin_table, state._microdata.get) is not None


def test_what_was_removed_stays_removed(folder: Path) -> None:
    vault = Vault(folder, KEY)
    vault.write("a", "b", b"content")
    content = (folder / "a" / "b").read_bytes()
    vault.remove("a")
    (folder / "a").mkdir()
    (folder / "a" / "b").write_bytes(content)
    for one in (vault, Vault(folder, KEY)):
        with pytest.raises(DataError, match="not the one that was written last"):
            one.read("a", "b")


def test_a_crash_between_ledger_and_file_loses_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = Vault(folder, KEY)
    vault.write("a", "b", b"first")
    replace = os.replace

    def crash(source: str, target: Path) -> None:
        if target.name == "b":
            raise OSError("the disk is full")
        replace(source, target)

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(OSError, match="the disk is full"):
        vault.write("a", "b", b"second")
    for one in (vault, Vault(folder, KEY)):
        assert one.read("a", "b") == b"first"
    monkeypatch.undo()
    vault.write("a", "b", b"third")
    assert Vault(folder, KEY).read("a", "b") == b"third"


def test_another_key_opens_nothing(folder: Path) -> None:
    vault = Vault(folder, KEY)
    vault.write("a", "b", b"content")
    assert vault.read("a", "b") == b"content"
    assert vault.read("a", "c") is None
    (folder / "c").mkdir()
    (folder / "c" / "b").write_bytes((folder / "a" / "b").read_bytes())
    for other, group in ((Vault(folder, bytes(32)), "a"), (vault, "c")):
        with pytest.raises(DataError, match="changed, or written with another key"):
            other.read(group, "b")
    assert Vault(folder, bytes(32)).name_of("x") != vault.name_of("x")


def test_a_table_is_written_once_and_the_rest_when_it_has_changed(folder: Path) -> None:
    here = worked()
    keeping.save(here)
    group = next(path for path in folder.iterdir() if path.is_dir())
    before = {path.name: (path.stat().st_ino, path.read_bytes()) for path in group.iterdir()}
    keeping.save(here)
    assert before == {path.name: (path.stat().st_ino, path.read_bytes()) for path in group.iterdir()}
    renamed(here, 1, "other")
    keeping.save(here)
    after = {path.name: path.stat().st_ino for path in group.iterdir()}
    assert {name for name, inode in after.items() if inode != before[name][0]} == {"session"}
    frame = pd.DataFrame({"age": range(9)})
    here.load(LoadedTable("t2", "new.csv", frame, "e" * 64, (), None, untagged(frame)), untagged(frame))
    here.show_on_board(())
    keeping.save(here)
    assert len(list(group.iterdir())) == 2, "the table that nothing uses any more is gone"


def test_a_table_that_would_not_come_back_is_told_of_once(folder: Path) -> None:
    here = worked()
    frame = pd.DataFrame({"mixed": [1, "a", 2.5]}, dtype=object)
    here.load(LoadedTable("t3", "odd.csv", frame, "f" * 64, (), None, untagged(frame)), untagged(frame))
    keeping.save(here)
    keeping.save(here)
    assert len(here.notices) == 1
    assert "will not outlive a restart of the server. The table 'odd.csv' cannot be saved" in here.notices[0]


def test_what_nobody_works_with_goes_also_when_the_server_was_away(folder: Path) -> None:
    here = worked("person")
    keeping.save(here)
    keeping.sweep(60)
    assert keeping.load(here.id, loaded_table.builtin_table, state._microdata.get) is not None
    old = time.time() - 120
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (old, old))
    keeping.touch(here)
    keeping.sweep(60)
    assert keeping.load(here.id, loaded_table.builtin_table, state._microdata.get) is not None
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (old, old))
    keeping.sweep(60)
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_what_is_let_go_of_is_removed(folder: Path) -> None:
    here = worked()
    keeping.save(here)
    keeping.remove(here)
    assert list(folder.iterdir()) == []
