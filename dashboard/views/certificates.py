"""Certificates that visitors bring: which files have one, who signed it, and what its tables show."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress

from anoncore import DataError
from dashboard.session.opened import MOST_UNPACKED

DAMAGE = (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError, ValueError)


def certified(files: Sequence[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """The zips that have a certificate, as a release is handed out: its name and the zip. Nothing is unpacked."""
    found: list[tuple[str, bytes]] = []
    for _, content in files:
        with suppress(*DAMAGE), zipfile.ZipFile(io.BytesIO(content)) as archive:
            own = [name for name in archive.namelist() if name.endswith("-certificate.json")]
            if len(own) == 1 and sum(one.file_size for one in archive.infolist()) <= MOST_UNPACKED:
                found.append((own[0], content))
    return found


def unpacked(name: str, content: bytes) -> tuple[bytes, dict[str, bytes]]:
    """The text of a certificate and the files beside it. Raises DataError for a damaged zip."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            beside = {other: archive.read(other) for other in archive.namelist() if other != name}
            return archive.read(name), beside
    except DAMAGE:
        raise DataError("The zip is damaged and cannot be read.") from None


def told(text: bytes, tables: Mapping[str, bytes], keys: Sequence[tuple[str, bytes]]) -> str:
    """Who signed a certificate, and what the tables show of it, in two sentences.

    Raises AnonymizationError for what is no certificate, no table or no key.
    """
    # Verification takes half a second to import, for which the first page must not wait.
    from anoncore.publishing import Certificate, signed_by, verify
    from anoncore.publishing.signing.signature import public_key_of

    signed = signed_by(text, [public_key_of(name, content) for name, content in keys])
    found = verify(Certificate.loads(text), tables)
    failing = [one.sentence for one in found.findings if one.outcome == "fails"]
    return " ".join([f"{signed.sentence[0].upper()}{signed.sentence[1:]}.", found.state, *failing[:3]])


def told_of_zip(content: bytes, name: str, keys: Mapping[str, str]) -> str:
    """What `told` says of the certificate `name` in a zip, by the texts of public keys."""
    text, tables = unpacked(name, content)
    return told(text, tables, [(key, line.encode()) for key, line in keys.items()])
