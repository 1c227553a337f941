"""The place of a release in a database: its tables, and whether they show everybody the same rows and nothing else.

A certificate is about cells. A view may show another reader other rows, and a comment or a default value says what no
cell does, so the catalog of the database is asked for whatever a table is or carries beside its cells.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from anoncore.base.errors import DataError
from anoncore.base.sql import identifier
from anoncore.base.texts import listing, quoted
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.finding import Finding, fails
from anoncore.publishing.certification.published_rows import PartFile
from anoncore.sources.addresses import is_database, shown_address
from anoncore.sources.postgresql import connected, write_parquet

CERTIFICATE_SUFFIX = "_certificate"
ORDINARY = "r"
KINDS = {
    "v": "a view", "m": "a materialized view", "f": "a foreign table, whose rows lie elsewhere",
    "p": "a partitioned table, whose rows lie in others", "S": "a sequence", "c": "a type", "i": "an index",
    "I": "an index",
}  # fmt: skip
"""What a name of the catalog may stand for beside an ordinary table."""
MOST_NAMED = 10
HELD_TYPES = (
    "boolean", "smallint", "integer", "bigint", "real", "double precision", "text", "date",
    "timestamp without time zone", "timestamp with time zone",
)  # fmt: skip
"""Types in which releases are stored. Others are read as text or rounded, which hides a part of what they hold."""
RELATION = (
    "SELECT c.oid::text, c.relkind::text, c.relrowsecurity, "
    "EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid), "
    "EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid) "
    "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE n.nspname = $1 AND c.relname = $2"
)
COLUMNS = (
    "SELECT attname::text, pg_catalog.format_type(atttypid, NULL), atthasdef FROM pg_catalog.pg_attribute "
    "WHERE attrelid = $1::oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
)
CONDITIONS = "SELECT conname::text FROM pg_catalog.pg_constraint WHERE conrelid = $1::oid AND contype = 'c' ORDER BY 1"
COMMENTS = (
    "SELECT coalesce(a.attname::text, ''), d.description FROM pg_catalog.pg_description d "
    "LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = d.objoid AND a.attnum = d.objsubid AND d.objsubid > 0 "
    "WHERE d.objoid = $1::oid AND d.classoid = 'pg_catalog.pg_class'::regclass ORDER BY d.objsubid"
)


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

    def unread(self, names: Collection[str]) -> Iterator[Finding]:
        """What is called like a table and is none, or gives each reader other rows: reading it would show nothing."""
        for name in names:
            for _, kind, has_rules, has_policies, has_children in self.rows(RELATION, self.schema, name):
                if kind != ORDINARY:
                    what = KINDS.get(kind, "something else")
                    sentence = (
                        f"{quoted(name)} is {what}, not an ordinary table, and may show other readers other rows."
                    )
                    yield fails(f"kind of {quoted(name)}", sentence)
                if has_rules or has_policies:
                    sentence = f"{quoted(name)} has row-level security: it may show other readers other rows."
                    yield fails(f"row-level security of {quoted(name)}", sentence)
                if has_children:
                    sentence = (
                        f"Other tables inherit from {quoted(name)}, and their rows count as rows of it; detach them."
                    )
                    yield fails(f"tables below {quoted(name)}", sentence)

    def beside(self, read: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
        """What tables carry beside the cells that were read; each comes with its columns as they were read."""
        for name, seen in read.items():
            of_table = quoted(name)
            for table, *_ in self.rows(RELATION, self.schema, name):
                columns = self.rows(COLUMNS, table)
                hidden = [column for column, *_ in columns if column not in seen]
                if hidden:
                    which = f"{of_table} has {listing(hidden, MOST_NAMED)}, which you may not read and others may."
                    yield fails(f"columns of {of_table}", which)
                for column, kind, has_default in columns:
                    if column in seen and kind not in HELD_TYPES:
                        has = f"{quoted(column)} of {of_table} has the type {quoted(kind)}"
                        yield fails(f"type of {quoted(column)}", f"{has}, in which no release is stored.")
                    if has_default:
                        sentence = (
                            f"{quoted(column)} of {of_table} has a default or generated value, which is not certified."
                        )
                        yield fails(f"default of {quoted(column)}", sentence)
                for (condition,) in self.rows(CONDITIONS, table):
                    sentence = f"{of_table} has the condition {quoted(condition)} on its rows, which is not certified."
                    yield fails(f"conditions of {of_table}", sentence)
                for column, comment in self.rows(COMMENTS, table):
                    where = f"{quoted(column)} of {of_table}" if column else of_table
                    sentence = f"{where} has the comment {quoted(comment)}, which is not certified."
                    yield fails(f"comment on {quoted(column or name)}", sentence)

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
            yield from self.beside({self.certificate: ["certificate"]})

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
