"""A session as one file: its tables, tags and finished releases, to be opened again later or on another machine.

The file is a zip of Parquet tables, TOML recipes and arrays of whole numbers; nothing in it is executed or unpacked to
disk, and its hierarchies may not name files. It holds the original tables and the seeds, so it is not for publication.
"""

from __future__ import annotations

import io
import json
import secrets
import zipfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args

import pandas as pd

from anoncore import AnonymizationError, Answers, DataError, Microdata, Recipe, Role, datasets
from anoncore.algorithms import Algorithm, Mondrian
from anoncore.base.pandas_versions import with_text
from anoncore.base.texts import listing
from anoncore.recipes.recipe import FIRST
from anoncore.recipes.release_file import packed, unpacked
from anoncore.recipes.saved_releases import (
    ALONE,
    FORMAT,
    MANIFEST,
    MOST_BYTES,
    MOST_MANIFEST,
    MOST_UNPACKED,
    VERSION,
    opened_session,
    published_table,
    require_few_rows,
    saved_recipe,
    saved_secret,
    saved_tables,
)
from anoncore.recipes.source import HierarchySpec, Source, table_value
from anoncore.sources import read_table
from anoncore.sources.apart import read_table_apart
from dashboard.session.loaded_table import LoadedTable, Tags, untagged
from dashboard.session.opened import LONGEST_TITLE, Opened, Rows, opened_alone
from dashboard.session.wishes import MOST_COLUMNS, Wishes, from_plain, own_parameters, promised, to_plain
from dashboard.session.workspace import Run, Workspace

MOST_NAMED = 5
MOST_RUNS = 12
"""Releases of a session that are read."""
Coded = Callable[[LoadedTable, Tags], Microdata]
BuiltIn = Callable[[str, int | None], LoadedTable]


@dataclass(frozen=True, eq=False)
class Saved:
    """What a session file holds: the table and tags it was saved with, the releases of the board's columns (`runs`),
    which of them was shown, and what was asked of the board, where it was looked at. `tables` are those of the file, in
    its order. `undecided` are columns of the table that a session of before published although nobody decided on them;
    they are left out now. `n_moved` releases that no column showed, as earlier versions made them on a page of their
    own, are columns now; `n_left` have no place on the board or are of another table. `answers` are for the dossier,
    and `steps_done` are those of lessons.
    """

    table: LoadedTable | None
    tags: Tags
    runs: tuple[Run, ...]
    current: int | None
    wishes: Wishes | None = None
    tables: tuple[LoadedTable, ...] = ()
    undecided: tuple[str, ...] = ()
    n_moved: int = 0
    n_left: int = 0
    answers: Answers = field(default_factory=Answers)
    steps_done: frozenset[str] = frozenset()


def save(here: Workspace) -> bytes:
    """The workspace as a file, with what is asked of the board. Raises DataError for a table that would not come back
    exactly.
    """
    content, tables = parts(here)
    own = {number: table_content(table) for number, table in enumerate(tables) if table.builtin is None}
    return joined(content, own, zipfile.ZIP_DEFLATED)


def parts(here: Workspace) -> tuple[bytes, tuple[LoadedTable, ...]]:
    """The file of a workspace without the content of its tables, and the tables in the order in which it names them."""
    with here.lock:
        # Nobody's rows are no codes of the table's; a column of the board makes them anew, and tables that were opened
        # are read again.
        runs = tuple(run for run in here.runs if run.opened is not None or not run.release.is_synthetic)
        table, tags, wishes, current, answers = here.table, here.tags, here.wishes, here.current, here.answers
    columns = () if wishes is None else wishes.columns
    shown = [*(one.opened for one in columns), *(one.opened for one in runs)]
    opened = tuple(dict.fromkeys(one for one in shown if one is not None))
    tables: dict[str, LoadedTable] = {one.id: one for one in [*(run.table for run in runs), table] if one is not None}
    place = {id: number for number, id in enumerate(tables)}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as file:
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "tables": [_about_table(one) for one in tables.values()],
            "opened": [_write_opened(file, number, one, tuple(tables.values())) for number, one in enumerate(opened)],
            "runs": [
                _write_run(file, number, run, place[run.table.id], opened)
                for number, run in enumerate(runs)
                if run.table is not None
            ],
            "current": next((number for number, run in enumerate(runs) if run.id == current), None),
            "table": None if table is None else place[table.id],
            **_secret(tags),
            "board": None if wishes is None else to_plain(wishes, opened),
            "answers": answers.to_dict(),
            "steps_done": sorted(here.steps_done),
        }
        file.writestr("tags.toml", _recipe(Mondrian(), tags))
        text = json.dumps(manifest)
        if len(text) > MOST_MANIFEST:
            raise DataError("There is too much in this session for one file; remove some releases, and save it again.")
        file.writestr(MANIFEST, text)
    return content.getvalue(), tuple(tables.values())


