"""Visitors without a browser, who may ask for whatever they like: requests, connections, and what pages tell them."""

from __future__ import annotations

import http.client
import re
import time
import uuid
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import pytest

pytest.importorskip("streamlit")
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

Headers = Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """What a server said."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name), "")


@dataclass
class Client:
    """Somebody who asks the server at an address (without a path), and keeps the cookies that they get."""

    address: str
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(self, path: str, method: str = "GET", headers: Headers | None = None, body: bytes | None = None) -> Answer:
        """Ask for a path exactly as it is written, or for a whole address elsewhere."""
        parts = urlsplit(path if path.startswith("http") else self.address)
        target = (parts.path + (f"?{parts.query}" if parts.query else "")) if path.startswith("http") else path
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()), **(headers or {})}
        with closing(http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)) as connection:
            connection.putrequest(method, target, skip_host="Host" in sent, skip_accept_encoding=True)
            for name, value in {**sent, **({} if body is None else {"Content-Length": str(len(body))})}.items():
                if value:
                    connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            found = Answer(answer.status, answer.getheaders(), answer.read())
        for name, value in found.headers:
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        return found

    def sign_in(self, name: str, cookie_secret: str, base: str = "") -> None:
        """Sign in at the provider as a browser does that follows the page's button."""
        where = f"{self.address}{base}/auth/login?provider={_provider_token(cookie_secret)}"
        answer = self.ask(where)
        form = answer.header("location")
        assert "oauth2/authorize" in form, answer.body[:200]
        body = urlencode({"sub": name}).encode()
        answer = Client(form).ask(form, "POST", {"Content-Type": "application/x-www-form-urlencoded"}, body)
        back = urljoin(form, answer.header("location"))
        assert self.ask(back).status == 302
        assert "_streamlit_user" in self.cookies

    def visit(self, page: str = "", query: str = "", session: str = "", base: str = "", origin: str = "") -> Visit:
        """Open a page, perhaps going on with a session, and read what is drawn until it stands."""
        from websockets.sync.client import connect

        if "_streamlit_xsrf" not in self.cookies:
            self.ask(f"{base}/_stcore/health")
        parts = urlsplit(self.address)
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        protocols = ["streamlit", self.cookies.get("_streamlit_xsrf", "none"), *([session] if session else [])]
        opening = connect(
            f"ws://{parts.netloc}{base}/_stcore/stream",
            origin=origin or f"http://{parts.netloc}",  # type: ignore[arg-type]
            subprotocols=protocols,  # type: ignore[arg-type]
            additional_headers=sent,
            max_size=None,
            proxy=None,
            open_timeout=20,
        )
        opened = ExitStack()
        found = Visit(opened.enter_context(opening), opened)
        message = BackMsg()
        message.rerun_script.query_string = query
        message.rerun_script.page_name = page
        found.say(message)
        found.read(lambda one: one.WhichOneof("type") == "script_finished")
        return found


@dataclass
class Visit:
    """A connection to a page, with all that it was told."""

    socket: Any
    opened: ExitStack
    told: list[ForwardMsg] = field(default_factory=list)
    raw: bytes = b""

    def say(self, message: BackMsg) -> None:
        self.socket.send(message.SerializeToString())

    def read(self, is_last: Any, seconds: float = 60.0) -> ForwardMsg:
        """Read until a message comes that is the last one."""
        while True:
            content = self.socket.recv(timeout=seconds)
            self.raw += content
            message = ForwardMsg.FromString(content)
            self.told.append(message)
            if is_last(message):
                return message

    @property
    def session(self) -> str:
        """The id of the browser session."""
        return next(one.new_session.initialize.session_id for one in self.told if one.HasField("new_session"))

    @property
    def workspace(self) -> str:
        """The id of the workspace in the address."""
        found = re.findall(rb"workspace=([\w-]+)", self.raw)
        return found[-1].decode() if found else ""

    def downloads(self) -> list[str]:
        """The ids of the files that buttons of the page make when they are pressed."""
        return [
            one.delta.new_element.download_button.deferred_file_id
            for one in self.told
            if one.HasField("delta") and one.delta.new_element.HasField("download_button")
        ]

    def file(self, file_id: str) -> str:
        """Press such a button; the address of the file, empty where there is none."""
        message = BackMsg()
        message.backend_operation_request.request_id = str(uuid.uuid4())
        message.backend_operation_request.session_id = self.session
        message.backend_operation_request.deferred_file.file_id = file_id
        self.say(message)
        answer = self.read(lambda one: one.HasField("backend_operation_response"))
        return str(answer.backend_operation_response.deferred_file.url)

    def is_open(self, seconds: float = 5.0) -> bool:
        """Whether the server keeps the connection."""
        from websockets.exceptions import ConnectionClosed

        with suppress(TimeoutError):
            try:
                while True:
                    self.socket.recv(timeout=seconds)
            except ConnectionClosed:
                return False
        return True

    def close(self) -> None:
        self.opened.close()


def forms_of(path: str) -> Iterable[str]:
    """Other ways to write a path that a careless check takes for another one."""
    head, _, rest = path.lstrip("/").partition("/")
    yield path
    yield f"/{path}"
    yield f"{path}?x=/static/"
    yield f"/{head}//{rest}"
    yield f"/./{head}/{rest}"
    yield f"/static/../{head}/{rest}"
    yield f"/{head}/./{rest}"
    yield f"/{head}/x/../{rest}"
    yield f"/%{ord(head[0]):x}{head[1:]}/{rest}"
    yield f"/{head}%2f{rest}"
    yield f"/{head}/{rest}/"
    yield f"/{head}/{rest};x"
    yield f"/{head.upper()}/{rest}"
    yield f"/{head}/{rest.rpartition('.')[0]}"
    yield f"/{head}/{rest.rpartition('.')[0]}.html"
    yield f"/_stcore/health/../../{head}/{rest}"
    yield f"/_stcore/health?/{head}/{rest}"
    yield f"/{head}/{rest}#/_stcore/health"
    yield f"/{head}/{rest}/_stcore/health"
    yield f"/{head}\\{rest}"


def _provider_token(cookie_secret: str) -> str:
    """What the page's button gives to the server: which provider is meant, signed so that nobody else can ask."""
    from joserfc import jwt
    from joserfc.jwk import OctKey

    claims = {"provider": "default", "exp": int(time.time()) + 120}
    return str(jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(cookie_secret)))
