"""Who may do what by the claims of the provider, and what the gate refuses before it is taken in."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from anoncore import DataError
from dashboard.large_runs import Sampled, checked_output
from dashboard.own_machine import whole_place
from dashboard.serving import access, gate, quotas, settings
from dashboard.serving.settings import Quotas, Rights, Settings, SignIn
from dashboard.table_place import TablePlace

NOW = 1_800_000_000.0
CLAIMS = {
    "sub": "7",
    "iss": "https://login.example",
    "iat": NOW - 60,
    "email": "Ann@Office.example",
    "email_verified": True,
}


def made(hours: float = 12.0, verified: bool = True, **rights: tuple[str, ...]) -> Settings:
    sign_in = SignIn(metadata_url="https://login.example/x", hours=hours, require_verified_email=verified)
    return Settings(sign_in=sign_in, rights=Rights(**rights))


def rights_of(claims: Mapping[str, Any], found: Settings) -> frozenset[str]:
    person = access.person_of(claims, found, NOW)
    assert person is not None
    return person.rights


@pytest.mark.parametrize(
    ("entry", "fits"),
    [
        ("*", True),
        ("ann@office.example", True),
        ("ANN@OFFICE.EXAMPLE", True),
        ("email:ann@office.example", True),
        ("email:bob@office.example", False),
        ("*@office.example", True),
        ("*@example", False),
        ("*@evil.office.example", False),
        ("bob@office.example", False),
        ("n@office.example", False),
        ("groups:analysts", True),
        ("groups:analyst", False),
        ("department:health", True),
        ("department:heal", False),
        ("email:Ann@Office.example", True),
        ("missing:x", False),
    ],
)
def test_an_entry_is_about_whom_it_names(entry: str, fits: bool) -> None:
    claims = {**CLAIMS, "groups": ["analysts", "all"], "department": "health"}
    assert rights_of(claims, made(look=(entry,))) == ({"look"} if fits else frozenset())


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_address_that_the_provider_does_not_vouch_for_counts_for_nothing(verified: object) -> None:
    claims = {name: value for name, value in {**CLAIMS, "email_verified": verified}.items() if value is not None}
    for entry in ("ann@office.example", "*@office.example", "email:ann@office.example"):
        assert rights_of(claims, made(upload=(entry,))) == frozenset()
    lenient = rights_of(claims, made(verified=False, upload=("ann@office.example",)))
    assert lenient == (frozenset() if verified is False else {"upload", "look"})


def test_who_may_load_may_look_and_nobody_gets_more_than_is_named() -> None:
    assert rights_of(CLAIMS, made(upload=("*",))) == {"look", "upload"}
    assert rights_of(CLAIMS, made(paths=("*",))) == {"look", "paths"}
    assert rights_of(CLAIMS, made(look=("bob@office.example",))) == frozenset()


@pytest.mark.parametrize(
    "change",
    [
        {"sub": ""},
        {"sub": 7},
        {"iss": None},
        {"iat": None},
        {"iat": True},
        {"iat": NOW - 12 * 3_600 - 1},
        {"iat": NOW + 301},
        {"iat": "now"},
    ],
)
def test_claims_that_do_not_tell_a_person_or_are_too_old_are_no_sign_in(change: dict[str, Any]) -> None:
    assert access.person_of({**CLAIMS, **change}, made(look=("*",)), NOW) is None


def test_two_providers_do_not_share_people() -> None:
    found = made(look=("*",))
    first, second = (access.person_of({**CLAIMS, "iss": issuer}, found, NOW) for issuer in ("https://a", "https://b"))
    assert first is not None
    assert second is not None
    assert first.id != second.id


def test_a_name_that_somebody_chose_does_not_stand_for_another() -> None:
    found = made(look=("*",))
    ann = access.person_of(CLAIMS, found, NOW)
    assert ann is not None
    assert ann.name == "ann@office.example"
    chosen = {**CLAIMS, "sub": "8", "email_verified": False, "preferred_username": "ann@office.example"}
    other = access.person_of(chosen, found, NOW)
    assert other is not None
    assert other.name == f"ann@office.example ({other.id[:8]})"
    third = access.person_of({**chosen, "sub": "9"}, found, NOW)
    assert third is not None
    assert third.name != other.name


def test_without_a_sign_in_everybody_may_do_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_used", Settings())
    assert access.person() == access.ANYBODY
    for right in access.RIGHTS:
        access.require(right)


def test_a_missing_right_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_used", made(look=("*",)))
    monkeypatch.setattr(access, "claims", lambda: CLAIMS)
    monkeypatch.setattr(access.time, "time", lambda: NOW)
    access.require("look")
    with pytest.raises(
        DataError, match=r"ann@office.example may look at the built-in tables .* ask those who run this"
    ):
        access.require("upload")
    monkeypatch.setattr(access.time, "time", lambda: NOW + 13 * 3_600)
    with pytest.raises(DataError, match="Your sign-in has ended"):
        access.require("look")


def test_what_lies_beside_a_release_stays_inside_the_folders_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    monkeypatch.setattr(settings, "_used", made(paths=("*",), folders=(str(tables),)))
    monkeypatch.setattr(access, "claims", lambda: CLAIMS)
    monkeypatch.setattr(access.time, "time", lambda: NOW)
    large = Sampled(TablePlace(tables / "people.csv"), 10, 10, "t")
    assert checked_output(str(tables / "release"), large) == tables / "release"
    for outside in (tables, tables / ".." / "release"):
        with pytest.raises(DataError, match="lies outside the folders that may be used here"):
            checked_output(str(outside), large)


def test_no_file_of_a_folder_is_a_link_to_a_file_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    (tables / "people" / "2026").mkdir(parents=True)
    secret = tmp_path / "secret.csv"
    secret.write_text("password\nopen sesame\n")
    monkeypatch.setattr(settings, "_used", made(paths=("*",), folders=(str(tables),)))
    monkeypatch.setattr(access, "claims", lambda: CLAIMS)
    monkeypatch.setattr(access.time, "time", lambda: NOW)
    link = tables / "people" / "2026" / "part.csv"
    (tables / "real.csv").write_text("age\n1\n")
    link.symlink_to(tables / "real.csv")
    assert whole_place(str(tables / "people")) == tables / "people"
    link.unlink()
    link.symlink_to(secret)
    with pytest.raises(DataError, match=r"part.csv' is a link that leads outside the folders"):
        whole_place(str(tables / "people"))


def ask(method: str, path: str, *headers: tuple[bytes, bytes]) -> tuple[int, str]:
    """What the gate answers; 200 where it lets the request pass."""
    said: list[dict[str, Any]] = []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"taken"})

    async def send(message: Any) -> None:
        said.append(message)

    async def receive() -> Any:
        raise AssertionError("the gate must not read what it refuses")

    scope = {"type": "http", "method": method, "path": path, "headers": list(headers)}
    asyncio.run(gate.Gate(app)(scope, receive, send))
    return said[0]["status"], said[1]["body"].decode()


def test_the_gate_takes_uploads_of_those_only_who_may_upload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_used", made(look=("*",)))
    monkeypatch.setattr(access, "_uploaders", {"session-of-ann": True, "session-of-cleo": False})
    for base in ("", "/tools/anoncore"):
        assert ask("PUT", f"{base}/_stcore/upload_file/session-of-ann/1")[0] == 200
        for session in ("session-of-cleo", "unknown", "", "session-of-ann-2"):
            assert ask("PUT", f"{base}/_stcore/upload_file/{session}/1") == (403, "You may not load files here.")
    assert ask("GET", "/_stcore/health")[0] == 200


def test_the_gate_takes_no_upload_for_which_there_is_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_used", Settings(quotas=Quotas(memory_megabytes=1_000)))
    monkeypatch.setattr(quotas.memory, "free_memory", lambda: 300 << 20)
    path = "/_stcore/upload_file/any/1"
    # A fifth of 1000 MB is kept for work, so tables may take 100 MB, and an upload counts twice.
    assert ask("PUT", path, (b"content-length", str(49 << 20).encode()))[0] == 200
    status, text = ask("PUT", path, (b"content-length", str(51 << 20).encode()))
    assert (status, text.startswith("The tables of all who work here take nearly all of the 1,000 MB")) == (507, True)
    assert ask("PUT", path)[0] == 411
    assert ask("PUT", path, (b"content-length", b"-1"))[0] == 411
    with quotas.upload(30 << 20):
        assert ask("PUT", path, (b"content-length", str(30 << 20).encode()))[0] == 507
    assert ask("PUT", path, (b"content-length", str(30 << 20).encode()))[0] == 200
