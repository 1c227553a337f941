"""Which files a table on disk consists of, and what kind they are of."""

from __future__ import annotations

from pathlib import Path

from anoncore.base.errors import DataError
from anoncore.base.texts import listing
from anoncore.sources.reader import PARQUET, ZIP

DATABASES = (".duckdb", ".db", ".sqlite", ".sqlite3")
WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls")
PARQUET_ENDINGS = (".parquet", ".pq")
TEXT_ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")


def table_files(path: Path) -> list[Path]:
    """The files of a table, one or those of a folder. Raises DataError for what is no table, or mixes two kinds."""
    if path.suffix.lower() in DATABASES:
        return [path]
    if not path.is_dir():
        if path.suffix.lower() in WORKBOOKS or _begin(path) == ZIP:
            raise DataError(
                f"'{path.name}' is no table that can be read piece by piece; use Parquet, CSV, a folder of such files, "
                "or a DuckDB or SQLite database."
            )
        return [path]
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith((".", "_")))
    for endings in (PARQUET_ENDINGS, TEXT_ENDINGS):
        found = [file for file in files if file.name.lower().endswith(endings)]
        if found and len(found) < len(files):
            others = [file.name for file in files if file not in found]
            raise DataError(f"The folder '{path.name}' mixes {found[0].name!r} with {listing(others)}; keep one kind.")
        if found:
            return found
    raise DataError(f"The folder '{path.name}' holds no Parquet and no CSV files.")


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet by its first bytes, or by its name where it has none."""
    begin = _begin(path)
    return begin == PARQUET or (not begin and path.suffix.lower() in PARQUET_ENDINGS)


def _begin(path: Path) -> bytes:
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(4)
