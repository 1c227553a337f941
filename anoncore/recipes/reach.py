"""What a recipe may read and write: what lies in its own folder, unless somebody allows more.

A recipe is data, and nothing in it is executed. But it names files and addresses, and whoever runs the recipe of a
stranger reads and writes them with rights of their own.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from anoncore.base.errors import RecipeError
from anoncore.base.texts import listing, quoted
from anoncore.recipes.recipe import Recipe, populations_in
from anoncore.sources.addresses import is_address, is_database, shown_address

HARMLESS = ("application_name", "connect_timeout", "sslmode")
"""Parameters of a database's address that name neither another server nor a file of this machine."""
PORTS = {"http": 80, "https": 443, "postgresql": 5432, "postgres": 5432}


def require_within_reach(recipe: Recipe, paths: Sequence[Path] = (), addresses: Sequence[str] = ()) -> None:
    """Require that a recipe names only what lies in its own folder or is allowed.

    Links are followed before a path is looked at. Files and folders whose name begins with a dot are settings of
    programs, and must be allowed by name also in the recipe's own folder.

    Parameters
    ----------
    recipe : Recipe
        The recipe, with the folder in which it lies.
    paths : sequence of Path
        Files that it may read and write besides, and folders of such.
    addresses : sequence of str
        Addresses that it may read and write, such as `s3://bucket/people.parquet`; with one that ends like a folder,
        `s3://bucket/` or `postgresql://host/clinic`, also those below it.

    Raises
    ------
    RecipeError
        For the first place that is neither, with the option of the command line that allows it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from anoncore import Recipe
    >>> from anoncore.recipes.reach import require_within_reach
    >>> recipe = Recipe(source={"path": "../people.csv"}, algorithm={"name": "anatomy", "l": 2}, folder=Path("recipes"))
    >>> require_within_reach(recipe, paths=[Path("people.csv")])
    >>> require_within_reach(recipe)
    Traceback (most recent call last):
        ...
    anoncore.base.errors.RecipeError: [source] of the recipe names '../people.csv', ... allow it with --allow-path ...
    """
    folder = (recipe.folder or Path()).resolve()
    allowed = [path.expanduser().resolve() for path in paths]
    for what, place in _places(recipe):
        if is_address(place):
            _require_address(what, place, addresses)
        else:
            _require_path(what, place, folder, allowed)


def is_within(place: Path, folder: Path) -> bool:
    """Whether a path lies in a folder, or is it, whatever links are on the way, and no name on the way is hidden."""
    whole, top = place.resolve(), folder.resolve()
    if not whole.is_relative_to(top):
        return False
    return not any(part.startswith(".") for part in whole.relative_to(top).parts)


def _places(recipe: Recipe) -> Iterator[tuple[str, str]]:
    """All paths and addresses that a recipe names, with where it does."""
    if recipe.source.path is not None:
        yield "[source]", recipe.source.path
    for name, spec in recipe.hierarchies.items():
        if spec.path is not None:
            yield f"[hierarchies] {quoted(name)}", spec.path
    for measure in recipe.measures:
        for name, table in measure.tables.items():
            if isinstance(table.get("path"), str):
                yield f"measure {measure.name} ({name})", table["path"]
        for path in populations_in(measure.arguments):
            yield f"measure {measure.name} (population)", path
    for path in populations_in(recipe.algorithm):
        yield "[algorithm] (population)", path
    for name, pseudonym in recipe.pseudonyms.items():
        yield f"[pseudonyms] {quoted(name)}", pseudonym.key
    if recipe.output is not None:
        yield "[output]", recipe.output.path


def _require_path(what: str, written: str, folder: Path, allowed: Sequence[Path]) -> None:
    place = folder / written
    inner = [place, *_links_in(place)]
    for one in inner:
        if is_within(one, folder) or any(is_within(one, path) or one.resolve() == path for path in allowed):
            continue
        where = f"{quoted(written)}, " + (f"and {quoted(one.name)} in it, " if one != place else "")
        raise RecipeError(
            f"{what} of the recipe names {where}which is outside its own folder or hidden there. If you trust the "
            f"recipe with that, allow it with --allow-path {shlex.quote(str(one.resolve()))}"
        )


def _links_in(place: Path) -> list[Path]:
    """The links in a folder of files and in the folders below it: they may lead anywhere."""
    if not place.is_dir():
        return []
    found = []
    for folder, folders, files in os.walk(place):
        found += [Path(folder, name) for name in (*folders, *files) if Path(folder, name).is_symlink()]
    return found


def _require_address(what: str, address: str, allowed: Sequence[str]) -> None:
    if any(address == one or _is_below(address, one) for one in allowed):
        return
    shown = shown_address(address)
    if is_database(address) and (others := _diverting(address)):
        raise RecipeError(
            f"{what} of the recipe names {quoted(shown)} with {listing(others)}, which may lead to another server or "
            "to files of this machine; leave that out of the address, or allow the whole address as the recipe has it "
            "with --allow-address."
        )
    raise RecipeError(
        f"{what} of the recipe names the address {quoted(shown)}. If you trust the recipe with that, allow it with "
        f"--allow-address {shlex.quote(shown)}"
    )


def _is_below(address: str, allowed: str) -> bool:
    """Whether an address is the allowed one or lies below it, on the same server and by the same way of asking."""
    try:
        one, other = urlsplit(address), urlsplit(allowed)
        servers = [
            ("postgresql" if parts.scheme in ("postgresql", "postgres") else parts.scheme, parts.hostname, _port(parts))
            for parts in (one, other)
        ]
    except ValueError:
        return False
    if servers[0] != servers[1] or not is_address(allowed) or (is_database(address) and _diverting(address)):
        return False
    path, top = one.path or "/", other.path or "/"
    if any(part in (".", "..", "%2e", "%2e%2e", ".%2e", "%2e.") for part in path.lower().split("/")):
        return False
    return path == top or path.startswith(top if top.endswith("/") else f"{top}/")


def _port(parts: object) -> int | None:
    port: int | None = getattr(parts, "port", None)
    return port if port is not None else PORTS.get(str(getattr(parts, "scheme", "")))


def _diverting(address: str) -> list[str]:
    """The parameters of a database's address that are not known to be harmless."""
    pairs = parse_qsl(urlsplit(address).query, keep_blank_values=True)
    return [name for name, _ in pairs if name.lower() not in HARMLESS]
