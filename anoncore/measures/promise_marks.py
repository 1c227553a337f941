"""How each requirement that is asked of everybody fares in one release: whether it is promised, counted or missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, inf, isinf

from anoncore import attacks, privacy
from anoncore.base.errors import AnonymizationError
from anoncore.base.shared_work import Cache, kept_results
from anoncore.kernels.rounding import ACCUMULATED, reaches
from anoncore.privacy.guarantees import judged
from anoncore.release.release import Release
from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    Requirement,
    TCloseness,
)
from anoncore.requirements.requirement import Comparison
from anoncore.table.microdata import Microdata

LEAST_DECIMALS, MOST_DECIMALS = 2, 8
BUCKET = "bucket"
"""What the groups of bucketization and slicing are called, which publish known values beside a group's secrets."""
HOLDING = ("kept", "met", "measured")
"""States of marks that hold."""


@dataclass(frozen=True)
class Mark:
    """How one requirement that everybody is asked for fares in one release.

    `state`: "kept" (promised by the method and seen to hold), "met" (it holds, but the method does not promise it),
    "measured" (it holds, and the release was made elsewhere, so nothing is known to promise it), "missed" or "unknown".
    `reached` is the level of the worst group and `asked` the level that was asked for, as texts. `possible` is a level
    of what is missed that the release does keep, where that would still protect anybody.
    `of_people`: it is about what is believed of each person, whose groups by themselves do not tell it. `attribute` is
    the secret that alone is meant, where one is.
    """

    symbol: str
    state: str
    reached: str
    sentence: str
    asked: str
    of_people: bool = False
    possible: float | None = None
    attribute: str = ""

    @property
    def name(self) -> str:
        """What is asked, shortly: `t`, or `t of 'income'` where it is asked of one secret."""
        return f"{self.symbol} of '{self.attribute}'" if self.attribute else self.symbol


def marks(release: Release, asked: Sequence[Requirement], title: str, cache: Cache | None = None) -> tuple[Mark, ...]:
    """How everything that is asked fares in a release, which sentences call by its title."""
    judge = _Judge(release, title, kept_results(release, cache))
    found = ((judge.mark(requirement), getattr(requirement, "attribute", None)) for requirement in asked)
    return tuple(
        replace(mark, sentence=release.data.in_words(mark.sentence), attribute=attribute or "")
        for mark, attribute in found
    )


def unpromised(
    release: Release, asked: Sequence[Requirement], title: str, cache: Cache | None = None
) -> tuple[Requirement, ...]:
    """What is asked and the method does not promise, as far as the groups of its release tell whether it holds.

    Buckets of k people do not tell that k holds where people are found by what is published of them.
    """
    judge = _Judge(release, title, kept_results(release, cache))
    return tuple(
        one
        for one in asked
        if judge.mark(one).state in ("missed", "met", "measured")
        and judge.personal(one) is None
        and not (judge.found_by_known_values(one) and all(group.holds for group in judge.judged(one)))
    )


def has_buckets(release: Release) -> bool:
    """Whether the groups of a release hide whose secret it is, and not whose row. Of a release that was made elsewhere
    its tables tell: groups that join several of them may be such buckets.
    """
    is_joined = release.algorithm is None and release.is_shared and len(release.fragments) > 1
    return is_joined or release.group_word == BUCKET


def rows_that_fit(release: Release, cache: Cache) -> int:
    """How many rows what is published of the known columns fits at worst, which large groups do not always hide.

    Raises AnonymizationError where nothing that is published is known to others.
    """
    largest = float(cache("attacks.reidentification", attacks.reidentification).prosecutor.largest)
    return floor((1 + ACCUMULATED) / largest)


