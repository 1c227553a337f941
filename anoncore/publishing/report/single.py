"""The parts of a report about one release: what holds, what an adversary gets, what it costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from anoncore import attacks, privacy, utility
from anoncore.base.errors import AnonymizationError, CancelledError
from anoncore.base.progress import Progress, silent
from anoncore.base.score import Score
from anoncore.kernels.arrays import Floats, Int64
from anoncore.measures.criteria import CRITERIA, FAMILIES, N_QUERIES
from anoncore.measures.verdict import Verdict
from anoncore.privacy.published import fragments_of
from anoncore.publishing.report.drawing import PERCENT, TENTHS, Figure, Section, Series, bars, histogram, section
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


def summary(subject: Subject, numbers: Numbers) -> Section:
    """The verdict, and the numbers that matter most, each with what it says."""
    release, rows, sizes = subject.release, subject.release.table_size, ""
    if release.is_synthetic:
        rows += f", beside an original of {release.data.n_rows:,} rows"
    else:
        parts = fragments_of(release, None)
        sizes = "; ".join(
            f"{part.partition.n_groups:,} groups of {people.min():,} to {people.max():,} "
            f"{release.counted_word}" + ("" if release.is_shared else f" in {part.name}")
            for part, people in ((part, release.people_per_group(part)) for part in parts)
        )
    shown = SYNTHETIC_TILES if release.is_synthetic else TILES
    return section(
        "In short",
        "summary.html",
        headline=subject.verdict.headline,
        question=release.data.unit_note if release.data.people_word == "rows" and not release.is_synthetic else "",
        told=release.data.in_words,
        rows=rows,
        sizes=sizes,
        tiles=[(CRITERIA[name], numbers[name]) for name in shown if isinstance(numbers[name], float)],
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
    release, style = subject.release, subject.style or 0
    parts = fragments_of(release, None)
    sizes = np.concatenate([release.people_per_group(part) for part in parts])
    figures = [drawn_sizes(sizes, release.counted_word, style)]
    if attribute is not None and any(one.attribute == attribute for one in profile.scores):
        ground = release.data.domain[attribute].ground
        shown = [one.attributes[attribute] for one in profile.fragments if attribute in one.attributes]
        distances = np.concatenate([one.levels[f"t-{ground}"] for one in shown])
        figures.append(drawn_distances(distances, attribute, ground, style))
    return section("Levels reached", "reached.html", levels=levels, figures=figures, notes=profile.notes)


def _number(value: float) -> str:
    if np.isinf(value):
        return "infinite"
    return f"{value:,.0f}" if value.is_integer() else f"{value:,.4g}"


def drawn_sizes(sizes: Int64, word: str, style: int = 0) -> Figure:
    """How many groups have which size; `word` says what is counted."""
    median, values = float(np.median(sizes)), sizes.astype(np.float64)
    alt = f"Group sizes, median {median:,.0f}."
    drawing = histogram(values, f"{word} of a group", "groups", "{:,.0f}".format, alt, style)
    return Figure(drawing, f"Sizes of the {len(sizes):,} groups; half of them have at most {median:,.0f} {word}.")


def drawn_distances(distances: Floats, attribute: str, ground: str, style: int = 0) -> Figure:
    """How far the groups are from the table."""
    alt = f"Distances of the groups from the table, largest {distances.max():.3f}."
    drawing = histogram(distances, f"EMD of '{attribute}' from the table", "groups", "{:.2f}".format, alt, style)
    caption = f"How far each group's '{attribute}' is from the table's ({ground} distance, Li et al. 2007)."
    return Figure(drawing, caption)


def adversary(subject: Subject, attribute: str | None, progress: Progress = silent) -> Section:
    """What an adversary who knows the quasi-identifiers believes, and whom they find."""
    beliefs, no_beliefs, data = None, "", subject.release.data
    if attribute is not None:
        try:
            found = subject.measure("attacks.attribute_disclosure", attacks.attribute_disclosure, attribute)
            rows = [_beside(one, data.in_words) for one in (found.largest, found.truth) if one.baseline is not None]
            guess = found.largest.baseline or 0.0
            drawn = drawn_beliefs(found.belief, attribute, guess, data.people_word, subject.style or 0)
            beliefs = {"rows": rows, "figure": drawn}
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
        notes=[data.in_words(note) for note in risk.notes],
        people=data.people_word,
        told=data.in_words,
        question=QUESTION,
        known=_known_method(subject, attribute, progress),
    )


def _known_method(subject: Subject, attribute: str | None, progress: Progress = silent) -> dict[str, object] | None:
    """What readers who know the method gain; None where it is not known. `progress` may raise CancelledError.

    It is the method's own words, and the minimality attack as rows of a table or the reason why it is not measured.
    """
    method = subject.release.algorithm
    if method is None:
        return None
    say = subject.release.data.in_words
    told = say(method.minimality_here.text)
    if attribute is None or method.minimality_here.openness is Openness.NOT_OPEN:
        return {"told": told, "rows": [], "notes": []}
    try:
        attack = partial(attacks.minimality, progress=progress)
        found = subject.measure("attacks.minimality", attack, attribute)
    except CancelledError:
        raise
    except AnonymizationError as error:
        return {"told": told, "rows": [], "notes": [str(error)]}
    rows = [_beside(one, say) for one in (found.right, found.truth, found.exposed, found.largest)]
    low, high = found.interval
    lift = f"{found.lift.title}: {found.lift:+.1%}, 95% interval {low:+.1%} to {high:+.1%}. {found.lift.meaning}"
    return {"told": told, "rows": rows, "notes": [say(lift), *([say(found.limits)] if found.limits else [])]}


def _beside(score: Score, say: Callable[[str], str]) -> tuple[str, str, str, str]:
    """A share beside its baseline, as a row of a table."""
    return say(score.title), f"{score:.1%}", f"{score.baseline or 0:.1%}", say(score.meaning)


def drawn_beliefs(
    belief: Floats, attribute: str, guess: float, people: str, style: int = 0, weights: Floats | None = None
) -> Figure:
    """How sure an adversary is of a value, for how many people or rows; `weights` say how many have each belief."""
    drawing = histogram(
        belief,
        f"belief in one value of '{attribute}'",
        people,
        PERCENT,
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
        errors = query_errors(subject)
        found: Any = subject.measure("utility.query_error", utility.query_error, N_QUERIES)
        alt = f"Errors of counting queries, median {found.median:.1%}."
        of = "relative error (larger ones count as 100%)"
        drawing = histogram(errors, of, "queries", PERCENT, alt, subject.style or 0)
        caption = f"{found.meaning} Half of them are off by at most {found.median:.1%}."
        figures.append(Figure(drawing, caption))
    except AnonymizationError as error:
        no_queries = str(error)
    return section("What it costs", "cost.html", figures=figures, no_queries=no_queries)


def drawn_losses(losses: Mapping[str, float], together: float, meaning: str, style: int = 0) -> Figure:
    """What every attribute loses."""
    alt = "; ".join(f"{name} {value:.1%}" for name, value in losses.items())
    series = Series("loss", np.array(list(losses.values())), style)
    drawing = bars(list(losses), [series], TENTHS, alt)
    return Figure(drawing, f"{meaning} All attributes together: {together:.1%}.")


def query_errors(subject: Subject) -> Floats:
    """The relative errors of counting queries; larger ones than 1 count as 1."""
    errors: Floats = subject.measure("utility.query_error", utility.query_error, N_QUERIES).relative_error
    return np.minimum(errors[~np.isnan(errors)], 1.0)


def all_numbers(subject: Subject, numbers: Numbers) -> Section:
    """Every number on the scale on which any releases are compared."""
    known = [(one, numbers[one.name]) for one in CRITERIA.values() if isinstance(numbers[one.name], float)]
    families = [
        (title, [(one, value) for one, value in known if one.family == name]) for name, title in FAMILIES.items()
    ]
    shown = [(title, rows) for title, rows in families if rows]
    return section("All numbers", "all_numbers.html", families=shown, told=subject.release.data.in_words)
