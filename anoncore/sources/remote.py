"""Tables that lie elsewhere: files at addresses such as s3:// and https://, and tables of a PostgreSQL server.

Each is brought to a folder of this machine first, where it is read like any other table. So every reader, engine and
method works on it, and what is lost in the middle leaves nothing half-read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.base.errors import AnonymizationError, DataError
from anoncore.base.progress import Progress, silent
from anoncore.base.texts import listing

ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]+)://")
"""How an address begins; a single letter before the colon is a drive."""
CHUNK = 8 << 20
POSTGRESQL = ("postgresql", "postgres")


class Library(NamedTuple):
    """What reads an address: a package, the extra that brings it, and whether it has folders."""

    package: str
    extra: str
    has_folders: bool


LIBRARIES = {
    "s3": Library("s3fs", "s3", True),
    "gs": Library("gcsfs", "gcs", True),
    "gcs": Library("gcsfs", "gcs", True),
    "abfs": Library("adlfs", "azure", True),
    "abfss": Library("adlfs", "azure", True),
    "az": Library("adlfs", "azure", True),
    "http": Library("aiohttp", "http", False),
    "https": Library("aiohttp", "http", False),
}
KEPT_TYPES = {
    "smallint", "integer", "bigint", "real", "double precision", "boolean", "text", "character varying", "character",
    "date", "timestamp without time zone", "timestamp with time zone",
}  # fmt: skip
"""Types of PostgreSQL that a table can have as they are; `numeric` becomes a number, all others text."""
WHOLE_DIGITS = 18
"""A `numeric` of at most so many digits and none behind the point fits a whole number of 64 bits."""


def is_address(path: str) -> bool:
    """Whether a path is the address of something that lies elsewhere, such as `s3://bucket/people.parquet`."""
    return ADDRESS.match(path) is not None


def shown_address(address: str) -> str:
    """The address as it may be told and written: without a password, a user, or a signature."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def fetched(address: str, folder: Path, table: str | None = None, progress: Progress | None = None) -> Path:
    """Bring what lies at an address into a folder: a file, a folder of files, or a `table` of a PostgreSQL server.

    Rights come from where the libraries look for them: environment variables, files of the user, the machine. Raises
    DataError for an address of another kind, for a package that is missing, and for what cannot be read.
    """
    tell = progress if progress is not None else silent
    scheme = address.partition("://")[0].lower()
    if scheme in POSTGRESQL:
        return _table(address, folder, table, tell)
    if scheme not in LIBRARIES:
        known = listing([f"{one}://" for one in ("s3", "gs", "abfs", "https", "postgresql")])
        raise DataError(f"'{shown_address(address)}': tables are read from paths of this machine and from {known}.")
    if table is not None:
        raise DataError(f"source.table is for a database, and '{shown_address(address)}' is none.")
    return _files(address, LIBRARIES[scheme], folder, tell)


def _files(address: str, library: Library, folder: Path, tell: Progress) -> Path:
    # It imports DuckDB, which takes long; most tables lie on this machine.
    from anoncore.base.faults import require_space, writing

    told = shown_address(address)
    with _reading(address):
        filesystem, path = _filesystem(address, library)
        filesystem.invalidate_cache()  # what was there a while ago may be gone
        path = path.rstrip("/") if library.has_folders else path
        name = PurePosixPath(urlsplit(address).path).name or urlsplit(address).netloc
        target = folder / (name or "table")
        if library.has_folders and filesystem.isdir(path):
            sizes = {one: int(entry["size"]) for one, entry in filesystem.find(path, detail=True).items()}
            places = {one: target / PurePosixPath(one).relative_to(path) for one in sizes}
        else:
            sizes, places = {path: int(filesystem.size(path) or 0)}, {path: target}
        require_space(folder, sum(sizes.values()))
        done, total = 0, sum(sizes.values()) or 1
        for one, place in places.items():
            with writing(folder):
                place.parent.mkdir(parents=True, exist_ok=True)
            with filesystem.open(one, "rb") as source, place.open("wb") as file:
                while content := source.read(CHUNK):
                    with writing(folder):
                        file.write(content)
                    done += len(content)
                    tell(min(done / total, 1.0), f"{done / 1e6:,.0f} MB of '{told}' fetched")
    if not places:
        raise DataError(f"The folder '{told}' is empty, or is not there.")
    return target


