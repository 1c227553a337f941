"""Signatures: their entry in a certificate, the bytes that it covers, and keys by the names that readers give."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from anoncore.base.errors import DataError, ParameterError
from anoncore.base.extras import imported
from anoncore.base.plain_json import plain_json
from anoncore.base.texts import quoted

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FORM = (
    "Ed25519 (RFC 8032) over the UTF-8 bytes of this certificate as JSON, in which 'signatures' holds this entry alone "
    "and this entry has no 'value'. In that JSON the keys of every object are sorted by code point, no spaces or line "
    "ends stand between tokens, texts are written unescaped but for the quotation mark, the backslash and characters "
    "below U+0020, and numbers with the fewest digits that tell them apart, as Python's json module writes them."
)
"""What a signature covers, in words that stand in the signed file."""
FIELD = "signatures"
COMPLAINT = "This certificate cannot be signed or checked for signatures, because {}."
KIND = "ssh-ed25519"
_HEAD = len(KIND).to_bytes(4, "big") + KIND.encode() + (32).to_bytes(4, "big")
PUBLIC = ".pub"
"""How the files of public keys end."""
LONGEST_NAME = 100
MOST_BYTES = 100_000
"""No file of a key is larger; another file that is named by mistake is not read whole."""
PURPOSE = "A signature"
"""What needs the package cryptography, in a sentence."""


class Signature(BaseModel):
    """A signature: the public key in base64, when it was made (in UTC), what it covers, and its value in base64."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    algorithm: Literal["Ed25519"] = "Ed25519"
    key: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+/]{43}=$")]
    made: Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[+]00:00$")]
    form: str = Field(default=FORM, max_length=2_000)
    value: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+/]{86}==$")]

    @property
    def raw_key(self) -> bytes:
        """The 32 bytes of the public key."""
        return base64.b64decode(self.key)

    def fits(self, content: bytes) -> bool:
        """Whether it was made of some bytes, with the private key that belongs to the public one.

        Raises MissingPackageError where cryptography is not installed.
        """
        kind = ed25519().Ed25519PublicKey
        from cryptography.exceptions import InvalidSignature

        try:
            kind.from_public_bytes(self.raw_key).verify(base64.b64decode(self.value), content)
        except (InvalidSignature, ValueError):
            return False
        return True


def fields_of(text: str | bytes) -> dict[str, Any]:
    """The fields of a certificate as they stand in its text, with numbers and texts as they are.

    Raises DataError for a text that is no JSON object, and for one that can be read in two ways.
    """
    found = plain_json(text, COMPLAINT)
    if not isinstance(found, dict):
        raise DataError(COMPLAINT.format("it is no JSON object"))
    return found


def covered(fields: dict[str, Any], entry: dict[str, Any]) -> bytes:
    """The bytes that a signature covers (`FORM`): those of a certificate with this entry alone, and without its value.

    Raises DataError for texts that UTF-8 cannot write.
    """
    unsigned = {name: value for name, value in entry.items() if name != "value"}
    content = {**fields, FIELD: [unsigned]}
    try:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise DataError("This certificate cannot be signed: it holds half a character (a lone surrogate).") from None


@dataclass(frozen=True)
class PublicKey:
    """A public key by the name that whoever trusts it gives its owner; written as OpenSSH writes such keys."""

    name: str
    raw: bytes

    @property
    def line(self) -> str:
        """The key as a line of text."""
        return f"{KIND} {base64.b64encode(_HEAD + self.raw).decode()} {self.name}\n"


def fingerprint(raw: bytes) -> str:
    """What two people compare to know that they mean the same key of 32 bytes, as `ssh-keygen -lf` prints it."""
    return f"SHA256:{base64.b64encode(hashlib.sha256(_HEAD + raw).digest()).decode().rstrip('=')}"


def ed25519() -> Any:
    """The module of the package cryptography. Raises MissingPackageError where it is not installed."""
    return imported("cryptography.hazmat.primitives.asymmetric.ed25519", PURPOSE)


def new_keys(name: str, passphrase: str | None = None) -> tuple[bytes, PublicKey]:
    """A fresh pair of keys: the private one as PEM (PKCS #8), encrypted with the passphrase if there is one.

    Raises ParameterError for a name that is none and for an empty passphrase.
    """
    key = ed25519().Ed25519PrivateKey.generate()
    from cryptography.hazmat.primitives import serialization

    if passphrase == "":
        raise ParameterError("The passphrase is empty; type one, or leave out --passphrase for a key without.")
    given = None if passphrase is None else passphrase.encode()
    how = serialization.NoEncryption() if given is None else serialization.BestAvailableEncryption(given)
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, how)
    return private, PublicKey(clear_name(name), key.public_key().public_bytes_raw())


