"""What an adversary gets out of a release, beside what guessing gets."""

from anoncore.attacks.closeness import posterior_emd
from anoncore.attacks.combinatorial_refinement import Refinement, refinement
from anoncore.attacks.composition import Composition, composition
from anoncore.attacks.definetti import DeFinetti, definetti
from anoncore.attacks.disclosure import AttributeDisclosure, attribute_disclosure
from anoncore.attacks.downcoding import Downcoding, downcoding
from anoncore.attacks.foreground import (
    Fact,
    ForegroundEstimate,
    ForegroundKnowledge,
    ForegroundWithFacts,
    GroupView,
    PossibleWorlds,
    SetLeak,
    foreground_knowledge,
    foreground_knowledge_estimate,
    group_probabilities,
    possible_worlds,
)
from anoncore.attacks.individual_risk import IndividualRisk, individual_risk
from anoncore.attacks.inferring import Inference, inference
from anoncore.attacks.join_likelihood import JoinLikelihood, join_likelihood
from anoncore.attacks.linkability import Linkability, linkability
from anoncore.attacks.matching_buckets import MatchingBuckets, matching_buckets
from anoncore.attacks.membership import Membership, membership
from anoncore.attacks.memorizing import Memorization, memorization
from anoncore.attacks.minimality import MinimalityAttack, minimality
from anoncore.attacks.population_uniqueness import PopulationUniqueness, population_uniqueness
from anoncore.attacks.posterior import sensitive_posterior
from anoncore.attacks.region_membership import RegionMembership, region_membership
from anoncore.attacks.reidentification import Reidentification, Risk, reidentification
from anoncore.attacks.shifted_dates import ShiftedDates, shifted_dates
from anoncore.attacks.singling_out import SinglingOut, singling_out
from anoncore.attacks.special_uniques import SpecialUniques, special_uniques
from anoncore.attacks.strongest import AttackGain, Strongest, strongest

__all__ = [
    "AttackGain",
    "AttributeDisclosure",
    "Composition",
    "DeFinetti",
    "Downcoding",
    "Fact",
    "ForegroundEstimate",
    "ForegroundKnowledge",
    "ForegroundWithFacts",
    "GroupView",
    "IndividualRisk",
    "Inference",
    "JoinLikelihood",
    "Linkability",
    "MatchingBuckets",
    "Membership",
    "Memorization",
    "MinimalityAttack",
    "PopulationUniqueness",
    "PossibleWorlds",
    "Refinement",
    "RegionMembership",
    "Reidentification",
    "Risk",
    "SetLeak",
    "ShiftedDates",
    "SinglingOut",
    "SpecialUniques",
    "Strongest",
    "attribute_disclosure",
    "composition",
    "definetti",
    "downcoding",
    "foreground_knowledge",
    "foreground_knowledge_estimate",
    "group_probabilities",
    "individual_risk",
    "inference",
    "join_likelihood",
    "linkability",
    "matching_buckets",
    "membership",
    "memorization",
    "minimality",
    "population_uniqueness",
    "possible_worlds",
    "posterior_emd",
    "refinement",
    "region_membership",
    "reidentification",
    "sensitive_posterior",
    "shifted_dates",
    "singling_out",
    "special_uniques",
    "strongest",
]


def __dir__() -> list[str]:
    """The public names, without the modules that they come from."""
    return __all__
