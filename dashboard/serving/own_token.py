"""The token of a dashboard that serves its own machine alone: whoever asks must have it, also other users there.

It stands in the address that the program opens and prints, as Jupyter has it. The first request with it gets a cookie,
and every later one is checked for that cookie.
"""

from __future__ import annotations

import hmac
import html
import os
import platform
import secrets
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlunsplit

import streamlit as st

from dashboard.serving import settings

PARAMETER = "token"
OPENED_SECONDS = 60.0
"""How long the file is kept that leads the browser to the address."""
OPENING = (
    '<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={0}"><title>anoncore</title>\n'
)
REFUSAL = (
    "This dashboard serves whoever started it, and nobody else on this machine. Open the whole address that the "
    f"program printed when it started, which ends with ?{PARAMETER}= and a long text."
)
_made = secrets.token_urlsafe(32)
_checked = threading.Event()


def is_asked_for() -> bool:
    """Whether the server answers its own machine alone by its settings, so that whoever asks must have the token."""
    found = settings.current()
    if found.has_sign_in or found.hosts or found.server.base_path:
        return False
    named = (st.get_option("server.address"), *(st.get_option("server.allowedHosts") or ()))
    return all(name in settings.LOCAL_HOSTS for name in named)


def token() -> str:
    """The token of this process: the one that is set, else one that was made when it started."""
    return settings.current().server.token or _made


def cookie_name() -> str:
    """What the cookie is called; cookies know no ports, so that two dashboards of one machine need two names."""
    return f"anoncore_token_{st.get_option('server.port')}"


def is_right(given: str | None) -> bool:
    """Whether a text is the token, in a time that tells nothing of it."""
    return given is not None and hmac.compare_digest(given.encode(), token().encode())


def in_query(query: bytes) -> tuple[str | None, str]:
    """The token that a query holds, and the query without it."""
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    given = [value for name, value in pairs if name == PARAMETER]
    return given[0] if given else None, urlencode([pair for pair in pairs if pair[0] != PARAMETER])


def note_checked() -> None:
    """Note that a gate looks at every request of this process."""
    _checked.set()


def is_checked() -> bool:
    """Whether a gate looks at every request; only then is a visitor known to be who started the program."""
    return _checked.is_set()


def address() -> str:
    """The address that visitors open, with the token where it is asked for."""
    found = settings.current()
    if found.server.public_url:
        return found.server.public_url
    host = str(st.get_option("server.address") or "localhost")
    shown = f"[{host}]" if ":" in host else host
    plain = urlunsplit(("http", f"{shown}:{st.get_option('server.port')}", found.server.base_path or "/", "", ""))
    return f"{plain}?{urlencode({PARAMETER: token()})}" if is_asked_for() else plain


def greet() -> None:
    """Print the address, and open it in the browser unless the program was told not to."""
    print(f"\n  The dashboard is open at {address()}\n", flush=True)
    if not st.get_option("server.headless"):
        threading.Thread(target=_open, name="browser", daemon=True).start()


def _open() -> None:
    from streamlit import cli_util

    if sys.platform == "win32" or "microsoft" in platform.release().lower():
        # Nobody else sees there with what a program was started, and a browser of Windows does not find files of Linux.
        cli_util.open_browser(address())
        return
    path = _opening_file()
    try:
        cli_util.open_browser(path.as_uri())
        threading.Event().wait(OPENED_SECONDS)
    finally:
        path.unlink(missing_ok=True)


def _opening_file() -> Path:
    """A file that only its owner can read, and that leads a browser to the address.

    All users of a machine see the arguments with which programs are started, so the token must not be among them.
    Browsers that are packed as snaps see neither hidden folders nor those for temporary files.
    """
    for folder in (Path.home(), Path(tempfile.gettempdir())):
        with suppress(OSError):
            path = folder / f"anoncore-opens-{secrets.token_hex(8)}.html"
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(OPENING.format(html.escape(address(), quote=True)))
            return path
    raise OSError("There is no folder for the file that opens the browser.")
