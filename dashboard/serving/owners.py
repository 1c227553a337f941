"""Whose the files are that Streamlit hands out below /media: it gives them to whoever knows their address.

Pages make files while they are drawn, and downloads when they are clicked; both pass through the manager of the server.
"""

from __future__ import annotations

import threading
from functools import wraps
from os.path import splitext
from typing import Any

from dashboard.serving import access

MOST_FILES = 8_192
_lock = threading.Lock()
_owners: dict[str, frozenset[str]] = {}


def watch(manager: Any) -> None:
    """Note from now on for whom the manager of media files of a server makes each of them."""
    add, add_deferred, execute_deferred = manager.add, manager.add_deferred, manager.execute_deferred

    @wraps(add)
    def added(*arguments: Any, **named: Any) -> str:
        address: str = add(*arguments, **named)
        _note(manager, file_of(address), _drawn_for())
        return address

    @wraps(add_deferred)
    def deferred(*arguments: Any, **named: Any) -> str:
        placeholder: str = add_deferred(*arguments, **named)
        _note(manager, placeholder, _drawn_for())
        return placeholder

    @wraps(execute_deferred)
    def executed(file_id: str, *arguments: Any, **named: Any) -> str:
        address: str = execute_deferred(file_id, *arguments, **named)
        for owner in _owners.get(file_id, ()):
            _note(manager, file_of(address), owner)
        return address

    manager.add, manager.add_deferred, manager.execute_deferred = added, deferred, executed


def file_of(path: str) -> str:
    """The file that a path below /media names, as Streamlit reads it."""
    return splitext(path.rpartition("/media/")[2])[0]


def may_fetch(path: str, person: str) -> bool:
    """Whether a file was made for this person."""
    return bool(person) and person in _owners.get(file_of(path), ())


def _drawn_for() -> str:
    """The id of the person for whom a page is drawn in this thread; empty where nobody has signed in."""
    here = access.person()
    return "" if here is None else here.id


def _note(manager: Any, file: str, owner: str) -> None:
    if not owner:
        return
    with _lock:
        _owners[file] = _owners.get(file, frozenset()) | {owner}
        if len(_owners) > MOST_FILES:
            # Placeholders of downloads are no files; the newest of them are those of pages that are open.
            for one in list(_owners)[: MOST_FILES // 2]:
                if manager.read_file(one) is None:
                    del _owners[one]
