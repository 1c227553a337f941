"""The list of sign-ins: a cookie of the sign-in holds only while it stands here, and sign-out takes it off.

The provider's claims come in a cookie that is signed and would be good for its whole life, also in another's hands.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie

from anoncore.base.errors import AnonymizationError
from dashboard.serving import settings, vault

COOKIE = "_streamlit_user"
"""What Streamlit calls the cookie of the sign-in; a long one goes on in cookies with _1, _2, ... behind the name."""
MOST_PARTS = 16
NAME = "list"
_logger = logging.getLogger(__name__)
_lock = threading.RLock()
_sign_ins: dict[str, SignIn] | None = None
_connections: dict[str, set[asyncio.Event]] = {}


@dataclass(frozen=True)
class SignIn:
    """When somebody signed in (seconds since 1970), and who it was as soon as a page has read the claims."""

    began: float
    person: str = ""
    name: str = ""


def digests(cookies: Mapping[str, str]) -> list[str]:
    """The digests by which the sign-in of these cookies may be listed; the longest is that of all its parts."""
    found = []
    digest = sha256()
    for number in range(MOST_PARTS):
        value = cookies.get(f"{COOKIE}_{number}" if number else COOKIE)
        if not value:
            break
        digest.update(f"{len(value)}:{value}".encode("latin-1", "replace"))
        found.append(digest.copy().hexdigest())
    return found


def set_by(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The cookies that an answer sets; those that it takes away are left out."""
    found = {}
    for name, value in headers:
        if name.lower() != b"set-cookie":
            continue
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(value.decode("latin-1"))
        except CookieError:
            continue
        found.update({key: item.value for key, item in cookies.items() if item["max-age"] != "0"})
    return found


def begin(cookies: Mapping[str, str]) -> bool:
    """List the sign-in whose cookies are handed out; whether there is one."""
    found = digests(cookies)
    if found:
        with _lock:
            _listed()[found[-1]] = SignIn(time.time())
            _keep()
    return bool(found)


def of(cookies: Mapping[str, str]) -> SignIn | None:
    """The sign-in of these cookies; None where it is not listed (any more) or too old."""
    digest = _digest_of(cookies)
    return None if digest is None else _listed()[digest]


def _digest_of(cookies: Mapping[str, str]) -> str | None:
    oldest = time.time() - 3_600 * settings.current().sign_in.hours
    with _lock:
        listed = _listed()
        return next((one for one in digests(cookies) if one in listed and listed[one].began >= oldest), None)


def name(cookies: Mapping[str, str], person: str, name: str) -> bool:
    """Note whose sign-in it is, once a page has read the claims; whether that was not known yet."""
    with _lock:
        digest = _digest_of(cookies)
        if digest is None or _listed()[digest].person:
            return False
        _listed()[digest] = replace(_listed()[digest], person=person, name=name)
        _keep()
        return True


def end(cookies: Mapping[str, str]) -> SignIn | None:
    """Take a sign-in off the list and end its open connections; returns it, or None where it was not listed."""
    with _lock:
        digest = _digest_of(cookies)
        if digest is None:
            return None
        found = _listed().pop(digest)
        _keep()
        for ended in _connections.pop(digest, ()):
            # Connections live in the one loop of the server, as does the request that signs out.
            ended.set()
    return found


def connected(cookies: Mapping[str, str]) -> asyncio.Event:
    """An event for a connection with these cookies that begins, set when its sign-in ends."""
    ended = asyncio.Event()
    with _lock:
        digest = _digest_of(cookies)
        if digest is not None:
            _connections.setdefault(digest, set()).add(ended)
    return ended


def disconnected(ended: asyncio.Event) -> None:
    """Forget a connection that is over."""
    with _lock:
        for digest in [digest for digest, events in _connections.items() if ended in events]:
            _connections[digest].discard(ended)
            if not _connections[digest]:
                del _connections[digest]


def _listed() -> dict[str, SignIn]:
    """The list by digests, from the folder of workspaces at first where there is one."""
    global _sign_ins
    with _lock:
        if _sign_ins is None:
            _sign_ins = _read()
        return _sign_ins


def _read() -> dict[str, SignIn]:
    place = vault.of_workspaces()
    try:
        content = None if place is None else place.read(vault.SIGN_INS, NAME)
    except AnonymizationError as error:
        _logger.error("The list of sign-ins cannot be opened, so everybody signs in again: %s", error)
        content = None
    return {} if content is None else {digest: SignIn(**entry) for digest, entry in json.loads(content).items()}


def _keep() -> None:
    """Forget what is too old, and write the list where workspaces are kept: it outlives a restart as they do."""
    listed = _listed()
    oldest = time.time() - 3_600 * settings.current().sign_in.hours
    for digest in [digest for digest, one in listed.items() if one.began < oldest]:
        del listed[digest]
    place = vault.of_workspaces()
    if place is not None:
        content = json.dumps({digest: asdict(one) for digest, one in listed.items()})
        try:
            place.write(vault.SIGN_INS, NAME, content.encode())
        except OSError as error:
            _logger.error("The list of sign-ins cannot be kept: %s", error.strerror)
