"""Attacks on the server as it runs: a stranger, a visitor who has signed in, and another user of the machine.

Each tries what a careless check lets through, in many forms, and none may get what belongs to somebody else.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import psutil
import pytest

from tests.dashboard import browser, served
from tests.security.visitors import Answer, Client, Visit, forms_of

pytestmark = pytest.mark.slow
SECRET = b"Ottilie Geheimrat"
TABLE = pd.DataFrame({"age": range(40), "name": [SECRET.decode()] * 40, "ill": ["x", "y"] * 20})
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH", "TRACE")


@dataclass
class Office:
    """A server with a sign-in, and Ann, who works there with a file of her own."""

    address: str
    folder: Path
    metrics: int
    ann: Client
    visit: Visit
    upload: str

    @property
    def file(self) -> str:
        """The address of a file that was made for Ann just now; the server forgets them after a while."""
        return next(found for one in self.visit.downloads() if (found := self.visit.file(one)))

    def client(self, name: str = "") -> Client:
        found = Client(self.address)
        if name:
            found.sign_in(name, served.COOKIE_SECRET)
        return found


def upload_of(client: Client, visit: Visit, number: str, content: bytes, session: str = "") -> Answer:
    """Load a file into a browser session as the page does."""
    mark = "b" * 20
    body = (
        f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="people.csv"\r\n'
        f"Content-Type: text/csv\r\n\r\n"
    ).encode() + content
    body += f"\r\n--{mark}--\r\n".encode()
    headers = {
        "Content-Type": f"multipart/form-data; boundary={mark}",
        "X-Xsrftoken": client.cookies.get("_streamlit_xsrf", ""),
    }
    return client.ask(f"/_stcore/upload_file/{session or visit.session}/{number}", "PUT", headers, body)


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    served.require("oidc_provider_mock", "authlib", "httpx", "cryptography", "websockets")
    folder = tmp_path_factory.mktemp("office")
    (folder / "workspaces").mkdir(mode=0o700)
    port, metrics = browser._free_port(), browser._free_port()
    address = f"http://127.0.0.1:{port}"
    with served.provider("ann", "eve", "cleo") as metadata:
        may = {"upload": [f"{name}@{served.DOMAIN}" for name in ("ann", "eve")], "look": [f"cleo@{served.DOMAIN}"]}
        settings = served.sign_in_settings(metadata, address, **may)
        settings["server"] |= {"port": port, "upload_megabytes": 30}
        settings["quotas"] = {"memory_megabytes": 1_300}
        settings["workspaces"] = {"folder": str(folder / "workspaces"), "save_seconds": 0.5}
        settings["audit"] = {"file": str(folder / "audit.jsonl")}
        settings["metrics"] = {"port": metrics}
        server = served.Served(folder, settings, ANONCORE_WORKSPACES_KEY=served.KEY, **served.SECRETS)
        with server:
            ann = Client(address)
            ann.sign_in("ann", served.COOKIE_SECRET)
            visit = ann.visit("table")
            assert visit.workspace
            assert upload_of(ann, visit, "1", TABLE.to_csv(index=False).encode()).status == 204
            found = Office(address, folder, metrics, ann, visit, f"/_stcore/upload_file/{visit.session}/1")
            answer = ann.ask(found.file)
            assert (answer.status, len(answer.body) > 1_000) == (200, True)
            yield found
            visit.close()


def took(answer: Answer) -> bool:
    """Whether an answer holds something of Ann's: a saved session is an archive, and pages of the server are HTML."""
    return (
        SECRET in answer.body or answer.body.startswith(b"PK") or "attachment" in answer.header("content-disposition")
    )


def forged(cookies: dict[str, str]) -> Iterator[dict[str, str]]:
    """Cookies that somebody makes who has never signed in, or from those of another."""
    value = cookies["_streamlit_user"]
    content, _, signature = value.rpartition(".")
    yield {}
    yield {"_streamlit_user": ""}
    yield {"_streamlit_user": "null"}
    yield {"_streamlit_user": content}
    yield {"_streamlit_user": f"{content}."}
    yield {"_streamlit_user": f"{content}.{'A' * len(signature)}"}
    yield {"_streamlit_user": f"{content}.{signature[::-1]}"}
    yield {"_streamlit_user": f"{value}x"}
    yield {"_streamlit_user_1": value}
    yield {"_streamlit_user_tokens": cookies.get("_streamlit_user_tokens", value)}
    yield {"_streamlit_session": value, "anoncore_token_8501": "x"}
    from itsdangerous import URLSafeTimedSerializer

    claims = {"is_logged_in": True, "sub": "ann", "iss": "x", "iat": int(time.time()), "email": f"ann@{served.DOMAIN}"}
    for secret in ("", "secret", "c" * 32, served.COOKIE_SECRET):
        # Also with the right secret: a cookie that the server never handed out is not on its list.
        signed = URLSafeTimedSerializer(secret, salt="_streamlit_user").dumps(json.dumps(claims))
        yield {"_streamlit_user": str(signed)}


