"""A number that knows what it means."""

from __future__ import annotations

from typing import Any, Self


class Score(float):
    """The value of a measure: a float that says which measure it is, what it means and what it is to be compared with.

    Parameters
    ----------
    value : float
        The number itself.
    name : str
        Name of the measure in recipes and on the command line.
    title : str
        Name of the measure for people.
    meaning : str
        What the number says, in one sentence for people.
    unit : str
        What the number counts.
    higher_is_better : bool or None
        Its direction for the one who publishes; None for neither.
    bounds : tuple of float or None
        Smallest and largest possible value; None where it is open.
    baseline : float or None
        What guessing gets, or what the original data give, where the measure has one.
    **details
        Attributes of a subclass, such as a breakdown.

    Attributes
    ----------
    name, title, meaning, unit, higher_is_better, bounds, baseline
        As given.

    Examples
    --------
    >>> from anoncore.base import Score
    >>> share = Score(0.25, name="share", title="Share", meaning="A quarter of the people.", bounds=(0.0, 1.0))
    >>> share + 0.5, share.title, share.bounds
    (0.75, 'Share', (0.0, 1.0))
    """

    name: str
    title: str
    unit: str
    higher_is_better: bool | None
    bounds: tuple[float | None, float | None]
    meaning: str
    baseline: float | None

    def __new__(
        cls,
        value: float,
        *,
        name: str,
        title: str,
        meaning: str,
        unit: str = "",
        higher_is_better: bool | None = None,
        bounds: tuple[float | None, float | None] = (None, None),
        baseline: float | None = None,
        **details: Any,
    ) -> Self:
        """Make the number; further keywords are attributes of a subclass, such as a breakdown."""
        score = super().__new__(cls, value)
        score.name, score.title, score.meaning, score.unit = name, title, meaning, unit
        score.higher_is_better, score.bounds, score.baseline = higher_is_better, bounds, baseline
        for key, detail in details.items():
            setattr(score, key, detail)
        return score

    def __getnewargs_ex__(self) -> tuple[tuple[float], dict[str, Any]]:
        """What makes a copy, so that caches and processes can pass the number on."""
        return (float(self),), dict(self.__dict__)
