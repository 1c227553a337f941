"""Columns beside the known ones: what certificates say of those that break what is promised, and what files show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow.compute as pc

from anoncore.base.texts import counted, quoted
from anoncore.kernels.arrays import Int64
from anoncore.kernels.grouping import numbered_keys
from anoncore.privacy.tag_leaks import UNIQUE, TagLeak
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.counting import Counted
from anoncore.publishing.certification.entries import LARGEST, ClassesShown, DecidedColumn
from anoncore.publishing.certification.finding import Finding, claimed, either
from anoncore.publishing.certification.published_release import by_name, told_apart, with_role
from anoncore.publishing.certification.published_rows import Rows, array_of, names_of
from anoncore.publishing.certification.scan import GroupKeys, coded_cells
from anoncore.release.reading.published_table import is_text_type
from anoncore.requirements import KAnonymity
from anoncore.sources.parquet import value_type
from anoncore.table.people import MOST_ROWS_OF_ONE, alike_people
from anoncore.table.pseudonyms import PSEUDONYM
from anoncore.table.relations import Split

DECIDED: Final = "published by decision"
UNDECIDED: Final = "published, and nobody decided so"
OVER_ALL = "all published columns but the secrets"
FEWEST_PEOPLE = 100
"""An insensitive column of fewer values is taken for a category, which is counted as what somebody may know."""
ShownClasses = Callable[[ClassesShown], tuple[int, int] | None]
"""Rows of the smallest class and rows in classes of fewer than k, as files show them; None where they show none."""


def decided_entries(leaks: Iterable[TagLeak], shown: ShownClasses | None = None) -> list[DecidedColumn] | None:
    """What the certificate says of the insensitive columns that break what is promised; None where none does.

    `shown` says what the files show of some classes, where these are not already known from the files; classes of which
    they show something else are left out.
    """
    return [
        DecidedColumn(
            column=leak.column,
            decision=DECIDED if leak.is_decided else UNDECIDED,
            tells=list(
                dict.fromkeys(
                    name for one in leak.relations for name in (*one.telling, one.told) if name != leak.column
                )
            ),
            # Rounded down: the files do not show the original values that a precise share would be about.
            share=float(np.floor(100 * leak.relations[0].share) / 100) if leak.relations else None,
            classes=classes_entry(leak.split, shown),
            sentence=leak.finding,
        )
        for leak in leaks
    ] or None


def classes_entry(split: Split | None, shown: ShownClasses | None = None) -> ClassesShown | None:
    """The classes that some columns make, as the certificate has them; None where the files show something else."""
    if split is None:
        return None
    classes = ClassesShown.model_validate(split, from_attributes=True)
    return classes if shown is None or shown(classes) == (split.smallest, split.n_below) else None


def asked_classes(certificate: Certificate) -> list[ClassesShown]:
    """All classes of which the files are asked to check a certificate: those it names, and those of all columns."""
    named = [one.classes for one in certificate.decided or () if one.classes is not None]
    return [*named, *_over_all(certificate)]


def _over_all(certificate: Certificate) -> list[ClassesShown]:
    """For each table with insensitive columns beside quasi-identifiers the classes that all of them make, with the k
    that was promised; with numbers that stand for none.

    Nobody knows the pseudonym of a person: what it joins is counted by `linked_findings`.
    """
    attributes, k = by_name(certificate.attributes), max(certified_k(certificate), UNIQUE)
    found = []
    for table in certificate.tables:
        free = with_role(attributes, table.columns, "insensitive")
        names = [name for name in free if name not in certificate.pseudonyms]
        if names and with_role(attributes, table.columns) and certificate.linked_by is None:
            found.append(ClassesShown(columns=names, k=k, smallest=1, n_below=0))
    return found


def certified_k(certificate: Certificate) -> int:
    """The largest k that was asked for; 0 where none was."""
    asked = [int(one.asked) for one in certificate.requirements if one.requirement.get("name") == KAnonymity.name]
    return min(max(asked, default=0), LARGEST - 1)


def decided_findings(certificate: Certificate, shown: ShownClasses, is_found: bool) -> Iterator[Finding]:
    """Compare what the certificate says of insensitive columns with what the published tables show of the classes.

    `is_found` says that these columns were already found to break what is promised.
    """
    for entry in certificate.decided or ():
        check = f"insensitive column {quoted(entry.column)}"
        if entry.classes is None:
            yield claimed(check, f"The certificate says: {entry.sentence} It is {entry.decision}.")
            continue
        together = " and ".join(f"{quoted(name)}" for name in entry.classes.columns)
        which = f"which {'is' if len(entry.classes.columns) == 1 else 'are'} {entry.decision}"
        yield _compared(check, f"{together}, {which}", shown(entry.classes), entry.classes, entry.classes.k)
    counted = [(classes, found) for classes in _over_all(certificate) if (found := shown(classes)) is not None]
    if certificate.over_all is not None and counted:
        classes, found = max(counted, key=lambda one: (one[1][1], -one[1][0]))
        yield _compared(OVER_ALL, OVER_ALL, found, certificate.over_all, classes.k)
    if certificate.breaking and not is_found:
        # Its own words are quoted, and never part of the verdict.
        yield claimed(OVER_ALL, f"The certificate says against itself: {quoted(certificate.breaking)}.")


def _compared(check: str, columns: str, found: tuple[int, int] | None, certified: ClassesShown, k: int) -> Finding:
    """Whether the classes that some columns make have the certified numbers."""
    numbers, said = "groups cannot be made", (certified.smallest, certified.n_below)
    if found is not None:
        rows = counted(found[0], "row")
        numbers = f"the smallest group has {rows}, and {found[1]:,} of all rows are in groups of fewer than {k}"
    end = "" if found == said else f"; the certificate says {said[0]:,} and {said[1]:,}"
    return either(check, found == said, f"Told apart by {columns}, {numbers}{end}.")


def linked_findings(certificate: Certificate, counted: Counted) -> Iterator[Finding]:
    """Among how many people everybody hides whose rows a column of the tables joins, whatever it is called.

    Looked at are the columns that the certificate calls pseudonyms, those that look like such, and insensitive ones
    with at least 100 values, which stand in as many rows as ids of people do. Where the reader named the known columns,
    pseudonyms that break the k that was asked for fail it.
    """
    attributes, k, group = counted.attributes, max(certified_k(certificate), UNIQUE), certificate.linked_by
    for rows in counted.tables:
        names = [name for name in names_of(rows) if name != group]
        pseudonyms = [name for name in names if name in certificate.pseudonyms or _looks_like_pseudonyms(rows, name)]
        # A pseudonym that is called known tells rows of people apart, and not people: it joins rows all the same.
        known = [name for name in told_apart(names_of(rows), attributes, group) if name not in pseudonyms]
        content: Int64 | None = None
        for name in names:
            is_pseudonym = name in pseudonyms
            if not is_pseudonym and attributes[name].role != "insensitive":
                continue
            person = _numbered(rows, [name]).astype(np.int32)
            n_people = int(person.max()) + 1
            may_be_people = n_people >= FEWEST_PEOPLE and k <= len(person) / n_people <= MOST_ROWS_OF_ONE
            if is_pseudonym or may_be_people:
                content = _numbered(rows, known) if content is None else content
                yield _finding(name, alike_people(person, content), k, is_pseudonym, counted.is_given)


def _numbered(rows: Sequence[Rows], names: Sequence[str]) -> Int64:
    """A number for each row, int64 (n_rows,), the same for rows whose cells are equal in all columns."""
    if not names:
        return np.zeros(sum(part.n_rows for part in rows), dtype=np.int64)
    keys = GroupKeys(names)
    runs = [keys.of_rows(unit) for part in rows for unit in part.units(names)]
    keyed, n_rows = (np.concatenate(column) for column in zip(*runs, strict=True))
    return np.repeat(numbered_keys(keyed)[0], n_rows)


def _looks_like_pseudonyms(rows: Sequence[Rows], name: str) -> bool:
    """Whether all cells of a column look like pseudonyms, in all parts of a table."""
    pieces = (array_of(unit, name) for part in rows for unit in part.units([name]))
    return all(
        is_text_type(value_type(cells.type))
        and len(values := coded_cells(cells).dictionary)
        and pc.all(pc.match_substring_regex(values, PSEUDONYM)).as_py()
        for cells in pieces
    )


def _finding(name: str, alike: Int64, k: int, is_pseudonym: bool, is_given: bool) -> Finding:
    """What joining rows does to the k that was asked for; never in the same breath with what holds of single rows."""
    check, people = f"rows joined by {quoted(name)}", f"{len(alike):,} people"
    smallest, below = int(alike.min()), int((alike < k).sum())
    if not below:
        sentence = (
            f"Where {quoted(name)} joins the rows of a person, everybody of {people} hides among {smallest:,} or more."
        )
        return Finding(check, "holds", sentence)
    what = "a pseudonym, joins" if is_pseudonym else "if it says whose row it is, joins"
    breaking = (
        f"{quoted(name)}, {what} the rows of a person: by all of them somebody hides among "
        f"{counted(smallest, 'person')}, and {below:,} of {people} hide among fewer than {k:,}"
    )
    sentence = f"What was counted of single rows holds only if nobody joins them; {breaking}."
    return Finding(check, "fails" if is_given and is_pseudonym else "claimed", sentence, breaking)
