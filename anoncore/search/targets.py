"""State what a release must reach and what should be spared; find the method and parameters that do it best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.base.errors import ParameterError
from anoncore.base.texts import listing
from anoncore.kernels.rounding import ACCUMULATED, reaches, stays_within
from anoncore.measures.criteria import CRITERIA, Criterion
from anoncore.search.candidates import axes, blank, seeded, with_level
from anoncore.search.sweeping import Point, Stop, sweep
from anoncore.table.microdata import Microdata

LADDERS: dict[str, tuple[float, ...]] = {
    "k": (2, 3, 5, 7, 10, 15, 20, 30, 50, 100, 200),
    "l": (1.5, 2, 3, 4, 5, 6, 8, 10),
    "t": (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5),
}
"""The levels of each axis that a search tries beside those that the targets ask for."""
SEARCHED = (
    "mondrian",
    "anatomy",
    "foreground-safe",
    "slicing",
    "stack-and-deal",
    "sensitive-space-fragmentation",
    "sabre",
    "microaggregation",
    "vertical-fragmentation",
)
"""The methods that a search tries when none are named: those that keep what they are asked for on any table."""


@dataclass(frozen=True)
class Target:
    """A criterion and the limit that a release must keep: at least where higher is better, else at most.

    Attributes
    ----------
    criterion : str
        Name of the criterion.
    limit : float
        The limit, in the unit of the criterion.

    Raises
    ------
    ParameterError
        For an unknown criterion.

    Examples
    --------
    >>> from anoncore.search import Target
    >>> Target("k", 10).text, Target("k", 10).shortfall(5)
    ('Smallest group at least 10', 0.5)
    """

    criterion: str
    limit: float

    def __post_init__(self) -> None:
        if self.criterion not in CRITERIA:
            raise ParameterError(f"There is no criterion '{self.criterion}'; there is {listing(list(CRITERIA), 40)}.")

    @property
    def of(self) -> Criterion:
        """The criterion."""
        return CRITERIA[self.criterion]

    @property
    def text(self) -> str:
        """The target in words, e.g. `Smallest group at least 10`."""
        return f"{self.of.title} {'at least' if self.of.higher_is_better else 'at most'} {self.of.text(self.limit)}"

    def shortfall(self, value: float | None) -> float:
        """How far a number misses the limit, as a share of the limit.

        Parameters
        ----------
        value : float or None
            The number, or None where there is none.

        Returns
        -------
        float
            0 where the limit is kept, 1 where there is no number.
        """
        if value is None:
            return 1.0
        keeps = reaches if self.of.higher_is_better else stays_within
        if keeps(value, self.limit, ACCUMULATED):
            return 0.0
        gap = abs(value - self.limit)
        return gap / abs(self.limit) if self.limit else gap


@dataclass(frozen=True, eq=False)
class Search:
    """What a search found.

    Attributes
    ----------
    targets : tuple of Target
        What a release had to keep.
    spare : str
        Name of the criterion that should cost least.
    points : tuple of Point
        All candidates that were tried, those without a release included.
    n_left : int
        Candidates that were not tried, because the search was stopped.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.search import Target, candidates, search
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> tried = candidates({"mondrian": {"k": [2, 3, 6]}}, data)
    >>> found = search(data, [Target("k", 4)], algorithms=tried)
    >>> found.best.values["k"], round(found.best.values["two-way-error"], 3), len(found.points)
    (6.0, 0.444, 3)
    """

    targets: tuple[Target, ...]
    spare: str
    points: tuple[Point, ...]
    n_left: int = 0
    """Candidates that were not tried, because the search was stopped."""

    @cached_property
    def best(self) -> Point | None:
        """The point that keeps every target and costs least, the first of equal ones; None where there is none."""
        return self._cheapest([point for point in self.points if not self.missed(point)])

    @cached_property
    def nearest(self) -> Point | None:
        """Where none keeps every target: the point that misses them by least, of equal ones the cheapest."""
        made = [point for point in self.points if point.made and self.spare in point.values]
        if not made:
            return None
        least = min(self.shortfall(point) for point in made)
        return self._cheapest([point for point in made if self.shortfall(point) <= least + ACCUMULATED])

    @cached_property
    def without(self) -> dict[Target, Point | None]:
        """For each target the cheapest point that keeps all the others: what this target costs is the difference."""
        return {
            target: self._cheapest([point for point in self.points if set(self.missed(point)) <= {target}])
            for target in self.targets
        }

    @cached_property
    def costliest(self) -> Target | None:
        """The target without which the release would be cheapest; None where none costs anything."""
        best = self.best
        criterion = CRITERIA[self.spare]
        freed = [(target, point.values[self.spare]) for target, point in self.without.items() if point is not None]
        if best is not None:
            freed = [pair for pair in freed if criterion.better(pair[1], best.values[self.spare])]
        if not freed:
            return None
        pick = max if criterion.higher_is_better else min
        return pick(freed, key=lambda pair: pair[1])[0]

    def missed(self, point: Point) -> tuple[Target, ...]:
        """The targets that a point does not keep.

        Parameters
        ----------
        point : Point
            A candidate that was tried.

        Returns
        -------
        tuple of Target
            The targets that are missed; all of them where there is no release or no cost.
        """
        if self.spare not in point.values:
            return self.targets or (Target(self.spare, 0.0),)
        return tuple(target for target in self.targets if target.shortfall(point.values.get(target.criterion)) > 0)

    def shortfall(self, point: Point) -> float:
        """How far a point misses its targets, all of them together.

        Parameters
        ----------
        point : Point
            A candidate that was tried.

        Returns
        -------
        float
            Sum of what it misses of each target, as shares of the limits.
        """
        return sum(target.shortfall(point.values.get(target.criterion)) for target in self.targets)

    def _cheapest(self, points: Sequence[Point]) -> Point | None:
        pick = max if CRITERIA[self.spare].higher_is_better else min
        return pick(points, key=lambda point: point.values[self.spare], default=None)


def search(
    data: Microdata,
    targets: Sequence[Target],
    spare: str = "two-way-error",
    algorithms: Sequence[Algorithm] | None = None,
    attribute: str | None = None,
    take: Callable[[int, Point], None] | None = None,
    stop: Stop | None = None,
) -> Search:
    """Try algorithms and parameters, and tell which release keeps the targets and costs least.

    All candidates are tried, so the answer is the best of them.

    Parameters
    ----------
    data : Microdata
        The table.
    targets : sequence of Target
        What a release must keep.
    spare : str
        Name of the criterion that should cost least.
    algorithms : sequence of Algorithm, optional
        What is tried; by default `default_candidates`.
    attribute : str, optional
        The sensitive attribute that criteria are about; by default the first.
    take : callable, optional
        Called with the position of a candidate and its point as soon as the point is there.
    stop : callable, optional
        Once it returns True no further candidate is begun.

    Returns
    -------
    Search
        All points, and the cheapest that keeps every target.

    Raises
    ------
    ParameterError
        For an unknown criterion.

    Examples
    --------
    Mondrian with k = 2 and 3 makes two classes of three rows, so a smallest group of 4 takes one class of all:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.search import Target, candidates, search
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> tried = candidates({"mondrian": {"k": [2, 3, 6]}}, data)
    >>> found = search(data, [Target("k", 4)], algorithms=tried)
    >>> found.best.algorithm.requirements[0].label(), round(found.best.values["two-way-error"], 3)
    ('k-anonymity (k = 6)', 0.444)
    """
    if spare not in CRITERIA:
        raise ParameterError(f"There is no criterion '{spare}'; there is {listing(list(CRITERIA), 40)}.")
    tried = default_candidates(data, targets, attribute) if algorithms is None else tuple(algorithms)
    names = list(dict.fromkeys([*(target.criterion for target in targets), spare]))
    points = sweep(data, tried, names, attribute, take, stop)
    measured = tuple(point for point in points if point is not None)
    return Search(tuple(targets), spare, measured, len(points) - len(measured))


def default_candidates(
    data: Microdata, targets: Sequence[Target], attribute: str | None = None, methods: Sequence[str] = SEARCHED
) -> tuple[Algorithm, ...]:
    """Candidates for given targets: each method at the levels that these ask for, and up and down a ladder.

    Levels are read off the targets: k from the smallest group and the risk of being found, l from shares and beliefs, t
    from the distance.

    Parameters
    ----------
    data : Microdata
        The table.
    targets : sequence of Target
        What a release must keep.
    attribute : str, optional
        The sensitive attribute that l and t are about; by default every one.
    methods : sequence of str
        Names of the methods.

    Returns
    -------
    tuple of Algorithm
        The candidates, without any that a method does not take.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.search import Target, default_candidates
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> tried = default_candidates(data, [Target("k", 4)], methods=["stack-and-deal"])
    >>> [algorithm.k for algorithm in tried]
    [2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100, 200]
    """
    asked = levels_of(targets)
    algorithms: dict[str, Algorithm] = {}
    for name in methods:
        known = axes(ALGORITHMS[name])
        usable = [axis for axis in LADDERS if axis in known]
        # What is asked for comes first: of equally cheap candidates the first is taken, and it asks for no more.
        for varied in sorted(usable, key=lambda axis: axis not in asked):
            fixed = {axis: asked[axis] for axis in usable if axis in asked and axis != varied}
            steps = sorted({*LADDERS[varied], *([asked[varied]] if varied in asked else [])})
            for step in steps:
                algorithm = _built(name, {**fixed, varied: step}, data, attribute)
                if algorithm is not None:
                    algorithms.setdefault(repr(algorithm), algorithm)
    return tuple(seeded(algorithm) for algorithm in algorithms.values())


def levels_of(targets: Sequence[Target]) -> dict[str, float]:
    """The strictest k, l and t that the targets ask for."""
    asked: dict[str, float] = {}
    for target in targets:
        if target.criterion == "k":
            asked["k"] = max(asked.get("k", 1), target.limit)
        elif target.criterion in ("reidentified-mean", "reidentified-largest") and target.limit > 0:
            asked["k"] = max(asked.get("k", 1), float(-(-1 // target.limit)))
        elif target.criterion in ("max-share", "largest-belief") and 0 < target.limit < 1:
            asked["l"] = max(asked.get("l", 1.0), 1 / target.limit)
        elif target.criterion == "t":
            asked["t"] = min(asked.get("t", 1.0), target.limit)
    return asked


def _built(name: str, levels: dict[str, float], data: Microdata, attribute: str | None) -> Algorithm | None:
    """The method at these levels; None where one of them is out of its range."""
    algorithm = blank(name)
    try:
        for axis, level in levels.items():
            algorithm = with_level(algorithm, axis, level, data, attribute)
    except ParameterError:
        return None
    return algorithm


__all__ = ["LADDERS", "SEARCHED", "Search", "Target", "default_candidates", "levels_of", "search"]
