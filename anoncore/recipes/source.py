"""What a recipe says about its table and its hierarchies, and how both are made from that."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import pandas as pd
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from anoncore.base.errors import DataError, RecipeError
from anoncore.base.memory import CELL_BYTES, require_memory
from anoncore.base.model import Model
from anoncore.base.pandas_versions import numbers_of
from anoncore.base.progress import Progress
from anoncore.base.temporary import temporary_directory
from anoncore.base.texts import listing, quoted
from anoncore.base.toml import plain
from anoncore.sources import read_table, table_sheets
from anoncore.sources.addresses import is_address, is_database, kept_address, shown_address
from anoncore.sources.inference import DecimalMark, TextRules
from anoncore.sources.numerals import DateOrder
from anoncore.sources.remote import fetched
from anoncore.sources.table_files import DATABASES, WORKBOOKS
from anoncore.table.hierarchy import Hierarchy
from anoncore.table.hierarchy_defaults import (
    calendar_hierarchy,
    frequency_hierarchy,
    grid_hierarchy,
    letter_hierarchy,
    prefix_hierarchy,
)
from anoncore.table.hierarchy_files import read_hierarchy


def _file_path(path: str) -> str:
    if not path or "\0" in path:
        raise ValueError(f"{quoted(path)} is no path of a file.")
    return path


FEWER_ROWS = "ask for fewer rows"
ON_DISK = "run it on disk with the algorithm rothko-tree, or take a sample of its rows"

FilePath = Annotated[str, AfterValidator(_file_path)]


class Source(Model):
    """Where the table comes from: a file (CSV, Parquet, Excel), a folder of Parquet or CSV files, a database file
    (DuckDB, SQLite), an address of such a file or folder (`s3://`, `gs://`, `abfs://`, `https://`), a PostgreSQL server
    (`postgresql://`), or a built-in table by name.

    `rows` and `seed` say which table a generator makes; `sheet`, `encoding`, `missing`, `decimal` and `dates` how a
    file is read, `table` which one of a database.
    """

    title = "source"

    path: Annotated[
        FilePath | None, Field(description="File of the table, relative to the recipe, or its address.")
    ] = None
    builtin: Annotated[str | None, Field(description="Name of a built-in table.")] = None
    rows: Annotated[int | None, Field(ge=1, description="Rows of a generated table.")] = None
    seed: Annotated[int | None, Field(ge=0, description="Seed of a generated table.")] = None
    sheet: Annotated[str | int | None, Field(description="Sheet of an Excel file, by name or position.")] = None
    table: Annotated[str | None, Field(description="Table of a database.")] = None
    encoding: Annotated[str | None, Field(description="Encoding of a text file.")] = None
    missing: Annotated[tuple[str, ...], Field(description="Further texts that mean missing.")] = ()
    decimal: Annotated[DecimalMark | None, Field(description="Mark of decimals in numbers of a text file.")] = None
    dates: Annotated[DateOrder | None, Field(description="Order of dates such as 03/04/2020 in a text file.")] = None

    @property
    def is_elsewhere(self) -> bool:
        """Whether the table lies at an address, and not on this machine."""
        return self.path is not None and is_address(self.path)

    @contextmanager
    def brought_here(self, workspace: Path | None = None, progress: Progress | None = None) -> Iterator[Self]:
        """The source with its table on this machine, until the block ends; itself where the table is here already."""
        if self.path is None or not is_address(self.path):
            yield self
            return
        if workspace is not None:
            workspace.mkdir(parents=True, exist_ok=True)
        with temporary_directory(workspace) as folder:
            path = fetched(self.path, folder, self.table, progress)
            yield self.replace(path=str(path), table=None)

    @property
    def rules(self) -> TextRules:
        """How texts of a file are read."""
        return TextRules(missing=self.missing, decimal=self.decimal, dates=self.dates)

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.path is None) == (self.builtin is None):
            raise ValueError('give either path = "file.csv" or builtin = "census".')
        if self.path is not None and (self.rows is not None or self.seed is not None):
            raise ValueError("rows and seed are for generated built-in tables, not for a file.")
        reading = (self.sheet, self.encoding, self.missing or None, self.decimal, self.dates)
        if self.builtin is not None and any(one is not None for one in reading):
            raise ValueError("sheet, encoding, missing, decimal and dates are for files, not for a built-in table.")
        if self.table is not None and self.path is None:
            raise ValueError("table is for a database file, not for a built-in table.")
        return self


class Output(Model):
    """Where `anoncore run` puts a release: a folder or a file of this machine, or a database (`postgresql://`).

    `table` is the name of the release in a database.
    """

    title = "output"

    path: Annotated[FilePath, Field(description="Folder or file, relative to the recipe, or address of a database.")]
    table: Annotated[str | None, Field(min_length=1, description="Name of the release in a database.")] = None

    @model_validator(mode="after")
    def _known_place(self) -> Self:
        if is_address(self.path) and not is_database(self.path):
            raise ValueError(
                f"releases are written to folders and files of this machine and to postgresql:// addresses, and "
                f"'{shown_address(self.path)}' is another one."
            )
        if self.table is not None and not is_database(self.path):
            raise ValueError("table is for a database, and path is none.")
        return self


def load_source(source: Source, folder: Path) -> pd.DataFrame:
    """Read the table of a source; relative paths start at `folder`. Raises DataError or RecipeError where there is
    none.
    """
    if source.is_elsewhere:
        with source.brought_here() as here:
            return load_source(here, folder)
    if source.path is not None:
        path = folder / source.path
        if os.path.isdir(path) or path.suffix.lower() in DATABASES:
            return _folder_or_database(path, source)
        return read_table(
            folder / source.path,
            sheet=source.sheet,
            encoding=source.encoding,
            missing=source.missing,
            decimal=source.decimal,
            dates=source.dates,
        ).frame
    # The built-in tables build on this package, so they are looked up only when one is asked for.
    from anoncore.datasets import table

    entry = table(source.builtin or "")
    wanted = {"n_rows": source.rows, "seed": source.seed}
    given = {name: value for name, value in wanted.items() if value is not None}
    if given and not entry.generated:
        raise RecipeError(f"source: the table '{entry.name}' is not generated, so it takes no rows and no seed.")
    if source.rows is not None:
        require_memory(source.rows * len(entry.roles) * CELL_BYTES, f"A table of {source.rows:,} rows", FEWER_ROWS)
    return entry.load(**given)


def sheet_note(source: Source, folder: Path, how: str = "name it as sheet in [source]") -> str:
    """Which sheet of a workbook with several sheets is read, and how to choose another; empty where that is clear."""
    if (
        source.path is None
        or source.is_elsewhere
        or source.sheet is not None
        or Path(source.path).suffix.lower() not in WORKBOOKS
    ):
        return ""
    titles = table_sheets(folder / source.path)
    if len(titles) < 2:
        return ""
    return (
        f"{quoted(Path(source.path).name)} has {len(titles)} sheets, of which the first, {quoted(titles[0])}, is read. "
        f"To read another one, {how}: {listing(titles[1:])}."
    )


def _folder_or_database(path: Path, source: Source) -> pd.DataFrame:
    # DuckDB is loaded only for what the readers of single files do not know.
    from anoncore.sources.large_table import LargeTable

    with temporary_directory() as workspace:
        large_table = LargeTable(
            path,
            workspace,
            source.table,
            source.encoding,
            source.missing,
            decimal=source.decimal,
            dates=source.dates,
        )
        try:
            require_memory(large_table.n_rows * len(large_table.names) * CELL_BYTES, f"'{path.name}'", ON_DISK)
            return large_table.frame()
        finally:
            large_table.close()


def own_tags(builtin: str) -> dict[str, Any]:
    """The tags with which a built-in table describes itself, as arguments of Microdata; columns that it calls
    insensitive are left out, as nobody decided to publish them.
    """
    from anoncore.datasets import table

    entry = table(builtin)
    return {
        "roles": entry.protecting_roles,
        "kinds": entry.kinds,
        "orders": entry.orders,
        "hierarchies": {name: Hierarchy.from_nested(taxonomy) for name, taxonomy in entry.taxonomies.items()},
        "sensitive_values": entry.sensitive_values,
    }


def single_values(values: list[Any]) -> list[Any]:
    """The same list; ValueError for an entry that is a list or table itself."""
    for value in values:
        if isinstance(value, list | dict):
            raise ValueError(f"{quoted(value)} stands where a single value should.")
    return values


def table_value(value: Any) -> Any:
    """A value of a recipe as a table holds it: points in time become those of pandas."""
    return pd.Timestamp(value) if isinstance(value, date) else value


def _check_taxonomy(taxonomy: Any) -> Any:
    if isinstance(taxonomy, list):
        return single_values(taxonomy)
    for below in taxonomy.values() if isinstance(taxonomy, dict) else ():
        _check_taxonomy(below)
    return taxonomy


def _table_taxonomy(taxonomy: Any) -> Any:
    if isinstance(taxonomy, dict):
        return {group: _table_taxonomy(below) for group, below in taxonomy.items()}
    return [table_value(value) for value in taxonomy] if isinstance(taxonomy, list) else taxonomy


FORMS = ("taxonomy", "levels", "path", "width", "quantiles", "calendar", "prefix", "grid", "rare", "first_letter")
"""The fields of which a hierarchy has exactly one."""


class HierarchySpec(Model):
    """How a hierarchy is given: nested groups, lines of levels, a file, intervals of numbers, or a ready-made form."""

    title = "hierarchy"

    taxonomy: Annotated[
        dict[str, Any] | None,
        BeforeValidator(lambda value: plain(value, "taxonomy") if value is not None else None),
        AfterValidator(_check_taxonomy),
        Field(description="Nested groups; the lists at the bottom hold values."),
    ] = None
    levels: Annotated[
        list[list[Any]] | None,
        BeforeValidator(lambda value: plain(value, "levels") if value is not None else None),
        AfterValidator(lambda value: [single_values(line) for line in value] if value is not None else None),
        Field(description="One list per value: the value, then its generalizations up to the top."),
    ] = None
    path: Annotated[FilePath | None, Field(description="CSV file without header: value, generalizations.")] = None
    width: Annotated[float | None, Field(gt=0, description="Width of the lowest intervals.")] = None
    start: Annotated[float | None, Field(description="Where the first interval starts.")] = None
    quantiles: Annotated[int | None, Field(ge=1, description="Number of lowest intervals with equally many rows.")] = (
        None
    )
    fanout: Annotated[int, Field(ge=2, description="Intervals that each level joins to one of the next.")] = 2
    calendar: Annotated[
        tuple[Literal["day", "month", "quarter", "year", "decade"], ...] | None,
        Field(min_length=1, description="Levels of the calendar for dates."),
    ] = None
    prefix: Annotated[
        tuple[Annotated[int, Field(ge=1)], ...] | None,
        Field(min_length=1, description="First characters of a code that the levels keep, such as 4, 3, 2."),
    ] = None
    grid: Annotated[
        tuple[Annotated[float, Field(gt=0, allow_inf_nan=False)], ...] | None,
        Field(min_length=1, description="Widths of the cells of a grid for coordinates, level by level."),
    ] = None
    rare: Annotated[
        tuple[Annotated[float, Field(gt=0, lt=1)], ...] | None,
        Field(min_length=1, description="Shares of the rows below which a value joins the other rare ones, by level."),
    ] = None
    first_letter: Annotated[bool, Field(description="Group texts by their first letter.")] = False

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        forms = {name: getattr(self, name) for name in FORMS}
        if sum(value is not None and value is not False for value in forms.values()) != 1:
            raise ValueError(f"give exactly one of {', '.join(forms)}.")
        if self.start is not None and self.width is None:
            raise ValueError("start goes with width.")
        if self.fanout != 2 and self.width is None and self.quantiles is None:
            raise ValueError("fanout goes with width or quantiles.")
        return self

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> Self:
        """The levels of a hierarchy."""
        return cls(levels=[[value, *hierarchy.paths[value]] for value in hierarchy.leaves])

    @property
    def lists_values(self) -> bool:
        """Whether the values of the attribute stand in it, rather than a rule or the name of a file."""
        return self.levels is not None or self.taxonomy is not None

    def build(self, column: pd.Series[Any], folder: Path) -> Hierarchy:
        """The hierarchy of a column. Raises DataError where it cannot be read or the column does not fit."""
        if self.path is not None:
            return read_hierarchy(folder / self.path)
        if self.levels is not None:
            if not all(self.levels):
                raise DataError("an entry of levels is empty; each starts with a value.")
            return Hierarchy.from_table([[table_value(value), *labels] for value, *labels in self.levels])
        if self.taxonomy is not None:
            return Hierarchy.from_nested(_table_taxonomy(self.taxonomy))
        if self.calendar is not None:
            return calendar_hierarchy(column, self.calendar)
        if self.prefix is not None:
            return prefix_hierarchy(column, self.prefix)
        if self.grid is not None:
            return grid_hierarchy(column, self.grid)
        if self.rare is not None:
            return frequency_hierarchy(column, self.rare)
        if self.first_letter:
            return letter_hierarchy(column)
        numbers = numbers_of(column)
        if pd.api.types.is_datetime64_any_dtype(column.dtype) or (numbers.isna() & column.notna()).any():
            raise DataError("intervals need a column of numbers; use calendar for dates, or taxonomy, levels or path.")
        if self.width is not None:
            return Hierarchy.by_width(numbers, self.width, self.fanout, self.start)
        return Hierarchy.by_quantile(numbers, self.quantiles or 1, self.fanout)


def written(entry: Source | Output | HierarchySpec) -> dict[str, Any]:
    """The fields of a recipe's entry that were given, as plain values; addresses without what gives rights to them."""
    given: Mapping[str, Any] = entry.model_dump(exclude_defaults=True)
    values = {name: plain(value, name) for name, value in given.items()}
    if isinstance(values.get("path"), str) and is_address(values["path"]):
        values["path"] = kept_address(values["path"])
    if "width" in values or "quantiles" in values:
        # A recipe tells every value on which its release depends, also a default.
        values["fanout"] = entry.model_dump()["fanout"]
    return values
