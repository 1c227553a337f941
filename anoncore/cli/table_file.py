"""The table that a command is given: a file, the standard input or a built-in table; its options, how it is read."""

from __future__ import annotations

import argparse
import csv
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from anoncore.base.errors import ParameterError
from anoncore.cli.log import log
from anoncore.cli.output import REPEATED, STANDARD_INPUT, is_stream, standard_input
from anoncore.recipes.source import Source, load_source, sheet_note
from anoncore.sources.addresses import is_address, shown_address
from anoncore.sources.reader import read_table
from anoncore.sources.table_files import DATABASES


def add_table_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of a command the table and the options that say how it is read."""
    command.add_argument(
        "file",
        metavar="table",
        type=table_path,
        nargs="?",
        help="table (CSV, Parquet, Excel, DuckDB, SQLite), or a folder of files, or - for a table on the standard "
        "input; without one, --table names a built-in table",
    )
    command.add_argument("--sheet", help="sheet of a workbook (default: the first)")
    command.add_argument(
        "--table",
        metavar="NAME",
        help="table of a database file, needed where it has several; without a file the built-in table of that name",
    )
    command.add_argument("--encoding", help="encoding of a text file (default: what its bytes tell)")
    command.add_argument(
        "--missing", **REPEATED, metavar="TEXT", help="further text that means missing, again for more"
    )
    command.add_argument("--decimal", choices=[".", ","], help="mark of decimals (default: what the numbers show)")
    command.add_argument(
        "--dates",
        choices=["day-month-year", "month-day-year", "year-month-day"],
        help="order of dates such as 03/04/2020 (default: such dates stay text)",
    )


def table_path(text: str) -> Path:
    """The path of a table. Raises ArgumentTypeError for an address, which only recipes name."""
    if is_address(text):
        raise argparse.ArgumentTypeError(
            f"'{shown_address(text)}' is an address, and this command reads a file of this machine; name the address "
            "as source.path of a recipe, and use the commands that take recipes."
        )
    return Path(text)


def table_name(arguments: argparse.Namespace) -> str:
    """What the table is called in results."""
    if arguments.file is None:
        return str(arguments.table)
    return STANDARD_INPUT if is_stream(arguments.file) else str(arguments.file)


def columns_in(texts: Sequence[str], names: Sequence[str] = ()) -> Iterator[str]:
    """The columns that an option names, with commas between them; `names` are those of the table, where it is read."""
    for text in texts:
        # The name of a column stands for that column, whatever is in it.
        parts = [text] if text in names else next(csv.reader([text], skipinitialspace=True), [])
        yield from (part if part in names else part.strip() for part in parts)


def read_file(path: Path) -> pd.DataFrame:
    """A further table of a command, in a file or on the standard input, without its notes."""
    if is_stream(path):
        return read_table(standard_input(), STANDARD_INPUT).frame
    return read_table(path).frame


def read_named(arguments: argparse.Namespace) -> tuple[Source, pd.DataFrame]:
    """The source as it was named and its table; what was decided while it was read is told on the error stream."""
    path: Path | None = arguments.file
    if path is None and arguments.table is None:
        raise ParameterError("Name a table: a file, - for the standard input, or a built-in one by --table census.")
    source = Source(
        path=None if path is None else str(path),
        builtin=arguments.table if path is None else None,
        sheet=arguments.sheet,
        table=None if path is None else arguments.table,
        encoding=arguments.encoding,
        missing=tuple(arguments.missing),
        decimal=arguments.decimal,
        dates=arguments.dates,
    )
    if path is None or path.is_dir() or path.suffix.lower() in DATABASES:
        return source, load_source(source, Path())
    if arguments.table is not None:
        raise ParameterError(f"--table is for a database, and '{path.name}' is none; name a sheet with --sheet.")
    if path.suffix.lower() == ".toml" and path.is_file():
        raise ParameterError(
            f"'{path.name}' is a recipe and not a table; make its release with: "
            f"{shlex.join(['anoncore', 'run', str(path)])}"
        )
    table = read_table(
        standard_input() if is_stream(path) else path,
        STANDARD_INPUT if is_stream(path) else None,
        sheet=source.sheet,
        encoding=source.encoding,
        missing=source.missing,
        decimal=source.decimal,
        dates=source.dates,
    )
    for note in (*table.notes, "" if is_stream(path) else sheet_note(source, Path(), "name it with --sheet")):
        if note:
            log().note(note)
    return source, table.frame
