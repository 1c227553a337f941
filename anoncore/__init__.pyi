"""The public names and where each is defined; type checkers read them here, and `anoncore/__init__.py` does."""

from typing import TYPE_CHECKING

# Always true here; it lets mypy read the modules before this list, which they import through their package.
if TYPE_CHECKING:
    from anoncore import algorithms as algorithms
    from anoncore import attacks as attacks
    from anoncore import datasets as datasets
    from anoncore import privacy as privacy
    from anoncore import requirements as requirements
    from anoncore import utility as utility
    from anoncore.base.errors import AnonymizationError as AnonymizationError
    from anoncore.base.errors import CancelledError as CancelledError
    from anoncore.base.errors import DataError as DataError
    from anoncore.base.errors import InfeasibleError as InfeasibleError
    from anoncore.base.errors import ParameterError as ParameterError
    from anoncore.base.errors import RecipeError as RecipeError
    from anoncore.base.errors import ReleaseError as ReleaseError
    from anoncore.base.version import __version__ as __version__
    from anoncore.front import extend as extend
    from anoncore.front.anonymizing import anonymize as anonymize
    from anoncore.front.dossier.dossier import Dossier as Dossier
    from anoncore.front.estimator.anonymizer import Anonymizer as Anonymizer
    from anoncore.front.policy.judgement import JudgedRule as JudgedRule
    from anoncore.front.policy.judgement import Judgement as Judgement
    from anoncore.front.policy.policy import Policy as Policy
    from anoncore.front.question import check as check
    from anoncore.front.table_check import TableCheck as TableCheck
    from anoncore.front.table_check import UnmetRequirementError as UnmetRequirementError
    from anoncore.recipes.joined_tables import JoinedRecipe as JoinedRecipe
    from anoncore.recipes.recipe import Recipe as Recipe
    from anoncore.recipes.recipe import RecipeRun as RecipeRun
    from anoncore.recipes.typed_answers import Answers as Answers
    from anoncore.release.partition import Partition as Partition
    from anoncore.release.recoding import Distorted as Distorted
    from anoncore.release.recoding import Exact as Exact
    from anoncore.release.recoding import Generalized as Generalized
    from anoncore.release.recoding import GroupValues as GroupValues
    from anoncore.release.recoding import Recoding as Recoding
    from anoncore.release.release import Fragment as Fragment
    from anoncore.release.release import Release as Release
    from anoncore.table.domain import Domain as Domain
    from anoncore.table.domain import Kind as Kind
    from anoncore.table.hierarchy import Hierarchy as Hierarchy
    from anoncore.table.microdata import Microdata as Microdata
    from anoncore.table.microdata import Role as Role
