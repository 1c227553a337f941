"""Workspaces that outlive a restart: each lies encrypted in a folder of its own, and changes are written soon.

A table is written once; the rest, which is small, whenever it has changed. What is being computed is not kept, nor what
was entered into a form and not used yet.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anoncore import AnonymizationError, DataError
from anoncore.recipes.saved_releases import MOST_BYTES
from dashboard.serving import vault
from dashboard.serving.vault import Vault
from dashboard.session import session_file
from dashboard.session.session_file import BuiltIn, Coded, Saved
from dashboard.session.workspace import Workspace

SESSION, PEOPLE = "session", "people"
LENGTH_BYTES = 8
_logger = logging.getLogger(__name__)
_lock = threading.RLock()
_written: dict[str, Any] = {}
_table_files: dict[str, str] = {}
_told: set[str] = set()


@dataclass(frozen=True, eq=False)
class Kept:
    """A workspace as it was kept: its id, whose it is, and what is in it."""

    id: str
    owner: str
    person: str
    saved: Saved


def save(here: Workspace) -> None:
    """Write a workspace that has changed since it was written last; what cannot be kept is told to the visitor once."""
    place = vault.of_workspaces()
    if place is None:
        return
    with _lock:
        state = _state(here)
        if _written.get(here.id) == state:
            return
        try:
            _write(place, here)
        except (AnonymizationError, OSError, MemoryError) as error:
            reason = str(error) if isinstance(error, AnonymizationError) else "The disk of the server refused it."
            if isinstance(error, OSError):
                _logger.error("A workspace could not be kept: %s", error.strerror)
            if here.id not in _told:
                _told.add(here.id)
                here.notices.append(f"This workspace will not outlive a restart of the server. {reason}")
            return
        _written[here.id] = state
        _told.discard(here.id)


def _state(here: Workspace) -> Any:
    """What tells whether a workspace has changed."""
    with here.lock:
        runs = tuple((run.id, run.label, run.column, run.color_index) for run in here.runs)
        table = here.table.id if here.table is not None else None
        return table, here.tags.digest, runs, here.current, here.wishes, here.answers, here.steps_done


def _write(place: Vault, here: Workspace) -> None:
    group = place.name_of(here.id)
    content, tables = session_file.parts(here)
    names: dict[str, str] = {}
    for number, table in enumerate(tables):
        if table.builtin is None:
            name = names[str(number)] = _table_files.setdefault(table.id, place.name_of(f"{here.id} {table.id}"))
            if not place.holds(group, name):
                packed = session_file.table_content(table)
                if len(packed) > MOST_BYTES:
                    raise DataError(f"The table takes more than {MOST_BYTES >> 20} MB when it is packed.")
                place.write(group, name, packed)
    about = {"id": here.id, "owner": here.owner, "person": here.person, "tables": names}
    head = json.dumps(about).encode()
    place.write(group, SESSION, len(head).to_bytes(LENGTH_BYTES, "big") + head + content)
    if here.owner:
        place.write(PEOPLE, place.name_of(here.owner), here.id.encode())
    for path in place.files(group):
        if path.name not in {SESSION, *names.values()}:
            place.remove(group, path.name)


def load(id: str, built_in: BuiltIn, coded: Coded) -> Kept | None:
    """The kept workspace of this id; None where there is none, or where it cannot be opened."""
    place = vault.of_workspaces()
    if place is None:
        return None
    group = place.name_of(id)
    try:
        with _lock:
            content = place.read(group, SESSION)
            if content is None:
                return None
            begin = LENGTH_BYTES + int.from_bytes(content[:LENGTH_BYTES], "big")
            about = json.loads(content[LENGTH_BYTES:begin])
            tables = {int(number): place.read(group, name) for number, name in about["tables"].items()}
        if any(table is None for table in tables.values()):
            raise DataError("A table of a kept workspace is gone.")
        whole = session_file.joined(content[begin:], {number: table or b"" for number, table in tables.items()})
        saved = session_file.read(whole, built_in, coded, is_trusted=True)
    except AnonymizationError as error:
        _logger.error("A workspace that was kept cannot be opened: %s", error)
        return None
    for number, table in enumerate(saved.tables):
        if str(number) in about["tables"]:
            _table_files[table.id] = about["tables"][str(number)]
    return Kept(about["id"], about["owner"], about["person"], saved)


def note_written(here: Workspace) -> None:
    """Note that a workspace is kept as it is now."""
    with _lock:
        _written[here.id] = _state(here)


def id_of(owner: str) -> str | None:
    """The id of the workspace that is kept for a person."""
    place = vault.of_workspaces()
    if place is None or not owner:
        return None
    try:
        found = place.read(PEOPLE, place.name_of(owner))
    except DataError as error:
        _logger.error("The workspace of a person cannot be looked up: %s", error)
        return None
    return None if found is None else found.decode()


def touch(here: Workspace) -> None:
    """Note that somebody still works with a workspace."""
    place = vault.of_workspaces()
    if place is not None:
        place.touch(place.name_of(here.id), SESSION)
        if here.owner:
            place.touch(PEOPLE, place.name_of(here.owner))


def remove(here: Workspace) -> None:
    """Remove what is kept of a workspace."""
    place = vault.of_workspaces()
    if place is None:
        return
    with _lock:
        place.remove(place.name_of(here.id))
        _written.pop(here.id, None)


def sweep(keep_seconds: float) -> None:
    """Remove the workspaces that nobody has worked with for so long, also those of before a restart."""
    place = vault.of_workspaces()
    if place is None:
        return
    oldest = time.time() - keep_seconds
    with _lock:
        for group in list(place.groups()):
            if group == vault.SIGN_INS:
                continue
            if group == PEOPLE:
                stale = [path for path in place.files(group) if _is_older(path, oldest)]
                for path in stale:
                    place.remove(group, path.name)
            elif all(_is_older(path, oldest) for path in place.files(group)):
                place.remove(group)


def _is_older(path: Path, time: float) -> bool:
    try:
        return path.stat().st_mtime < time
    except FileNotFoundError:
        return True
