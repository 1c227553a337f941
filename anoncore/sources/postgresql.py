"""Tables of a PostgreSQL server: found, read batch by batch, and what goes wrong said without anything secret."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.base.errors import AnonymizationError, DataError
from anoncore.base.extras import imported
from anoncore.base.progress import Progress, silent
from anoncore.base.sql import chosen_table, identifier
from anoncore.sources.addresses import needs_package, shown_address

KEPT_TYPES = {
    "smallint", "integer", "bigint", "real", "double precision", "boolean", "text", "character varying", "character",
    "date", "timestamp without time zone", "timestamp with time zone",
}  # fmt: skip
"""Types of PostgreSQL that a table can have as they are; `numeric` becomes a number, all others text."""
WHOLE_DIGITS = 18
"""A `numeric` of at most so many digits and none behind the point fits a whole number of 64 bits."""
REASONS = (
    ("password authentication failed", "the user or the password is not accepted"),
    ("no password supplied", "a password is asked for; give it as PGPASSWORD or in ~/.pgpass"),
    ("no pg_hba.conf entry", "the server does not let this user in from this machine"),
    ("could not translate host name", "there is no machine of this name"),
    ("connection refused", "no server answers there"),
    ("timeout expired", "no server answers there"),
    ("role ", "there is no such user"),
    ("database ", "there is no such database, or this user may not use it"),
)
"""What a server says that refuses a connection, and what it means; the words of the server may hold more than that."""
STATES = {
    "25006": "the server takes no changes",
    "2BP01": "other things in the database depend on what would be replaced",
    "42501": "this user may not do that there",
    "42P06": "a table of this name was made there meanwhile",
    "42P07": "a table of this name was made there meanwhile",
    "53100": "the server has no space left",
    "57014": "the server cancelled it",
    "22021": "a text has a character that the database cannot hold",
    "54011": "there are more columns than the database can hold",
    "42701": "the database takes the names of two columns for one, or keeps one for itself",
}
"""States by which PostgreSQL tells what went wrong."""
ENDED = ("57P01", "57P02", "57P03")
"""States of a server that is being ended."""
LOST = (
    "server closed the connection", "terminating connection", "connection to server was lost", "no connection to",
    "could not receive data", "could not send data", "ssl syscall", "connection not open", "bad state",
)  # fmt: skip
"""How the library says that the connection is gone; some of its errors have no state."""


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A connection whose statements are one transaction; what is not committed is undone at the end of the block.

    Raises DataError with the reason where there is none, and for whatever the server refuses in the block.
    """
    dbapi = imported("adbc_driver_postgresql.dbapi", needs_package(address))
    told = shown_address(address)
    try:
        connection = dbapi.connect(address)
    except Exception as error:
        raise DataError(f"'{told}' cannot be reached: {_reason(error)}; check the address and the rights.") from None
    try:
        with explained(told):
            yield connection
    finally:
        with suppress(Exception):  # of a connection that is gone already
            connection.close()


@contextmanager
def explained(told: str) -> Iterator[None]:
    """Say in a DataError what a server refuses, without the words of the server, which may hold values."""
    import adbc_driver_manager

    try:
        yield
    except AnonymizationError:
        raise
    except adbc_driver_manager.Error as error:
        raise refusal(told, error) from None


def refusal(told: str, error: Exception) -> DataError:
    """What an error of the library means, for people. Whether the connection is gone, not every error has a state."""
    state, said = getattr(error, "sqlstate", None) or "", str(error).lower()
    if state.startswith("08") or state in ENDED or any(one in said for one in LOST):
        return DataError(
            f"The connection to '{told}' was lost in the middle. The database undoes what was not complete: nothing "
            "half-written is left. Try again when it answers."
        )
    return DataError(f"'{told}' refuses: {_reason(error)}.")


def _reason(error: Exception) -> str:
    state, said = getattr(error, "sqlstate", None) or "", str(error).lower()
    if state in STATES:
        return STATES[state]
    if not state:
        known = next((meaning for words, meaning in REASONS if words in said), None)
        if known is not None:
            return known
    return f"{type(error).__name__}{f', state {state}' if state else ''}"


def fetched_table(address: str, folder: Path, table: str | None, tell: Progress) -> Path:
    """Bring a table of a server into a folder as a Parquet file. Raises DataError."""
    with connected(address) as connection, connection.cursor() as cursor:
        told = shown_address(address)
        place = _place(cursor, table, told)
        target = folder / f"{re.sub(r'[^0-9A-Za-z_.-]', '_', place[1])}.parquet"
        write_parquet(cursor, told, place, target, tell)
    return target


def batches_of(reader: Any, told: str) -> Iterator[pa.RecordBatch]:
    """The batches of a reader. A connection that is lost in between is a DataError, and no fault of a file."""
    while True:
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return
        except (OSError, pa.ArrowException) as error:
            raise refusal(told, error) from None
        yield batch


def write_parquet(cursor: Any, told: str, place: tuple[str, str], target: Path, tell: Progress = silent) -> int:
    """Write a table, by its schema and name, to a Parquet file batch by batch; says how many rows it has."""
    schema, name = place
    # It imports DuckDB, which takes long; most tables lie on this machine.
    from anoncore.base.faults import writing

    cursor.execute(
        "SELECT column_name, data_type, coalesce(numeric_precision, 0), coalesce(numeric_scale, -1) FROM "
        "information_schema.columns WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position",
        (schema, name),
    )
    columns = [_selected(*row) for row in cursor.fetchall()]
    # One statement sees one state of the table, whoever changes it meanwhile.
    cursor.execute(f"SELECT {', '.join(columns)} FROM {identifier(schema)}.{identifier(name)}")
    reader, done = cursor.fetch_record_batch(), 0
    plain = pa.schema([field.remove_metadata() for field in reader.schema])
    with writing(target.parent), pq.ParquetWriter(target, plain, store_schema=False) as writer:
        for batch in batches_of(reader, told):
            writer.write_batch(pa.record_batch(batch.columns, schema=plain))
            done += batch.num_rows
            tell(0.5, f"{done:,} rows of '{name}' fetched")
    return done


def known_tables(address: str) -> tuple[str, ...]:
    """The tables of a server's database, as a source names them. Raises DataError."""
    with connected(address) as connection, connection.cursor() as cursor:
        return tuple(_shown_name(*one) for one in _tables(cursor))


def _place(cursor: Any, table: str | None, told: str) -> tuple[str, str]:
    """The schema and the name of the table that is meant, written as `table` or `schema.table`."""
    places = {_shown_name(*one): one for one in _tables(cursor)}
    if table is not None and table not in places and table.removeprefix("public.") in places:
        table = table.removeprefix("public.")
    return places[chosen_table(list(places), table, told)]


def _tables(cursor: Any) -> Sequence[tuple[str, str]]:
    cursor.execute(
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema NOT IN "
        "('pg_catalog', 'information_schema') ORDER BY 1, 2"
    )
    return [(str(schema), str(name)) for schema, name in cursor.fetchall()]


def _shown_name(schema: str, name: str) -> str:
    return name if schema == "public" else f"{schema}.{name}"


def _selected(name: str, kind: str, precision: int, scale: int) -> str:
    """A column as it is selected: with a type that tables have."""
    column = identifier(name)
    if kind in KEPT_TYPES:
        return column
    if kind == "numeric":
        is_whole = scale == 0 and 0 < precision <= WHOLE_DIGITS
        return f"{column}::{'bigint' if is_whole else 'double precision'} AS {column}"
    return f"{column}::text AS {column}"
