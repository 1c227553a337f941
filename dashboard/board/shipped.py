"""Releases of the first table that ship with the program, so that the board is full before anything is compiled.

The file beside this module is written by `python -m tests.dashboard.ship`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from anoncore.measures.promise_marks import Mark
from anoncore.measures.verdict import Mend
from dashboard.board.facts import Facts, Judged, Slow
from dashboard.board.wording import Shown
from dashboard.session.loaded_table import LoadedTable, Tags
from dashboard.session.wishes import Wishes

PATH = Path(__file__).resolve().parent / "shipped.json"
SEED = 1
"""Seed of the methods that draw at random, so that the file can be made again, here as well: everybody knows it."""


def columns(table: LoadedTable, tags: Tags, wishes: Wishes) -> tuple[Shown, ...] | None:
    """The columns as they ship, where exactly these are asked for; None for anything else."""
    held = _held()
    if not _is_of(table, tags):
        return None
    if any(column.opened for column in wishes.columns) or described(wishes) != held["wishes"]:
        return None
    return tuple(_shown(column) for column in held["columns"])


def unchanged(table: LoadedTable, tags: Tags, wishes: Wishes) -> dict[str, dict[str, Facts]]:
    """The columns whose release is asked for as it ships, whatever else is on the board, with those slow numbers that
    are asked for as well, by name.
    """
    if not _is_of(table, tags):
        return {}
    held, now = _held(), described(wishes)
    parts = ("levels", "more", "left out")
    if any(now.get(part) != held["wishes"].get(part) for part in parts):
        return {}
    is_same_adversary = now["adversary"] == held["wishes"]["adversary"]
    releases = [_without_color(column) for column in held["wishes"]["columns"]]
    asked = {column.id for column in wishes.columns if column.opened is None}
    asked &= {column[0] for column in now["columns"] if _without_color(column) in releases}
    return {one["id"]: one["slow"] if is_same_adversary else {} for one in held["columns"] if one["id"] in asked}


def _without_color(column: Sequence[Any]) -> tuple[str, str, dict[str, str]]:
    """What of a described column its release depends on."""
    id, method, _, fields = column
    return id, method, fields


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


def described(wishes: Wishes) -> dict[str, Any]:
    """The wishes as plain values, by which what ships is recognized."""
    return {
        "levels": dict(wishes.levels),
        "more": [one.label() for one in wishes.more],
        "columns": [
            [one.id, one.method, one.color, {name: str(value) for name, value in one.fields.items()}]
            for one in wishes.columns
        ],
        "adversary": [wishes.r, wishes.secret, wishes.target],
        **({"left out": wishes.left_out} if wishes.left_out else {}),
        **({"numbers": list(wishes.numbers)} if wishes.numbers else {}),
        **({"policy": wishes.policy.to_dict()} if wishes.policy is not None else {}),
    }


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
