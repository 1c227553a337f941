"""A number that knows what it means."""

from __future__ import annotations

from typing import Any, Self


class Score(float):
    """The value of a measure, usable as a float.

    `name` and `title` say which measure it is, `unit` in what it counts, `higher_is_better` its direction for the one
    who publishes (None: neither), `bounds` the smallest and largest possible value (None: open), `meaning` one sentence
    for people, `baseline` what guessing gets or what the original data give, where the measure has one.
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
