"""Insensitive columns that undo a tag: the decision on each before it is published, and what the certificate says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from anoncore.base.errors import ParameterError, ReleaseError
from anoncore.base.texts import listing
from anoncore.measures.kept_results import Cache, KeptResults
from anoncore.privacy.tag_leaks import TagLeak, tag_leaks, undecided
from anoncore.publishing.certification.entries import UntaggedClasses, UntaggedColumn
from anoncore.publishing.certification.finding import Finding
from anoncore.publishing.certification.published_release import PublishedRelease
from anoncore.release.release import Release

PUBLISHED: Final = "published as it is"
SETTLED: Final = "tagged insensitive"
NAMED = "name it in publish_untagged"


def decided_leaks(
    release: Release, publish_untagged: Sequence[str] = (), named: str = NAMED, cache: Cache | None = None
) -> tuple[TagLeak, ...]:
    """The columns that undo a tag, after a decision on each of them.

    `publish_untagged` are the columns that shall be published all the same; `named` says how to name one there, and
    `cache` keeps what was measured before. Raises ParameterError for a name that is no insensitive column of the
    release, and ReleaseError, with what each column gives away, where nobody decided on some of them.
    """
    data = release.data
    wrong = [name for name in publish_untagged if name not in data.insensitive or name not in release.attributes]
    if wrong:
        free = [name for name in data.insensitive if name in release.attributes]
        there = f"it has {listing(free, 30)}" if free else "it has none"
        raise ParameterError(f"The release publishes no insensitive column {listing(wrong)} to decide on; {there}.")
    measure = KeptResults(release) if cache is None else cache
    found: tuple[TagLeak, ...] = measure("privacy.tag_leaks", tag_leaks)
    left = undecided(found, publish_untagged)
    if left:
        sentences = " ".join(f"{one.finding} {one.advice[0].upper()}{one.advice[1:]};" for one in left)
        which = "it" if len(left) == 1 else "one of them"
        raise ReleaseError(f"{sentences} to publish {which} as it is, {named}.")
    return found


def untagged_entries(
    leaks: Iterable[TagLeak], shown: Callable[[UntaggedClasses], tuple[int, int] | None] | None = None
) -> list[UntaggedColumn]:
    """What the certificate says of the columns that undo a tag and are published all the same.

    `shown` says what the files show of some classes, where these are not already known from the files; classes of which
    they show something else are left out.
    """
    entries = []
    for leak in leaks:
        classes, split = None, leak.split
        if split is not None:
            classes = UntaggedClasses(
                columns=list(split.columns), k=split.k, smallest=split.smallest, n_below=split.n_below
            )
            if shown is not None and shown(classes) != (split.smallest, split.n_below):
                classes = None
        tells = [name for one in leak.relations for name in (*one.telling, one.told) if name != leak.column]
        entries.append(
            UntaggedColumn(
                column=leak.column,
                decision=SETTLED if leak.is_settled else PUBLISHED,
                tells=list(dict.fromkeys(tells)),
                # Rounded down: the files do not show the original values that a precise share would be about.
                share=float(np.floor(100 * leak.relations[0].share) / 100) if leak.relations else None,
                classes=classes,
                sentence=leak.finding,
            )
        )
    return entries


def untagged_findings(
    entries: Iterable[UntaggedColumn], shown: Callable[[UntaggedClasses], tuple[int, int] | None]
) -> Iterator[Finding]:
    """Compare what the certificate says of such columns with what the published tables show of the classes."""
    for entry in entries:
        check = f"untagged column '{entry.column}'"
        if entry.classes is None:
            yield Finding(check, "not checked", f"{entry.sentence} It is {entry.decision}.")
            continue
        found, said = shown(entry.classes), (entry.classes.smallest, entry.classes.n_below)
        together = " and ".join(f"'{name}'" for name in entry.classes.columns)
        numbers = "classes cannot be made"
        if found is not None:
            rows = "1 row" if found[0] == 1 else f"{found[0]:,} rows"
            numbers = (
                f"the smallest class has {rows}, and {found[1]:,} of all rows are in classes of fewer than "
                f"{entry.classes.k}"
            )
        sentence = f"Told apart by {together}, which {_is(entry.classes.columns)} {entry.decision}, {numbers}"
        sentence += "." if found == said else f"; the certificate says {said[0]:,} and {said[1]:,}."
        yield Finding(check, "holds" if found == said else "fails", sentence)


def _is(columns: Sequence[str]) -> str:
    return "is" if len(columns) == 1 else "are"


def classes_shown(published: PublishedRelease, classes: UntaggedClasses) -> tuple[int, int] | None:
    """Rows of the smallest class and rows below k where the columns tell classes apart, in the table with most such
    rows; None where no table has the columns beside what is coarsened.
    """
    found = []
    for table in published.tables:
        known = [
            name
            for name in table.columns
            if name != published.group and published.attributes[name].role == "quasi-identifier"
        ]
        hides = any(published.attributes[name].form != "exact" for name in known)
        if not hides or not table.columns.keys() >= set(classes.columns):
            continue
        sizes = np.bincount(table.keys([*known, *classes.columns]))
        found.append((int(sizes.min()), int(sizes[sizes < classes.k].sum())))
    return max(found, key=lambda one: one[1], default=None)
