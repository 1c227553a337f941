"""What the gate lets through: who asks, under which name, for whose files, and how much comes how fast."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard.process import metrics
from dashboard.serving import access, audit, gate, own_token, quotas, settings, sign_ins
from dashboard.serving.settings import Quotas, Rights, Server, Settings, SignIn

OWN = Settings(server=Server(token="k" * 40))
OFFICE = Settings(
    server=Server(public_url="https://office.example/anoncore", base_path="anoncore"),
    sign_in=SignIn(metadata_url="https://login.example/x"),
    rights=Rights(upload=("*",)),
)
ANN, BOB = ({"_streamlit_user": f"cookie of {name}"} for name in ("ann", "bob"))
UPLOAD = "/anoncore/_stcore/upload_file/session-of-{}/1"
HOST = (b"host", b"127.0.0.1:8501")


@pytest.fixture(autouse=True)
def nothing_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that has just begun."""
    for module, name in ((sign_ins, "_sign_ins"), (sign_ins, "_connections"), (gate, "_owners"), (gate, "_recorded")):
        monkeypatch.setattr(module, name, {})
    monkeypatch.setattr(quotas, "_on_the_way", [])
    monkeypatch.setattr(own_token, "_checked", SimpleNamespace(set=lambda: None, is_set=lambda: True))


