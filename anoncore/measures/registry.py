"""Every number that is told of a release, by name, with all that is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from anoncore.algorithms.vertical.changes import CLASS_CHANGES
from anoncore.attacks.combinatorial_refinement import (
    REFINEMENT_BREACH,
    REFINEMENT_CONTROL,
    REFINEMENT_EXCESS,
    REFINEMENT_LOCATED,
    REFINEMENT_NARROWED,
    REFINEMENT_RULED_OUT,
)
from anoncore.attacks.composition import FEW_VALUES, JOINT_BREACH, JOINT_LARGEST, JOINT_TRUTH
from anoncore.attacks.definetti import DEFINETTI_BREACH, DEFINETTI_CONTROL, DEFINETTI_EXCESS, DEFINETTI_RIGHT
from anoncore.attacks.downcoding import DOWNCODED_RIGHT, DOWNCODING_LIFT, UNDONE
from anoncore.attacks.foreground.attack import (
    FOREGROUND_BREACH,
    FOREGROUND_CONTROL,
    FOREGROUND_ERROR,
    FOREGROUND_FLAGGED,
    FOREGROUND_PROBABILITY,
    FOREGROUND_RANGE,
)
from anoncore.attacks.individual_risk import EXPECTED_LINKS, INDIVIDUAL_RISK_LARGEST, INDIVIDUAL_RISK_MEAN
from anoncore.attacks.inferring import INFERENCE
from anoncore.attacks.join_likelihood import LIKELIHOOD_LARGEST, LIKELIHOOD_MEAN, UNMATCHED
from anoncore.attacks.linkability import LINKABILITY
from anoncore.attacks.membership import FAKE_TUPLES
from anoncore.attacks.memorizing import MEMORIZATION, MEMORIZED
from anoncore.attacks.minimality import EXPOSED, LIFT, RIGHT_GUESSES, STRONGEST, TRUE_BELIEF
from anoncore.attacks.population_uniqueness import (
    POPULATION_UNIQUES,
    UNIQUE_STAYS,
    UNIQUES_COUNTED,
    UNIQUES_PITMAN,
    UNIQUES_SNB,
    UNIQUES_ZAYATZ,
)
from anoncore.attacks.region_membership import REGION_BELIEF_LARGEST, REGION_BELIEF_MEAN
from anoncore.attacks.reidentification import (
    JOURNALIST_AT_RISK,
    JOURNALIST_LARGEST,
    JOURNALIST_MEAN,
    MARKETER_AT_RISK,
    MARKETER_LARGEST,
    MARKETER_MEAN,
    PROSECUTOR_AT_RISK,
)
from anoncore.attacks.singling_out import SINGLING_OUT
from anoncore.attacks.special_uniques import SPECIAL_UNIQUES
from anoncore.attacks.strongest import STRONGEST_ON_IDENTITY, STRONGEST_ON_MEMBERSHIP
from anoncore.base.arguments import checked
from anoncore.base.number import Number
from anoncore.measures.criteria import CRITERIA
from anoncore.privacy.levels import LEVELS
from anoncore.utility.homogeneity import CONDITIONAL_ENTROPY, RMSE
from anoncore.utility.learning import CLASSIFICATION
from anoncore.utility.two_way_bound import TWO_WAY_ERROR_BOUND

_OTHERS = (
    *LEVELS.values(),
    FOREGROUND_BREACH,
    FOREGROUND_CONTROL,
    FOREGROUND_FLAGGED,
    FOREGROUND_PROBABILITY,
    FOREGROUND_ERROR,
    FOREGROUND_RANGE,
    DEFINETTI_BREACH,
    DEFINETTI_CONTROL,
    DEFINETTI_EXCESS,
    DEFINETTI_RIGHT,
    REFINEMENT_BREACH,
    REFINEMENT_CONTROL,
    REFINEMENT_EXCESS,
    REFINEMENT_LOCATED,
    REFINEMENT_NARROWED,
    REFINEMENT_RULED_OUT,
    STRONGEST_ON_IDENTITY,
    STRONGEST_ON_MEMBERSHIP,
    PROSECUTOR_AT_RISK,
    JOURNALIST_LARGEST,
    JOURNALIST_MEAN,
    JOURNALIST_AT_RISK,
    MARKETER_LARGEST,
    MARKETER_MEAN,
    MARKETER_AT_RISK,
    POPULATION_UNIQUES,
    UNIQUES_ZAYATZ,
    UNIQUES_PITMAN,
    UNIQUES_SNB,
    UNIQUES_COUNTED,
    UNIQUE_STAYS,
    INDIVIDUAL_RISK_MEAN,
    INDIVIDUAL_RISK_LARGEST,
    EXPECTED_LINKS,
    SPECIAL_UNIQUES,
    *SINGLING_OUT.all,
    *LINKABILITY.all,
    *INFERENCE.all,
    *MEMORIZATION.all,
    MEMORIZED,
    FEW_VALUES,
    JOINT_BREACH,
    JOINT_LARGEST,
    JOINT_TRUTH,
    FAKE_TUPLES,
    REGION_BELIEF_LARGEST,
    REGION_BELIEF_MEAN,
    LIKELIHOOD_LARGEST,
    LIKELIHOOD_MEAN,
    UNMATCHED,
    RIGHT_GUESSES,
    LIFT,
    TRUE_BELIEF,
    STRONGEST,
    EXPOSED,
    DOWNCODED_RIGHT,
    DOWNCODING_LIFT,
    UNDONE,
    CONDITIONAL_ENTROPY,
    RMSE,
    CLASSIFICATION,
    TWO_WAY_ERROR_BOUND,
    CLASS_CHANGES,
)
"""Numbers that a function tells but that are no criterion: they need a target, or one form of releases has them."""

NUMBERS: Mapping[str, Number] = MappingProxyType({one.name: one for one in (*CRITERIA.values(), *_OTHERS)})
"""All numbers by name: the criteria, by which any releases are compared, and what functions tell besides."""

_TITLES: Mapping[str, str] = MappingProxyType(
    {
        "attacks.composition": "Several releases together",
        "attacks.definetti": "deFinetti's attack",
        "attacks.downcoding": "Downcoding",
        "attacks.inference": "Inference",
        "attacks.individual_risk": "Individual risk",
        "attacks.linkability": "Linkability",
        "attacks.memorization": "Memorization",
        "attacks.minimality": "Minimality attack",
        "attacks.population_uniqueness": "Uniqueness in the population",
        "attacks.posterior_emd": "Distance of beliefs",
        "attacks.refinement": "Refinement",
        "attacks.region_membership": "Membership by regions",
        "attacks.reidentification": "Re-identification",
        "attacks.sensitive_posterior": "Beliefs about people",
        "attacks.singling_out": "Singling out",
        "attacks.special_uniques": "Special uniques",
        "attacks.strongest": "Strongest attack",
        "privacy.check": "Violations",
        "privacy.emd": "Earth mover's distance",
        "privacy.guarantees": "Promised and reached",
        "privacy.joins": "Joins of fragments",
        "privacy.pair_levels": "Joins of all pairs of classes",
        "privacy.personal_guarantees": "Promises about people",
        "privacy.profile": "Levels of all groups",
        "privacy.require_safe_joins": "Safe joins or an error",
        "privacy.transport": "Mass that moves",
        "privacy.unsafe_pairs": "Unsafe pairs of classes",
        "privacy.worst_joins": "Classes with the worst joins",
    }
)
"""Titles of measures that tell no number or several, and whose name says little to people who do not program."""


@checked
def title_of(name: str) -> str:
    """Tell how people call a measure.

    Parameters
    ----------
    name : str
        A name of `MEASURES`, such as `privacy.emd`.

    Returns
    -------
    str
        The title of its number where it tells one, else a title of its own, such as `Earth mover's distance`.

    Examples
    --------
    >>> from anoncore.measures import title_of
    >>> title_of("privacy.emd"), title_of("utility.rmse")
    ("Earth mover's distance", 'Root mean squared error')
    """
    titles = [number.title for number in NUMBERS.values() if number.measured_by == name]
    usual = name.partition(".")[2].replace("_", " ").capitalize()
    return titles[0] if len(titles) == 1 else _TITLES.get(name, usual)
