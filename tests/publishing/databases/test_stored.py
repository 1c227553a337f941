"""Releases in a PostgreSQL server that the tests start: whole or not at all, certified, verified, lost on the way."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator

import pyarrow as pa
import pytest

from anoncore import DataError, Microdata
from anoncore.algorithms import Anatomy, Mondrian, Slicing
from anoncore.base.errors import CancelledError, ParameterError
from anoncore.cli import main
from anoncore.publishing import Certificate, store, verify, verify_stored
from anoncore.publishing.databases.held_tables import held_batches, held_schema, stored_entry
from anoncore.publishing.databases.storing import places_of, stored_name, storing
from anoncore.requirements import KAnonymity
from tests.engines.large_tables import ROLES, people
from tests.properties.subjects import SEED
from tests.sources.postgresql_server import Server, running_server

KEY = "k" * 64


def table_types() -> pa.Table:
    """A column of every type that a database can hold."""
    moment = datetime.datetime(2020, 2, 29, 23, 59, 59, 123456)
    return pa.table(
        {
            "whole": pa.array([2**62, None, -1], pa.int64()),
            "small": pa.array([1, 2, None], pa.uint8()),
            "unsigned": pa.array([1, 2, 2**32 - 1], pa.uint32()),
            "float": pa.array([0.1, float("nan"), -0.0], pa.float64()),
            "narrow": pa.array([0.1, None, 2.5], pa.float32()),
            "yes": pa.array([True, None, False]),
            "text": pa.array(["", None, "ü, \"quoted\"\n'x'"]),
            "coded": pa.array(["a", "b", "a"]).dictionary_encode(),
            "day": pa.array([datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31)]),
            "moment": pa.array([moment, None, moment], pa.timestamp("us")),
            "zoned": pa.array([moment, None, moment], pa.timestamp("us", "Europe/Berlin")),
            "none": pa.nulls(3),
        }
    )


def test_values_that_a_database_cannot_hold_are_named_with_their_column():
    for values, sentence in (
        (pa.array([2**63], pa.uint64()), "'a' has a value that does not fit the type int64"),
        (pa.array([1_001], pa.timestamp("ns")), "'a' has a value that does not fit the type timestamp"),
        (pa.array(["x\0"]), "'a' has a text with the character NUL"),
        (pa.array([[1]]), "'a' has the type list<"),
    ):
        table = pa.table({"a": values})
        with pytest.raises(DataError, match=sentence):
            list(held_batches([table], held_schema(table.schema)))
    with pytest.raises(DataError, match="names of at most 63 bytes, and 'ü"):
        held_schema(pa.schema([("ü" * 32, pa.int64())]))


def test_names_in_a_database():
    assert places_of("people", ["release"]) == (None, {"release": "people"}, "people_certificate")
    assert places_of("clinic.people", ["a b", "c"]) == (
        "clinic",
        {"a b": "people_a b", "c": "people_c"},
        "people_certificate",
    )
    assert stored_name("people 2024-05") == "people_2024_05"
    for name in ("", "clinic.", "p" * 60):
        with pytest.raises(ParameterError, match="is no name for tables of a database"):
            places_of(name, ["release"])


def test_what_does_not_go_together_is_said(tmp_path, capsys):
    recipe = tmp_path / "census.toml"
    recipe.write_text('algorithm = {name = "mondrian"}\nsource = {builtin = "census", rows = 60}\n')
    for words, sentence in (
        (["--output", "s3://bucket/release"], "releases are written to folders and files of this machine"),
        (["--output-table", "people"], "--output-table names a release in a database"),
        (["--output", "postgresql://h/d", "--format", "csv"], "--format is for files"),
        (["--output", "postgresql://h/d", "--no-certificate"], "--no-certificate is for files"),
    ):
        assert main(["run", str(recipe), *words]) == 2
        assert sentence in capsys.readouterr().err
    for output, sentence in (
        ('path = "s3://bucket/x"', "'s3://bucket/x' is another one"),
        ('path = "release"\ntable = "people"', "table is for a database, and path is none"),
    ):
        recipe.write_text(f'algorithm = {{name = "mondrian"}}\nsource = {{builtin = "census"}}\n[output]\n{output}\n')
        assert main(["run", str(recipe)]) == 2
        assert sentence in capsys.readouterr().err


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as found:
        yield found


@pytest.fixture
def fresh(server: Server) -> str:
    """A database with nothing in it."""
    run(server.address(), "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    return server.address()


def run(address: str, *statements: str) -> list[tuple[object, ...]]:
    """Execute statements; gives what the last one gives."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        found = cursor.fetchall() if cursor.description else []
        connection.commit()
    return found


def tables(address: str) -> list[str]:
    query = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1"
    return [str(row[0]) for row in run(address, query)]


