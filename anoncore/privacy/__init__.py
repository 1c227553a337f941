"""What a release protects: achieved levels, distances from the table, violations."""

from anoncore.privacy.check import Violation, check
from anoncore.privacy.distance import emd
from anoncore.privacy.guarantees import Guarantee, guarantees
from anoncore.privacy.profile import AttributeProfile, FragmentProfile, Profile, WorstLevel, profile

__all__ = [
    "AttributeProfile",
    "FragmentProfile",
    "Guarantee",
    "Profile",
    "Violation",
    "WorstLevel",
    "check",
    "emd",
    "guarantees",
    "profile",
]
