"""Releases of the first table that ship with the program, so that the board is full before anything is compiled.

The file beside this module is written by `python -m tests.dashboard.ship`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from anoncore.measures.promise_marks import Mark
from anoncore.measures.verdict import Mend
from dashboard.board.facts import Facts, Judged, Slow
from dashboard.board.wording import Shown
from dashboard.session.loaded_table import LoadedTable, Tags
from dashboard.session.wishes import Wishes, from_plain

PATH = Path(__file__).resolve().parent / "shipped.json"
SEED = 1
"""Seed of the methods that draw at random, so that the file can be made again, here as well: everybody knows it."""


def columns(table: LoadedTable, tags: Tags, wishes: Wishes) -> tuple[Shown, ...] | None:
    """The columns as they ship, where exactly these are asked for; None for anything else."""
    # Rows that are folded away change no column.
    if not _is_of(table, tags) or replace(wishes, hidden=()) != _asked():
        return None
    return tuple(_shown(column) for column in _held()["columns"])


def unchanged(table: LoadedTable, tags: Tags, wishes: Wishes) -> dict[str, dict[str, Facts]]:
    """The columns whose release is asked for as it ships, whatever else is on the board, with those slow numbers that
    are asked for as well, by name.
    """
    if not _is_of(table, tags):
        return {}
    asked = _asked()
    if (wishes.levels, wishes.more, wishes.left_out) != (asked.levels, asked.more, asked.left_out):
        return {}
    is_same_adversary = (wishes.r, wishes.secret, wishes.target) == (asked.r, asked.secret, asked.target)
    # A release does not depend on the colour of its column.
    made = [replace(column, color=0) for column in wishes.columns]
    same = {column.id for column in asked.columns if replace(column, color=0) in made}
    return {one["id"]: one["slow"] if is_same_adversary else {} for one in _held()["columns"] if one["id"] in same}


def as_it_is(table: LoadedTable, tags: Tags) -> tuple[str, ...] | None:
    """What the table gives away before any release, in sentences; None for another table or other tags."""
    return tuple(_held()["as it is"]) if _is_of(table, tags) else None


def _is_of(table: LoadedTable, tags: Tags) -> bool:
    """Whether what ships is about this table with these tags."""
    held = _held()
    is_same = table.builtin == held["table"] and table.digest == held["digest"]
    return is_same and tags.digest == table.suggested.digest


@cache
def _held() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return found


@cache
def _asked() -> Wishes:
    """What was asked of the columns that ship."""
    return from_plain(_held()["wishes"])


def _shown(column: dict[str, Any]) -> Shown:
    slow = {name: Slow(exact=found) for name, found in column["slow"].items()}
    return Shown(
        column["id"],
        column["title"],
        column["color"],
        column["own"],
        "ready",
        "",
        tuple(Mark(**mark) for mark in column["marks"]),
        column["quick"],
        slow,
        judged=_judged(column["judged"]),
    )


def _judged(values: Facts) -> Judged:
    mend = Mend(tuple(values["mend"]["columns"]), values["mend"]["levels"])
    return Judged(**{**values, "not_asked": tuple(values["not_asked"]), "mend": mend})
