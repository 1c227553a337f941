"""The numbers by which any releases stand on one scale: what they protect, what an adversary gets, what they cost."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from anoncore import attacks, privacy, utility
from anoncore.base.errors import AnonymizationError, DataError, ParameterError, ReleaseError
from anoncore.base.texts import listing
from anoncore.privacy import Profile
from anoncore.release.release import Release
from anoncore.table.domain import Kind

Family = Literal["protection", "adversary", "cost"]
Form = Literal["share", "count", "number"]
Cache = Callable[..., Any]
"""`cache(name, function, *arguments)` gives `function(release, *arguments)`, so that one result serves many numbers."""
FAMILIES: Mapping[Family, str] = MappingProxyType(
    {"protection": "What it protects", "adversary": "What an adversary gets", "cost": "What it costs"}
)
BREACH_R = 2.0


@dataclass(frozen=True, eq=False)
class Criterion:
    """One number about a release.

    `family` says what it is about, `form` how it is read (a share of 1, a count, a plain number), `higher_is_better`
    its direction for the one who publishes, `is_slow` whether it may take seconds on a large table, and `of_attribute`
    whether it is about one sensitive attribute.
    """

    name: str
    title: str
    family: Family
    form: Form
    higher_is_better: bool
    meaning: str
    source: str
    function: Callable[[Release, str | None, Cache], float]
    of_attribute: bool = False
    is_slow: bool = False

    def evaluate(self, release: Release, attribute: str | None = None, cache: Cache | None = None) -> float:
        """The number of a release; `attribute` is the sensitive attribute that is looked at (default: the first).

        `cache` may keep what several numbers are read from. Raises ReleaseError, DataError or ParameterError, with the
        reason, where the release has no such number.
        """
        if self.of_attribute and attribute is None:
            attribute = release.data.require_sensitive()[0]

        def direct(_name: str, function: Callable[..., Any], *arguments: Hashable) -> Any:
            return function(release, *arguments)

        found = float(self.function(release, attribute, direct if cache is None else cache))
        if np.isnan(found):
            raise DataError(f"{self.title} is not defined for this release.")
        return found

    def better(self, one: float, other: float) -> bool:
        """Whether `one` is better than `other` for the publisher."""
        return one > other if self.higher_is_better else one < other

    def text(self, value: float) -> str:
        """The number as people read it."""
        if self.form == "share":
            return f"{value:.1%}"
        return f"{value:,.0f}" if self.form == "count" else f"{value:,.3f}"


def evaluate(
    release: Release, names: Sequence[str] | None = None, attribute: str | None = None
) -> dict[str, float | AnonymizationError]:
    """Numbers of a release by name (default: all); where one does not exist, the error that says why.

    Raises ParameterError for a name that is no criterion.
    """
    kept: dict[tuple[Hashable, ...], Any] = {}

    def cache(name: str, function: Callable[..., Any], *arguments: Hashable) -> Any:
        key = (name, *arguments)
        if key not in kept:
            kept[key] = function(release, *arguments)
        return kept[key]

    found: dict[str, float | AnonymizationError] = {}
    for one in chosen(names):
        try:
            found[one.name] = one.evaluate(release, attribute, cache)
        except AnonymizationError as error:
            found[one.name] = error
    return found


def chosen(names: Sequence[str] | None = None) -> tuple[Criterion, ...]:
    """The criteria of these names, in this order. Raises ParameterError for a name that is none."""
    wanted = list(CRITERIA) if names is None else list(names)
    unknown = [name for name in wanted if name not in CRITERIA]
    if unknown:
        raise ParameterError(f"There is no criterion {listing(unknown)}; there is {listing(list(CRITERIA), 40)}.")
    return tuple(CRITERIA[name] for name in wanted)


def usual_distance(release: Release, attribute: str) -> str:
    """The ground distance that fits an attribute: ordered for numbers and ordinal values, else equal."""
    return "equal" if release.data.domain[attribute].kind is Kind.NOMINAL else "ordered"


def _profile(cache: Cache) -> Profile:
    found: Profile = cache("privacy.profile", privacy.profile)
    return found


def _level(name: str) -> Callable[[Release, str | None, Cache], float]:
    return lambda release, attribute, cache: _profile(cache).score(name, attribute)


def _k(_release: Release, _attribute: str | None, cache: Cache) -> float:
    return _profile(cache).k


def _t(release: Release, attribute: str | None, cache: Cache) -> float:
    return _profile(cache).score(f"t-{usual_distance(release, str(attribute))}", attribute)


def _belief(release: Release, attribute: str | None, cache: Cache) -> float:
    return float(cache("attacks.attribute_disclosure", attacks.attribute_disclosure, attribute).largest)


def _truth(release: Release, attribute: str | None, cache: Cache) -> float:
    return float(cache("attacks.attribute_disclosure", attacks.attribute_disclosure, attribute).truth)


def _breached(release: Release, attribute: str | None, cache: Cache) -> float:
    disclosure = cache("attacks.attribute_disclosure", attacks.attribute_disclosure, attribute)
    return float(disclosure.breached(BREACH_R).mean())


def _foreground(release: Release, attribute: str | None, cache: Cache) -> float:
    _ = release.partition
    return float(cache("attacks.foreground_knowledge", attacks.foreground_knowledge, attribute, BREACH_R).recall)


def _found(part: str) -> Callable[[Release, str | None, Cache], float]:
    def figure(_release: Release, _attribute: str | None, cache: Cache) -> float:
        return float(getattr(cache("attacks.reidentification", attacks.reidentification).prosecutor, part))

    return figure


def _members(release: Release, _attribute: str | None, cache: Cache) -> float:
    several = release.is_shared and len(release.fragments) > 1
    found = cache("attacks.membership", attacks.membership) if several else None
    if not isinstance(found, attacks.Membership):  # fragments of their own may happen to have the same classes
        raise ReleaseError("Fake tuples exist only where columns are permuted against each other inside a bucket.")
    return float(found.belief)


def _measure(name: str, function: Callable[..., Any], *arguments: Hashable) -> Callable[..., float]:
    return lambda _release, _attribute, cache: float(cache(name, function, *arguments))


def _average_size(_release: Release, _attribute: str | None, cache: Cache) -> float:
    return float(cache("utility.average_group_size", utility.average_group_size))


def _queries(_release: Release, _attribute: str | None, cache: Cache) -> float:
    return float(cache("utility.query_error", utility.query_error, 10_000).median)


_ALL = (
    Criterion(
        "k",
        "Smallest group",
        "protection",
        "count",
        True,
        "Rows of the smallest group: every person hides among at least so many.",
        "Samarati and Sweeney, 1998",
        _k,
    ),
    Criterion(
        "distinct-l",
        "Different values",
        "protection",
        "count",
        True,
        "Fewest different sensitive values in any group.",
        "Machanavajjhala et al., ICDE 2006",
        _level("distinct-l"),
        of_attribute=True,
    ),
    Criterion(
        "max-share",
        "Top share",
        "protection",
        "share",
        False,
        "Largest share that one sensitive value has in any group.",
        "Wong et al., KDD 2006",
        _level("max-share"),
        of_attribute=True,
    ),
    Criterion(
        "t",
        "Distance (t)",
        "protection",
        "number",
        False,
        "Largest earth mover's distance of any group from the table: ordered for numbers, equal for categories.",
        "Li, Li and Venkatasubramanian, ICDE 2007",
        _t,
        of_attribute=True,
    ),
    Criterion(
        "largest-belief",
        "Largest belief",
        "adversary",
        "share",
        False,
        "How sure an adversary who knows the quasi-identifiers is at most of anyone's sensitive value.",
        "Li et al., Slicing, 2009, section 4",
        _belief,
        of_attribute=True,
    ),
    Criterion(
        "belief-in-truth",
        "Belief in the truth",
        "adversary",
        "share",
        False,
        "Probability that this adversary gives to people's true value, on average.",
        "Li et al., Slicing, 2009, section 4",
        _truth,
        of_attribute=True,
    ),
    Criterion(
        "believed-above-half",
        "Believed above 1/2",
        "adversary",
        "share",
        False,
        "Share of people of whom this adversary believes one value with more than one half.",
        "Li et al., Slicing, 2009, section 4",
        _breached,
        of_attribute=True,
    ),
    Criterion(
        "foreground-breach",
        "Foreground breach",
        "adversary",
        "share",
        False,
        "Share of sensitive people whose value the foreground-knowledge attack believes with more than one half.",
        "Wong et al., 2009",
        _foreground,
        of_attribute=True,
        is_slow=True,
    ),
    Criterion(
        "reidentified-mean",
        "Records found",
        "adversary",
        "share",
        False,
        "Share of the people looked for whose record is found by their quasi-identifiers.",
        "El Emam, 2013",
        _found("mean"),
    ),
    Criterion(
        "reidentified-largest",
        "Most findable person",
        "adversary",
        "share",
        False,
        "Probability with which the person at most risk is found.",
        "El Emam, 2013",
        _found("largest"),
    ),
    Criterion(
        "membership-belief",
        "Members recognized",
        "adversary",
        "share",
        False,
        "Share of original tuples among all that match a bucket: how sure a match makes of membership.",
        "Li et al., Slicing, 2009, section 5",
        _members,
        is_slow=True,
    ),
    Criterion(
        "information-loss",
        "Information loss",
        "cost",
        "share",
        False,
        "Share of its domain that a quasi-identifier's cell covers, on average.",
        "Xu et al., KDD 2006",
        _measure("utility.information_loss", utility.information_loss),
    ),
    Criterion(
        "query-error",
        "Query error",
        "cost",
        "share",
        False,
        "Median relative error of 10,000 random counting queries.",
        "Xiao and Tao, VLDB 2006",
        _queries,
        is_slow=True,
    ),
    Criterion(
        "association-error",
        "Association error",
        "cost",
        "number",
        False,
        "Mean change of the association (phi squared) of two attributes.",
        "Cramer, 1946",
        _measure("utility.association_error", utility.association_error),
        is_slow=True,
    ),
    Criterion(
        "average-group-size",
        "Average group",
        "cost",
        "number",
        False,
        "Rows of a group on average.",
        "LeFevre et al., ICDE 2006",
        _average_size,
    ),
    Criterion(
        "discernibility",
        "Discernibility",
        "cost",
        "count",
        False,
        "Sum of squared group sizes: rows that cannot be told apart, counted per row.",
        "Bayardo and Agrawal, ICDE 2005",
        _measure("utility.discernibility", utility.discernibility),
    ),
)
CRITERIA: Mapping[str, Criterion] = MappingProxyType({one.name: one for one in _ALL})
"""All criteria by name, in the order in which they are shown."""
