"""Settings of a server: what is read and overridden, what is refused and with which words, what Streamlit is told."""

from __future__ import annotations

import base64
import os
import re
import tomllib
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from anoncore import ParameterError
from anoncore.base import extras
from anoncore.base.extras import MissingPackageError
from anoncore.cli import main
from dashboard.serving import audit, own_machine, own_token, settings
from dashboard.serving.settings import Settings
from tests.hidden_packages import hide

ROOT = Path(__file__).resolve().parents[3]
KEY = base64.b64encode(bytes(32)).decode()
COOKIES = "c" * 32
SIGN_IN = """
[server]
public_url = "https://office.example.org"
[sign_in]
metadata_url = "https://login.example.org/.well-known/openid-configuration"
client_id = "anoncore"
[rights]
look = ["*"]
"""
SECRETS = {"ANONCORE_SIGN_IN_CLIENT_SECRET": "s", "ANONCORE_SIGN_IN_COOKIE_SECRET": COOKIES}


@pytest.fixture(autouse=True)
def everything_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "require", lambda _purpose, *_packages, extra=None: None)


def written(folder: Path, text: str) -> Path:
    path = folder / "anoncore.toml"
    path.write_text(text, "utf-8")
    return path


def test_without_a_file_all_is_as_the_program_comes() -> None:
    found = settings.read(None, {})
    assert found == Settings()
    assert settings.options_of(found) == []


