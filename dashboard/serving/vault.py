"""Files of one folder that nobody can read, exchange or change without the key: AES-256-GCM, a new nonce each time.

The name of a file goes into its check, so that one file cannot stand in for another. Names are made with the key too,
so that they tell nothing of what they stand for. A ledger beside the folders says which writing of each file is the
last one, so that an older file, put back, is not opened; while the program runs it knows the ledger by heart.
"""

from __future__ import annotations

import hmac
import json
import logging
import os
import secrets
import shutil
import threading
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from anoncore import DataError
from dashboard.serving import settings

NONCE_BYTES, TAG_BYTES = 12, 16
MARK = b"anoncore workspace 2\n"
"""What every file begins with; another form of file would begin otherwise."""
ONLY_OWNER, FOLDER_RIGHTS = 0o600, 0o700
ENDING = ".part"
LEDGER = b"the ledger"
"""What the ledger is bound to; no file of a folder is called so."""
SIGN_INS = "sign-ins"
"""The folder of the list of sign-ins, beside those of workspaces."""
_logger = logging.getLogger(__name__)
_lock = threading.Lock()
_vaults: dict[tuple[str, str], Vault] = {}


class Vault:
    """Folders of encrypted files below one folder; the key has 32 bytes."""

    def __init__(self, folder: Path, key: bytes) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        # Two keys of one: that which names files tells nothing of that which encrypts them.
        self.folder = folder
        self._cipher = AESGCM(hmac.digest(key, b"content", "sha256"))
        self._naming = hmac.digest(key, b"names", "sha256")
        self._lock = threading.RLock()
        # Another key is another ledger: whoever starts with a wrong one destroys nothing.
        self._ledger_name = f"ledger-{self.name_of('ledger')}"
        self._ledger = self._read_ledger()

    def name_of(self, text: str) -> str:
        """What a text is called in this folder; without the key nobody can tell one from the other."""
        return hmac.new(self._naming, text.encode(), sha256).hexdigest()[:40]

    def write(self, group: str, name: str, content: bytes) -> None:
        """Write a file as a whole or not at all."""
        (self.folder / group).mkdir(mode=FOLDER_RIGHTS, exist_ok=True)
        key = f"{group}/{name}"
        nonce = os.urandom(NONCE_BYTES)
        with self._lock:
            # Until the file is there, the ledger says that it may be either: so a crash in between loses nothing.
            before = self._ledger.get(key, [])
            self._enter({key: [*before, nonce.hex()]})
            try:
                self._put(self.folder / group, name, nonce, content, _bound_to(group, name))
            except BaseException:
                self._ledger = {**self._ledger, key: before}
                raise
            self._enter({key: [nonce.hex()]})

    def read(self, group: str, name: str) -> bytes | None:
        """The content of a file; None where there is none.

        Raises DataError for one that was changed, cut off, exchanged, written with another key, or is not the one that
        was written last.
        """
        try:
            sealed = (self.folder / group / name).read_bytes()
        except FileNotFoundError:
            return None
        content, nonce = self._opened(sealed, _bound_to(group, name))
        with self._lock:
            if nonce.hex() not in self._ledger.get(f"{group}/{name}", []):
                raise DataError("A kept workspace is not the one that was written last, so it is not opened.")
        return content

    def _put(self, folder: Path, name: str, nonce: bytes, content: bytes, bound: bytes) -> None:
        sealed = self._cipher.encrypt(nonce, content, bound)
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

    def _opened(self, sealed: bytes, bound: bytes) -> tuple[bytes, bytes]:
        """The content of a file and the nonce with which it was written. Raises DataError for any other file."""
        from cryptography.exceptions import InvalidTag

        begin = len(MARK) + NONCE_BYTES
        try:
            if not sealed.startswith(MARK) or len(sealed) < begin + TAG_BYTES:
                raise InvalidTag
            nonce = sealed[len(MARK) : begin]
            return self._cipher.decrypt(nonce, sealed[begin:], bound), nonce
        except InvalidTag:
            raise DataError(
                "A kept workspace was changed, or written with another key, and cannot be opened."
            ) from None

    def _read_ledger(self) -> dict[str, list[str]]:
        """The nonces of each file, of which one is that of its last writing; none where the ledger cannot be opened."""
        path = self.folder / self._ledger_name
        try:
            found: dict[str, list[str]] = json.loads(self._opened(path.read_bytes(), LEDGER)[0])
        except FileNotFoundError:
            return {}
        except DataError:
            _logger.error("The ledger of kept workspaces was changed, so none of them is opened")
            return {}
        return {key: nonces for key, nonces in found.items() if (self.folder / key).exists()}

    def _enter(self, entries: dict[str, list[str]]) -> None:
        """Write the ledger with these entries, or without those that are empty."""
        found = {key: nonces for key, nonces in {**self._ledger, **entries}.items() if nonces}
        if found:
            self._put(self.folder, self._ledger_name, os.urandom(NONCE_BYTES), json.dumps(found).encode(), LEDGER)
        else:
            # Without a ledger no file is opened.
            (self.folder / self._ledger_name).unlink(missing_ok=True)
        self._ledger = found

    def holds(self, group: str, name: str) -> bool:
        """Whether there is a file that was written here and can be opened."""
        with self._lock:
            return f"{group}/{name}" in self._ledger and (self.folder / group / name).exists()

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

    def remove(self, group: str, name: str | None = None) -> None:
        """Remove a file, or a folder with all its files, for good: put back, they are not opened."""
        with self._lock:
            begin = f"{group}/{name or ''}"
            keys = [key for key in self._ledger if (key == begin if name else key.startswith(begin))]
            if keys:
                self._enter({key: [] for key in keys})
        if name is None:
            shutil.rmtree(self.folder / group, ignore_errors=True)
        else:
            (self.folder / group / name).unlink(missing_ok=True)


def _bound_to(group: str, name: str) -> bytes:
    return f"{group}/{name}".encode()


def of_workspaces() -> Vault | None:
    """Where workspaces are kept; None where they end with the server."""
    kept = settings.current().workspaces
    if not kept.folder:
        return None
    where = (kept.folder, kept.key)
    with _lock:
        if where not in _vaults:
            _vaults[where] = Vault(Path(kept.folder), settings.key_of(kept.key))
        return _vaults[where]
