"""The public tables beside the repository that some tests need: where they lie, and how a test says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from anoncore.datasets.public import data_folder

FOLDER = data_folder()


def absent(*names: str) -> str:
    """Why a test that needs these files cannot run, or nothing where all of them are there."""
    missing = next((name for name in names if not (FOLDER / name).exists()), None)
    return f"needs ../shared/data/{missing}, which is absent" if missing else ""


def needs(*names: str) -> pytest.MarkDecorator:
    """Skip a test where one of the files is absent."""
    return pytest.mark.skipif(bool(absent(*names)), reason=absent(*names) or "nothing is absent")


def require(*names: str) -> Path:
    """The path of the first file; skips the running test where one of them is absent."""
    if absent(*names):
        pytest.skip(absent(*names))
    return FOLDER / names[0]
