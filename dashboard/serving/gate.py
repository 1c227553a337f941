"""What stands before the pages and looks at every request: who asks, under which name, for whose data, and how much.

Streamlit hands out files to whoever knows their address, takes an upload into memory before any page of ours runs, and
answers under every name; so this looks at the requests themselves. Refusals are counted and recorded. Pages make
files while they are drawn, and downloads when they are clicked; both pass through the manager, which is watched.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from base64 import b64encode
from collections.abc import Awaitable, Callable, MutableMapping
from functools import cache, wraps
from hashlib import sha256
from os.path import splitext
from pathlib import Path
from re import DOTALL, findall
from typing import Any
from urllib.parse import quote, urlsplit

import streamlit as st
from starlette.requests import cookie_parser
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from anoncore.base.errors import AnonymizationError
from dashboard.serving import access, audit, own_token, quotas, settings, sign_ins

MOST_FILES = 8_192
_owners_lock = threading.Lock()
_owners: dict[str, frozenset[str]] = {}
"""Whose the files are that Streamlit hands out below /media."""


def watch_files(manager: Any) -> None:
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
    with _owners_lock:
        _owners[file] = _owners.get(file, frozenset()) | {owner}
        if len(_owners) > MOST_FILES:
            # Placeholders of downloads are no files; the newest of them are those of pages that are open.
            for one in list(_owners)[: MOST_FILES // 2]:
                if manager.read_file(one) is None:
                    del _owners[one]


HEALTH = "/_stcore/health"
UPLOAD, MEDIA = "/_stcore/upload_file/", "/media/"
SIGNED_IN, SIGN_OUT = "/oauth2callback", "/auth/logout"
UNUSED = ("/_stcore/metrics", "/_stcore/agent", "/_stcore/script-health-check")
"""What Streamlit answers besides, for which nothing here has a use: a monitor has a port of its own."""
FORBIDDEN, NOT_FOUND, TOO_SLOW, NEEDS_LENGTH, MISDIRECTED, TOO_MANY, FULL = 403, 404, 408, 411, 421, 429, 507
POLICY_VIOLATION = 1008
SCOPE = "openid email profile"
GRACE_SECONDS = 30.0
"""How long a body may take whatever its length; whoever has a slow line gets more the more has come."""
LEAST_RATE = 20_000.0
"""Bytes a second that a body must come with from then on, on average."""
RECORD_SECONDS = 60.0
"""Equal refusals are one line of the record in so many seconds, so that nobody fills the disk with them."""
MOST_RECORDED = 1_024
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
_logger = logging.getLogger(__name__)
_recorded: dict[tuple[str, str], tuple[float, int]] = {}


class _RefusedError(Exception):
    """A request that is refused while its body comes."""

    def __init__(self, status: int, kind: str, text: str) -> None:
        super().__init__(text)
        self.status, self.kind, self.text = status, kind, text


class Gate:
    """An ASGI application before another one."""

    def __init__(self, app: App) -> None:
        self.app = app
        own_token.note_checked()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Refuse what must not come through; pass everything else on, with headers that browsers heed."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        answer = _with_headers(scope, send)
        cookies = cookie_parser(_header(scope, b"cookie") or "")
        try:
            if _is_handed_token(scope):
                await _hand_out_cookie(scope, answer)
                return
            _check(scope, cookies)
            if scope["type"] == "websocket":
                await self._connect(scope, receive, answer, cookies)
            elif scope["method"] == "PUT" and UPLOAD in scope["path"]:
                await self._upload(scope, receive, answer)
            elif _own_path(scope) in (SIGNED_IN, SIGN_OUT) and settings.current().has_sign_in:
                await self._sign_in_or_out(scope, receive, answer, cookies)
            else:
                await self.app(scope, receive, answer)
        except _RefusedError as refused:
            _note_refusal(refused, cookies)
            await _refuse(scope, answer, refused)

    async def _connect(self, scope: Message, receive: Receive, send: Send, cookies: dict[str, str]) -> None:
        """Pass a connection on until it ends, or until its sign-in does."""
        if not settings.current().has_sign_in:
            await self.app(scope, receive, send)
            return
        ended = sign_ins.connected(cookies)
        stop = asyncio.ensure_future(ended.wait())

        async def received() -> Message:
            if ended.is_set():
                return {"type": "websocket.disconnect", "code": POLICY_VIOLATION}
            message = asyncio.ensure_future(receive())
            await asyncio.wait({message, stop}, return_when=asyncio.FIRST_COMPLETED)
            if message.done():
                return message.result()
            message.cancel()
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
            return {"type": "websocket.disconnect", "code": POLICY_VIOLATION}

        try:
            await self.app(scope, received, send)
        finally:
            stop.cancel()
            sign_ins.disconnected(ended)

    async def _upload(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass an upload on, as long as it comes fast enough and there is room for what has come."""
        session = _session_of(scope)
        visit = access.visit(session)
        owner = visit.person if visit is not None and visit.person else f"session {session}"
        length = _length(scope)
        status, refusal = quotas.upload_refusal(owner, length)
        if refusal:
            raise _RefusedError(status, "upload", refusal)
        begin = time.monotonic()
        with quotas.upload(owner) as upload:

            async def received() -> Message:
                left = GRACE_SECONDS + upload.received / LEAST_RATE - (time.monotonic() - begin)
                try:
                    message = await asyncio.wait_for(receive(), max(left, 0.0))
                except TimeoutError:
                    raise _RefusedError(
                        TOO_SLOW, "slow upload", "The file came too slowly, so the server stopped waiting for it."
                    ) from None
                upload.received += len(message.get("body") or b"")
                full = quotas.full_refusal()
                if full:
                    raise _RefusedError(FULL, "upload", full)
                return message

            await self.app(scope, received, send)

    async def _sign_in_or_out(self, scope: Message, receive: Receive, send: Send, cookies: dict[str, str]) -> None:
        """Pass the provider's answer or the wish to sign out on, and list the sign-in or take it off the list."""
        is_sign_in = _own_path(scope) == SIGNED_IN
        if not is_sign_in:
            found = sign_ins.end(cookies)
            if found is not None:
                await asyncio.to_thread(_record, "signed out", found.name)

        async def seen(message: Message) -> None:
            if is_sign_in and message["type"] == "http.response.start":
                was = sign_ins.end(cookies)
                if was is not None:
                    await asyncio.to_thread(_record, "signed out", was.name)
                if not sign_ins.begin(sign_ins.set_by(message["headers"])):
                    await asyncio.to_thread(_record, "sign-in failed", "")
            await send(message)

        await self.app(scope, receive, seen)


