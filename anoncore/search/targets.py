"""State what a release must reach and what should be spared; find the method and parameters that do it best."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import pandas as pd

from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.base.arguments import checked, checked_methods
from anoncore.base.errors import AnonymizationError, ParameterError
from anoncore.base.showing import Lines, Result, picture
from anoncore.base.texts import listing
from anoncore.kernels.rounding import ACCUMULATED, reaches, stays_within
from anoncore.measures.criteria import CRITERIA, Criterion
from anoncore.search.candidates import LEVELS, axes, blank, fresh_seed, seeded, with_level
from anoncore.search.sweeping import Point, Stop, points_frame, sweep
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


@checked_methods
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


@checked_methods
@dataclass(frozen=True, eq=False)
class Search(Result):
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

    def _lines(self) -> Lines:
        lines = [("target", target.text) for target in self.targets]
        lines += [("spare", CRITERIA[self.spare].title), ("tried", f"{len(self.points):,}")]
        lines += [("left", f"{self.n_left:,}")] if self.n_left else []
        shown = {"best": self.best, "nearest": self.nearest if self.best is None else None}
        return [*lines, *((what, point._inline()) for what, point in shown.items() if point is not None)]

    def frame(self) -> pd.DataFrame:
        """What each candidate that was tried reaches.

        Returns
        -------
        DataFrame
            A line per candidate: `algorithm` as text, a column per criterion (NaN where there is no number), whether it
            `keeps` every target, the `seconds` that it took, and the `error` where there is no release.
        """
        return points_frame(self.points).assign(keeps=[not self.missed(point) for point in self.points])

    def plot(self) -> Any:
        """Draw what each candidate costs by the criterion that should cost least.

        Returns
        -------
        plotly.graph_objects.Figure
            The picture.

        Raises
        ------
        AnonymizationError
            Where Plotly is not installed, or no candidate made a release.
        """
        frame = self.frame()
        if self.spare not in frame:
            raise AnonymizationError("No candidate has a number to draw; .frame() says why in the column error.")
        costs = frame.dropna(subset=[self.spare])
        return picture(costs, kind="bar", x="algorithm", y=self.spare, title=CRITERIA[self.spare].title)

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
        measured = [point for point in points if self.spare in point.values]
        return pick(measured, key=lambda point: point.values[self.spare], default=None)


@checked
def search(
    data: Microdata,
    targets: Sequence[Target],
    spare: str = "two-way-error",
    algorithms: Sequence[Algorithm] | None = None,
    attribute: str | None = None,
    take: Callable[[int, Point], None] | None = None,
    stop: Stop | None = None,
    better: Callable[[Point], None] | None = None,
    workers: int | None = None,
) -> Search:
    """Try algorithms and parameters, and tell which release keeps the targets and costs least.

    All candidates are tried, so the answer is the best of them. Of each method those come first that ask for what the
    targets do, so that a good release is there soon. A slow number is taken only of a release that it can make the best
    one, the best without one of the targets, or the nearest miss. A release that is known beforehand to be none of them
    is not made. The answers are those of making and measuring everything.

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
    better : callable, optional
        Called with the point of each release that keeps every target and costs less than all before it.
    workers : int, optional
        Releases that are made at a time; by default one per core.

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
    order = _order(data, tried, targets)
    standing = Standing(targets, spare)

    def taken(number: int, point: Point) -> None:
        if take is not None:
            take(order[number], point)
        if standing.add(order[number], point) and better is not None:
            better(point)

    sweep(data, [tried[place] for place in order], names, attribute, taken, stop, workers, standing.needs)
    return standing.found(len(tried))


class Standing:
    """What a search has found so far, and which numbers can still change it; for several threads."""

    def __init__(self, targets: Sequence[Target], spare: str) -> None:
        self.targets, self.spare = tuple(targets), spare
        self._points: dict[int, Point] = {}
        self._search = Search(self.targets, spare, ())
        self._lock = threading.Lock()

    def add(self, place: int, point: Point) -> bool:
        """Take in the point of a candidate; returns whether it is the best so far."""
        with self._lock:
            self._points[place] = point
            self._search = Search(self.targets, self.spare, tuple(self._points[i] for i in sorted(self._points)))
            return self._search.best is point

    def found(self, n_candidates: int) -> Search:
        """What was found of so many candidates."""
        return Search(self.targets, self.spare, self._search.points, n_candidates - len(self._points))

    def needs(self, values: Mapping[str, float], name: str) -> bool:
        """Whether a number may matter of a release that has these numbers, whatever those are that it does not have.

        It matters if the release may be the cheapest that keeps every target, or all but one other, or, where none
        keeps every target, if it may miss them by least.
        """
        search = self._search
        known = [target for target in self.targets if target.criterion in values]
        missed = [target for target in known if target.shortfall(values[target.criterion]) > 0]
        if search.best is None and sum(target.shortfall(values[target.criterion]) for target in known) <= (
            ACCUMULATED + (search.shortfall(search.nearest) if search.nearest is not None else float("inf"))
        ):
            return True
        rivals = [(set[Target](), search.best)]
        # Without a target its own number does not count, unless another target is about the same number.
        about = {target for target in self.targets if target.criterion == name}
        rivals += [({target}, point) for target, point in search.without.items() if about != {target}]
        return any(self._rivals(values, point) for spared, point in rivals if set(missed) <= spared)

    def _rivals(self, values: Mapping[str, float], point: Point | None) -> bool:
        """Whether a release with these numbers may cost as little as a point."""
        if point is None or self.spare not in values:
            return True
        return not CRITERIA[self.spare].better(point.values[self.spare], values[self.spare])


def _order(data: Microdata, algorithms: Sequence[Algorithm], targets: Sequence[Target]) -> list[int]:
    """The places of the candidates in the order in which they are tried.

    First those that ask for exactly what the targets do, then of every method one in turn: candidates that have steps
    in common are then seldom worked on at the same time, and those that take long begin before the end.
    """
    wanted = levels_of(targets)
    turns: dict[str, count[int]] = {}
    turn = [next(turns.setdefault(algorithm.name, count())) for algorithm in algorithms]
    asks = [_asks_for(algorithm, data, wanted) for algorithm in algorithms]
    return sorted(range(len(algorithms)), key=lambda place: (not asks[place], turn[place]))


def _asks_for(algorithm: Algorithm, data: Microdata, wanted: Mapping[str, float]) -> bool:
    """Whether the method promises exactly these levels and no others."""
    try:
        promised = algorithm.promises(data)
    except AnonymizationError:
        return False
    levels = {axis: one.threshold for axis, kind in LEVELS.items() for one in promised if type(one) is kind}
    return bool(wanted) and levels == wanted


@checked
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
    # With one seed for all, candidates of a method have their first steps in common, and differ by their levels alone.
    seed = fresh_seed()
    return tuple(seeded(algorithm, seed) for algorithm in algorithms.values())


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
