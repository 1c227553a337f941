"""Compiled code on disk is thrown away when any kernel's source changed.

numba compares a compiled function with its own file only; one that was inlined from another file would stay as it was.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from pathlib import Path

STAMP = "kernels.sha256"


def drop_stale(folder: Path) -> bool:
    """Remove compiled code in the folder's `__pycache__` unless it was made of the sources as they are.

    Returns whether anything was out of date. Where the cache cannot be written nothing happens.
    """
    digest = sha256()
    for source in sorted(folder.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    cache = folder / "__pycache__"
    stamp = cache / STAMP
    with suppress(OSError):
        if stamp.is_file() and stamp.read_text("ascii") == digest.hexdigest():
            return False
        cache.mkdir(exist_ok=True)
        for compiled in [*cache.glob("*.nbi"), *cache.glob("*.nbc")]:
            compiled.unlink(missing_ok=True)
        stamp.write_text(digest.hexdigest(), "ascii")
        return True
    return False