def test_a_stranger_gets_no_file(office: Office) -> None:
    tried = 0
    for path in forms_of(office.file):
        for method in METHODS:
            answer = office.client().ask(path, method)
            assert not took(answer), (method, path)
            assert method not in ("GET", "HEAD") or answer.status != 206
            tried += 1
    extra = [
        {"Range": "bytes=0-9"},
        {"X-Forwarded-For": "127.0.0.1"},
        {"X-Forwarded-User": f"ann@{served.DOMAIN}"},
        {"X-Original-URL": office.file},
        {"X-Rewrite-URL": office.file},
        {"Authorization": "Bearer x"},
        {"Referer": office.address},
        {"Origin": office.address},
        {"X-HTTP-Method-Override": "GET"},
        {"Upgrade": "websocket", "Connection": "Upgrade"},
    ]
    for headers in extra:
        for path in (office.file, "/"):
            assert not took(office.client().ask(path, headers=headers)), headers
            tried += 1
    for cookies in forged(office.ann.cookies):
        assert office.client().ask(office.file, headers={"Cookie": _written(cookies)}).status == 403, cookies
        tried += 1
    assert tried > 180
    assert took(office.ann.ask(office.file)), "its owner still gets it"


def _written(cookies: dict[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items()) or "none=none"


def test_a_forged_cookie_opens_no_page(office: Office) -> None:
    for cookies in forged(office.ann.cookies):
        stranger = office.client()
        stranger.ask("/_stcore/health")
        stranger.cookies |= cookies
        visit = stranger.visit("table", f"workspace={office.visit.workspace}", office.visit.session)
        assert visit.session != office.visit.session
        assert visit.downloads() == []
        assert b"Sign in" in visit.raw
        visit.close()


def test_a_visitor_gets_nothing_of_another(office: Office) -> None:
    for name in ("eve", "cleo"):
        eve = office.client(name)
        own = eve.visit("table")
        for path in forms_of(office.file):
            for method in ("GET", "HEAD", "POST"):
                assert not took(eve.ask(path, method)), (name, method, path)
        # Her session, her workspace, her buttons, her files.
        for page in ("table", "publish", "", "groups"):
            visit = eve.visit(page, f"workspace={office.visit.workspace}&step=0", office.visit.session)
            assert visit.session != office.visit.session
            assert visit.workspace != office.visit.workspace
            assert SECRET not in visit.raw
            visit.close()
        for button in office.visit.downloads():
            address = own.file(button)
            assert not address or not took(eve.ask(address))
        assert upload_of(eve, own, "1", b"age\n1\n", session=office.visit.session).status == 403
        for method in ("DELETE", "PUT", "POST"):
            token = {"X-Xsrftoken": eve.cookies["_streamlit_xsrf"]}
            assert eve.ask(office.upload, method, token, b"").status in (403, 405)
        assert office.ann.ask(office.file).status == 200
        assert upload_of(eve, own, "2", b"age\n1\n").status == (204 if name == "eve" else 403)
        own.close()
    # Both cookies at once are neither's.
    eve = office.client("eve")
    both = f"_streamlit_user={eve.cookies['_streamlit_user']}; _streamlit_user={office.ann.cookies['_streamlit_user']}"
    mixed = (
        f"_streamlit_user={eve.cookies['_streamlit_user']}; _streamlit_user_1={office.ann.cookies['_streamlit_user']}"
    )
    assert not took(eve.ask(office.file, headers={"Cookie": mixed}))
    # Whoever has Ann's cookie is Ann, until she signs out.
    assert eve.ask(office.file, headers={"Cookie": both}).status in (200, 403)


def test_nothing_is_left_of_a_sign_in_that_has_ended(office: Office) -> None:
    eve = office.client("eve")
    visit = eve.visit("table")
    file = next(found for one in visit.downloads() if (found := visit.file(one)))
    assert eve.ask(file).status == 200
    copied = Client(office.address, dict(eve.cookies))
    assert copied.ask(file).status == 200
    assert eve.ask("/auth/logout").status == 302
    assert not visit.is_open(), "what was open is closed"
    for path in forms_of(file):
        assert not took(copied.ask(path))
    assert upload_of(copied, visit, "3", b"age\n1\n").status == 403
    again = copied.visit("table", f"workspace={visit.workspace}", visit.session)
    assert again.downloads() == []
    assert b"Sign in" in again.raw
    again.close()
    # Signed in anew, she has her workspace, and the old cookies stay without any use.
    eve.sign_in("eve", served.COOKIE_SECRET)
    assert eve.visit("table").workspace == visit.workspace
    assert copied.ask(file).status == 403


def test_names_metrics_and_other_sites(office: Office) -> None:
    for host in ("evil", "evil.example", f"evil.example:{office.address.rpartition(':')[2]}", "127.0.0.1.evil.example"):
        for path in ("/", office.file, "/_stcore/health", "/_stcore/host-config", "/static/js/x.js"):
            assert office.ann.ask(path, headers={"Host": host}).status == 421
        metrics = Client(f"http://127.0.0.1:{office.metrics}")
        for path in ("/metrics", "/health"):
            assert metrics.ask(path, headers={"Host": host}).status == 421
    for path in forms_of("/_stcore/metrics"):
        answer = office.ann.ask(path)
        assert b"active_sessions" not in answer.body
        assert b"# TYPE" not in answer.body
    from websockets.exceptions import InvalidStatus

    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1.evil.example"):
        with pytest.raises(InvalidStatus, match="403"):
            office.ann.visit("table", origin=origin)
    for path in ("/", "/table", "/nothing", "/_stcore/health", office.file):
        answer = office.ann.ask(path)
        assert "frame-ancestors 'none'" in answer.header("content-security-policy")
        assert answer.header("x-content-type-options") == "nosniff"


def test_one_uploader_stops_nobody(office: Office) -> None:
    eve, ann = office.client("eve"), office.ann
    visit = eve.visit("table")
    # Together these would take what all may have.
    content = b"age\n" + b"1\n" * (14 << 20)
    for number in range(9):
        assert upload_of(eve, visit, f"orphan-{number}", content).status == 204
    assert upload_of(ann, office.visit, "4", b"age\n1\n" * 200_000).status == 204
    # Connections that announce much and send nothing, until no more can be announced.
    idle = []
    for number, megabytes in enumerate([29] * 8 + [10] * 12 + [1] * 12):
        waiting = socket.create_connection(("127.0.0.1", int(office.address.rpartition(":")[2])), timeout=20)
        waiting.sendall(
            f"PUT /_stcore/upload_file/{visit.session}/idle-{number} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Cookie: {_written(eve.cookies)}\r\nX-Xsrftoken: {eve.cookies['_streamlit_xsrf']}\r\n"
            f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {megabytes << 20}\r\n\r\n".encode()
        )
        idle.append(waiting)
    time.sleep(1)
    begin = time.monotonic()
    assert upload_of(ann, office.visit, "5", b"age\n1\n" * 200_000).status == 204
    assert time.monotonic() - begin < 20
    assert upload_of(eve, visit, "more", b"age\n1\n").status == 429, "so many of her own are on their way"
    for waiting in idle:
        waiting.close()
    end = time.monotonic() + 20
    while upload_of(eve, visit, "more", b"age\n1\n").status != 204:
        assert time.monotonic() < end, "connections that are closed count no longer"
        time.sleep(0.1)
    announced = {"Content-Length": str(61 << 20), "X-Xsrftoken": eve.cookies["_streamlit_xsrf"]}
    assert eve.ask(f"/_stcore/upload_file/{visit.session}/large", "PUT", announced).status == 413
    visit.close()


def test_refusals_and_sign_ins_are_in_the_record_and_the_metrics(office: Office) -> None:
    with pytest.raises(AssertionError):
        office.client("eve").sign_in("eve", "another secret that is long enough to be one")
    visitor = office.client("eve")
    visitor.visit("table").close()
    file = office.file
    for _ in range(60):
        assert visitor.ask(file).status == office.client().ask(file).status == 403
    visitor.ask("/auth/logout")
    lines = [json.loads(line) for line in (office.folder / "audit.jsonl").read_text("ascii").splitlines()]
    done = {(line["who"], line["what"], line.get("right", "")) for line in lines}
    eve = f"eve@{served.DOMAIN}"
    assert {(eve, "signed in", ""), (eve, "signed out", ""), (eve, "refused", "file"), ("", "refused", "file")} <= done
    assert len(lines) < 400, "equal refusals are one line a minute"
    with urllib.request.urlopen(f"http://127.0.0.1:{office.metrics}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    refused = [line for line in text.splitlines() if line.startswith('anoncore_refused_total{kind="file"}')]
    assert int(refused[0].rpartition(" ")[2]) > 100


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, int]]:
    """The dashboard as somebody starts it on their machine: its address, its token, and its process."""
    folder = tmp_path_factory.mktemp("own")
    port = browser._free_port()
    run = "import sys; from anoncore.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", run, "dashboard", "--no-browser", "--port", str(port)]
    kept = {name: value for name, value in os.environ.items() if name != "ANONCORE_SERVER_TOKEN"}
    with (folder / "printed.txt").open("wb") as printed:
        process = subprocess.Popen(
            command, cwd=browser.ROOT, stdout=printed, stderr=printed, env={**kept, "PYTHONPATH": str(browser.ROOT)}
        )
        try:
            browser._wait_until_healthy(f"http://127.0.0.1:{port}", process, 60)
            said = (folder / "printed.txt").read_text("utf-8")
            (line,) = (one for one in said.splitlines() if "?token=" in one)
            yield f"http://127.0.0.1:{port}", line.rpartition("?token=")[2], process.pid
        finally:
            process.terminate()
            process.wait(20)


