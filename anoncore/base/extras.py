"""Packages that only some features need: imported where they are used, and named in a sentence where they are missing.

The core works without any of them. Each comes with an extra of the project, such as `pip install 'anoncore[excel]'`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from anoncore.base.errors import AnonymizationError


class Package(NamedTuple):
    """A package by the name that its authors give it, and the extra that brings it."""

    title: str
    extra: str


PACKAGES = {
    "sklearn": Package("scikit-learn", "learn"),
    "openpyxl": Package("openpyxl", "excel"),
    "jinja2": Package("Jinja2", "report"),
    "markupsafe": Package("MarkupSafe", "report"),
    "plotly": Package("Plotly", "plot"),
    "streamlit": Package("Streamlit", "dashboard"),
    "authlib": Package("Authlib", "serve"),
    "httpx": Package("httpx", "serve"),
    "cryptography": Package("cryptography", "sign"),
    "pyspark": Package("pyspark", "spark"),
    "opendp": Package("OpenDP", "dp"),
    "mbi": Package("private-pgm", "dp"),
    "polars": Package("Polars", "dp"),
    "fsspec": Package("fsspec", "http"),
    "aiohttp": Package("aiohttp", "http"),
    "s3fs": Package("s3fs", "s3"),
    "gcsfs": Package("gcsfs", "gcs"),
    "adlfs": Package("adlfs", "azure"),
    "adbc_driver_postgresql": Package("adbc-driver-postgresql", "postgresql"),
}
"""Every optional package, by the name under which Python imports it."""


class MissingPackageError(AnonymizationError, ImportError):
    """A feature was asked for whose package is not installed; the text says which command installs it."""


def imported(module: str, purpose: str) -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        Such as `"sklearn.tree"`; its first part is one of `PACKAGES`.
    purpose : str
        What needs it, as the subject of a sentence in the singular.

    Returns
    -------
    module
        The module.

    Raises
    ------
    MissingPackageError
        Where the package is not installed.

    Examples
    --------
    >>> from anoncore.base.extras import imported
    >>> imported("openpyxl", "Reading a workbook").__name__
    'openpyxl'
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingPackageError(missing_sentence(purpose, [module.partition(".")[0]])) from None


def require(purpose: str, *packages: str, extra: str | None = None) -> None:
    """Raise a MissingPackageError unless these packages are installed; nothing is imported.

    The sentence names the extra of the first one that is missing, or the given one, which then brings them all.
    """
    sentence = why_missing(purpose, *packages, extra=extra)
    if sentence:
        raise MissingPackageError(sentence)


def why_missing(purpose: str, *packages: str, extra: str | None = None) -> str:
    """Which of these packages are not installed, as `require` says it; empty where all are."""
    missing = [name for name in packages if find_spec(name) is None]
    return missing_sentence(purpose, missing, extra) if missing else ""


def missing_sentence(purpose: str, packages: list[str], extra: str | None = None) -> str:
    """The sentence for packages that are missing: what needs them, and the command that installs them.

    >>> from anoncore.base.extras import missing_sentence
    >>> missing_sentence("Reading a workbook", ["openpyxl"])
    "Reading a workbook needs openpyxl; install it with: pip install 'anoncore[excel]'."
    """
    titles = " and ".join(PACKAGES[name].title for name in packages)
    extra = extra or PACKAGES[packages[0]].extra
    it = "it" if len(packages) == 1 else "them"
    return f"{purpose} needs {titles}; install {it} with: pip install 'anoncore[{extra}]'."