def clear_name(name: str) -> str:
    """A name as it may stand in a sentence. Raises ParameterError for one that is empty, too long or not printable."""
    words = " ".join(name.split())
    if not words or len(words) > LONGEST_NAME or not words.isprintable():
        raise ParameterError(
            f"{name[:40]!a} is no name for the owner of a key: it needs 1 to {LONGEST_NAME} printable characters."
        )
    return words


def read_private_key(path: Path, passphrase: str | None = None) -> Ed25519PrivateKey:
    """The private key in a file.

    Raises ParameterError for a file that others can read, that holds no private Ed25519 key, or whose passphrase is
    missing or another one.
    """
    kind = ed25519().Ed25519PrivateKey
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization

    content, name = _content(path), quoted(path.name)
    if content.lstrip().startswith(KIND.encode()):
        raise ParameterError(f"{name} is a public key; name the private one (without {PUBLIC}).")
    if b"PRIVATE KEY" not in content:
        raise ParameterError(f"{name} holds no private key; name the file that `anoncore keygen` wrote.")
    if os.name == "posix" and path.stat().st_mode & 0o077:
        rights = f"{path.stat().st_mode & 0o777:03o}"
        raise ParameterError(
            f"{name} can be read by others (its rights are {rights}), so that anybody can have signed with it. If "
            f"nobody did, take these rights away (chmod 600 {path.name}); else make a new key."
        )
    try:
        key = serialization.load_pem_private_key(content, None if passphrase is None else passphrase.encode())
    except TypeError:
        # A passphrase for a key that has none: whoever gave it believes the key to be protected.
        wrong = "has a passphrase; give it with" if passphrase is None else "has no passphrase; leave out"
        raise ParameterError(f"{name} {wrong} --passphrase-file.") from None
    except (ValueError, UnsupportedAlgorithm):
        reason = "holds no private key" if passphrase is None else "holds no private key, or has another passphrase"
        raise ParameterError(f"{name} {reason}; name the file that `anoncore keygen` wrote.") from None
    if not isinstance(key, kind):
        raise ParameterError(f"{name} is a key of another kind; signatures need Ed25519 (anoncore keygen).")
    return key


def has_passphrase(path: Path) -> bool:
    """Whether the private key in a file is encrypted. Raises ParameterError for a file that cannot be read."""
    return b"ENCRYPTED" in _content(path).partition(b"\n")[0]


def read_public_key(path: Path) -> PublicKey:
    """The public key in a file, by the name that stands after it, else by that of the file.

    Raises ParameterError for a file that holds none.
    """
    return public_key_of(path.name, _content(path))


def public_key_of(file: str, content: bytes) -> PublicKey:
    """The public key in the content of a file of that name, as `read_public_key` reads it."""
    if b"PRIVATE KEY" in content:
        raise ParameterError(
            f"{quoted(file)} is a private key, which is kept secret and given to nobody; name the public one "
            f"({PUBLIC})."
        )
    try:
        (line,) = (one for one in content.decode("utf-8").splitlines() if one.strip() and not one.startswith("#"))
        kind, coded, *name = line.split(maxsplit=2)
        raw = base64.b64decode(coded, validate=True)
    except ValueError:
        kind, raw, name = "", b"", []
    if kind != KIND or not raw.startswith(_HEAD) or len(raw) != len(_HEAD) + 32:
        raise ParameterError(
            f"{quoted(file)} holds no public key: that is one line which begins with {KIND}, such as `anoncore "
            "keygen` writes."
        )
    return PublicKey(clear_name(name[0] if name else Path(file).stem), raw[len(_HEAD) :])


def trusted_keys(places: Sequence[Path]) -> tuple[PublicKey, ...]:
    """The public keys in files and in folders of such files.

    Raises ParameterError for a place that is not there, a file that holds no public key, a folder without any, and one
    key by two names or one name of two keys: of these nobody could say whose key it is.
    """
    found: list[PublicKey] = []
    for place in places:
        files = sorted(place.glob(f"*{PUBLIC}")) if place.is_dir() else [place]
        if not files:
            raise ParameterError(f"The folder {quoted(place.name)} has no public keys (files that end with {PUBLIC}).")
        for key in map(read_public_key, files):
            for other in (one for one in found if one != key):
                if other.raw == key.raw:
                    names = f"{other.name!r} and {key.name!r}"
                    raise ParameterError(f"One trusted key has two names, {names}; keep one of them.")
                if other.name == key.name:
                    raise ParameterError(f"Two trusted keys have the name {key.name!r}; give them different ones.")
            found.append(key)
    return tuple(dict.fromkeys(found))


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or "it cannot be opened").lower()
        raise ParameterError(f"The key {quoted(path.name)} cannot be read: {reason}.") from None
    if len(content) > MOST_BYTES:
        raise ParameterError(f"{quoted(path.name)} is too large to be a key.")
    return content
