"""Addresses of things that lie elsewhere, such as s3://bucket/people.parquet, and what may be told of them."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]+)://")
"""How an address begins; a single letter before the colon is a drive."""
DATABASES = ("postgresql", "postgres")
"""How addresses of databases begin."""
CONNECT = re.compile("sc://", re.IGNORECASE)
"""How the address of a server of Spark Connect begins."""
WORD = re.compile(r"[^\s'\"]+")
"""What may be an address within a sentence."""
SECRET = re.compile(r"(?i)pass|secret|token|sign?ature|^sig$|credential|access|account_?key|api_?key|^x-(amz|goog)-")
"""Parameters of an address that give rights to whoever has it."""


def is_address(path: str) -> bool:
    """Whether a path is the address of something that lies elsewhere, such as `s3://bucket/people.parquet`."""
    return ADDRESS.match(path) is not None


def is_database(path: str) -> bool:
    """Whether a path is the address of a database on a server."""
    return path.partition("://")[0].lower() in DATABASES and is_address(path)


def shown_address(address: str) -> str:
    """The address as it may be told: without a user, a password, or parameters such as a signature."""
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"


def kept_address(address: str) -> str:
    """The address as it may be written down: without its password, and without parameters that give rights."""
    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    query = parse_qsl(parts.query, keep_blank_values=True)
    kept = [(name, value) for name, value in query if not SECRET.search(name)]
    netloc = f"{user.partition(':')[0]}{at}{host}"
    if netloc == parts.netloc and len(kept) == len(query):
        return address
    return urlunsplit((parts.scheme, netloc, parts.path, urlencode(kept), ""))


def is_secret(name: str) -> bool:
    """Whether the name of a parameter or an option says that its value gives rights to whoever has it."""
    return SECRET.search(name) is not None


def parameters_of(address: str) -> list[str]:
    """The parameters of the address of a server of Spark Connect, as in `sc://host/;use_ssl=true;token=...`."""
    return [one for one in address.split(";")[1:] if one]


def without_parameters(text: str) -> str:
    """A text in which the addresses of servers of Spark Connect have no parameters: one of them may be a token."""

    def shown(word: re.Match[str]) -> str:
        begin = CONNECT.search(word[0])
        end = -1 if begin is None else word[0].find(";", begin.end())
        return word[0] if end < 0 else word[0][:end]

    return WORD.sub(shown, text)


def needs_package(address: str) -> str:
    """What needs the package for an address, in a sentence."""
    return f"A table at {address.partition('://')[0]}://"
