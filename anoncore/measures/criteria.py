"""The numbers by which any releases stand on one scale: what they protect, what an adversary gets, what they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import MappingProxyType

import numpy as np

from anoncore import attacks, privacy
from anoncore.attacks.foreground.attack import TOO_SMALL
from anoncore.attacks.strongest import ON_ATTRIBUTES
from anoncore.base.arguments import checked
from anoncore.base.errors import AnonymizationError, DataError, ParameterError, ReleaseError
from anoncore.base.number import BUCKETS, REGISTERED, Family, Number
from anoncore.base.score import Score
from anoncore.base.shared_work import Cache, kept_results
from anoncore.base.texts import no_such
from anoncore.measures.evaluation import MEASURES, PACKAGES, View
from anoncore.release.form import form_of
from anoncore.release.release import Release

Reading = Callable[[Number, Release, str | None, Cache], float]
"""`reading(number, release, attribute, cache)` gives the number of a release."""
FAMILIES: Mapping[Family, str] = MappingProxyType(
    {"protection": "What it protects", "adversary": "What an adversary gets", "cost": "What it costs"}
)
"""What the families of numbers tell, in the order in which they are shown."""
BREACH_R = 2.0
N_QUERIES = 10_000


def value_of(release: Release, name: str, attribute: str | None = None, cache: Cache | None = None) -> float:
    """Measure a release by one of the numbers on which any releases can be compared.

    Parameters
    ----------
    release : Release
        What is measured.
    name : str
        A name of `CRITERIA`.
    attribute : str, optional
        The sensitive attribute that is looked at, where the number is about one; by default the first.
    cache : callable, optional
        What keeps results of the release, as `evaluate` takes it.

    Returns
    -------
    float
        The number.

    Raises
    ------
    ParameterError
        If the name is none of a criterion.
    AnonymizationError
        Why the release has no such number: a ReleaseError, DataError or ParameterError.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 21, 60, 61], "disease": ["flu", "cold", "flu", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> from anoncore.measures import value_of
    >>> value_of(Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data), "k")
    2.0
    """
    value = evaluate(release, [name], attribute, cache)[name]
    if isinstance(value, AnonymizationError):
        raise value
    return value


def scores_in(result: object) -> Iterator[Score]:
    """Every score in the result of a measure: itself, those that it holds, and those of what it holds."""
    if isinstance(result, Score):
        yield result
        yield from scores_in(tuple(vars(result).values()))
    elif isinstance(result, tuple):
        for one in result:
            yield from scores_in(one)
    elif is_dataclass(result) and not isinstance(result, type | Number):
        yield from scores_in(tuple(getattr(result, field.name) for field in fields(result)))


@checked
def evaluate(
    release: Release,
    names: Sequence[str] | None = None,
    attribute: str | None = None,
    cache: Cache | None = None,
) -> dict[str, float | AnonymizationError]:
    """Measure a release by the numbers on which any releases can be compared.

    Parameters
    ----------
    release : Release
        What is measured.
    names : sequence of str, optional
        Names of `CRITERIA`; by default all of them.
    attribute : str, optional
        The sensitive attribute of the numbers that are about one; by default the first.
    cache : callable, optional
        What keeps results of the release: `cache(name, function, *arguments)` gives `function(release, *arguments)`.

    Returns
    -------
    dict of str to float or AnonymizationError
        The numbers by name; where a release of this form has no such number, the error that says why.

    Raises
    ------
    ParameterError
        If a name is none of a criterion.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20, 21, 60, 61], "disease": ["flu", "cold", "flu", "gout"]})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    >>> from anoncore.measures import evaluate
    >>> evaluate(release, ["k", "distinct-l", "largest-belief"])
    {'k': 2.0, 'distinct-l': 2.0, 'largest-belief': 0.5}
    """
    results = kept_results(release, cache)
    values: dict[str, float | AnonymizationError] = {}
    for number in chosen(names):
        try:
            value = _value(number, release, attribute, results)
        except AnonymizationError as error:
            values[number.name] = error
        else:
            undefined = DataError(f"{number.title} is not defined for this release.")
            values[number.name] = undefined if np.isnan(value) else value
    return values


def _value(number: Number, release: Release, attribute: str | None, cache: Cache) -> float:
    if number.of_attribute and attribute is None:
        attribute = release.data.require_sensitive()[0]
    if attribute is not None:
        release.data.require_domain(attribute)
    return float(_READINGS.get(number.name, _score)(number, release, attribute, cache))


def chosen(names: Sequence[str] | None = None) -> tuple[Number, ...]:
    """The criteria of these names, in this order. Raises ParameterError for a name that is none."""
    wanted = list(CRITERIA) if names is None else list(names)
    unknown = [name for name in wanted if name not in CRITERIA]
    if unknown:
        raise ParameterError(no_such("criterion", unknown[0], list(CRITERIA)))
    return tuple(CRITERIA[name] for name in wanted)


def _score(number: Number, _release: Release, attribute: str | None, cache: Cache) -> float:
    """The score of this name in the result of the function that tells it."""
    about = (attribute,) if number.of_attribute else ()
    arguments = (N_QUERIES,) if number.measured_by == "utility.query_error" else ()
    result = cache(number.measured_by, MEASURES[number.measured_by], *about, *arguments)
    return next(score for score in scores_in(result) if score.name == number.name)


def _level(number: Number, release: Release, attribute: str | None, cache: Cache) -> float:
    name = f"t-{release.data.domain[str(attribute)].ground}" if number.name == "t" else number.name
    return float(cache("privacy.profile", privacy.profile).score(name, attribute))


def _breached(_number: Number, _release: Release, attribute: str | None, cache: Cache) -> float:
    disclosure = cache("attacks.attribute_disclosure", attacks.attribute_disclosure, attribute)
    return float(disclosure.breached(BREACH_R).mean())


def _foreground(number: Number, release: Release, attribute: str | None, cache: Cache) -> float:
    release.require_people("Foreground knowledge is turned against the group that holds a person's row")
    _ = release.partition  # which fragments with partitions of their own have not, and say so
    attack = cache("attacks.foreground_knowledge", attacks.foreground_knowledge, attribute, BREACH_R)
    if not attack.learned:
        raise DataError(f"{number.title} was not measured: {TOO_SMALL}.")
    return float(attack.excess)


def _strongest(_number: Number, _release: Release, attribute: str | None, cache: Cache) -> float:
    def on_attributes(release: Release, attribute: str) -> attacks.Strongest:
        try:
            foreground = cache("attacks.foreground_knowledge", attacks.foreground_knowledge, attribute, BREACH_R)
        except AnonymizationError:
            foreground = None
        return attacks.strongest(release, attribute, BREACH_R, aims=ON_ATTRIBUTES, foreground=foreground)

    strongest = cache("strongest attack on attributes", on_attributes, attribute)
    if strongest.attribute is None:
        raise DataError("No attack on attributes applies to this release.")
    return float(strongest.attribute.gain)


def _membership(_number: Number, release: Release, _attribute: str | None, cache: Cache) -> float:
    release.require_people("Fake tuples are combinations of values that nobody in a group has")
    if form_of(release) not in BUCKETS:
        raise ReleaseError("Fake tuples exist only where columns are permuted against each other inside a group.")
    return float(cache("attacks.membership", attacks.membership).belief)


_READINGS: Mapping[str, Reading] = {
    "distinct-l": _level,
    "max-share": _level,
    "t": _level,
    "believed-above-half": _breached,
    "foreground-excess": _foreground,
    "strongest-attribute": _strongest,
    "membership-belief": _membership,
}
"""How a number is read where it is no score of its name in the result of its function asked with usual arguments."""
OWN = (*PACKAGES, "algorithms")
"""The packages whose numbers are criteria only where the order below names them."""
_ORDER = (
    "k",
    "distinct-l",
    "max-share",
    "t",
    "largest-belief",
    "belief-in-truth",
    "believed-above-half",
    "foreground-excess",
    "strongest-attribute",
    "reidentified-mean",
    "reidentified-largest",
    "membership-belief",
    "two-way-error",
    "information-loss",
    "query-error",
    "median-query-error",
    "association-error",
    "average-group-size",
    "discernibility",
)


def _numbers() -> dict[str, Number]:
    return {number.name: number for one in REGISTERED.values() for number in one.numbers}


def _criteria() -> dict[str, Number]:
    """The numbers of the order above, then those of other packages that have a direction."""
    numbers = _numbers()
    others = (one.numbers for name, one in REGISTERED.items() if name.partition(".")[0] not in OWN)
    return {name: numbers[name] for name in _ORDER} | {
        number.name: number for told in others for number in told if number.higher_is_better is not None
    }


NUMBERS: Mapping[str, Number] = View(_numbers)
"""Every number that a registered function tells, by name."""
CRITERIA: Mapping[str, Number] = View(_criteria)
"""The numbers that can be asked of any release, in the order in which they are shown."""