@pytest.fixture
def office(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ann and Bob have signed in, and Bob has a file."""
    monkeypatch.setattr(settings, "_used", OFFICE)
    option = gate.st.get_option
    monkeypatch.setattr(
        gate.st, "get_option", lambda name: "anoncore" if name == "server.baseUrlPath" else option(name)
    )
    for cookies, name in ((ANN, "ann"), (BOB, "bob")):
        assert sign_ins.begin(cookies)
        assert sign_ins.name(cookies, f"id of {name}", name)
    visits = {f"session-of-{name}": access.Visit(f"id of {name}", True) for name in ("ann", "bob")}
    monkeypatch.setattr(access, "_visits", {**visits, "session-of-looker": access.Visit("id of ann", False)})
    monkeypatch.setattr(gate, "_owners", {"abc": frozenset({"id of bob"})})


def ask(
    method: str,
    path: str,
    *headers: tuple[bytes, bytes],
    cookies: dict[str, str] | None = None,
    query: bytes = b"",
    host: tuple[bytes, bytes] = HOST,
    body: Iterable[bytes] = (),
    slowly: float = 0.0,
    answer_headers: Iterable[tuple[bytes, bytes]] = (),
) -> tuple[int, str, dict[str, str]]:
    """What the gate answers: status, text and headers; 200 where it lets the request pass."""
    said: list[dict[str, Any]] = []
    chunks = list(body)

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        while method == "PUT" and (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": list(answer_headers)})
        await send({"type": "http.response.body", "body": b"taken"})

    async def send(message: Any) -> None:
        said.append(message)

    async def receive() -> Any:
        await asyncio.sleep(slowly)
        chunk = chunks.pop(0) if chunks else b""
        return {"type": "http.request", "body": chunk, "more_body": bool(chunks)}

    sent = [host, *headers]
    if cookies:
        sent.append((b"cookie", "; ".join(f"{name}={value}" for name, value in cookies.items()).encode()))
    scope = {"type": "http", "method": method, "path": path, "headers": sent, "query_string": query}
    asyncio.run(gate.Gate(app)(scope, receive, send))
    found = {name.decode(): value.decode() for name, value in said[0]["headers"]}
    return said[0]["status"], said[1]["body"].decode(), found


def length(n_bytes: int) -> tuple[bytes, bytes]:
    return b"content-length", str(n_bytes).encode()


@pytest.mark.parametrize("path", ["/", "/data", "/media/abc.csv", "/static/js/index.js", "/_stcore/host-config"])
def test_the_own_machine_is_asked_for_the_token(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_used", OWN)
    name = own_token.cookie_name()
    assert ask("GET", path)[0] == 403
    for wrong in ("", "k" * 39, "k" * 41, "K" * 40):
        assert ask("GET", path, cookies={name: wrong})[0] == 403
    assert ask("GET", path, cookies={"anoncore_token": "k" * 40})[0] == 403
    assert ask("GET", path, query=b"token=" + b"k" * 39)[0] == 403
    assert ask("PUT", "/_stcore/upload_file/s/1", length(1), query=b"token=" + b"k" * 40)[0] == 403
    assert ask("GET", path, cookies={name: "k" * 40})[0] == 200
    assert ask("GET", "/_stcore/health")[:2] == (200, "taken")
    for longer in (f"{path}/_stcore/health", "/_stcore/health/", "//_stcore/health", "/x/_stcore/health"):
        assert ask("GET", longer)[0] == 403
    assert "Open the whole address that the program printed" in ask("GET", path)[1]


def test_the_token_in_the_address_becomes_a_cookie(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_used", OWN)
    status, _, headers = ask("GET", "/da ta", query=b"step=2&token=" + b"k" * 40 + b"&workspace=x%26y")
    assert (status, headers["location"]) == (303, "/da%20ta?step=2&workspace=x%26y")
    cookie = headers["set-cookie"].split("; ")
    assert cookie[0] == f"{own_token.cookie_name()}={'k' * 40}"
    assert set(cookie[1:]) == {"Path=/", "HttpOnly", "SameSite=Lax"}
    for path in ("//evil.example/x", "/\\evil.example", "///evil.example"):
        assert ask("GET", path, query=b"token=" + b"k" * 40)[2]["location"].startswith("/evil.example")
    # Under the name of another site, a page there could read what it gets.
    assert ask("GET", "/", query=b"token=" + b"k" * 40, host=(b"host", b"evil.example:8501"))[0] == 421


def test_each_start_has_a_token_of_its_own_and_the_address_carries_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_used", Settings())
    assert len(own_token.token()) >= 43
    assert own_token.address().endswith(f"?token={own_token.token()}")
    monkeypatch.setattr(settings, "_used", OFFICE)
    assert own_token.address() == "https://office.example/anoncore"


def test_the_file_that_opens_the_browser_is_its_owners_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(settings, "_used", OWN)
    monkeypatch.setattr(own_token.Path, "home", lambda: tmp_path / "not there")
    monkeypatch.setattr(own_token.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(own_token, "OPENED_SECONDS", 0.0)
    opened: list[tuple[str, int, str]] = []

    def browser(address: str) -> None:
        path = Path(address.removeprefix("file://"))
        opened.append((address, path.stat().st_mode & 0o777, path.read_text("utf-8")))

    monkeypatch.setattr("streamlit.cli_util.open_browser", browser)
    own_token._open()
    ((address, mode, content),) = opened
    assert "k" * 40 not in address, "all users see the arguments of a program"
    assert mode == 0o600
    assert f"token={'k' * 40}" in content
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["evil", "evil.example:8501", "127.0.0.1.evil.example", "localhost.evil", "a@127.0.0.1", ""]
)
def test_no_request_comes_through_under_another_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_used", OWN)
    cookies = {own_token.cookie_name(): "k" * 40}
    for path in ("/", "/_stcore/health", "/media/abc.csv"):
        assert ask("GET", path, cookies=cookies, host=(b"host", name.encode()))[0] == 421
        assert ask("GET", path, (b"host", name.encode()), cookies=cookies)[0] == 421
        assert ask("GET", path, cookies=cookies, host=(b"x-host", b"127.0.0.1"))[0] == 421
    assert ask("GET", "/", cookies=cookies, host=(b"host", b"LOCALHOST:8501"))[0] == 200


@pytest.mark.parametrize(
    ("origin", "is_own"),
    [
        ("http://127.0.0.1:8501", True),
        ("http://127.0.0.1:9999", False),
        ("http://127.0.0.1", False),
        ("http://localhost:8501", False),
        ("http://evil.example", False),
        ("http://127.0.0.1:8501.evil.example", False),
        ("http://127.0.0.1:8501@evil.example", False),
        ("null", False),
        ("http://[", False),
        ("", False),
    ],
)
def test_only_pages_of_this_server_ask_for_changes(origin: str, is_own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_used", OWN)
    cookies, sent = {own_token.cookie_name(): "k" * 40}, (b"origin", origin.encode())
    for method in ("PUT", "POST", "DELETE"):
        assert ask(method, "/_stcore/upload_file/s/1", length(1), sent, cookies=cookies)[0] == (200 if is_own else 403)
    assert ask("PUT", "/_stcore/upload_file/s/1", length(1), sent, sent, cookies=cookies)[0] == 403
    assert ask("GET", "/", sent, cookies=cookies)[0] == 200


@pytest.mark.parametrize("found", [OWN, OFFICE])
def test_what_streamlit_answers_besides_is_closed(found: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_used", found)
    cookies = {own_token.cookie_name(): "k" * 40}
    for path in ("/_stcore/metrics", "/anoncore/_stcore/metrics", "/_stcore/metrics/", "/_stcore/agent/openapi.json"):
        assert ask("GET", path, cookies=cookies)[0] == 404


def test_browsers_are_told_what_a_page_may_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_used", OWN)
    own = {own_token.cookie_name(): "k" * 40}
    answers = [ask("GET", "/", cookies=own), ask("GET", "/"), ask("GET", "/_stcore/metrics")]
    for _, _, headers in answers:
        rules = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
        assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'self'"
        assert rules["frame-ancestors"] == rules["object-src"] == "'none'"
        assert "unsafe" not in rules["script-src"]
        assert "http" not in headers["content-security-policy"], "nothing is loaded from elsewhere"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        assert "strict-transport-security" not in headers
    monkeypatch.setattr(settings, "_used", OFFICE)
    assert ask("GET", "/anoncore/")[2]["strict-transport-security"] == "max-age=31536000"
    replaced = ask("GET", "/anoncore/", answer_headers=[(b"X-Frame-Options", b"ALLOWALL")])[2]
    assert replaced.get("X-Frame-Options") is None


def test_files_are_for_whom_they_were_made(office: None) -> None:
    for path in ("/anoncore/media/abc.csv", "/anoncore/media/abc.bin", "/anoncore/media/abc", "//media/abc.csv"):
        assert ask("GET", path)[0] == 403, "without a cookie"
        assert ask("HEAD", path)[0] == 403
        assert ask("GET", path, cookies=ANN)[0] == 403, "with another's"
        assert ask("GET", path, cookies={"_streamlit_user": "made up"})[0] == 403
        assert ask("GET", path, cookies=BOB)[0] == 200
    assert ask("GET", "/anoncore/media/abc.csv", cookies=BOB)[2]["cache-control"] == "no-store"
    # What the check reads as a file of one's own is not what Streamlit reads.
    for path in ("/anoncore/media/abd.csv", "/anoncore/media/../media/abd.csv", "/anoncore/media/abc/abd.csv"):
        assert ask("GET", path, cookies=BOB)[0] == 403


def test_a_copied_cookie_opens_nothing_after_signing_out(office: None) -> None:
    assert ask("GET", "/anoncore/media/abc.csv", cookies=BOB)[0] == 200
    assert ask("PUT", UPLOAD.format("bob"), length(1), cookies=BOB)[0] == 200
    assert ask("GET", "/anoncore/auth/logout", cookies=BOB)[0] == 200
    assert ask("GET", "/anoncore/media/abc.csv", cookies=BOB)[0] == 403
    assert ask("PUT", UPLOAD.format("bob"), length(1), cookies=BOB)[0] == 403
    assert ask("PUT", UPLOAD.format("ann"), length(1), cookies=ANN)[0] == 200, "others stay"


def test_only_the_address_of_signing_out_signs_out(office: None) -> None:
    for path in ("/anoncore/x/auth/logout", "/auth/logout", "/anoncore/auth/logout/", "/anoncore/x/oauth2callback"):
        ask("GET", path, cookies=BOB)
        assert sign_ins.of(BOB) is not None


def test_a_sign_in_is_listed_when_its_cookies_are_handed_out(office: None) -> None:
    new = [
        (b"set-cookie", b"_streamlit_user=whole.x-y_z; HttpOnly; Path=/anoncore; SameSite=lax"),
        (b"set-cookie", b"_streamlit_user_1=part; Path=/anoncore"),
        (b"set-cookie", b"_streamlit_user_2=gone; Max-Age=0; Path=/anoncore"),
        (b"set-cookie", b'_streamlit_user_tokens="a token"; Path=/anoncore'),
    ]
    cookies = {"_streamlit_user": "whole.x-y_z", "_streamlit_user_1": "part"}
    assert sign_ins.of(cookies) is None
    assert ask("GET", "/anoncore/oauth2callback", answer_headers=new)[0] == 200
    assert sign_ins.of(cookies) is not None
    assert sign_ins.of({**cookies, "_streamlit_user_2": "left from before"}) is not None
    assert sign_ins.of({"_streamlit_user": "whole.x-y_z"}) is None, "only with all its parts"
    assert sign_ins.of({**cookies, "_streamlit_user_1": "another part"}) is None
    # Whoever signs in anew in the same browser has left the sign-in before.
    assert ask("GET", "/anoncore/oauth2callback", cookies=BOB, answer_headers=new)[0] == 200
    assert sign_ins.of(BOB) is None


def test_an_open_page_ends_with_its_sign_in(office: None) -> None:
    async def visit() -> tuple[list[str], list[dict[str, Any]]]:
        got: list[str] = []
        said: list[dict[str, Any]] = []
        messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

        async def app(scope: Any, receive: Any, _send: Any) -> None:
            if scope["type"] == "websocket":
                while (message := await receive())["type"] != "websocket.disconnect":
                    got.append(message["text"])

        async def send(message: Any) -> None:
            said.append(message)

        door = gate.Gate(app)
        headers = [HOST, (b"cookie", b"_streamlit_user=cookie of bob")]
        scope = {"type": "websocket", "path": "/anoncore/_stcore/stream", "headers": headers, "query_string": b""}
        connection = asyncio.create_task(door(scope, messages.get, send))
        await messages.put({"type": "websocket.receive", "text": "hello"})
        await asyncio.sleep(0.05)
        assert not connection.done()
        out = {**scope, "type": "http", "method": "GET", "path": "/anoncore/auth/logout"}
        await door(out, messages.get, send)
        await asyncio.wait_for(connection, 5)
        return got, said

    got, said = asyncio.run(visit())
    assert got == ["hello"]
    assert said == [{"type": "websocket.close", "code": 1008}]
    assert sign_ins._connections == {}


def test_uploads_are_of_those_only_who_may_and_into_their_own_sessions(office: None) -> None:
    assert ask("PUT", UPLOAD.format("ann"), length(1), cookies=ANN)[0] == 200
    refused = [
        ask("PUT", UPLOAD.format("ann"), length(1), cookies=BOB),
        ask("PUT", UPLOAD.format("ann"), length(1)),
        ask("PUT", UPLOAD.format("looker"), length(1), cookies=ANN),
        ask("PUT", UPLOAD.format("nobody"), length(1), cookies=ANN),
        ask("DELETE", UPLOAD.format("ann"), cookies=BOB),
        ask("POST", UPLOAD.format("ann"), length(1), cookies=BOB),
    ]
    assert {answer[0] for answer in refused} == {403}


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, SimpleNamespace]]:
    """A server with little memory and small files, and the files that it holds by session."""
    limits = Settings(server=Server(token="k" * 40, upload_megabytes=30), quotas=Quotas(memory_megabytes=1_000))
    monkeypatch.setattr(settings, "_used", limits)
    monkeypatch.setattr(quotas.memory, "free_memory", lambda: 300 << 20)
    held: dict[str, dict[str, SimpleNamespace]] = {}
    manager = SimpleNamespace(file_storage=held, remove_file=lambda session_id, file_id: held[session_id].pop(file_id))
    runtime = SimpleNamespace(exists=lambda: True, get_instance=lambda: SimpleNamespace(uploaded_file_mgr=manager))
    monkeypatch.setattr(quotas, "runtime", runtime)
    return held


def put(n_bytes: int | None, session: str = "s", **options: Any) -> tuple[int, str]:
    headers = [] if n_bytes is None else [length(n_bytes)]
    cookies = {own_token.cookie_name(): "k" * 40}
    return ask("PUT", f"/_stcore/upload_file/{session}/1", *headers, cookies=cookies, **options)[:2]


def test_no_upload_is_taken_for_which_there_is_no_room(
    narrow: dict[str, dict[str, SimpleNamespace]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A fifth of 1000 MB is kept for work, so tables may take 100 MB, and an upload counts twice.
    assert put(49 << 20)[0] == 200
    status, text = put(51 << 20)
    assert (status, text.startswith("The tables of all who work here take nearly all of the 1,000 MB")) == (507, True)
    assert put(61 << 20)[0] == 413, "more than one person may have"
    assert put(None)[0] == 411
    cookies = {own_token.cookie_name(): "k" * 40}
    for said in (b"-1", b"1e3", b"+5", "٣".encode(), b"9" * 20):
        assert ask("PUT", "/_stcore/upload_file/s/1", (b"content-length", said), cookies=cookies)[0] == 411


def test_what_others_announce_and_do_not_send_blocks_nobody(narrow: dict[str, dict[str, SimpleNamespace]]) -> None:
    with quotas.upload("a"), quotas.upload("b"), quotas.upload("c") as sending:
        assert put(30 << 20)[0] == 200
        sending.received = 30 << 20
        assert put(30 << 20)[0] == 507, "what has come counts"


def test_an_upload_that_fills_the_memory_while_it_comes_is_cut_off(
    narrow: dict[str, dict[str, SimpleNamespace]],
) -> None:
    with quotas.upload("other") as other:
        other.received = 30 << 20
        assert put(10 << 20, body=[bytes(10 << 20)])[0] == 200
        assert put(10 << 20, body=[bytes(15 << 20), bytes(15 << 20)])[0] == 507
    assert quotas._on_the_way == []


def test_one_persons_files_make_room_for_their_own_and_nobody_elses(
    narrow: dict[str, dict[str, SimpleNamespace]],
) -> None:
    for session, sizes in (("s", (25, 25)), ("other", (25,))):
        narrow[session] = {
            f"{session}{number}": SimpleNamespace(file_id=f"{session}{number}", data=bytes(size << 20))
            for number, size in enumerate(sizes)
        }
    assert put(5 << 20)[0] == 200
    assert list(narrow["s"]) == ["s0", "s1"]
    assert put(30 << 20)[0] == 200
    assert list(narrow["s"]) == ["s1"], "the oldest goes"
    assert list(narrow["other"]) == ["other0"]


def test_one_person_has_so_many_uploads_on_the_way(narrow: dict[str, dict[str, SimpleNamespace]]) -> None:
    from contextlib import ExitStack

    with ExitStack() as stack:
        for _ in range(quotas.UPLOADS_AT_ONCE):
            stack.enter_context(quotas.upload("session s"))
        assert put(1)[0] == 429
        assert put(1, session="another")[0] == 200


@pytest.mark.slow
def test_a_body_that_does_not_come_is_waited_for_no_longer(
    narrow: dict[str, dict[str, SimpleNamespace]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "GRACE_SECONDS", 0.2)
    begin = time.monotonic()
    status, text = put(1_000, slowly=5)
    assert (status, "came too slowly" in text) == (408, True)
    assert time.monotonic() - begin < 4
    # One byte now and then is no better; bytes that come in time buy more of it.
    assert put(1_000, body=[b"x"] * 50, slowly=0.05)[0] == 408
    assert put(1_000, body=[bytes(20_000)] * 8, slowly=0.05)[0] == 200


def test_refusals_are_counted_and_recorded(office: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    with_record = Settings(
        server=OFFICE.server,
        sign_in=OFFICE.sign_in,
        rights=OFFICE.rights,
        audit=settings.Audit(str(path), base64.b64encode(bytes(32)).decode()),
    )
    monkeypatch.setattr(settings, "_used", with_record)
    before = audit.counted().get(("refused", "file"), 0)
    for _ in range(50):
        ask("GET", "/anoncore/media/abc.csv", cookies=ANN)
    ask("GET", "/anoncore/media/abc.csv")
    ask("GET", "/anoncore/auth/logout", cookies=ANN)
    assert audit.counted()["refused", "file"] - before == 51
    assert 'anoncore_refused_total{kind="file"}' in metrics.text()
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [(line["who"], line["what"], line.get("right")) for line in lines] == [
        ("ann", "refused", "file"),
        ("", "refused", "file"),
        ("ann", "signed out", None),
    ], "equal ones are one line a minute"
    monkeypatch.setattr(audit, "record", _full_disk(audit.record))
    assert ask("GET", "/anoncore/media/abc.csv", cookies=BOB | {"x": "y"})[0] == 200
    assert ask("GET", "/anoncore/_stcore/metrics", cookies=BOB)[0] == 404, "refused all the same"


def _full_disk(_record: Callable[..., None]) -> Callable[..., None]:
    def record(*_: Any, **__: Any) -> None:
        raise audit.DataError("the disk is full")

    return record


def test_the_manager_of_files_says_for_whom_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    from streamlit.runtime.media_file_manager import MediaFileManager
    from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

    monkeypatch.setattr(settings, "_used", OFFICE)
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    gate.watch_files(manager)
    drawn_for = "id of ann"
    monkeypatch.setattr(access, "person", lambda: access.Person(drawn_for, "", frozenset()))
    address = manager.add(b"image of ann", "image/png", "1.2")
    placeholder = manager.add_deferred(lambda: "secret,of\nann,1\n", "text/csv", "1.3", file_name="ann.csv")
    drawn_for = "id of bob"
    shared = manager.add(b"image of ann", "image/png", "1.2")
    # It is made by a thread that draws no page, and whoever asks then.
    monkeypatch.setattr(access, "person", lambda: None)
    download = manager.execute_deferred(placeholder)
    assert shared == address, "the same content is the same file"
    assert [gate.may_fetch(f"/anoncore{address}", f"id of {name}") for name in ("ann", "bob", "eve")] == [
        True,
        True,
        False,
    ]
    assert [gate.may_fetch(download, f"id of {name}") for name in ("ann", "bob", "")] == [True, False, False]
