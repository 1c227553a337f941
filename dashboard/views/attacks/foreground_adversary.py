"""The adversary of the foreground-knowledge attack, as the visitor sets them."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from anoncore.attacks.foreground.mining import Unreliable


@dataclass(frozen=True)
class Adversary:
    """What the attack is asked with."""

    attribute: str
    r: float
    epsilon: float
    sigma: float
    unreliable: Unreliable

    @property
    def arguments(self) -> tuple[str, float, float, float, str]:
        """As `attacks.foreground_knowledge` takes them."""
        return self.attribute, self.r, self.epsilon, self.sigma, self.unreliable

    @property
    def minimum_rows(self) -> float:
        """J: rows that a signature needs to be relied upon."""
        return least_rows(self.epsilon, self.sigma)


def least_rows(epsilon: float, sigma: float) -> float:
    """J = ln(2 / sigma) / (2 epsilon^2)."""
    return log(2 / sigma) / (2 * epsilon**2)
