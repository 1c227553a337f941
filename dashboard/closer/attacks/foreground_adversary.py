"""The adversary of the foreground-knowledge attack, as the visitor sets them."""

from __future__ import annotations

from dataclasses import dataclass

from anoncore.attacks.foreground.mining import Unreliable


@dataclass(frozen=True)
class Adversary:
    """What the attack is asked with."""

    attribute: str
    r: float
    epsilon: float | None
    sigma: float
    unreliable: Unreliable

    @property
    def arguments(self) -> tuple[str, float, float | None, float, str]:
        """As `attacks.foreground_knowledge` takes them."""
        return self.attribute, self.r, self.epsilon, self.sigma, self.unreliable
