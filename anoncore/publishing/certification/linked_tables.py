"""Columns of several tables that hold the same values, by which somebody may join what is published apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from anoncore import privacy
from anoncore.base.errors import AnonymizationError, DataError
from anoncore.base.texts import counted, listing, quoted
from anoncore.privacy.joined_people import JoinedTables
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.finding import Finding, claimed
from anoncore.publishing.certification.further_columns import certified_k
from anoncore.publishing.certification.published_release import PublishedRelease, by_name, with_role
from anoncore.publishing.certification.questions import Question
from anoncore.release.partition import Partition
from anoncore.release.reading.published_table import PublishedTable
from anoncore.release.recoding import Exact
from anoncore.release.release import Fragment, Release
from anoncore.table.people import MOST_ROWS_OF_ONE

LINK = "whose row it is"
SHARED = 10
"""Columns link two tables where one in so many of the values of one stands in the other."""


def link_findings(
    tables: Mapping[str, PublishedTable], certificates: Mapping[str, Certificate], own: str | None, check: str
) -> Iterator[Finding]:
    """A claim for every way to join the tables by columns other than `own` that breaks what is promised of one of them.

    `certificates` has what each table is promised in; `check` is what the claims are called.
    """
    for link in _links(tables, certificates, own):
        try:
            releases = {
                name: published_as_release(tables[name], certificates[name], column) for name, column in link.items()
            }
            joined = privacy.joined(releases, LINK)
        except DataError:  # some rows have no value there, or only groups have values: nobody's rows are joined by it
            continue
        broken = _broken(joined, {name: certificates[name] for name in link})
        if broken:
            columns = " and ".join(f"{quoted(column)} of {quoted(table)}" for table, column in link.items())
            sentence = (
                f"What is promised holds only if nobody joins the tables by {columns}, which hold the same values"
            )
            yield claimed(check, f"{sentence}: joined by them, {broken}")


def _links(
    tables: Mapping[str, PublishedTable], certificates: Mapping[str, Certificate], own: str | None
) -> Iterator[dict[str, str]]:
    """Pairs of columns, by their tables, that may say whose row it is, whatever the certificate says of them: not
    known, with about as many values as there are rows, a tenth of which stand in the other table.
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
            yield dict([one, other])


def _broken(joined: JoinedTables, certificates: Mapping[str, Certificate]) -> str:
    """What of the promises the joined tables do not keep, in half a sentence; empty where they keep all."""
    if max(map(certified_k, certificates.values())) > joined.k:
        return f"the smallest group has {counted(int(joined.k), 'person')}."
    for name, certificate in certificates.items():
        attributes = by_name(certificate.attributes)
        for asked in certificate.requirements:
            if asked.attribute not in joined.releases[name].attributes:
                continue
            try:
                question = Question.of(asked)
                reason = question.hidden_reason(attributes)
                guarantees = () if reason else joined.guarantees({name: [question.requirement]})
            except AnonymizationError:  # it cannot be asked of these tables, which the requirement itself tells
                continue
            for guarantee in guarantees:
                if guarantee.attribute == asked.attribute and not guarantee.holds:
                    return guarantee.sentence
    return ""


def published_as_release(table: PublishedTable, certificate: Certificate, link: str | None = None) -> Release:
    """A published table as a release of the rows that it shows; the column `link` stands in it once more as `LINK`.

    Raises DataError for sets of groups.
    """
    attributes = by_name(certificate.attributes)
    columns = dict(table.columns)
    if link is not None:
        attributes[LINK] = attributes[link].model_copy(update={"name": LINK})
        columns[LINK] = columns[link]
    sets = [name for name in columns if attributes[name].form == "set"]
    if sets:
        raise DataError(
            f"{quoted(table.name)} publishes {listing(sets)} as sets of a group, and not whose each value is."
        )
    data = PublishedRelease((table,), attributes, None).microdata(columns)
    known = with_role(attributes, columns)
    partition = Partition.alike([data.codes[name] for name in known or list(columns)[:1]])
    recodings = {name: Exact(data.domain[name], partition, data.codes[name]) for name in columns}
    return Release(data, (Fragment(table.name, partition, recodings),))