@pytest.fixture(scope="module")
def data() -> Microdata:
    return Microdata(people(), ROLES)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [Mondrian(requirements=[KAnonymity(k=5)]), Anatomy(l=2, seed=SEED), Slicing(l=2, sensitive_column_size=1)],
    ids=lambda m: m.name,
)
def test_a_release_in_a_database_is_the_release(fresh, data, method):
    certificate = store(method.anonymize(data), fresh, "people", KEY)
    found = verify_stored(fresh, "people", data=data, key=KEY)
    assert [one.sentence for one in found.findings if one.outcome == "fails"] == []
    assert any(one.sentence == "The release was made of this table." for one in found.findings)
    names = [one.name for one in certificate.stored or ()]
    assert tables(fresh) == sorted([*names, "people_certificate"])
    assert "secret" not in certificate.dumps()
    with pytest.raises(DataError, match="check it with verify_stored"):
        verify(certificate, {})
    run(fresh, f'UPDATE "{names[0]}" SET note = \'other\' WHERE ctid = (SELECT ctid FROM "{names[0]}" LIMIT 1)')
    failing = [one.sentence for one in verify_stored(fresh, "people").findings if one.outcome == "fails"]
    assert any(f"'{names[0]}' is not as certified" in one and "'note'" in one for one in failing)


@pytest.mark.slow
def test_what_was_changed_in_a_database_is_refused_and_named(fresh, data):
    release = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(data)
    store(release, fresh, "people", KEY)

    def failing(*statements: str) -> list[str]:
        store(release, fresh, "people", KEY, replace=True)
        run(fresh, *statements)
        return [one.sentence for one in verify_stored(fresh, "people").findings if one.outcome == "fails"]

    assert failing() == []
    # The order of rows is nothing that a database keeps.
    assert failing("CREATE TABLE again AS SELECT * FROM people ORDER BY note", "DROP TABLE people",
                   "ALTER TABLE again RENAME TO people") == []  # fmt: skip
    one = "(SELECT ctid FROM people LIMIT 1)"
    assert "'people' has 399 rows, but 400 were certified." in failing(f"DELETE FROM people WHERE ctid = {one}")
    twice = failing(f"INSERT INTO people SELECT * FROM people WHERE ctid = {one}")
    assert "'people' has 401 rows, but 400 were certified." in twice
    assert "the types of 'note' were changed" in failing("ALTER TABLE people ALTER note TYPE date USING NULL")[0]
    assert failing("DROP TABLE people") == ["The table 'people' with 400 rows is missing, or may not be read."]
    assert "has the columns" in failing("ALTER TABLE people ADD more int")[0]
    assert failing("DELETE FROM people") == ["'people' has no rows any more."]
    changed = failing(
        "UPDATE people_certificate SET certificate = replace(certificate, '\"rows\": 400', '\"rows\": 4')"
    )
    assert any("has 400 rows, but 4 were certified" in sentence for sentence in changed)
    run(fresh, "UPDATE people_certificate SET certificate = 'none'")
    with pytest.raises(DataError, match="This is no certificate of a release"):
        verify_stored(fresh, "people")


@pytest.mark.slow
def test_every_type_comes_back_as_it_was(fresh, tmp_path):
    from adbc_driver_postgresql import dbapi

    given = table_types()
    schema = held_schema(given.schema)
    sent = pa.Table.from_batches(held_batches([given], schema))
    with storing(fresh, "kinds", ["release"], False) as stored:
        stored.write("release", [given])
        held = stored.held("release", tmp_path)
        entry = stored_entry(held, "release", tmp_path)
        stored.connection.commit()
    assert entry.types == {field.name: str(field.type) for field in schema}
    with dbapi.connect(fresh) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT * FROM kinds")
        back = cursor.fetch_arrow_table()
    assert str(back.to_pylist()) == str(sent.to_pylist())
    # Turned around the rows have the same digest; with one value changed they have not.
    run(fresh, "CREATE TABLE turned AS SELECT * FROM kinds ORDER BY ctid DESC")
    run(fresh, "CREATE TABLE other AS SELECT * FROM kinds", "UPDATE other SET small = 3 WHERE small = 2")
    digests = []
    for name in ("turned", "other"):
        with storing(fresh, "more", ["release"], False) as stored:
            object.__setattr__(stored, "names", {"release": name})
            digests.append(stored_entry(stored.held("release", tmp_path), "release", tmp_path).sha256)
    assert digests[0] == entry.sha256 != digests[1]