def _filesystem(address: str, library: Library) -> tuple[Any, str]:
    try:
        import fsspec

    except ImportError:
        raise _package_missing(address, library.package, library.extra) from None
    if find_spec(library.package) is None:
        raise _package_missing(address, library.package, library.extra)
    filesystem, path = fsspec.core.url_to_fs(address)
    return filesystem, str(path)


def _package_missing(address: str, package: str, extra: str) -> DataError:
    scheme = address.partition("://")[0]
    return DataError(
        f"Tables at {scheme}:// need the package {package}; install it with: pip install 'anoncore[{extra}]'."
    )


@contextmanager
def _reading(address: str) -> Iterator[None]:
    """Say in a DataError why an address cannot be read, and nothing of what gives rights to it."""
    told = shown_address(address)
    try:
        yield
    except AnonymizationError:
        raise
    except FileNotFoundError:
        raise DataError(f"There is nothing at '{told}'; check the name, and whether you may see it.") from None
    except PermissionError:
        raise DataError(f"'{told}' may not be read with the rights that this machine has for it.") from None
    except Exception as error:
        # Every library has errors of its own, whose texts may hold addresses with their signatures.
        raise DataError(
            f"'{told}' cannot be read ({type(error).__name__}); check the address and the rights."
        ) from None


def _table(address: str, folder: Path, table: str | None, tell: Progress) -> Path:
    """A table of a PostgreSQL server as a Parquet file, batch by batch."""
    from anoncore.base.faults import writing

    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise _package_missing(address, "adbc-driver-postgresql", "postgresql") from None
    told = shown_address(address)
    with _reading(address), dbapi.connect(address) as connection, connection.cursor() as cursor:
        schema, name = _chosen(cursor, table, told)
        cursor.execute(
            "SELECT column_name, data_type, coalesce(numeric_precision, 0), coalesce(numeric_scale, -1) FROM "
            "information_schema.columns WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position",
            (schema, name),
        )
        columns = [_selected(*row) for row in cursor.fetchall()]
        target = folder / f"{re.sub(r'[^0-9A-Za-z_.-]', '_', name)}.parquet"
        # One statement sees one state of the table, whoever changes it meanwhile.
        cursor.execute(f"SELECT {', '.join(columns)} FROM {_identifier(schema)}.{_identifier(name)}")
        reader, done = cursor.fetch_record_batch(), 0
        plain = pa.schema([field.remove_metadata() for field in reader.schema])
        with writing(folder), pq.ParquetWriter(target, plain) as writer:
            for batch in reader:
                writer.write_batch(pa.record_batch(batch.columns, schema=plain))
                done += batch.num_rows
                tell(0.5, f"{done:,} rows of '{name}' fetched")
    return target


def _chosen(cursor: Any, table: str | None, told: str) -> tuple[str, str]:
    """The schema and the name of the table that is meant, written as `table` or `schema.table`."""
    cursor.execute(
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema NOT IN "
        "('pg_catalog', 'information_schema') ORDER BY 1, 2"
    )
    found = [(str(schema), str(name)) for schema, name in cursor.fetchall()]
    names = [name if schema == "public" else f"{schema}.{name}" for schema, name in found]
    if table is None and len(found) == 1:
        return found[0]
    if table is None:
        raise DataError(f"'{told}' has the tables {listing(names, 30)}; name one as table.")
    fitting = [one for one, name in zip(found, names, strict=True) if table in (name, f"{one[0]}.{one[1]}")]
    if not fitting:
        raise DataError(f"'{told}' has no table '{table}'; it has {listing(names, 30)}.")
    return fitting[0]


def _selected(name: str, kind: str, precision: int, scale: int) -> str:
    """A column as it is selected: with a type that tables have."""
    column = _identifier(name)
    if kind in KEPT_TYPES:
        return column
    if kind == "numeric":
        is_whole = scale == 0 and 0 < precision <= WHOLE_DIGITS
        return f"{column}::{'bigint' if is_whole else 'double precision'} AS {column}"
    return f"{column}::text AS {column}"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
