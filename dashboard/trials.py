"""Many candidates measured in the background for one visitor: start, watch, cancel, go on where it was cancelled."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from anoncore import CancelledError, Microdata
from anoncore.algorithms import Algorithm
from anoncore.search.finer import finer_candidates
from anoncore.search.found import Search, Target
from anoncore.search.sweeping import Point, Stop, sweep
from anoncore.search.targets import search
from dashboard import jobs, state
from dashboard.serving import audit

PATIENCE = 0.4


@dataclass(eq=False)
class Trial:
    """Candidates, the criteria they are measured by, and the points that are there; any thread may read them.

    `points` has the point of each candidate by its place among `algorithms`. Where there is a criterion to `spare`, the
    candidates are those of a search for the release that keeps the `targets`: then only what may be its answer is made
    and measured, and in the end the best releases are tried once more, refined and with the share `left_out` of the
    rows left out.
    """

    data: Microdata
    algorithms: tuple[Algorithm, ...]
    criteria: tuple[str, ...]
    attribute: str | None
    digests: tuple[str, str]
    owner: str = ""
    targets: tuple[Target, ...] = ()
    spare: str = ""
    left_out: float = 0.0
    points: dict[int, Point] = field(default_factory=dict)
    job: jobs.Job | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def running(self) -> bool:
        """Whether candidates are being measured."""
        return self.job is not None and self.job.running

    @property
    def is_done(self) -> bool:
        """Whether every candidate has its point."""
        return len(self.points) == len(self.algorithms)

    @property
    def problem(self) -> str:
        """Why the work ended early, if it failed."""
        return self.job.error if self.job is not None and self.job.status == "failed" else ""

    def found(self) -> tuple[Point, ...]:
        """The points that are there, in the order of the candidates."""
        with self._lock:
            return tuple(self.points[place] for place in sorted(self.points))

    def go_on(self) -> None:
        """Measure the candidates that have no point yet."""
        if self.running or self.is_done:
            return
        missing = [place for place in range(len(self.algorithms)) if place not in self.points]
        self.job = jobs.start(lambda report: self._work(missing, report), "trial", self.owner, can_pause=True)
        self.job.wait(PATIENCE)

    def cancel(self) -> None:
        """Stop; what is there stays."""
        if self.job is not None:
            self.job.cancel()

    def _work(self, missing: Sequence[int], report: jobs.Report) -> None:
        def stopped() -> bool:
            # Only the job's own report knows whether it was cancelled: `self.job` may not be set yet.
            try:
                report(len(self.points) / len(self.algorithms), self.progress)
            except CancelledError:
                return True
            return False

        def take(place: int, point: Point) -> None:
            with self._lock:
                self.points[missing[place]] = point

        tried = [self.algorithms[place] for place in missing]
        if not self.spare:
            sweep(self.data, tried, self.criteria, self.attribute, take, stopped)
            return
        search(self.data, self.targets, self.spare, tried, self.attribute, take, stopped)
        if self.is_done:
            self._try_finer(stopped)

    def _try_finer(self, stopped: Stop) -> None:
        """Try the best releases once more; what is tried becomes candidates like the others."""
        found = Search(self.targets, self.spare, self.found())
        finer, n_before = finer_candidates(self.data, found, self.left_out), len(self.algorithms)

        def take(place: int, point: Point) -> None:
            with self._lock:
                self.points[n_before + place] = point

        with self._lock:
            self.algorithms = (*self.algorithms, *finer)
        search(self.data, self.targets, self.spare, finer, self.attribute, take, stopped, after=found)

    @property
    def progress(self) -> str:
        """How far it is, in words."""
        return f"{len(self.points):,} of {len(self.algorithms):,} releases measured"


def digests() -> tuple[str, str]:
    """What tells the table and tags of now from others."""
    table = state.table()
    return (table.digest if table is not None else "", state.tags().digest)


def start(
    name: str,
    data: Microdata,
    algorithms: Sequence[Algorithm],
    criteria: Sequence[str],
    attribute: str | None,
    targets: Sequence[Target] = (),
    spare: str = "",
    left_out: float = 0.0,
) -> Trial:
    """Begin a trial under this name; an earlier one of that name is cancelled and let go."""
    earlier = current(name)
    if earlier is not None:
        earlier.cancel()
    here = state.workspace()
    asked = (attribute, digests(), here.id, tuple(targets), spare, left_out)
    methods = sorted({algorithm.name for algorithm in algorithms})
    facts = {} if here.table is None else audit.of_table(here.table)
    audit.record("searched", here.who, methods=methods, candidates=len(algorithms), **facts)
    trial = Trial(data, tuple(algorithms), tuple(criteria), *asked)
    here.jobs[name] = trial
    trial.go_on()
    return trial


def current(name: str) -> Trial | None:
    """The trial of that name for the table and tags of now; one for others is cancelled and let go."""
    here = state.workspace()
    found: Trial | None = here.jobs.get(name)
    if found is not None and found.digests != digests():
        found.cancel()
        del here.jobs[name]
        return None
    return found