class _Judge:
    """A release that is held against requirements."""

    def __init__(self, release: Release, title: str, cache: Cache) -> None:
        self.release, self.title, self.cache = release, title, cache

    def judged(self, wanted: Requirement) -> tuple[privacy.Guarantee, ...]:
        """How the release fares with a requirement, for each attribute that it covers.

        What the method promises is judged once for all who ask, everything else once by itself.
        """
        if wanted in self.release.promises:
            found = self.cache("privacy.guarantees", privacy.guarantees)
        else:
            found = self.cache("measures.judged", lambda release, one: judged(release, [one]), wanted)
        return tuple(one for one in found if one.requirement == wanted)

    def mark(self, wanted: Requirement) -> Mark:
        """How it fares, in a mark."""
        symbol, asked = wanted.parameter, _level(wanted.threshold, decimals=_decimals(wanted.threshold))
        found_by = self.found_by_known_values(wanted)
        if found_by is not None:
            return found_by
        try:
            found = self.judged(wanted)
        except AnonymizationError as error:
            return Mark(symbol, "unknown", "", str(error), asked)
        if not found:
            return Mark(symbol, "unknown", "", "This release has no group to judge it on.", asked)
        worst = next((one for one in found if not one.holds), found[0])
        promised = is_promised(wanted, self.release.promises, self.release.data)
        personal = None if promised else self.personal(wanted)
        if personal is not None:
            return personal
        is_read = self.release.algorithm is None
        state = "missed" if not worst.holds else "kept" if promised else "measured" if is_read else "met"
        said = worst.sentence if promised or is_read else f"{self.title} does not promise this. {worst.sentence}"
        texts = _texts(worst.reached, wanted.threshold, worst.holds, isinstance(wanted, TCloseness))
        possible = None if worst.holds else _possible(wanted, worst.reached)
        return Mark(symbol, state, texts[0], said, texts[1], possible=possible)

    def found_by_known_values(self, wanted: Requirement) -> Mark | None:
        """The mark of k where buckets hide whose secret it is, but what others know of people is published exactly.

        Then people are found by it however large their buckets are, so the size of a bucket is not the k that was
        asked.
        """
        if not isinstance(wanted, KAnonymity) or not has_buckets(self.release):
            return None
        reached = rows_that_fit(self.release, self.cache)
        if reaches(reached, wanted.threshold):
            return None
        sentence = (
            f"{self.title} publishes what others know as it is: at worst it fits {reached:,} row"
            f"{'' if reached == 1 else 's'}, and k-anonymity asks for {wanted.k:,}. The groups hide whose secret it "
            "is, not whose row."
        )
        possible = _possible(wanted, reached)
        return Mark(wanted.parameter, "missed", _level(reached), sentence, _level(wanted.threshold), possible=possible)

    def personal(self, wanted: Requirement) -> Mark | None:
        """The mark of a method that bounds what is believed of every person, where that is as much as was wanted.

        An adversary of slicing puts several buckets together, so no single bucket tells what they believe.
        """
        if not isinstance(wanted, DistinctDiversity | FrequencyDiversity | EntropyDiversity):
            return None
        found = self.cache("privacy.personal_guarantees", privacy.personal_guarantees)
        covered = [wanted.attribute] if getattr(wanted, "attribute", None) else list(self.release.data.sensitive)
        about = [one for one in found if one.attribute in covered]
        if len(about) < len(covered) or not about:
            return None
        worst = min(about, key=lambda one: one.reached)
        if not worst.holds or not reaches(worst.reached, wanted.threshold, ACCUMULATED):
            return None
        state = "kept" if worst.asked >= wanted.threshold else "met"
        reached, asked = _texts(worst.reached, wanted.threshold, worst.holds)
        return Mark(wanted.parameter, state, reached, worst.sentence, asked, of_people=True)


def _possible(wanted: Requirement, reached: float) -> float | None:
    """The level nearest to what a release reaches that it keeps, in two decimals; None where it protects nobody, or is
    none of those that everybody is asked for.
    """
    unit = 10**LEAST_DECIMALS
    if isinstance(wanted, KAnonymity | FrequencyDiversity):
        level = floor(reached * unit * (1 + ACCUMULATED)) / unit
        return level if level > 1 else None
    most = 1.0 if isinstance(wanted, TCloseness) else inf
    if not isinstance(wanted, TCloseness | RecursiveDiversity) or reached >= most:
        return None
    return float(upwards(reached))


