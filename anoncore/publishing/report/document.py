"""A whole report as one HTML file: no script, no request, readable on screen and paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from anoncore.base.errors import AnonymizationError, DataError
from anoncore.base.progress import Progress
from anoncore.base.version import __version__
from anoncore.measures.criteria import CRITERIA
from anoncore.publishing.report.markup import Markup, escaped, items, joined, section, table, tag
from anoncore.publishing.report.side_by_side import distributions, legend, meanings, numbers_side_by_side, promises
from anoncore.publishing.report.single import Numbers, adversary, all_numbers, cost, holds, reached, summary
from anoncore.publishing.report.style import STYLE
from anoncore.publishing.report.subject import Subject
from anoncore.publishing.report.treatments import method, published

MOST = 6
INTERNAL = (
    "For those who made the release: the numbers were measured with the original table at hand, which is more than the "
    "published files tell. Publish the certificate instead."
)
DEFINITIONS = (
    ("Quasi-identifier", "An attribute that an adversary may know of people, such as age, sex or postcode."),
    ("Sensitive attribute", "An attribute that he must not learn of a person."),
    ("Group", "Rows that the release makes alike or joins, so that nobody can tell whose row is whose."),
    ("Generalization", "Values are replaced by ranges, sets or groups that hold them."),
    ("EMD", "Earth mover's distance: how much of a distribution must move how far to become another one."),
    ("Belief", "The probability that the adversary gives to a value after he has seen the release."),
    ("Baseline", "What guessing gets, or what the original table as one group has."),
)
ASSUMED = (
    "That the adversary knows more than the quasi-identifiers and who is in the table, such as other values of some "
    "people; the foreground-knowledge number alone lets him learn from the release itself.",
    "That other tables, or other releases of the same people, are joined with this one.",
    "That free texts, rare names or codes inside attributes tell who a person is.",
    "That the tags are right: an attribute tagged insensitive is published as it is.",
)


def report(subjects: Sequence[Subject], attribute: str | None = None, progress: Progress | None = None) -> str:
    """The report of one release, or the comparison of two to six of them, as an HTML text.

    `attribute` is the sensitive attribute that is looked at (default: the first that is published). Everything that
    comes from a table is escaped. Raises DataError without a release or for more than six.
    """
    if not 1 <= len(subjects) <= MOST:
        raise DataError(f"A report takes 1 to {MOST} releases, not {len(subjects)}.")
    subjects = [one if one.style is not None else replace(one, style=place) for place, one in enumerate(subjects)]
    tell = progress if progress is not None else _silent
    wanted = attribute if attribute is not None else subjects[0].attribute
    numbers = []
    for place, one in enumerate(subjects):
        tell(0.8 * place / len(subjects), f"Measuring {one.label}")
        numbers.append(one.numbers(wanted))
    tell(0.8, "Writing")
    if len(subjects) == 1:
        title, parts = _one(subjects[0], numbers[0], wanted)
    else:
        title, parts = _several(subjects, numbers, wanted)
    tell(1.0, "Done")
    return _page(title, parts, _not_checked(subjects, numbers))


def _one(subject: Subject, numbers: Numbers, attribute: str | None) -> tuple[str, list[Markup]]:
    parts = [
        summary(subject, numbers),
        holds(subject),
        reached(subject, attribute),
        adversary(subject, attribute),
        cost(subject),
        published(subject),
        method(subject),
        all_numbers(numbers),
    ]
    return f"{subject.label}{f' of {subject.table}' if subject.table else ''}", parts


def _several(
    subjects: Sequence[Subject], numbers: Sequence[Numbers], attribute: str | None
) -> tuple[str, list[Markup]]:
    parts = [
        legend(subjects),
        promises(subjects),
        numbers_side_by_side(subjects, numbers),
        distributions(subjects, attribute),
        meanings(),
    ]
    return f"{len(subjects)} releases compared", parts


def _not_checked(subjects: Sequence[Subject], numbers: Sequence[Numbers]) -> Markup:
    missing = [
        f"{CRITERIA[name].title}{f' of {one.label}' if len(subjects) > 1 else ''}: {error}"
        for one, found in zip(subjects, numbers, strict=True)
        for name, error in found.items()
        if isinstance(error, AnonymizationError)
    ]
    return section(
        "What was not checked",
        tag("h3", "Not measured, with the reason") if missing else "",
        items(missing),
        tag("h3", "Not part of any number"),
        items(ASSUMED),
    )


def _page(title: str, parts: Sequence[Markup], not_checked: Markup) -> str:
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    definitions = section("Definitions", table(("Word", "Meaning"), DEFINITIONS))
    body = tag(
        "main",
        tag("h1", title),
        tag("p", f"Made {made} with anoncore {__version__}.", class_="soft"),
        tag("p", INTERNAL, class_="note"),
        *_numbered([*parts, not_checked, definitions]),
    )
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _numbered(parts: Sequence[Markup]) -> Iterator[Markup]:
    """A list of the parts with links, then the parts."""
    titles = [part.split("<h2>", 1)[1].split("</h2>", 1)[0] for part in parts]
    links = joined(
        tag("li", tag("a", Markup(title), href=f"#part-{place}")) for place, title in enumerate(titles, start=1)
    )
    yield tag("nav", tag("ul", links), aria_label="Contents")
    for place, part in enumerate(parts, start=1):
        yield Markup(part.replace("<section>", f'<section id="part-{place}">', 1))


def _silent(fraction: float, text: str) -> None:
    """Progress nobody watches."""
