"""Columns that hold the same values in every group of joined tables, by which rows are joined inside the groups too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anoncore.base.errors import AnonymizationError
from anoncore.base.texts import quoted
from anoncore.kernels.arrays import Codes
from anoncore.privacy.guarantees import judged
from anoncore.publishing.certification.certificate import Certificate
from anoncore.publishing.certification.entries import Attribute
from anoncore.publishing.certification.finding import Finding, claimed
from anoncore.publishing.certification.published_release import PublishedRelease
from anoncore.publishing.certification.questions import Question
from anoncore.release.partition import Partition
from anoncore.release.reading.published_table import Column, PublishedTable
from anoncore.release.recoding import Exact
from anoncore.release.release import Fragment, Release

SAME_GROUPS = 0.75
"""Columns link rows where they hold the same values in more than this share of the groups that they divide: columns of
zeros and ones that have nothing to do with each other do so in at most half of them.
"""


class _Place(NamedTuple):
    """A column of one of the tables."""

    table: PublishedTable
    name: str

    @property
    def told(self) -> str:
        return f"{quoted(self.name)} of {quoted(self.table.name)}"


def inside_findings(published: PublishedRelease, certificate: Certificate) -> Iterator[Finding]:
    """A claim for every two columns by which rows are joined inside groups so that a promise on secrets breaks."""
    contents: dict[_Place, _Contents] = {}
    for table in published.tables:
        group = published.partition(table).group
        for name, cells in table.columns.items():
            if name != published.group:
                contents[_Place(table, name)] = _contents(group, cells)
    for one, other in permutations(contents, 2):
        if one.table is other.table:
            continue
        divided = contents[one].is_divided | contents[other].is_divided
        same = (contents[one].words == contents[other].words) & divided
        if not divided.any() or same.sum() <= SAME_GROUPS * divided.sum():
            continue
        broken = _broken(published, other, certificate)
        if broken:
            yield claimed(
                "links inside groups",
                f"What is promised holds only if nobody joins rows inside groups by {one.told} and {other.told}, which "
                f"hold the same values there: joined by them, {broken}",
            )


class _Contents(NamedTuple):
    """A word per group that is the same for the same values in whatever order, and whether these divide the group."""

    words: npt.NDArray[np.uint64]
    is_divided: npt.NDArray[np.bool_]


def _contents(group: Codes, cells: Column) -> _Contents:
    n_groups = int(group.max()) + 1
    # Nobody can choose values whose words add up to those of others: Python draws a key for them in every process.
    word_of = np.array([hash(text) & (2**64 - 1) for text in cells.texts], dtype=np.uint64)
    words = np.zeros(n_groups, dtype=np.uint64)
    np.add.at(words, group, word_of[cells.codes])
    low, high = np.full(n_groups, len(cells.texts)), np.full(n_groups, -1)
    np.minimum.at(low, group, cells.codes)
    np.maximum.at(high, group, cells.codes)
    return _Contents(words, low < high)


def _broken(published: PublishedRelease, link: _Place, certificate: Certificate) -> str:
    """What of the promises on secrets rows do not keep that are told apart by a column inside their groups."""
    table = link.table
    group, codes = published.partition(table).group, table.columns[link.name].codes
    for asked in certificate.requirements:
        name = asked.attribute
        if name is None or name not in table.columns:
            continue
        try:
            question = Question.of(asked)
            if question.hidden_reason(published.attributes):
                continue
            release = _of_classes(table, name, published.attributes, Partition.alike([group, codes]))
            found = [one for one in judged(release, [question.requirement]) if one.attribute == name]
        except AnonymizationError:  # no class can be asked for that, which the requirement itself tells
            continue
        failing = next((one.sentence for one in found if not one.holds), "")
        if failing:
            return failing
    return ""


def _of_classes(table: PublishedTable, name: str, attributes: Mapping[str, Attribute], classes: Partition) -> Release:
    """One column of a table as a release of these classes."""
    data = PublishedRelease((table,), attributes, None).microdata({name: table.columns[name]})
    recoding = Exact(data.domain[name], classes, data.codes[name])
    return Release(data, (Fragment(table.name, classes, {name: recoding}),))
