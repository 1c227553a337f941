"""The releases behind the board: made when they are wished for, measured from quick to slow, dropped when unwanted.

Nothing here touches the page. A page says what it wishes, draws what is there, and asks again while `is_busy`.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np

from anoncore import CancelledError, Microdata, Policy
from anoncore.algorithms import Algorithm
from anoncore.base import memory, shared_work
from anoncore.base.compile_time import recorded
from anoncore.base.shared_work import Memo, sharing
from anoncore.measures.answer import FOREGROUND
from anoncore.measures.promise_marks import Mark
from anoncore.requirements import Requirement
from anoncore.search.candidates import is_drawn_from, seeded
from anoncore.search.keeping import possible_instead, promises_alike
from dashboard.board import facts
from dashboard.board.by_policy import ByPolicy
from dashboard.board.facts import Facts, Measure, Slow
from dashboard.serving import audit
from dashboard.session import compute
from dashboard.session.loaded_table import LoadedTable, Tags
from dashboard.session.opened import Opened
from dashboard.session.workspace import Run, Workspace, run_title
from dashboard.tasks import jobs, warmup

MOST_ATTEMPTS = 40
"""Releases that are kept, so that going back to a setting shows it at once."""
MOST_ROWS = 6_000_000
"""Rows of all kept releases together that no column shows: each holds some tens of bytes per row."""
LOOKING = 3.0
"""Seconds for which somebody who has looked counts as looking."""
GONE = 120.0
"""Seconds without a look after which nobody is there, as far as exact numbers go: they may take minutes each. A page in
the background looks once a minute at least.
"""
LARGE = 500_000
"""Rows of a table from which on memory is returned to the system when work ends, and something new that is asked puts
exact numbers off.
"""
PATIENCE = 2.0
"""Seconds after a wish in which slow numbers wait for the releases that are still being made: these come first."""
LONG_PATIENCE = 60.0
"""The same for exact numbers of which there is an estimate: of a large table one takes a minute on all processors, and
the estimates of a release that is there a moment later would wait for it.
"""


@dataclass(frozen=True)
class Known:
    """What is known before of a release that is made anew: the seed of what its method draws, and slow numbers by their
    names with what they are asked with.
    """

    seed: int
    numbers: Mapping[tuple[Any, ...], Facts]


NOTHING_KNOWN: Mapping[str, Known] = MappingProxyType({})


@dataclass(eq=False)
class Attempt:
    """One algorithm on one table: its release, once it is there, and what is known of it.

    `algorithm` is what was wished for; the run's own one may differ in parameters that belong to the method alone. It
    is None where published tables were `opened`, which are read against the table instead. With a `seed`, what the
    method draws begins with it, else with the system's entropy, unless the algorithm has seeds of its own.
    """

    column: str
    color: int
    algorithm: Algorithm | None
    data: Microdata
    table: LoadedTable
    tags: Tags
    opened: Opened | None = None
    seed: int | None = None
    run: Run | None = None
    problem: str = ""
    quick: dict[str | None, Facts] = field(default_factory=dict)
    marks: dict[tuple[Requirement, ...], tuple[Mark, ...]] = field(default_factory=dict)
    slow: dict[tuple[Any, ...], Slow] = field(default_factory=dict)
    job: jobs.Job | None = None

    @property
    def is_adapted(self) -> bool:
        """Whether a parameter of the method had to change for the promise to be kept."""
        if self.run is None or self.run.algorithm is None or self.algorithm is None:
            return False
        return not is_drawn_from(self.run.algorithm, self.algorithm)

    @property
    def has_known_seed(self) -> bool:
        """Whether others can guess what the method drew, and nobody here asked for a seed."""
        used, wished = None if self.run is None else self.run.algorithm, self.algorithm
        return used is not None and wished is not None and used.has_guessable_seed and not wished.has_guessable_seed

    def wear(self, color: int) -> None:
        """Take the colour of the column, which may be another one since a column of the same name went."""
        self.color = color
        if self.run is not None and self.run.color_index != color:
            self.run = replace(self.run, color_index=color)

    def cancel(self) -> None:
        """Stop everything that is computed for it; what is there stays."""
        if self.job is not None:
            self.job.cancel()
            self.job = None
        self._stop_numbers(lambda _key, _slow: True)

    def forget_steps(self) -> None:
        """Let go of what its numbers were worked out from; the release and the numbers that are there stay."""
        if self.run is not None:
            shared_work.forget(self.run.release, but=(FOREGROUND,))

    def cancel_other_numbers(self, measures: tuple[Measure, ...]) -> None:
        """Stop computing slow numbers that are none of these, such as those of another adversary."""
        wanted = {key for key, _, _ in measures}
        self._stop_numbers(lambda key, _: key not in wanted)

    def put_off(self) -> None:
        """Stop computing what no cell waits for: exact numbers of which there is an estimate, and late ones."""
        self._stop_numbers(lambda key, slow: slow.estimate is not None or key[0] in facts.LATE)

    def _stop_numbers(self, is_unwanted: Callable[[tuple[Any, ...], Slow], bool]) -> None:
        for key, slow in self.slow.items():
            if slow.job is not None and is_unwanted(key, slow):
                slow.job.cancel()
                slow.job = None

    def by_policy(self, policy: Policy) -> ByPolicy:
        """What a policy says of the release, as far as its rules have come out."""
        slow = self.slow.get(facts.key_of(policy), Slow())
        return ByPolicy.of(policy.name, slow.facts, slow.problem)


class Bench:
    """All attempts of one workspace. Its methods may be called by any thread."""

    def __init__(self, here: Workspace) -> None:
        self.here = here
        self.version = 0
        self._lock = threading.RLock()
        self._attempts: OrderedDict[str, Attempt] = OrderedDict()
        self._wanted: dict[str, Attempt] = {}
        self._secret: str | None = None
        self._asked: tuple[Requirement, ...] = ()
        self._measures: tuple[Measure, ...] = ()
        self._changed = 0.0
        self._looked = 0.0
        self._seen = 0.0
        self._seconds: dict[str, float] = {}
        self._seeds: dict[str, int] = {}
        self._work = Memo()

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """All that are kept, the longest unwanted first."""
        with self._lock:
            return tuple(self._attempts.values())

    @property
    def wanted(self) -> tuple[Attempt, ...]:
        """What the columns of the board show, in their order."""
        with self._lock:
            return tuple(self._wanted.values())

    @property
    def is_busy(self) -> bool:
        """Whether something that is wished for is still to come."""
        with self._lock:
            return any(_is_busy(attempt, self._measures) for attempt in self._wanted.values())

    def is_made(self, column: str) -> bool:
        """Whether the release that is wished for in a column is there; in any column where the id is empty."""
        with self._lock:
            wanted = self._wanted.values() if not column else [self._wanted[column]] if column in self._wanted else []
            return any(attempt.run is not None for attempt in wanted)

    @property
    def lacks_late_numbers(self) -> bool:
        """Whether numbers are still to come that are worked out only while somebody looks (`look`)."""
        with self._lock:
            return self._lacks(measure for measure in self._measures if measure[0][0] in facts.LATE)

    def look(self) -> None:
        """Say that somebody looks at the board now, so that what nobody waits for may be worked out."""
        with self._lock:
            self._looked = self._seen = perf_counter()
            self._go_on()

    @property
    def long_work(self) -> tuple[tuple[str, jobs.Job], ...]:
        """The methods that take half a minute and are at it, with their jobs, which tell how far they are."""
        with self._lock:
            return tuple(
                (one.algorithm.title, one.job)
                for one in self._wanted.values()
                if one.algorithm is not None and one.algorithm.takes_long and one.run is None and one.job is not None
            )

    @property
    def doing(self) -> tuple[str, ...]:
        """What the methods are at that take half a minute."""
        return tuple(job.text for _, job in self.long_work)

    @property
    def seconds(self) -> float:
        """How long ago something else was wished for."""
        return perf_counter() - self._changed

    @property
    def waits_for_compiler(self) -> bool:
        """Whether something that is wished for waits until it is compiled on this machine."""
        return any(job.waits_for_compiler for job in self._jobs)

    @property
    def _jobs(self) -> list[jobs.Job]:
        """What is at work for the columns."""
        # A number that ends meanwhile adds another one.
        with self._lock:
            jobs_of = [
                (attempt.job, *(slow.job for slow in attempt.slow.values())) for attempt in self._wanted.values()
            ]
        return [job for of_attempt in jobs_of for job in of_attempt if job is not None]

    def cancel(self) -> None:
        """Stop everything; called when the workspace closes."""
        with self._lock:
            # What is wished for no longer is not begun anew by what ends or by the timer.
            self.rest()
            for attempt in self._attempts.values():
                attempt.cancel()

    @property
    def running(self) -> bool:
        """Whether something is at work, which holds the workspace in memory."""
        return bool(self._jobs)

    def wish(
        self,
        wanted: Mapping[str, Algorithm | Opened],
        colors: Mapping[str, int],
        data: Microdata,
        table: LoadedTable,
        tags: Tags,
        secret: str | None,
        asked: tuple[Requirement, ...],
        measures: tuple[Measure, ...],
        known: Mapping[str, Known] = NOTHING_KNOWN,
    ) -> dict[str, Attempt]:
        """Make these releases, judge them by what is asked of all, and measure them, and nothing else; the attempts by
        the ids of their columns.

        Published tables that were opened are read and measured. Work for anything that is no longer wished for is
        cancelled. `known` are the seeds and slow numbers of columns whose releases were made and measured before.
        """
        with self._lock:
            found: dict[str, Attempt] = {}
            self._seen = perf_counter()
            for column, one in wanted.items():
                key = _key(column, one, table, tags)
                before_here = known.get(column)
                seed = self._seeds.get(key) if before_here is None else before_here.seed
                key = f"{key} {seed}"
                attempt = self._attempts.get(key)
                if attempt is None:
                    algorithm, opened = (None, one) if isinstance(one, Opened) else (one, None)
                    attempt = Attempt(column, colors[column], algorithm, data, table, tags, opened, seed)
                    attempt.run = self._restored(attempt)
                    if before_here is not None and attempt.run is None:
                        attempt.slow = {name: Slow(exact=found) for name, found in before_here.numbers.items()}
                    self._attempts[key] = attempt
                attempt.wear(colors[column])
                self._attempts.move_to_end(key)
                found[column] = attempt
            is_new = list(found.values()) != list(self._wanted.values())
            asks_anew = is_new or measures != self._measures
            self._secret, self._asked, self._measures = secret, asked, measures
            for attempt in self._wanted.values():
                if attempt not in found.values():
                    attempt.cancel()
                    attempt.forget_steps()
            if is_new:
                self._changed = perf_counter()
                for seconds in (PATIENCE, LONG_PATIENCE):
                    going_on = threading.Timer(seconds, self._go_on)
                    going_on.daemon = True
                    going_on.start()
            # A column whose release took longest before begins first, so that all are there sooner.
            before = {column: one.run.seconds for column, one in self._wanted.items() if one.run is not None}
            self._seconds.update(before)
            self._wanted = found
            if asks_anew and data.n_rows >= LARGE and self._lacks_something:
                # An exact number of a large table takes a minute on all processors, for which cells would wait.
                for attempt in found.values():
                    attempt.put_off()
            for attempt in sorted(found.values(), key=lambda one: -self._seconds.get(one.column, 0.0)):
                attempt.cancel_other_numbers(measures)
                self._begin(attempt)
            self._trim()
            return found

    def draw_with(self, seed: int, column: str, algorithm: Algorithm, table: LoadedTable, tags: Tags) -> None:
        """Let what a method draws in a column begin with a seed, so that its release is one that was made before."""
        with self._lock:
            self._seeds[_key(column, algorithm, table, tags)] = seed

    def _restored(self, attempt: Attempt) -> Run | None:
        """The release of a column as a saved session brought it, where it is what would be made now.

        It may have seeds that nobody asked for, but none that others can guess, unless it would be drawn with it now.
        """
        for run in self.here.runs:
            if run.column != attempt.column or run.table is None:
                continue
            if (run.table.digest, run.tags.digest) != (attempt.table.digest, attempt.tags.digest):
                continue
            if attempt.algorithm is None:
                is_same = run.opened is not None and run.opened == attempt.opened
            else:
                used, wished = run.algorithm, attempt.algorithm
                is_same = used is not None and self._is_what_runs(used, wished, attempt.data)
                if is_same and attempt.seed is None and replace(attempt, run=run).has_known_seed:
                    continue
            if is_same:
                return replace(run, color_index=attempt.color)
        return None

    def _is_what_runs(self, algorithm: Algorithm, wished: Algorithm, data: Microdata) -> bool:
        """Whether an algorithm is the one that runs where another one is wished for."""
        if is_drawn_from(algorithm, wished) or not promises_alike(algorithm, wished):
            return is_drawn_from(algorithm, wished)
        # Only here, as the page waits for it: of a large table it may take a second.
        with sharing(self._work):
            instead = possible_instead(wished, data)
        return instead is not None and is_drawn_from(algorithm, instead)

    def rest(self) -> None:
        """Stop measuring while nobody looks at the board; it goes on with the next wish."""
        with self._lock:
            for attempt in self._wanted.values():
                attempt.cancel()
            self._wanted = {}

    def stop_measuring(self) -> None:
        """Only make the releases while pages are looked at that show one of them; the next wish measures again."""
        with self._lock:
            self._measures = ()
            for attempt in self._wanted.values():
                attempt.cancel_other_numbers(())

    def wait(self, seconds: float) -> bool:
        """Wait until the quick facts of everything that is wished for are there, at most so long; whether they are."""
        with self._lock:
            waiting = [attempt.job for attempt in self._wanted.values() if attempt.job is not None]
        end = perf_counter() + seconds
        return all(job.wait(max(end - perf_counter(), 0.0)) for job in waiting)

    def _begin(self, attempt: Attempt) -> None:
        """Start what is still missing of an attempt."""
        if attempt.problem:
            return
        secret, asked = self._secret, self._asked
        is_quick = not attempt.data.insensitive and not warmup.is_cold()
        if attempt.run is not None and secret in attempt.quick and asked not in attempt.marks and is_quick:
            # Judged at once, a column whose release stays need not be drawn without its numbers meanwhile. What columns
            # do that are published by decision takes longer.
            attempt.marks[asked] = facts.marks(attempt.run, asked)
        if not self._is_judged(attempt):
            if attempt.job is None:
                attempt.job = jobs.start(
                    lambda report: _returning_memory(attempt, lambda: self._make(attempt, secret, asked, report)),
                    "Reading" if attempt.algorithm is None else attempt.algorithm.title,
                    self.here.id,
                    urgent=attempt.algorithm is None or not attempt.algorithm.takes_long,
                )
                self._take_refusal(attempt)
            return
        self._measure(attempt)

    def _take_refusal(self, attempt: Attempt) -> None:
        """A job that was refused at once, because too much is computed, says so."""
        if attempt.job is not None and attempt.job.status == "failed":
            attempt.problem, attempt.job = attempt.job.error, None

    def _is_judged(self, attempt: Attempt) -> bool:
        """Whether all that takes a fraction of a second is there."""
        return attempt.run is not None and self._secret in attempt.quick and self._asked in attempt.marks

    def _make(self, attempt: Attempt, secret: str | None, asked: tuple[Requirement, ...], report: jobs.Report) -> None:
        try:
            run = attempt.run or self.make(attempt, report)
            # Each report is where work that nobody waits for any more ends.
            report(0.97, "Measuring the release")
            quick = attempt.quick.get(secret) or facts.quick(run, secret)
            report(0.99, "Judging the release")
            marks = facts.marks(run, asked)
            # Its parts are kept, so that the page has the verdict at once.
            facts.verdict_of(run, asked)
        except CancelledError:
            raise
        except Exception as error:
            with self._lock:
                attempt.problem, attempt.job = jobs.sentence_of(error), None
                self.version += 1
                self._go_on()
            return
        with self._lock:
            if attempt.run is None:
                attempt.run = replace(run, color_index=attempt.color)
            if attempt.run.id == run.id:
                attempt.quick[secret], attempt.marks[asked] = quick, marks
            attempt.job = None
            self.version += 1
            if attempt in self._wanted.values():
                self._begin(attempt)
            self._go_on()

    def _go_on(self) -> None:
        """Measure whatever may be measured now."""
        with self._lock:
            for one in self._wanted.values():
                if self._is_judged(one):
                    self._measure(one)

    def _waits_for_releases(self, seconds: float) -> bool:
        """Whether releases are still being made, for which the processors are kept free so long after the wish; no
        longer than `PATIENCE` for one that takes half a minute.
        """
        since = self.seconds
        return any(
            not one.problem
            and not self._is_judged(one)
            and since < (PATIENCE if one.algorithm is not None and one.algorithm.takes_long else seconds)
            for one in self._wanted.values()
        )

    def make(self, attempt: Attempt, report: jobs.Report) -> Run:
        """Make the release, with other parameters of the method itself where only these keep the promise; one that was
        made elsewhere is read.
        """
        with sharing(self._work):
            used = attempt.algorithm
            if used is not None:
                used = possible_instead(used, attempt.data) or used
                used = used if attempt.seed is None else seeded(used, attempt.seed)
                audit.record("ran", self.here.who, method=audit.settings_of(used), **audit.of_table(attempt.table))
            begin = perf_counter()
            with recorded() as compiling:
                if used is not None:
                    release, label = used.anonymize(attempt.data, report), run_title(used)
                else:
                    assert attempt.opened is not None, "what has no algorithm was opened"
                    release, label = attempt.opened.read(attempt.data, attempt.tags), attempt.opened.title
        return Run(
            id=secrets.token_hex(8),
            label=label,
            algorithm=used,
            data=release.data,
            release=release,
            seconds=perf_counter() - begin - compiling.seconds,
            created=datetime.now(UTC),
            color_index=attempt.color,
            table_name=attempt.table.name,
            tags=attempt.tags,
            owner=self.here.id,
            table=attempt.table,
            column=attempt.column,
            compile_seconds=compiling.seconds,
            opened=attempt.opened,
        )

    def _measure(self, attempt: Attempt) -> None:
        """Start the next slow number of an attempt, one at a time: the exact ones after the estimates of all columns,
        while somebody is there.

        So a column never has two places in the queue while another one has nothing to show yet. Estimates of late
        numbers come after the other ones: a cell does without them.
        """
        if any(slow.job is not None for slow in attempt.slow.values()) or self._waits_for_releases(PATIENCE):
            return
        for is_estimate in (True, False):
            if not is_estimate and (self._lacks_estimate(self._measures) or perf_counter() - self._seen > GONE):
                return
            for measure in self._measures:
                key, estimate, exact = measure
                slow = attempt.slow.setdefault(key, Slow())
                function = estimate if is_estimate else exact
                if function is None or slow.is_done or (is_estimate and slow.estimate is not None):
                    continue
                is_late = key[0] in facts.LATE
                if (is_late or slow.estimate is not None) and self._waits_for_releases(LONG_PATIENCE):
                    continue
                if is_late and is_estimate and self._lacks_estimate(facts.of_cells(self._measures)):
                    continue
                if (
                    is_late
                    and not is_estimate
                    and (self._lacks(facts.of_cells(self._measures)) or perf_counter() - self._looked > LOOKING)
                ):
                    return
                self._start(attempt, measure, slow, function, is_estimate)
                return

    @property
    def _lacks_something(self) -> bool:
        """Whether a cell waits for a release, or for a first number about one."""
        is_made = all(one.problem or self._is_judged(one) for one in self._wanted.values())
        return not is_made or self._lacks_estimate(facts.of_cells(self._measures))

    def _lacks_estimate(self, measures: tuple[Measure, ...]) -> bool:
        """Whether a release that is there still waits for an estimate of one of these numbers."""
        estimated = (measure for measure in measures if measure[1] is not None)
        return self._lacks(estimated, lambda slow: slow.is_done or slow.estimate is not None)

    def _lacks(self, measures: Iterable[Measure], is_there: Callable[[Slow], bool] = lambda slow: slow.is_done) -> bool:
        """Whether a release that is there still waits for one of these numbers."""
        keys = [key for key, _, _ in measures]
        made = [one for one in self._wanted.values() if one.run is not None and not one.problem]
        return any(not is_there(one.slow.get(key, Slow())) for one in made for key in keys)

    def _start(
        self, attempt: Attempt, measure: Measure, slow: Slow, function: Callable[..., Facts], is_estimate: bool
    ) -> None:
        slow.job = jobs.start(
            lambda report: _returning_memory(
                attempt, lambda: self._tell(attempt, measure, slow, function, is_estimate, report)
            ),
            str(measure[0][0]),
            self.here.id,
        )
        if slow.job.status == "failed":
            slow.problem, slow.job = slow.job.error, None

    def _tell(
        self,
        attempt: Attempt,
        measure: Measure,
        slow: Slow,
        function: Callable[..., Facts],
        is_estimate: bool,
        report: jobs.Report,
    ) -> None:
        assert attempt.run is not None, "nothing is measured before the release is there"
        found: Facts | None = None
        problem = ""
        try:
            found = function(attempt.run.release, *measure[0][1:], progress=report)
        except CancelledError:
            raise
        except Exception as error:
            problem = jobs.sentence_of(error)
        with self._lock:
            slow.job = None
            if problem:
                slow.problem = problem
            elif is_estimate and found is not None and not found.pop("is_exact", False):
                slow.estimate = found
            else:
                slow.exact = found
            self.version += 1
            # The last estimate lets the exact numbers of all columns begin, and the last of these the late ones.
            if attempt in self._wanted.values():
                self._go_on()

    def _trim(self) -> None:
        """Forget the attempts that were not wished for longest."""
        unwanted = [key for key, attempt in self._attempts.items() if attempt not in self._wanted.values()]
        n_rows = np.cumsum([self._attempts[key].data.n_rows for key in reversed(unwanted)])
        n_kept = min(MOST_ATTEMPTS - len(self._wanted), int(np.searchsorted(n_rows, MOST_ROWS, side="right")))
        for key in unwanted[: max(len(unwanted) - n_kept, 0)]:
            gone = self._attempts.pop(key)
            gone.cancel()
            if gone.run is not None and gone.run.id not in {run.id for run in self.here.runs}:
                compute.forget(gone.run)


def _returning_memory(attempt: Attempt, work: Callable[[], None]) -> None:
    """Do work for an attempt, and return the memory that it has freed: glibc would keep it for every thread."""
    try:
        work()
    finally:
        if attempt.data.n_rows >= LARGE:
            memory.give_back()


def _key(column: str, one: Algorithm | Opened, table: LoadedTable, tags: Tags) -> str:
    """What tells a wish apart from others."""
    about = f"{column} {table.digest} {tags.digest}"
    if isinstance(one, Opened):
        return f"{about} opened {one.rows} {one.digest} {one.title}"
    return f"{about} {one.name} {one.to_dict()!r}"


def _is_busy(attempt: Attempt, measures: tuple[Measure, ...]) -> bool:
    if attempt.problem:
        return False
    if attempt.job is not None or attempt.run is None:
        return True
    return any(not attempt.slow.get(key, Slow()).is_done for key, _, _ in facts.of_cells(measures))
