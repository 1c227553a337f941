"""The dashboard run for others: who gets in, who sees what, what outlives a restart, behind nginx under a base path."""

from __future__ import annotations

import json
import re
import signal
import stat
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.dashboard import browser, served
from tests.dashboard.browser import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.slow]
BASE = "tools/anoncore"
SECRET = "Geheimwert"


def people(mark: str = SECRET, n: int = 60) -> bytes:
    frame = pd.DataFrame(
        {"age": range(n), "town": [f"{mark}{row % 3}" for row in range(n)], "ill": ["x", "y", "z"] * (n // 3)}
    )
    return frame.to_csv(index=False).encode()


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, served.Served, Path]]:
    """A server behind nginx with a sign-in, kept workspaces, a record and metrics."""
    served.require("oidc_provider_mock", "authlib", "httpx", "cryptography")
    served.require_nginx()
    folder = tmp_path_factory.mktemp("office")
    vault, tables = folder / "workspaces", folder / "tables"
    vault.mkdir(mode=0o700)
    tables.mkdir()
    (tables / "people.csv").write_bytes(people("Pfadwert"))
    (folder / "outside.csv").write_bytes(people("Pfadwert"))
    (folder / "nginx").mkdir()
    port = browser._free_port()
    public = f"http://127.0.0.1:{port}/{BASE}"
    with served.provider("ann", "bob", "cleo", "doubtful", "eve") as metadata:
        settings = served.sign_in_settings(
            metadata,
            public,
            look=[f"cleo@{served.DOMAIN}"],
            upload=[f"bob@{served.DOMAIN}", f"doubtful@{served.DOMAIN}", f"dora@{served.DOMAIN}"],
            paths=["groups:analysts"],
            folders=[str(tables)],
        )
        settings["server"]["base_path"] = BASE
        settings["workspaces"] = {"folder": str(vault), "save_seconds": 0.5}
        settings["audit"] = {"file": str(folder / "audit.jsonl")}
        settings["metrics"] = {"port": browser._free_port()}
        server = served.Served(folder, settings, ANONCORE_WORKSPACES_KEY=served.KEY, **served.SECRETS)
        with server, served.nginx(folder / "nginx", server.port, BASE, port) as address:
            yield address, server, folder


@pytest.fixture
def enter(
    chrome: Any, office: tuple[str, served.Served, Path], profiles: list[Any]
) -> Iterator[Callable[[str], Visitor]]:
    visitors: list[Visitor] = []

    def start(name: str = "") -> Visitor:
        visitors.append(browser.visitor(chrome, office[0], profile=profiles.pop() if profiles else None))
        if name:
            served.sign_in(visitors[-1], name)
        return visitors[-1]

    yield start
    for one in visitors:
        assert one.problems() == []
        assert one.foreign == []
        profiles.append(browser.forget(one))


def test_nobody_gets_in_without_a_sign_in(enter: Callable[..., Visitor]) -> None:
    visitor = enter()
    for path in ("", "large", "board?workspace=abc"):
        visitor.page.goto(f"{visitor.address}/{path}")
        visitor.page.get_by_role("button", name="Sign in", exact=True).wait_for(timeout=30_000)
        assert visitor.page.get_by_test_id("stTopNavLink").count() == 0
        assert "census" not in visitor.text().lower()


def test_a_person_without_any_right_gets_the_sentence(enter: Callable[..., Visitor]) -> None:
    # A name that nobody vouches for is followed by digits that nobody can choose.
    for name, shown in (("eve", re.escape(f"eve@{served.DOMAIN}")), ("doubtful", r"doubtful \([0-9a-f]{8}\)")):
        visitor = enter(name)
        assert re.search(f"{shown} may not use this server; ask those who run this server.", visitor.text())
        assert visitor.page.get_by_test_id("stTopNavLink").count() == 0
    visitor.page.get_by_role("button", name="Sign out", exact=True).click()
    # The provider asks whether to end the sign-in there as well.
    visitor.page.wait_for_url(re.compile("end_session"), timeout=30_000)
    visitor.page.goto(visitor.address)
    visitor.page.get_by_role("button", name="Sign in", exact=True).wait_for(timeout=30_000)
    visitor.foreign.clear()


