"""Columns of several tables that hold the same values, by which somebody may join rows: of tables that are published
apart, and inside the groups of tables that are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import combinations, permutations

import numpy as np

from anoncore import privacy
from anoncore.base.errors import AnonymizationError, DataError
from anoncore.base.texts import counted, listing, quoted
from anoncore.privacy.guarantees import Guarantee, judged
from anoncore.privacy.joined_people import JoinedTables
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.entries import Attribute
from anoncore.publishing.certification.finding import Finding, claimed
from anoncore.publishing.certification.further_columns import certified_k
from anoncore.publishing.certification.published_release import PublishedRelease, by_name, with_role
from anoncore.publishing.certification.questions import Question, countable
from anoncore.release.partition import Partition
from anoncore.release.reading.published_table import Column, PublishedTable
from anoncore.release.recoding import Exact
from anoncore.release.release import Fragment, Release
from anoncore.table.people import MOST_ROWS_OF_ONE

LINK = "whose row it is"
SHARED = 10
"""Columns link two tables where one in so many of the values of one stands in the other."""
SAME_GROUPS = 0.75
"""Columns link rows inside groups where they hold the same values in more than this share of the groups that they
divide: columns of zeros and ones that have nothing to do with each other do so in at most half of them.
"""
Place = tuple[str, str]
"""A table and one of its columns."""
Guarantees = Iterable[Guarantee]


def link_findings(
    tables: Mapping[str, PublishedTable], certificates: Mapping[str, Certificate], own: str | None, check: str
) -> Iterator[Finding]:
    """A claim for every way to join the tables by columns other than `own` that breaks what is promised of one of them.

    `certificates` has what each table is promised in; `check` is what the claims are called.
    """
    for link in _links(tables, certificates, own):
        try:
            joined = privacy.joined(
                {name: published_as_release(tables[name], certificates[name], column) for name, column in link}, LINK
            )
        except DataError:  # some rows have no value there, or only groups have values: nobody's rows are joined by it
            continue
        broken = ""
        if max(certified_k(certificates[name]) for name, _ in link) > joined.k:
            broken = f"the smallest group has {counted(int(joined.k), 'person')}."
        for name, _ in link:

            def guarantees(asked: Question, name: str = name, joined: JoinedTables = joined) -> Guarantees:
                return joined.guarantees({name: [asked.requirement]})

            broken = broken or _broken(certificates[name], joined.releases[name].attributes, guarantees)
        if broken:
            yield _claim(check, link, "the tables", "", broken)


def inside_findings(published: PublishedRelease, certificate: Certificate) -> Iterator[Finding]:
    """A claim for every two columns by which rows are joined inside groups so that a promise on secrets breaks."""
    contents = {}
    tables = {table.name: (table, published.partition(table)) for table in published.tables}
    for table, groups in tables.values():
        for name, cells in table.columns.items():
            if name != published.group:
                # A word per group that is the same for the same values in whatever order. Nobody can choose values
                # whose words add up to those of others: Python draws a key for them in every process.
                word_of = np.fromiter(map(hash, cells.texts), dtype=np.int64).view(np.uint64)
                words = np.add.reduceat(word_of[cells.codes[groups.order]], groups.starts[:-1])
                low, high = groups.extent(cells.codes)
                contents[table.name, name] = words, low < high
    for one, other in permutations(contents, 2):
        if one[0] == other[0]:
            continue
        divided = contents[one][1] | contents[other][1]
        same = (contents[one][0] == contents[other][0]) & divided
        if not divided.any() or same.sum() <= SAME_GROUPS * divided.sum():
            continue
        table, groups = tables[other[0]]
        classes = Partition.alike([groups.group, table.columns[other[1]].codes])

        def of_classes(asked: Question, table: PublishedTable = table, classes: Partition = classes) -> Guarantees:
            columns = {name: cells for name, cells in table.columns.items() if name == asked.attribute}
            return judged(_release_of(table, columns, published.attributes, classes), [asked.requirement])

        if broken := _broken(certificate, table.columns, of_classes):
            yield _claim("links inside groups", (one, other), "rows inside groups", " there", broken)


def _claim(check: str, link: Iterable[Place], what: str, where: str, broken: str) -> Finding:
    columns = " and ".join(f"{quoted(column)} of {quoted(table)}" for table, column in link)
    sentence = f"What is promised holds only if nobody joins {what} by {columns}, which hold the same values{where}"
    return claimed(check, f"{sentence}: joined by them, {broken}")


def _links(
    tables: Mapping[str, PublishedTable], certificates: Mapping[str, Certificate], own: str | None
) -> Iterator[tuple[Place, Place]]:
    """Pairs of columns that may say whose row it is, whatever the certificate says of them: not known, with about as
    many values as there are rows, a tenth of which stand in the other table.
    """
    ids = {
        (name, column): set(cells.texts)
        for name, table in tables.items()
        for column, cells in table.columns.items()
        if column != own
        and by_name(certificates[name].attributes)[column].role != "quasi-identifier"
        and len(cells.texts) > 1
        and table.n_rows <= MOST_ROWS_OF_ONE * len(cells.texts)
    }
    for (one, first), (other, second) in combinations(ids.items(), 2):
        if one[0] != other[0] and SHARED * len(first & second) >= min(len(first), len(second)):
            yield one, other


def _broken(certificate: Certificate, columns: Collection[str], guarantees: Callable[[Question], Guarantees]) -> str:
    """What of the promises on some columns is not kept, in half a sentence; empty where all are."""
    for question in countable(certificate):
        if question.attribute in columns:
            with suppress(AnonymizationError):  # it cannot be asked of these tables, which the requirement itself tells
                for one in guarantees(question):
                    if one.attribute == question.attribute and not one.holds:
                        return one.sentence
    return ""


def published_as_release(table: PublishedTable, certificate: Certificate, link: str | None = None) -> Release:
    """A published table as a release of the rows that it shows; the column `link` stands in it once more as `LINK`.

    Raises DataError for sets of groups.
    """
    attributes, columns = by_name(certificate.attributes), dict(table.columns)
    if link is not None:
        attributes[LINK] = attributes[link].model_copy(update={"name": LINK})
        columns[LINK] = columns[link]
    sets = [name for name in columns if attributes[name].form == "set"]
    if sets:
        raise DataError(
            f"{quoted(table.name)} publishes {listing(sets)} as sets of a group, and not whose each value is."
        )
    return _release_of(table, columns, attributes)


def _release_of(
    table: PublishedTable,
    columns: Mapping[str, Column],
    attributes: Mapping[str, Attribute],
    classes: Partition | None = None,
) -> Release:
    """Some columns of a table as a release, by default of the classes that its known columns make."""
    data = PublishedRelease((table,), attributes, None).microdata(columns)
    if classes is None:
        known = with_role(attributes, columns) or list(columns)[:1]
        classes = Partition.alike([data.codes[name] for name in known])
    recodings = {name: Exact(data.domain[name], classes, data.codes[name]) for name in columns}
    return Release(data, (Fragment(table.name, classes, recodings),))
