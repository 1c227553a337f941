"""What a release protects: achieved levels, distances from the table, violations."""

from anoncore.privacy.check import Violation, check
from anoncore.privacy.distance import emd
from anoncore.privacy.guarantees import Guarantee, PersonalGuarantee, guarantees, personal_guarantees
from anoncore.privacy.joins import JoinCheck, JoinSummary, joins, pair_levels, require_safe_joins, unsafe_pairs
from anoncore.privacy.profile import AttributeProfile, FragmentProfile, Profile, WorstLevel, profile
from anoncore.privacy.transport import Transport, transport

__all__ = [
    "AttributeProfile",
    "FragmentProfile",
    "Guarantee",
    "JoinCheck",
    "JoinSummary",
    "PersonalGuarantee",
    "Profile",
    "Transport",
    "Violation",
    "WorstLevel",
    "check",
    "emd",
    "guarantees",
    "joins",
    "pair_levels",
    "personal_guarantees",
    "profile",
    "require_safe_joins",
    "transport",
    "unsafe_pairs",
]
