"""Files of one folder that nobody can read, exchange or change without the key: AES-256-GCM, a new nonce each time.

The name of a file goes into its check, so that one file cannot stand in for another. Names are made with the key too,
so that they tell nothing of what they stand for.
"""

from __future__ import annotations

import hmac
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from anoncore import DataError

NONCE_BYTES = 12
MARK = b"anoncore workspace 1\n"
"""What every file begins with; another form of file would begin otherwise."""
ONLY_OWNER, FOLDER_RIGHTS = 0o600, 0o700
ENDING = ".part"


class Vault:
    """Folders of encrypted files below one folder; the key has 32 bytes."""

    def __init__(self, folder: Path, key: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        # Two keys of one: that which names files tells nothing of that which encrypts them.
        self.folder = folder
        self._cipher = AESGCM(hmac.digest(key, b"content", "sha256"))
        self._naming = hmac.digest(key, b"names", "sha256")

    def name_of(self, text: str) -> str:
        """What a text is called in this folder; without the key nobody can tell one from the other."""
        return hmac.new(self._naming, text.encode(), sha256).hexdigest()[:40]

    def write(self, group: str, name: str, content: bytes) -> None:
        """Write a file as a whole or not at all."""
        folder = self.folder / group
        folder.mkdir(mode=FOLDER_RIGHTS, exist_ok=True)
        nonce = os.urandom(NONCE_BYTES)
        sealed = self._cipher.encrypt(nonce, content, _bound_to(group, name))
        path = folder / name
        part = folder / f"{name}-{secrets.token_hex(4)}{ENDING}"
        try:
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, ONLY_OWNER)
            with os.fdopen(handle, "wb") as file:
                file.write(MARK + nonce)
                file.write(sealed)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    def read(self, group: str, name: str) -> bytes | None:
        """The content of a file; None where there is none.

        Raises DataError for one that was changed, exchanged, or written with another key.
        """
        from cryptography.exceptions import InvalidTag

        try:
            content = (self.folder / group / name).read_bytes()
        except FileNotFoundError:
            return None
        begin = len(MARK) + NONCE_BYTES
        try:
            if not content.startswith(MARK):
                raise InvalidTag
            return self._cipher.decrypt(content[len(MARK) : begin], content[begin:], _bound_to(group, name))
        except InvalidTag:
            raise DataError(
                "A kept workspace was changed, or written with another key, and cannot be opened."
            ) from None

    def touch(self, group: str, name: str) -> None:
        """Note that a file is still in use."""
        with suppress(OSError):
            os.utime(self.folder / group / name)

    def groups(self) -> Iterator[str]:
        """The folders that are there."""
        for path in sorted(self.folder.iterdir()):
            if path.is_dir() and not path.is_symlink():
                yield path.name

    def files(self, group: str) -> Iterator[Path]:
        """The files of a folder."""
        with suppress(FileNotFoundError):
            yield from sorted((self.folder / group).iterdir())

    def remove(self, group: str) -> None:
        """Remove a folder with all its files."""
        shutil.rmtree(self.folder / group, ignore_errors=True)


def _bound_to(group: str, name: str) -> bytes:
    return f"{group}/{name}".encode()
