"""What goes wrong while large files are read and written, each as one sentence."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import disk_usage

import pyarrow as pa

from anoncore.base.errors import AnonymizationError, DataError

FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
FULL_TEXTS = ("no space left", "file too large", "disk quota", "disk is full", "out of disk")

LESS_MEMORY = (
    "Leave out columns that have another value in nearly every row, or tag them as identifiers, and run again. Nothing "
    "was published."
)
"""What helps where the values of a large table do not fit into the memory that DuckDB keeps to."""


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Say in a DataError that `what` cannot be read, or that there is no space for its temporary files."""
    try:
        yield
    except AnonymizationError:
        raise
    except _faults(UnicodeError) as error:
        if _is_full(error):
            raise DataError(
                f"The disk is full of temporary files of '{what}'; free some space, or choose another folder for them "
                "(--workspace), and run again. Nothing was published."
            ) from None
        if _is_out_of_memory(error):
            raise DataError(
                f"What is asked of '{what}' takes more memory than is set aside for it; the file itself is not at "
                f"fault. {LESS_MEMORY}"
            ) from None
        raise DataError(f"'{what}' cannot be read: {_first_line(error)}") from None


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Say in a DataError that there is no space in `folder`, or why it cannot be written."""
    try:
        yield
    except AnonymizationError:
        raise
    except _faults() as error:
        if _is_full(error):
            raise DataError(
                f"The disk of '{folder}' is full; free some space, or choose another folder for the temporary files "
                "(--workspace) or the release (--output), and run again. Nothing was published."
            ) from None
        if _is_out_of_memory(error):
            raise DataError(
                f"What is written to '{folder}' takes more memory than is set aside for it. {LESS_MEMORY}"
            ) from None
        raise DataError(f"'{folder}' cannot be written: {_first_line(error)}") from None


def require_space(folder: Path, needed: int) -> None:
    """Raise DataError if fewer than `needed` bytes are free on the folder's disk."""
    free = disk_usage(folder).free
    if free < needed:
        raise DataError(
            f"The run needs about {needed / 1e9:.1f} GB on the disk of '{folder}', where {free / 1e9:.1f} GB are free; "
            "free some space, or choose another folder for the temporary files (--workspace)."
        )


def _faults(*others: type[Exception]) -> tuple[type[Exception], ...]:
    # DuckDB takes long to import, and is loaded already where one of its errors is raised.
    import duckdb

    return OSError, pa.ArrowException, duckdb.Error, *others


def _is_out_of_memory(error: Exception) -> bool:
    import duckdb

    return isinstance(error, duckdb.OutOfMemoryException)


def _is_full(error: Exception) -> bool:
    return getattr(error, "errno", None) in FULL or any(text in str(error).lower() for text in FULL_TEXTS)


def _first_line(error: Exception) -> str:
    text = (getattr(error, "strerror", None) or str(error)).strip().splitlines() or ["unknown reason"]
    line = text[0].rstrip(". ")
    return f"{line[:1].lower()}{line[1:300]}."
