"""Packages hidden for one test, as if they were not installed."""

from __future__ import annotations

import sys

import pytest


def hide(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """Let every import of these packages fail, of parts that are loaded already, too."""
    loaded = [name for name in sys.modules if name.partition(".")[0] in packages]
    for name in {*packages, *loaded}:
        monkeypatch.setitem(sys.modules, name, None)
