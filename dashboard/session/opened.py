"""Releases that were made elsewhere: the published tables that a visitor opens beside the loaded table."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import PurePath
from typing import Any, Literal

from anoncore import AnonymizationError, DataError, Microdata, Release
from anoncore.base.texts import listing, quoted
from dashboard.markdown import distinct
from dashboard.session.loaded_table import LoadedTable, Tags, untagged
from dashboard.tasks import reading

Rows = Literal["people", "synthetic", "alone"]
"""Whose rows the tables hold: those of the people of the loaded table, nobody's, or it is not known whose, as the
original is not here.
"""
SEVERAL_ALONE = (
    "{name} is the loaded table itself, so the original of these tables is not here, and only the original tells "
    "which of their attributes are known to others and which are secret. Load the table that they were made of, and "
    "open them beside it. If you do not have it, judge them together in Python: Release.from_published takes all of "
    "them by name, with a role for each column."
)
MOST_TABLES = 12
MOST_BYTES = 200 << 20
MOST_UNPACKED = 2 << 30
LONGEST_TITLE = 40
ENDINGS = (".csv", ".tsv", ".txt", ".gz", ".parquet", ".pq", ".xlsx", ".xlsm")
"""What tables in a zip are called; everything else in it, such as a certificate, is no table."""
ZIP = b"PK\x03\x04"
WORKBOOK = "[Content_Types].xml"
"""The member by which a workbook differs from other zips."""


@dataclass(frozen=True)
class Opened:
    """Published tables as they were opened, by name, and what they are called on the board.

    Two of them are equal where they hold the same content, read in the same way, under the same title. `files` are the
    names of the files; `notes` say how these were read.
    """

    title: str
    digest: str
    rows: Rows
    files: tuple[str, ...]
    frames: Mapping[str, Any] = field(compare=False, repr=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    @property
    def told(self) -> str:
        """Where it comes from, in a few words."""
        if self.rows == "alone":
            return "the loaded table as a release; its original is not here"
        kind = "synthetic, " if self.rows == "synthetic" else ""
        return f"{kind}made elsewhere, read from {listing(self.files)}"

    @property
    def n_bytes(self) -> int:
        """Memory of the tables in bytes; a table that is judged by itself is counted where it was loaded."""
        if self.rows == "alone":
            return 0
        return sum(int(frame.memory_usage(deep=True).sum()) for frame in self.frames.values())

    def read(self, data: Microdata, tags: Tags) -> Release:
        """The release, read against the loaded table as it is tagged; alone, the loaded table is all that there is.

        Raises DataError for what cannot be read, with column, row and cell.
        """
        if self.rows != "alone":
            self._require_original(data)
            return Release.from_published(self.frames, original=data, rows=self.rows)
        return Release.from_published(
            self.frames,
            tags.roles,
            # A guess from texts such as 20-29 would say that they are no ranges of numbers.
            kinds=dict(_said_kinds(tags, self.frames)),
            orders=tags.orders,
            hierarchies=tags.hierarchies,
            sensitive_values=tags.sensitive_values,
        )

    def _require_original(self, data: Microdata) -> None:
        """Raise DataError where the loaded table is one of several published ones, and so not their original."""
        if len(self.frames) < 2:
            return
        for name, frame in self.frames.items():
            if list(frame) == list(data.frame) and frame.equals(data.frame.reset_index(drop=True)):
                raise DataError(SEVERAL_ALONE.format(name=quoted(name)))


def _said_kinds(tags: Tags, frames: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The kinds of attributes that somebody has set, and not those that were guessed from the cells."""
    guessed = {name: kind for frame in frames.values() for name, kind in untagged(frame).kinds.items()}
    for name, kind in tags.kinds.items():
        if kind != guessed.get(name):
            yield name, kind


def opened_alone(table: LoadedTable) -> Opened:
    """The loaded table as a release that somebody made of a table that is not here."""
    name = PurePath(table.name).stem[:LONGEST_TITLE]
    return Opened(name, f"alone {table.digest}", "alone", (table.name,), {"release": table.frame}, table.notes)


def usual_title(names: Sequence[str]) -> str:
    """What a release of these files is called unless somebody says otherwise."""
    first = PurePath(names[0]).stem[:LONGEST_TITLE]
    return first if len(names) == 1 else f"{first} and {len(names) - 1} more"


def opened_files(
    files: Sequence[tuple[str, bytes]],
    title: str,
    rows: Rows = "people",
    most_bytes: int = MOST_BYTES,
    owner: str = "",
    make_room: Callable[[], object] | None = None,
) -> Opened:
    """Read published files: each is a table, a workbook with a table per sheet, or a zip of such files.

    `owner` is the workspace for which they are read, and `make_room` lets go of what nobody looks at.

    Raises DataError for a file that is no table, and for too many of them.
    """
    tables: list[tuple[str, Any]] = []
    notes: list[str] = []
    digest = sha256()
    for name, content in (member for file in files for member in _unpacked(*file)):
        digest.update(sha256(content).digest())
        sheets = reading.sheets(content, name, most_bytes, owner, make_room)
        for sheet in sheets if len(sheets) > 1 else (None,):
            if len(tables) == MOST_TABLES:
                raise DataError(f"A release of more than {MOST_TABLES} tables cannot be opened here.")
            source = reading.table(content, name, most_bytes, owner, make_room, sheet=sheet)
            stem = PurePath(name).stem if sheet is None else sheet
            tables.append((stem, source.frame))
            notes += [f"{stem}: {note}" for note in source.notes]
    names = tuple(name for name, _ in files)
    frames = dict(zip(distinct(stem for stem, _ in tables), (frame for _, frame in tables), strict=True))
    return Opened(
        title.strip()[:LONGEST_TITLE] or usual_title(names), digest.hexdigest(), rows, names, frames, tuple(notes)
    )


def _unpacked(name: str, content: bytes) -> list[tuple[str, bytes]]:
    """The tables in a zip by their names; any other file by itself."""
    if not content.startswith(ZIP):
        return [(name, content)]
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            members = [one for one in file.infolist() if one.filename.lower().endswith(ENDINGS)]
            if WORKBOOK in file.namelist():
                return [(name, content)]
            if not members:
                raise DataError(f"The zip {quoted(name)} holds no table; there should be CSV, Parquet or Excel files.")
            if sum(one.file_size for one in members) > MOST_UNPACKED:
                raise DataError(f"The zip {quoted(name)} would take more than 2 GB of memory; open its tables apart.")
            return [(PurePath(one.filename).name, file.read(one)) for one in members]
    except AnonymizationError:
        raise
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError, ValueError):
        raise DataError(
            f"The zip {quoted(name)} is damaged or has a password; unpack it and open its tables."
        ) from None
