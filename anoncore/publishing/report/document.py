"""A whole report as one HTML file: no script, no request, readable on screen and paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from anoncore.base.errors import AnonymizationError, DataError
from anoncore.base.extras import require
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.version import __version__
from anoncore.measures.criteria import CRITERIA
from anoncore.publishing.certification.earlier import Earlier
from anoncore.publishing.report.drawing import WRITING_REPORT
from anoncore.publishing.report.rendering import Section, rendered, section
from anoncore.publishing.report.side_by_side import distributions, legend, meanings, numbers_side_by_side, promises
from anoncore.publishing.report.single import (
    NOT_MEASURED,
    NOTHING_BAD,
    Numbers,
    adversary,
    all_numbers,
    cost,
    holds,
    no_people,
    reached,
    summary,
)
from anoncore.publishing.report.subject import Subject
from anoncore.publishing.report.treatments import method, published

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
    >>> import pandas as pd
    >>> from anoncore import Microdata
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [21, 22, 23, 44, 45, 46], "disease": ["flu"] * 2 + ["cold"] * 4})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data)
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


def _one(subject: Subject, numbers: Numbers, attribute: str | None, progress: Progress) -> tuple[str, list[Section]]:
    if subject.release.is_synthetic:
        protection = [no_people()]
    else:
        protection = [reached(subject, attribute), adversary(subject, attribute, progress)]
    sections = [
        summary(subject, numbers),
        holds(subject.verdict, NOT_MEASURED if subject.release.is_synthetic else NOTHING_BAD),
        *protection,
        *earlier_releases(subject.earlier),
        cost(subject),
        published(subject),
        method(subject.release.algorithm, subject.release.notes),
        all_numbers(subject, numbers),
    ]
    return f"{subject.label}{f' of {subject.table}' if subject.table else ''}", sections


def earlier_releases(earlier: Sequence[Earlier] | None) -> list[Section]:
    """What is said of earlier releases of the same people; no section where none is known."""
    return [section("Earlier releases", "earlier.html", earlier=earlier)] if earlier else []


def _several(
    subjects: Sequence[Subject], numbers: Sequence[Numbers], attribute: str | None
) -> tuple[str, list[Section]]:
    sections = [
        legend(subjects),
        promises(subjects),
        numbers_side_by_side(subjects, numbers),
        distributions(subjects, attribute),
        meanings(),
    ]
    return f"{len(subjects)} releases compared", sections


def _not_checked(subjects: Sequence[Subject], numbers: Sequence[Numbers]) -> Section:
    missing = [
        f"{CRITERIA[name].title}{f' of {one.label}' if len(subjects) > 1 else ''}: {error}"
        for one, found in zip(subjects, numbers, strict=True)
        for name, error in found.items()
        if isinstance(error, AnonymizationError)
    ]
    return section("What was not checked", "not_checked.html", missing=missing)
