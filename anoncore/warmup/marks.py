"""Which tasks are done on this machine for these sources: an empty file for each beside the compiled code."""

from __future__ import annotations

import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

from anoncore.kernels.compiled_code import folder_of_all

EVERYTHING = "everything"
"""The name of what is done when all tasks are, so that nobody needs their list to know."""


def is_done(name: str) -> bool:
    """Whether the task of that name was done."""
    return _mark(name).is_file()


def set_done(name: str) -> None:
    """Remember that the task was done."""
    _folder().mkdir(exist_ok=True)
    _mark(name).touch()


def _mark(name: str) -> Path:
    return _folder() / name


@cache
def _folder() -> Path:
    """One folder for each version of Python and of the compiler, which share nothing."""
    return folder_of_all() / f"done-{sys.version_info.major}.{sys.version_info.minor}-{version('numba')}"
