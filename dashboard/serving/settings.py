"""The settings of a server that is run for others: one TOML file, environment variables that override it, and checks.

The fields below are the only list of the keys: reading, the variables and the checks go by it, and a test holds that
the documentation names each with its default.
"""

from __future__ import annotations

import base64
import binascii
import math
import os
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import Field, asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import urlsplit

from anoncore.base.errors import ParameterError
from anoncore.base.extras import require
from anoncore.base.texts import listing

PREFIX = "ANONCORE_"
LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
KEY_BYTES = 32
LEAST_SECRET = 32
"""Characters that the secret of the cookies must have; an attacker who guesses it can be anybody."""
PUBLIC_RIGHTS = stat.S_IRWXG | stat.S_IRWXO


def _key(default: Any, least: float = -math.inf, most: float = math.inf, secret: bool = False, name: str = "") -> Any:
    """A key with its range; `name` is its variable where that is not made of section and key."""
    return field(default=default, metadata={"least": least, "most": most, "secret": secret, "variable": name})


@dataclass(frozen=True)
class Server:
    """Where the server listens, and under which address visitors know it."""

    address: str = _key("127.0.0.1")
    port: int = _key(0, 0, 65_535)
    base_path: str = _key("")
    public_url: str = _key("")
    allowed_hosts: tuple[str, ...] = _key(())
    upload_megabytes: int = _key(200, 1, 2_000)
    token: str = _key("", secret=True)


@dataclass(frozen=True)
class Metrics:
    """Where a monitor asks how the server is; port 0: nowhere."""

    port: int = _key(0, 0, 65_535)
    address: str = _key("127.0.0.1")


@dataclass(frozen=True)
class Audit:
    """The file that records who did what; empty: nothing is recorded. Without a key of its own, that of workspaces."""

    file: str = _key("")
    key: str = _key("", secret=True)


@dataclass(frozen=True)
class Quotas:
    """What a process, a table and a person may take at most; 0: no limit of its own."""

    memory_megabytes: int = _key(0, 0)
    rows: int = _key(0, 0)
    jobs_per_person: int = _key(16, 1, 64)
    workspaces: int = _key(24, 1, 10_000)


@dataclass(frozen=True)
class SignIn:
    """The provider (OpenID Connect) that says who a visitor is; without its address there is no sign-in."""

    metadata_url: str = _key("")
    client_id: str = _key("")
    client_secret: str = _key("", secret=True)
    cookie_secret: str = _key("", secret=True)
    require_verified_email: bool = _key(True)
    hours: float = _key(12.0, 0.1, 720.0)


@dataclass(frozen=True)
class Rights:
    """Who may do what, where there is a sign-in."""

    look: tuple[str, ...] = _key(())
    upload: tuple[str, ...] = _key(())
    paths: tuple[str, ...] = _key(())
    folders: tuple[str, ...] = _key(())


@dataclass(frozen=True)
class Kept:
    """How long workspaces are kept, and where they outlive a restart."""

    keep_minutes: float = _key(30.0, 0.0, name="ANONCORE_KEEP_MINUTES")
    folder: str = _key("")
    key: str = _key("", secret=True)
    save_seconds: float = _key(5.0, 0.5, 3_600.0)


