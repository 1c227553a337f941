"""The dashboard as it is run for others: with settings, a provider for the sign-in, and nginx in front, all local."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from tests.dashboard import browser
from tests.dashboard.browser import ROOT, Visitor

COOKIE_SECRET = "c" * 40
KEY = base64.b64encode(bytes(range(32))).decode()
NGINX = shutil.which("nginx") or "/usr/sbin/nginx"
DOMAIN = "office.example"
PAGE = ROOT / "docs" / "pages" / "how-to" / "serve.md"


def require(*packages: str) -> None:
    """Skip a test for which packages are missing; .ci/run, which installs them, does not take that."""
    missing = [name for name in packages if find_spec(name) is None]
    _skip(f"{', '.join(missing)} not installed; the extra 'serving' brings it" if missing else "")


def require_nginx() -> None:
    """Skip a test where there is no nginx."""
    _skip("" if Path(NGINX).exists() else "there is no nginx; Debian's package nginx-light brings it")


def _skip(reason: str) -> None:
    if reason and os.environ.get("ANONCORE_REQUIRE_SERVING"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


@contextmanager
def provider(*people: str) -> Iterator[str]:
    """A provider of the sign-in on 127.0.0.1 that knows these people of DOMAIN; gives the address of its metadata.

    Whoever has `doubtful` in their name has an address that the provider does not vouch for; `ann` is an analyst.
    """
    port = browser._free_port()
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)]
    for name in people:
        claims = {
            "sub": name,
            "email": f"{name}@{DOMAIN}",
            "email_verified": "doubtful" not in name,
            "groups": ["analysts"] if name == "ann" else [],
        }
        command += ["--user-claims", json.dumps(claims)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/.well-known/openid-configuration"
    try:
        _wait_for(address, b'"issuer"')
        yield address
    finally:
        process.terminate()
        process.wait(10)


class Served:
    """A server by settings, which can be ended and started again; use it as a context."""

    def __init__(self, folder: Path, settings: Mapping[str, Mapping[str, Any]], **variables: str) -> None:
        self.folder, self.variables = folder, variables
        sections = {section: dict(entries) for section, entries in settings.items()}
        server = sections.setdefault("server", {})
        self.port = server.setdefault("port", browser._free_port())
        self.base = f"/{server['base_path']}" if server.get("base_path") else ""
        self.address = f"http://127.0.0.1:{self.port}{self.base}"
        self.config = folder / "anoncore.toml"
        self.config.write_text(tomli_w.dumps(sections), encoding="utf-8")
        self.process: subprocess.Popen[bytes] | None = None
        self.log = folder / "server.log"

    def command(self, *options: str) -> list[str]:
        """The command that serves."""
        run = "import sys; from anoncore.cli import main; sys.exit(main(sys.argv[1:]))"
        return [sys.executable, "-c", run, "dashboard", "--config", str(self.config), *options]

    def start(self) -> None:
        """Start the server and wait until it answers."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(),
                cwd=ROOT,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": str(ROOT), "ANONCORE_SERVER_TOKEN": browser.TOKEN, **self.variables},
            )
        try:
            browser._wait_until_healthy(self.address, self.process, 60)
        except RuntimeError as error:
            raise RuntimeError(f"{error} {self.log.read_text('utf-8', 'replace')[-2000:]}") from None

    def stop(self, how: int = signal.SIGTERM, seconds: float = 20) -> None:
        """End the server, as the system does, and wait for its end."""
        process, self.process = self.process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            os.kill(process.pid, how)
        try:
            process.wait(seconds)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    @property
    def pid(self) -> int:
        """The process of the server."""
        assert self.process is not None, "it has been started"
        return self.process.pid

    def __enter__(self) -> Served:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def sign_in_settings(metadata: str, public_url: str, **rights: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The sections for a sign-in with these rights."""
    return {
        "sign_in": {"metadata_url": metadata, "client_id": "anoncore"},
        "rights": {name: list(entries) for name, entries in rights.items()},
        "server": {"public_url": public_url},
    }


SECRETS = {"ANONCORE_SIGN_IN_CLIENT_SECRET": "provider-secret", "ANONCORE_SIGN_IN_COOKIE_SECRET": COOKIE_SECRET}


@contextmanager
def nginx(folder: Path, behind: int, base_path: str, port: int) -> Iterator[str]:
    """The address of nginx before the server at the port `behind`, by the file that the documentation shows."""
    site = PAGE.read_text("utf-8").split('conf.d/anoncore.conf"\n', 1)[1].split("```")[0]
    for documented, here in (
        ("listen 443 ssl;", f"listen 127.0.0.1:{port};"),
        ("office.example.org", "127.0.0.1"),
        ("127.0.0.1:8501", f"127.0.0.1:{behind}"),
        ("/anoncore/", f"/{base_path}/"),
    ):
        assert documented in site, documented
        site = site.replace(documented, here)
    # The browser here speaks http, so the certificate and what asks for https go.
    lines = [line for line in site.splitlines() if "ssl_certificate" not in line and "proxy_cookie_flags" not in line]
    places = "".join(
        f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    # Its workers write large requests into the folder, which belongs to the user of the test.
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user}\ndaemon off;\npid {folder}/nginx.pid;\nerror_log {folder}/nginx-error.log;\nworker_processes 1;\n"
        "events { worker_connections 512; }\n"
        f"http {{\naccess_log off;\n{places}" + "\n".join(lines) + "\n}\n",
        encoding="utf-8",
    )
    process = subprocess.Popen(
        [NGINX, "-c", str(folder / "nginx.conf"), "-p", str(folder), "-e", str(folder / "start.log")]
    )
    address = f"http://127.0.0.1:{port}/{base_path}"
    try:
        _wait_for(f"{address}/_stcore/health", b"ok")
        yield address
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(address: str, wanted: bytes, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(OSError), urllib.request.urlopen(address, timeout=2) as answer:
            if wanted in answer.read():
                return
        time.sleep(0.1)
    raise RuntimeError(f"Nothing answers at {address}.")


def sign_in(visitor: Visitor, name: str, path: str = "") -> None:
    """Sign in as one of the provider's people."""
    visitor.page.goto(f"{visitor.address}/{path}")
    visitor.page.get_by_role("button", name="Sign in", exact=True).click(timeout=30_000)
    visitor.page.get_by_role("button", name=name, exact=True).click(timeout=30_000)
    visitor.page.wait_for_selector("h1", timeout=60_000)
    visitor.settle()
    # The pages of the provider fetch their style from elsewhere.
    visitor.foreign.clear()
