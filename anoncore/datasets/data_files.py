"""The folder of the built-in tables' data, and plain reading of the CSV and TOML files in it."""

from __future__ import annotations

import csv
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from anoncore.base.errors import DataError

PACKAGE = Path(__file__).resolve().parent
FOLDERS = (PACKAGE / "data", PACKAGE.parents[1] / "datasets")
"""Where the data lies: inside an installed package, or beside the package in the source tree."""
INDEX = "tables.toml"


@cache
def tables_folder() -> Path:
    """The folder that holds the built-in tables as data. Raises DataError where the installation has none."""
    for folder in FOLDERS:
        if (folder / INDEX).is_file():
            return folder
    raise DataError(f"The built-in tables are missing: there is no '{FOLDERS[0]}'. Install anoncore again.")


def wrong(path: Path, what: str) -> DataError:
    """The error that a file of the folder is not as it should be; `what` is a sentence without its full stop."""
    return DataError(f"The file '{path}' of the built-in tables is wrong: {what}.")


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file. Raises DataError that names the file where it cannot be read."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise wrong(path, f"it cannot be read as TOML: {error}") from None


def read_csv(path: Path) -> list[list[str]]:
    """The lines of a CSV file, each with its cells as text.

    Raises DataError that names the file where it cannot be read, is empty, or has lines of different lengths.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file, strict=True))
    except (OSError, ValueError, csv.Error) as error:
        raise wrong(path, f"it cannot be read as CSV: {error}") from None
    if not lines:
        raise wrong(path, "it is empty")
    for number, line in enumerate(lines, start=1):
        if len(line) != len(lines[0]):
            raise wrong(path, f"line {number} has {len(line)} cells, the first line has {len(lines[0])}")
    return lines


def number(path: Path, text: str) -> float:
    """The number in a cell: an int where it is written as a whole number. Raises DataError for anything else."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    raise wrong(path, f"'{text}' is not a number")
