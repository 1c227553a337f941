"""State what a release must reach and what should be spared; find the method and parameters that do it best."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

from anoncore.algorithms import ALGORITHMS, Algorithm, LocalRecoding, VerticalFragmentation
from anoncore.base.arguments import checked
from anoncore.base.errors import AnonymizationError, ParameterError
from anoncore.base.random_numbers import fresh_seed
from anoncore.base.texts import no_such
from anoncore.kernels.rounding import ACCUMULATED
from anoncore.measures.criteria import CRITERIA
from anoncore.search.candidates import blank, seeded
from anoncore.search.finer import finer_candidates
from anoncore.search.found import Search, Target
from anoncore.search.keeping import LEVELS, axes, with_level
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
    "local-recoding",
    "optimal-recoding",
    "local-suppression",
)
"""The methods that a search tries when none are named: those that keep what they are asked for on any table."""
ONCE: dict[str, dict[str, Any]] = {
    "local-recoding": {},
    "optimal-recoding": {"max_suppression": 0.0, "most_checked": 2_000},
    "local-suppression": {},
}
"""The methods that are tried at the levels that the targets ask for and at no others, with parameters of their own:
they lose little at these levels, and take longer than others.
"""


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
    left_out: float = 0.0,
    after: Search | None = None,
) -> Search:
    """Try algorithms and parameters, and tell which release keeps the targets and costs least.

    All candidates are tried, so the answer is the best of them. Of each method those come first that ask for what the
    targets do, so that a good release is there soon. A slow number is taken only of a release that it can make the best
    one, the best without one of the targets, or the nearest miss. A release that is known beforehand to be none of them
    is not made. The answers are those of making and measuring everything.

    Where no algorithms are given, the best releases are then tried once more, refined and with a few people left out
    where that is allowed (`finer_candidates`).

    Parameters
    ----------
    data : Microdata
        The table.
    targets : sequence of Target
        What a release must keep.
    spare : str
        Name of the criterion that should cost least.
    algorithms : sequence of Algorithm, optional
        What is tried, and nothing else; by default `default_candidates` and then `finer_candidates`.
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
    left_out : float
        Share of the rows that may be left out where no algorithms are given; 0 leaves out nobody.
    after : Search, optional
        An earlier search of the same table for the same, whose points count too.

    Returns
    -------
    Search
        All points, and the cheapest that keeps every target.

    Raises
    ------
    ParameterError
        For an unknown criterion, and for a share that is not from 0 to below 1.

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
        raise ParameterError(no_such("criterion", spare, list(CRITERIA)))
    if not 0 <= left_out < 1:
        raise ParameterError(f"left_out is a share of the rows, from 0 to below 1, not {left_out}.")
    tried = default_candidates(data, targets, attribute) if algorithms is None else tuple(algorithms)
    names = list(dict.fromkeys([*(target.criterion for target in targets), spare]))
    order = _order(data, tried, targets)
    standing = Standing(targets, spare, () if after is None else after.points)

    def taken(number: int, point: Point) -> None:
        if take is not None:
            take(order[number], point)
        if standing.add(order[number], point) and better is not None:
            better(point)

    sweep(data, [tried[place] for place in order], names, attribute, taken, stop, workers, standing.needs)
    found = standing.found(len(tried))
    if algorithms is not None or found.n_left:
        return found

    def taken_later(number: int, point: Point) -> None:
        if take is not None:
            take(len(tried) + number, point)

    finer = finer_candidates(found, left_out)
    return search(data, targets, spare, finer, attribute, taken_later, stop, better, workers, after=found)


class Standing:
    """What a search has found so far, and which numbers can still change it; for several threads.

    `earlier` are points that count as well.
    """

    def __init__(self, targets: Sequence[Target], spare: str, earlier: Sequence[Point] = ()) -> None:
        self.targets, self.spare = tuple(targets), spare
        self._earlier, self._points = tuple(earlier), dict[int, Point]()
        self._search = Search(self.targets, spare, self._earlier)
        self._lock = threading.Lock()

    def add(self, place: int, point: Point) -> bool:
        """Take in the point of a candidate; returns whether it is the best so far."""
        with self._lock:
            self._points[place] = point
            points = (*self._earlier, *(self._points[i] for i in sorted(self._points)))
            self._search = Search(self.targets, self.spare, points)
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
    from the distance. Local and optimal recoding and local suppression, which lose little at given levels, are tried at
    these alone.

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
            ladder = () if name in ONCE else LADDERS[varied]
            steps = sorted({*ladder, *([asked[varied]] if varied in asked else [])})
            for step in steps:
                algorithm = _built(name, {**fixed, varied: step}, data, attribute)
                for variant in () if algorithm is None else _ways(algorithm):
                    algorithms.setdefault(repr(variant), variant)
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


def _ways(algorithm: Algorithm) -> tuple[Algorithm, ...]:
    """The method as it is, and in another way that keeps the same levels and may cost less."""
    if isinstance(algorithm, VerticalFragmentation) and (algorithm.l is not None or algorithm.t is not None):
        return algorithm, algorithm.replace(segmentation="as-needed")
    if isinstance(algorithm, LocalRecoding) and not all(one.attribute_free for one in algorithm.requirements):
        return algorithm, algorithm.replace(start="deal", refine=True)
    return (algorithm,)


def _built(name: str, levels: dict[str, float], data: Microdata, attribute: str | None) -> Algorithm | None:
    """The method at these levels; None where one of them is out of its range."""
    algorithm = blank(name).replace(**ONCE.get(name, {}))
    try:
        # In one order, so that the same levels are the same candidate, whichever of them was varied.
        for axis in (axis for axis in LADDERS if axis in levels):
            algorithm = with_level(algorithm, axis, levels[axis], data, attribute)
    except ParameterError:
        return None
    return algorithm


__all__ = ["LADDERS", "SEARCHED", "Search", "Target", "default_candidates", "levels_of", "search"]