def test_variables_override_the_file_and_options_of_the_command_override_them(tmp_path: Path) -> None:
    path = written(tmp_path, '[server]\nport = 8600\nallowed_hosts = ["a.example"]\n[quotas]\nrows = 1000\n')
    found = settings.read(path, {})
    assert (found.server.port, found.server.allowed_hosts, found.quotas.rows) == (8600, ("a.example",), 1000)
    variables = {"ANONCORE_SERVER_PORT": "8700", "ANONCORE_SERVER_ALLOWED_HOSTS": "b.example, c.example"}
    found = settings.read(path, variables)
    assert (found.server.port, found.server.allowed_hosts) == (8700, ("b.example", "c.example"))
    assert settings.read(path, variables, {"server.port": 8800}).server.port == 8800
    assert settings.read(path, {"ANONCORE_KEEP_MINUTES": "1.5"}).workspaces.keep_minutes == 1.5
    assert settings.read(path, {"ANONCORE_SIGN_IN_REQUIRE_VERIFIED_EMAIL": "TRUE"}).sign_in.require_verified_email


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[serve]\nport = 1\n", "there is no section [serve]; there are 'server', 'metrics', 'audit'"),
        ("port = 8501\n", "there is no section [port]"),
        ("server = 8501\n", "'server' is a section; write [server]"),
        ("[server]\nports = 1\n", "[server] has no key 'ports'; it has 'address', 'port', 'base_path'"),
        ("[server]\nport = 99999\n", "server.port is 99999; write a whole number from 0 to 65535"),
        ("[server]\nport = true\n", "server.port is True; write a whole number"),
        ('[server]\nport = "8501"\n', "server.port is '8501'; write a whole number"),
        ("[server]\naddress = 1\n", "server.address is 1; write a text in quotes"),
        ('[server]\nallowed_hosts = "a"\n', "server.allowed_hosts is 'a'; write a list of texts"),
        ("[workspaces]\nkeep_minutes = nan\n", "workspaces.keep_minutes is nan; write a number of at least 0"),
        ("[quotas]\nrows = -1\n", "quotas.rows is -1; write a whole number of at least 0"),
        ("[sign_in]\nrequire_verified_email = 1\n", "sign_in.require_verified_email is 1; write true or false"),
        ('[sign_in]\nclient_secret = "x"\n', "sign_in.client_secret is a secret and must not stand in the settings"),
        ('[server]\nbase_path = "/anoncore"\n', "server.base_path is '/anoncore'; write it without slashes"),
        ('[server]\npublic_url = "office"\n', "server.public_url is 'office'; write the whole address"),
        ('[server]\npublic_url = "http://office.example"\n', "over http anybody on the way can read tables"),
        ('[server]\npublic_url = "https://a.example/x"\n', "the address must end with the base path"),
        ('[rights]\nlook = ["*"]\n', "rights.look names people, and without [sign_in] nobody says who they are"),
        ('[sign_in]\nclient_id = "a"\n', "sign_in.client_id is set, and sign_in.metadata_url is not"),
        ('[audit]\nfile = "audit.jsonl"\n', "audit.file is in '.'; write the whole path"),
        ('[audit]\nfile = "/no/such/audit.jsonl"\n', "audit.file: there is no folder '/no/such'; make it first"),
        ('[workspaces]\nfolder = "/tmp"\n', "there is no key to encrypt what lies there; set the variable"),
        ("[metrics]\nport = 8600\n[server]\nport = 8600\n", "metrics.port is 8600, the port of the page"),
        ("[server\n", "are no TOML"),
    ],
)
def test_what_cannot_be_meant_so_is_refused_with_key_value_and_what_to_do(
    tmp_path: Path, text: str, sentence: str
) -> None:
    with pytest.raises(ParameterError) as refused:
        settings.read(written(tmp_path, text), {})
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"ANONCORE_SERVER_PROT": "1"}, "ANONCORE_SERVER_PROT names no setting"),
        ({"ANONCORE_SERVER_PORT": "x"}, "ANONCORE_SERVER_PORT is 'x'; write a whole number from 0 to 65535"),
        ({"ANONCORE_SERVER_PORT": "70000"}, "ANONCORE_SERVER_PORT is '70000'; write"),
        ({"ANONCORE_SIGN_IN_REQUIRE_VERIFIED_EMAIL": "yes"}, "is 'yes'; write true or false"),
        ({"ANONCORE_WORKSPACES_KEY": KEY}, "ANONCORE_WORKSPACES_KEY is set, and workspaces.folder is not"),
        ({"ANONCORE_WORKSPACES_KEY_FILE": "/no/key"}, "ANONCORE_WORKSPACES_KEY_FILE names '/no/key', which cannot"),
        ({"ANONCORE_WORKSPACES_KEY_FILE": "/k", "ANONCORE_WORKSPACES_KEY": KEY}, "are both set; keep one of them"),
    ],
)
def test_a_variable_that_cannot_be_meant_so_is_refused(variables: dict[str, str], sentence: str) -> None:
    with pytest.raises(ParameterError) as refused:
        settings.read(None, variables)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    ("change", "variables", "sentence"),
    [
        (("https://login", "http://login"), SECRETS, "write the provider's address with https"),
        (('public_url = "https://office.example.org"', ""), SECRETS, "sign_in needs server.public_url"),
        (('client_id = "anoncore"', ""), SECRETS, "sign_in.client_id is empty"),
        (("", ""), {}, "set the variable ANONCORE_SIGN_IN_CLIENT_SECRET"),
        (("", ""), {**SECRETS, "ANONCORE_SIGN_IN_COOKIE_SECRET": "short"}, "has 5 characters; set the variable"),
        (('look = ["*"]', ""), SECRETS, "rights names nobody"),
        (('look = ["*"]', 'look = ["ann"]'), SECRETS, "rights.look has 'ann'; write an address"),
        (('look = ["*"]', 'paths = ["*"]'), SECRETS, "rights.paths names people, and rights.folders no folder"),
        (('look = ["*"]', 'look = ["*"]\nfolders = ["/no/such"]'), SECRETS, "rights.folders has '/no/such'"),
    ],
)
def test_a_sign_in_is_whole_or_refused(
    tmp_path: Path, change: tuple[str, str], variables: dict[str, str], sentence: str
) -> None:
    assert settings.read(written(tmp_path, SIGN_IN), SECRETS).has_sign_in
    with pytest.raises(ParameterError) as refused:
        settings.read(written(tmp_path, SIGN_IN.replace(*change, 1)), variables)
    assert sentence in str(refused.value)
    assert COOKIES not in str(refused.value)


