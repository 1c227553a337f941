"""The server ends at once when it is told to: no work is waited for, and nothing half-written stays."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from contextlib import suppress

from streamlit import runtime

from anoncore.base import temporary
from anoncore.kernels import compiled_code
from dashboard import jobs, warmup

GRACE_SECONDS = 0.5
"""How long cancelled work may take to clear up behind itself."""
EVERY_SECONDS = 0.1

_logger = logging.getLogger(__name__)
_started = threading.Lock()


def start() -> None:
    """End this process as soon as the server has stopped; only the first call in a process that serves pages counts."""
    if runtime.exists() and _started.acquire(blocking=False):
        threading.Thread(target=_watch, args=(runtime.get_instance(),), name="ending", daemon=True).start()


def _watch(served: runtime.Runtime) -> None:
    while not served.stopped.done():
        time.sleep(EVERY_SECONDS)
    clear_up()
    # Python would wait for threads that compute. The server's own work is over.
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)


def clear_up(grace_seconds: float = GRACE_SECONDS) -> None:
    """Cancel all work, end the processes beside this one, and remove what is half-written."""
    try:
        warmup.stop()
        jobs.cancel_all(grace_seconds)
        temporary.remove_all()
        with compiled_code.nothing_half_written():
            pass
    except Exception:
        _logger.exception("Not everything could be cleared up")
