"""Whether the page may read and write files where the program runs, and paths as visitors write them."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from anoncore import DataError
from anoncore.sources.addresses import is_address, is_database, kept_address, shown_address

ADDRESSES = ("127.0.0.1", "localhost", "::1")


def is_served_alone() -> bool:
    """Whether the server answers its own machine alone."""
    return st.get_option("server.address") in ADDRESSES


NOT_ALONE = (
    "Paths of this machine and addresses such as s3:// and postgresql:// are read only where the program serves its "
    "own machine alone: it would read them with its own rights, for whoever visits."
)


def whole_place(text: str) -> Path | str:
    """The path or the address that a visitor wrote.

    Raises DataError where the page may read neither, for a password, and for a path that does not start at the top.
    """
    written = text.strip().strip("\"'")
    if not is_served_alone():
        raise DataError(NOT_ALONE)
    if not is_address(written):
        return whole_path(written)
    if is_database(written) and kept_address(written) != written:
        raise DataError(
            f"Leave the password out of the address of '{shown_address(written)}': a page shows what is typed. Give it "
            "as PGPASSWORD to the program, or in ~/.pgpass."
        )
    return written


def whole_path(text: str) -> Path:
    """The path that a visitor wrote. Raises DataError for one that does not start at the top, and for an address."""
    written = text.strip().strip("\"'")
    if is_address(written):
        raise DataError(f"'{shown_address(written)}' is an address; name a folder of this machine here.")
    try:
        path = Path(written).expanduser()
    except RuntimeError:
        path = Path(written)
    if not written or "\0" in written or not path.is_absolute():
        raise DataError("Write the whole path, such as /home/me/people.parquet.")
    return path
