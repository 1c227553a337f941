"""The board over one level: every column made anew at several values of k, l, c, t or r, of the people left out, or of
a parameter that belongs to a method alone.

The numbers that take a fraction of a second come first, from the present value outwards; then those that are estimated.
Of each column one release is kept at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from anoncore import AnonymizationError, CancelledError, Release, utility
from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.search.choosing import Choice
from anoncore.search.keeping import axes as axes_of
from anoncore.search.keeping import keeping
from dashboard.board import facts
from dashboard.board.facts import Facts
from dashboard.board.fields import FieldForm, field_forms
from dashboard.board.trials import Trial, Trials
from dashboard.session import compute
from dashboard.session.wishes import AXES, MOST_R, Column, Wishes, most_frequent
from dashboard.session.workspace import Run
from dashboard.tasks import jobs

LEFT_OUT, R = "left_out", "r"
VALUES: Mapping[str, tuple[float, ...]] = MappingProxyType(
    {
        "k": (2, 3, 5, 10, 20, 50, 100, 200),
        "l": (1.5, 2, 3, 4, 5, 6, 8, 10),
        "c": (0.5, 1, 1.5, 2, 3, 5, 10),
        "t": (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7),
        R: tuple(range(2, MOST_R + 1)),
        LEFT_OUT: (0.0, 0.005, 0.01, 0.02, 0.05, 0.1),
    }
)
"""What each level is tried at, beside the present value."""
FACTORS, SHARES = (0.25, 0.5, 1, 2, 4), (0.1, 0.25, 0.5, 0.75, 1)
"""At how many times its present value a parameter is tried, and at which shares of its range, where it has one."""
MOST_ESTIMATED = 200_000
"""Rows of a table up to which attacks and classifiers are estimated at every value."""


def parameters(wishes: Wishes) -> Mapping[str, str]:
    """The parameters of the methods on the board that can be varied, with their titles; none that is asked of all."""
    return {
        form.name: f"{form.title.lower()} of {ALGORITHMS[column.method].title}"
        for column in _made_here(wishes)
        for form in _own_numbers(column)
        if _around(form, column.fields.get(form.name, form.default))
    }


@dataclass(eq=False)
class Over(Trials):
    """The columns of the board over the values of one level; `trials` are by column and value.

    Where a method cannot keep what is asked at a value, there is None.
    """

    axis: str = "k"
    weight: float = 0.5
    """What the distance weighs beside the information loss (1 - weight), where a k is chosen by both."""
    trials: dict[tuple[str, float], Trial | None] = field(default_factory=dict)
    losses: dict[tuple[str, float], float] = field(default_factory=dict)
    """The papers' information loss of those releases that have one, where the lines run over k."""
    _last: dict[str, tuple[Algorithm, Run]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # The values of a parameter stay where they are while one of them is chosen.
        self._at_first = self.now

    @property
    def title(self) -> str:
        """What the level is called."""
        if self.axis == LEFT_OUT:
            return f"{self.data.people_word} left out"
        return parameters(self.wishes).get(self.axis, self.axis)

    def text(self, value: float) -> str:
        """A value of the level as people write it."""
        return f"{100 * value:g}%" if self.axis == LEFT_OUT else f"{value:g}"

    @property
    def now(self) -> float | None:
        """The present value; None where nothing is asked."""
        if self.axis in (LEFT_OUT, R):
            return float(getattr(self.wishes, self.axis))
        if self.axis in AXES:
            return self.wishes.levels.get(self.axis)
        column, form = next(self._with_parameter())
        value = column.fields.get(self.axis, form.default)
        return None if value is None else float(value)

    @property
    def values(self) -> tuple[float, ...]:
        """All values, ascending; of l none that the table cannot keep."""
        if self.axis in VALUES:
            found = {*VALUES[self.axis], *([] if self.now is None else [self.now])}
        else:
            _, form = next(self._with_parameter())
            found = {*_around(form, self._at_first), *([] if self.now is None else [self.now])}
        if self.axis == "l":
            most = 1 / most_frequent(self.data)[1]
            found = {value for value in found if value <= most or value == self.now}
        if self.axis == "k":
            found = {value for value in found if value <= self.data.n_people or value == self.now}
        return tuple(sorted(found))

    def start(self) -> None:
        """Begin with the quick numbers, which somebody waits for; the estimates follow when there is time."""
        self.job = self._begin(self._quick)

    def _begin(self, measure: Callable[..., Trial | None]) -> jobs.Job:
        def work(report: jobs.Report) -> None:
            goes_on = False
            try:
                self._work(measure, report)
                if measure == self._quick and self.data.n_rows <= MOST_ESTIMATED:
                    self.job, goes_on = self._begin(self._estimated), True
            finally:
                if not goes_on:
                    self._forget()

        # Somebody waits for it, and no exact attack may hold it up; it gives way to what takes a second.
        return jobs.start(work, f"over {self.axis}", self.bench.here.id, can_pause=True, urgent=True)

    def is_about(self, digests: tuple[str, str], wishes: Wishes, axis: str) -> bool:
        """Whether this is what is asked now of a table and its tags, but for the present value of the level itself."""
        own = ((self.table.digest, self.tags.digest), self.axis, without(self.wishes, self.axis))
        return own == (digests, axis, without(wishes, axis))

    def at(self, column: str, value: float) -> Trial | None:
        """A column at a value, None where it is not there or not yet."""
        return self.trials.get((column, value))

    @property
    def releases(self) -> list[tuple[Column, float, Trial]]:
        """The releases that could be made: column, value, and numbers, of columns that are still there."""
        columns = {column.id: column for column in self.wishes.columns}
        trials = tuple(self.trials.items())
        return [(columns[id], value, one) for (id, value), one in trials if one is not None and id in columns]

    @property
    def titled(self) -> list[tuple[str, Trial]]:
        """These with what they are called: by the column alone where its method has no such level."""
        return [
            (f"{column.title}, {self.title} {self.text(value)}" if self._is_varied(column.id) else column.title, trial)
            for column, value, trial in self.releases
        ]

    def _is_varied(self, column: str) -> bool:
        """Whether the level is one of the method of a column, so that its releases differ."""
        held = [trial.algorithm for shown, _, trial in self.releases if shown.id == column]
        return any(algorithm != held[0] for algorithm in held)

    def is_drawn_anew(self, column: str) -> bool:
        """Whether every value of a column is a draw of its own: its method draws at random, and nobody gave a seed."""
        is_drawn = any(trial.quick["is_drawn"] for shown, _, trial in self.releases if shown.id == column)
        own = self.wishes.column(column)
        return is_drawn and own is not None and own.fields.get("seed") is None

    def choice(self, column: str) -> Choice | None:
        """What distance and information loss of a column cost together at each k; None where its method has no k, and
        before two values have both.
        """
        costs = [
            (int(value), trial.quick["distance"]["largest"], self.losses[column, value], trial.quick["groups"])
            for value in self.values
            if (trial := self.at(column, value)) is not None
            and (column, value) in self.losses
            and "largest" in trial.quick["distance"]
        ]
        if len(costs) < 2 or not self._is_varied(column):
            return None
        k, t, loss, groups = (np.array(numbers) for numbers in zip(*costs, strict=True))
        return Choice(self.weight, k, t, loss, groups)

    def frame(self) -> pd.DataFrame:
        """The lines as a table: a row per column of the board and value, with its numbers as far as they are there."""
        rows = []
        for column in self.wishes.columns:
            for value in self.values:
                trial = self.at(column.id, value)
                if trial is None:
                    continue
                given, predictable = (trial.slow.get(name, {}) for name in ("given", "predictable"))
                rows.append(
                    {
                        "release": column.title,
                        self.title: value,
                        "smallest group": trial.quick.get("smallest"),
                        "largest EMD": trial.quick["distance"].get("largest"),
                        "two-way error": trial.quick["lost"].get("value"),
                        "information loss": self.losses.get((column.id, value)),
                        # Attacks that take too long here were not tried, so that it is the least that is given away.
                        "given away, at least (estimate)": given.get("value"),
                        "given away by chance (estimate)": given.get("control"),
                        "F-measure (estimate)": predictable.get("value"),
                    }
                )
        return pd.DataFrame(rows)

    def _work(self, measure: Callable[..., Trial | None], report: jobs.Report) -> None:
        points = list(self._points())
        for number, (column, value) in enumerate(points):
            trial = measure(column, value, partial(_say, report, number / len(points)))
            with self._lock:
                self.trials[column.id, value] = trial
                self.version += 1

    def _forget(self) -> None:
        for _, run in self._last.values():
            compute.forget(run)
        self._last.clear()

    def _points(self) -> Iterator[tuple[Column, float]]:
        """Every column that a method makes, at every value, those next to the present one first."""
        values = self.values
        present = values.index(self.now) if self.now in values else 0
        for value in sorted(values, key=lambda other: abs(values.index(other) - present)):
            for column in _made_here(self.wishes):
                yield column, value

    def _with_parameter(self) -> Iterator[tuple[Column, FieldForm]]:
        """The columns whose method has the parameter over which the lines run."""
        for column in _made_here(self.wishes):
            for form in _own_numbers(column):
                if form.name == self.axis:
                    yield column, form

    def _quick(self, column: Column, value: float, report: jobs.Report) -> Trial | None:
        """The quick numbers of a column at a value, None where its method cannot keep what is asked there."""
        if (column.id, value) in self.trials:
            return self.trials[column.id, value]
        wishes = with_value(self.wishes, self.axis, value)

        def measured(run: Run) -> Trial:
            if self.axis == "k":
                # Some forms of a release have none.
                with suppress(AnonymizationError):
                    self.losses[column.id, value] = compute.cached("utility.information_loss", run, _information_loss)
            return self.measured(run, wishes)

        return self._of_release(column, wishes, measured, report)

    def _estimated(self, column: Column, value: float, report: jobs.Report) -> Trial | None:
        """The same with estimates of the slow numbers, as far as the release has them."""
        trial = self.trials[column.id, value]
        wishes = with_value(self.wishes, self.axis, value)
        measures = facts.measures(wishes.secret_of(self.data), wishes.r, wishes.target_of(self.data))
        if trial is None or trial.slow:
            return trial

        def measured(run: Run) -> Trial:
            slow = {}
            for key, estimate, exact in measures:

                def estimated(release: Release, *about: Hashable, measure: Any = estimate or exact) -> Facts:
                    return measure(release, *about, progress=report)

                try:
                    slow[str(key[0])] = compute.cached(f"over {key[0]}", run, estimated, *key[1:])
                except CancelledError:
                    raise
                except AnonymizationError:
                    continue
            return replace(trial, slow=slow)

        return self._of_release(column, wishes, measured, report) or trial

    def _of_release(
        self, column: Column, wishes: Wishes, measured: Callable[[Run], Trial], report: jobs.Report
    ) -> Trial | None:
        """What is measured of the release of a column; None where its method cannot keep what is asked."""
        try:
            fields = next(other.fields for other in wishes.columns if other.id == column.id)
            algorithm = keeping(column.method, fields, wishes.levels, wishes.more, self.data, wishes.left_out)
            last, run = self._last.get(column.id, (None, None))
            if last != algorithm or run is None:
                # The level is no matter of some methods: their release is the same at every value.
                if run is not None:
                    compute.forget(run)
                run = self.run_of(algorithm, report)
                self._last[column.id] = algorithm, run
            return measured(run)
        except CancelledError:
            raise
        except AnonymizationError:
            return None


def with_value(wishes: Wishes, axis: str, value: float) -> Wishes:
    """The wishes with another value of a level, or of a parameter in all columns whose method has it."""
    if axis in AXES:
        return wishes.with_level(axis, int(value) if axis == "k" else value)
    if axis == LEFT_OUT:
        return wishes.with_left_out(value)
    if axis == R:
        return replace(wishes, r=int(value))

    def changed(column: Column) -> Column:
        form = next((form for form in _own_numbers(column) if form.name == axis), None)
        if form is None:
            return column
        return replace(column, fields={**column.fields, axis: int(value) if form.form == "integer" else value})

    return replace(wishes, columns=tuple(changed(column) for column in wishes.columns))


def without(wishes: Wishes, axis: str) -> Sequence[object]:
    """All that is asked but the value of one level."""
    levels = {name: value for name, value in wishes.levels.items() if name != axis}
    others = [getattr(wishes, name) for name in (LEFT_OUT, R) if name != axis]
    columns = [
        (one.id, one.method, {name: value for name, value in one.fields.items() if name != axis}, one.opened)
        for one in wishes.columns
    ]
    return levels, wishes.more, others, columns, wishes.secret, wishes.target


def _made_here(wishes: Wishes) -> list[Column]:
    """The columns that a method makes under what is asked."""
    return [column for column in wishes.columns if column.opened is None]


def _own_numbers(column: Column) -> Iterator[FieldForm]:
    """The numbers among the parameters of a column's method that are no level of the board."""
    if column.opened is not None:
        return
    names = set(axes_of(ALGORITHMS[column.method])) - {*AXES, "max_suppression"}
    for form in field_forms(ALGORITHMS[column.method]):
        if form.name in names:
            yield form


def _around(form: FieldForm, present: float | None) -> tuple[float, ...]:
    """The values at which a parameter is tried; none where nothing says which would make sense."""
    if form.stops:
        found = {*form.stops}
    elif form.low is not None and form.high is not None and form.form == "number":
        found = {round(form.low + share * (form.high - form.low), 6) for share in SHARES}
    elif present:
        found = {round(present * factor) if form.form == "integer" else present * factor for factor in FACTORS}
    else:
        return ()
    low, high = form.low if form.low is not None else -np.inf, form.high if form.high is not None else np.inf
    found = {min(max(float(value), low), high) for value in found} | (
        {float(present)} if present is not None else set()
    )
    return tuple(sorted(found))


def _information_loss(release: Release) -> float:
    return float(utility.information_loss(release))


def _say(report: jobs.Report, share: float, _: float, text: str) -> None:
    """Tell how far the whole is, whatever part of it tells of itself."""
    report(share, text)
