"""Many releases of one table, each measured by the same criteria as it is made."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from os import cpu_count
from typing import Any, overload

import numpy as np
import pandas as pd

from anoncore.algorithms import Algorithm
from anoncore.base.arguments import checked
from anoncore.base.compile_time import recorded
from anoncore.base.errors import AnonymizationError, CancelledError, ParameterError
from anoncore.base.shared_work import Memo, kept_results, sharing
from anoncore.base.showing import Lines, Result
from anoncore.kernels.arrays import Bools, record
from anoncore.measures.criteria import CRITERIA, chosen, evaluate
from anoncore.release.release import Release
from anoncore.search.parameters import method_label, parameters, varying_parameters
from anoncore.table.microdata import Microdata

FIRST_CRITERIA = ("two-way-error", "t", "believed-above-half")
"""The criteria of a sweep for which none are named."""
OUTLINED = ("k", "distinct-l", "max-share", "t", "average-group-size", "discernibility")
"""The criteria that depend on nothing but the sizes and the sensitive values of the groups."""
NOT_NEEDED = "Not measured: whatever it is, another release that was tried is better."
Stop = Callable[[], bool]
Needed = Callable[[Mapping[str, float], str], bool]
"""`needed(values, name)` says whether a number of a release still matters, given the numbers that are there; with an
empty name, whether the release itself does."""


@record
class Point(Result):
    """One candidate of a sweep: its numbers, or the sentence why it made no release.

    Attributes
    ----------
    algorithm : Algorithm
        The candidate.
    values : mapping of str to float
        Its numbers by name of the criterion.
    missing : mapping of str to str
        For each criterion of which there is no number, why.
    seconds : float
        Time that the method took, without compiling it.
    error : str
        Why there is no release; empty where there is one.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.search import candidates, sweep
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> tried = candidates({"mondrian": {"k": [3, 6]}}, data)
    >>> points = sweep(data, tried, ["k", "information-loss"])
    >>> points[0].values, points[0].made
    ({'k': 3.0, 'information-loss': 0.08}, True)
    """

    algorithm: Algorithm
    values: Mapping[str, float]
    missing: Mapping[str, str]
    seconds: float
    error: str = ""

    def _headline(self) -> str:
        return f"Point: {self._inline()}"

    def _inline(self) -> str:
        return method_label(self.algorithm)

    def _lines(self) -> Lines:
        numbers = [(CRITERIA[name].title, CRITERIA[name].text(value)) for name, value in self.values.items()]
        return [*numbers, *([("error", self.error)] if self.error else [])]

    @property
    def made(self) -> bool:
        """Whether a release was made."""
        return not self.error


def points_frame(points: Sequence[Point]) -> pd.DataFrame:
    """A line per candidate: what it is, its parameters, a column per criterion, how long it took, and why there is no
    release.
    """
    names = list(dict.fromkeys(name for point in points for name in point.values))
    algorithms = [point.algorithm for point in points]
    varying = varying_parameters(algorithms)
    given = [parameters(algorithm) for algorithm in algorithms]
    columns: dict[str, list[Any]] = {"algorithm": [method_label(algorithm, varying) for algorithm in algorithms]}
    columns |= {name: [one.get(name) for one in given] for name in dict.fromkeys(name for one in given for name in one)}
    columns |= {name: [point.values.get(name, np.nan) for point in points] for name in names}
    columns |= {"seconds": [point.seconds for point in points], "error": [point.error for point in points]}
    return pd.DataFrame(columns)


def measure(
    data: Microdata,
    algorithm: Algorithm,
    criteria: Sequence[str],
    attribute: str | None = None,
    stop: Stop | None = None,
    needed: Needed | None = None,
) -> Point:
    """Make one release and take its numbers, the quick ones first; the release itself is not kept.

    Where the method cannot anonymize the table the point has the error. Raises CancelledError once `stop` says so.
    """

    def report(_fraction: float, _text: str) -> None:
        if stop is not None and stop():
            raise CancelledError("The sweep was cancelled.")

    begin = time.perf_counter()
    try:
        if needed is not None and (outline := algorithm.outline(data)) is not None:
            known = _numbers(outline, [name for name in criteria if name in OUTLINED], attribute)[0]
            if not needed(known, ""):
                missing = {name: NOT_NEEDED for name in criteria if name not in known}
                return Point(algorithm, known, missing, time.perf_counter() - begin)
        with recorded() as compiling:
            release = algorithm.anonymize(data, report)
    except CancelledError:
        raise
    except AnonymizationError as error:
        return Point(algorithm, {}, {}, time.perf_counter() - begin, str(error))
    seconds = time.perf_counter() - begin - compiling.seconds
    report(1.0, "Measuring")
    values, missing = _numbers(release, criteria, attribute, needed)
    return Point(algorithm, values, missing, seconds)


def _measured(
    work: Memo,
    data: Microdata,
    algorithm: Algorithm,
    criteria: Sequence[str],
    attribute: str | None,
    stop: Stop,
    needed: Needed | None,
) -> Point:
    """The same, where steps that other candidates take as well are worked out once."""
    with sharing(work):
        return measure(data, algorithm, criteria, attribute, stop, needed)


def _numbers(
    release: Release, criteria: Sequence[str], attribute: str | None, needed: Needed | None = None
) -> tuple[dict[str, float], dict[str, str]]:
    """The numbers of a release in the order of the criteria, and why it does not have the others."""
    values, missing = dict[str, float](), dict[str, str]()
    results = kept_results(release)
    for name in sorted(criteria, key=lambda name: CRITERIA[name].is_slow):
        if needed is not None and CRITERIA[name].is_slow and not needed(values, name):
            missing[name] = NOT_NEEDED
            continue
        number = evaluate(release, [name], attribute, results)[name]
        if isinstance(number, AnonymizationError):
            missing[name] = str(number)
        else:
            values[name] = number
    return {name: values[name] for name in criteria if name in values}, missing


@overload
def sweep(
    data: Microdata,
    algorithms: Sequence[Algorithm],
    criteria: Sequence[str],
    attribute: str | None = None,
    take: Callable[[int, Point], None] | None = None,
    stop: None = None,
    workers: int | None = None,
    needed: Needed | None = None,
) -> tuple[Point, ...]: ...
@overload
def sweep(
    data: Microdata,
    algorithms: Sequence[Algorithm],
    criteria: Sequence[str],
    attribute: str | None = None,
    take: Callable[[int, Point], None] | None = None,
    stop: Stop | None = None,
    workers: int | None = None,
    needed: Needed | None = None,
) -> tuple[Point | None, ...]: ...
@checked
def sweep(
    data: Microdata,
    algorithms: Sequence[Algorithm],
    criteria: Sequence[str],
    attribute: str | None = None,
    take: Callable[[int, Point], None] | None = None,
    stop: Stop | None = None,
    workers: int | None = None,
    needed: Needed | None = None,
) -> tuple[Point | None, ...]:
    """Make the release of every algorithm, measure each by the same criteria, and let it go again.

    All cores are used; the points come in the order of the algorithms. Steps that algorithms with the same seed have in
    common are worked out once.

    Parameters
    ----------
    data : Microdata
        The table.
    algorithms : sequence of Algorithm
        The candidates, such as `candidates` gives them.
    criteria : sequence of str
        Names of the numbers that are taken.
    attribute : str, optional
        The sensitive attribute that criteria are about; by default the first.
    take : callable, optional
        Called with the position of a candidate and its point, in the calling thread, as soon as the point is there.
    stop : callable, optional
        Once it returns True no further candidate is begun, and those on their way end at their next step.
    workers : int, optional
        Releases that are made at a time; by default one per core.
    needed : callable, optional
        Called by any thread with the numbers of a release so far and the name of a slow criterion; where it returns
        False, that number is not taken. With an empty name it is asked whether a release matters of which only these
        numbers are known, and where it does not, it is not made. By default all are made and measured.

    Returns
    -------
    tuple of Point or None
        A point per algorithm; None, where `stop` is given, for those that were stopped.

    Raises
    ------
    ParameterError
        For an unknown criterion.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.search import candidates, sweep
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> tried = candidates({"mondrian": {"k": [3, 6]}}, data)
    >>> points = sweep(data, tried, ["k", "information-loss"])
    >>> for point in points:
    ...     print(point.values["k"], point.values["information-loss"])
    3.0 0.08
    6.0 1.0
    """
    chosen(criteria)
    ended = threading.Event()

    def stopped() -> bool:
        return ended.is_set() or (stop is not None and stop())

    points: list[Point | None] = [None] * len(algorithms)
    todo = iter(enumerate(algorithms))
    running: dict[Future[Point], int] = {}
    work = Memo()
    if workers is not None and workers < 1:
        raise ParameterError(f"workers should be at least 1, not {workers}; leave it out for one on each core.")
    n_workers = min(workers or cpu_count() or 1, max(len(algorithms), 1))
    with ThreadPoolExecutor(n_workers, thread_name_prefix="sweep") as pool:
        try:
            while True:
                while len(running) < n_workers and not stopped() and (following := next(todo, None)) is not None:
                    position, algorithm = following
                    future = pool.submit(_measured, work, data, algorithm, criteria, attribute, stopped, needed)
                    running[future] = position
                if not running:
                    break
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    position = running.pop(future)
                    try:
                        points[position] = point = future.result()
                    except CancelledError:
                        continue
                    if take is not None:
                        take(position, point)
        finally:
            ended.set()
    return tuple(points)


@checked
def pareto(points: Sequence[Point], criterion: str, other_criterion: str) -> Bools:
    """Say of each point whether it is unbeaten: no other is at least as good in both criteria and better in one.

    Parameters
    ----------
    points : sequence of Point
        The points of a sweep.
    criterion : str
        Name of the first criterion.
    other_criterion : str
        Name of the second criterion.

    Returns
    -------
    ndarray of bool, shape (n_points,)
        Whether each point is unbeaten; False for those that lack one of the two numbers.

    Examples
    --------
    The first has less loss, the second larger groups:

    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.search import candidates, sweep
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> tried = candidates({"mondrian": {"k": [3, 6]}}, data)
    >>> points = sweep(data, tried, ["k", "information-loss"])
    >>> from anoncore.search import pareto
    >>> pareto(points, "k", "information-loss").tolist()
    [True, True]
    """
    # Turned so that less is better in both. What lacks a number beats nothing, as NaN is neither less nor equal.
    signs = {name: -1 if CRITERIA[name].higher_is_better else 1 for name in (criterion, other_criterion)}
    turned = [[sign * point.values.get(name, np.nan) for name, sign in signs.items()] for point in points]
    values = np.array(turned).reshape(len(points), len(signs))
    is_as_good, is_better = values[:, None] <= values, values[:, None] < values
    is_beaten = (is_as_good.all(axis=2) & is_better.any(axis=2)).any(axis=0)
    front: Bools = ~is_beaten & ~np.isnan(values).any(axis=1) & (values[:, -1] < np.inf)
    return front
