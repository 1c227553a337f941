"""The board over one level: every column made anew at several values of k, l, c, t or people left out.

The numbers that take a fraction of a second come first, from the present value outwards; then those that are estimated.
Of each column one release is kept at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from anoncore import AnonymizationError, CancelledError, Microdata, Release
from anoncore.algorithms import Algorithm
from anoncore.search.keeping import asked, keeping
from dashboard import compute, jobs
from dashboard.board import facts
from dashboard.board.bench import Attempt, Bench
from dashboard.board.facts import Facts, Judged, Mark
from dashboard.board.wishes import Column, Wishes, most_frequent
from dashboard.loaded_table import LoadedTable, Tags
from dashboard.workspace import Run

LEFT_OUT = "left out"
VALUES: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "k": (2, 3, 5, 10, 20, 50, 100, 200),
        "l": (1.5, 2, 3, 4, 5, 6, 8, 10),
        "c": (0.5, 1, 1.5, 2, 3, 5, 10),
        "t": (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7),
        LEFT_OUT: (0.0, 0.005, 0.01, 0.02, 0.05, 0.1),
    }
)
"""What each level is tried at, beside the present value."""
MOST_ESTIMATED = 200_000
"""Rows of a table up to which attacks and classifiers are estimated at every value."""


@dataclass(frozen=True)
class Point:
    """One column at one value: its quick numbers, how what is asked there fares, and the slow numbers by name."""

    quick: Facts
    marks: tuple[Mark, ...]
    judged: Judged
    slow: Mapping[str, Facts] = field(default_factory=dict)


@dataclass(eq=False)
class Along:
    """The columns of the board over the values of one level; any thread may read `points` by column and value.

    Where a method cannot keep what is asked at a value, there is None.
    """

    bench: Bench
    data: Microdata
    table: LoadedTable
    tags: Tags
    wishes: Wishes
    axis: str
    points: dict[tuple[str, float], Point | None] = field(default_factory=dict)
    version: int = 0
    job: jobs.Job | None = None
    _last: dict[str, tuple[Algorithm, Run]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def title(self) -> str:
        """What the level is called."""
        return f"{self.data.people_word} left out" if self.axis == LEFT_OUT else self.axis

    def text(self, value: float) -> str:
        """A value of the level as people write it."""
        return f"{100 * value:g}%" if self.axis == LEFT_OUT else f"{value:g}"

    @property
    def now(self) -> float | None:
        """The present value; None where nothing is asked."""
        return self.wishes.left_out if self.axis == LEFT_OUT else self.wishes.levels.get(self.axis)

    @property
    def values(self) -> tuple[float, ...]:
        """All values, ascending; of l none that the table cannot keep."""
        found = {*VALUES[self.axis], *([] if self.now is None else [self.now])}
        if self.axis == "l":
            most = 1 / most_frequent(self.data)[1]
            found = {value for value in found if value <= most or value == self.now}
        if self.axis == "k":
            found = {value for value in found if value <= self.data.n_people or value == self.now}
        return tuple(sorted(found))

    @property
    def running(self) -> bool:
        """Whether values are still to come."""
        return self.job is not None and self.job.running

    def start(self) -> None:
        """Begin with the quick numbers, which somebody waits for; the estimates follow when there is time."""
        self.job = self._begin(self._made, urgent=True)

    def _begin(self, measure: Callable[..., Point | None], urgent: bool = False) -> jobs.Job:
        def work(report: jobs.Report) -> None:
            goes_on = False
            try:
                self._work(measure, report)
                if measure == self._made and self.data.n_rows <= MOST_ESTIMATED:
                    self.job, goes_on = self._begin(self._estimated), True
            finally:
                if not goes_on:
                    self._forget()

        return jobs.start(work, f"over {self.axis}", self.bench.here.id, can_pause=True, urgent=urgent)

    def cancel(self) -> None:
        """Stop; what is there stays."""
        if self.job is not None:
            self.job.cancel()

    def is_about(self, table: LoadedTable, tags: Tags, wishes: Wishes, axis: str) -> bool:
        """Whether this is what is asked now, but for the present value of the level itself."""
        own = (self.table.digest, self.tags.digest, _but(self.wishes, self.axis), self.axis)
        return own == (table.digest, tags.digest, _but(wishes, axis), axis)

    def at(self, column: str, value: float) -> Point | None:
        """A column at a value, None where it is not there or not yet."""
        return self.points.get((column, value))

    def _work(self, measure: Callable[..., Point | None], report: jobs.Report) -> None:
        places = list(self._places())
        for number, (column, value) in enumerate(places):
            found = measure(column, value, partial(_say, report, number / len(places)))
            with self._lock:
                self.points[column.id, value] = found
                self.version += 1

    def _forget(self) -> None:
        for _, run in self._last.values():
            compute.forget(run)
        self._last.clear()

    def _places(self) -> Iterator[tuple[Column, float]]:
        """Every column that a method makes, at every value, those next to the present one first."""
        values = self.values
        present = values.index(self.now) if self.now in values else 0
        for value in sorted(values, key=lambda one: abs(values.index(one) - present)):
            for column in self.wishes.columns:
                if not column.run and column.opened is None:
                    yield column, value

    def _made(self, column: Column, value: float, report: jobs.Report) -> Point | None:
        """The quick numbers of a column at a value, None where its method cannot keep what is asked there."""
        if (column.id, value) in self.points:
            return self.points[column.id, value]
        wishes = _with(self.wishes, self.axis, value)
        wanted = asked(wishes.levels, wishes.more, self.data)

        def measured(run: Run) -> Point:
            judged = Judged.of(facts.verdict_of(run, wanted))
            return Point(facts.quick(run, wishes.secret_of(self.data)), facts.marks(run, wanted), judged)

        return self._of_release(column, wishes, measured, report)

    def _estimated(self, column: Column, value: float, report: jobs.Report) -> Point | None:
        """The same with estimates of the slow numbers, as far as the release has them."""
        point = self.points[column.id, value]
        wishes = _with(self.wishes, self.axis, value)
        measures = facts.measures(wishes.secret_of(self.data), wishes.r, wishes.target_of(self.data))
        if point is None or point.slow:
            return point

        def measured(run: Run) -> Point:
            slow = {}
            for key, estimate, exact in measures:

                def told(release: Release, *about: Hashable, measure: Any = estimate or exact) -> Facts:
                    return measure(release, *about, progress=report)

                try:
                    slow[str(key[0])] = compute.cached(f"over {key[0]}", run, told, *key[1:])
                except CancelledError:
                    raise
                except AnonymizationError:
                    continue
            return replace(point, slow=slow)

        return self._of_release(column, wishes, measured, report) or point

    def _of_release(
        self, column: Column, wishes: Wishes, measured: Callable[[Run], Point], report: jobs.Report
    ) -> Point | None:
        """What is measured of the release of a column; None where its method cannot keep what is asked."""
        try:
            algorithm = keeping(column.method, column.fields, wishes.levels, wishes.more, self.data, wishes.left_out)
            kept, run = self._last.get(column.id, (None, None))
            if kept != algorithm or run is None:
                # The level is no matter of some methods: their release is the same at every value.
                if run is not None:
                    compute.forget(run)
                attempt = Attempt(column.id, column.color, algorithm, self.data, self.table, self.tags)
                run = self.bench.make(attempt, report)
                self._last[column.id] = algorithm, run
            return measured(run)
        except CancelledError:
            raise
        except AnonymizationError:
            return None


def _say(report: jobs.Report, share: float, _: float, text: str) -> None:
    """Tell how far the whole is, whatever part of it tells of itself."""
    report(share, text)


def _with(wishes: Wishes, axis: str, value: float) -> Wishes:
    """The wishes with another value of a level."""
    return wishes.with_left_out(value) if axis == LEFT_OUT else wishes.with_level(axis, value)


def _but(wishes: Wishes, axis: str) -> Sequence[object]:
    """All that is asked but the value of one level."""
    levels = {name: value for name, value in wishes.levels.items() if name != axis}
    left_out = 0.0 if axis == LEFT_OUT else wishes.left_out
    columns = [(one.id, one.method, dict(one.fields), one.run, one.opened) for one in wishes.columns]
    return levels, wishes.more, left_out, columns, wishes.r, wishes.secret, wishes.target
