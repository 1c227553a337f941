"""Keys of signatures: made, kept in files that only their owner reads, and trusted by the names that readers give."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anoncore.base.errors import ParameterError
from anoncore.base.extras import MissingPackageError, imported, missing_sentence
from anoncore.base.texts import quoted

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KIND = "ssh-ed25519"
_HEAD = len(KIND).to_bytes(4, "big") + KIND.encode() + (32).to_bytes(4, "big")
PUBLIC = ".pub"
"""How the files of public keys end."""
LONGEST_NAME = 100
MOST_BYTES = 100_000
"""No file of a key is larger; another file that is named by mistake is not read whole."""
PURPOSE = "A signature"
"""What needs the package cryptography, in a sentence."""


@dataclass(frozen=True)
class PublicKey:
    """A public key by the name that whoever trusts it gives its owner; written as OpenSSH writes such keys."""

    name: str
    raw: bytes

    @property
    def line(self) -> str:
        """The key as a line of text."""
        return f"{KIND} {base64.b64encode(_HEAD + self.raw).decode()} {self.name}\n"

    @property
    def fingerprint(self) -> str:
        """What two people compare to know that they mean the same key, as `ssh-keygen -lf` prints it."""
        return fingerprint(self.raw)


def fingerprint(raw: bytes) -> str:
    """The fingerprint of the 32 bytes of a public key."""
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
    how = (
        serialization.NoEncryption()
        if passphrase is None
        else serialization.BestAvailableEncryption(passphrase.encode())
    )
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

    content = _content(path)
    if content.lstrip().startswith(KIND.encode()):
        raise ParameterError(f"{quoted(path.name)} is a public key; name the private one (without {PUBLIC}).")
    if b"PRIVATE KEY" not in content:
        raise ParameterError(f"{quoted(path.name)} holds no private key; name the file that `anoncore keygen` wrote.")
    if os.name == "posix" and path.stat().st_mode & 0o077:
        rights = f"{path.stat().st_mode & 0o777:03o}"
        raise ParameterError(
            f"{quoted(path.name)} can be read by others (its rights are {rights}), so that anybody can have signed "
            f"with it. If nobody did, take these rights away (chmod 600 {path.name}); else make a new key."
        )
    given = None if passphrase is None else passphrase.encode()
    try:
        key = serialization.load_pem_private_key(content, given)
    except TypeError:
        if passphrase is None:
            raise ParameterError(f"{quoted(path.name)} has a passphrase; give it with --passphrase-file.") from None
        # A passphrase for a key that has none: whoever gave it believes the key to be protected.
        raise ParameterError(f"{quoted(path.name)} has no passphrase; leave out --passphrase-file.") from None
    except (ValueError, UnsupportedAlgorithm):
        reason = "holds no private key" if passphrase is None else "holds no private key, or has another passphrase"
        raise ParameterError(f"{quoted(path.name)} {reason}; name the file that `anoncore keygen` wrote.") from None
    if not isinstance(key, kind):
        raise ParameterError(
            f"{quoted(path.name)} is a key of another kind; signatures need Ed25519 (anoncore keygen)."
        )
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
        lines = [line for line in content.decode("utf-8").splitlines() if line.strip() and not line.startswith("#")]
        kind, coded, *name = lines[0].split(maxsplit=2)
        raw = base64.b64decode(coded, validate=True)
    except (UnicodeDecodeError, ValueError, IndexError, binascii.Error):
        lines, kind, raw, name = [], "", b"", []
    if len(lines) != 1 or kind != KIND or not raw.startswith(_HEAD) or len(raw) != len(_HEAD) + 32:
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
            other = next((one for one in found if one != key and (one.raw == key.raw or one.name == key.name)), None)
            if other is not None and other.raw == key.raw:
                raise ParameterError(
                    f"One trusted key has two names, {other.name!r} and {key.name!r}; keep one of them."
                )
            if other is not None:
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


def verifies(raw_key: bytes, value: bytes, content: bytes) -> bool:
    """Whether a signature of some bytes was made with the private key that belongs to a public one.

    Raises MissingPackageError where cryptography is not installed.
    """
    kind = ed25519().Ed25519PublicKey
    from cryptography.exceptions import InvalidSignature

    try:
        kind.from_public_bytes(raw_key).verify(value, content)
    except (InvalidSignature, ValueError):
        return False
    return True


def is_missing() -> bool:
    """Whether cryptography is not installed."""
    try:
        ed25519()
    except MissingPackageError:
        return True
    return False


def missing_package() -> str:
    """The sentence that says which package signatures need, and how to install it."""
    return missing_sentence(PURPOSE, ["cryptography"])