def test_who_may_only_look_gets_the_sentence_instead_of_fields_for_files(enter: Callable[..., Visitor]) -> None:
    visitor = enter("cleo")
    visitor.go("Table")
    assert f"cleo@{served.DOMAIN} may look at the built-in tables and try everything on them" in visitor.text()
    assert visitor.page.locator("input[type=file]").count() == 0
    assert f"cleo@{served.DOMAIN} may not name paths of the machine" in visitor.text()


def test_paths_are_those_of_the_named_folders_for_whom_the_right_names(
    enter: Callable[..., Visitor], office: tuple[str, served.Served, Path]
) -> None:
    folder = office[2]
    visitor = enter("ann")
    visitor.go("Table")
    visitor.name_place()
    field = visitor.page.get_by_role("textbox", name="Path or address", exact=True)
    (folder / "tables" / "link.csv").symlink_to(folder / "outside.csv")
    for path in (folder / "outside.csv", folder / "tables" / ".." / "outside.csv", folder / "tables" / "link.csv"):
        visitor.enter(field, path)
        assert "lies outside the folders that may be used here" in visitor.error()
    visitor.enter(field, folder / "tables" / "people.csv")
    visitor.press("Take a sample")
    visitor.see("The sample of people.csv is your table")


def test_workspaces_are_their_owners_alone_and_outlive_a_restart(
    enter: Callable[..., Visitor], office: tuple[str, served.Served, Path]
) -> None:
    _, server, folder = office
    bob = enter("bob")
    bob.go("Table")
    # Longer than what nginx holds in memory; the empty lines at the end are no rows.
    bob.upload("bobs-file.csv", people() + b"\n" * 100_000)
    bob.see("bobs-file.csv")
    bob.press("Use suggestions")
    bob.go("Groups")
    bob.show_release("Mondrian")
    address = bob.page.url
    assert "workspace=" in address

    cleo = enter("cleo")
    cleo.page.goto(address)
    cleo.page.wait_for_selector("h1", timeout=60_000)
    cleo.settle()
    assert (
        cleo.error() == "The workspace in this address belongs to somebody else, so it is not shown. This one is yours."
    )
    assert SECRET not in cleo.page.content()
    assert "bobs-file" not in cleo.page.content()

    for how in (signal.SIGTERM, signal.SIGKILL):
        if how == signal.SIGKILL:
            # Told to end at once, the server keeps what it has written before.
            bob.ask(k=4)
            bob.wait_for_release("Mondrian")
            bob.go("Groups")
            bob.see("Mondrian (k = 4")
            # What has changed is written twice a second.
            time.sleep(2)
        server.stop(how)
        server.start()
        bob.page.goto(address)
        bob.page.wait_for_selector("h1", timeout=60_000)
        bob.settle()
        bob.see(f"Mondrian (k = {'4' if how == signal.SIGKILL else '10'}")
        bob.see("60 rows of bobs-file.csv")
    again = enter("bob")
    again.go("Table")
    again.see("bobs-file.csv")

    cleo.page.goto(address)
    cleo.page.wait_for_selector("h1", timeout=60_000)
    cleo.settle()
    assert "belongs to somebody else" in cleo.error()
    kept = [path for path in (folder / "workspaces").rglob("*") if path.is_file()]
    assert len(kept) >= 3
    for path in kept:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert not {b"Geheim", b"bobs-file", b"PAR1", b"PK\x03\x04"} & {
            one for one in (b"Geheim", b"bobs-file", b"PAR1", b"PK\x03\x04") if one in path.read_bytes()
        }
    bob.go("Publish")
    with bob.page.expect_download() as download:
        bob.page.get_by_role("button", name="Recipe (TOML)", exact=True).click()
    assert Path(download.value.path()).stat().st_size > 0


