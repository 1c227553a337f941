"""Releases as a database holds them: types, digests that no order changes, and certificates re-checked from these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError
from anoncore.base.progress import Progress, silent
from anoncore.base.temporary import temporary_directory
from anoncore.base.texts import listing, quoted
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.certified_tables import (
    ReadRelease,
    content_finding,
    join_finding,
    spelling_findings,
)
from anoncore.publishing.certification.digests import PartDigester, content_difference, joined_hash
from anoncore.publishing.certification.entries import Stored
from anoncore.publishing.certification.finding import Finding, Verification, fails
from anoncore.publishing.certification.published_rows import PartFile
from anoncore.publishing.certification.strict_reading import written_parquet
from anoncore.publishing.certification.verification import InputDigest, digest_with, judged_release
from anoncore.publishing.databases.stored_release import stored_release
from anoncore.table.microdata import Microdata

BATCH_ROWS = 131_072
LONGEST_NAME = 63
"""Bytes of a name in PostgreSQL; it cuts off longer ones."""
ADVICE = "change it to numbers, dates or text in the table, and run again"


def stored_entry(held: PartFile, table: str, workspace: Path) -> Stored:
    """What a certificate says of a table of a database; `table` is its name in the release. Rows are sorted on disk."""
    # It imports DuckDB, which takes long; most releases are files.
    from anoncore.sources.large_table import LargeTable

    digester = PartDigester(held.schema)
    with closing(LargeTable(held.path, workspace)) as large, pq.ParquetFile(held.path) as file:
        rows = pa.RecordBatchReader.from_batches(held.schema, file.iter_batches(BATCH_ROWS))
        for batch in large.sorted(rows, workspace):
            digester.add(pa.table(batch.columns, schema=held.schema))
    types = {field.name: str(field.type) for field in held.schema}
    return Stored(table=table, name=held.name, types=types, **digester.close()._asdict())


def read_held(
    certificate: Certificate, held: Sequence[PartFile | None], hashes: bool, workspace: Path, tell: Progress = silent
) -> ReadRelease:
    """The certified tables as a database has them, None for one that is missing, and whether they are as certified."""
    findings = list(_differences(certificate, held, hashes, workspace))
    complete = [one for one in held if one is not None]
    if len(complete) < len(held) or any(one.check.startswith("columns") for one in findings):
        return ReadRelease(findings, [])
    if certificate.parts is not None:
        return ReadRelease(findings, [[one] for one in complete])
    tell(0.5, "Reading the cells")
    shown = [
        replace(written_parquet(f"'{one.name}'", "", pq.read_table(one.path), one.schema), name=entry.name)
        for one, entry in zip(complete, certificate.tables, strict=True)
    ]
    if hashes and certificate.linked_by is not None:
        is_joined = joined_hash([one.table for one in shown], certificate.linked_by) == certificate.sha256
        findings.append(join_finding(is_joined))
    return ReadRelease(findings, [[one.table] for one in shown], [*spelling_findings(certificate, shown)])


def _differences(
    certificate: Certificate, held: Sequence[PartFile | None], hashes: bool, workspace: Path
) -> Iterator[Finding]:
    """Whether every table has the columns, and where `hashes` are compared the rows, that were certified."""
    for entry, stored, table in zip(certificate.tables, certificate.stored or (), held, strict=True):
        if table is None:
            sentence = f"The table '{stored.name}' with {stored.rows:,} rows is missing, or may not be read."
            yield fails(f"missing table '{stored.name}'", sentence)
        elif table.names != entry.columns:
            sentence = (
                f"'{stored.name}' has the columns {listing(table.names, 30)}, but {listing(entry.columns, 30)} were "
                "certified."
            )
            yield fails(f"columns of '{stored.name}'", sentence)
        elif table.n_rows == 0:
            yield fails(f"columns of '{stored.name}'", f"'{stored.name}' has no rows any more.")
        elif hashes:
            yield content_finding(entry, _difference(stored, stored_entry(table, stored.table, workspace)))


def _difference(certified: Stored, found: Stored) -> str:
    """Why a table of the database is not the certified one; empty if it is."""
    name = quoted(certified.name)
    other = [one for one, kind in certified.types.items() if found.types.get(one) != kind]
    if other and found.rows == certified.rows:
        return f"{name} is not as certified: the types of {listing(other)} were changed."
    # Rows are sorted from the first column on, so that one changed cell may put all the others elsewhere.
    said = f"{name} is not as certified: values were changed, or stand in other rows"
    return content_difference(
        certified.name, certified, found, lambda names: f"{said}; what differs is seen in {names}.", f"{said}."
    )


def held_schema(schema: pa.Schema) -> pa.Schema:
    """The names and types that the columns of a table get in a database. Raises DataError for what it cannot hold."""
    long = [name for name in schema.names if len(name.encode()) > LONGEST_NAME]
    if long:
        raise DataError(
            f"PostgreSQL holds names of at most {LONGEST_NAME} bytes, and {listing(long)} would be cut off; rename."
        )
    return pa.schema([(field.name, _held_type(field)) for field in schema])


def _held_type(field: pa.Field) -> pa.DataType:
    kind, types = field.type, pa.types
    if types.is_dictionary(kind):
        return _held_type(field.with_type(kind.value_type))
    if types.is_null(kind) or types.is_string(kind) or types.is_large_string(kind):
        return pa.string()
    if types.is_boolean(kind):
        return kind
    if types.is_integer(kind):
        width = kind.bit_width * (2 if types.is_unsigned_integer(kind) else 1)
        return pa.int16() if width <= 16 else pa.int32() if width == 32 else pa.int64()
    if types.is_floating(kind):
        return pa.float64() if kind.bit_width == 64 else pa.float32()
    if types.is_date(kind):
        return pa.date32()
    if types.is_timestamp(kind):
        return pa.timestamp("us", None if kind.tz is None else "UTC")
    raise DataError(f"'{field.name}' has the type {kind}, which is not written to a database; {ADVICE}.")


def held_batches(batches: Iterable[pa.RecordBatch | pa.Table], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows with the types of a database. Raises DataError for a value that it cannot hold."""
    for batch in batches:
        columns = [_held(batch.column(field.name), field) for field in schema]
        yield from pa.table(columns, schema=schema).to_batches()