def test_another_user_of_the_machine_gets_nothing(own: tuple[str, str, int]) -> None:
    address, token, process = own
    port = address.rpartition(":")[2]
    tried = 0
    paths = [
        "/",
        "/table",
        "/large",
        "/board?workspace=x",
        "/_stcore/host-config",
        "/static/js/index.js",
        "/media/x.csv",
    ]
    paths += [
        "/_stcore/metrics",
        "/component/x",
        "/_stcore/bidi-components/x",
        "/_stcore/agent/openapi.json",
        "/nothing",
    ]
    guesses = ["", "x", token[:-1], f"{token}x", token.swapcase(), "null", "undefined", "%00", "*", "' or 1=1"]
    forms = ("{}", "/{}", "{}/_stcore/health", "{}?token=")
    for path in [form.format(plain) for plain in paths for form in forms]:
        for method in ("GET", "HEAD", "POST", "OPTIONS", "PUT"):
            assert Client(address).ask(path, method).status in (403, 404), (method, path)
            tried += 1
    for guess in guesses:
        encoded = guess.replace(" ", "+").replace("'", "%27")
        for name in (f"anoncore_token_{port}", "anoncore_token", "token"):
            answer = Client(address).ask("/", headers={"Cookie": f"{name}={guess}"})
            assert answer.status == 403
            assert Client(address).ask(f"/?{name}={encoded}").status == 403
            tried += 2
        for headers in ({"Authorization": f"token {guess}"}, {"X-Token": guess}, {"X-Forwarded-For": "127.0.0.1"}):
            assert Client(address).ask("/", headers=headers).status == 403
            tried += 1
    assert tried > 250
    from websockets.exceptions import InvalidStatus

    for cookies in ({}, {f"anoncore_token_{port}": "x"}, {"anoncore_token": token}):
        with pytest.raises(InvalidStatus, match="403"):
            Client(address, {"_streamlit_xsrf": "x", **cookies}).visit("table")
    # All users see the arguments of all programs.
    for one in (psutil.Process(process), *psutil.Process(process).children(recursive=True)):
        assert token not in " ".join(one.cmdline())
    for path in (Path.home().glob("anoncore-opens-*"), Path("/tmp").glob("anoncore-opens-*")):
        assert [one for one in path if stat.S_IMODE(one.stat().st_mode) & 0o077] == []


def test_whoever_started_it_gets_in_by_the_address_that_is_printed(own: tuple[str, str, int]) -> None:
    address, token, _ = own
    owner = Client(address)
    answer = owner.ask(f"/table?token={token}&step=0")
    assert (answer.status, answer.header("location")) == (303, "/table?step=0")
    assert owner.ask("/table").status == 200
    visit = owner.visit("table")
    assert b"Path or address" in visit.raw
    visit.close()
    for path in ("/_stcore/metrics", "/_stcore/agent/openapi.json"):
        assert owner.ask(path).status == 404
    # Under another name, a page of another site would be asking.
    assert owner.ask("/table", headers={"Host": f"evil.example:{address.rpartition(':')[2]}"}).status == 421
