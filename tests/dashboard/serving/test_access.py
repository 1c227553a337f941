"""Who may do what by the claims of the provider."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from anoncore import DataError
from dashboard.serving import access, settings, sign_ins
from dashboard.serving.own_machine import whole_place
from dashboard.serving.settings import Rights, Settings, SignIn
from dashboard.table.large_runs import Sampled, checked_output
from dashboard.table.table_place import TablePlace

NOW = 1_800_000_000.0
COOKIES = {"_streamlit_user": "a cookie"}
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


@pytest.fixture(autouse=True)
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of sign-ins on which that of these cookies stands."""
    monkeypatch.setattr(sign_ins, "_sign_ins", {digest: sign_ins.SignIn(NOW) for digest in sign_ins.digests(COOKIES)})
    monkeypatch.setattr(access, "cookies", lambda: COOKIES)


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


@pytest.mark.parametrize("verified", ["false", "False", 0, "no", "", [], {"verified": True}, ["true"]])
def test_what_is_no_yes_is_a_no_also_where_providers_need_not_vouch(verified: object) -> None:
    claims = {**CLAIMS, "email_verified": verified}
    assert rights_of(claims, made(verified=False, upload=("ann@office.example", "*@office.example"))) == frozenset()


@pytest.mark.parametrize(
    "email",
    [
        "ann@ban\N{KELVIN SIGN}.example",
        "\N{KELVIN SIGN}im@bank.example",
        "ann@bank.example\n",
        "ann@bank.example ",
        " ann@bank.example",
        "ann@bank.exam\N{LATIN SMALL LIGATURE FI}le",
        "ann@\N{FULLWIDTH LATIN SMALL LETTER B}ank.example",
        "ann@b\N{CYRILLIC SMALL LETTER A}nk.example",
        "ann@bank.example\N{ZERO WIDTH SPACE}",
    ],
)
def test_letters_that_look_like_others_are_nobody_elses(email: str) -> None:
    rights = made(upload=("*@bank.example", "ann@bank.example", "email:kim@bank.example"))
    assert rights_of({**CLAIMS, "email": email}, rights) == (
        frozenset({"look", "upload"}) if email == "\N{KELVIN SIGN}im@bank.example" else frozenset()
    )
    named = made(upload=("ann@bank.example", "kim@bank.example"))
    assert rights_of({**CLAIMS, "email": email}, named) == frozenset()


def test_an_address_with_other_letters_fits_itself() -> None:
    domain = "k\N{LATIN SMALL LETTER O WITH STROKE}benhavn.example"
    found = rights_of({**CLAIMS, "email": f"Ann@{domain}"}, made(upload=(f"*@{domain}",)))
    assert found == {"look", "upload"}


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


@pytest.mark.parametrize("how", ["signed out", "never listed", "another's", "too old"])
def test_claims_count_for_nothing_without_a_sign_in_that_is_listed(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_used", made(look=("*",)))
    monkeypatch.setattr(access, "claims", lambda: CLAIMS)
    monkeypatch.setattr(access.time, "time", lambda: NOW)
    here = access.person()
    assert here is not None
    if how == "signed out":
        assert sign_ins.end(COOKIES) is not None
    elif how == "never listed":
        monkeypatch.setattr(access, "cookies", lambda: {"_streamlit_user": "another cookie"})
    elif how == "another's":
        assert sign_ins.name(COOKIES, "somebody else", "bob")
    else:
        digest = sign_ins.digests(COOKIES)[-1]
        monkeypatch.setattr(sign_ins, "_sign_ins", {digest: sign_ins.SignIn(NOW - 13 * 3_600)})
    assert access.person() is None
    assert access.refusal("look") == "Your sign-in has ended; load the page again and sign in."


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