@pytest.mark.slow
def test_only_a_release_is_replaced(fresh, data):
    release = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(data)
    run(fresh, "CREATE TABLE people (name text)", "INSERT INTO people VALUES ('Ann')")
    with pytest.raises(DataError, match="has 'people' already; choose another name"):
        store(release, fresh, "people", KEY)
    with pytest.raises(DataError, match=r"'people' in .* is no release and is not replaced"):
        store(release, fresh, "people", KEY, True)
    store(release, fresh, "second", KEY)
    # A certificate that names another table does not make it a release of this name.
    run(fresh, "ALTER TABLE second_certificate RENAME TO people_certificate")
    with pytest.raises(DataError, match="is no release and is not replaced"):
        store(release, fresh, "people", KEY, True)
    assert run(fresh, "SELECT name FROM people") == [("Ann",)]
    run(
        fresh, "CREATE VIEW seen AS SELECT * FROM second", "ALTER TABLE people_certificate RENAME TO second_certificate"
    )
    with pytest.raises(DataError, match="other things in the database depend on what would be replaced"):
        store(release, fresh, "second", KEY, True)
    assert not verify_stored(fresh, "second").of("fails")


@pytest.mark.slow
def test_a_database_that_does_not_keep_what_it_gets_is_found_out(fresh, data):
    release = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(data)
    # A trigger on every new table stands for whatever a server may do to values.
    run(
        fresh,
        "CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.note = 'cut'; RETURN NEW; END $$",
        "CREATE FUNCTION shorter() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN IF to_regclass('people') IS NOT "
        "NULL THEN CREATE OR REPLACE TRIGGER cut BEFORE INSERT ON people FOR EACH ROW EXECUTE FUNCTION cut(); END IF; "
        "END $$",
        "CREATE EVENT TRIGGER shorter ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION shorter()",
    )
    try:
        with pytest.raises(DataError, match="The database does not hold what was written, and nothing was kept"):
            store(release, fresh, "people", KEY)
    finally:
        run(fresh, "DROP EVENT TRIGGER shorter")
    assert tables(fresh) == []


def ended(server: Server) -> None:
    """End the connection that writes, as an administrator would."""
    query = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'COPY %FROM STDIN%' AND pid <> pg_backend_pid()"
    ((pid,),) = run(server.address(), query)
    run(server.address(), f"SELECT pg_terminate_backend({pid})")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["connection", "server", "stop"])
def test_what_is_lost_in_the_middle_leaves_nothing_half_written(server, fresh, how):
    rows = pa.table({"text": ["x" * 1000] * 20_000})

    def batches() -> Iterator[pa.Table]:
        for number in range(40):
            if number == 10 and how == "connection":
                ended(server)
            if number == 10 and how == "server":
                server.kill()
            if number == 10 and how == "stop":
                raise CancelledError("stopped")
            yield rows

    run(fresh, "CREATE TABLE before (n int)")
    expected = CancelledError if how == "stop" else DataError
    sentence = "stopped" if how == "stop" else "was lost in the middle. .* nothing half-written is left"
    try:
        with pytest.raises(expected, match=sentence) as raised, storing(fresh, "people", ["release"], False) as stored:
            stored.write("release", batches())
    finally:
        if how == "server":
            server.start()
    assert "secret" not in str(raised.value)
    assert tables(fresh) == ["before"]


@pytest.mark.slow
@pytest.mark.parametrize("is_kept", [True, False])
def test_a_lost_answer_is_asked_for_again(fresh, data, monkeypatch, is_kept):
    """The connection ends while the end of the transaction is on its way: the database is asked what became of it."""
    from adbc_driver_manager import OperationalError, dbapi

    real = dbapi.Connection.commit

    def lost(connection: object) -> None:
        monkeypatch.undo()
        if is_kept:
            real(connection)
        raise OperationalError("server closed the connection unexpectedly", status_code=10)

    release = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(data)
    monkeypatch.setattr(dbapi.Connection, "commit", lost)
    if is_kept:
        store(release, fresh, "people", KEY)
        assert not verify_stored(fresh, "people").of("fails")
    else:
        with pytest.raises(DataError, match="lost in the middle"):
            store(release, fresh, "people", KEY)
        assert tables(fresh) == []


