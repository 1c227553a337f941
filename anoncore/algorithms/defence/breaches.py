"""Whom an attack gives away, for methods that guard against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from anoncore.attacks.definetti import definetti
from anoncore.attacks.disclosure import attribute_disclosure
from anoncore.attacks.foreground import foreground_knowledge
from anoncore.attacks.foreground.adversary import EPSILONS
from anoncore.attacks.foreground.chosen_epsilon import chosen_epsilon
from anoncore.attacks.foreground.mining import Unreliable
from anoncore.base.progress import Progress, part_of
from anoncore.kernels.arrays import Bools, Floats
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.release.release import Release

Attack = Literal["attribute_disclosure", "definetti", "foreground_knowledge"]
TITLES: Mapping[Attack, str] = MappingProxyType(
    {
        "attribute_disclosure": "the attack on single groups",
        "definetti": "deFinetti's attack",
        "foreground_knowledge": "the attack with foreground knowledge",
    }
)
"""What people call the attacks, in the order in which they are made: those that take longest come last."""
UNRELIABLE: Unreliable = "overall"
SIGMA = 0.9
"""What the adversary assumes who has foreground knowledge."""
SEEDS = range(8)
"""What deFinetti's attack draws with, time after time.

What is believed by chance differs from draw to draw, and the mean is what an adversary believes who knows that.
"""


@dataclass(frozen=True, eq=False)
class Breach:
    """Whom an attack gives away, bool (n_rows,), and which share that is of those whose value needs protection.

    Somebody is given away by a belief above 1 / r in the value that they have.
    """

    attack: Attack
    attribute: str
    given_away: Bools
    share: float

    @classmethod
    def of(
        cls, release: Release, attribute: str, attack: Attack, r: float, epsilon: float, progress: Progress
    ) -> Breach:
        """Attack a release of which every row is another person."""
        own = _own_belief(release, attribute, attack, r, epsilon, progress)
        needs = ~np.isnan(own)
        given_away = np.zeros(len(own), dtype=np.bool_)
        given_away[needs] = lies_above(own[needs], 1 / r, ACCUMULATED)
        return cls(attack, attribute, given_away, float(given_away.sum() / max(needs.sum(), 1)))


def _own_belief(
    release: Release, attribute: str, attack: Attack, r: float, epsilon: float, progress: Progress
) -> Floats:
    """What is believed of everybody's own value, NaN where that needs no protection, float (n_rows,)."""
    if attack == "attribute_disclosure":
        return attribute_disclosure(release, attribute).confidence
    if attack == "definetti":
        total = np.zeros(release.data.n_rows)
        for seed in SEEDS:
            within = part_of(progress, seed / len(SEEDS), (seed + 1) / len(SEEDS))
            total += definetti(release, attribute, r, draws=0, starts=1, seed=seed, progress=within).own_belief
        return total / len(SEEDS)
    found = foreground_knowledge(release, attribute, r, epsilon, SIGMA, UNRELIABLE, draws=0, progress=progress)
    return found.own_probability


def chosen_for(release: Release, attribute: str, r: float, progress: Progress) -> float:
    """The epsilon with which foreground knowledge lies farthest above its control on a release; else the largest."""
    best = chosen_epsilon(
        release, attribute, r, SIGMA, UNRELIABLE, "fixed-point", None, at_least=False, seed=0, progress=progress
    ).best
    return EPSILONS[-1] if best is None else best.epsilon
