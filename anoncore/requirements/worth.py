"""From which level on a promise keeps anything at all from an adversary; what does not is never offered to anybody."""

from __future__ import annotations

from math import exp, log

from anoncore.requirements.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    RecursiveDiversity,
)
from anoncore.requirements.k_anonymity import KAnonymity
from anoncore.requirements.presence import DeltaPresence
from anoncore.requirements.requirement import Requirement
from anoncore.requirements.t_closeness import TCloseness
from anoncore.requirements.variance import VarianceDiversity

NEAR_CERTAIN = 0.9
"""Belief from which on an adversary counts as sure of a value.

They are wrong about at most one person of ten: who acts on the belief, such as an insurer or an employer, does so as if
they knew. The baseline is guessing the most frequent value of the table: where guessing is as sure, no release is to
blame.
"""
SURE_L = 1 / NEAR_CERTAIN
"""The l of a bound 1/l that allows such a belief."""
SURE_ENTROPY_L = exp(-NEAR_CERTAIN * log(NEAR_CERTAIN) - (1 - NEAR_CERTAIN) * log(1 - NEAR_CERTAIN))
"""exp(entropy) of two values of which one has that share: a group of this l may make an adversary as sure."""
SURE_C = NEAR_CERTAIN / (1 - NEAR_CERTAIN)
"""The c of recursive (c, 2)-diversity that allows the most frequent value that share."""


def protects(requirement: Requirement) -> bool:
    """Whether a requirement, at its level, keeps anything from an adversary.

    k = 1 leaves everybody alone, a diversity that allows the belief `NEAR_CERTAIN` or more hides no value, distance 1
    is what the most different groups have, and variance 0 is that of equal numbers.
    """
    if isinstance(requirement, KAnonymity):
        return requirement.k > 1
    if isinstance(requirement, DistinctDiversity):
        return requirement.l > 1
    if isinstance(requirement, EntropyDiversity):
        return requirement.l > SURE_ENTROPY_L
    if isinstance(requirement, FrequencyDiversity):
        return requirement.l > SURE_L
    if isinstance(requirement, RecursiveDiversity):
        return requirement.c < SURE_C
    if isinstance(requirement, DeltaPresence):
        return requirement.at_most < 1
    if isinstance(requirement, TCloseness):
        return requirement.t < 1
    return requirement.v > 0 if isinstance(requirement, VarianceDiversity) else True
