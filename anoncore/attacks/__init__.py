"""What an adversary gets out of a release, beside what guessing gets."""

from anoncore.attacks.disclosure import AttributeDisclosure, attribute_disclosure
from anoncore.attacks.foreground import (
    ForegroundKnowledge,
    GroupView,
    PossibleWorlds,
    SetLeak,
    foreground_knowledge,
    group_probabilities,
    possible_worlds,
)
from anoncore.attacks.posterior import sensitive_posterior
from anoncore.attacks.reidentification import Reidentification, Risk, reidentification

__all__ = [
    "AttributeDisclosure",
    "ForegroundKnowledge",
    "GroupView",
    "PossibleWorlds",
    "Reidentification",
    "Risk",
    "SetLeak",
    "attribute_disclosure",
    "foreground_knowledge",
    "group_probabilities",
    "possible_worlds",
    "reidentification",
    "sensitive_posterior",
]
