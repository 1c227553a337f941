"""Files that are written whole or not at all, and several of them all or none."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from anoncore.base.errors import DataError


def replace_file(path: Path, content: bytes) -> None:
    """Write a file whole, or leave the one that is there as it is. Raises DataError where it cannot be written."""
    replace_files({path: content}, make_folders=False)


def replace_files(
    contents: Mapping[Path, bytes | Iterable[bytes]], private: Collection[Path] = (), make_folders: bool = True
) -> None:
    """Write files that belong together, all of them or none; a large one may be given piece by piece.

    They are written beside their places and then put there in their order. Where that fails, earlier files of these
    names stay what they were, and nothing new is left, folders included. Files in `private` are made for their owner's
    eyes alone. Raises DataError where a file cannot be written.
    """
    mark = secrets.token_hex(4)
    beside = {path: path.with_name(f".{path.name}.{mark}.part") for path in contents}
    earlier = {path: path.with_name(f".{path.name}.{mark}.old") for path in contents}
    *first, last = contents
    folders: list[Path] = []
    replaced: list[Path] = []
    current = last
    try:
        for current, content in contents.items():
            folders += _made_folders(current.parent) if make_folders else []
            rights = 0o600 if current in private else 0o666
            with open(os.open(beside[current], os.O_WRONLY | os.O_CREAT | os.O_EXCL, rights), "wb") as file:
                file.writelines([content] if isinstance(content, bytes) else content)
        for current in first:
            if current.is_file():
                _linked(current, earlier[current])
            os.replace(beside[current], current)
            replaced.append(current)
        current = last
        os.replace(beside[last], last)
        folders = []
    except BaseException as error:
        for path in reversed(replaced):
            with suppress(OSError):
                os.replace(earlier[path], path) if earlier[path].exists() else path.unlink()
        if not isinstance(error, OSError):
            raise
        reason = (error.strerror or "unknown reason").lower()
        raise DataError(f"'{current.name}' cannot be written: {reason}; choose another folder or name.") from None
    finally:
        for path in (*beside.values(), *earlier.values()):
            with suppress(OSError):
                path.unlink(missing_ok=True)
        for folder in reversed(folders):
            with suppress(OSError):
                folder.rmdir()


def _linked(path: Path, other: Path) -> None:
    """Give a file a second name; a copy where the disk knows no second names."""
    try:
        os.link(path, other)
    except OSError:
        shutil.copy2(path, other)


def _made_folders(folder: Path) -> list[Path]:
    """Make a folder with those above it; returns those that were not there, the outermost first."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()][::-1]
    folder.mkdir(parents=True, exist_ok=True)
    return missing