@dataclass(frozen=True)
class Settings:
    """All settings, a section each."""

    server: Server = Server()
    metrics: Metrics = Metrics()
    audit: Audit = Audit()
    quotas: Quotas = Quotas()
    sign_in: SignIn = SignIn()
    rights: Rights = Rights()
    workspaces: Kept = Kept()

    @property
    def has_sign_in(self) -> bool:
        """Whether visitors must say who they are."""
        return bool(self.sign_in.metadata_url)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names under which the server may be asked for, besides those of its own machine."""
        public = urlsplit(self.server.public_url).hostname
        named = [*self.server.allowed_hosts, *([public] if public else [])]
        return tuple(name for name in dict.fromkeys(named) if name not in LOCAL_HOSTS)


@dataclass(frozen=True)
class Key:
    """One key: its section, its name, and its field."""

    section: str
    name: str
    kind: Any
    field: Field[Any]

    @property
    def text(self) -> str:
        """As it is written in sentences."""
        return f"{self.section}.{self.name}"

    @property
    def variable(self) -> str:
        """The environment variable that overrides it."""
        return self.field.metadata["variable"] or f"{PREFIX}{self.section}_{self.name}".upper()

    @property
    def is_secret(self) -> bool:
        """Whether it must not stand in the file."""
        return bool(self.field.metadata["secret"])


def all_keys() -> Iterator[Key]:
    """All keys, in the order of the sections."""
    for section, kind in get_type_hints(Settings).items():
        hints = get_type_hints(kind)
        for one in fields(kind):
            yield Key(section, one.name, hints[one.name], one)


def read(
    path: Path | None = None, variables: Mapping[str, str] | None = None, given: Mapping[str, Any] | None = None
) -> Settings:
    """The settings of a file, overridden by environment variables, overridden by options of the command (`given`).

    Raises ParameterError that names key, value and what to do for anything that cannot be meant so.
    """
    variables = os.environ if variables is None else variables
    values: dict[str, Any] = {}
    known = {key.text: key for key in all_keys()}
    if path is not None:
        values.update(_of_file(path, known))
    values.update(_of_variables(variables, known))
    values.update(given or {})
    sections = {
        section: kind(
            **{name: values[f"{section}.{name}"] for name in get_type_hints(kind) if f"{section}.{name}" in values}
        )
        for section, kind in get_type_hints(Settings).items()
    }
    found = Settings(**sections)
    _check(found)
    return found


def _of_file(path: Path, known: Mapping[str, Key]) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ParameterError(f"The settings '{path}' cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"The settings '{path}' are no TOML: {error}.") from None
    sections = dict.fromkeys(key.section for key in known.values())
    values = {}
    for section, entries in content.items():
        if section not in sections:
            raise ParameterError(f"{path}: there is no section [{section}]; there are {listing(list(sections))}.")
        if not isinstance(entries, dict):
            raise ParameterError(f"{path}: '{section}' is a section; write [{section}] and its keys below it.")
        for name, value in entries.items():
            key = known.get(f"{section}.{name}")
            if key is None:
                there = listing([one.name for one in known.values() if one.section == section])
                raise ParameterError(f"{path}: [{section}] has no key '{name}'; it has {there}.")
            if key.is_secret:
                raise ParameterError(
                    f"{path}: {key.text} is a secret and must not stand in the settings; set the variable "
                    f"{key.variable}, or {key.variable}_FILE to the path of a file that holds it."
                )
            values[key.text] = _checked(key, value)
    return values


def _of_variables(variables: Mapping[str, str], known: Mapping[str, Key]) -> dict[str, Any]:
    values = {}
    names: set[str] = set()
    for key in known.values():
        names |= {key.variable, f"{key.variable}_FILE"} if key.is_secret else {key.variable}
        text = _text_of(key, variables)
        if text is not None:
            values[key.text] = _parsed(key, text)
    sections = tuple(f"{PREFIX}{section}_".upper() for section in dict.fromkeys(key.section for key in known.values()))
    for name in sorted(variables):
        if name.startswith(sections) and name not in names:
            raise ParameterError(f"The variable {name} names no setting; remove it, or see the list of settings.")
    return values


def _text_of(key: Key, variables: Mapping[str, str]) -> str | None:
    text = variables.get(key.variable)
    path = variables.get(f"{key.variable}_FILE") if key.is_secret else None
    if path is None:
        return text
    if text is not None:
        raise ParameterError(f"{key.variable} and {key.variable}_FILE are both set; keep one of them.")
    try:
        return Path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise ParameterError(
            f"{key.variable}_FILE names '{path}', which cannot be read; name a file of text."
        ) from None


def _parsed(key: Key, text: str) -> Any:
    """The value that the text of a variable means."""
    if key.kind is bool:
        if text.lower() not in ("true", "false"):
            raise ParameterError(f"{key.variable} is '{text}'; write true or false.")
        return text.lower() == "true"
    if key.kind in (int, float):
        try:
            return _checked(key, key.kind(text))
        except ValueError:
            raise ParameterError(f"{key.variable} is '{text}'; write {_numbers(key)}.") from None
    if key.kind is str:
        return text
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _checked(key: Key, value: Any) -> Any:
    """The value in the form of its key. Raises ParameterError for one of another kind or outside the range."""
    if key.kind is bool:
        if isinstance(value, bool):
            return value
        raise ParameterError(f"{key.text} is {value!r}; write true or false.")
    if key.kind in (int, float):
        is_number = isinstance(value, int if key.kind is int else int | float) and not isinstance(value, bool)
        least, most = key.field.metadata["least"], key.field.metadata["most"]
        if is_number and math.isfinite(value) and least <= value <= most:
            return key.kind(value)
        raise ParameterError(f"{key.text} is {value!r}; write {_numbers(key)}.")
    if key.kind is str:
        if isinstance(value, str):
            return value
        raise ParameterError(f"{key.text} is {value!r}; write a text in quotes.")
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ParameterError(f'{key.text} is {value!r}; write a list of texts, such as ["one", "two"].')


def _numbers(key: Key) -> str:
    least, most = key.field.metadata["least"], key.field.metadata["most"]
    kind = "a whole number" if key.kind is int else "a number"
    return f"{kind} from {least:g} to {most:.10g}" if math.isfinite(most) else f"{kind} of at least {least:g}"


def _check(settings: Settings) -> None:
    """Raise ParameterError for values that do not go together, and for files and packages that are not there."""
    _check_server(settings)
    _check_sign_in(settings)
    _check_rights(settings)
    _check_kept(settings.workspaces)
    if settings.audit.file:
        _check_place("audit.file", Path(settings.audit.file).parent)
        _check_audit_key(settings)
        if Path(settings.audit.file).is_dir():
            raise ParameterError(f"audit.file is the folder '{settings.audit.file}'; name a file in it.")
    if settings.metrics.port and settings.metrics.port == settings.server.port:
        raise ParameterError(f"metrics.port is {settings.metrics.port}, the port of the page; choose another one.")


def _check_audit_key(settings: Settings) -> None:
    variable = next(key.variable for key in all_keys() if key.text == "audit.key")
    if not settings.audit.key and not settings.workspaces.key:
        raise ParameterError(
            f"audit.file is '{settings.audit.file}', and there is no key for the digests in it, which would tell of "
            f"tables; set the variable {variable} to the output of: openssl rand -base64 32."
        )
    if settings.audit.key:
        key_of(settings.audit.key, "audit.key")


def _check_server(settings: Settings) -> None:
    server = settings.server
    if server.token and len(server.token) < LEAST_SECRET:
        raise ParameterError(
            f"server.token has {len(server.token)} characters; let ANONCORE_SERVER_TOKEN have at least {LEAST_SECRET} "
            "random ones (openssl rand -hex 32), or leave it out, so that each start makes one."
        )
    path = server.base_path
    if path and (path != path.strip("/") or any(mark in path for mark in "?#%\\ ") or "//" in path):
        raise ParameterError(
            f"server.base_path is '{path}'; write it without slashes around it, such as tools/anoncore."
        )
    if not server.public_url:
        return
    try:
        parts = urlsplit(server.public_url)
        host = parts.hostname
    except ValueError:
        parts, host = None, None
    if parts is None or not host or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        raise ParameterError(
            f"server.public_url is '{server.public_url}'; write the whole address of the page, such as "
            "https://office.example.org/anoncore."
        )
    if parts.scheme == "http" and host not in LOCAL_HOSTS:
        raise ParameterError(
            f"server.public_url is '{server.public_url}': over http anybody on the way can read tables and take over "
            "visits; let the web server in front speak https."
        )
    if parts.path.strip("/") != path:
        raise ParameterError(
            f"server.public_url is '{server.public_url}', and server.base_path is '{path}'; the address must end "
            "with the base path."
        )


def _check_sign_in(settings: Settings) -> None:
    sign_in = settings.sign_in
    if not settings.has_sign_in:
        for key in all_keys():
            if key.section == "sign_in" and getattr(sign_in, key.name) != key.field.default:
                raise ParameterError(
                    f"{key.text} is set, and sign_in.metadata_url is not; name the provider's address there, which "
                    "ends with /.well-known/openid-configuration."
                )
        return
    parts = urlsplit(sign_in.metadata_url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOCAL_HOSTS):
        raise ParameterError(
            f"sign_in.metadata_url is '{sign_in.metadata_url}'; write the provider's address with https, such as "
            "https://login.example.org/.well-known/openid-configuration."
        )
    if not settings.server.public_url:
        raise ParameterError(
            "sign_in needs server.public_url, the address to which the provider sends visitors back, such as "
            "https://office.example.org/anoncore."
        )
    if not sign_in.client_id:
        raise ParameterError("sign_in.client_id is empty; write the one that the provider gave to this server.")
    variables = {key.name: key.variable for key in all_keys() if key.section == "sign_in"}
    if not sign_in.client_secret:
        raise ParameterError(
            f"sign_in.client_secret is missing; set the variable {variables['client_secret']} to the provider's secret."
        )
    if len(sign_in.cookie_secret) < LEAST_SECRET:
        raise ParameterError(
            f"sign_in.cookie_secret has {len(sign_in.cookie_secret)} characters; set the variable "
            f"{variables['cookie_secret']} to at least {LEAST_SECRET} random ones (openssl rand -hex 32)."
        )
    require("sign_in", "authlib", "httpx")


def _check_rights(settings: Settings) -> None:
    rights = settings.rights
    named = [name for name in ("look", "upload", "paths") if getattr(rights, name)]
    if named and not settings.has_sign_in:
        raise ParameterError(
            f"rights.{named[0]} names people, and without [sign_in] nobody says who they are; set up the sign-in, or "
            "leave [rights] out."
        )
    if settings.has_sign_in and not named:
        raise ParameterError(
            'rights names nobody, so nobody could do anything; write for example look = ["*"] and '
            'upload = ["*@example.org"] below [rights].'
        )
    for name in named:
        for entry in getattr(rights, name):
            if entry != "*" and "@" not in entry and ":" not in entry:
                raise ParameterError(
                    f"rights.{name} has '{entry}'; write an address (ann@example.org), all of a domain "
                    "(*@example.org), a claim with its value (groups:analysts), or * for everybody who signs in."
                )
    if rights.paths and not rights.folders:
        raise ParameterError(
            "rights.paths names people, and rights.folders no folder; name the folders whose tables they may read and "
            "in which they may write releases."
        )
    for folder in rights.folders:
        if not Path(folder).is_absolute() or not Path(folder).is_dir():
            raise ParameterError(f"rights.folders has '{folder}'; name a folder that is there by its whole path.")


def _check_kept(kept: Kept) -> None:
    variable = next(key.variable for key in all_keys() if key.text == "workspaces.key")
    if not kept.folder:
        if kept.key:
            raise ParameterError(
                f"{variable} is set, and workspaces.folder is not; name the folder, or remove the key."
            )
        return
    if not kept.key:
        raise ParameterError(
            f"workspaces.folder is '{kept.folder}', and there is no key to encrypt what lies there; set the variable "
            f"{variable} to the output of: openssl rand -base64 32."
        )
    key_of(kept.key)
    folder = Path(kept.folder)
    _check_place("workspaces.folder", folder)
    if os.name == "posix" and stat.S_IMODE(folder.stat().st_mode) & PUBLIC_RIGHTS:
        raise ParameterError(
            f"workspaces.folder is '{folder}', which others on this machine can look into; run: chmod 700 '{folder}'."
        )
    require("workspaces.folder", "cryptography", extra="serve")


def key_of(text: str, name: str = "workspaces.key") -> bytes:
    """The bytes of a key. Raises ParameterError for a text that is none; the text itself is never shown."""
    try:
        found = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if len(found) != KEY_BYTES:
        raise ParameterError(
            f"{name} is no key of {KEY_BYTES} bytes in base64; take the output of: openssl rand -base64 32."
        )
    return found


def _check_place(key: str, folder: Path) -> None:
    if not folder.is_absolute():
        raise ParameterError(f"{key} is in '{folder}'; write the whole path, beginning at the top.")
    if not folder.is_dir():
        raise ParameterError(f"{key}: there is no folder '{folder}'; make it first.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ParameterError(f"{key}: this program may not write to '{folder}'; give it the right to.")


_used: Settings | None = None


def use(settings: Settings) -> None:
    """Let this process run by these settings."""
    global _used
    _used = settings


def current() -> Settings:
    """The settings by which this process runs; those of the environment where none were given."""
    return _used if _used is not None else _of_environment()


@cache
def _of_environment() -> Settings:
    return read()


def options_of(settings: Settings) -> list[str]:
    """What Streamlit must be told, as options of its command; what is as it comes with the program is left out."""
    server, usual = settings.server, Server()
    options = []
    for name, option in (("port", "port"), ("address", "address"), ("base_path", "baseUrlPath")):
        if getattr(server, name) != getattr(usual, name):
            options += [f"--server.{option}", str(getattr(server, name))]
    hosts = [*settings.hosts, *([] if server.address in LOCAL_HOSTS else [server.address])]
    if hosts:
        for host in dict.fromkeys([*hosts, "127.0.0.1", "localhost"]):
            options += ["--server.allowedHosts", host]
    if server.public_url:
        parts = urlsplit(server.public_url)
        options += ["--server.corsAllowedOrigins", f"{parts.scheme}://{parts.netloc}"]
    if server.upload_megabytes != usual.upload_megabytes:
        options += ["--server.maxUploadSize", str(server.upload_megabytes)]
    return options


def shown(settings: Settings) -> str:
    """The settings as a file of settings, with the secrets left out."""
    import tomli_w

    values = {
        section: {name: list(value) if isinstance(value, tuple) else value for name, value in entries.items()}
        for section, entries in asdict(settings).items()
    }
    for key in all_keys():
        if key.is_secret:
            del values[key.section][key.name]
    return tomli_w.dumps(values)
