"""The parts of a report about one release: what holds, what an adversary gets, what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from anoncore import attacks, privacy, utility
from anoncore.base.errors import AnonymizationError, CancelledError
from anoncore.base.progress import Progress, silent
from anoncore.kernels.arrays import Floats, Int64
from anoncore.measures.criteria import CRITERIA, FAMILIES, N_QUERIES, usual_distance
from anoncore.measures.verdict import Verdict
from anoncore.publishing.report.drawing import Series, bars, histogram
from anoncore.publishing.report.rendering import Figure, Section, section
from anoncore.publishing.report.subject import Subject
from anoncore.release.openness import QUESTION, Openness

TILES = ("k", "largest-belief", "believed-above-half", "reidentified-mean", "information-loss", "query-error")
SYNTHETIC_TILES = ("two-way-error", "query-error", "association-error")
NOBODY = (
    "No row of the table stands for a person, so nobody's row can be looked for, and no group hides anybody. Rows may "
    "still be copies of people's, or tell of people what nobody could know otherwise. Singling out, linkability and "
    "inference measure that, on people who are in the original and on people of a control part who are not; no "
    "such part is at hand here."
)
"""What a report says of adversaries where rows are nobody's."""
NOTHING_BAD = "Nothing fails badly of what is measured whether or not somebody asks."
NOT_MEASURED = (
    "What a table of nobody's rows gives away is not measured by itself: that takes people who are not in the original."
)
Numbers = dict[str, float | AnonymizationError]


@dataclass(frozen=True)
class Beliefs:
    """What an adversary learns of an attribute: numbers beside those of guessing, and every person's drawn."""

    rows: list[tuple[str, str, str, str]]
    figure: Figure


def summary(subject: Subject, numbers: Numbers) -> Section:
    """The verdict, and the numbers that matter most, each with what it says."""
    release, headline = subject.release, subject.verdict.headline
    question, told = release.data.unit_note if release.data.people_word == "rows" else "", release.data.in_words
    shown = SYNTHETIC_TILES if release.is_synthetic else TILES
    tiles = [(CRITERIA[name], numbers[name]) for name in shown if isinstance(numbers[name], float)]
    if release.is_synthetic:
        rows = f"{release.table_size}, beside an original of {release.data.n_rows:,} rows"
        return section(
            "In short", "summary.html", headline=headline, question="", told=told, rows=rows, sizes="", tiles=tiles
        )
    sizes = "; ".join(
        f"{part.partition.n_groups:,} groups ({release.group_word}) of {people.min():,} to {people.max():,} "
        f"{release.counted_word}" + ("" if release.is_shared else f" in {part.name}")
        for part in (release.fragments[:1] if release.is_shared else release.fragments)
        for people in (release.people_per_group(part),)
    )
    size = release.table_size
    return section(
        "In short", "summary.html", headline=headline, question=question, told=told, rows=size, sizes=sizes, tiles=tiles
    )


def holds(verdict: Verdict, otherwise: str = NOTHING_BAD) -> Section:
    """What was asked for or promised, by whose definition, and the level; `otherwise` where nothing fails badly."""
    return section("What holds, and what does not", "holds.html", verdict=verdict, otherwise=otherwise)


def reached(subject: Subject, attribute: str | None) -> Section:
    """The worst level over all groups, whatever was asked, with group sizes and distances drawn."""
    profile = subject.measure("privacy.profile", privacy.profile)
    levels = [
        (
            one.title,
            one.attribute or "",
            _number(float(one)),
            "" if one.baseline is None else _number(one.baseline),
            f"{subject.release.data.in_words(one.meaning)} {'Higher' if one.higher_is_better else 'Lower'} is better.",
        )
        for one in profile.scores
    ]
    figures = [_sizes(subject)]
    if attribute is not None and any(one.attribute == attribute for one in profile.scores):
        figures.append(_distances(subject, attribute))
    return section("Levels reached", "reached.html", levels=levels, figures=figures, notes=profile.notes)


