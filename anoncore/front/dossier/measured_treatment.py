"""What was done to a table and what it costs, the releases that were considered instead, and the levels reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from anoncore import utility
from anoncore.base.errors import AnonymizationError, ParameterError
from anoncore.front.dossier.dossier_parts import (
    ColumnLoss,
    Considered,
    Decisions,
    Figure,
    Parameter,
    PolicyResult,
    PolicyRule,
    Reached,
    Statement,
    Text,
    Treatment,
)
from anoncore.front.dossier.measured_release import NOT_KNOWN, MeasuredRelease
from anoncore.front.policy.judgement import Judgement
from anoncore.measures.criteria import CRITERIA, evaluate
from anoncore.publishing.certification.claimed_entries import seed_entry
from anoncore.recipes.typed_answers import Answers
from anoncore.search.sweeping import Point

LOST, GIVEN_AWAY = "two-way-error", "strongest-attribute"
"""The numbers by which releases are laid beside each other: both mean the same for every form of release."""
CONSIDERED = (LOST, GIVEN_AWAY)
"""What has to be measured of every release that was considered."""
AS_MADE = "This release"


def treatment(measured: MeasuredRelease, considered: Sequence[Point | Considered]) -> Treatment:
    """Section 5."""
    release, algorithm = measured.release, measured.release.algorithm
    costs = [*_costs(measured)]
    return Treatment(
        method=NOT_KNOWN if algorithm is None else algorithm.title,
        summary="" if algorithm is None else algorithm.summary,
        source="" if algorithm is None else algorithm.source,
        parameters=[Parameter(title=title, value=text) for title, text in measured.allowed.parameters(algorithm)],
        seed="" if algorithm is None else seed_entry(algorithm),
        notes=[measured.say(note) for note in release.notes if note != release.data.unit_note],
        rows_left_out=_rows_left_out(measured),
        costs=costs,
        losses=[*_losses(measured)],
        lost_title=CRITERIA[LOST].title,
        given_away_title=CRITERIA[GIVEN_AWAY].title,
        considered=[*_considered(measured, considered)],
        why_this_one=measured.answers.choice.why_this_one,
        standing="measured",
    )


def _rows_left_out(measured: MeasuredRelease) -> int | None:
    try:
        return int(measured.release.suppressed_rows.sum())
    except AnonymizationError:
        return None


def _costs(measured: MeasuredRelease) -> Iterator[Figure]:
    """Every number of what the release costs."""
    secret = measured.secrets[0] if measured.secrets else None
    names = [name for name, number in CRITERIA.items() if number.family == "cost"]
    for name, value in evaluate(measured.release, names, secret, measured.results).items():
        number = CRITERIA[name]
        meaning = measured.say(number.meaning)
        if isinstance(value, AnonymizationError):
            reason = measured.say(str(value))
            yield Figure(name=name, title=number.title, meaning=meaning, standing="not measured", reason=reason)
        else:
            text = number.text(value)
            yield Figure(name=name, title=number.title, value=value, text=text, meaning=meaning, standing="measured")


def _losses(measured: MeasuredRelease) -> Iterator[ColumnLoss]:
    try:
        loss = measured.results("utility.information_loss", utility.information_loss)
    except AnonymizationError:  # the costs say why
        return
    for name, value in loss.per_attribute.items():
        yield ColumnLoss(column=name, loss=float(value))


def _considered(measured: MeasuredRelease, points: Sequence[Point | Considered]) -> Iterator[Considered]:
    """This release and those that were considered instead; nothing where none was."""
    if not points:
        return
    secret = measured.secrets[0] if measured.secrets else None
    own = evaluate(measured.release, CONSIDERED, secret, measured.results)
    reasons = [str(value) for value in own.values() if isinstance(value, AnonymizationError)]
    algorithm = measured.release.algorithm
    yield Considered(
        label=AS_MADE if algorithm is None else f"{AS_MADE} ({measured.allowed.method(algorithm)})",
        lost=_number(own[LOST]),
        given_away=_number(own[GIVEN_AWAY]),
        reason=measured.say(" ".join(reasons)),
        is_chosen=True,
    )
    for point in points:
        if isinstance(point, Considered):
            said = {"label": measured.say(point.label), "reason": measured.say(point.reason), "is_chosen": False}
            yield point.model_copy(update=said)
            continue
        yield Considered(
            label=measured.allowed.method(point.algorithm),
            lost=point.values.get(LOST),
            given_away=point.values.get(GIVEN_AWAY),
            reason=measured.say(point.error or " ".join(point.missing.get(name, "") for name in CONSIDERED).strip()),
        )


def require_points(considered: Sequence[object]) -> Sequence[Point | Considered]:
    """The releases that were considered. Raises ParameterError where they are not the points of a sweep or entries."""
    for one in considered:
        if not isinstance(one, Point | Considered):
            raise ParameterError(
                f"considered takes the points of anoncore.search.sweep, not {type(one).__name__}; measure them with "
                f"the criteria {list(CONSIDERED)}."
            )
    return [one for one in considered if isinstance(one, Point | Considered)]


def _number(value: float | AnonymizationError) -> float | None:
    return None if isinstance(value, AnonymizationError) else value


def reached(measured: MeasuredRelease, judgement: Judgement | None) -> Reached:
    """Section 6: the verdict, and a line for every rule of the policy."""
    verdict, say = measured.verdict, measured.say
    kept: Literal["holds", "holds over what is known"] = "holds over what is known" if verdict.breaking else "holds"
    statements = [
        Statement(outcome=kept if one.holds else "fails", sentence=say(one.sentence), source=one.source)
        for one in verdict.statements
    ]
    statements += [Statement(outcome="not judged", sentence=say(text)) for text in verdict.unjudged]
    statements += [Statement(outcome="promised", sentence=say(text)) for text in verdict.promised]
    statements += [
        Statement(outcome="not asked, and not protected", sentence=say(one.sentence)) for one in verdict.not_asked
    ]
    policy = None if judgement is None else policy_result(judgement, say)
    return Reached(verdict=say(verdict.headline), statements=statements, policy=policy)


def policy_result(judgement: Judgement, say: Callable[[str], str] = str) -> PolicyResult:
    """What a policy says, its measured texts said by `say`."""
    return PolicyResult(
        name=judgement.policy,
        source=judgement.source,
        headline=judgement.headline,
        status=judgement.status,
        rules=[
            PolicyRule(
                key=line.key,
                rule=line.rule,
                attribute=line.attribute,
                asked=line.asked,
                reached=say(line.reached),
                status=line.status,
                outcome=line.outcome,
                reason=say(line.reason),
            )
            for line in judgement.lines
        ],
    )


def decisions(answers: Answers, signature: Text, not_checked: Sequence[Text]) -> Decisions:
    """Section 7: what people decided, all of it typed in, and what was not checked."""
    return Decisions(
        decisions=[*answers.decisions],
        signatures=[*answers.signatures],
        review_until=answers.review.until,
        review_by=answers.review.by,
        certificate_signature=signature,
        not_checked=[*not_checked],
    )
