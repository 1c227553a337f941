"""Writing a release into a database: all of its tables and their certificate in one transaction, or nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.attacks.strongest import Strongest
from anoncore.base.arguments import checked
from anoncore.base.errors import DataError, ParameterError
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.shared_work import Cache
from anoncore.base.temporary import temporary_directory
from anoncore.base.texts import listing
from anoncore.publishing.certification.certificate import UNSIGNED, Certificate
from anoncore.publishing.certification.certifying import certify
from anoncore.publishing.certification.claimed_entries import Earlier
from anoncore.publishing.certification.digests import joined_digest
from anoncore.publishing.certification.entries import Part, Stored
from anoncore.publishing.certification.finding import Finding
from anoncore.publishing.certification.published_rows import PartFile
from anoncore.publishing.certification.scan import TABLE
from anoncore.publishing.certification.verification import counted_findings
from anoncore.publishing.databases.held_tables import (
    BATCH_ROWS,
    LONGEST_NAME,
    held_batches,
    held_schema,
    read_held,
    stored_entry,
)
from anoncore.publishing.databases.stored_release import CERTIFICATE_SUFFIX, StoredRelease, stored_release
from anoncore.publishing.export import check_table, member_names, parquet_table
from anoncore.publishing.parts.part_certificate import CertifiedParts
from anoncore.release.release import Release
from anoncore.requirements import Requirement
from anoncore.table.given_table import as_pandas

if TYPE_CHECKING:
    from anoncore.engines.large_run import WrittenParts

UNORDERED = "A database keeps no order of rows: the one in which it gives them is not certified."


@checked
def store(
    release: Release,
    address: str,
    name: str,
    key: str,
    replace: bool = False,
    requirements: Sequence[Requirement] = (),
    tables: Mapping[str, Any] | None = None,
    after: Sequence[Certificate | Earlier] = (),
    cache: Cache | None = None,
    progress: Progress | None = None,
    guessable_seed: bool = False,
    attacks: Sequence[Strongest] = (),
    asked: Sequence[Requirement] = (),
) -> Certificate:
    """Write a release and its certificate into a database, in one transaction: all of it, or nothing.

    A single table gets the name `name`, several ones `name_table` each; the certificate is the only cell of the table
    `name_certificate`. What the database holds is read back before anything is committed, and the certificate has its
    digests. Where the connection is lost on the way, the database undoes what was written.

    Parameters
    ----------
    release : Release
        The release.
    address : str
        The database, such as `postgresql://ann@db.example/clinic`. A password is better given as `PGPASSWORD` or in
        `~/.pgpass`; messages never show it.
    name : str
        The name of the table, or how the names of several begin; `schema.name` for another schema than the user's own.
    key : str
        For the hash of the original table, such as `new_key` gives one; it is not written.
    replace : bool
        Whether an earlier release of this name gives way. Other tables never do.
    requirements : sequence of Requirement
        Further conditions that the release has to keep.
    tables : mapping of str to DataFrame, LazyFrame, Arrow table or DuckDB relation, optional
        The published tables, where `Release.tables` was called already.
    after : sequence of Certificate or Earlier
        Certificates of earlier releases of the same people or some of them, which the new one names.
    cache : callable, optional
        What keeps results of the release, see `certify`.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop.
    guessable_seed : bool
        Whether a release is certified whose random choices follow from a seed that others can guess, see `certify`.
    attacks : sequence of Strongest
        What attacks got from the release, which the certificate says.
    asked : sequence of Requirement
        What was asked of the release although its method does not promise it: it is certified where it holds.

    Returns
    -------
    Certificate
        The certificate that stands in the database.

    Raises
    ------
    ReleaseError
        Where something that was promised or asked for does not hold.
    ParameterError
        For a name that is none of a table.
    DataError
        For tables that the database cannot hold, for names that are taken, and where the database cannot be reached or
        is lost on the way; then nothing of the release is there.

    Examples
    --------
    >>> from anoncore.publishing import new_key, store, verify_stored
    >>> certificate = store(release, "postgresql://ann@db.example/clinic", "people", new_key())  # doctest: +SKIP
    >>> verify_stored("postgresql://ann@db.example/clinic", "people").holds  # doctest: +SKIP
    True
    """
    tell = progress or silent
    given = {table: as_pandas(one) for table, one in tables.items()} if tables else release.pandas_tables()
    frames = {}
    for table, frame in given.items():
        check_table(table, frame)
        frames[table] = parquet_table(table, frame)
    certificate = certify(release, key, None, requirements, given, after, cache, asked, guessable_seed, attacks)
    with temporary_directory() as workspace, storing(address, name, list(frames), replace) as stored:
        for number, (table, frame) in enumerate(frames.items()):
            stored.write(table, [frame], part_of(tell, 0.7 * number / len(frames), 0.7 * (number + 1) / len(frames)))
        tell(0.7, "Reading back what the database holds")
        held = {table: stored.held(table, workspace) for table in frames}
        complete = _with_stored(certificate, [stored_entry(one, table, workspace) for table, one in held.items()])
        read = read_held(complete, list(held.values()), False, workspace)
        findings = [*read.findings, *read.as_written, *counted_findings(complete, read.tables)]
        stored.require_held([*findings, *stored.further(held.values())])
        stored.commit(complete)
    tell(1.0, "Done")
    return complete


def store_parts(
    written: WrittenParts,
    address: str,
    name: str,
    certify_held: Callable[[Path], CertifiedParts],
    replace: bool,
    workspace: Path,
    progress: Progress,
) -> CertifiedParts:
    """Write the parts of a large release into a database as one table, in one transaction, as `store` does.

    `certify_held` certifies a folder with what the database holds.
    """
    files = sorted(written.folder.glob("*.parquet"))
    batches = (batch for path in files for batch in pq.ParquetFile(path).iter_batches(BATCH_ROWS))
    with storing(address, name, [TABLE], replace) as stored:
        stored.write(TABLE, batches, part_of(progress, 0.0, 0.5), written.run.n_rows)
        progress(0.5, "Reading back what the database holds")
        held = stored.held(TABLE, workspace)
        if held.n_rows != written.run.n_rows:
            raise DataError(
                f"The database holds {held.n_rows:,} of the {written.run.n_rows:,} rows that were written, and nothing "
                "was kept."
            )
        stored.require_held(stored.further([held]))
        found = certify_held(held.path.parent)
        entry = stored_entry(held, TABLE, workspace)
        part = Part(file=entry.name, rows=entry.rows, sha256=entry.sha256, column_sha256=entry.column_sha256)
        content = joined_digest([part.sha256])
        (table,) = found.certificate.tables
        columns = {one: joined_digest([digest]) for one, digest in part.column_sha256.items()}
        tables = [table.model_copy(update={"sha256": content, "column_sha256": columns})]
        complete = _with_stored(found.certificate, [entry], parts=[part], files=[], sha256=content, tables=tables)
        stored.commit(complete)
    return CertifiedParts(complete, found.scan, found.verdict, found.profile, found.leaks)


def _with_stored(certificate: Certificate, stored: Sequence[Stored], **others: object) -> Certificate:
    """A certificate of tables as a database holds them, with other entries where these are about files."""
    not_checked = [*(one for one in certificate.not_checked if one != UNSIGNED), UNORDERED, UNSIGNED]
    changed = certificate.model_copy(update={"stored": stored, "not_checked": not_checked, **others})
    return Certificate.model_validate(changed.model_dump())


def stored_name(text: str) -> str:
    """A text such as the name of a recipe as the name of a table: letters, digits and underscores."""
    return re.sub(r"\W+", "_", text).strip("_")[: LONGEST_NAME - 20] or "table"


def places_of(name: str, tables: Sequence[str]) -> tuple[str | None, dict[str, str], str]:
    """The schema (None: the user's own), the name of each table, and that of the certificate's table.

    Raises ParameterError for names that PostgreSQL would cut off.
    """
    schema, dot, base = name.rpartition(".")
    own = [base] if len(tables) == 1 else [f"{base}_{member}" for member in member_names(tables)]
    names = dict(zip(tables, own, strict=True))
    certificate = f"{base}{CERTIFICATE_SUFFIX}"
    long = [one for one in (*names.values(), certificate, schema) if len(one.encode()) > LONGEST_NAME]
    if long or not base:
        raise ParameterError(
            f"'{name}' is no name for tables of a database: {listing([*names.values(), certificate])} need at most "
            f"{LONGEST_NAME} bytes each, and at least one letter."
        )
    return schema if dot else None, names, certificate


@contextmanager
def storing(address: str, name: str, tables: Sequence[str], replace: bool) -> Iterator[Storing]:
    """A transaction for a release of such tables, whose names are free; what is not committed is undone."""
    _, names, _ = places_of(name, tables)
    with stored_release(address, name) as place:
        found = Storing(address, name, place.connection, place.cursor, names)
        found.make_room(replace)
        yield found


@dataclass(frozen=True, eq=False)
class Storing(StoredRelease):
    """A release on its way into a database; `names` are those of its tables there."""

    names: Mapping[str, str]

    def make_room(self, replace: bool) -> None:
        """Require that the names are free, or with `replace` drop the earlier release that has them."""
        there = self.tables()
        taken = [one for one in (*self.names.values(), self.certificate) if one in there]
        if not taken:
            return
        if not replace:
            raise DataError(
                f"'{self.told}' has {listing(taken)} already; choose another name (--output-table), or add --force to "
                "replace a release."
            )
        earlier: list[str] = []
        with suppress(DataError):  # it is no certificate
            text = self.certificate_text() if self.certificate in there else None
            earlier = [] if text is None else [one.name for one in Certificate.loads(text).stored or ()]
        others = [one for one in taken if one not in (*earlier, self.certificate)]
        if not earlier or others:
            raise DataError(
                f"{listing(others or taken)} in '{self.told}' is no release and is not replaced; choose another name "
                "(--output-table)."
            )
        for one in (*(name for name in earlier if name in there), self.certificate):
            self.cursor.execute(f"DROP TABLE {self.place(one)}")

    def write(
        self, table: str, batches: Iterable[pa.RecordBatch | pa.Table], tell: Progress = silent, total: int = 0
    ) -> None:
        """Write one table batch by batch. Raises DataError for what the database cannot hold."""
        name, failures = self.names[table], []
        every = iter(batches)
        first = next(every)
        schema = held_schema(first.schema)

        def counted() -> Iterator[pa.RecordBatch]:
            done = 0
            try:
                for whole in held_batches(chain([first], every), schema):
                    for begin in range(0, whole.num_rows, BATCH_ROWS):
                        batch = whole.slice(begin, BATCH_ROWS)
                        done += batch.num_rows
                        tell(min(done / (total or first.num_rows or 1), 1.0), f"{done:,} rows written to '{name}'")
                        yield batch
            except BaseException as error:
                failures.append(error)  # the library would say only that there was one
                raise

        reader = pa.RecordBatchReader.from_batches(schema, counted())
        try:
            self.cursor.adbc_ingest(name, reader, mode="create", db_schema_name=self.schema)
        except Exception:
            if failures:
                raise failures[0] from None
            raise

    def held(self, table: str, workspace: Path) -> PartFile:
        """What the database holds of a table, read back in the same transaction."""
        return self.fetch(self.names[table], workspace)

    def further(self, held: Iterable[PartFile]) -> list[Finding]:
        """What the database made of the tables beside writing their rows, such as security of rows for every table."""
        columns = {one.name: one.names for one in held}
        return [*self.unread(columns), *self.beside(columns)]

    def require_held(self, findings: Iterable[Finding]) -> None:
        """Raise DataError where the database holds something else than what was written."""
        wrong = next((one for one in findings if one.outcome == "fails"), None)
        if wrong is not None:
            raise DataError(f"The database does not hold what was written, and nothing was kept: {wrong.sentence}")

    def commit(self, certificate: Certificate) -> None:
        """Write the certificate, and keep everything. Raises DataError where that is not sure."""
        text, place = certificate.dumps(), self.place(self.certificate)
        self.cursor.execute(f"CREATE TABLE {place} (certificate text NOT NULL)")
        self.cursor.execute(f"INSERT INTO {place} VALUES ($1)", (text,))
        try:
            self.connection.commit()
        except Exception:
            # The answer was lost, not necessarily the release.
            try:
                with stored_release(self.address, self.name) as found:
                    is_kept = found.certificate_text() == text
            except DataError:
                raise DataError(
                    f"The connection to '{self.told}' was lost while everything was written and about to be kept, "
                    "and it does not answer. Either the whole release is there or nothing of it; see which by anoncore "
                    "verify."
                ) from None
            if not is_kept:
                raise
