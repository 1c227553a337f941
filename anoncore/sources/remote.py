"""Tables that lie elsewhere: files at addresses such as s3:// and https://, and tables of a PostgreSQL server.

Each is brought to a folder of this machine first, where it is read like any other table. So every reader, engine and
method works on it, and what is lost in the middle leaves nothing half-read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from anoncore.base.errors import AnonymizationError, DataError
from anoncore.base.extras import require
from anoncore.base.progress import Progress, silent
from anoncore.base.texts import listing
from anoncore.sources.addresses import is_database, needs_package, shown_address

CHUNK = 8 << 20


class Library(NamedTuple):
    """What reads an address: a package, and whether it has folders."""

    package: str
    has_folders: bool


LIBRARIES = {
    "s3": Library("s3fs", True),
    "gs": Library("gcsfs", True),
    "gcs": Library("gcsfs", True),
    "abfs": Library("adlfs", True),
    "abfss": Library("adlfs", True),
    "az": Library("adlfs", True),
    "http": Library("aiohttp", False),
    "https": Library("aiohttp", False),
}


def fetched(address: str, folder: Path, table: str | None = None, progress: Progress | None = None) -> Path:
    """Bring what lies at an address into a folder: a file, a folder of files, or a `table` of a PostgreSQL server.

    Rights come from where the libraries look for them: environment variables, files of the user, the machine. Raises
    DataError for an address of another kind, for a package that is missing, and for what cannot be read.
    """
    tell = progress if progress is not None else silent
    scheme = address.partition("://")[0].lower()
    if is_database(address):
        from anoncore.sources.postgresql import fetched_table

        return fetched_table(address, folder, table, tell)
    if scheme not in LIBRARIES:
        known = listing([f"{one}://" for one in ("s3", "gs", "abfs", "https", "postgresql")])
        raise DataError(f"'{shown_address(address)}': tables are read from paths of this machine and from {known}.")
    if table is not None:
        raise DataError(f"source.table is for a database, and '{shown_address(address)}' is none.")
    return _files(address, LIBRARIES[scheme], folder, tell)


def _files(address: str, library: Library, folder: Path, tell: Progress) -> Path:
    # It imports DuckDB, which takes long; most tables lie on this machine.
    from anoncore.base.faults import require_space, writing

    told = shown_address(address)
    with _reading(address):
        filesystem, path = _filesystem(address, library)
        filesystem.invalidate_cache()  # what was there a while ago may be gone
        path = path.rstrip("/") if library.has_folders else path
        name = PurePosixPath(urlsplit(address).path).name or urlsplit(address).netloc
        target = folder / (name or "table")
        if library.has_folders and filesystem.isdir(path):
            sizes = {one: int(entry["size"]) for one, entry in filesystem.find(path, detail=True).items()}
            places = {one: target / PurePosixPath(one).relative_to(path) for one in sizes}
        else:
            sizes, places = {path: int(filesystem.size(path) or 0)}, {path: target}
        require_space(folder, sum(sizes.values()))
        done, total = 0, sum(sizes.values()) or 1
        for one, place in places.items():
            with writing(folder):
                place.parent.mkdir(parents=True, exist_ok=True)
            with filesystem.open(one, "rb") as source, place.open("wb") as file:
                while content := source.read(CHUNK):
                    with writing(folder):
                        file.write(content)
                    done += len(content)
                    tell(min(done / total, 1.0), f"{done / 1e6:,.0f} MB of '{told}' fetched")
    if not places:
        raise DataError(f"The folder '{told}' is empty, or is not there.")
    return target


def _filesystem(address: str, library: Library) -> tuple[Any, str]:
    require(needs_package(address), library.package, "fsspec")
    import fsspec

    filesystem, path = fsspec.core.url_to_fs(address)
    return filesystem, str(path)


@contextmanager
def _reading(address: str) -> Iterator[None]:
    """Say in a DataError why an address cannot be read, and nothing of what gives rights to it."""
    told = shown_address(address)
    try:
        yield
    except AnonymizationError:
        raise
    except FileNotFoundError:
        raise DataError(f"There is nothing at '{told}'; check the name, and whether you may see it.") from None
    except PermissionError:
        raise DataError(f"'{told}' may not be read with the rights that this machine has for it.") from None
    except Exception as error:
        # Every library has errors of its own, whose texts may hold addresses with their signatures.
        raise DataError(
            f"'{told}' cannot be read ({type(error).__name__}); check the address and the rights."
        ) from None
