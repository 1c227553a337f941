"""Whether a method is open to the minimality attack: to readers who know the method and what it was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

QUESTION = "Is it open to readers who know the method?"
"""What the reference asks of every method; `Minimality.text` answers it."""


class Openness(StrEnum):
    """Whether knowing a method tells its readers more about people than what it publishes.

    Attributes
    ----------
    OPEN : str
        `"open"`: how the method groups people depends on who has which sensitive value.
    DEPENDS : str
        `"open with some choices"`: it does so with some requirements or parameters only.
    NOT_OPEN : str
        `"not open"`: it never does.
    """

    OPEN = "open"
    DEPENDS = "open with some choices"
    NOT_OPEN = "not open"


@dataclass(frozen=True)
class Minimality:
    """What a method says of the minimality attack.

    Attributes
    ----------
    openness : Openness
        Whether the method is open to it.
    reason : str
        Why, in whole sentences for people who know neither the code nor the papers.
    """

    openness: Openness
    reason: str

    @property
    def text(self) -> str:
        """The verdict and the reason, as people read them."""
        return f"{self.openness.value.capitalize()}. {self.reason}"
