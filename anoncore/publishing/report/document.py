"""A whole report as one HTML file: no script, no request, readable on screen and paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import isnan

import numpy as np

from anoncore import attacks, utility
from anoncore.base.errors import AnonymizationError, DataError
from anoncore.base.extras import require
from anoncore.base.number import Number
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.version import __version__
from anoncore.kernels.arrays import Floats
from anoncore.measures.criteria import CRITERIA, FAMILIES
from anoncore.privacy.published import fragments_of
from anoncore.publishing.certification.claimed_entries import Earlier
from anoncore.publishing.report import single
from anoncore.publishing.report.drawing import (
    PERCENT,
    TENTHS,
    WRITING_REPORT,
    Figure,
    Section,
    Series,
    bars,
    curves,
    rendered,
    section,
)
from anoncore.publishing.report.subject import Subject, method, parameter_text, published

NOT_THERE = "–"


def _made(subject: Subject) -> tuple[Subject, str, str, str]:
    """A release in the list of those compared: its rows, its groups and the parameters that made it, as texts."""
    release = subject.release
    algorithm = release.algorithm
    fields = [] if algorithm is None else [name for name in type(algorithm).model_fields if name != "seed"]
    shown = [f"{name} = {parameter_text(getattr(algorithm, name))}" for name in fields]
    parts = fragments_of(release, None)
    groups = NOT_THERE if release.is_synthetic else ", ".join(f"{part.partition.n_groups:,}" for part in parts)
    return subject, f"{release.n_records:,}", groups, "; ".join(shown)


def numbers_side_by_side(subjects: Sequence[Subject], numbers: Sequence[single.Numbers]) -> Section:
    """Every number of every release, with its difference to the first."""
    families = []
    for family, title in FAMILIES.items():
        rows = []
        for one in (one for one in CRITERIA.values() if one.family == family):
            base = numbers[0][one.name]
            cells = [_cell(one, found[one.name], None if place == 0 else base) for place, found in enumerate(numbers)]
            rows.append((one.title, cells))
        families.append((title, rows))
    return section(
        "The numbers",
        "side_by_side.html",
        families=families,
        subjects=subjects,
        not_there=NOT_THERE,
        shares=_shares(subjects, numbers),
    )


def _cell(
    one: Number, value: float | AnonymizationError, base: float | AnonymizationError | None
) -> tuple[str, str, str]:
    """A number as text, and its difference to the baseline with the class that it has in the HTML."""
    if isinstance(value, AnonymizationError):
        return NOT_THERE, "", ""
    if base is None or isinstance(base, AnonymizationError):
        return one.text(value), "", ""
    difference = one.text(abs(value - base))
    if difference == one.text(0.0):
        return one.text(value), "equal", "soft"
    better = one.better(value, base)
    told = f"{'+' if value > base else '−'}{difference}, {'better' if better else 'worse'}"
    return one.text(value), told, "good" if better else "bad"


def _shares(subjects: Sequence[Subject], numbers: Sequence[single.Numbers]) -> Figure:
    """All that is a share on one scale."""
    shown = [
        one
        for one in CRITERIA.values()
        if one.form == "share" and any(isinstance(found[one.name], float) for found in numbers)
    ]
    series = [
        Series(
            subject.label,
            np.array([value if isinstance(value := found[one.name], float) else np.nan for one in shown]),
            subject.style or 0,
        )
        for subject, found in zip(subjects, numbers, strict=True)
    ]
    alt = "; ".join(f"{one.name}: {', '.join(map(_share, one.values.tolist()))}" for one in series)
    drawing = bars([one.title for one in shown], series, TENTHS, alt)
    return Figure(drawing, "All that is a share, on one scale; for each of them less is better.")


def _share(value: float) -> str:
    return NOT_THERE if isnan(value) else f"{value:.1%}"


def distributions(subjects: Sequence[Subject], attribute: str | None) -> Section:
    """Not only means: how all people, groups and queries fare."""
    drawn = [*_curves(subjects, attribute), *_losses(subjects)]
    return section(
        "Distributions",
        "distributions.html",
        figures=[one for one in drawn if isinstance(one, Figure)],
        missing=[reason for one in drawn if not isinstance(one, Figure) for reason in one],
    )


def _curves(subjects: Sequence[Subject], attribute: str | None) -> Iterator[Figure | list[str]]:
    def beliefs(one: Subject) -> Floats:
        return one.measure("attacks.attribute_disclosure", attacks.attribute_disclosure, attribute).belief

    def risks(one: Subject) -> Floats:
        return one.measure("attacks.reidentification", attacks.reidentification).risk

    people = "rows" if any(one.release.data.people_word == "rows" for one in subjects) else "people"
    if attribute is not None:
        yield _curve(subjects, beliefs, f"belief in one value of '{attribute}'", people)
    yield _curve(subjects, risks, "probability to be found", people)
    yield _curve(subjects, single.query_errors, "relative error of counting queries", "queries")


def _curve(subjects: Sequence[Subject], values: Callable[[Subject], Floats], x: str, of: str) -> Figure | list[str]:
    """The curves of all releases; where none has any, the reasons."""
    series, missing = [], []
    for one in subjects:
        try:
            series.append(Series(one.label, values(one), one.style or 0))
        except AnonymizationError as error:
            missing.append(f"{one.label} is not drawn: {error}")
    if not series:
        return missing
    alt = "; ".join(f"{one.name}: median {np.median(one.values):.3g}" for one in series)
    drawing = curves(series, x, of, PERCENT, alt)
    told = f"How many of all {of} have at most the {x} below. {' '.join(missing)}"
    return Figure(drawing, told.strip())


def _losses(subjects: Sequence[Subject]) -> Iterator[Figure]:
    known = [one for one in subjects if one.release.data.quasi_identifiers and not one.release.is_synthetic]
    if not known:
        return
    losses = {id(one): one.measure("utility.information_loss", utility.information_loss) for one in known}
    names = list(dict.fromkeys(name for one in known for name in losses[id(one)].per_attribute))
    series = [
        Series(
            one.label,
            np.array(
                [losses[id(one)].per_attribute.get(name, np.nan) if id(one) in losses else np.nan for name in names]
            ),
            one.style or 0,
        )
        for one in subjects
    ]
    drawn = [one for one in series if not np.isnan(one.values).all()]
    alt = "; ".join(f"{one.name}: {np.nanmean(one.values):.1%} on average" for one in drawn)
    drawing = bars(names, series, TENTHS, alt)
    yield Figure(drawing, "Share of its domain that a cell covers on average: 0% is exact, 100% says nothing.")


MOST = 6
"""The most releases that one report sets side by side."""
INVISIBLE = dict.fromkeys((*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0xD800, 0xE000)), "\ufffd")
"""What HTML cannot hold, and what stands for it."""


def report(subjects: Sequence[Subject], attribute: str | None = None, progress: Progress | None = None) -> str:
    """The report of one release, or the comparison of two to six of them, as one HTML text.

    The text needs no script and no request, and reads well on screen and on paper. Everything that comes from a table
    is escaped.

    Parameters
    ----------
    subjects : sequence of Subject
        The releases, one to six; the first is the baseline of a comparison.
    attribute : str, optional
        The sensitive attribute that is looked at; by default the first that is published.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop.

    Returns
    -------
    str
        The HTML document.

    Raises
    ------
    DataError
        Without a release, or for more than six.

    Examples
    --------
    >>> from anoncore.publishing.report import Subject, report
    >>> text = report([Subject("Mondrian, k = 3", release)])
    >>> text.splitlines()[0], "Mondrian, k = 3" in text
    ('<!DOCTYPE html>', True)
    """
    if not 1 <= len(subjects) <= MOST:
        raise DataError(f"A report takes 1 to {MOST} releases, not {len(subjects)}.")
    require(WRITING_REPORT, "jinja2")
    subjects = [one if one.style is not None else replace(one, style=place) for place, one in enumerate(subjects)]
    tell = progress or silent
    wanted = attribute if attribute is not None else subjects[0].attribute
    numbers = []
    for place, one in enumerate(subjects):
        tell(0.8 * place / len(subjects), f"Measuring {one.label}")
        numbers.append(one.numbers(wanted))
    tell(0.8, "Writing")
    if len(subjects) == 1:
        title, sections = _one(subjects[0], numbers[0], wanted, part_of(tell, 0.8, 1.0))
    else:
        title, sections = _several(subjects, numbers, wanted)
    text = page_of(title, [*sections, _not_checked(subjects, numbers)])
    tell(1.0, "Done")
    return text


def page_of(title: str, sections: Sequence[Section]) -> str:
    """The whole HTML of a report: its sections, and the definitions of what is in them."""
    page = rendered(
        "page.html",
        title=title,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
        sections=[*sections, section("Definitions", "definitions.html")],
    )
    return str(page).translate(INVISIBLE)


def _one(
    subject: Subject, numbers: single.Numbers, attribute: str | None, progress: Progress
) -> tuple[str, list[Section]]:
    if subject.release.is_synthetic:
        protection = [section("What an adversary gets", "no_people.html", text=single.NOBODY)]
    else:
        protection = [single.reached(subject, attribute), single.adversary(subject, attribute, progress)]
    sections = [
        single.summary(subject, numbers),
        single.holds(subject.verdict, single.NOT_MEASURED if subject.release.is_synthetic else single.NOTHING_BAD),
        *protection,
        *earlier_releases(subject.earlier),
        single.cost(subject),
        published(subject),
        method(subject.release.algorithm, subject.release.notes),
        single.all_numbers(subject, numbers),
    ]
    return f"{subject.label}{f' of {subject.table}' if subject.table else ''}", sections


def earlier_releases(earlier: Sequence[Earlier] | None) -> list[Section]:
    """What is said of earlier releases of the same people; no section where none is known."""
    return [section("Earlier releases", "earlier.html", earlier=earlier)] if earlier else []


def _several(
    subjects: Sequence[Subject], numbers: Sequence[single.Numbers], attribute: str | None
) -> tuple[str, list[Section]]:
    sections = [
        section("The releases", "releases.html", releases=[_made(one) for one in subjects]),
        section("What holds, and what does not", "promises.html", subjects=subjects),
        numbers_side_by_side(subjects, numbers),
        distributions(subjects, attribute),
        section("What the numbers mean", "meanings.html", numbers=CRITERIA.values()),
    ]
    return f"{len(subjects)} releases compared", sections


def _not_checked(subjects: Sequence[Subject], numbers: Sequence[single.Numbers]) -> Section:
    missing = [
        f"{CRITERIA[name].title}{f' of {one.label}' if len(subjects) > 1 else ''}: {error}"
        for one, found in zip(subjects, numbers, strict=True)
        for name, error in found.items()
        if isinstance(error, AnonymizationError)
    ]
    return section("What was not checked", "not_checked.html", missing=missing)
