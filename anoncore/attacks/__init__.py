"""What an adversary gets out of a release, beside what guessing gets."""

from anoncore.attacks.disclosure import AttributeDisclosure, attribute_disclosure
from anoncore.attacks.posterior import sensitive_posterior
from anoncore.attacks.reidentification import Reidentification, Risk, reidentification

__all__ = [
    "AttributeDisclosure",
    "Reidentification",
    "Risk",
    "attribute_disclosure",
    "reidentification",
    "sensitive_posterior",
]