def _number(value: float) -> str:
    if np.isinf(value):
        return "infinite"
    return f"{value:,.0f}" if value.is_integer() else f"{value:,.4g}"


def _sizes(subject: Subject) -> Figure:
    release = subject.release
    parts = release.fragments[:1] if release.is_shared else release.fragments
    sizes = np.concatenate([release.people_per_group(part) for part in parts])
    return drawn_sizes(sizes, release.counted_word, subject.style or 0)


def drawn_sizes(sizes: Int64, word: str, style: int = 0) -> Figure:
    """How many groups have which size; `word` says what is counted."""
    median = float(np.median(sizes))
    alt = f"Group sizes, median {median:,.0f}."
    values = sizes.astype(np.float64)
    drawing = histogram(values, f"{word} of a group", "groups", lambda value: f"{value:,.0f}", alt, style)
    return Figure(drawing, f"Sizes of the {len(sizes):,} groups; half of them have at most {median:,.0f} {word}.")


def _distances(subject: Subject, attribute: str) -> Figure:
    ground = usual_distance(subject.release, attribute)
    profile = subject.measure("privacy.profile", privacy.profile)
    found = [
        one.attributes[attribute].levels[f"t-{ground}"] for one in profile.fragments if attribute in one.attributes
    ]
    return drawn_distances(np.concatenate(found), attribute, ground, subject.style or 0)


def drawn_distances(distances: Floats, attribute: str, ground: str, style: int = 0) -> Figure:
    """How far the groups are from the table."""
    alt = f"Distances of the groups from the table, largest {distances.max():.3f}."
    words = f"EMD of '{attribute}' from the table", "groups"
    drawing = histogram(distances, *words, lambda value: f"{value:.2f}", alt, style)
    caption = f"How far each group's '{attribute}' is from the table's ({ground} distance, Li et al. 2007)."
    return Figure(drawing, caption)


def adversary(subject: Subject, attribute: str | None, progress: Progress = silent) -> Section:
    """What an adversary who knows the quasi-identifiers believes, and whom they find."""
    beliefs, no_beliefs = None, ""
    if attribute is not None:
        try:
            found = subject.measure("attacks.attribute_disclosure", attacks.attribute_disclosure, attribute)
            beliefs = _beliefs(found, subject)
        except AnonymizationError as error:
            no_beliefs = str(error)
    risk = subject.measure("attacks.reidentification", attacks.reidentification)
    risks = [
        (one.model, f"{one.largest:.1%}", f"{one.mean:.1%}", f"{one.at_risk:.1%}", one.definition)
        for one in (risk.prosecutor, risk.journalist, risk.marketer)
    ]
    return section(
        "What an adversary gets",
        "adversary.html",
        attribute=attribute,
        beliefs=beliefs,
        no_beliefs=no_beliefs,
        risks=risks,
        threshold=f"{risk.threshold:.0%}",
        notes=[subject.release.data.in_words(note) for note in risk.notes],
        people=subject.release.data.people_word,
        told=subject.release.data.in_words,
        question=QUESTION,
        known=_known_method(subject, attribute, progress),
    )


@dataclass(frozen=True)
class KnownMethod:
    """The method's own words, and the minimality attack as rows of a table or the reason why it is not measured."""

    told: str
    rows: list[tuple[str, str, str, str]]
    notes: list[str]


def _known_method(subject: Subject, attribute: str | None, progress: Progress = silent) -> KnownMethod | None:
    """What readers who know the method gain; None where it is not known. `progress` may raise CancelledError."""
    method = subject.release.algorithm
    if method is None:
        return None
    say = subject.release.data.in_words
    told = say(method.minimality_here.text)
    if attribute is None or method.minimality_here.openness is Openness.NOT_OPEN:
        return KnownMethod(told, [], [])
    try:
        attack = partial(attacks.minimality, progress=progress)
        found = subject.measure("attacks.minimality", attack, attribute)
    except CancelledError:
        raise
    except AnonymizationError as error:
        return KnownMethod(told, [], [str(error)])
    rows = [
        (say(one.title), f"{one:.1%}", f"{one.baseline or 0:.1%}", say(one.meaning))
        for one in (found.right, found.truth, found.exposed, found.largest)
    ]
    low, high = found.interval
    lift = f"{found.lift.title}: {found.lift:+.1%}, 95% interval {low:+.1%} to {high:+.1%}. {found.lift.meaning}"
    return KnownMethod(told, rows, [say(lift), *([say(found.limits)] if found.limits else [])])


