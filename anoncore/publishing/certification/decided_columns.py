"""Insensitive columns that break what a release promises: what a certificate says of them, and what files show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import numpy as np

from anoncore.base.texts import quoted
from anoncore.privacy.tag_leaks import UNIQUE, TagLeak
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.entries import LARGEST, ClassesShown, DecidedColumn
from anoncore.publishing.certification.finding import Finding
from anoncore.publishing.certification.published_release import by_name, with_role
from anoncore.requirements import KAnonymity
from anoncore.table.relations import Split

DECIDED: Final = "published by decision"
UNDECIDED: Final = "published, and nobody decided so"
OVER_ALL = "all published columns but the secrets"

ShownClasses = Callable[[ClassesShown], tuple[int, int] | None]
"""Rows of the smallest class and rows in classes of fewer than k, as files show them; None where they show none."""


def decided_entries(leaks: Iterable[TagLeak], shown: ShownClasses | None = None) -> list[DecidedColumn] | None:
    """What the certificate says of the insensitive columns that break what is promised; None where none does.

    `shown` says what the files show of some classes, where these are not already known from the files; classes of which
    they show something else are left out.
    """
    entries = []
    for leak in leaks:
        tells = [name for one in leak.relations for name in (*one.telling, one.told) if name != leak.column]
        entries.append(
            DecidedColumn(
                column=leak.column,
                decision=DECIDED if leak.is_decided else UNDECIDED,
                tells=list(dict.fromkeys(tells)),
                # Rounded down: the files do not show the original values that a precise share would be about.
                share=float(np.floor(100 * leak.relations[0].share) / 100) if leak.relations else None,
                classes=classes_entry(leak.split, shown),
                sentence=leak.finding,
            )
        )
    return entries or None


def classes_entry(split: Split | None, shown: ShownClasses | None = None) -> ClassesShown | None:
    """The classes that some columns make, as the certificate has them; None where the files show something else."""
    if split is None:
        return None
    classes = ClassesShown(columns=list(split.columns), k=split.k, smallest=split.smallest, n_below=split.n_below)
    return classes if shown is None or shown(classes) == (split.smallest, split.n_below) else None


def asked_classes(certificate: Certificate) -> list[ClassesShown]:
    """All classes of which the files are asked to check a certificate: those it names, and those of all columns."""
    named = [one.classes for one in certificate.decided or () if one.classes is not None]
    return [*named, *_over_all(certificate)]


def _over_all(certificate: Certificate) -> list[ClassesShown]:
    """For each table with insensitive columns beside quasi-identifiers the classes that all of them make, with the k
    that was promised; with numbers that stand for none.
    """
    attributes = by_name(certificate.attributes)
    return [
        ClassesShown(columns=free, k=max(_promised_k(certificate), UNIQUE), smallest=1, n_below=0)
        for table in certificate.tables
        if (free := with_role(attributes, table.columns, "insensitive"))
        and with_role(attributes, table.columns)
        and certificate.linked_by is None
    ]


def _promised_k(certificate: Certificate) -> int:
    """The largest k that was asked for; 0 where none was."""
    asked = [one.asked for one in certificate.requirements if one.requirement.get("name") == KAnonymity.name]
    return min(max((int(one) for one in asked), default=0), LARGEST - 1)


def decided_findings(certificate: Certificate, shown: ShownClasses, is_found: bool) -> Iterator[Finding]:
    """Compare what the certificate says of insensitive columns with what the published tables show of the classes.

    `is_found` says that these columns were already found to break what is promised.
    """
    for entry in certificate.decided or ():
        check = f"insensitive column '{entry.column}'"
        if entry.classes is None:
            yield Finding(check, "claimed", f"The certificate says: {entry.sentence} It is {entry.decision}.")
            continue
        together = " and ".join(f"'{name}'" for name in entry.classes.columns)
        which = f"which {'is' if len(entry.classes.columns) == 1 else 'are'} {entry.decision}"
        yield _compared(check, f"{together}, {which}", shown(entry.classes), entry.classes, entry.classes.k)
    yield from _over_all_findings(certificate, shown)
    if certificate.breaking and not is_found:
        # Its own words are quoted, and never part of the verdict.
        yield Finding(OVER_ALL, "claimed", f"The certificate says against itself: {quoted(certificate.breaking)}.")


def _over_all_findings(certificate: Certificate, shown: ShownClasses) -> Iterator[Finding]:
    """Compare the classes for readers who know all but the secrets with what the certificate says of them."""
    counted = [(classes, found) for classes in _over_all(certificate) if (found := shown(classes)) is not None]
    if certificate.over_all is not None and counted:
        classes, found = max(counted, key=lambda one: (one[1][1], -one[1][0]))
        yield _compared(OVER_ALL, OVER_ALL, found, certificate.over_all, classes.k)


def _compared(check: str, columns: str, found: tuple[int, int] | None, certified: ClassesShown, k: int) -> Finding:
    """Whether the classes that some columns make have the certified numbers."""
    numbers, said = "classes cannot be made", (certified.smallest, certified.n_below)
    if found is not None:
        rows = "1 row" if found[0] == 1 else f"{found[0]:,} rows"
        numbers = f"the smallest class has {rows}, and {found[1]:,} of all rows are in classes of fewer than {k}"
    end = "" if found == said else f"; the certificate says {said[0]:,} and {said[1]:,}"
    return Finding(check, "holds" if found == said else "fails", f"Told apart by {columns}, {numbers}{end}.")


def split_of(classes: ClassesShown) -> tuple[tuple[str, ...], int]:
    """The columns that make some classes, and the k that they are compared with, as a scan takes them."""
    return tuple(classes.columns), classes.k
