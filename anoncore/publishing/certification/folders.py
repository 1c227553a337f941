"""A folder with published files: its files, and what in it nobody may publish."""

from __future__ import annotations

from pathlib import Path

from anoncore.base.errors import DataError
from anoncore.publishing.certification.finding import Finding


def files_of(folder: Path, certificate: Path) -> tuple[list[Path], list[Finding]]:
    """The files of a folder but the certificate, by name, and a finding for every link and folder in it.

    A link leads to whatever lies where it points, and a folder has a name and times of its own.
    Raises DataError for a folder that cannot be read.
    """
    files, findings = [], []
    try:
        entries = sorted(folder.iterdir())
        own = certificate.resolve()
        for entry in entries:
            if entry.is_symlink():
                findings.append(_added(entry, "link, and what it leads to was not published"))
            elif entry.is_dir():
                findings.append(_added(entry, "folder, and nothing in a release has one"))
            elif not entry.is_file():
                findings.append(_added(entry, "thing that is no file"))
            elif entry.resolve() != own:
                files.append(entry)
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise DataError(f"The folder '{folder}' cannot be read: {reason}.") from None
    return files, findings


def _added(entry: Path, what: str) -> Finding:
    return Finding(f"added '{entry.name}'", "fails", f"'{entry.name}' is a {what}.")