def no_people() -> Section:
    """What an adversary gets of a table whose rows are nobody's."""
    return section("What an adversary gets", "no_people.html", text=NOBODY)


def _beliefs(found: attacks.AttributeDisclosure, subject: Subject) -> Beliefs:
    data, style = subject.release.data, subject.style or 0
    rows = [
        (one.title, f"{one:.1%}", f"{one.baseline:.1%}", data.in_words(one.meaning))
        for one in (found.largest, found.truth)
        if one.baseline is not None
    ]
    guess = found.largest.baseline or 0.0
    return Beliefs(rows, drawn_beliefs(found.belief, found.attribute, guess, data.people_word, style))


def drawn_beliefs(
    belief: Floats, attribute: str, guess: float, people: str, style: int = 0, weights: Floats | None = None
) -> Figure:
    """How sure an adversary is of a value, for how many people or rows; `weights` say how many have each belief."""
    drawing = histogram(
        belief,
        f"belief in one value of '{attribute}'",
        people,
        lambda value: f"{value:.0%}",
        f"Beliefs about '{attribute}', largest {belief.max():.1%}.",
        style,
        weights,
    )
    each = "person by person" if people == "people" else "row by row"
    caption = f"How sure the adversary is of one value, {each}. Guessing from the whole table alone has {guess:.1%}."
    return Figure(drawing, caption)


def cost(subject: Subject) -> Section:
    """What the release loses: per attribute, and for counting queries."""
    release = subject.release
    figures, no_queries = [], ""
    if release.data.quasi_identifiers and not release.is_synthetic:
        loss = subject.measure("utility.information_loss", utility.information_loss)
        figures.append(drawn_losses(loss.per_attribute, float(loss), loss.meaning, subject.style or 0))
    try:
        figures.append(_queries(subject))
    except AnonymizationError as error:
        no_queries = str(error)
    return section("What it costs", "cost.html", figures=figures, no_queries=no_queries)


def drawn_losses(losses: Mapping[str, float], together: float, meaning: str, style: int = 0) -> Figure:
    """What every attribute loses."""
    alt = "; ".join(f"{name} {value:.1%}" for name, value in losses.items())
    series = Series("loss", np.array(list(losses.values())), style)
    drawing = bars(list(losses), [series], lambda value: f"{value:.1%}", alt)
    return Figure(drawing, f"{meaning} All attributes together: {together:.1%}.")


def query_errors(subject: Subject) -> Floats:
    """The relative errors of counting queries; larger ones than 1 count as 1."""
    errors: Floats = subject.measure("utility.query_error", utility.query_error, N_QUERIES).relative_error
    return np.minimum(errors[~np.isnan(errors)], 1.0)


def _queries(subject: Subject) -> Figure:
    found: Any = subject.measure("utility.query_error", utility.query_error, N_QUERIES)
    drawing = histogram(
        query_errors(subject),
        "relative error (larger ones count as 100%)",
        "queries",
        lambda value: f"{value:.0%}",
        f"Errors of counting queries, median {found.median:.1%}.",
        subject.style or 0,
    )
    return Figure(drawing, f"{found.meaning} Half of them are off by at most {found.median:.1%}.")


def all_numbers(subject: Subject, numbers: Numbers) -> Section:
    """Every number on the scale on which any releases are compared."""
    known = [(one, numbers[one.name]) for one in CRITERIA.values() if isinstance(numbers[one.name], float)]
    families = [
        (title, [(one, value) for one, value in known if one.family == name]) for name, title in FAMILIES.items()
    ]
    shown = [(title, rows) for title, rows in families if rows]
    return section("All numbers", "all_numbers.html", families=shown, told=subject.release.data.in_words)
