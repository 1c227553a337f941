"""Rothko on a standalone cluster of Spark, with a worker killed, and on a server of Spark Connect."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote

import pytest

from anoncore.cli import main

from .large_tables import ROLES, people, published
from .spark_cluster import PATIENCE, Cluster, free_port, stated

pytest.importorskip("pyspark", reason="pyspark is not installed; the extra 'spark' brings it")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java, which is not installed", allow_module_level=True)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A master and two workers, for all tests: to start them takes longer than most."""
    with closing(Cluster(tmp_path_factory.mktemp("cluster"))) as found:
        yield found


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recipe with its table beside it."""
    folder = tmp_path_factory.mktemp("recipe")
    frame = people(8_000)
    # Spark has no nanoseconds.
    frame["since"] = frame["since"].astype("datetime64[us]")
    frame.to_parquet(folder / "people.parquet", index=False, row_group_size=2_000)
    roles = "\n".join(f'{name} = "{role}"' for name, role in {**ROLES, "note": "identifier"}.items())
    path = folder / "people.toml"
    path.write_text(
        f'[source]\npath = "people.parquet"\n[roles]\n{roles}\n[algorithm]\nname = "rothko-tree"\nmemory_rows = 5_000\n'
        'requirements = [{name = "k-anonymity", k = 20}, {name = "t-closeness", t = 0.7}]\n',
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="module")
def key(recipe: Path) -> Path:
    """The key of the table's hash: with the same key, the same table has the same."""
    return recipe.with_name("key")


@pytest.fixture(scope="module")
def disk(recipe: Path, key: Path) -> Path:
    """The release of the engine disk."""
    output = recipe.with_name("disk.parquet")
    assert main(["run", str(recipe), "--engine", "disk", "--output", str(output), "--key-file", str(key)]) == 0
    return output


def require_same(output: Path, disk: Path, recipe: Path, key: Path) -> None:
    """The same rows and the same statements as of the engine disk, which hold when they are checked."""
    assert published(output) == published(disk)
    assert stated(output) == stated(disk)
    assert main(["verify", str(output), "--recipe", str(recipe), "--key-file", str(key)]) == 0


TOKEN, HEADER = "bm90LWZvci15b3U%3D", "another-secret"
PARTITIONS = {"spark.sql.shuffle.partitions": "3"}


@pytest.mark.skipif(os.environ.get("ANONCORE_SPARK") != "all", reason="it takes half a minute: ANONCORE_SPARK=all")
def test_spark_connect_gives_the_release_of_the_disk_and_tells_the_token_nowhere(
    cluster, recipe, key, disk, tmp_path, capsys
):
    pytest.importorskip("grpc_status", reason="grpcio is not installed; the extra 'spark-connect' brings it")
    shared, output = tmp_path / "shared", tmp_path / "out" / "spark.parquet"
    for folder in (shared, output.parent):
        folder.mkdir()
    words = [str(recipe), "--output", str(output), "--workspace", str(shared), "--key-file", str(key)]
    words += ["--log-json", "--report", "--mapping"]
    address = cluster.connect(unquote(TOKEN))
    server = cluster.processes[-1]
    parameters = f"user_id=ann;x-office={HEADER}"
    try:
        ended = [
            (run.communicate(timeout=4 * PATIENCE), run.returncode)
            for run in (
                cluster.run(*words, master=f"{address}/;token={TOKEN};{parameters}", options=PARTITIONS),
                cluster.run(*words, "--force", master=f"{address}/;token={TOKEN}no;{parameters}", options={}),
                cluster.run(*words, "--force", master=f"{address}/;token={unquote(TOKEN)};{parameters}", options={}),
                cluster.run(*words, "--forced", f"--mastre={address}/;token={TOKEN};{parameters}", options={}),
            )
        ]
    finally:
        cluster.kill(server)
    assert [code for _, code in ended] == [0, 2, 2, 2], ended[0][0][1][-3_000:]
    assert "Spark could not finish" in ended[1][0][1]
    assert "is not written name=value" in ended[2][0][1]
    assert "There is no option '--forced'; did you mean '--force'?" in ended[3][0][1]
    require_same(output, disk, recipe, key)
    assert "fails:" not in capsys.readouterr().out
    assert not any(path.is_file() for path in shared.rglob("*"))
    written = [path for path in output.parent.rglob("*") if path.is_file()]
    assert {path.suffix for path in written} >= {".json", ".parquet", ".html"}
    told = [text.encode() for streams, _ in ended for text in streams]
    for content in [*told, *(path.read_bytes() for path in written)]:
        for secret in (TOKEN, unquote(TOKEN), HEADER):
            assert secret.encode() not in content


def test_the_release_is_that_of_the_disk_where_a_worker_is_killed(cluster, recipe, key, disk, tmp_path, capsys):
    shared, output = tmp_path / "shared", tmp_path / "spark.parquet"
    shared.mkdir()
    words = [str(recipe), "--output", str(output), "--workspace", str(shared), "--key-file", str(key), "--log-json"]
    run = cluster.run(*words)
    end = time.monotonic() + PATIENCE
    # The coded rows are there: from now on they are scanned, divided and finished.
    while not list(shared.glob("*/*/rows/_SUCCESS")):
        assert time.monotonic() < end
        assert run.poll() is None
        time.sleep(0.05)
    cluster.kill(cluster.workers.pop(0))
    said, told = run.communicate(timeout=4 * PATIENCE)
    assert run.returncode == 0, told[-3_000:]
    assert "8,000 rows in " in said
    assert "support pandas" not in told
    require_same(output, disk, recipe, key)
    assert "fails:" not in capsys.readouterr().out
    assert list(shared.iterdir()) == []


def test_what_is_no_cluster_is_said(recipe, tmp_path, capsys):
    for words, code, sentence in (
        (["--engine", "disk", "--master", "spark://h:1"], 2, "are for Spark; add --engine spark"),
        (["--engine", "spark", "--spark-option", "memory=4g"], 2, "--spark-option memory: write spark.name=value"),
        (["--engine", "spark", "--master", "http://h:1"], 2, "'http://h:1' is no master of Spark"),
        (["--engine", "spark", "--master", "sc://"], 2, "'sc://' names no server of Spark Connect"),
        (
            ["--engine", "spark", "--master", f"sc://127.0.0.1:{free_port()}"],
            2,
            "No server of Spark Connect answers at 127.0.0.1:",
        ),
    ):
        assert main(["run", str(recipe), "--output", str(tmp_path / "none.parquet"), *words]) == code
        assert sentence in capsys.readouterr().err
