"""The first page imports what it needs, and nothing that takes long and only others need."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.dashboard import browser

LATER = ("scipy.stats", "scipy.sparse", "sklearn", "openpyxl", "duckdb", "anoncore.publishing")
"""What takes a good part of a second each to import."""


def test_the_command_starts_without_any_library_for_tables() -> None:
    script = (
        "import anoncore.cli, sys\nprint(*[name for name in ('numpy', 'pandas', 'pyarrow') if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(browser.ROOT)}
    told = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.split() == []


@pytest.mark.slow
@pytest.mark.parametrize("modules", ["anoncore.algorithms", "dashboard.elements.routes, dashboard.views.board"])
def test_what_takes_long_is_imported_where_it_is_used(modules: str) -> None:
    script = f"import {modules}\nimport sys\nprint(*[name for name in {LATER!r} if name in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": str(browser.ROOT)}
    told = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.split() == []


@pytest.mark.slow
def test_nothing_is_compiled_before_it_is_needed(tmp_path) -> None:
    script = f"""
from numba.core import event
class Here(event.Listener):
    def on_start(self, event):
        print("compiled")
    def on_end(self, event):
        pass
event.register("numba:compile", Here())
from streamlit.testing.v1 import AppTest
from dashboard.tasks import warmup
from dashboard.serving import own_token
warmup.start = lambda: None
own_token.is_checked = lambda: True
at = AppTest.from_file({str(browser.ROOT / "dashboard" / "app.py")!r}, default_timeout=120).run()
print("errors", len(at.exception), "titles", len(at.title))
"""
    environment = {**os.environ, "PYTHONPATH": str(browser.ROOT), "NUMBA_CACHE_DIR": str(tmp_path)}
    told = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.split("\n")[:-1] == ["errors 0 titles 1"]
