"""What a release protects: achieved levels, distances from the table, violations."""

from anoncore.privacy.check import Violation, check
from anoncore.privacy.guarantees import Guarantee, PersonalGuarantee, guarantees, personal_guarantees
from anoncore.privacy.join_pairs import WorstJoins, pair_levels, unsafe_pairs, worst_joins
from anoncore.privacy.joined_people import JoinedTables, joined
from anoncore.privacy.joins import JoinCheck, JoinSummary, joins, require_safe_joins
from anoncore.privacy.levels import closeness, emd
from anoncore.privacy.linked_rows import LinkedPeople, linked_k
from anoncore.privacy.profile import AttributeProfile, FragmentProfile, Profile, WorstLevel, profile
from anoncore.privacy.tag_leaks import TagLeak, all_but_secrets, tag_leaks
from anoncore.privacy.transport import Transport, transport
from anoncore.table.identifiers.finder import identifiers
from anoncore.table.identifiers.findings import IdentifierFinding, IdentifiersFound

__all__ = [
    "AttributeProfile",
    "FragmentProfile",
    "Guarantee",
    "IdentifierFinding",
    "IdentifiersFound",
    "JoinCheck",
    "JoinSummary",
    "JoinedTables",
    "LinkedPeople",
    "PersonalGuarantee",
    "Profile",
    "TagLeak",
    "Transport",
    "Violation",
    "WorstJoins",
    "WorstLevel",
    "all_but_secrets",
    "check",
    "closeness",
    "emd",
    "guarantees",
    "identifiers",
    "joined",
    "joins",
    "linked_k",
    "pair_levels",
    "personal_guarantees",
    "profile",
    "require_safe_joins",
    "tag_leaks",
    "transport",
    "unsafe_pairs",
    "worst_joins",
]


def __dir__() -> list[str]:
    """The public names, without the modules that they come from."""
    return __all__
