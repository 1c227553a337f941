"""The table that a command is given as a file: its options, and how it is read."""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from anoncore.base.errors import ParameterError
from anoncore.cli.log import log
from anoncore.recipes.source import Source, load_source, sheet_note
from anoncore.sources.addresses import is_address, shown_address
from anoncore.sources.reader import read_table
from anoncore.sources.table_files import DATABASES


def add_table_options(command: argparse.ArgumentParser) -> None:
    """Give the parser of a command the table and the options that say how it is read."""
    command.add_argument(
        "table", type=_table_path, help="table (CSV, Parquet, Excel, DuckDB, SQLite), or a folder of files"
    )
    command.add_argument("--sheet", help="sheet of a workbook (default: the first)")
    command.add_argument("--name", help="table of a database file; needed where it has several")
    command.add_argument("--encoding", help="encoding of a text file (default: what its bytes tell)")
    command.add_argument(
        "--missing", action="append", default=[], metavar="TEXT", help="further text that means missing, again for more"
    )
    command.add_argument("--decimal", choices=[".", ","], help="mark of decimals (default: what the numbers show)")
    command.add_argument(
        "--dates",
        choices=["day-month-year", "month-day-year", "year-month-day"],
        help="order of dates such as 03/04/2020 (default: such dates stay text)",
    )


def _table_path(text: str) -> Path:
    """The path of a table. Raises ArgumentTypeError for an address, which only recipes name."""
    if is_address(text):
        raise argparse.ArgumentTypeError(
            f"'{shown_address(text)}' is an address, and this command reads a file of this machine; name the address "
            "as source.path of a recipe, and use the commands that take recipes."
        )
    return Path(text)


def read_named(arguments: argparse.Namespace) -> tuple[Source, pd.DataFrame]:
    """The source as it was named and its table; what was decided while it was read is told on the error stream."""
    table: Path = arguments.table
    source = Source(
        path=str(table),
        sheet=arguments.sheet,
        table=arguments.name,
        encoding=arguments.encoding,
        missing=tuple(arguments.missing),
        decimal=arguments.decimal,
        dates=arguments.dates,
    )
    if table.is_dir() or table.suffix.lower() in DATABASES:
        return source, load_source(source, Path())
    if arguments.name is not None:
        raise ParameterError(f"--name is for a database, and '{table.name}' is none; name a sheet with --sheet.")
    found = read_table(
        table,
        sheet=source.sheet,
        encoding=source.encoding,
        missing=source.missing,
        decimal=source.decimal,
        dates=source.dates,
    )
    for note in (*found.notes, sheet_note(source, Path(), "name it with --sheet")):
        if note:
            log().note(note)
    return source, found.frame
