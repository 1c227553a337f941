"""A PostgreSQL server that tests start on 127.0.0.1 and may end at any moment."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PROGRAMS = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)


class Server:
    """A server of its own, whose data lies in a folder that is removed at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._as_user: dict[str, object] = {}
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")  # the server refuses to run as root
            self._as_user = {"user": "postgres"}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._run("initdb", "-D", str(folder / "data"), "-A", "trust", "-U", "ann", "-E", "UTF8", "--no-sync")

    def address(self, database: str = "postgres", user: str = "ann:secret") -> str:
        """The address of a database, with a password that nothing may show."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder} -c fsync=off"
        self._control("-o", options, "-l", str(self.folder / "log"), "-w", "start")

    def kill(self) -> None:
        """End the server at once, as a loss of power would."""
        self._control("-m", "immediate", "stop")

    def _control(self, *words: str) -> None:
        self._run("pg_ctl", "-D", str(self.folder / "data"), *words)

    def _run(self, program: str, *words: str) -> None:
        assert PROGRAMS is not None
        subprocess.run(  # type: ignore[call-overload]
            [str(PROGRAMS / program), *words],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.folder,
            **self._as_user,
        )


@contextmanager
def running_server() -> Iterator[Server]:
    """A server that runs until the block ends; the test is skipped where there is no PostgreSQL or no driver."""
    pytest.importorskip(
        "adbc_driver_postgresql.dbapi", reason="adbc-driver-postgresql is not installed; the extra 'postgresql' has it"
    )
    if PROGRAMS is None:
        pytest.skip("there is no PostgreSQL server below /usr/lib/postgresql")
    # Not below pytest's own folder, which the server's user may not enter.
    folder = Path(tempfile.mkdtemp(prefix="anoncore-postgresql-"))
    try:
        server = Server(folder)
        server.start()
        try:
            yield server
        finally:
            server.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
