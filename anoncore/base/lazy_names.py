"""Public names of a package that are imported when they are first used, as its type stub lists them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make `__getattr__`, `__dir__` and `__all__` of a package from its stub `__init__.pyi`.

    In the stub every line that imports a name ends with `as` and that name. So the command line starts without pandas
    and numba, and the names stand in one list, which type checkers read too.

    Parameters
    ----------
    package : str
        The package, its `__name__`.
    file : str
        Its `__file__`.

    Returns
    -------
    tuple of function, function and list of str
        `__all__` leaves out the modules and packages inside, which are attributes but do not come with
        `from package import *`.
    """
    lines = Path(file).with_suffix(".pyi").read_text(encoding="utf-8").splitlines()
    homes = {words[3]: words[1] for line in lines if (words := line.split())[-2:-1] == ["as"]}

    def attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute {name!r}")
        home = import_module(homes[name])
        # A module is no attribute of its package before somebody imports it.
        value = vars(home)[name] if name in vars(home) else import_module(f"{home.__name__}.{name}")
        setattr(sys.modules[package], name, value)
        return value

    top = Path(file).parent
    # What a package gives here is a module of it, as all else is imported from where it is defined.
    packages = {home for home in {*homes.values()} if top.joinpath(*home.split(".")[1:]).is_dir()}
    return attribute, lambda: sorted(homes), [name for name, home in homes.items() if home not in packages]