def test_missing_packages_are_named_with_their_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "require", extras.require)
    hide(monkeypatch, "authlib", "httpx")
    with pytest.raises(MissingPackageError, match=r"sign_in needs Authlib and httpx; .* 'anoncore\[serve\]'"):
        settings.read(written(tmp_path, SIGN_IN), SECRETS)


def test_the_folder_of_workspaces_is_for_its_owner_alone_and_has_a_key(tmp_path: Path) -> None:
    folder = tmp_path / "workspaces"
    folder.mkdir(mode=0o700)
    path = written(tmp_path, f'[workspaces]\nfolder = "{folder}"\n')
    (tmp_path / "key").write_text(f"{KEY}\n")
    for variables in ({"ANONCORE_WORKSPACES_KEY": KEY}, {"ANONCORE_WORKSPACES_KEY_FILE": str(tmp_path / "key")}):
        assert settings.key_of(settings.read(path, variables).workspaces.key) == bytes(32)
    for bad in ("x", base64.b64encode(bytes(16)).decode(), KEY[:-4]):
        with pytest.raises(ParameterError, match=r"workspaces\.key is no key of 32 bytes in base64"):
            settings.read(path, {"ANONCORE_WORKSPACES_KEY": bad})
    if os.name == "posix":
        folder.chmod(0o750)
        with pytest.raises(ParameterError, match="others on this machine can look into; run: chmod 700"):
            settings.read(path, {"ANONCORE_WORKSPACES_KEY": KEY})


def test_streamlit_is_told_of_names_origin_and_limits(tmp_path: Path) -> None:
    text = (
        '[server]\nport = 8600\naddress = "10.0.0.5"\nbase_path = "anoncore"\nupload_megabytes = 50\n'
        'public_url = "https://office.example.org/anoncore"\nallowed_hosts = ["lab.example"]\n'
    )
    options = settings.options_of(settings.read(written(tmp_path, text), {}))
    pairs = list(zip(options[::2], options[1::2], strict=True))
    assert [value for name, value in pairs if name == "--server.allowedHosts"] == [
        "lab.example",
        "office.example.org",
        "10.0.0.5",
        "127.0.0.1",
        "localhost",
    ]
    assert [pair for pair in pairs if pair[0] != "--server.allowedHosts"] == [
        ("--server.port", "8600"),
        ("--server.address", "10.0.0.5"),
        ("--server.baseUrlPath", "anoncore"),
        ("--server.corsAllowedOrigins", "https://office.example.org"),
        ("--server.maxUploadSize", "50"),
    ]


def test_a_record_needs_a_key_for_its_digests(tmp_path: Path) -> None:
    path = written(tmp_path, f'[audit]\nfile = "{tmp_path}/audit.jsonl"\n')
    with pytest.raises(ParameterError, match=r"no key for the digests in it.* set the variable ANONCORE_AUDIT_KEY"):
        settings.read(path, {})
    assert settings.read(path, {"ANONCORE_AUDIT_KEY": KEY}).audit.key == KEY
    with pytest.raises(ParameterError, match=r"audit\.key is no key of 32 bytes"):
        settings.read(path, {"ANONCORE_AUDIT_KEY": "x"})


@pytest.mark.parametrize(("token", "is_taken"), [("t" * 32, True), ("t" * 31, False), ("secret", False)])
def test_a_token_that_is_set_cannot_be_guessed(token: str, is_taken: bool) -> None:
    if is_taken:
        assert settings.read(None, {"ANONCORE_SERVER_TOKEN": token}).server.token == token
    else:
        with pytest.raises(ParameterError, match=r"server\.token has \d+ characters; .* at least 32") as told:
            settings.read(None, {"ANONCORE_SERVER_TOKEN": token})
        assert token not in str(told.value)


