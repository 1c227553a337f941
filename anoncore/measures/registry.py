"""Every number that is told of a release, by name, with all that is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from anoncore.algorithms.vertical.changes import CLASS_CHANGES
from anoncore.attacks.foreground.attack import (
    FOREGROUND_ERROR,
    FOREGROUND_FLAGGED,
    FOREGROUND_PROBABILITY,
    FOREGROUND_RANGE,
)
from anoncore.attacks.join_likelihood import LIKELIHOOD_LARGEST, LIKELIHOOD_MEAN, UNMATCHED
from anoncore.attacks.membership import FAKE_TUPLES
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
from anoncore.base.number import Number
from anoncore.measures.criteria import CRITERIA
from anoncore.privacy.levels import LEVELS
from anoncore.utility.homogeneity import CONDITIONAL_ENTROPY, RMSE
from anoncore.utility.learning import CLASSIFICATION

_OTHERS = (
    *LEVELS.values(),
    FOREGROUND_FLAGGED,
    FOREGROUND_PROBABILITY,
    FOREGROUND_ERROR,
    FOREGROUND_RANGE,
    PROSECUTOR_AT_RISK,
    JOURNALIST_LARGEST,
    JOURNALIST_MEAN,
    JOURNALIST_AT_RISK,
    MARKETER_LARGEST,
    MARKETER_MEAN,
    MARKETER_AT_RISK,
    FAKE_TUPLES,
    REGION_BELIEF_LARGEST,
    REGION_BELIEF_MEAN,
    LIKELIHOOD_LARGEST,
    LIKELIHOOD_MEAN,
    UNMATCHED,
    CONDITIONAL_ENTROPY,
    RMSE,
    CLASSIFICATION,
    CLASS_CHANGES,
)
"""Numbers that a function tells but that are no criterion: they need a target, or one form of releases has them."""

NUMBERS: Mapping[str, Number] = MappingProxyType({one.name: one for one in (*CRITERIA.values(), *_OTHERS)})
"""All numbers by name: the criteria, by which any releases are compared, and what functions tell besides."""