def _check(scope: Message, cookies: dict[str, str]) -> None:
    """Raise _RefusedError for a request that must not come through."""
    path, found = scope["path"], settings.current()
    if not is_host_allowed(_header(scope, b"host")):
        raise _RefusedError(MISDIRECTED, "host", "This server is not asked for under that name.")
    if not _is_from_own_page(scope):
        raise _RefusedError(FORBIDDEN, "origin", "A page of another site, or of another port, asks for this.")
    if any(unused in path for unused in UNUSED):
        raise _RefusedError(NOT_FOUND, "unused", "There is nothing here.")
    if _own_path(scope) == HEALTH:
        return
    if own_token.is_asked_for() and not own_token.is_right(cookies.get(own_token.cookie_name())):
        raise _RefusedError(FORBIDDEN, "token", own_token.REFUSAL)
    if not found.has_sign_in:
        return
    if MEDIA in path:
        sign_in = sign_ins.of(cookies)
        if sign_in is None or not may_fetch(path, sign_in.person):
            raise _RefusedError(FORBIDDEN, "file", "This file is not yours, or your sign-in has ended.")
    if UPLOAD in path and scope.get("method") != "OPTIONS":
        sign_in, visit = sign_ins.of(cookies), access.visit(_session_of(scope))
        is_own = sign_in is not None and visit is not None and sign_in.person and sign_in.person == visit.person
        if not is_own or visit is None or not visit.may_upload:
            raise _RefusedError(FORBIDDEN, "upload right", "You may not load files here.")


def _is_handed_token(scope: Message) -> bool:
    """Whether a page is asked for with the right token in its address, under a name of this server."""
    if scope["type"] != "http" or scope["method"] != "GET" or not own_token.is_asked_for():
        return False
    given = own_token.in_query(scope.get("query_string", b""))[0]
    return own_token.is_right(given) and is_host_allowed(_header(scope, b"host"))


