"""A number that knows what it means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isnan
from typing import Any, Self

from anoncore.base.number import Bounds, Number
from anoncore.base.showing import Lines, Result

COMMON = ("entry", "baseline", "bounds", "unit", "words")
"""What every score has; all else is a detail of its own."""


class Score(Result, float):
    """The value of a measure: a float that says which measure it is, what it means and what it is to be compared with.

    Parameters
    ----------
    value : float
        The number itself.
    entry : Number
        What the number is, of any release.
    baseline : float or None
        What guessing gets, or what the original data give, where the measure has one.
    bounds : tuple of float or None
        Smallest and largest value possible for this release; by default those of the entry. None where it is open.
    unit : str
        What the number counts; by default the unit of the entry.
    words : mapping of str to str
        What stands in the meaning for this release, such as the name of the attribute.
    **details
        Attributes of a subclass, such as a breakdown.

    Attributes
    ----------
    entry, baseline, bounds, unit, words
        As given.

    Examples
    --------
    >>> from anoncore.base import Number, Score
    >>> share = Number(
    ...     name="known-share",
    ...     title="Known share",
    ...     template="Share of the people whose value of {attribute} is known.",
    ...     family="adversary",
    ...     source="Nobody, 2000",
    ...     bounds=(0.0, 1.0),
    ... )
    >>> score = Score(0.25, share, words={"attribute": "'disease'"})
    >>> score + 0.5, score.title, score.bounds
    (0.75, 'Known share', (0.0, 1.0))
    >>> score.meaning
    "Share of the people whose value of 'disease' is known."
    """

    entry: Number
    baseline: float | None
    bounds: Bounds
    unit: str
    words: Mapping[str, str]

    def __new__(
        cls,
        value: float,
        entry: Number,
        *,
        baseline: float | None = None,
        bounds: Bounds | None = None,
        unit: str | None = None,
        words: Mapping[str, str] | None = None,
        **details: Any,
    ) -> Self:
        """Make the score; further keywords are attributes of a subclass, such as a breakdown."""
        score = super().__new__(cls, value)
        score.entry, score.baseline = entry, baseline
        score.bounds = entry.bounds if bounds is None else bounds
        score.unit = entry.unit if unit is None else unit
        score.words = words or {}
        for key, detail in details.items():
            setattr(score, key, detail)
        return score

    # It stands in lists, texts and sums as the number that it is.
    __repr__ = float.__repr__

    def _headline(self) -> str:
        return f"{self.title}: {self._inline()}"

    def _inline(self) -> str:
        text = "no number" if isnan(self) else self.entry.text(self)
        if self.baseline is None or isnan(self.baseline):
            return text
        return f"{text} (baseline {self.entry.text(self.baseline)})"

    def _details(self) -> Iterator[tuple[str, Any]]:
        yield from ((name, value) for name, value in vars(self).items() if name not in COMMON)

    def _lines(self) -> Lines:
        return [("meaning", self.meaning), *super()._lines()]

    def _numbers(self) -> Iterator[tuple[str, float, float | None, str]]:
        yield self.name, float(self), self.baseline, self.unit
        yield from super()._numbers()

    def __getnewargs__(self) -> tuple[float, Number]:  # type: ignore[override]
        """What makes a copy, so that caches and processes can pass it on; the attributes follow as its state."""
        return float(self), self.entry

    @property
    def meaning(self) -> str:
        """What the number says, in one sentence for people."""
        return self.entry.meaning_of(self.words)

    @property
    def name(self) -> str:
        """The name of the number, such as `information-loss`."""
        return self.entry.name

    @property
    def title(self) -> str:
        """The name of the number for people."""
        return self.entry.title

    @property
    def label(self) -> str:
        """The title, or a shorter one for narrow columns."""
        return self.entry.label

    @property
    def higher_is_better(self) -> bool | None:
        """The direction for the one who publishes; None where neither is better."""
        return self.entry.higher_is_better
