"""Many releases of one table, each measured by the same criteria as it is made."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from os import cpu_count

import numpy as np
import numpy.typing as npt

from anoncore.algorithms import Algorithm
from anoncore.base.compile_time import recorded
from anoncore.base.errors import AnonymizationError, CancelledError
from anoncore.measures.criteria import CRITERIA, chosen, evaluate
from anoncore.table.microdata import Microdata

FIRST_CRITERIA = ("two-way-error", "t", "believed-above-half")
"""The criteria of a sweep for which none are named."""
Stop = Callable[[], bool]


@dataclass(frozen=True, eq=False)
class Point:
    """One candidate of a sweep: its numbers, or the sentence why it made no release.

    Attributes
    ----------
    algorithm : Algorithm
        The candidate.
    values : mapping of str to float
        Its numbers by name of the criterion.
    missing : mapping of str to str
        For each criterion that the release does not have, why.
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

    @property
    def made(self) -> bool:
        """Whether a release was made."""
        return not self.error


def measure(
    data: Microdata,
    algorithm: Algorithm,
    criteria: Sequence[str],
    attribute: str | None = None,
    stop: Stop | None = None,
) -> Point:
    """Make one release and take its numbers; the release itself is not kept.

    Where the method cannot anonymize the table the point has the error. Raises CancelledError once `stop` says so.
    """

    def report(_fraction: float, _text: str) -> None:
        if stop is not None and stop():
            raise CancelledError("The sweep was cancelled.")

    begin = time.perf_counter()
    try:
        with recorded() as compiling:
            release = algorithm.anonymize(data, report)
    except CancelledError:
        raise
    except AnonymizationError as error:
        return Point(algorithm, {}, {}, time.perf_counter() - begin, str(error))
    seconds = time.perf_counter() - begin - compiling.seconds
    report(1.0, "Measuring")
    numbers = evaluate(release, criteria, attribute)
    values = {name: value for name, value in numbers.items() if not isinstance(value, AnonymizationError)}
    missing = {name: str(value) for name, value in numbers.items() if isinstance(value, AnonymizationError)}
    return Point(algorithm, values, missing, seconds)


def sweep(
    data: Microdata,
    algorithms: Sequence[Algorithm],
    criteria: Sequence[str],
    attribute: str | None = None,
    take: Callable[[int, Point], None] | None = None,
    stop: Stop | None = None,
    workers: int | None = None,
) -> tuple[Point | None, ...]:
    """Make the release of every algorithm, measure each by the same criteria, and let it go again.

    All cores are used; the points come in the order of the algorithms.

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

    Returns
    -------
    tuple of Point or None
        A point per algorithm; None for those that were stopped.

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
    n_workers = min(workers or cpu_count() or 1, max(len(algorithms), 1))
    with ThreadPoolExecutor(n_workers, thread_name_prefix="sweep") as pool:
        try:
            while True:
                while len(running) < n_workers and not stopped() and (following := next(todo, None)) is not None:
                    position, algorithm = following
                    running[pool.submit(measure, data, algorithm, criteria, attribute, stopped)] = position
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


def pareto(points: Sequence[Point], one: str, other: str) -> npt.NDArray[np.bool_]:
    """Say of each point whether it is unbeaten: no other is at least as good in both criteria and better in one.

    Parameters
    ----------
    points : sequence of Point
        The points of a sweep.
    one : str
        Name of the first criterion.
    other : str
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
    first, second = CRITERIA[one], CRITERIA[other]
    front = np.zeros(len(points), dtype=np.bool_)
    measured = [i for i, point in enumerate(points) if one in point.values and other in point.values]
    if not measured:
        return front
    # Turned so that less is better in both.
    x = np.array([points[i].values[one] for i in measured]) * (-1 if first.higher_is_better else 1)
    y = np.array([points[i].values[other] for i in measured]) * (-1 if second.higher_is_better else 1)
    # In ascending order of x a point is unbeaten if its y is below that of all before. Points of one x stand together:
    # only those with the lowest y of them can be unbeaten.
    best = np.inf
    order = np.lexsort((y, x))
    start = 0
    while start < len(order):
        stop = start
        while stop < len(order) and x[order[stop]] == x[order[start]]:
            stop += 1
        lowest = y[order[start]]
        if lowest < best:
            front[[measured[number] for number in order[start:stop] if y[number] == lowest]] = True
            best = lowest
        start = stop
    return front
