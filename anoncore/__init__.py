"""Anonymize a table, see what the release protects, what an adversary still gets, and what it costs."""

from anoncore.domain import Domain, Kind
from anoncore.errors import (
    AnonymizationError,
    CancelledError,
    DataError,
    InfeasibleError,
    ParameterError,
    RecipeError,
    ReleaseError,
)
from anoncore.hierarchy import Hierarchy
from anoncore.microdata import Microdata, Role
from anoncore.partition import Partition
from anoncore.recipe import Recipe, RecipeRun
from anoncore.recoding import Distorted, Exact, Generalized, GroupValues, Recoding
from anoncore.release import Fragment, Release

__version__ = "0.1.0"

__all__ = [
    "AnonymizationError",
    "CancelledError",
    "DataError",
    "Distorted",
    "Domain",
    "Exact",
    "Fragment",
    "Generalized",
    "GroupValues",
    "Hierarchy",
    "InfeasibleError",
    "Kind",
    "Microdata",
    "ParameterError",
    "Partition",
    "Recipe",
    "RecipeError",
    "RecipeRun",
    "Recoding",
    "Release",
    "ReleaseError",
    "Role",
    "__version__",
]
