"""Whether the page may read and write files where the program runs, and paths as visitors write them."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from anoncore import DataError
from anoncore.sources.addresses import is_address, shown_address

ADDRESSES = ("127.0.0.1", "localhost", "::1")


def is_served_alone() -> bool:
    """Whether the server answers its own machine alone."""
    return st.get_option("server.address") in ADDRESSES


def whole_path(text: str) -> Path:
    """The path that a visitor wrote. Raises DataError for one that does not start at the top."""
    written = text.strip().strip("\"'")
    if is_address(written):
        raise DataError(
            f"'{shown_address(written)}' is an address, and this page reads paths of this machine. Name the address as "
            "source.path of a recipe, and run it with `anoncore run`."
        )
    try:
        path = Path(written).expanduser()
    except RuntimeError:
        path = Path(written)
    if not written or "\0" in written or not path.is_absolute():
        raise DataError("Write the whole path, such as /home/me/people.parquet.")
    return path