def test_files_and_sign_ins_are_their_owners_and_end_with_them(
    enter: Callable[..., Visitor], office: tuple[str, served.Served, Path]
) -> None:
    ann, bob = enter("ann"), enter("bob")
    bob.go("Table")
    bob.upload("bobs-file.csv", people())
    bob.see("bobs-file.csv")
    bob.page.get_by_text("Save this session, or open a saved one").click()
    with bob.page.expect_download() as download:
        bob.page.get_by_role("button", name="Save this session", exact=True).click()
    assert Path(download.value.path()).stat().st_size > 0
    address = download.value.url
    assert address.startswith(f"{office[0]}/media/")
    assert bob.page.context.request.get(address).status == 200
    stranger = enter()
    stranger.page.goto(office[0])
    stranger.page.get_by_role("button", name="Sign in", exact=True).wait_for(timeout=30_000)
    for other in (stranger, ann):
        assert other.page.context.request.get(address).status == 403
        assert other.page.context.request.get(address.rpartition(".")[0]).status == 403
    # The cookies of Bob, copied while he was signed in, in another browser.
    thief = enter()
    thief.page.context.add_cookies(bob.page.context.cookies())
    assert thief.page.context.request.get(address).status == 200
    workspace = bob.page.url
    left_open = bob.page.context.new_page()
    left_open.goto(workspace)
    left_open.get_by_text("bobs-file.csv").first.wait_for(timeout=30_000)
    bob.go("Table")
    bob.page.get_by_role("button", name="Sign out", exact=True).click()
    bob.page.wait_for_url(re.compile("end_session"), timeout=30_000)
    bob.foreign.clear()
    bob.page.goto(office[0])
    bob.page.get_by_role("button", name="Sign in", exact=True).wait_for(timeout=30_000)
    assert thief.page.context.request.get(address).status == 403
    thief.page.goto(workspace)
    thief.page.get_by_role("button", name="Sign in", exact=True).wait_for(timeout=30_000)
    assert "bobs-file" not in thief.page.content()
    # What was left open in another tab is no longer connected as Bob.
    left_open.get_by_test_id("stTopNavLink").first.click()
    left_open.get_by_role("button", name="Sign in", exact=True).wait_for(timeout=30_000)
    assert "bobs-file" not in left_open.content()


def test_the_record_says_who_did_what_and_holds_no_value(office: tuple[str, served.Served, Path]) -> None:
    path = office[2] / "audit.jsonl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text("utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    done = {(line["who"], line["what"]) for line in lines}
    bob, ann, cleo = (f"{name}@{served.DOMAIN}" for name in ("bob", "ann", "cleo"))
    assert {(bob, "loaded"), (bob, "ran"), (bob, "took away"), (ann, "loaded"), (cleo, "refused")} <= done
    assert {(bob, "signed in"), (bob, "signed out"), (ann, "refused"), ("", "refused")} <= done
    runs = [line for line in lines if line["who"] == bob and line["what"] == "ran" and line["rows"] == 60]
    run = next(line for line in runs if line["method"]["name"] == "mondrian")
    assert run["method"]["requirements"][0]["k"] >= 2
    assert len(run["table"]) == 64
    # A plain digest of the table would let whoever knows all of it but one cell guess that cell.
    plain = {sha256(content).hexdigest() for content in (people(), people() + b"\n" * 100_000, people("Pfadwert"))}
    assert not [digest for digest in plain if digest in text]
    taken = next(line for line in lines if line["what"] == "took away" and line["file"] == "session")
    assert len(taken["digest"]) == 64
    for hidden in (SECRET, "Pfadwert", "town", "bobs-file", "people.csv"):
        assert hidden not in text


def test_a_monitor_learns_how_the_server_is(office: tuple[str, served.Served, Path]) -> None:
    port = office[1].config.read_text("utf-8").split("[metrics]")[1].split("port = ")[1].split()[0]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        figures = _figures(answer.read().decode())
    assert figures["anoncore_workspaces"] >= 1
    assert figures["anoncore_memory_bytes"] > 50 << 20
    assert figures["anoncore_jobs_running"] == 0
    assert sum(value for name, value in figures.items() if name.startswith("anoncore_records_total")) > 0
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=10) as answer:
        assert answer.read() == b"ok\n"
    with urllib.request.urlopen(f"{office[0]}/metrics", timeout=10) as answer:
        assert b"anoncore_workspaces" not in answer.read()
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{office[0]}/_stcore/metrics", timeout=10)


def _figures(text: str) -> dict[str, float]:
    """The figures by name, each of which must have its HELP and TYPE before it."""
    found: dict[str, float] = {}
    told: dict[str, Any] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            _, kind, name, rest = line.split(" ", 3)
            told.setdefault(name, {})[kind] = rest
        else:
            match = re.fullmatch(r'(\w+)(?:\{\w+="[^"]*"\})? (\S+)', line)
            assert match, line
            assert set(told[match[1]]) == {"HELP", "TYPE"}
            found[line.rsplit(" ", 1)[0]] = float(match[2])
    return found
