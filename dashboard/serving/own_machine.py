"""Whether the page may read and write files where the program runs, and paths as visitors write them."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from anoncore import DataError
from anoncore.base.texts import listing
from anoncore.sources.addresses import is_address, is_database, kept_address, shown_address
from dashboard.serving import access, own_token, settings

FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip")
"""What a web server in front says of the visitor for whom it asks."""


def is_served_alone() -> bool:
    """Whether the visitor is who started the program: the server answers its own machine alone, the gate has seen the
    token, and no web server in front passed the request on.
    """
    if not own_token.is_asked_for() or not own_token.is_checked():
        return False
    return not any(name in st.context.headers for name in FORWARDED)


def may_use_paths() -> bool:
    """Whether this visitor may name paths of the machine on which the program runs."""
    if settings.current().has_sign_in:
        return access.may("paths")
    return is_served_alone()


NOT_ALONE = (
    "Paths of this machine and addresses such as s3:// and postgresql:// are read only where the program serves its "
    "own machine alone: it would read them with its own rights, for whoever visits."
)


def whole_place(text: str) -> Path | str:
    """The path or the address that a visitor wrote.

    Raises DataError where the page may read neither, for a password, and for a path that does not start at the top.
    """
    written = text.strip().strip("\"'")
    # Whoever may name paths of a server for others may name those in certain folders, and no address lies in them.
    if not may_use_paths() or (is_address(written) and not is_served_alone()):
        raise DataError(NOT_ALONE)
    if not is_address(written):
        path = whole_path(written)
        if settings.current().has_sign_in:
            _require_no_way_out(path)
        return path
    if is_database(written) and kept_address(written) != written:
        raise DataError(
            f"Leave the password out of the address of '{shown_address(written)}': a page shows what is typed. Give it "
            "as PGPASSWORD to the program, or in ~/.pgpass."
        )
    return written


def whole_path(text: str) -> Path:
    """The path that a visitor wrote.

    Raises DataError for one that does not start at the top, for an address, and for one outside the folders that may be
    used here.
    """
    written = text.strip().strip("\"'")
    if is_address(written):
        raise DataError(f"'{shown_address(written)}' is an address; name a folder of this machine here.")
    try:
        path = Path(written).expanduser()
    except RuntimeError:
        path = Path(written)
    if not written or "\0" in written or not path.is_absolute():
        raise DataError("Write the whole path, such as /home/me/people.parquet.")
    if settings.current().has_sign_in:
        access.require("paths")
        return whole_inside(path)[0]
    return path


def whole_inside(path: Path) -> tuple[Path, Path]:
    """The path with all links followed, and which of the folders that may be used it is or lies in.

    Raises DataError where it lies elsewhere.
    """
    whole = path.resolve()
    folder = allowed_folder(whole)
    if folder is not None:
        return whole, folder
    folders = [Path(folder).resolve() for folder in settings.current().rights.folders]
    raise DataError(
        f"'{path}' lies outside the folders that may be used here: {listing([str(one) for one in folders])}."
    )


def allowed_folder(whole: Path) -> Path | None:
    """The folder that may be used, without links, that a path without links is or lies in; None where there is none."""
    folders = [Path(folder).resolve() for folder in settings.current().rights.folders]
    return next((folder for folder in folders if whole == folder or folder in whole.parents), None)


def _require_no_way_out(folder: Path) -> None:
    """Raise DataError for a folder of files of which one is a link that leads outside the folders that may be used."""
    if not folder.is_dir():
        return
    for path in folder.rglob("*"):
        if path.is_symlink() and allowed_folder(path.resolve()) is None:
            raise DataError(
                f"'{path}' is a link that leads outside the folders that may be used here; put the file itself there."
            )