def joined(content: bytes, tables: Mapping[int, bytes], packing: int = zipfile.ZIP_STORED) -> bytes:
    """The file of a workspace from what `parts` made and the contents of its tables, by their numbers."""
    whole = io.BytesIO(content)
    with zipfile.ZipFile(whole, "a", packing, compresslevel=3) as file:
        for number, table in tables.items():
            file.writestr(f"tables/{number}.parquet", table)
    return whole.getvalue()


def read(content: bytes, built_in: BuiltIn, coded: Coded, is_trusted: bool = False) -> Saved:
    """The session in a file; `built_in` loads a built-in table, `coded` codes a table by its tags.

    `is_trusted`: this program wrote the file and nobody can have changed it, so that what it says of the content of its
    tables is believed.

    Raises DataError, with a sentence for the page, for a file that is no session, is damaged, or is too large.
    """
    with opened_session(content, MOST_BYTES, MOST_UNPACKED) as (file, manifest):
        return _read(file, manifest, built_in, coded, is_trusted)


def restore(here: Workspace, saved: Saved) -> None:
    """Put the session into a workspace: its table, tags, wishes and releases replace those of now."""
    with here.lock:
        here.steps_done |= saved.steps_done
        if saved.table is not None:
            here.load(saved.table, saved.tags)
            here.answers = saved.answers
        if saved.undecided:
            here.notices.append(
                f"Nobody decided on {listing(saved.undecided, MOST_NAMED)}, which an earlier version published as it "
                "was. Now it is left out of every release until somebody decides."
            )
        if saved.n_moved:
            here.notices.append(
                f"{saved.n_moved:,} {'release' if saved.n_moved == 1 else 'releases'} of this session stood beside the "
                "board. They are columns of it now, under what is asked of all."
            )
        if saved.n_left:
            here.notices.append(
                f"{saved.n_left:,} more {'is' if saved.n_left == 1 else 'are'} of another table, or had no place on "
                "the board, and stayed in the file."
            )
        runs = [replace(run, owner=here.id) for run in saved.runs]
        here.show_on_board(runs)
        if saved.current is not None and saved.current < len(runs):
            here.select_run(runs[saved.current].id)
        if saved.wishes is not None:
            here.begin_history(here.tags, saved.wishes, is_live=bool(runs))


def _about_table(table: LoadedTable) -> dict[str, Any]:
    about: dict[str, Any] = {"name": table.name, "digest": table.digest, "notes": list(table.notes)}
    if table.sheet is not None:
        about["sheet"] = table.sheet
    if table.drawn_from is not None:
        about["drawn from"] = table.drawn_from
    if table.builtin is not None:
        generated = datasets.table(table.builtin).generated
        return {**about, "builtin": table.builtin, "rows": len(table.frame) if generated else None}
    return about


def table_content(table: LoadedTable) -> bytes:
    """A table as a Parquet file. Raises DataError for one that would not come back exactly."""
    return _frame_content(table.frame, table.name)


def _frame_content(frame: pd.DataFrame, name: str) -> bytes:
    """A table as a Parquet file. Raises DataError where it would not come back exactly."""
    content = io.BytesIO()
    try:
        frame.to_parquet(content, index=False)
        same = read_table(content.getvalue(), "table.parquet").frame.equals(with_text(frame.reset_index(drop=True)))
    except (AnonymizationError, ValueError, TypeError):
        same = False
    if not same:
        raise DataError(f"The table '{name}' cannot be saved so that it comes back exactly.")
    return content.getvalue()


def _write_opened(file: zipfile.ZipFile, number: int, opened: Opened, tables: Sequence[LoadedTable]) -> dict[str, Any]:
    """The tables of a release that was made elsewhere; one that is judged by itself is among the session's `tables`."""
    if opened.rows == ALONE:
        return {"rows": ALONE, "table": [opened_alone(one) for one in tables].index(opened)}
    frames = opened.frames
    for place, (name, frame) in enumerate(frames.items()):
        file.writestr(published_table(number, place), _frame_content(frame, name))
    return {
        "title": opened.title,
        "rows": opened.rows,
        "files": list(opened.files),
        "tables": list(frames),
        "notes": list(opened.notes),
    }


