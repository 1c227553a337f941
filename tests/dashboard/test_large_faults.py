"""What goes wrong with a table on this machine gets one clear sentence on the page Table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anoncore.base import faults
from dashboard.serving import own_machine
from dashboard.session import state
from dashboard.table import all_rows
from tests.dashboard.conftest import Visitor
from tests.dashboard.large_visits import finish, name_table, people, tagged, take_sample


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A table on disk."""
    path = tmp_path / "people.parquet"
    people().to_parquet(path, index=False)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("nothing.parquet", None, "There is no file and no folder"),
        ("book.xlsx", b"PK", "is no table that can be read piece by piece"),
        ("cut.db", b"SQLite format 3\0 and no more", "'cut.db' cannot be read: "),
        ("empty-folder", "folder", "holds no Parquet and no CSV files"),
    ],
)
def test_a_bad_path_is_one_sentence(visitor: Visitor, tmp_path: Path, name: str, content: Any, words: str) -> None:
    if content == "folder":
        (tmp_path / name).mkdir()
    elif content is not None:
        (tmp_path / name).write_bytes(content)
    name_table(visitor, tmp_path / name)
    assert len(visitor.errors) == 1
    assert words in visitor.errors[0]
    assert not visitor.has_button("Take a sample")


def test_a_path_is_written_from_the_top(visitor: Visitor) -> None:
    name_table(visitor, "people.parquet")
    assert visitor.errors == ["Write the whole path, such as /home/me/people.parquet."]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cut.parquet", "ragged.csv", "none.parquet"])
def test_a_damaged_file_is_one_sentence_and_the_table_stays(visitor: Visitor, source: Path, name: str) -> None:
    path = source.with_name(name)
    if name == "none.parquet":
        people()[:0].to_parquet(path)
    else:
        cut = source.read_bytes()[:5_000]
        path.write_bytes(cut if name == "cut.parquet" else b"age,town\n" + b"3,K\xf6ln\n" * 50 + b"3\n")
    take_sample(visitor, path)
    assert len(visitor.errors) == 1
    assert f"'{name}' " in visitor.errors[0]
    assert len(state._workspaces.get(visitor.workspace).table.frame) == 45_222


def test_a_disk_without_room_is_said_before_the_start(
    visitor: Visitor, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tagged(visitor, source)
    monkeypatch.setattr(all_rows, "disk_usage", lambda _: type("Usage", (), {"free": 10_000}))
    visitor.run()
    assert len(visitor.warnings) == 1
    assert "for temporary files in" in visitor.warnings[0]
    assert "where 10.0 kB are free" in visitor.warnings[0]
    assert not visitor.has_button("Start")


def test_a_folder_that_cannot_be_written_is_one_sentence(visitor: Visitor, source: Path) -> None:
    tagged(visitor, source)
    (source.parent / "mine").mkdir()
    (source.parent / "mine" / "diary.txt").touch()
    for output, words in (
        (source.parent / "mine", "exists and holds no release"),
        (source.parent / "no" / "such", "There is no folder"),
        (source / "inside", "inside the table"),
        ("release", "Write the whole path"),
    ):
        visitor.at.text_input(key="large-output").set_value(str(output))
        visitor.run()
        assert len(visitor.warnings) == 1
        assert words in visitor.warnings[0] or "There is no folder" in visitor.warnings[0]
        assert not visitor.has_button("Start")
    assert (source.parent / "mine" / "diary.txt").exists()


def test_a_full_disk_is_one_sentence(visitor: Visitor, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tagged(visitor, source)
    monkeypatch.setattr(faults, "disk_usage", lambda _: type("Usage", (), {"free": 10_000}))
    visitor.press("Start")
    finish(visitor)
    assert len(visitor.errors) == 1
    assert "needs about 0.0 GB on the disk of" in visitor.errors[0]
    assert not source.with_name("people-release").exists()


@pytest.mark.slow
def test_what_the_whole_table_does_not_allow_is_one_sentence(visitor: Visitor, source: Path) -> None:
    tagged(visitor, source)
    key = "large.rothko-sampling.requirements.1.k"
    # More rows than the sample has are no problem, more than the table has are.
    for k, words in ((1_000, None), (3_001, "k = 3001 is not possible")):
        visitor.at.number_input(key=key).set_value(k)
        visitor.at.text_input(key="large-output").set_value(str(source.with_name(f"release-{k}")))
        visitor.run().press("Start")
        finish(visitor)
        if words is None:
            assert visitor.errors == []
            assert "Released: 3,000 rows of people.parquet in " in visitor.texts()
        else:
            assert [words in sentence for sentence in visitor.errors] == [True]


def test_a_column_that_the_table_has_lost_is_one_sentence(visitor: Visitor, source: Path) -> None:
    tagged(visitor, source)
    people().drop(columns="pay").to_parquet(source, index=False)
    visitor.press("Start")
    finish(visitor)
    assert len(visitor.errors) == 1
    assert "names 'pay', which the table lacks" in visitor.errors[0]


def test_a_server_for_others_reads_no_files(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_machine, "is_served_alone", lambda: False)
    visitor.open("table")
    assert own_machine.NOT_ALONE in visitor.texts()
    assert [item for item in visitor.at.text_input if item.key == "place"] == []
    assert visitor.errors == []