async def _hand_out_cookie(scope: Message, send: Send) -> None:
    """Send the browser to the same page without the token, which a cookie holds from then on."""
    query = own_token.in_query(scope["query_string"])[1]
    # A path of two slashes would lead to another server.
    path = "/" + scope["path"].lstrip("/\\")
    where = quote(path) + (f"?{query}" if query else "")
    cookie = f"{own_token.cookie_name()}={own_token.token()}; Path=/; HttpOnly; SameSite=Lax"
    headers = [(b"location", where.encode("ascii")), (b"set-cookie", cookie.encode())]
    await send({"type": "http.response.start", "status": 303, "headers": [*headers, (b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


def _is_from_own_page(scope: Message) -> bool:
    """Whether a connection or a change is not asked for by a page from elsewhere, which has the visitor's cookies.

    Cookies know no ports, and Streamlit takes every port of this machine for its own: another user's page could ask.
    """
    origin = _header(scope, b"origin")
    if (scope["type"] == "http" and scope["method"] in ("GET", "HEAD", "OPTIONS")) or _lacks(scope, b"origin"):
        return True
    own = [_header(scope, b"host"), urlsplit(settings.current().server.public_url).netloc]
    try:
        return origin is not None and urlsplit(origin).netloc in [name for name in own if name]
    except ValueError:
        return False


def _lacks(scope: Message, name: bytes) -> bool:
    return all(key != name for key, _ in scope["headers"])


def _own_path(scope: Message) -> str:
    """The path without that below which the server is asked; empty for one that is not below it."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    path = str(scope["path"])
    if not base:
        return path
    return path.removeprefix(f"/{base}") if path.startswith(f"/{base}/") else ""


def _session_of(scope: Message) -> str:
    return str(scope["path"].split(UPLOAD, 1)[1].partition("/")[0])


def _header(scope: Message, name: bytes) -> str | None:
    """The only value of a header; None where there is none, and where there are several."""
    found = [value for key, value in scope["headers"] if key == name]
    if name == b"cookie":
        return "; ".join(value.decode("latin-1") for value in found)
    return found[0].decode("latin-1") if len(found) == 1 else None


def _length(scope: Message) -> int | None:
    """How long the request says that it is."""
    text = _header(scope, b"content-length") or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


async def _refuse(scope: Message, send: Send, refused: _RefusedError) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        return
    body = refused.text.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    # What is left of a body is not read, so nothing else can come on this connection.
    headers += [(b"connection", b"close"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _note_refusal(refused: _RefusedError, cookies: dict[str, str]) -> None:
    """Count a refusal, and record it unless an equal one was recorded a moment ago."""
    audit.count("refused", refused.kind)
    found = sign_ins.of(cookies) if settings.current().has_sign_in else None
    who = "" if found is None else found.name
    now = time.monotonic()
    since, unrecorded = _recorded.get((who, refused.kind), (-RECORD_SECONDS, 0))
    if now - since < RECORD_SECONDS:
        _recorded[who, refused.kind] = (since, unrecorded + 1)
        return
    if len(_recorded) >= MOST_RECORDED:
        _recorded.clear()
    _recorded[who, refused.kind] = (now, 0)
    _record("refused", who, right=refused.kind, times=unrecorded + 1)


def _record(what: str, who: str, **facts: Any) -> None:
    """Record what happened at the gate; what cannot be recorded here is logged, and refused all the same."""
    try:
        audit.record(what, who, **facts)
    except AnonymizationError:
        _logger.error("A request could not be recorded")


@cache
def policy() -> str:
    """What a page of this server may load and ask for: from this server alone.

    Streamlit's first page holds one script, which is named by its digest, and makes scripts of its components at hand.
    """
    page = Path(st.__file__).parent / "static" / "index.html"
    inline = findall(r"<script>(.*?)</script>", page.read_text("utf-8"), DOTALL)
    scripts = " ".join(f"'sha256-{b64encode(sha256(one.encode()).digest()).decode()}'" for one in inline)
    return "; ".join(
        [
            "default-src 'self'",
            f"script-src 'self' blob: {scripts}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "media-src 'self' blob:",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        ]
    )


def _with_headers(scope: Message, send: Send) -> Send:
    """`send`, which adds to every answer what browsers must heed."""
    headers = [
        (b"content-security-policy", policy().encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"no-referrer"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    ]
    if settings.current().server.public_url.startswith("https:"):
        headers.append((b"strict-transport-security", b"max-age=31536000"))
    if MEDIA in scope["path"]:
        headers.append((b"cache-control", b"no-store"))

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name for name, _ in headers}
            kept = [(name, value) for name, value in message["headers"] if name.lower() not in own]
            message = {**message, "headers": [*kept, *headers]}
        await send(message)

    return sent


def secrets() -> dict[str, Any] | None:
    """What Streamlit must know for the sign-in; None where there is none."""
    found = settings.current()
    if not found.has_sign_in:
        return None
    return {
        "auth": {
            "redirect_uri": f"{found.server.public_url.rstrip('/')}/oauth2callback",
            "cookie_secret": found.sign_in.cookie_secret,
            "client_id": found.sign_in.client_id,
            "client_secret": found.sign_in.client_secret,
            "server_metadata_url": found.sign_in.metadata_url,
            "client_kwargs": {"scope": SCOPE},
        }
    }
