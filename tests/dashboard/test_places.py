"""Tables by their path or address on the page Table: read with the program's rights, or refused."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from anoncore import DataError
from anoncore.base.pandas_versions import with_text
from anoncore.cli import main
from anoncore.publishing import Certificate
from dashboard.serving import own_machine
from dashboard.session import state
from tests.dashboard.conftest import Visitor
from tests.dashboard.large_visits import finish, people, tagged, take_sample
from tests.sources.postgresql_server import running_server


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A table on disk."""
    path = tmp_path / "people.parquet"
    people().to_parquet(path, index=False)
    return path


def name_place(visitor: Visitor, place: object) -> Visitor:
    visitor.open("table")
    visitor.at.text_input(key="place").set_value(str(place))
    return visitor.run()


def test_a_table_of_this_machine_is_loaded_by_its_path(visitor: Visitor, source: Path) -> None:
    name_place(visitor, source).press("Load it")
    assert visitor.errors == []
    pd.testing.assert_frame_equal(state._workspaces.get(visitor.workspace).table.frame, with_text(people()))
    assert not name_place(visitor, source.with_name("none.parquet")).has_button("Load it")
    assert "none.parquet" in visitor.errors[0]
    assert len(state._workspaces.get(visitor.workspace).table.frame) == 3_000


def test_places_are_refused_where_the_program_serves_others(
    visitor: Visitor, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_machine, "is_served_alone", lambda: False)
    visitor.open("table")
    assert [item for item in visitor.at.text_input if item.key == "place"] == []
    assert "are read only where the program serves its own machine alone" in visitor.texts()
    for place in (str(source), "s3://bucket/people.parquet", "postgresql://host/db"):
        with pytest.raises(DataError, match="only where the program serves its own machine alone"):
            own_machine.whole_place(place)


def test_a_password_in_an_address_is_refused_and_not_repeated(visitor: Visitor) -> None:
    name_place(visitor, "postgresql://ann:secret@host/db")
    assert len(visitor.errors) == 1
    assert "Leave the password out of the address of" in visitor.errors[0]
    assert "secret" not in visitor.errors[0]
    assert "ftp" in name_place(visitor, "ftp://host/a.csv").press("Load it").errors[0]


@pytest.mark.slow
def test_the_run_over_all_rows_writes_what_the_command_writes(
    visitor: Visitor, source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tagged(visitor, source)
    visitor.at.selectbox(key="large-method").set_value("rothko-tree")
    visitor.run()
    for key in ("large-report", "large-mapping"):
        visitor.at.toggle(key=key).set_value(True)
        visitor.run()
    visitor.press("Start")
    finish(visitor)
    assert visitor.errors == []
    release = source.with_name("people-release")
    beside = ["key-not-for-publication.txt", "mapping-not-for-publication.csv", "report.html"]
    assert sorted(path.name for path in source.parent.glob("people-release-*")) == [
        f"people-release-{name}" for name in beside
    ]
    recipe = source.with_name("people.toml")
    text = next(str(item.value) for item in visitor.at.code if "[source]" in str(item.value))
    recipe.write_text(text, encoding="utf-8")
    key = source.with_name("people-release-key-not-for-publication.txt")
    assert key.stat().st_mode & 0o077 == 0
    assert main(["verify", str(release), "--recipe", str(recipe), "--key-file", str(key)]) == 0
    assert "fails:" not in capsys.readouterr().out
    mapping = pd.read_csv(source.with_name("people-release-mapping-not-for-publication.csv"))
    assert mapping.groupby("attribute")["rows"].sum().tolist() == [3_000] * 3
    # The command says the same of the same recipe.
    words = ["run", str(recipe), "--engine", "disk", "--output", str(source.parent / "again"), "--key-file", str(key)]
    assert main(words) == 0
    folders = (release, source.parent / "again" / "people-release")
    own, other = (Certificate.load(folder / "_certificate.json") for folder in folders)
    assert (own.requirements, own.attributes, own.input, own.sha256) == (
        other.requirements,
        other.attributes,
        other.input,
        other.sha256,
    )


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with running_server() as found:
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(found.address()) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("people", pa.Table.from_pandas(people(), preserve_index=False))
            cursor.adbc_ingest("others", pa.table({"a": [1, 2]}))
            connection.commit()
        yield found.address(user="ann")


@pytest.mark.slow
def test_a_table_of_a_server_is_loaded(visitor: Visitor, server: str) -> None:
    name_place(visitor, server)
    assert visitor.errors == []
    visitor.at.selectbox(key="place-table").set_value("people")
    visitor.run().press("Load it")
    assert visitor.errors == []
    table = state._workspaces.get(visitor.workspace).table
    assert (table.name, len(table.frame)) == ("people", 3_000)
    name_place(visitor, server.replace("/postgres", "/none"))
    assert "there is no such database" in visitor.errors[0]


@pytest.mark.slow
def test_all_rows_of_a_table_of_a_server_are_released(
    visitor: Visitor, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    take_sample(visitor, server)  # type: ignore[arg-type]
    assert visitor.has_button("Take a sample")
    visitor.at.selectbox(key="place-table").set_value("people")
    visitor.run().press("Take a sample")
    found = state._workspaces.get(visitor.workspace).jobs.get("large-sampling")
    if found is not None:
        assert found.job.wait(60)
        visitor.run()
    assert visitor.errors == []
    visitor.tag(who="identifier", age="quasi-identifier", town="quasi-identifier", pay="quasi-identifier")
    visitor.tag(ill="sensitive").open("table")
    visitor.press("Start")
    finish(visitor)
    assert visitor.errors == []
    assert main(["verify", str(tmp_path / "people-release")]) == 0
    text = next(str(item.value) for item in visitor.at.code if "[source]" in str(item.value))
    assert tomllib.loads(text)["source"] == {"path": server, "table": "people"}