@pytest.mark.slow
def test_from_database_to_database_on_the_command_line(fresh, server, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = people()
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(fresh) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("people", pa.Table.from_pandas(frame, preserve_index=False))
        connection.commit()
    roles = "\n".join(f'{name} = "{role}"' for name, role in ROLES.items())
    recipe = tmp_path / "people.toml"
    recipe.write_text(
        f'[source]\npath = "{fresh}"\ntable = "people"\n[roles]\n{roles}\n[algorithm]\n'
        'name = "rothko-tree"\nmemory_rows = 90\nrequirements = [{name = "k-anonymity", k = 5}]\n'
        f'[output]\npath = "{fresh}"\ntable = "anonymous"\n',
        encoding="utf-8",
    )
    stated = []
    for engine in ("memory", "disk"):
        words = ["run", str(recipe), "--engine", engine, "--key-file", "key.txt", "--report", "--mapping", "--force"]
        assert main(words) == 2, "a recipe asks no other machine unless that is allowed"
        assert "secret" not in capsys.readouterr().err
        allowed = ["--allow-address", fresh]
        assert main([*words, *allowed]) == 0
        said = capsys.readouterr()
        assert (
            f"check it with: anoncore verify {server.address(user='x').replace('x@', '')} --table anonymous" in said.out
        )
        assert "secret" not in said.out + said.err
        assert tables(fresh) == ["anonymous", "anonymous_certificate", "people"]
        named = ["--recipe", str(recipe), "--key-file", "key.txt", *allowed]
        assert main(["verify", fresh, "--table", "anonymous", *named]) == 3
        said = capsys.readouterr().out
        assert "fails:" not in said
        assert "holds: The release was made of this table." in said
        ((text,),) = run(fresh, "SELECT certificate FROM anonymous_certificate")
        assert "secret" not in str(text)
        (tmp_path / "apart.json").write_text(str(text))
        certificate = Certificate.load(tmp_path / "apart.json")
        stated.append((certificate.tables[0].group_sizes, certificate.stored))
        assert main(["verify", "apart.json", fresh]) == 3
        assert main(["verify", "apart.json"]) == 2
        assert main(["verify", fresh]) == 2
        # The dossier counts in the same tables, from the certificate beside them and from one in a file.
        for place in ([fresh, "--table", "anonymous"], ["apart.json", fresh]):
            assert main(["dossier", *place, "--policy", "cms", "--force", "--quiet"]) in (1, 3)
            told = json.loads((tmp_path / "dossier.json").read_text())
            assert (told["basis"], told["released"]["standing"]) == ("certificate", "counted")
            assert ":secret" not in json.dumps(told)
        for name in ("dossier.html", "dossier.json"):
            (tmp_path / name).unlink()
        capsys.readouterr()
        made = {path.name for path in tmp_path.iterdir()}
        private = {"people-release-report.html", "people-release-mapping-not-for-publication.csv"}
        assert made == {"people.toml", "key.txt", "apart.json", *private}
        # Reports speak of secrets; the password would stand behind its colon.
        assert not any(":secret" in (tmp_path / name).read_text() for name in private)
    assert stated[0][0] == stated[1][0]
    # Memory and disk put the very same rows into the database.
    assert [one.sha256 for one in stated[0][1]] == [one.sha256 for one in stated[1][1]]
    assert main(["run", str(recipe), "--engine", "disk", *allowed]) == 2
    assert "has 'anonymous', 'anonymous_certificate' already" in capsys.readouterr().err
    assert main(["run", str(recipe), "--output", fresh, "--output-table", "people", "--force", *allowed]) == 2
    assert "'people' is the table of the recipe itself" in capsys.readouterr().err
    run(fresh, "UPDATE anonymous SET age = '1' WHERE ctid = (SELECT ctid FROM anonymous LIMIT 1)")
    assert main(["verify", fresh, "--table", "anonymous"]) == 1
    assert "'anonymous' is not as certified" in capsys.readouterr().out


@pytest.mark.slow
def test_a_run_on_disk_whose_server_dies_says_so_and_leaves_nothing(fresh, server, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people(60_000).drop(columns="since").to_parquet(tmp_path / "people.parquet")
    roles = "\n".join(f'{name} = "{role}"' for name, role in ROLES.items() if name != "since")
    recipe = tmp_path / "people.toml"
    recipe.write_text(
        f'[source]\npath = "people.parquet"\n[roles]\n{roles}\n[algorithm]\nname = "rothko-tree"\n'
        f'requirements = [{{name = "k-anonymity", k = 50}}]\n[output]\npath = "{fresh}"\n',
        encoding="utf-8",
    )
    from anoncore.publishing.databases import storing as module

    real = module.held_batches

    def dying(batches, schema):
        for number, batch in enumerate(real(batches, schema)):
            if number == 1:
                server.kill()
            yield batch

    monkeypatch.setattr(module, "held_batches", dying)
    monkeypatch.setattr(module, "BATCH_ROWS", 5_000)
    try:
        words = ["run", str(recipe), "--engine", "disk", "--allow-address", fresh]
        assert main([*words, "--key-file", "key.txt"]) == 2
    finally:
        server.start()
    said = capsys.readouterr()
    assert "lost in the middle" in said.err
    assert "secret" not in said.out + said.err
    assert tables(fresh) == []
    assert {path.name for path in tmp_path.iterdir()} == {"people.parquet", "people.toml"}
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert main(words) == 0
    assert tables(fresh) == ["people_release", "people_release_certificate"]
