"""How the server is, for a monitor: /metrics in the text format of Prometheus, and /health, on a port of their own.

They are not on the port of the page, so that a web server in front shows them to nobody by mistake.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from anoncore import ParameterError
from anoncore.base.memory import resident_memory
from anoncore.base.version import __version__
from dashboard.serving import settings
from dashboard.serving.audit import counted

TEXT = "text/plain; version=0.0.4; charset=utf-8"
_begun = time.time()


def start() -> ThreadingHTTPServer | None:
    """Answer monitors from now on, where a port for them is set. Raises ParameterError where it cannot be had."""
    found = settings.current().metrics
    if not found.port:
        return None
    try:
        server = ThreadingHTTPServer((found.address, found.port), _Handler)
    except OSError as error:
        raise ParameterError(
            f"metrics.port is {found.port}, which cannot be listened on at {found.address} ({error.strerror}); choose "
            "another one."
        ) from None
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server


class _Handler(BaseHTTPRequestHandler):
    timeout = 10

    def do_GET(self) -> None:
        """Answer one of the two questions."""
        if not self._is_asked_by_name():
            self._answer(421, "This server is not asked for under that name.\n", "text/plain; charset=utf-8")
        elif self.path == "/metrics":
            self._answer(200, text(), TEXT)
        elif self.path == "/health":
            problem = problem_now()
            self._answer(503 if problem else 200, f"{problem or 'ok'}\n", "text/plain; charset=utf-8")
        else:
            self._answer(404, "There are /metrics and /health.\n", "text/plain; charset=utf-8")

    def _is_asked_by_name(self) -> bool:
        """Whether the request names this machine, where only this machine may ask: pages of other sites do not."""
        if settings.current().metrics.address not in settings.LOCAL_HOSTS:
            return True
        try:
            return urlsplit(f"//{self.headers.get('Host', '')}").hostname in settings.LOCAL_HOSTS
        except ValueError:
            return False

    def _answer(self, status: int, text: str, kind: str) -> None:
        body = text.encode()
        with suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Keep questions out of the log of the server."""


def problem_now() -> str:
    """What keeps the server from serving, in a sentence; empty where nothing does."""
    from streamlit import runtime

    if not runtime.exists():
        return "The server is starting."
    found = settings.current()
    if found.workspaces.folder and not os.access(found.workspaces.folder, os.W_OK):
        return "Workspaces cannot be kept: the folder for them cannot be written to."
    if found.audit.file and os.path.exists(found.audit.file) and not os.access(found.audit.file, os.W_OK):
        return "What is done cannot be recorded: the file for it cannot be written to."
    return ""


def text() -> str:
    """All figures."""
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    from streamlit import runtime

    from dashboard.session import state
    from dashboard.tasks import jobs

    limit = settings.current().quotas.memory_megabytes << 20
    is_there = runtime.get_instance().is_active_session if runtime.exists() else lambda _session: False
    n_visitors, n_workspaces, n_bytes = state.figures(is_there)
    yield from _figure("anoncore_info", "gauge", "The version of the program.", 1, f'{{version="{__version__}"}}')
    yield from _figure("anoncore_start_time_seconds", "gauge", "When the server started, since 1970.", _begun)
    yield from _figure("anoncore_visitors", "gauge", "Browser sessions that are connected.", n_visitors)
    yield from _figure("anoncore_workspaces", "gauge", "Workspaces in memory.", n_workspaces)
    yield from _figure("anoncore_tables_bytes", "gauge", "Memory of the loaded tables and codes.", n_bytes)
    yield from _figure("anoncore_memory_bytes", "gauge", "Memory that the process takes.", resident_memory() or 0)
    yield from _figure("anoncore_memory_limit_bytes", "gauge", "Memory that it may take; 0: not limited.", limit)
    running, waiting = jobs.load()
    yield from _figure("anoncore_jobs_running", "gauge", "Computations that run.", running)
    yield from _figure("anoncore_jobs_waiting", "gauge", "Computations that wait for their turn.", waiting)
    found = counted()
    for name, about in COUNTED.items():
        yield f"# HELP anoncore_{name}_total {about}"
        yield f"# TYPE anoncore_{name}_total counter"
        labels = {label: n for (what, label), n in found.items() if what == name} or {"": 0}
        for label, n in sorted(labels.items()):
            yield f'anoncore_{name}_total{{kind="{label}"}} {n}' if label else f"anoncore_{name}_total {n}"


COUNTED = {
    "jobs": "Computations that ended, by how.",
    "refused": "What was refused because of a quota, by which.",
    "records": "What was done, by what.",
}
"""What is counted since the start."""


def _figure(name: str, kind: str, about: str, value: float, labels: str = "") -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
    yield f"{name}{labels} {value:.10g}" if isinstance(value, float) else f"{name}{labels} {value}"
