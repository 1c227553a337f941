"""Anonymize a table, see what the release protects, what an adversary still gets, and what it costs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from anoncore.base.version import __version__

if TYPE_CHECKING:
    from anoncore.base.errors import (
        AnonymizationError,
        CancelledError,
        DataError,
        InfeasibleError,
        ParameterError,
        RecipeError,
        ReleaseError,
    )
    from anoncore.estimators.anonymizer import Anonymizer
    from anoncore.front import extend as extend
    from anoncore.front.anonymizing import anonymize
    from anoncore.front.dossier.dossier import Dossier
    from anoncore.front.dossier.typed_answers import Answers
    from anoncore.front.policy.judgement import JudgedRule, Judgement
    from anoncore.front.policy.policy import Policy
    from anoncore.front.question import check
    from anoncore.front.table_check import TableCheck, UnmetRequirementError
    from anoncore.recipes.recipe import Recipe, RecipeRun
    from anoncore.release.partition import Partition
    from anoncore.release.recoding import Distorted, Exact, Generalized, GroupValues, Recoding
    from anoncore.release.release import Fragment, Release
    from anoncore.table.domain import Domain, Kind
    from anoncore.table.hierarchy import Hierarchy
    from anoncore.table.microdata import Microdata, Role

_HOMES = {
    "anoncore.base.errors": (
        "AnonymizationError",
        "CancelledError",
        "DataError",
        "InfeasibleError",
        "ParameterError",
        "RecipeError",
        "ReleaseError",
    ),
    "anoncore.estimators.anonymizer": ("Anonymizer",),
    "anoncore.front.anonymizing": ("anonymize",),
    "anoncore.front.dossier.dossier": ("Dossier",),
    "anoncore.front.dossier.typed_answers": ("Answers",),
    "anoncore.front.policy.judgement": ("JudgedRule", "Judgement"),
    "anoncore.front.policy.policy": ("Policy",),
    "anoncore.front.question": ("check",),
    "anoncore.front.table_check": ("TableCheck", "UnmetRequirementError"),
    "anoncore.recipes.recipe": ("Recipe", "RecipeRun"),
    "anoncore.release.partition": ("Partition",),
    "anoncore.release.recoding": ("Distorted", "Exact", "Generalized", "GroupValues", "Recoding"),
    "anoncore.release.release": ("Fragment", "Release"),
    "anoncore.table.domain": ("Domain", "Kind"),
    "anoncore.table.hierarchy": ("Hierarchy",),
    "anoncore.table.microdata": ("Microdata", "Role"),
}
_ROOMS = ("algorithms", "attacks", "datasets", "privacy", "requirements", "utility")
"""Packages that are part of what users call, so that `import anoncore` is enough to reach them."""
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AnonymizationError",
    "Anonymizer",
    "Answers",
    "CancelledError",
    "DataError",
    "Distorted",
    "Domain",
    "Dossier",
    "Exact",
    "Fragment",
    "Generalized",
    "GroupValues",
    "Hierarchy",
    "InfeasibleError",
    "JudgedRule",
    "Judgement",
    "Kind",
    "Microdata",
    "ParameterError",
    "Partition",
    "Policy",
    "Recipe",
    "RecipeError",
    "RecipeRun",
    "Recoding",
    "Release",
    "ReleaseError",
    "Role",
    "TableCheck",
    "UnmetRequirementError",
    "__version__",
    "anonymize",
    "check",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so that the command line starts without pandas and numba."""
    if name in _ROOMS:
        return import_module(f"anoncore.{name}")
    if name == "extend":
        return import_module("anoncore.front.extend")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'anoncore' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, and no others."""
    return sorted([*__all__, *_ROOMS, "extend"])
