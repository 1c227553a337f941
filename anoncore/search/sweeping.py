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
from anoncore.base.errors import AnonymizationError, CancelledError
from anoncore.measures.criteria import CRITERIA, chosen, evaluate
from anoncore.table.microdata import Microdata

Stop = Callable[[], bool]


@dataclass(frozen=True, eq=False)
class Point:
    """One candidate of a sweep: its numbers by criterion, or the sentence why it made no release.

    `missing` has the reason for each criterion that the release does not have. `seconds` is what the method took.
    """

    algorithm: Algorithm
    values: Mapping[str, float]
    missing: Mapping[str, str]
    seconds: float
    error: str = ""

    @property
    def made(self) -> bool:
        """Whether there was a release."""
        return not self.error


def measure(
    data: Microdata,
    algorithm: Algorithm,
    criteria: Sequence[str],
    attribute: str | None = None,
    stop: Stop | None = None,
) -> Point:
    """Make one release and take its numbers; the release itself is let go.

    A table that the method cannot anonymize so gives a point with the error. Raises CancelledError once `stop` says so.
    """

    def report(_fraction: float, _text: str) -> None:
        if stop is not None and stop():
            raise CancelledError("The sweep was cancelled.")

    begin = time.perf_counter()
    try:
        release = algorithm.anonymize(data, report)
    except CancelledError:
        raise
    except AnonymizationError as error:
        return Point(algorithm, {}, {}, time.perf_counter() - begin, str(error))
    seconds = time.perf_counter() - begin
    report(1.0, "Measuring")
    found = evaluate(release, criteria, attribute)
    values = {name: value for name, value in found.items() if not isinstance(value, AnonymizationError)}
    missing = {name: str(value) for name, value in found.items() if isinstance(value, AnonymizationError)}
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
    """Measure every algorithm on the table, on all cores, in the order given.

    `take(place, point)` is called, in the calling thread, as soon as a point is there. After `stop` returns True no
    further one is begun and those on their way end at their next step; their places stay None. Raises ParameterError
    for an unknown criterion.
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
                    place, algorithm = following
                    running[pool.submit(measure, data, algorithm, criteria, attribute, stopped)] = place
                if not running:
                    break
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    place = running.pop(future)
                    try:
                        points[place] = point = future.result()
                    except CancelledError:
                        continue
                    if take is not None:
                        take(place, point)
        finally:
            ended.set()
    return tuple(points)


def pareto(points: Sequence[Point], one: str, other: str) -> npt.NDArray[np.bool_]:
    """Whether no other point is at least as good in both criteria and better in one, bool (n_points,).

    Points that lack one of the two are not on the front.
    """
    first, second = CRITERIA[one], CRITERIA[other]
    front = np.zeros(len(points), dtype=np.bool_)
    there = [i for i, point in enumerate(points) if one in point.values and other in point.values]
    if not there:
        return front
    # Turned so that less is better in both.
    x = np.array([points[i].values[one] for i in there]) * (-1 if first.higher_is_better else 1)
    y = np.array([points[i].values[other] for i in there]) * (-1 if second.higher_is_better else 1)
    best = np.inf
    order = np.lexsort((y, x))
    start = 0
    while start < len(order):
        stop = start
        while stop < len(order) and x[order[stop]] == x[order[start]]:
            stop += 1
        lowest = y[order[start]]
        if lowest < best:
            front[[there[place] for place in order[start:stop] if y[place] == lowest]] = True
            best = lowest
        start = stop
    return front
