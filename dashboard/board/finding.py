"""Find better: other methods and parameters under the promise of the board, one after the other in the background."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from anoncore import AnonymizationError, CancelledError, Policy
from anoncore.algorithms import ALGORITHMS
from anoncore.base.progress import silent
from anoncore.base.random_numbers import fresh_seed
from anoncore.measures.promise_marks import BUCKET
from anoncore.search.keeping import keeping
from dashboard.board import facts
from dashboard.board.by_policy import ByPolicy
from dashboard.board.trials import Trial, Trials
from dashboard.board.wording import first_line, keeps
from dashboard.session import compute
from dashboard.session.wishes import Wishes, in_words
from dashboard.session.workspace import Run
from dashboard.tasks import jobs

LONGEST = 8.0
"""Seconds after which a method is left for what is quicker."""
TRIED: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("local-suppression", {}),
    ("local-recoding", {"start": "deal"}),
    ("stack-and-deal", {"refine": True}),
    ("mondrian", {"refine": True}),
    ("mondrian", {}),
    ("stack-and-deal", {}),
    ("mondrian", {"split": "loss", "refine": True}),
    ("local-recoding", {"refine": True}),
    ("local-recoding", {}),
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
class Candidate:
    """A release that was tried: the method, its own parameters, its numbers, which rules of the policy in force it is
    seen to break (empty for none), and the seed with which the same release is made again.
    """

    method: str
    fields: Mapping[str, Any]
    trial: Trial
    broken: str = ""
    seed: int = 0

    @property
    def title(self) -> str:
        """The method, with what differs from the usual in its parameters."""
        own = in_words(self.fields)
        return f"{ALGORITHMS[self.method].title}{f' ({own})' if own else ''}"

    @property
    def keeps(self) -> bool:
        """Whether all that is asked is seen to hold."""
        return keeps(self.trial.marks, self.trial.judged)

    @property
    def is_good(self) -> bool:
        """Whether it could be published: all that is asked holds, and no rule or anything else speaks against it."""
        marks, judged = self.trial.marks, self.trial.judged
        return bool(marks) and not self.broken and judged.is_good and first_line(marks, judged)[1] == "good"

    @property
    def lost(self) -> float:
        """The share of the pairs of values that are read wrongly; 1 where that cannot be told."""
        return float(self.trial.quick["lost"].get("value", 1.0))


@dataclass(eq=False)
class Finding(Trials):
    """One search under what is asked of a table; `candidates` are the releases that could be made, in their order."""

    candidates: tuple[Candidate, ...] = ()
    n_tried: int = 0

    def is_about(self, digests: tuple[str, str], wishes: Wishes) -> bool:
        """Whether this is what is asked now of a table and its tags."""
        return (self.table.digest, self.tags.digest) == digests and self._promise(self.wishes) == self._promise(wishes)

    def _promise(self, wishes: Wishes) -> tuple[object, ...]:
        return dict(wishes.levels), wishes.more, wishes.left_out, wishes.secret_of(self.data), wishes.policy

    @property
    def best(self) -> Candidate | None:
        """The release that could be published and loses least."""
        return min(
            (candidate for candidate in self.candidates if candidate.is_good),
            key=lambda candidate: candidate.lost,
            default=None,
        )

    def start(self) -> None:
        """Try what was not tried yet."""
        # Somebody waits for it, and no exact attack may hold it up; it gives way to what takes a second.
        self.job = jobs.start(self._work, "find better", self.bench.here.id, can_pause=True, urgent=True)

    def _work(self, report: jobs.Report) -> None:
        for method, fields in TRIED[self.n_tried :]:
            kind = ALGORITHMS[method]
            report(self.n_tried / len(TRIED), kind.title)
            # Buckets publish what is known of people as it is, so that they never hide them among k.
            if not ("k" in self.wishes.levels and kind.group_word == BUCKET):
                tried = self._tried(method, fields, report)
                with self._lock:
                    self.candidates = (*self.candidates, *([] if tried is None else [tried]))
            self.n_tried += 1
            self.version += 1

    def _tried(self, method: str, fields: Mapping[str, Any], report: jobs.Report) -> Candidate | None:
        """One release with its numbers; None where the method cannot keep the promise, or takes too long."""
        wishes, begin, seed = self.wishes, perf_counter(), fresh_seed()

        def within(share: float, text: str) -> None:
            report((self.n_tried + share) / len(TRIED), text)
            if perf_counter() - begin > LONGEST:
                raise _TooLongError

        try:
            algorithm = keeping(method, fields, wishes.levels, wishes.more, self.data, wishes.left_out)
            run = self.run_of(algorithm, within, seed)
        except (AnonymizationError, _TooLongError) as error:
            if isinstance(error, CancelledError):
                raise
            return None
        try:
            return Candidate(method, fields, self.measured(run, wishes), _broken(run, wishes.policy), seed)
        finally:
            compute.forget(run)


def _broken(run: Run, policy: Policy | None) -> str:
    """What a release breaks of the rules that take a moment; the others are measured when it is a column."""
    if policy is None:
        return ""
    found = facts.about_policy(run.release, policy.to_toml(), progress=silent)
    return ByPolicy.of(policy.name, found).broken


class _TooLongError(Exception):
    """A method takes longer than others are kept waiting for."""
