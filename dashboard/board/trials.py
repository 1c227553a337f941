"""Releases that the board makes in the background for their numbers alone: over a level, or to find a better one.

What shall stand on the board is wished for as a column and made there; of these releases only numbers are kept.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from anoncore import Microdata
from anoncore.algorithms import Algorithm
from anoncore.measures.promise_marks import Mark
from anoncore.search.keeping import asked
from dashboard.board import facts
from dashboard.board.bench import Attempt, Bench
from dashboard.board.facts import Facts, Judged
from dashboard.session.loaded_table import LoadedTable, Tags
from dashboard.session.wishes import Wishes
from dashboard.session.workspace import Run
from dashboard.tasks import jobs


@dataclass(frozen=True)
class Trial:
    """The numbers of one release: the quick ones, how what is asked fares, and the slow ones by name, if any."""

    algorithm: Algorithm
    quick: Facts
    marks: tuple[Mark, ...]
    judged: Judged
    slow: Mapping[str, Facts] = field(default_factory=dict)


@dataclass(eq=False)
class Trials:
    """Releases of one table that are made and measured one after the other; any thread may read what is there.

    `version` grows whenever there is more to read.
    """

    bench: Bench
    data: Microdata
    table: LoadedTable
    tags: Tags
    wishes: Wishes
    version: int = 0
    job: jobs.Job | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def running(self) -> bool:
        """Whether more is to come."""
        return self.job is not None and self.job.running

    def cancel(self) -> None:
        """Stop; what is there stays."""
        if self.job is not None:
            self.job.cancel()

    def run_of(self, algorithm: Algorithm, report: jobs.Report, seed: int | None = None) -> Run:
        """The release of a method; whoever asks for it forgets it (`compute.forget`) when it is measured.

        What it draws begins with the seed, if there is one. Raises AnonymizationError where the method cannot make it.
        """
        return self.bench.make(Attempt("", 0, algorithm, self.data, self.table, self.tags, seed=seed), report)

    def measured(self, run: Run, wishes: Wishes) -> Trial:
        """The quick numbers of a release, judged by what these wishes ask for."""
        wanted = asked(wishes.levels, wishes.more, self.data)
        quick, marks = facts.quick(run, wishes.secret_of(self.data)), facts.marks(run, wanted)
        assert run.algorithm is not None, "a trial is made by a method"
        return Trial(run.algorithm, quick, marks, Judged.of(facts.verdict_of(run, wanted)))