def _write_run(file: zipfile.ZipFile, number: int, run: Run, table: int, opened: Sequence[Opened]) -> dict[str, Any]:
    """A run with its release; what was made elsewhere is read again from its tables instead."""
    description, arrays = ({}, []) if run.opened is not None else packed(run.release)
    file.writestr(f"runs/{number}.toml", _recipe(run.algorithm or Mondrian(), run.tags))
    for place, array in enumerate(arrays):
        file.writestr(f"runs/{number}/{place}", array)
    return {
        "opened": None if run.opened is None else opened.index(run.opened),
        "label": run.label,
        "table": table,
        "seconds": run.seconds,
        "compile_seconds": run.compile_seconds,
        "created": run.created.isoformat(),
        "color": run.color_index,
        "column": run.column,
        "arrays": len(arrays),
        "release": description,
        **_secret(run.tags),
    }


def _secret(tags: Tags) -> dict[str, str]:
    """What shifts dates and makes pseudonyms, where something does; the file is not for publication."""
    return {"secret": tags.secret} if tags.is_prepared else {}


def _recipe(algorithm: Algorithm, tags: Tags) -> str:
    recipe = Recipe(
        Source(path="table"),
        algorithm,
        hierarchies={name: HierarchySpec.of(hierarchy) for name, hierarchy in tags.hierarchies.items()},
        sensitive_values={name: list(values) for name, values in tags.sensitive_values.items()},
        **tags.in_recipe(),
    )
    return recipe.dumps(with_seed=True)


def _read(
    file: zipfile.ZipFile, manifest: Mapping[str, Any], built_in: BuiltIn, coded: Coded, is_trusted: bool
) -> Saved:
    tables = [_read_table(file, number, about, built_in, is_trusted) for number, about in enumerate(manifest["tables"])]
    elsewhere = manifest.get("opened", ())
    opened = [_read_opened(file, number, about, tables, is_trusted) for number, about in enumerate(elsewhere)]
    runs = tuple(
        _read_run(file, number, about, tables, opened, coded)
        for number, about in enumerate(manifest["runs"][:MOST_RUNS])
    )
    table = None if manifest["table"] is None else tables[_place(manifest["table"])]
    recipe = saved_recipe(file, "tags.toml")
    tags, undecided = (Tags(), ()) if table is None else (_tags(recipe, table, manifest), _undecided(recipe, table))
    shown = None if manifest["current"] is None else _place(manifest["current"])
    asked = manifest.get("board")
    wishes = None
    if asked is not None and table is not None:
        wishes = from_plain(asked, opened, [run.algorithm for run in runs])
        in_column = {about.get("run"): str(about["id"]) for about in asked["columns"]}
        runs = tuple(replace(run, column=in_column.get(place, run.column)) for place, run in enumerate(runs))
    before = runs[shown] if shown is not None and shown < len(runs) else None
    wishes, runs, n_moved = _on_board(runs, wishes, before, table)
    current = next((place for place, run in enumerate(runs) if before is not None and run.id == before.id), None)
    n_left = len(manifest["runs"]) - len(runs)
    answers = Answers(**manifest.get("answers", {}))
    steps_done = frozenset(map(str, manifest.get("steps_done", ())))
    return Saved(table, tags, runs, current, wishes, tuple(tables), undecided, n_moved, n_left, answers, steps_done)


def _on_board(
    runs: tuple[Run, ...], wishes: Wishes | None, shown: Run | None, table: LoadedTable | None
) -> tuple[Wishes | None, tuple[Run, ...], int]:
    """The wishes with a column for every release of the table, the releases with their columns, and how many got one.

    Earlier versions kept releases that no column showed. Where the board was not looked at either, the promises of the
    release that was shown are asked of all.
    """
    columns = set() if wishes is None else {column.id for column in wishes.columns}
    placed: list[Run] = []
    n_moved = 0
    for run in runs:
        if run.column in columns:
            placed.append(run)
        elif table is not None and run.table is not None and run.table.id == table.id:
            shown = run if shown is None or shown.table is None or shown.table.id != table.id else shown
            asked = wishes or promised(shown.promises, shown.data)
            if len(asked.columns) == MOST_COLUMNS:
                continue
            method, fields = ("", {}) if run.algorithm is None else own_parameters(run.algorithm)
            wishes = asked.with_column(method, fields, run.opened)
            placed.append(replace(run, column=wishes.columns[-1].id, color_index=wishes.columns[-1].color))
            n_moved += 1
    return wishes, tuple(placed), n_moved


def _read_table(
    file: zipfile.ZipFile, number: int, about: Mapping[str, Any], built_in: BuiltIn, is_trusted: bool
) -> LoadedTable:
    if about.get("builtin") is not None:
        rows = about["rows"]
        require_few_rows(None if rows is None else _place(rows))
        return built_in(str(about["builtin"]), rows)
    read = read_table if is_trusted else read_table_apart
    source = read(file.read(f"tables/{number}.parquet"), "table.parquet", max_bytes=MOST_BYTES)
    notes = tuple(str(note) for note in about["notes"])
    # Of a visitor's file the digest is taken anew: two files that claim one digest for two tables would mix up what is
    # computed for them.
    digest = str(about["digest"]) if is_trusted else source.digest
    sheet = str(about["sheet"]) if "sheet" in about else None
    drawn_from = _place(about["drawn from"]) if "drawn from" in about else None
    name, plain = str(about["name"]), untagged(source.frame)
    return LoadedTable(secrets.token_hex(8), name, source.frame, digest, notes, None, plain, sheet, drawn_from)


