"""What tables show of a requirement, of a promise about every person and of joins, counted by whoever has them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from anoncore import privacy
from anoncore.algorithms import ALGORITHMS, Algorithm
from anoncore.attacks.fitting_people import level_bounds
from anoncore.base.errors import AnonymizationError, ReleaseError
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Floats
from anoncore.kernels.rounding import ACCUMULATED, lies_below, reaches
from anoncore.privacy.guarantees import COMPARISON_WORDS, HIDDEN_ATTACK, HIDDEN_NOISE, level_texts
from anoncore.privacy.wildcards import CellsAlike, matching_guarantee
from anoncore.publishing.certification.entries import Asked, Attribute, Joins, Method, Personal
from anoncore.publishing.certification.published_release import Level, PublishedRelease, with_role
from anoncore.release.release import Release
from anoncore.requirements import REQUIREMENTS, Comparison, Requirement
from anoncore.table.hierarchy import ROOT

T = TypeVar("T")
HIDDEN_PEOPLE = "which rows of the tables belong to one person is what the release hides"
UNKNOWN_METHOD = "only the method that promises it can count it, and this installation does not have it"
HIDDEN_SUPPRESSION = "numbers stand in place of cells that are suppressed"
HIDDEN_UNIT = "people were counted by '{unit}', which is not published"
SHOWN_UNIT = "people were counted by '{unit}', and no file shows that a pseudonym is one person"
UNSHOWABLE = (HIDDEN_NOISE, HIDDEN_ATTACK)
HIDDEN_TABLE = "the original distribution of '{attribute}' is not published"
HIDDEN_POPULATION = "the population that the table is compared with is not published"
MOST_NAMED = 30


@dataclass(frozen=True)
class Judged:
    """What the tables say of a statement: whether it holds, the level reached where there is one, and a sentence."""

    holds: bool
    sentence: str
    reached: float | None = None


@dataclass(frozen=True)
class Question:
    """What every group is asked: its level of a requirement, on an attribute or on sizes alone."""

    requirement: Requirement
    attribute: str | None


def question_of(asked: Asked) -> Question:
    """What a requirement of a certificate asks. Raises AnonymizationError for one that there is not."""
    return Question(REQUIREMENTS.build(asked.requirement), asked.attribute)


def hidden_reason(attributes: Mapping[str, Attribute], question: Question) -> str:
    """Why no table can show whether a requirement holds; empty where they can."""
    name = question.attribute
    form = None if name is None else attributes[name].form
    if form in ("region", None) and name is not None:
        return f"single values of '{name}' are not published"
    if not question.requirement.counts_alone:
        return HIDDEN_POPULATION
    if not question.requirement.monotone_under_suppression and form != "exact":
        return HIDDEN_TABLE.format(attribute=name)
    return ""


def judged(question: Question, levels: Sequence[Level], is_told: bool = True) -> Judged:
    """What the levels of the groups of every table say of a requirement; `is_told` names the columns of the groups."""
    requirement = question.requirement
    if not levels:
        return Judged(False, f"{requirement.label()} cannot hold: no table shows '{question.attribute}'.")
    at_least = requirement.comparison is Comparison.AT_LEAST
    worst = (min if at_least else max)(levels, key=lambda level: level.worst)
    holds = all(level.holds for level in levels)
    reached, threshold = level_texts(worst.worst, requirement.threshold)
    failing = sum(int((~level.check.holds(level.levels)).sum()) for level in levels)
    total = sum(len(level.levels) for level in levels)
    state = "holds" if holds else f"fails in {failing:,} of {total:,} published groups"
    over = f" over {listing(worst.over, MOST_NAMED)}" if worst.over else " over no column"
    over = over if is_told else ""
    return Judged(
        holds,
        f"{requirement.label()} {state}{over}: the worst published group has "
        f"{requirement.reached_text(worst.worst, reached, question.attribute)} "
        f"(asked: {COMPARISON_WORDS[requirement.comparison]} {threshold}).",
        worst.worst,
    )


def unit_reason(unit: str, published: Collection[str]) -> str:
    """Why no table can show how many people a group has."""
    return (SHOWN_UNIT if unit in published else HIDDEN_UNIT).format(unit=unit)


def recheck_people(
    published: PublishedRelease, method: Method | None, has_numbers: bool, promise: Personal
) -> Judged | str:
    """Check a promise about every person as the adversary would; why that cannot be done where the tables hide it.

    Where they hide which quasi-identifiers belong together, everybody who fits the tables is looked at: the promise
    holds if it does for all of them, and fails if it must fail for one. `has_numbers` says that numbers stand for
    ranges.
    """
    attribute = promise.attribute
    if promise.reason in UNSHOWABLE:
        return promise.reason
    if attribute is None:
        return (
            HIDDEN_SUPPRESSION
            if has_numbers
            else _said(promise.sentence, lambda: _recheck_matches(published, promise.asked))
        )
    if method is None:
        return HIDDEN_PEOPLE
    if method.name not in ALGORITHMS:
        return UNKNOWN_METHOD

    def work() -> Judged | str:
        release = published.people()
        if release is None:
            return HIDDEN_PEOPLE
        algorithm = ALGORITHMS.build({"name": method.name, **method.parameters})
        if not published.tells_people:
            return _bounded(release, algorithm, attribute, promise.asked)
        guarantees = algorithm.personal_guarantees(release)
        kept = next((guarantee for guarantee in guarantees if guarantee.attribute == attribute), None)
        return HIDDEN_PEOPLE if kept is None else Judged(kept.holds, kept.sentence, kept.reached)

    return _said(promise.sentence, work)


def people_check(promise: Personal) -> str:
    """What is checked of a promise about every person, in a few words."""
    if promise.reason in UNSHOWABLE:
        return "promise about everybody"
    if promise.attribute is None:
        return f"number of rows that agree where neither has '{ROOT}'"
    return f"promise about '{promise.attribute}'"


def _recheck_matches(published: PublishedRelease, asked: float) -> Judged:
    """Count for every published row the rows that agree with it wherever neither cell is suppressed."""
    if len(published.tables) > 1:
        raise ReleaseError("the quasi-identifiers stand in several tables.")
    (table,) = published.tables
    known = [table.columns[name] for name in with_role(published.attributes, table.columns)]
    is_star = [np.array([text == ROOT for text in column.texts], dtype=np.bool_) for column in known]
    codes = np.column_stack([column.codes for column in known])
    suppressed = np.column_stack([star[column.codes] for star, column in zip(is_star, known, strict=True)])
    alike = CellsAlike.of_rows(codes, suppressed)[0]
    found = matching_guarantee(alike, asked)
    return Judged(found.holds, found.sentence, found.reached)


def _bounded(release: Release, algorithm: Algorithm, attribute: str, asked: float) -> Judged | str:
    """Judge the promise by everybody who fits: it holds if it does for all and fails if it must for one."""
    diversity = getattr(algorithm, "diversity", None)
    if diversity not in ("posterior", "distinct"):
        return HIDDEN_PEOPLE
    domain = release.data.domain[attribute]
    protected = [domain.code_of(value) for value in release.data.sensitive_values.get(attribute, ())]

    def level(probability: Floats) -> Floats:
        """1 / the likeliest value, or how many values are possible; a protected set counts as one."""
        if diversity == "distinct":
            possible = probability > 0
            counts = possible.sum(axis=1)
            return counts - (
                possible[:, protected].sum(axis=1) - possible[:, protected].any(axis=1) if protected else 0
            )
        likeliest = probability[:, protected].sum(axis=1) if protected else probability.max(axis=1)
        return np.divide(1.0, likeliest, out=np.full(len(likeliest), np.inf), where=likeliest > 0)

    bounds = level_bounds(release, attribute, level)
    what = f"{algorithm.title} with {diversity} diversity, l = {asked:g}"
    if bounds is not None and lies_below(bounds.high, asked, 2 * ACCUMULATED):
        return Judged(False, f"{what}, fails: someone in the tables has at most {bounds.high:.4g}, whoever that is.")
    if bounds is not None and reaches(bounds.low, asked, 2 * ACCUMULATED):
        return Judged(True, f"{what}, holds: everybody who fits the tables has at least {bounds.low:.4g}.")
    return HIDDEN_PEOPLE


def recheck_joins(published: PublishedRelease, asked: Joins) -> Judged:
    """Check the joins of published groups of different tables."""

    def work() -> Judged:
        check = privacy.joins(published.joined(asked.common), asked.k, asked.l, asked.delta)
        return Judged(check.holds, check.sentences[0])

    return _said(f"Joins on '{asked.common}'", work)


def _said(what: str, work: Callable[[], T]) -> T | Judged:
    """Do the work; where a table no longer fits its certificate, the statement fails with the reason."""
    try:
        return work()
    except AnonymizationError as error:
        return Judged(False, f"{what.rstrip('.')} cannot hold: {error}")
