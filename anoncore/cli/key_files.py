"""Keys of certificates: made, kept in a file, and read from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from anoncore.base.errors import ParameterError
from anoncore.base.whole_files import replace_files
from anoncore.publishing.certification.input_hash import new_key


def key_of(file: Path | None) -> tuple[str, str, dict[Path, bytes]]:
    """The key for the hash of the input, the sentence that tells the user of it, and the file to write with it."""
    if file is None:
        key = new_key()
        return key, f"Key of the certificate's input hash, to be kept and not published: {key}", {}
    told = f"Key of the certificate's input hash: {file} (keep it, don't publish it)"
    if file.exists():
        return read_key(file), told, {}
    key = new_key()
    return key, told, {file: f"{key}\n".encode("ascii")}


@contextmanager
def key_kept_first(kept: Mapping[Path, bytes]) -> Iterator[None]:
    """Write a new key before what is certified with it, and take it away where that fails.

    A certificate whose key was lost proves less, and a database cannot be asked to wait for a file.
    """
    if kept:
        replace_files(kept, private=kept)
    try:
        yield
    except BaseException:
        for path in kept:
            path.unlink(missing_ok=True)
        raise


def read_key(file: Path) -> str:
    """The key in a file. Raises ParameterError for a file that holds none."""
    try:
        key = file.read_text(encoding="ascii").strip()
    except UnicodeDecodeError:
        key = ""
    if len(key) < 32:
        raise ParameterError(f"'{file}' holds no key of at least 32 characters; name the file that `run` wrote.")
    return key