def _read_opened(
    file: zipfile.ZipFile, number: int, about: Mapping[str, Any], tables: Sequence[LoadedTable], is_trusted: bool
) -> Opened:
    """The tables of a release that was made elsewhere. Raises ValueError for what `_write_opened` never writes."""
    if about["rows"] == ALONE:
        return opened_alone(tables[_place(about["table"])])
    if about["rows"] not in get_args(Rows):
        raise ValueError
    frames = saved_tables(file, number, about, read_table if is_trusted else read_table_apart)
    digest = sha256(b"".join(file.read(published_table(number, place)) for place in range(len(frames)))).hexdigest()
    files, notes = (tuple(str(one) for one in about[part]) for part in ("files", "notes"))
    return Opened(str(about["title"])[:LONGEST_TITLE], digest, about["rows"], files, frames, notes)


def _read_run(
    file: zipfile.ZipFile,
    number: int,
    about: Mapping[str, Any],
    tables: list[LoadedTable],
    opened: Sequence[Opened],
    coded: Coded,
) -> Run:
    table = tables[_place(about["table"])]
    recipe = saved_recipe(file, f"runs/{number}.toml")
    tags = _tags(recipe, table, about)
    data = coded(table, tags)
    published = None if about.get("opened") is None else opened[_place(about["opened"])]
    if published is not None:
        release = published.read(data, tags)
    else:
        arrays = [file.read(f"runs/{number}/{place}") for place in range(_place(about["arrays"]))]
        description = _without(about["release"], _undecided(recipe, table))
        release = unpacked(description, arrays, data, recipe.algorithm)
    created = datetime.fromisoformat(about["created"])
    return Run(
        id=secrets.token_hex(8),
        label=str(about["label"])[:200],
        algorithm=recipe.algorithm if published is None else None,
        opened=published,
        data=release.data,
        release=release,
        seconds=float(about["seconds"]),
        compile_seconds=float(about.get("compile_seconds", 0.0)),
        created=created if created.tzinfo is not None else created.replace(tzinfo=UTC),
        color_index=_place(about["color"]) % MOST_COLUMNS,
        table_name=table.name,
        tags=tags,
        table=table,
        column=str(about.get("column", "")),
    )


def _undecided(recipe: Recipe, table: LoadedTable) -> tuple[str, ...]:
    """The columns on which nobody decided when a session of before was saved: there a column of one's own table was
    insensitive until it was tagged.
    """
    if recipe.format != FIRST or table.builtin is not None:
        return ()
    return tuple(name for name, role in recipe.roles.items() if role == Role.INSENSITIVE)


def _without(description: Mapping[str, Any], columns: Collection[str]) -> Mapping[str, Any]:
    """A release as it was written, but for columns on which nobody decided; they are left out, and it says so."""
    fragments = [
        {**part, "recodings": {name: one for name, one in part["recodings"].items() if name not in columns}}
        for part in description["fragments"]
    ]
    if not columns or fragments == list(description["fragments"]):
        return description
    note = f"Nobody decided on {listing(tuple(columns))}, so what this release had of them is left out."
    fragments = [part for part in fragments if part["recodings"]]
    return {**description, "fragments": fragments, "notes": [*description["notes"], note]}


def _tags(recipe: Recipe, table: LoadedTable, about: Mapping[str, Any]) -> Tags:
    undecided, secret = _undecided(recipe, table), saved_secret(about)
    tags = Tags(
        roles={name: role for name, role in recipe.roles.items() if name not in undecided},
        kinds=dict(recipe.kinds),
        orders={name: tuple(table_value(value) for value in values) for name, values in recipe.orders.items()},
        hierarchies={name: spec.build(table.frame[name], Path()) for name, spec in recipe.hierarchies.items()},
        sensitive_values={
            name: tuple(table_value(value) for value in values) for name, values in recipe.sensitive_values.items()
        },
        unit=recipe.unit,
    )
    if secret is None:
        return tags
    days = [one.shift for one in recipe.dates.values()]
    return replace(
        tags,
        shifted=tuple(recipe.dates),
        most_days=days[0] if days else tags.most_days,
        is_pseudonym=bool(recipe.pseudonyms),
        secret=secret.hex(),
    )


def _place(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError
    return value
