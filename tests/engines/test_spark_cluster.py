"""Rothko on a standalone cluster of Spark, a master and two workers on 127.0.0.1, also with a worker killed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from anoncore.cli import main
from anoncore.publishing import Certificate

from .large_tables import ROLES, people, published

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed; the extra 'spark' brings it")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java, which is not installed", allow_module_level=True)

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
HOME = Path(pyspark.__file__).parent
PATIENCE = 120


class Cluster:
    """A master and its workers, each a process group that can be killed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.master = f"spark://127.0.0.1:{port}"
        self.environment = {
            **os.environ,
            "SPARK_HOME": str(HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        }
        self.processes = [self._start("master", "master.Master", "--host", "127.0.0.1", "--port", str(port))]
        self._until("master", "New state: ALIVE")
        self.workers = [self._worker(f"worker-{number}") for number in range(2)]

    def _worker(self, name: str) -> subprocess.Popen[bytes]:
        own = ("--cores", "1", "--memory", "1g", "--host", "127.0.0.1", "--work-dir", str(self.folder / name))
        process = self._start(name, "worker.Worker", *own, self.master)
        self.processes.append(process)
        self._until(name, "Successfully registered with master")
        return process

    def _start(self, name: str, program: str, *words: str) -> subprocess.Popen[bytes]:
        command = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{program}", "--webui-port", "0", *words]
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                command, env=self.environment, stdout=log, stderr=log, cwd=self.folder, start_new_session=True
            )

    def _until(self, name: str, words: str) -> None:
        end = time.monotonic() + PATIENCE
        while words not in (self.folder / f"{name}.log").read_text(errors="replace"):
            assert time.monotonic() < end, (self.folder / f"{name}.log").read_text(errors="replace")[-2_000:]
            time.sleep(0.2)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """End a process and those that it started, at once."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def run(self, *words: str) -> subprocess.Popen[str]:
        """Begin `anoncore run` on the cluster."""
        options = {
            "spark.ui.enabled": "false",
            "spark.executor.memory": "512m",
            "spark.executorEnv.PYTHONPATH": str(ROOT),
            "spark.sql.shuffle.partitions": "4",
            "spark.driver.host": "127.0.0.1",
        }
        given = [word for name, value in options.items() for word in ("--spark-option", f"{name}={value}")]
        command = [sys.executable, "-m", "anoncore", "run", "--engine", "spark", "--master", self.master, *given]
        return subprocess.Popen(
            [*command, *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    folder = tmp_path / "cluster"
    folder.mkdir()
    found = None
    try:
        found = Cluster(folder)
        yield found
    finally:
        for process in reversed(found.processes if found is not None else []):
            found.kill(process)


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    frame = people(20_000)
    # Spark has no nanoseconds.
    frame["since"] = frame["since"].astype("datetime64[us]")
    frame.to_parquet(tmp_path / "people.parquet", index=False, row_group_size=5_000)
    roles = "\n".join(f'{name} = "{role}"' for name, role in ROLES.items())
    path = tmp_path / "people.toml"
    path.write_text(
        f'[source]\npath = "people.parquet"\n[roles]\n{roles}\n[algorithm]\nname = "rothko-tree"\nmemory_rows = 3_000\n'
        'requirements = [{name = "k-anonymity", k = 20}, {name = "t-closeness", t = 0.7}]\n',
        encoding="utf-8",
    )
    return path


def stated(folder: Path) -> tuple[object, ...]:
    """What a certificate states of a release, whatever its files are."""
    found = Certificate.load(folder / "_certificate.json")
    (table,) = found.tables
    groups = (table.columns, table.rows, table.groups, table.group_sizes)
    return found.method, found.input, found.attributes, groups, found.requirements, found.people, found.not_asked


@pytest.mark.parametrize("is_killed", [False, True])
def test_the_release_is_that_of_the_disk_also_where_a_worker_is_killed(cluster, recipe, tmp_path, capsys, is_killed):
    key = tmp_path / "key"
    disk = tmp_path / "disk.parquet"
    assert main(["run", str(recipe), "--engine", "disk", "--output", str(disk), "--key-file", str(key)]) == 0
    shared, output = tmp_path / "shared", tmp_path / "spark.parquet"
    shared.mkdir()
    run = cluster.run(
        str(recipe), "--output", str(output), "--workspace", str(shared), "--key-file", str(key), "--log-json"
    )
    if is_killed:
        end = time.monotonic() + PATIENCE
        # The coded rows are there: from now on they are scanned, divided and finished.
        while not list(shared.glob("*/*/rows/_SUCCESS")):
            assert time.monotonic() < end
            assert run.poll() is None
            time.sleep(0.05)
        cluster.kill(cluster.workers[0])
    said, told = run.communicate(timeout=4 * PATIENCE)
    assert run.returncode == 0, told[-3_000:]
    assert "20,000 rows in " in said
    assert "support pandas" not in told
    assert published(output) == published(disk)
    assert stated(output) == stated(disk)
    assert main(["verify", str(output), "--recipe", str(recipe), "--key-file", str(key)]) == 0
    assert "0 fail, 0 could not be made" in capsys.readouterr().out
    assert list(shared.iterdir()) == []


def test_what_is_no_cluster_is_said(recipe, tmp_path, capsys):
    for words, code, sentence in (
        (["--engine", "disk", "--master", "spark://h:1"], 2, "are for Spark; add --engine spark"),
        (["--engine", "spark", "--spark-option", "memory=4g"], 2, "--spark-option memory: write spark.name=value"),
        (["--engine", "spark", "--master", "http://h:1"], 2, "'http://h:1' is no master of Spark"),
    ):
        assert main(["run", str(recipe), "--output", str(tmp_path / "none.parquet"), *words]) == code
        assert sentence in capsys.readouterr().err
