"""The dossier of a column: made in the background, with the other columns as the releases that were considered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from anoncore import AnonymizationError, Answers, Dossier, Policy, Release
from anoncore.base.progress import Progress, part_of
from anoncore.front.dossier.dossier_parts import Considered
from anoncore.front.dossier.measured_treatment import CONSIDERED
from anoncore.measures.answer import and_list
from anoncore.measures.criteria import BREACH_R, evaluate
from anoncore.requirements import Requirement
from dashboard.board.bench import Attempt
from dashboard.board.facts import STRONGEST, Facts, with_foreground
from dashboard.session import compute
from dashboard.session.workspace import Run
from dashboard.tasks import jobs


@dataclass(eq=False)
class DossierTask:
    """The dossier of a run that is being made, or was; its job gives the HTML and the JSON.

    It is about what was asked when it began: what is typed or asked differently since then is not in it.
    """

    asked: tuple[object, ...]
    job: jobs.Job

    @classmethod
    def start(
        cls,
        run: Run,
        release: Release,
        attempts: Sequence[Attempt],
        promise: tuple[Requirement, ...],
        policy: Policy | None,
        answers: Answers,
        owner: str,
    ) -> DossierTask:
        """Begin the dossier of a run, published as `release`, beside the columns of the board under one promise."""
        others = [one for one in attempts if one.run is not None and one.run.id != run.id]

        def work(report: jobs.Report) -> tuple[str, str]:
            considered = [*_considered(others, promise, part_of(report, 0.0, 0.4))]
            cache = with_foreground(run.release, compute.cache_of(run), part_of(report, 0.4, 0.5))
            tell = part_of(report, 0.5, 1.0)
            made = Dossier.of(release, policy, answers, considered, cache=cache, progress=tell)
            return made.to_html(), made.to_json()

        return cls(asked_of(run, policy, answers), jobs.start(work, "Dossier", owner))


def asked_of(run: Run, policy: Policy | None, answers: Answers) -> tuple[object, ...]:
    """What tells one dossier from another."""
    return run.id, policy, answers


def _considered(
    attempts: Sequence[Attempt], promise: tuple[Requirement, ...], progress: Progress
) -> Iterator[Considered]:
    """What others lose and give away, as the board has measured it, else measured now, and what they miss."""
    for place, attempt in enumerate(attempts):
        run = attempt.run
        assert run is not None, "only columns with a release were considered"
        tell = part_of(progress, place / len(attempts), (place + 1) / len(attempts))
        tell(0.0, f"Measuring {run.label}")
        secret = next((name for name in run.data.sensitive if name in run.release.attributes), None)
        known = dict(_known(attempt, secret))
        lacking = [name for name in CONSIDERED if name not in known]
        cache = with_foreground(run.release, compute.cache_of(run), tell)
        measured = evaluate(run.release, lacking, secret, cache) if lacking else {}
        missed = [mark.symbol for mark in attempt.marks.get(promise, ()) if mark.state == "missed"]
        reasons = [f"It misses {and_list(missed)}."] if missed else []
        reasons += [str(one) for one in measured.values() if isinstance(one, AnonymizationError)]
        numbers = known | {name: one for name, one in measured.items() if not isinstance(one, AnonymizationError)}
        lost, given_away = (numbers.get(name) for name in CONSIDERED)
        yield Considered(label=run.label, lost=lost, given_away=given_away, reason=" ".join(reasons))


def _known(attempt: Attempt, secret: str | None) -> Iterator[tuple[str, float]]:
    """The numbers of a column that the board has measured exactly, by the adversary that dossiers take."""
    quick = next(iter(attempt.quick.values()), None)
    strongest = attempt.slow.get((STRONGEST, secret, BREACH_R))
    facts: Facts | None = None if strongest is None else strongest.exact
    if quick is not None and "value" in quick["lost"]:
        yield CONSIDERED[0], quick["lost"]["value"]
    if facts:
        yield CONSIDERED[1], max(facts["value"] - facts["control"], 0.0)
