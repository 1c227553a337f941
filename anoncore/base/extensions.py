"""Methods, requirements and measures of other packages, which say by an entry point that they have some."""

from __future__ import annotations

import warnings
from functools import cache
from importlib.metadata import entry_points

GROUP = "anoncore.extensions"
"""The group of entry points; each names a module that registers what it has when it is imported."""


@cache
def load_extensions() -> tuple[str, ...]:
    """Import the modules that installed packages name under `anoncore.extensions`, once in a process.

    A package that cannot be imported must not keep anybody from working with the rest, so it is left out with a
    warning that names it.

    Returns
    -------
    tuple of str
        The names of the entry points that were loaded.

    Examples
    --------
    >>> from anoncore.base.extensions import load_extensions
    >>> isinstance(load_extensions(), tuple)
    True
    """
    loaded = []
    for point in entry_points(group=GROUP):
        try:
            point.load()
        except Exception as error:
            package = point.dist.name if point.dist is not None else point.value
            reason = " ".join(str(error).split()) or type(error).__name__
            warnings.warn(
                f"The extension '{point.name}' of the package {package} is left out, because it cannot be imported: "
                f"{reason}",
                RuntimeWarning,
                stacklevel=2,
            )
        else:
            loaded.append(point.name)
    return tuple(loaded)
