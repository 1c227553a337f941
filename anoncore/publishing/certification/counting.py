"""What published tables show, counted in one scan of each, however large they are and wherever their rows lie."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from anoncore.base.progress import Progress, part_of, silent
from anoncore.publishing.certification.entries import Attribute, ClassesShown
from anoncore.publishing.certification.published_release import (
    PublishedRelease,
    told_apart,
    with_members,
    with_role,
)
from anoncore.publishing.certification.published_rows import Rows, array_of, names_of
from anoncore.publishing.certification.questions import Level, Question
from anoncore.publishing.certification.scan import Scan, Split, checks_of, coded_cells, scan_rows
from anoncore.release.partition import Partition
from anoncore.release.reading.published_table import PublishedTable

Tables = Sequence[Sequence[Rows]]
"""The rows of every published table, each in one piece or in several."""


@dataclass(frozen=True, eq=False)
class Counted:
    """What groups of published tables reach, as their readers tell them apart.

    `questions` are what every group is asked, `splits` the sets of columns that may tell its rows apart further, and
    `further` the columns that are known to readers who know more than the certificate says. `group` joins the tables.
    `is_given` says that the reader named the known columns, so that numbers of the certificate are about other groups.
    """

    tables: Tables
    attributes: Mapping[str, Attribute]
    group: str | None
    questions: Sequence[Question]
    further: frozenset[str] = frozenset()
    splits: Sequence[Split] = ()
    is_given: bool = False
    tell: Progress = silent

    @cached_property
    def published(self) -> PublishedRelease | None:
        """The tables where all of them are in memory."""
        whole = tuple(rows for parts in self.tables for rows in parts if isinstance(rows, PublishedTable))
        return PublishedRelease(whole, self.attributes, self.group) if len(whole) == len(self.tables) else None

    def levels(self, question: Question, is_knowing: bool = False) -> list[Level]:
        """What the groups of every table that shows the attribute reach; `is_knowing` for readers who know more."""
        scans = self._knowing if is_knowing else self._scans
        found = [(apart, replace(one, over=self._over(apart))) for apart, scan in scans for one in scan.of(question)]
        if question.attribute is None and self.group is not None:
            # Joined tables have the same groups, but for those in which something stands beside known columns.
            found = [one for one in found if len(one[0]) > 1] or found[:1]
        return [level for _, level in found]

    def levels_alone(self, question: Question) -> list[Level]:
        """What sizes are in joined tables whose known columns tell rows apart inside the groups that join them."""
        found = []
        for rows, (apart, _) in zip(self.tables, self._whole, strict=True):
            known = with_role(self.attributes, names_of(rows))
            if question.attribute is None and self.group is not None and known and len(apart) == 1:
                over = (self.group, *known)
                scan = scan_rows(rows, self.attributes, [question], known=over)
                found += [replace(one, over=over) for one in scan.of(question)]
        return found

    def holds_for_anybody_alone(self, question: Question) -> bool:
        """Whether a person alone in a group would have what is asked, whatever their value is."""
        name, codes = question.attribute, None
        values = next((scan.values for _, scan in self._scans if name in scan.values), {})
        if name is not None:
            if name not in values:
                return False
            codes = np.unique(list(values[name].codes.values())).astype(np.int32)
        alone = Partition(np.arange(1 if codes is None else len(codes), dtype=np.int32))
        return all(check.holds(check.levels(alone, codes)).all() for check in checks_of(question, values))

    def redefined(self, attribute: Attribute) -> Counted:
        """The same tables, counted as if the certificate said something else of an attribute."""
        asked = [one for one in self.questions if one.attribute == attribute.name]
        return replace(self, attributes={**self.attributes, attribute.name: attribute}, questions=asked, splits=())

    def different(self, rows: Sequence[Rows], name: str) -> int:
        """How many different texts a column of a table has; those of several pieces count in each of these."""
        pieces = (array_of(unit, name) for part in rows for unit in part.units([name]))
        return sum(len(coded_cells(cells).dictionary) for cells in pieces)

    def texts(self, name: str) -> Collection[str] | None:
        """The different published values of an attribute; None where they were not counted."""
        return next((scan.values[name].codes for _, scan in self._scans if name in scan.values), None)

    def _over(self, apart: Sequence[str]) -> tuple[str, ...]:
        """The columns of those that tell groups apart which readers know, or which join the tables."""
        return tuple(name for name in apart if name not in self.attributes or self.attributes[name].form != "set")

    def sizes(self) -> list[Scan]:
        """The groups of every table in order, those that join tables where there are any.

        Raises ReleaseError for joined tables with other groups than each other's.
        """
        if self.published is not None and self.group is not None:
            self.published.partition(self.published.tables[0])
        return [
            scan if self.group is None or len(apart) == 1 else scan_rows(rows, self.attributes, [], known=[self.group])
            for rows, (apart, scan) in zip(self.tables, self._whole, strict=True)
        ]

    def classes(self, classes: ClassesShown) -> tuple[int, int] | None:
        """Rows of the smallest class and rows below k where the columns tell classes apart, in the table with most such
        rows; None where no table has the columns beside known ones.
        """
        found = [scan.splits[classes.split] for _, scan in self._whole if classes.split in scan.splits]
        return max(found, key=lambda one: (one[1], -one[0]), default=None)

    @cached_property
    def _whole(self) -> list[tuple[tuple[str, ...], Scan]]:
        """The columns that tell the groups of every table apart, and its scan."""
        n = len(self.tables)
        shares = [part_of(self.tell, place / n, (place + 1) / n) for place in range(n)]
        return [self._scanned(rows, frozenset(), tell) for rows, tell in zip(self.tables, shares, strict=True)]

    @cached_property
    def _scans(self) -> list[tuple[tuple[str, ...], Scan]]:
        """These scans, and those of attributes of which only a set is published in every group."""
        return [*self._whole, *self._sets(frozenset())]

    @cached_property
    def _knowing(self) -> list[tuple[tuple[str, ...], Scan]]:
        return [*(self._scanned(rows, self.further) for rows in self.tables), *self._sets(self.further)]

    def _scanned(
        self, rows: Sequence[Rows], further: frozenset[str], tell: Progress = silent
    ) -> tuple[tuple[str, ...], Scan]:
        names = names_of(rows)
        apart = told_apart(names, self.attributes, self.group, further)
        plain = [
            one
            for one in self.questions
            if one.attribute is None or (one.attribute in names and self.attributes[one.attribute].form != "set")
        ]
        # Without a known column beside them, columns that tell rows apart make no classes.
        is_class = self.group is None and bool(with_role(self.attributes, names))
        splits = [one for one in self.splits if is_class and not further and set(one[0]) <= set(names)]
        return apart, scan_rows(rows, self.attributes, plain, progress=tell, splits=splits, known=apart)

    def _sets(self, further: frozenset[str]) -> Iterator[tuple[tuple[str, ...], Scan]]:
        for question in self.questions:
            name = question.attribute
            for rows, *_ in self.tables if name is not None and self.attributes[name].form == "set" else ():
                if name is not None and isinstance(rows, PublishedTable) and name in rows.names:
                    apart = told_apart(rows.names, self.attributes, self.group, further)
                    members, known = with_members(rows, apart, name)
                    yield apart, scan_rows([members], self.attributes, [question], known=known)
