"""Find better: other methods and parameters under the promise of the board, one after the other in the background.

Only numbers are kept of what is tried. What shall stand on the board is wished for as a column and made there.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from anoncore import AnonymizationError, CancelledError, Microdata
from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.requirements import Requirement
from anoncore.search.keeping import asked, keeping
from dashboard import compute, jobs
from dashboard.board import facts
from dashboard.board.bench import Attempt, Bench
from dashboard.board.facts import BUCKET, Facts, Judged, Mark
from dashboard.board.grid import first_line, keeps
from dashboard.board.wishes import Wishes
from dashboard.loaded_table import LoadedTable, Tags

LONGEST = 8.0
"""Seconds after which a method is left for what is quicker."""
TRIED: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("local-suppression", {}),
    ("stack-and-deal", {"refine": True}),
    ("mondrian", {"refine": True}),
    ("mondrian", {}),
    ("stack-and-deal", {}),
    ("mondrian", {"split": "loss", "refine": True}),
    ("local-recoding", {"refine": True}),
    ("microaggregation", {}),
    ("microaggregation", {"clustering": "nearest"}),
    ("sabre", {}),
    ("sensitive-space-fragmentation", {}),
    ("anatomy", {}),
    ("anatomy", {"refine": True}),
    ("slicing", {}),
    ("slicing", {"refine": True}),
    ("foreground-safe", {}),
    ("injector", {}),
    ("vertical-fragmentation", {}),
    ("incognito", {}),
    ("optimal-recoding", {"max_suppression": 0.0, "most_checked": 2_000}),
)
"""Methods with parameters of their own, those first that have lost least on real tables."""


@dataclass(frozen=True)
class Found:
    """A release that was tried: the method and its own parameters, its numbers, and how what is asked fares in it."""

    method: str
    fields: Mapping[str, Any]
    algorithm: Algorithm
    quick: Facts
    marks: tuple[Mark, ...]
    judged: Judged
    seconds: float

    @property
    def title(self) -> str:
        """The method, with what differs from the usual in its parameters."""
        told = ", ".join(f"{name.replace('_', ' ')} {_said(value)}" for name, value in self.fields.items())
        return f"{ALGORITHMS[self.method].title}{f' ({told})' if told else ''}"

    @property
    def keeps(self) -> bool:
        """Whether all that is asked is seen to hold."""
        return keeps(self.marks, self.judged)

    @property
    def is_good(self) -> bool:
        """Whether it could be published: all that is asked holds, and nothing else speaks against it."""
        return bool(self.marks) and self.judged.is_good and first_line(self.marks, self.judged, False)[1] == "good"

    @property
    def lost(self) -> float:
        """The share of the pairs of values that are read wrongly; 1 where that cannot be told."""
        return float(self.quick["lost"].get("value", 1.0))


def _said(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


@dataclass(eq=False)
class Finding:
    """One search under what is asked of a table; any thread may read what was found so far."""

    bench: Bench
    data: Microdata
    table: LoadedTable
    tags: Tags
    wishes: Wishes
    found: tuple[Found, ...] = ()
    job: jobs.Job | None = None
    n_tried: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def key(self) -> tuple[object, ...]:
        """What was asked, of which table."""
        return _key(self.table, self.tags, self.wishes, self.data)

    def is_about(self, table: LoadedTable, tags: Tags, wishes: Wishes, data: Microdata) -> bool:
        """Whether this is what is asked now."""
        return self.key == _key(table, tags, wishes, data)

    @property
    def running(self) -> bool:
        """Whether methods are being tried."""
        return self.job is not None and self.job.running

    @property
    def best(self) -> Found | None:
        """The release that could be published and loses least."""
        return min((one for one in self.found if one.is_good), key=lambda one: one.lost, default=None)

    def start(self) -> None:
        """Try what was not tried yet."""
        self.job = jobs.start(self._work, "find better", self.bench.here.id, can_pause=True)

    def cancel(self) -> None:
        """Stop; what was found stays."""
        if self.job is not None:
            self.job.cancel()

    def _work(self, report: jobs.Report) -> None:
        wishes, secret = self.wishes, self.wishes.secret_of(self.data)
        wanted = asked(wishes.levels, wishes.more, self.data)
        for method, fields in TRIED[self.n_tried :]:
            kind = ALGORITHMS[method]
            report(self.n_tried / len(TRIED), kind.title)
            # Buckets publish what is known of people as it is, so that they never hide them among k.
            if not ("k" in wishes.levels and kind.group_word == BUCKET):
                one = self._tried(method, fields, secret, wanted, report)
                with self._lock:
                    self.found = (*self.found, *([one] if one is not None else []))
            self.n_tried += 1

    def _tried(
        self,
        method: str,
        fields: Mapping[str, Any],
        secret: str | None,
        wanted: tuple[Requirement, ...],
        report: jobs.Report,
    ) -> Found | None:
        """One release with its numbers; None where the method cannot keep the promise, or takes too long."""
        wishes, begin = self.wishes, perf_counter()

        def within(share: float, text: str) -> None:
            report((self.n_tried + share) / len(TRIED), text)
            if perf_counter() - begin > LONGEST:
                raise _TooLongError

        try:
            algorithm = keeping(method, fields, wishes.levels, wishes.more, self.data, wishes.left_out)
            attempt = Attempt("", 0, algorithm, self.data, self.table, self.tags)
            run = self.bench.make(attempt, within)
        except (AnonymizationError, _TooLongError) as error:
            if isinstance(error, CancelledError):
                raise
            return None
        try:
            quick, marks = facts.quick(run, secret), facts.marks(run, wanted)
            judged = Judged.of(facts.verdict_of(run, wanted))
        finally:
            compute.forget(run)
        assert run.algorithm is not None, "it was made by a method"
        return Found(method, fields, run.algorithm, quick, marks, judged, run.seconds)


class _TooLongError(Exception):
    """A method takes longer than others are kept waiting for."""


def _key(table: LoadedTable, tags: Tags, wishes: Wishes, data: Microdata) -> tuple[object, ...]:
    levels = tuple(wishes.levels.items())
    return table.digest, tags.digest, levels, wishes.more, wishes.left_out, wishes.secret_of(data)
