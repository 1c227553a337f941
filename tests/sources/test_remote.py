"""Tables at addresses, read from real servers that the tests start on 127.0.0.1."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from anoncore import DataError, Recipe, RecipeError
from anoncore.base.extras import MissingPackageError
from anoncore.cli import main
from anoncore.publishing import Certificate
from anoncore.recipes.script import python_script
from anoncore.sources import read_table
from anoncore.sources.addresses import is_address, kept_address, shown_address
from anoncore.sources.remote import fetched
from tests.engines.large_tables import ROLES, people
from tests.hidden_packages import hide
from tests.sources.postgresql_server import running_server

BUCKET = "office"


def written(folder: Path, source: str, algorithm: str = 'name = "rothko-tree"\nmemory_rows = 90') -> Path:
    roles = "\n".join(f'{name} = "{role}"' for name, role in {**ROLES, "note": "identifier"}.items())
    path = folder / "people.toml"
    path.write_text(
        f"[source]\n{source}\n[roles]\n{roles}\n[algorithm]\n{algorithm}\n"
        'requirements = [{name = "k-anonymity", k = 5}]\n',
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("s3://bucket/people.parquet", True),
        ("https://host/a.csv", True),
        ("postgresql://host/db", True),
        ("people.parquet", False),
        ("/data/people.csv", False),
        ("C:\\data\\people.csv", False),
        ("C://data/people.csv", False),
        ("odd:/name", False),
    ],
)
def test_what_an_address_is(path, expected):
    assert is_address(path) is expected


def test_nothing_that_gives_rights_is_shown():
    assert shown_address("https://ann:secret@host:81/a.csv?X-Amz-Signature=abc#x") == "https://host:81/a.csv"
    assert shown_address("postgresql://ann:secret@host/db?password=x") == "postgresql://host/db"


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("postgresql://ann:secret@host:81/db?sslmode=require", "postgresql://ann@host:81/db?sslmode=require"),
        ("postgresql://ann@host/db?password=x&sslmode=require", "postgresql://ann@host/db?sslmode=require"),
        ("https://host/a.csv?year=2020&X-Amz-Signature=abc&sig=1", "https://host/a.csv?year=2020"),
        ("s3://bucket/odd%20name.parquet", "s3://bucket/odd%20name.parquet"),
        ("https://host/a.csv?a=%20b", "https://host/a.csv?a=%20b"),
    ],
)
def test_what_gives_rights_is_never_written_down(address, kept, tmp_path):
    assert kept_address(address) == kept == kept_address(kept)
    recipe = Recipe.load(written(tmp_path, f'path = "{address}"'))
    assert Recipe.loads(recipe.dumps()).source.path == kept
    # What reads the table has it all.
    assert recipe.source.path == address


def test_addresses_of_other_kinds_are_refused_with_those_there_are(tmp_path):
    with pytest.raises(
        DataError, match=r"'ftp://host/a.csv': tables are read from paths of this machine and from 's3://'"
    ):
        fetched("ftp://ann:pw@host/a.csv", tmp_path)


def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch):
    hide(monkeypatch, "fsspec", "s3fs", "adbc_driver_postgresql")
    with pytest.raises(MissingPackageError, match=r"A table at s3:// needs s3fs and fsspec; .* 'anoncore\[s3\]'"):
        read_table("s3://bucket/people.parquet")
    with pytest.raises(MissingPackageError, match=r"needs adbc-driver-postgresql; .* 'anoncore\[postgresql\]'"):
        read_table("postgresql://host/db")


def test_commands_that_read_a_file_say_that_an_address_is_none(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["check", "s3://bucket/people.parquet", "--known", "age"])
    assert stop.value.code == 2
    assert "'s3://bucket/people.parquet' is an address" in " ".join(capsys.readouterr().err.split())


def test_addresses_in_recipes_stay_what_they_are(tmp_path):
    recipe = Recipe.load(written(tmp_path, 'path = "s3://bucket/people.parquet"'))
    (tmp_path / "below").mkdir()
    recipe.save(tmp_path / "below" / "saved.toml")
    assert Recipe.load(tmp_path / "below" / "saved.toml").source.path == "s3://bucket/people.parquet"
    with pytest.raises(RecipeError, match="reads a table of this machine"):
        python_script(recipe)


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("table") / "people.parquet"
    people().to_parquet(path)
    return path


@pytest.fixture
def site(tmp_path, table) -> Iterator[str]:
    """A web server with the table."""
    shutil.copy(table, tmp_path / "people.parquet")
    people().drop(columns="since").to_csv(tmp_path / "people.csv", index=False)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
def test_a_file_of_a_web_server_is_the_file(site, table):
    pytest.importorskip("aiohttp", reason="aiohttp is not installed; the extra 'http' brings it")
    pytest.importorskip("fsspec", reason="fsspec is not installed; the extra 'http' brings it")
    pd.testing.assert_frame_equal(read_table(f"{site}/people.parquet").frame, read_table(table).frame)
    assert read_table(f"{site}/people.csv?key=1").frame.shape == (400, 7)
    with pytest.raises(DataError, match=rf"There is nothing at '{site}/none.csv'"):
        read_table(f"{site}/none.csv?secret=1")


@pytest.fixture(scope="module")
def bucket(table) -> Iterator[str]:
    """An S3 server with the table as one file and as a folder of two."""
    pytest.importorskip("s3fs", reason="s3fs is not installed; the extra 's3' brings it")
    server_module = pytest.importorskip("moto.server", reason="moto is not installed, which is an S3 server for tests")
    server = server_module.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    settings = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        import s3fs

        files = s3fs.S3FileSystem()
        files.mkdir(BUCKET)
        files.put_file(str(table), f"{BUCKET}/people.parquet")
        halves = people()
        for number, part in enumerate((halves[:150], halves[150:])):
            half = table.with_name(f"half-{number}.parquet")
            part.to_parquet(half, index=False)
            files.put_file(str(half), f"{BUCKET}/folder/{half.name}")
        yield f"s3://{BUCKET}"
    server.stop()


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_recipe_reads_a_bucket_in_memory_and_on_disk(bucket, table, tmp_path, capsys):
    pd.testing.assert_frame_equal(read_table(f"{bucket}/people.parquet").frame, read_table(table).frame)
    stated = []
    for engine, source in (("memory", "people.parquet"), ("disk", "people.parquet"), ("disk", "folder")):
        output = tmp_path / f"{engine}-{Path(source).stem}"
        recipe = written(tmp_path, f'path = "{bucket}/{source}"')
        words = ["run", str(recipe), "--engine", engine, "--output", str(output), "--key-file", str(tmp_path / "key")]
        assert main(words) == 2, "a recipe asks no other machine unless that is allowed"
        assert f"--allow-address {bucket}/{source}" in capsys.readouterr().err
        allowed = ["--allow-address", bucket]
        assert main([*words, *allowed]) == 0
        (certificate,) = output.rglob("*certificate.json")
        (found,) = Certificate.load(certificate).tables
        stated.append((found.rows, found.groups, found.group_sizes))
        capsys.readouterr()
        named = ["--recipe", str(recipe), "--key-file", str(tmp_path / "key"), *allowed]
        assert main(["verify", str(certificate.parent if engine == "disk" else certificate), *named]) == 0
        assert "The release was made of this table" in capsys.readouterr().out
    assert stated[0] == stated[1] == stated[2]
    assert main(["evaluate", str(recipe), "--measure", "k", *allowed]) == 0
    for missing in ("none.parquet", "none/"):
        recipe = written(tmp_path, f'path = "{bucket}/{missing}"')
        assert main(["run", str(recipe), "--output", str(tmp_path / "none"), *allowed]) == 2
        assert f"There is nothing at '{bucket}/{missing}'" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """A PostgreSQL server with the table `people` and a view of types that tables do not have."""
    with running_server() as server:
        import pyarrow as pa
        from adbc_driver_postgresql import dbapi

        with dbapi.connect(server.address()) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("people", pa.Table.from_pandas(people(), preserve_index=False))
            cursor.execute('CREATE SCHEMA "odd one"')
            cursor.execute(
                'CREATE TABLE "odd one"."kinds" AS SELECT 1.50::numeric(9, 2) AS price, 7::numeric(9, 0) AS n, '
                "'{\"a\": 1}'::jsonb AS more, '10.0.0.1'::inet AS host, ARRAY[1, 2] AS list, "
                'NULL::text AS "no ""thing", true AS yes'
            )
            connection.commit()
        yield server.address()


@pytest.mark.slow
def test_a_table_of_postgresql_is_read_by_every_engine(database, tmp_path, capsys):
    stated = []
    for engine in ("memory", "disk"):
        output = tmp_path / engine
        recipe = written(tmp_path, f'path = "{database}"\ntable = "people"')
        words = ["run", str(recipe), "--engine", engine, "--output", str(output)]
        assert main(words) == 2, "a recipe asks no other machine unless that is allowed"
        assert main([*words, "--allow-address", database]) == 0
        (certificate,) = output.rglob("*certificate.json")
        stated.append(Certificate.load(certificate).tables[0].group_sizes)
        assert "secret" not in certificate.read_text()
    frame = people()
    frame.to_parquet(tmp_path / "people.parquet")
    recipe = written(tmp_path, 'path = "people.parquet"')
    assert main(["run", str(recipe), "--engine", "memory", "--output", str(tmp_path / "file")]) == 0
    (certificate,) = (tmp_path / "file").rglob("*certificate.json")
    stated.append(Certificate.load(certificate).tables[0].group_sizes)
    assert stated[0] == stated[1] == stated[2]
    said = capsys.readouterr()
    assert "secret" not in said.out + said.err


@pytest.mark.slow
def test_types_of_postgresql_become_types_of_tables(database, tmp_path):
    path = fetched(database, tmp_path, "odd one.kinds")
    frame = read_table(path).frame
    assert frame.iloc[0].tolist()[:5] == [1.5, 7, '{"a": 1}', "10.0.0.1/32", "{1,2}"] or frame.iloc[0].tolist()[:5] == [
        1.5, 7, '{"a": 1}', "10.0.0.1", "{1,2}",
    ]  # fmt: skip
    assert list(frame) == ["price", "n", "more", "host", "list", 'no "thing', "yes"]


@pytest.mark.slow
def test_what_is_wrong_with_a_database_is_said_without_its_password(database, tmp_path):
    with pytest.raises(DataError, match=r"has the tables 'odd one.kinds', 'people'; name one as table") as raised:
        fetched(database, tmp_path)
    assert "secret" not in str(raised.value)
    with pytest.raises(DataError, match=r"has no table 'persons'; it has"):
        fetched(database, tmp_path, "persons")
    with pytest.raises(DataError, match="cannot be reached: there is no such database") as raised:
        fetched(database.replace("/postgres", "/nothing"), tmp_path)
    assert "secret" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []
