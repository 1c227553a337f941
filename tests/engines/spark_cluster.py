"""A standalone cluster of Spark on 127.0.0.1: a master, workers that can be killed, and a server of Spark Connect."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from anoncore.publishing import Certificate

ROOT = Path(__file__).parents[2]
PATIENCE = 120
"""Seconds until a process has to have said that it is ready."""
OPTIONS = {
    "spark.ui.enabled": "false",
    "spark.executor.memory": "512m",
    "spark.executorEnv.PYTHONPATH": str(ROOT),
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
}
"""Options of Spark for small tables on a small machine."""


def spark_home() -> Path:
    """Where the package pyspark has Spark itself."""
    import pyspark

    return Path(pyspark.__file__).parent


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Cluster:
    """A master and its workers of one processor each, every one a process group that can be killed.

    What they say goes to files of `folder`. `close` ends all of them.
    """

    def __init__(self, folder: Path, workers: int = 2, worker_memory: str = "1g") -> None:
        self.folder, self._worker_memory = folder, worker_memory
        self.processes: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        port = free_port()
        self.master = f"spark://127.0.0.1:{port}"
        self.environment = {
            **os.environ,
            "SPARK_HOME": str(spark_home()),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        }
        try:
            self._start("master", "master.Master", "--host", "127.0.0.1", "--port", str(port))
            self._until("master", "New state: ALIVE")
            for _ in range(workers):
                self.add_worker()
        except BaseException:
            self.close()
            raise

    def add_worker(self) -> None:
        """Start one more worker."""
        name = f"worker-{len(self.workers)}"
        own = ("--cores", "1", "--memory", self._worker_memory, "--host", "127.0.0.1")
        own += ("--work-dir", str(self.folder / name))
        self.workers.append(self._start(name, "worker.Worker", *own, self.master))
        self._until(name, "Successfully registered with master")

    def connect(self, token: str = "") -> str:
        """Start a server of Spark Connect, which does the work itself; gives its address without the token.

        With a token, only those who have it are answered. Without TLS, Spark sends a token to `localhost` alone.
        """
        port = free_port()
        given = {
            **OPTIONS,
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port),
        }
        if token:
            given["spark.connect.authenticate.token"] = token
        words = [word for name, value in given.items() for word in ("--conf", f"{name}={value}")]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        submit = str(spark_home() / "bin" / "spark-submit")
        self._process("connect", submit, "--class", server, "--master", "local[2]", *words)
        self._until("connect", "Spark Connect server started")
        return f"sc://{'localhost' if token else '127.0.0.1'}:{port}"

    def _start(self, name: str, program: str, *words: str) -> subprocess.Popen[bytes]:
        spark_class = str(spark_home() / "bin" / "spark-class")
        return self._process(name, spark_class, f"org.apache.spark.deploy.{program}", "--webui-port", "0", *words)

    def _process(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                command, env=self.environment, stdout=log, stderr=log, cwd=self.folder, start_new_session=True
            )
        self.processes.append(process)
        return process

    def _until(self, name: str, words: str) -> None:
        end = time.monotonic() + PATIENCE
        while words not in (said := (self.folder / f"{name}.log").read_text(errors="replace")):
            assert self.processes[-1].poll() is None, said[-4_000:]
            assert time.monotonic() < end, said[-4_000:]
            time.sleep(0.2)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """End a process and those that it started, at once."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        """End everything that was started, the last first."""
        for process in reversed(self.processes):
            self.kill(process)

    def run(
        self, *words: str, master: str | None = None, options: Mapping[str, str] = OPTIONS
    ) -> subprocess.Popen[str]:
        """Begin `anoncore run` on the cluster, or at the address of a server of Spark Connect."""
        given = [word for name, value in options.items() for word in ("--spark-option", f"{name}={value}")]
        command = [sys.executable, "-m", "anoncore", "run", "--engine", "spark", "--master", master or self.master]
        return subprocess.Popen(
            [*command, *given, *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )


def stated(folder: Path) -> tuple[object, ...]:
    """What a certificate states of a release, whatever its files are."""
    found = Certificate.load(folder / "_certificate.json")
    (table,) = found.tables
    groups = (table.columns, table.rows, table.groups, table.group_sizes)
    shown = (found.requirements, found.people, found.not_asked, found.decided, found.not_checked)
    return found.method, found.input, found.attributes, groups, shown
