"""Requirements on groups. A new one needs its own file, one import here, and its test."""

from anoncore.base.model import Registry
from anoncore.requirements.diversity import DistinctDiversity, EntropyDiversity, FrequencyDiversity, RecursiveDiversity
from anoncore.requirements.k_anonymity import KAnonymity
from anoncore.requirements.likeness import BetaLikeness
from anoncore.requirements.presence import DeltaPresence
from anoncore.requirements.requirement import Check, CheckSet, Comparison, Requirement
from anoncore.requirements.t_closeness import TCloseness
from anoncore.requirements.variance import VarianceDiversity

REQUIREMENTS: Registry[Requirement] = Registry("requirement", Requirement)
"""Every requirement that anoncore has, by its name in recipes and on the command line, e.g. `k-anonymity`."""
REQUIREMENTS.register(*globals().values())

__all__ = [
    "REQUIREMENTS",
    "BetaLikeness",
    "Check",
    "CheckSet",
    "Comparison",
    "DeltaPresence",
    "DistinctDiversity",
    "EntropyDiversity",
    "FrequencyDiversity",
    "KAnonymity",
    "RecursiveDiversity",
    "Requirement",
    "TCloseness",
    "VarianceDiversity",
]


def __dir__() -> list[str]:
    """The public names, without the modules that they come from."""
    return __all__
