"""The numbers by which any releases stand on one scale: what they protect, what an adversary gets, what they cost."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from types import MappingProxyType

import numpy as np

from anoncore import attacks, privacy
from anoncore.attacks.disclosure import BELIEF_IN_TRUTH, LARGEST_BELIEF
from anoncore.attacks.foreground.attack import FOREGROUND_EXCESS, TOO_SMALL
from anoncore.attacks.membership import MEMBERSHIP_BELIEF
from anoncore.attacks.reidentification import REIDENTIFIED_LARGEST, REIDENTIFIED_MEAN
from anoncore.attacks.strongest import ON_ATTRIBUTES, STRONGEST_ON_ATTRIBUTES
from anoncore.base.arguments import checked
from anoncore.base.errors import AnonymizationError, DataError, ParameterError, ReleaseError
from anoncore.base.number import BUCKETS, Family, Number
from anoncore.base.score import Score
from anoncore.base.texts import listing
from anoncore.measures.evaluation import MEASURES
from anoncore.measures.kept_results import Cache, KeptResults
from anoncore.privacy import Profile
from anoncore.privacy.levels import DISTINCT_VALUES, LARGEST_SHARE, SMALLEST_GROUP
from anoncore.release.form import form_of
from anoncore.release.release import Release
from anoncore.table.domain import Kind
from anoncore.utility.associations import ASSOCIATION_ERROR
from anoncore.utility.groups import AVERAGE_GROUP_SIZE, DISCERNIBILITY
from anoncore.utility.loss import INFORMATION_LOSS
from anoncore.utility.queries import MEDIAN_QUERY_ERROR, QUERY_ERROR
from anoncore.utility.two_way import TWO_WAY_ERROR

Reading = Callable[[Release, str | None, Cache], float]
"""`reading(release, attribute, cache)` gives the number of a release."""
FAMILIES: Mapping[Family, str] = MappingProxyType(
    {"protection": "What it protects", "adversary": "What an adversary gets", "cost": "What it costs"}
)
"""What the families of numbers tell, in the order in which they are shown."""
BREACH_R = 2.0
N_QUERIES = 10_000


@dataclass(frozen=True, eq=False)
class Criterion(Number):
    """A number that can be asked of any release, so that releases of all forms stand on one scale.

    Attributes
    ----------
    read : callable or None
        `read(release, attribute, cache)` gives the number; by default it is the score of this name in the result of the
        function that tells it, asked with `arguments`.
    arguments : tuple
        What that function is asked with besides the release and, for a number of one attribute, the attribute.
    """

    read: Reading | None = None
    arguments: tuple[Hashable, ...] = ()

    def evaluate(self, release: Release, attribute: str | None = None, cache: Cache | None = None) -> float:
        """Measure a release.

        Parameters
        ----------
        release : Release
            What is measured.
        attribute : str, optional
            The sensitive attribute that is looked at, where the number is about one; by default the first.
        cache : callable, optional
            `cache(name, function, *arguments)` gives `function(release, *arguments)` and may keep it, as several
            numbers are read from one result.

        Returns
        -------
        float
            The number.

        Raises
        ------
        AnonymizationError
            A ReleaseError, DataError or ParameterError that says why the release has no such number.
        """
        if self.of_attribute and attribute is None:
            attribute = release.data.require_sensitive()[0]
        if attribute is not None:
            release.data.require_domain(attribute)

        read = self._score if self.read is None else self.read
        value = float(read(release, attribute, KeptResults(release) if cache is None else cache))
        if np.isnan(value):
            raise DataError(f"{self.title} is not defined for this release.")
        return value

    def _score(self, _release: Release, attribute: str | None, cache: Cache) -> float:
        """The score of this name in the result of the function that tells it."""
        about = (attribute,) if self.of_attribute else ()
        result = cache(self.measured_by, MEASURES[self.measured_by], *about, *self.arguments)
        return next(one for one in scores_in(result) if one.name == self.name)


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
        What keeps results of the release, as `Criterion.evaluate` takes it.

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
    results = KeptResults(release) if cache is None else cache
    found: dict[str, float | AnonymizationError] = {}
    for one in chosen(names):
        try:
            found[one.name] = one.evaluate(release, attribute, results)
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


def _level(name: str) -> Reading:
    return lambda release, attribute, cache: _profile(cache).score(name, attribute)


def _distance(release: Release, attribute: str | None, cache: Cache) -> float:
    return _profile(cache).score(f"t-{usual_distance(release, str(attribute))}", attribute)


def _breached(_release: Release, attribute: str | None, cache: Cache) -> float:
    disclosure = cache("attacks.attribute_disclosure", attacks.attribute_disclosure, attribute)
    return float(disclosure.breached(BREACH_R).mean())


def _foreground(release: Release, attribute: str | None, cache: Cache) -> float:
    release.require_people("Foreground knowledge is turned against the group that holds a person's row")
    _ = release.partition  # which fragments with partitions of their own have not, and say so
    found = cache("attacks.foreground_knowledge", attacks.foreground_knowledge, attribute, BREACH_R)
    if not found.learned:
        raise DataError(f"{FOREGROUND_EXCESS.title} was not measured: {TOO_SMALL}.")
    return float(found.excess)


def _strongest(_release: Release, attribute: str | None, cache: Cache) -> float:
    def on_attributes(release: Release, attribute: str) -> attacks.Strongest:
        try:
            foreground = cache("attacks.foreground_knowledge", attacks.foreground_knowledge, attribute, BREACH_R)
        except AnonymizationError:
            foreground = None
        return attacks.strongest(release, attribute, BREACH_R, aims=ON_ATTRIBUTES, foreground=foreground)

    found = cache("strongest attack on attributes", on_attributes, attribute)
    if found.attribute is None:
        raise DataError("No attack on attributes applies to this release.")
    return float(found.attribute.gain)


def _membership(release: Release, _attribute: str | None, cache: Cache) -> float:
    release.require_people("Fake tuples are combinations of values that nobody in a bucket has")
    if form_of(release) not in BUCKETS:
        raise ReleaseError("Fake tuples exist only where columns are permuted against each other inside a bucket.")
    return float(cache("attacks.membership", attacks.membership).belief)


DISTANCE = Number(
    name="t",
    title="Distance (t)",
    template="Largest earth mover's distance of any {group} from the table: ordered for numbers, equal for categories.",
    family="protection",
    source="Li, Li and Venkatasubramanian, ICDE 2007",
    measured_by="privacy.profile",
    unit="EMD",
    higher_is_better=False,
    bounds=(0.0, 1.0),
    baseline="0: the original table as one group.",
    documented_by="t-closeness",
    of_attribute=True,
)
BELIEVED_ABOVE_HALF = Number(
    name="believed-above-half",
    title="Believed above 1/2",
    template=(
        "Share of people of whom an adversary who knows the quasi-identifiers believes one value with more than one "
        "half."
    ),
    family="adversary",
    source="Li et al., Slicing, 2009, section 4",
    measured_by="attacks.attribute_disclosure",
    form="share",
    unit="share of people",
    higher_is_better=False,
    bounds=(0.0, 1.0),
    baseline="1 where one value has more than half of the table, else 0: what guessing without the release gets.",
    of_attribute=True,
)


def _criterion(number: Number, read: Reading | None = None, arguments: tuple[Hashable, ...] = ()) -> Criterion:
    words = {field.name: getattr(number, field.name) for field in fields(number)}
    return Criterion(**words, read=read, arguments=arguments)


_ALL = (
    _criterion(SMALLEST_GROUP),
    _criterion(DISTINCT_VALUES, _level("distinct-l")),
    _criterion(LARGEST_SHARE, _level("max-share")),
    _criterion(DISTANCE, _distance),
    _criterion(LARGEST_BELIEF),
    _criterion(BELIEF_IN_TRUTH),
    _criterion(BELIEVED_ABOVE_HALF, _breached),
    _criterion(FOREGROUND_EXCESS, _foreground),
    _criterion(STRONGEST_ON_ATTRIBUTES, _strongest),
    _criterion(REIDENTIFIED_MEAN),
    _criterion(REIDENTIFIED_LARGEST),
    _criterion(MEMBERSHIP_BELIEF, _membership),
    _criterion(TWO_WAY_ERROR),
    _criterion(INFORMATION_LOSS),
    _criterion(QUERY_ERROR, arguments=(N_QUERIES,)),
    _criterion(MEDIAN_QUERY_ERROR, arguments=(N_QUERIES,)),
    _criterion(ASSOCIATION_ERROR),
    _criterion(AVERAGE_GROUP_SIZE),
    _criterion(DISCERNIBILITY),
)
CRITERIA: Mapping[str, Criterion] = MappingProxyType({one.name: one for one in _ALL})
"""All criteria by name, in the order in which they are shown. A new one is a line above."""
