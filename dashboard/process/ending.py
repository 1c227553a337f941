"""The server ends at once when it is told to: no work is waited for, and nothing half-written stays."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time
from contextlib import suppress

from streamlit import runtime

from anoncore.base import temporary
from anoncore.kernels import compiled_code
from dashboard.tasks import jobs, warmup

GRACE_SECONDS = 0.5
"""How long cancelled work may take to clear up behind itself."""
EVERY_SECONDS = 0.1

_logger = logging.getLogger(__name__)
_started = threading.Lock()


def start() -> None:
    """End this process as soon as its server has stopped; further calls do nothing, nor does one without a server."""
    if _server() is not None and not _started.locked():
        threading.Thread(target=watch, name="ending", daemon=True).start()


def watch() -> None:
    """Wait until the server of this process, which may be yet to come, has stopped; then end the process."""
    if not _started.acquire(blocking=False):
        return
    while not _has_stopped(_server()):
        time.sleep(EVERY_SECONDS)
    clear_up()
    # Python would wait for threads that compute. The server's own work is over.
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)


def _server() -> runtime.Runtime | None:
    """The server of this process; tests of pages put something else in its place."""
    found = runtime.get_instance() if runtime.exists() else None
    return found if isinstance(found, runtime.Runtime) else None


def _has_stopped(server: runtime.Runtime | None) -> bool:
    # A server that has not started yet cannot tell.
    with suppress(RuntimeError):
        return server is not None and asyncio.isfuture(server.stopped) and server.stopped.done()
    return False


def clear_up(grace_seconds: float = GRACE_SECONDS) -> None:
    """Cancel all work, end the processes beside this one, and remove what is half-written."""
    try:
        warmup.stop()
        jobs.cancel_all(grace_seconds)
        # Before the first visitor there is nothing to keep, and importing it would take long.
        state = sys.modules.get("dashboard.session.state")
        if state is not None:
            state.keep_all()
        temporary.remove_all()
        with compiled_code.nothing_half_written():
            pass
    except Exception:
        _logger.exception("Not everything could be cleared up")
