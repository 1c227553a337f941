"""The certificate of a release wherever it stands: a file, the folder of a large run, a zip, a database."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

from anoncore.base.errors import DataError
from anoncore.base.texts import listing, quoted
from anoncore.publishing.certification.certificate import file_text
from anoncore.publishing.databases.storing import CERTIFICATE_SUFFIX, place_of, required_text
from anoncore.publishing.export import archive_bytes
from anoncore.publishing.parts.part_certificate import CERTIFICATE_FILE
from anoncore.publishing.publication import CERTIFICATE
from anoncore.publishing.whole_files import replace_file
from anoncore.sources.addresses import is_database, shown_address
from anoncore.sources.postgresql import connected, identifier

Change = Callable[[bytes], str]
MOST_BYTES = 1 << 30


def certificate_file(place: Path) -> Path:
    """The file of the certificate at a place, which may be the folder of a release.

    Raises DataError for a folder in which no certificate lies, or several ones do.
    """
    if not place.is_dir():
        return place
    if (place / CERTIFICATE_FILE).is_file():
        return place / CERTIFICATE_FILE
    found = sorted(place.glob(f"*{CERTIFICATE}"))
    if len(found) != 1:
        there = f"has {listing([one.name for one in found])}" if found else "has no certificate"
        raise DataError(f"The folder {quoted(place.name)} {there}; name the file of the certificate.")
    return found[0]


def change_in_file(place: Path, change: Change) -> Path:
    """Replace the certificate in a file, a folder or a zip by what is made of it; gives the file that was written."""
    path = certificate_file(place)
    content = file_text(path)
    replace_file(
        path, changed_zip(path.name, content, change) if content.startswith(b"PK") else change(content).encode()
    )
    return path


def changed_zip(name: str, content: bytes, change: Change) -> bytes:
    """A zip of a release, as the dashboard hands it out, with another certificate."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            own = [one.filename for one in members if one.filename.endswith(CERTIFICATE)]
            if len(own) != 1:
                raise DataError(
                    f"{quoted(name)} is a zip without a certificate; name the file of the certificate, which lies "
                    "beside it."
                    if not own
                    else f"{quoted(name)} has several certificates; unpack it, and name one of them."
                )
            if sum(one.file_size for one in members) > MOST_BYTES:
                raise DataError(f"{quoted(name)} would unpack to more than 1 GB; unpack it, and sign in its folder.")
            return archive_bytes(
                (one.filename, change(archive.read(one)).encode() if one.filename == own[0] else archive.read(one))
                for one in members
            )
    except (zipfile.BadZipFile, RuntimeError, OSError):
        raise DataError(f"{quoted(name)} is damaged: this zip cannot be read.") from None


def stored_text(address: str, name: str) -> bytes:
    """The text of the certificate that stands beside a release in a database. Raises DataError where there is none."""
    with connected(address) as connection, connection.cursor() as cursor:
        return required_text(cursor, shown_address(address), *place_of(cursor, name)).encode()


def change_in_database(address: str, name: str, change: Change) -> None:
    """Replace the certificate of a release in a database, in one transaction, by what is made of it."""
    if not is_database(address):
        raise DataError(f"'{shown_address(address)}' is no database; releases are stored at postgresql:// addresses.")
    with connected(address) as connection, connection.cursor() as cursor:
        schema, base = place_of(cursor, name)
        text = change(required_text(cursor, shown_address(address), schema, base).encode())
        table = f"{identifier(schema)}.{identifier(base + CERTIFICATE_SUFFIX)}"
        cursor.execute(f"UPDATE {table} SET certificate = $1", (text,))
        connection.commit()