@pytest.mark.slow
def test_the_command_checks_and_shows_the_settings_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    path = written(tmp_path, SIGN_IN)
    assert main(["dashboard", "--check-config", "--config", str(path), "--port", "8600"]) == 0
    said = capsys.readouterr().out
    shown = tomllib.loads(said)
    assert shown["server"]["port"] == 8600
    assert shown["rights"]["look"] == ["*"]
    assert COOKIES not in said
    assert "secret" not in said
    path.write_text("[server]\nport = 0.5\n")
    assert main(["dashboard", "--check-config", "--config", str(path)]) == 2
    assert "server.port is 0.5; write a whole number from 0 to 65535." in capsys.readouterr().err


@pytest.mark.slow
def test_the_command_prints_how_the_record_calls_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(settings, "_used", None)
    release = tmp_path / "release.zip"
    release.write_bytes(b"rows")
    assert main(["dashboard", "--digest", str(release)]) == 2
    assert "--digest is for a server that records" in capsys.readouterr().err
    monkeypatch.setenv("ANONCORE_AUDIT_KEY", KEY)
    monkeypatch.setenv("ANONCORE_AUDIT_FILE", str(tmp_path / "audit.jsonl"))
    assert main(["dashboard", "--digest", str(release)]) == 0
    assert capsys.readouterr().out.strip() == audit.keyed(sha256(b"rows").hexdigest())


def test_the_documentation_names_every_key_with_its_variable_and_default() -> None:
    page = (ROOT / "docs" / "pages" / "how-to" / "serve.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+\.\w+)` \| (.+? \| `ANONCORE_\w+`) \| .+ \|$", page, re.MULTILINE))
    expected = {key.text: f"{_shown(key.field.default)} | `{key.variable}`" for key in settings.all_keys()}
    assert rows == expected


def test_the_settings_that_the_documentation_shows_can_be_meant_so(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "pages" / "how-to" / "serve.md").read_text("utf-8")
    text = page.split('title="/etc/anoncore/anoncore.toml"\n', 1)[1].split("```")[0]
    for folder in ("/srv/tables", "/var/lib/anoncore/workspaces"):
        (tmp_path / folder[1:]).mkdir(parents=True)
        (tmp_path / folder[1:]).chmod(0o700)
        assert folder in text
    text = text.replace("/srv/", f"{tmp_path}/srv/").replace("/var/", f"{tmp_path}/var/")
    found = settings.read(written(tmp_path, text), {**SECRETS, "ANONCORE_WORKSPACES_KEY": KEY})
    assert found.has_sign_in
    assert found.hosts == ("office.example.org",)


def _shown(default: Any) -> str:
    """A default as the page writes it."""
    if default == "":
        return "empty"
    return {True: "`true`", (): "`[]`"}.get(default) or (
        f'`"{default}"`' if isinstance(default, str) else f"`{default:g}`"
    )


@pytest.mark.parametrize(
    ("given", "alone"),
    [
        ({}, True),
        ({"server.base_path": "anoncore"}, False),
        ({"server.allowed_hosts": ("office.example.org",)}, False),
        ({"server.allowed_hosts": ("localhost",)}, True),
        ({"server.public_url": "https://office.example.org"}, False),
    ],
)
def test_a_server_with_others_before_it_does_not_read_paths_for_everybody(
    given: dict[str, Any], alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "_used", settings.read(None, {}, given))
    # Nor does one whose requests no gate has looked at: who started it would not be known from other users.
    for is_checked in (True, False):
        monkeypatch.setattr(own_token, "is_checked", lambda is_checked=is_checked: is_checked)
        assert own_machine.is_served_alone() is (alone and is_checked)
        assert own_machine.may_use_paths() is (alone and is_checked)


def test_a_request_that_a_web_server_passed_on_is_not_from_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = SimpleNamespace(headers={"X-Forwarded-For": "192.0.2.7"})
    monkeypatch.setattr(own_token, "is_checked", lambda: True)
    assert own_machine.is_served_alone()
    monkeypatch.setattr("dashboard.serving.own_machine.st.context", asked)
    assert not own_machine.is_served_alone()
