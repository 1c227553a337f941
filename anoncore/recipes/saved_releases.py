"""The releases in a saved session, for commands that lay an earlier release beside a new one.

A session is a zip of Parquet tables, TOML recipes and arrays of whole numbers; nothing in it is executed or unpacked to
disk, and its hierarchies may not name files.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from anoncore.base.errors import AnonymizationError, DataError
from anoncore.base.texts import quoted
from anoncore.recipes.recipe import Recipe
from anoncore.recipes.release_file import unpacked
from anoncore.recipes.source import Source, load_source
from anoncore.release.release import Release
from anoncore.sources import TableSource, read_table

FORMAT = "anoncore session"
VERSION = 1
MOST_BYTES = 200 << 20
MOST_UNPACKED = 2 << 30
MOST_MANIFEST, MOST_RECIPE = 4 << 20, 16 << 20
"""Bytes of the texts of a session: what reads them takes some thirty times as much memory."""
MOST_PARTS = 100
"""Tables, or releases that were made elsewhere, in one session."""
MOST_OPENED = 12
"""Tables of a release that was made elsewhere."""
MOST_ROWS = 1_000_000
MANIFEST = "session.json"
OF_PEOPLE, ALONE = "people", "alone"
"""What a session says of published tables: their rows are those of the table's people, or their original is not known.
"""
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    KeyError,
    ValueError,
    TypeError,
    IndexError,
    AttributeError,
    EOFError,
    OSError,
    RuntimeError,
)
"""What reading parts that do not fit together raises; RecursionError and NotImplementedError are RuntimeErrors."""


@contextmanager
def opened_session(
    content: bytes, most_bytes: int = MOST_BYTES, most_unpacked: int = MOST_UNPACKED
) -> Iterator[tuple[zipfile.ZipFile, dict[str, Any]]]:
    """The zip of a session and what it says of its parts; whatever fails while it is open is told in a sentence.

    Raises DataError for a file that is no session, is damaged, or is too large.
    """
    if len(content) > most_bytes:
        raise DataError(f"The session file is larger than {most_bytes >> 20} MB; it cannot be opened here.")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            members = file.infolist()
            if any(one.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for one in members):
                raise DataError("The session file is packed in a way that this program never uses; save it anew.")
            if sum(one.file_size for one in members) > most_unpacked:
                raise DataError("The session file would take more than 2 GB of memory; it cannot be opened here.")
            manifest = json.loads(_text(file, MANIFEST, MOST_MANIFEST))
            if manifest["format"] != FORMAT or manifest["version"] != VERSION:
                raise DataError("The session file is of another version of the program; open it there.")
            for part in ("tables", "opened"):
                if len(manifest.get(part, ())) > MOST_PARTS:
                    raise DataError(f"The session file has more than {MOST_PARTS} tables; it cannot be opened here.")
            yield file, manifest
    except AnonymizationError:
        raise
    except DAMAGE:
        raise DataError(
            "This is not a session file, or it is damaged; choose a file that 'Save this session' made."
        ) from None


def _text(file: zipfile.ZipFile, name: str, most: int) -> bytes:
    """The content of a member that is a text. Raises DataError for one that is larger than any that is written."""
    if file.getinfo(name).file_size > most:
        raise DataError(f"The session file says more than {most >> 20} MB in '{name}'; it was changed by hand.")
    return file.read(name)


def saved_recipe(file: zipfile.ZipFile, name: str) -> Recipe:
    """A recipe in a session. Raises DataError where a hierarchy of it would be read from a file."""
    recipe = Recipe.loads(_text(file, name, MOST_RECIPE).decode())
    if any(spec.levels is None for spec in recipe.hierarchies.values()):
        raise DataError("A hierarchy in the session file is not written out; the file was changed by hand.")
    return recipe


def saved_secret(about: Mapping[str, Any]) -> bytes | None:
    """The secret by which a session prepares a table again; None where nothing is prepared."""
    secret = about.get("secret")
    return None if secret is None else bytes.fromhex(secret)


def require_few_rows(rows: int | None) -> None:
    """Raise DataError for a made-up table of more rows than a session may ask for."""
    if rows is not None and rows > MOST_ROWS:
        raise DataError(f"The session file asks for a made-up table of more than {MOST_ROWS:,} rows.")


def saved_tables(
    file: zipfile.ZipFile, number: int, about: Mapping[str, Any], read: Callable[..., TableSource] = read_table
) -> dict[str, pd.DataFrame]:
    """The published tables of a release that was made elsewhere, by name, as a session holds them.

    `read` is what reads each of them. Raises DataError for more tables than any release has.
    """
    if len(about["tables"]) > MOST_OPENED:
        raise DataError(f"The session file has a release of more than {MOST_OPENED} tables; it cannot be opened here.")
    return {
        str(name): read(file.read(published_table(number, place)), "table.parquet", max_bytes=MOST_BYTES).frame
        for place, name in enumerate(about["tables"])
    }


def published_table(number: int, place: int) -> str:
    """The member of a session that holds one table of a release that was made elsewhere."""
    return f"opened/{number}/{place}.parquet"


def saved_releases(path: Path) -> list[Release]:
    """The releases of the session in a file, in the order of its runs.

    Those that were made elsewhere are read again from their tables. One whose original is not known, or whose rows are
    nobody's, is left out: it does not tell which of its rows is whose, so no other release can be laid beside it.

    Raises DataError for a file that cannot be read, is no session, is damaged, or is too large.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise DataError(f"The saved session {quoted(path.name)} cannot be read: {reason}.") from None
    with opened_session(content) as (file, manifest):
        frames: dict[int, pd.DataFrame] = {}
        releases = []
        for number, run in enumerate(manifest["runs"]):
            place = run["table"]
            if place not in frames:
                frames[place] = _frame(file, place, manifest["tables"][place])
            recipe, secret = saved_recipe(file, f"runs/{number}.toml"), saved_secret(run)
            if run.get("opened") is not None:
                about = manifest["opened"][run["opened"]]
                if about["rows"] == OF_PEOPLE:
                    tables = saved_tables(file, run["opened"], about)
                    releases.append(Release.from_published(tables, original=recipe.tagged(frames[place], True, secret)))
                continue
            arrays = [file.read(f"runs/{number}/{one}") for one in range(run["arrays"])]
            data = recipe.tagged(frames[place], True, secret)
            releases.append(unpacked(run["release"], arrays, data, recipe.algorithm))
    return releases


def _frame(file: zipfile.ZipFile, place: int, about: Mapping[str, Any]) -> pd.DataFrame:
    """A table of a session: a built-in one made again, or the one that lies in it."""
    if about.get("builtin") is None:
        return read_table(file.read(f"tables/{place}.parquet"), "table.parquet", max_bytes=MOST_BYTES).frame
    require_few_rows(about["rows"])
    return load_source(Source(builtin=str(about["builtin"]), rows=about["rows"]), Path())
