"""What stands before the pages: no upload is taken in of whoever may not upload, or for which there is no room.

Streamlit takes a file into memory before any page of ours runs, so this looks at the request itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

from dashboard.serving import access, quotas, settings

UPLOAD = "/_stcore/upload_file/"
FORBIDDEN, NEEDS_LENGTH, FULL = 403, 411, 507
SCOPE = "openid email profile"
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


class Gate:
    """An ASGI application before another one."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer an upload that is refused; pass everything else on."""
        if scope["type"] != "http" or scope["method"] != "PUT" or UPLOAD not in scope["path"]:
            await self.app(scope, receive, send)
            return
        session = scope["path"].split(UPLOAD, 1)[1].partition("/")[0]
        if settings.current().has_sign_in and not access.session_may_upload(session):
            await _answer(send, FORBIDDEN, "You may not load files here.")
            return
        length = _length(scope)
        refusal = quotas.upload_refusal(length)
        if refusal:
            await _answer(send, NEEDS_LENGTH if length is None else FULL, refusal)
            return
        with quotas.upload(length or 0):
            await self.app(scope, receive, send)


def _length(scope: Message) -> int | None:
    """How long the request says that it is."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value)
    return None


async def _answer(send: Send, status: int, text: str) -> None:
    body = text.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[None]:
    """Clear up and write what changed last before the server says that it has ended.

    Behind a gate the signal that ended the server ends the process at once after that, and nobody could do it any more.
    """
    yield
    # It is imported by the pages, long after the server began to answer.
    from dashboard import ending

    await asyncio.to_thread(ending.clear_up)


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
