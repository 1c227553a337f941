"""What a search is for, and what it found: targets that a release must keep, and the points of what was tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from anoncore.base.arguments import checked_methods
from anoncore.base.errors import AnonymizationError, ParameterError
from anoncore.base.number import Number
from anoncore.base.showing import Lines, Result, picture
from anoncore.base.texts import no_such
from anoncore.kernels.arrays import record
from anoncore.kernels.rounding import ACCUMULATED, reaches, stays_within
from anoncore.measures.criteria import CRITERIA
from anoncore.search.sweeping import Point, points_frame


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
            raise ParameterError(no_such("criterion", self.criterion, list(CRITERIA)))

    @property
    def of(self) -> Number:
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
@record
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
        cost = CRITERIA[self.spare]
        words = cost.unit or cost.title
        return picture(costs, kind="bar", x="algorithm", y=self.spare, title=cost.title, across="method", upwards=words)

    @cached_property
    def best(self) -> Point | None:
        """The point that keeps every target and costs least, the first of equal ones; None where there is none."""
        return self._cheapest([point for point in self.points if not self.missed(point)])

    @cached_property
    def nearest(self) -> Point | None:
        """Where none keeps every target: the point that misses them by least, of equal ones the cheapest."""
        return self._cheapest(self.least_short)

    @cached_property
    def least_short(self) -> tuple[Point, ...]:
        """The points that miss the targets by least, of those that have the number to spare."""
        short = {point: self.shortfall(point) for point in self.points if self.spare in point.values}
        least = min(short.values(), default=0.0) + ACCUMULATED
        return tuple(point for point, shortfall in short.items() if shortfall <= least)

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
