"""Certificates of releases in a database, re-checked from the tables that it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError
from anoncore.base.progress import Progress
from anoncore.base.temporary import temporary_directory
from anoncore.base.texts import listing
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.certified_tables import (
    ReadRelease,
    content_finding,
    join_finding,
    spelling_findings,
)
from anoncore.publishing.certification.digests import joined_hash
from anoncore.publishing.certification.entries import Stored
from anoncore.publishing.certification.finding import Finding, Verification
from anoncore.publishing.certification.published_rows import PartFile, TableRows
from anoncore.publishing.certification.verification import InputDigest, digest_with, judged_release
from anoncore.publishing.databases.held_tables import shown_table, stored_entry
from anoncore.publishing.databases.storing import fetch_held, place_of, required_text, tables_in
from anoncore.sources.addresses import is_database, shown_address
from anoncore.sources.postgresql import connected
from anoncore.table.microdata import Microdata


@checked
def verify_stored(
    address: str,
    name: str | None = None,
    certificate: Certificate | None = None,
    hashes: bool = True,
    data: Microdata | None = None,
    key: str | None = None,
    input_digest: InputDigest | None = None,
    known: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Re-check the certificate of a release in a database from the tables that the database holds.

    All tables are read in one state of the database. Groups and what they reach are worked out anew, and the rows have
    to be those that were certified, in whatever order.

    Parameters
    ----------
    address : str
        The database, such as `postgresql://ann@db.example/clinic`.
    name : str, optional
        The name under which the release was stored, `schema.name` for another schema than the user's own; by default
        that of the certificate.
    certificate : Certificate, optional
        What the tables should be and show; by default the certificate that stands beside them.
    hashes : bool
        Whether the contents must also be those that were certified.
    data : Microdata, optional
        The original table of a release that was made in memory.
    key : str, optional
        The key with which the original table was hashed.
    input_digest : callable, optional
        For a release that was made piece by piece: gives the keyed hash of some columns of the original table.
    known : sequence of str, optional
        The columns that a reader takes for known, in place of those that the certificate names.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop.

    Returns
    -------
    Verification
        Every check and how it came out.

    Raises
    ------
    DataError
        Where the database cannot be read, and for a certificate of files.
    ParameterError
        For a known column that is not published.

    Examples
    --------
    >>> from anoncore.publishing import verify_stored
    >>> verify_stored("postgresql://ann@db.example/clinic", "people").holds  # doctest: +SKIP
    True
    """
    told = shown_address(address)
    if not is_database(address):
        raise DataError(f"'{told}' is no database; releases are stored at postgresql:// addresses.")
    with temporary_directory() as workspace:
        with connected(address) as connection, connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            schema, base = place_of(cursor, name or "")
            if certificate is None:
                certificate = Certificate.loads(required_text(cursor, told, schema, base))
            if certificate.stored is None:
                raise DataError("This is the certificate of files, not of tables in a database.")
            held = _held(cursor, told, schema, certificate, workspace)

        def read(claims: Certificate, tell: Progress) -> ReadRelease:
            findings = list(_differences(claims, held, hashes, workspace))
            complete = [one for one in held if one is not None]
            if len(complete) < len(held) or any(one.check.startswith("columns") for one in findings):
                return ReadRelease(findings, [])
            if claims.parts is not None:
                return ReadRelease(findings, [[one] for one in complete])
            tell(0.5, "Reading the cells")
            shown = [shown_table(one, entry) for one, entry in zip(complete, claims.tables, strict=True)]
            tables = [one.table for one in shown]
            if hashes and claims.linked_by is not None:
                findings.append(join_finding(joined_hash(tables, claims.linked_by) == claims.sha256))
            rows = [[TableRows(one)] for one in tables]
            return ReadRelease(findings, rows, [*spelling_findings(claims, shown)])

        if certificate.parts is None:
            input_digest = None if data is None or key is None else digest_with(data, key)
        return judged_release(certificate, read, hashes, input_digest, known, progress)


def _held(cursor: Any, told: str, schema: str, certificate: Certificate, workspace: Path) -> list[PartFile | None]:
    """The certified tables as the database has them, None for one that is missing."""
    there = tables_in(cursor, schema)
    return [
        fetch_held(cursor, told, (schema, one.name), workspace) if one.name in there else None
        for one in certificate.stored or ()
    ]


def _differences(
    certificate: Certificate, held: Sequence[PartFile | None], hashes: bool, workspace: Path
) -> Iterator[Finding]:
    """Whether every table has the columns, and where `hashes` are compared the rows, that were certified."""
    for entry, stored, table in zip(certificate.tables, certificate.stored or (), held, strict=True):
        if table is None:
            sentence = f"The table '{stored.name}' with {stored.rows:,} rows is missing, or may not be read."
            yield Finding(f"missing table '{stored.name}'", "fails", sentence)
        elif table.names != entry.columns:
            sentence = (
                f"'{stored.name}' has the columns {listing(table.names, 30)}, but {listing(entry.columns, 30)} were "
                "certified."
            )
            yield Finding(f"columns of '{stored.name}'", "fails", sentence)
        elif table.n_rows == 0:
            yield Finding(f"columns of '{stored.name}'", "fails", f"'{stored.name}' has no rows any more.")
        elif hashes:
            yield content_finding(entry, _difference(stored, stored_entry(table, stored.table, workspace)))


def _difference(certified: Stored, found: Stored) -> str:
    """Why a table of the database is not the certified one; empty if it is."""
    name = certified.name
    if found.rows != certified.rows:
        return f"'{name}' has {found.rows:,} rows, but {certified.rows:,} were certified."
    other = [one for one, kind in certified.types.items() if found.types.get(one) != kind]
    if other:
        return f"'{name}' is not as certified: the types of {listing(other)} were changed."
    if found.sha256 == certified.sha256:
        return ""
    # Rows are sorted from the first column on, so that one changed cell may put all the others elsewhere.
    changed = [one for one, digest in certified.column_sha256.items() if found.column_sha256.get(one) != digest]
    return (
        f"'{name}' is not as certified: values were changed, or stand in other rows; what differs is seen in "
        f"{listing(changed)}."
    )