def _texts(level: float, asked: float, holds: bool, most: bool = False) -> tuple[str, str]:
    """A level that a release reaches, and the one that is asked for, as texts.

    What is asked is said as it is. The level has as many decimals, and more where these would say that it lies on the
    other side of what is asked, or is what is asked though the release misses that.
    """
    least = _decimals(asked)

    def misleads(text: str) -> bool:
        said = float(text.replace(",", "")) - asked if text else level - asked
        is_equal = abs(said) < ACCUMULATED and abs(level - asked) >= ACCUMULATED
        return said * (level - asked) < -(ACCUMULATED**2) or (is_equal and not holds)

    tried = [_level(level, most, decimals) for decimals in range(least, MOST_DECIMALS + 1)]
    return next((text for text in tried if not misleads(text)), tried[-1]), _level(asked, decimals=least)


def distance_text(distance: float, asked: float | None) -> str:
    """A distance from the table in the digits in which the mark of the distance that is asked for has it."""
    if asked is None:
        return upwards(distance)
    return _texts(distance, asked, bool(reaches(asked, distance, ACCUMULATED)), most=True)[0]


def _decimals(value: float) -> int:
    """How many decimals say a number as it is, two at least."""
    fitting = (n for n in range(LEAST_DECIMALS, MOST_DECIMALS) if abs(round(value, n) - value) < ACCUMULATED)
    return MOST_DECIMALS if isinf(value) else next(fitting, MOST_DECIMALS)


def _level(value: float, most: bool = False, decimals: int = LEAST_DECIMALS) -> str:
    """A level in as few digits as it needs; empty where it is infinite, as no number is enough then.

    `most`: it is the most that there is, so that it is never rounded down.
    """
    if isinf(value):
        return ""
    nearest = round(value)
    if abs(value - nearest) < ACCUMULATED * max(1, abs(nearest)):
        return f"{nearest:,}"
    return upwards(value, decimals) if most else f"{value:.{decimals}f}"


def upwards(value: float, decimals: int = LEAST_DECIMALS) -> str:
    """A number with so many decimals that is no smaller, for what is said to be the most."""
    unit = 10**decimals
    return f"{ceil(value * unit - ACCUMULATED) / unit:.{decimals}f}"


def is_promised(wanted: Requirement, promises: Sequence[Requirement], data: Microdata) -> bool:
    """Whether whoever keeps the promises keeps this requirement as well, on every attribute that it covers."""
    if wanted.attribute_free:
        return any(_implies(promise, wanted) for promise in promises)
    named = getattr(wanted, "attribute", None)
    covered = list(data.sensitive) if named is None else [named]
    return all(
        any(getattr(promise, "attribute", None) in (None, name) and _implies(promise, wanted) for promise in promises)
        for name in covered
    )


def _implies(promise: Requirement, wanted: Requirement) -> bool:
    """Whether every group that keeps the promise keeps what is wanted of the same attribute."""
    if not wanted.counts_alone:
        return promise == wanted
    if isinstance(promise, FrequencyDiversity) and isinstance(wanted, DistinctDiversity | EntropyDiversity):
        # No value has more than 1/l of the group: at least l values occur, and their entropy is at least log l.
        return promise.l >= wanted.l
    if isinstance(promise, EntropyDiversity) and isinstance(wanted, DistinctDiversity):
        return promise.l >= wanted.l
    if type(promise) is not type(wanted):
        return False
    if isinstance(promise, TCloseness) and isinstance(wanted, TCloseness):
        # No ground distance is larger than the one by which any two values are 1 apart.
        return promise.ground in ("equal", wanted.ground) and promise.t <= wanted.t
    if isinstance(promise, RecursiveDiversity) and isinstance(wanted, RecursiveDiversity) and promise.l < wanted.l:
        return False
    if wanted.comparison is Comparison.AT_LEAST:
        return promise.threshold >= wanted.threshold
    return promise.threshold <= wanted.threshold
