"""A number that is known from a part of the work only, with the interval in which the exact number lies."""

from __future__ import annotations

from dataclasses import dataclass

from anoncore.base.showing import Result


@dataclass(frozen=True, kw_only=True)
class Estimate(Result):
    """What a measure will say, as far as a part of its work tells.

    Attributes
    ----------
    value : float
        The best guess at what the measure says.
    low, high : float
        The interval that holds what the measure says, in `confidence` of all cases; one point where all was done.
    confidence : float
        Share of the cases in which the interval holds the exact number.
    how : str
        What was looked at, and how much of it, in a few words.

    Examples
    --------
    >>> from anoncore.base import Estimate
    >>> found = Estimate(value=0.25, low=0.2, high=0.3, confidence=0.95, how="from 3 of 10 folds")
    >>> found.is_exact, round(found.margin, 3)
    (False, 0.05)
    """

    value: float
    low: float
    high: float
    confidence: float
    how: str

    @property
    def is_exact(self) -> bool:
        """Whether all the work was done, so that nothing is left to guess."""
        return self.low == self.high

    @property
    def margin(self) -> float:
        """How far the exact number may lie from the value, on the side where that is more."""
        return max(self.high - self.value, self.value - self.low)