def _held(column: pa.Array | pa.ChunkedArray, field: pa.Field) -> pa.Array | pa.ChunkedArray:
    try:
        found = column.cast(field.type)
    except pa.ArrowException:
        sentence = f"'{field.name}' has a value that does not fit the type {field.type} of a database; {ADVICE}."
        raise DataError(sentence) from None
    if pa.types.is_floating(field.type):
        # Two zeros that are equal would stand in no order; with a zero added both are 0.0.
        return pc.add(found, pa.scalar(np.zeros(1, field.type.to_pandas_dtype())[0], field.type))
    if pa.types.is_string(field.type) and pc.any(pc.match_substring(found, "\0")).as_py():
        raise DataError(f"'{field.name}' has a text with the character NUL, which a database does not hold; {ADVICE}.")
    return found


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
    with temporary_directory() as workspace:
        with stored_release(address, name or "") as place:
            place.cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            if certificate is None:
                certificate = Certificate.loads(place.required_text())
            if certificate.stored is None:
                raise DataError("This is the certificate of files, not of tables in a database.")
            there = place.tables()
            names = [one.name for one in certificate.stored]
            unread = [*place.unread(names)]
            # A view may do anything while it is read, so nothing is read that is no table.
            tables = {} if unread else {name: place.fetch(name, workspace) for name in names if name in there}
            held = [tables.get(one.name) for one in certificate.stored]
            beside = [*place.beside({one.name: one.names for one in tables.values()})]
            beside += place.about_certificate(certificate) if name else ()

        def read(claims: Certificate, tell: Progress) -> ReadRelease:
            if unread:
                return ReadRelease([*unread, *beside], [])
            found = read_held(claims, held, hashes, workspace, tell)
            return found._replace(findings=[*found.findings, *beside])

        if certificate.parts is None:
            input_digest = None if data is None or key is None else digest_with(data, key)
        return judged_release(certificate, read, hashes, input_digest, known, progress)
