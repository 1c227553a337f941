"""The record of who loaded, ran and took away what, and when: one JSON object a line, added to a file.

It holds digests and settings and never a value, a name of a column or a name of a file. Digests are made with a key of
the server: who knows all of a table but one cell would find that cell by a few guesses otherwise. What cannot be
recorded is not done: whoever asked for a record would not learn of it otherwise.
"""

from __future__ import annotations

import hmac
import json
import logging
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from hashlib import sha256
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from anoncore import DataError
from dashboard.serving import settings

ONLY_OWNER = 0o600
HEXADECIMAL = re.compile(r"[0-9a-f]+")
DIGEST_DIGITS = 64
"""Hexadecimal digits of a SHA-256."""
_lock = threading.Lock()
_logger = logging.getLogger(__name__)
_counts: Counter[tuple[str, str]] = Counter()
_counts_lock = threading.Lock()


def record(what: str, who: str, **facts: Any) -> None:
    """Add a line, where a file for it is set. Raises DataError where it cannot be written."""
    count("records", what)
    path = settings.current().audit.file
    if not path:
        return
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    line = {"time": now, "who": who, "what": what, **{name: _without_plain(value) for name, value in facts.items()}}
    text = json.dumps(line, ensure_ascii=True, default=str) + "\n"
    try:
        with _lock:
            handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), ONLY_OWNER)
            try:
                if hasattr(os, "fchmod"):
                    os.fchmod(handle, ONLY_OWNER)
                content = text.encode("ascii")
                while content:
                    content = content[os.write(handle, content) :]
            finally:
                os.close(handle)
    except OSError as error:
        _logger.error("The record of what is done cannot be written: %s", error.strerror)
        raise DataError(
            "What is done here must be recorded, and the record cannot be written now, so nothing was done; tell those "
            "who run this server."
        ) from None


def keyed(digest: str) -> str:
    """A digest as the record holds it: nobody without the key can tell of what it is."""
    found = settings.current()
    key = settings.key_of(found.audit.key or found.workspaces.key)
    return hmac.digest(hmac.digest(key, b"record", "sha256"), digest.encode(), "sha256").hex()


def _without_plain(value: Any) -> Any:
    """What is recorded, with each plain digest in it made with the key."""
    if isinstance(value, str):
        return HEXADECIMAL.sub(lambda found: keyed(found[0]) if len(found[0]) >= DIGEST_DIGITS else found[0], value)
    if isinstance(value, Mapping):
        return {name: _without_plain(item) for name, item in value.items()}
    return [_without_plain(item) for item in value] if isinstance(value, list | tuple) else value


def taken_away(who: str, what: str, make: Callable[[], str | bytes], **facts: Any) -> Callable[[], str | bytes]:
    """`make`, which makes a file for a browser, so that the digest of the file is recorded before it leaves."""

    def recorded() -> str | bytes:
        content = make()
        whole = content.encode() if isinstance(content, str) else content
        try:
            record("took away", who, file=what, digest=sha256(whole).hexdigest(), bytes=len(whole), **facts)
        except DataError as error:
            # The browser waits for a file: it gets the sentence in one.
            return str(error)
        return content

    return recorded


def of_run(run: Any) -> Mapping[str, Any]:
    """What is recorded of a release: the method's settings or the digest of the files that were opened, and the digest
    of the table.
    """
    facts: dict[str, Any] = {}
    if run.algorithm is not None:
        facts["method"] = settings_of(run.algorithm)
    if run.opened is not None:
        facts["opened"] = run.opened.digest
    return {**facts, "table": run.table.digest} if run.table is not None else facts


def settings_of(model: BaseModel) -> dict[str, Any]:
    """The settings of a method or requirement that cannot come from a table: its name, numbers, truth values, and
    words of the program.

    Names of columns and values of the table, which some fields hold, are left out.
    """
    found: dict[str, Any] = {"name": getattr(model, "name", type(model).__name__)}
    for name, info in type(model).model_fields.items():
        value = getattr(model, name)
        kept = _kept(value, info.annotation)
        # With its seed, a release can be undone; nobody who reads the record needs it.
        if kept is not None and "seed" not in name:
            found[name] = kept
    return found


def _kept(value: Any, annotation: Any) -> Any:
    if isinstance(value, BaseModel):
        return settings_of(value)
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str) and value in _words(annotation):
        return value
    if isinstance(value, tuple | list) and value and all(isinstance(item, BaseModel) for item in value):
        return [settings_of(item) for item in value]
    return None


def _words(annotation: Any) -> tuple[Any, ...]:
    """The words that a field may hold besides other things, from its annotation."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return tuple(word for part in get_args(annotation) for word in _words(part))


def of_table(table: Any) -> Mapping[str, Any]:
    """What is recorded of a loaded table: its digest and its size, and the name of a built-in one."""
    facts = {"table": table.digest, "rows": len(table.frame), "columns": int(table.frame.shape[1])}
    return {**facts, "builtin": table.builtin} if table.builtin is not None else facts


def count(name: str, kind: str) -> None:
    """Count one more of something, of a kind, since the server started; a monitor asks for it."""
    with _counts_lock:
        _counts[name, kind] += 1


def counted() -> dict[tuple[str, str], int]:
    """How often each thing happened, by its name and kind."""
    with _counts_lock:
        return dict(_counts)
