"""A folder that is there when it is complete, and not before."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from anoncore.base.errors import DataError
from anoncore.base.faults import writing
from anoncore.base.temporary import nothing_removed, removed_at_end

try:
    import fcntl
except ImportError:  # not on Windows, where what a killed run left stays until somebody removes it
    fcntl = None  # type: ignore[assignment]

LOCK = "lock"

SUMMARY = "_release.json"
"""What a run writes beside the parts of a release: how they were made, and how many rows and groups they have."""


def summary_text(summary: dict[str, Any]) -> str:
    """The content of that file, in which nothing but what it says tells anything."""
    return json.dumps(summary, indent=2) + "\n"


@contextmanager
def folder_when_complete(target: Path, replace: bool = False) -> Iterator[Path]:
    """A folder to write to that becomes `target` when the block ends without an error, and vanishes if it fails.

    Until then it has a hidden name beside `target`. What runs that were killed left there is removed first. Raises
    DataError where `target` exists, unless it is to be replaced.
    """
    with writing(target.parent):
        _put_back(target)
    if target.exists() and not replace:
        raise DataError(f"'{target}' exists; choose another name.")
    with writing(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(target.parent, target.name) as hidden:
            parts = hidden / "parts"
            parts.mkdir()
            yield parts
            old = hidden / "old"
            with nothing_removed():
                if target.exists():
                    os.replace(target, old)
                try:
                    os.replace(parts, target)
                except BaseException:
                    if old.exists():
                        os.replace(old, target)
                    raise


def _put_back(target: Path) -> None:
    """What a run was about to replace when it was killed in between."""
    for stale in target.parent.glob(f".{target.name}.*.part"):
        if not target.exists() and (stale / "old").exists() and _is_abandoned(stale):
            os.replace(stale / "old", target)


@contextmanager
def temporary_folder(parent: Path, name: str) -> Iterator[Path]:
    """A hidden folder that is removed at the end, together with those of the same name whose runs were killed."""
    parent.mkdir(parents=True, exist_ok=True)
    for stale in parent.glob(f".{name}.*.part"):
        if _is_abandoned(stale):
            shutil.rmtree(stale, ignore_errors=True)
    folder = parent / f".{name}.{secrets.token_hex(4)}.part"
    folder.mkdir(mode=0o700)  # it holds rows as they were
    lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR)
    with removed_at_end(folder):
        try:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder
        finally:
            os.close(lock)


def _is_abandoned(folder: Path) -> bool:
    """Whether no process holds the folder's lock."""
    if fcntl is None:
        return False
    try:
        lock = os.open(folder / LOCK, os.O_RDWR)
    except OSError:
        return True
    try:
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False
    finally:
        os.close(lock)
