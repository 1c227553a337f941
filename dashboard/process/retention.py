"""Workspaces end some time after their last visitor left, and their memory goes back to the system.

Whoever reloads, loses the connection or comes back in time finds everything as it was.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from contextlib import suppress

from streamlit import runtime

from dashboard.serving import quotas, settings
from dashboard.session import compute, state

VARIABLE = "ANONCORE_KEEP_MINUTES"
"""Environment variable with another number of minutes than the settings say."""
EVERY_SECONDS = 15.0

_logger = logging.getLogger(__name__)
_started = threading.Lock()


def start() -> None:
    """Watch from now on; only the first call in a process that serves pages does anything."""
    if runtime.exists() and _started.acquire(blocking=False):
        threading.Thread(target=_watch, name="retention", daemon=True).start()
        if settings.current().workspaces.folder:
            threading.Thread(target=_keep, name="keeping", daemon=True).start()


def keep_seconds() -> float:
    """How long a workspace outlives its last visitor."""
    minutes = settings.current().workspaces.keep_minutes
    with suppress(ValueError):
        return max(float(os.environ.get(VARIABLE, minutes)) * 60, 0.0)
    return minutes * 60


def _keep() -> None:
    """Write changed workspaces every few seconds."""
    while runtime.exists():
        time.sleep(settings.current().workspaces.save_seconds)
        try:
            state.keep_all()
        except Exception:
            _logger.exception("Workspaces could not be kept")


def _watch() -> None:
    while runtime.exists():
        time.sleep(min(EVERY_SECONDS, max(keep_seconds(), 1.0)))
        try:
            compute.leave(runtime.get_instance().is_active_session)
            if state.let_go(runtime.get_instance().is_active_session, keep_seconds()):
                quotas.give_back()
            if settings.current().workspaces.folder:
                from dashboard.session import keeping

                keeping.sweep(max(keep_seconds(), 2 * EVERY_SECONDS))
        except Exception:
            _logger.exception("Workspaces could not be looked through")
