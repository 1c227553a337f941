"""Releases as a database holds them: types, digests that no order changes, and certificates re-checked from these."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from anoncore.base.arguments import checked
from anoncore.base.errors import DataError
from anoncore.base.progress import Progress, silent
from anoncore.base.sql import identifier
from anoncore.base.temporary import temporary_directory
from anoncore.base.texts import listing, quoted
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.certified_tables import (
    ReadRelease,
    content_finding,
    join_finding,
    spelling_findings,
)
from anoncore.publishing.certification.digests import PartDigester, joined_hash, rows_digest
from anoncore.publishing.certification.entries import Stored
from anoncore.publishing.certification.finding import Finding, Verification, fails
from anoncore.publishing.certification.published_rows import PartFile
from anoncore.publishing.certification.strict_reading import written_parquet
from anoncore.publishing.certification.verification import InputDigest, digest_with, judged_release
from anoncore.publishing.databases.ordinary_tables import RELATION, beside_findings, unread_findings
from anoncore.sources.addresses import is_database, shown_address
from anoncore.sources.postgresql import connected, write_parquet
from anoncore.table.microdata import Microdata

BATCH_ROWS = 131_072
LONGEST_NAME = 63
"""Bytes of a name in PostgreSQL; it cuts off longer ones."""
CERTIFICATE_SUFFIX = "_certificate"
ADVICE = "change it to numbers, dates or text in the table, and run again"


@dataclass(frozen=True, eq=False)
class StoredRelease:
    """The place of a release in a database, in a transaction that is open; `name` may be `schema.name`."""

    address: str
    name: str
    connection: Any
    cursor: Any

    @property
    def told(self) -> str:
        """The database as it may be told."""
        return shown_address(self.address)

    @property
    def certificate(self) -> str:
        """The name of the table that has the certificate."""
        return f"{self.name.rpartition('.')[2]}{CERTIFICATE_SUFFIX}"

    @cached_property
    def schema(self) -> str:
        """The schema of the release; by default the user's own."""
        schema, dot, _ = self.name.rpartition(".")
        return schema if dot else str(self.rows("SELECT coalesce(current_schema(), 'public')")[0][0])

    def rows(self, query: str, *values: str) -> list[Any]:
        """What the database answers."""
        self.cursor.execute(query, values)
        return list(self.cursor.fetchall())

    def place(self, name: str) -> str:
        """A table as queries name it."""
        return f"{identifier(self.schema)}.{identifier(name)}"

    def tables(self) -> set[str]:
        """The names of the tables of the schema that the user may see."""
        query = "SELECT table_name FROM information_schema.tables WHERE table_schema = $1"
        return {str(row[0]) for row in self.rows(query, self.schema)}

    def fetch(self, name: str, workspace: Path) -> PartFile:
        """Bring a table of the database to a folder of its own."""
        folder = workspace / f"held-{len(list(workspace.iterdir()))}"
        folder.mkdir()
        file = folder / "part-00000.parquet"
        write_parquet(self.cursor, self.told, (self.schema, name), file)
        return PartFile(name, file)

    def unread(self, names: Collection[str]) -> list[Finding]:
        """Which names stand for something else than a table that gives every reader the same rows."""
        return [*unread_findings(self.rows, self.schema, names)]

    def beside(self, read: Sequence[PartFile]) -> list[Finding]:
        """What tables that were fetched carry beside their cells."""
        return [*beside_findings(self.rows, self.schema, [(one.name, one.names) for one in read])]

    def about_certificate(self, certificate: Certificate) -> Iterator[Finding]:
        """What the table of the certificate is or has beside its one cell, and whether it is about other tables than
        those that have the name of the release.
        """
        base = self.name.rpartition(".")[2]
        names = [one.name for one in certificate.stored or ()]
        others = [one for one in names if one != base and not one.startswith(f"{base}_")]
        if others or (base not in names and self.rows(RELATION, self.schema, base)):
            sentence = f"The certificate is about {listing(names, 30)}, which is not all of {quoted(base)}."
            yield fails(f"tables of {quoted(base)}", sentence)
        yield from self.unread([self.certificate])
        if self.certificate in self.tables():
            yield from beside_findings(self.rows, self.schema, [(self.certificate, ["certificate"])])

    def certificate_text(self) -> str | None:
        """The text of the certificate; None where its table holds none, or more than that."""
        columns = (
            "SELECT 1 FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2 AND "
            "column_name = 'certificate' AND data_type = 'text'"
        )
        if self.certificate == CERTIFICATE_SUFFIX or not self.rows(columns, self.schema, self.certificate):
            return None
        cells = self.rows(f"SELECT certificate FROM {self.place(self.certificate)} LIMIT 2")
        return str(cells[0][0]) if len(cells) == 1 else None

    def required_text(self) -> str:
        """The text of the certificate. Raises DataError where there is none."""
        text = self.certificate_text()
        if text is None:
            raise DataError(
                f"'{self.told}' has no certificate of a release in a table '{self.certificate}'; name the release "
                "(--table), or name the file of its certificate."
            )
        return text


@contextmanager
def stored_release(address: str, name: str) -> Iterator[StoredRelease]:
    """The place of a release; what is not committed is undone. Raises DataError where no database can be reached."""
    if not is_database(address):
        raise DataError(f"'{shown_address(address)}' is no database; releases are stored at postgresql:// addresses.")
    with connected(address) as connection, connection.cursor() as cursor:
        yield StoredRelease(address, name, connection, cursor)


def stored_entry(held: PartFile, table: str, workspace: Path) -> Stored:
    """What a certificate says of a table of a database; `table` is its name in the release. Rows are sorted on disk."""
    # It imports DuckDB, which takes long; most releases are files.
    from anoncore.sources.large_table import LargeTable

    digester = PartDigester(held.schema)
    with closing(LargeTable(held.path, workspace)) as large, pq.ParquetFile(held.path) as file:
        rows = pa.RecordBatchReader.from_batches(held.schema, file.iter_batches(BATCH_ROWS))
        for batch in large.sorted(rows, workspace):
            digester.add(pa.table(batch.columns, schema=held.schema))
    columns = digester.close()
    return Stored(
        table=table,
        name=held.name,
        rows=digester.n_rows,
        types={field.name: str(field.type) for field in held.schema},
        sha256=rows_digest(held.names, digester.n_rows, columns),
        column_sha256=columns,
    )


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
            unread = place.unread(names)
            # A view may do anything while it is read, so nothing is read that is no table.
            tables = {} if unread else {name: place.fetch(name, workspace) for name in names if name in there}
            held = [tables.get(one.name) for one in certificate.stored]
            beside = place.beside(list(tables.values()))
            beside += place.about_certificate(certificate) if name else ()

        def read(claims: Certificate, tell: Progress) -> ReadRelease:
            if unread:
                return ReadRelease([*unread, *beside], [])
            found = read_held(claims, held, hashes, workspace, tell)
            return found._replace(findings=[*found.findings, *beside])

        if certificate.parts is None:
            input_digest = None if data is None or key is None else digest_with(data, key)
        return judged_release(certificate, read, hashes, input_digest, known, progress)
