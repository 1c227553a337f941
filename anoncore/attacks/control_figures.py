"""How often an attack succeeds on people who are in a release and on people who are not, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan, sqrt
from typing import Any

import numpy as np
import pandas as pd

from anoncore.base.errors import ParameterError
from anoncore.base.number import ALSO_SYNTHETIC, RISK, Number
from anoncore.base.score import Score
from anoncore.base.showing import Result
from anoncore.base.texts import share_text
from anoncore.kernels.arrays import record

GIOMI = "Giomi et al., PETS 2023"
CONFIDENCE = 0.95
Interval = tuple[float, float]


@dataclass(frozen=True)
class AttackNumbers:
    """The numbers that one of the attacks tells."""

    members: Number
    control: Number
    difference: Number
    precision: Number
    recall: Number

    @property
    def all(self) -> tuple[Number, ...]:
        """All five."""
        return self.members, self.control, self.difference, self.precision, self.recall

    @classmethod
    def of(cls, name: str, title: str, success: str, precision: str, recall: str, guess: str) -> AttackNumbers:
        """Entries for an attack: its name and title, and what its success, precision, recall and guess are."""
        members = replace(
            RISK,
            name=f"{name}-members",
            title=f"{title}: in the table",
            template=f"{success}, of people who are in the table.",
            source=GIOMI,
            unit="share of guesses",
            baseline=guess,
            release_forms=ALSO_SYNTHETIC,
            is_slow=True,
        )
        control = replace(
            members,
            name=f"{name}-control",
            title=f"{title}: not in the table",
            template=f"{success}, of people who are not in the table.",
        )
        difference = replace(
            members,
            name=f"{name}-difference",
            title=f"{title}: difference",
            template=f"{success}: how much more often of people in the table than of people who are not in it.",
            bounds=(-1.0, 1.0),
            baseline="",
        )
        return cls(
            members=members,
            control=control,
            difference=difference,
            precision=replace(
                members, name=f"{name}-precision", title=f"{title}: precision", template=precision, baseline=""
            ),
            recall=replace(members, name=f"{name}-recall", title=f"{title}: recall", template=recall, baseline=""),
        )


@record
class Tried:
    """What one adversary got: the share of right guesses and the number of all, of members and of control.

    `precision` and `recall` are of members; `control_right` is NaN where there is no control part. `control_interval`
    gives its interval, so many deviations wide, where it was estimated; else it is that of a share that was counted.
    """

    adversary: str
    right: float
    made: int
    control_right: float
    control_made: int
    precision: float
    recall: float
    control_interval: Callable[[float], Interval] | None = None

    @classmethod
    def of(cls, adversary: str, right: Sequence[float], made: Sequence[int], precision: float, recall: float) -> Tried:
        """What an adversary got of members and, where there is a control part, of that."""
        return cls(adversary, right[0], made[0], (*right, nan)[1], (*made, 0)[1], precision, recall)


@record
class Figures(Result):
    """What the best of several adversaries gets, and all of them beside each other.

    Attributes
    ----------
    members : Score
        Share of right guesses about people who are in the table, beside what guessing without the release gets.
    control : Score
        The same about people who are not in it; NaN where there is no control part.
    difference : Score
        How much more often guesses are right about people in the table: what only the release tells of them. NaN where
        there is no control part.
    precision, recall : Score
        How many of the guesses are right that the adversary makes when they may abstain, and how many of the people are
        rightly guessed then.
    members_interval, control_interval, difference_interval : tuple of float
        95% intervals, of all adversaries at once: that several were tried is allowed for.
    adversary : str
        The best adversary: the one with the largest lower end of the interval of the difference, without a control part
        of that of the success.
    adversaries : DataFrame
        A line per adversary, with the figures above and the ends of their intervals.
    beats_guessing : bool
        Whether the success is surely above that of guessing.
    notes : tuple of str
        What to know of the numbers, in sentences.
    """

    members: Score
    control: Score
    difference: Score
    precision: Score
    recall: Score
    members_interval: Interval
    control_interval: Interval
    difference_interval: Interval
    adversary: str
    adversaries: pd.DataFrame
    beats_guessing: bool
    notes: tuple[str, ...]


def checked_queries(n_queries: int) -> int:
    """The number of people who are asked for. Raises ParameterError for less than one."""
    if n_queries < 1:
        raise ParameterError(f"At least 1 query is needed, not {n_queries}; 2,000 give intervals of about ±2 points.")
    return int(n_queries)


def figures(
    numbers: AttackNumbers, tried: Sequence[Tried], guess: float, words: dict[str, str], notes: Sequence[str]
) -> Figures:
    """The figures of the best adversary and of all."""
    from scipy.special import ndtri

    # Bonferroni: all intervals hold at once with the confidence, so the best one may be chosen by them.
    z = float(ndtri(1 - (1 - CONFIDENCE) / 2 / len(tried)))
    lines: list[dict[str, Any]] = []
    for one in tried:
        members = wilson(one.right, one.made, z)
        estimated = one.control_interval
        control = estimated(z) if estimated else wilson(one.control_right, one.control_made, z)
        difference = newcombe(one.right, members, one.control_right, control)
        lines.append(
            {
                "adversary": one.adversary,
                "members": one.right,
                "members_low": members[0],
                "members_high": members[1],
                "control": one.control_right,
                "control_low": control[0],
                "control_high": control[1],
                "difference": one.right - one.control_right,
                "difference_low": difference[0],
                "difference_high": difference[1],
                "precision": one.precision,
                "recall": one.recall,
                "guesses": one.made,
                "control_guesses": one.control_made,
            }
        )
    table = pd.DataFrame(lines).set_index("adversary")
    has_control = any(one.control_made for one in tried)
    best = str((table["difference_low"] if has_control else table["members_low"]).fillna(-np.inf).idxmax())
    line: dict[str, float] = next(one for one in lines if one["adversary"] == best)

    def score(number: Number, value: float, baseline: float | None = None) -> Score:
        return Score(float(value), number, baseline=baseline, words=words)

    def ends(name: str) -> Interval:
        return line[f"{name}_low"], line[f"{name}_high"]

    beats = bool(line["members_low"] > guess)
    return Figures(
        members=score(numbers.members, line["members"], guess),
        control=score(numbers.control, line["control"], guess),
        difference=score(numbers.difference, line["difference"]),
        precision=score(numbers.precision, line["precision"]),
        recall=score(numbers.recall, line["recall"]),
        members_interval=ends("members"),
        control_interval=ends("control"),
        difference_interval=ends("difference"),
        adversary=best,
        adversaries=table,
        beats_guessing=beats,
        notes=(*_warnings(line, guess, beats, has_control), *notes),
    )


def _warnings(line: Mapping[str, float], guess: float, beats: bool, has_control: bool) -> list[str]:
    found = []
    if not beats:
        found.append(
            f"No attack surely beats guessing, which is right in {share_text(guess)}: either the release gives nothing "
            "of this kind away, or these adversaries are too weak to find it. That is no proof of safety."
        )
    if not has_control:
        found.append(
            "Without a control part it is not known how much of the success is knowledge about people in general: give "
            "people who are not in the release, such as the second part of data.split(control=0.2)."
        )
    elif line["control"] >= 0.99:
        found.append(
            "The attack nearly always succeeds on people who are not in the table too, so a difference could not show."
        )
    return found


def wilson(share: float, number: int, z: float) -> Interval:
    """Wilson's interval of a share of so many cases, `z` deviations wide; NaN where there is no case."""
    if not number or np.isnan(share):
        return nan, nan
    middle = (share + z * z / (2 * number)) / (1 + z * z / number)
    width = z / (1 + z * z / number) * sqrt(share * (1 - share) / number + z * z / (4 * number * number))
    return max(middle - width, 0.0), min(middle + width, 1.0)


def newcombe(share: float, ends: Interval, other: float, other_ends: Interval) -> Interval:
    """Newcombe's interval of the difference of two shares by the intervals of each (1998, method 10)."""
    low = share - other - sqrt((share - ends[0]) ** 2 + (other_ends[1] - other) ** 2)
    high = share - other + sqrt((ends[1] - share) ** 2 + (other - other_ends[0]) ** 2)
    return low, high
