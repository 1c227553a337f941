"""Joining groups of a finished release until every group has the people that the requirements ask for.

A method that deals or clusters rows may put several rows of one person into a group, which then has fewer people than
rows. Groups whose cells are equal are one group to a reader, which may break what each of them keeps where people are
counted. Joining groups is always allowed: a joined group tells no more about the way its rows are linked than the
groups did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anoncore.base.errors import InfeasibleError
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, Rows
from anoncore.kernels.grouping import dense_key, first_rows
from anoncore.privacy.check import check
from anoncore.privacy.published import fragments_of, published_view
from anoncore.release.partition import Partition
from anoncore.release.recoding import Generalized, Recoding
from anoncore.release.release import Fragment, Release
from anoncore.requirements import Requirement
from anoncore.requirements.requirement import Check, hold_together
from anoncore.table.microdata import Microdata

TRIED = 32
"""Neighbours of a group, the nearest first, that are tried for one with which the group keeps the requirements."""


def with_joined_groups(release: Release, requirements: Sequence[Requirement]) -> Release:
    """The release with failing groups joined until all groups satisfy the requirements, as a reader tells them apart.

    A failing group joins the one that adds least information loss among the nearest with which it holds; if it holds
    with none of these, the nearest one. All fragments of the release must share their groups. Raises InfeasibleError
    where even one group of all rows fails.
    """
    n_before = release.partition.n_groups
    # A joined group may get the cells of another one, which is then the same group to a reader.
    while check(release, requirements):
        joining = Joining(release, requirements)
        if not joining.failing.any():
            labels = ", ".join(requirement.label() for requirement in requirements)
            raise InfeasibleError(
                f"{labels} cannot all be kept by joining groups: by what is published of them some still fail. Ask for "
                "less, or choose a method that generalizes what is known."
            )
        release = joining.run()
    counted = "" if release.data.people is None else " where people are counted instead of rows"
    note = (
        f"{n_before:,} groups were joined to {release.partition.n_groups:,}, so that each that a reader tells apart "
        f"keeps the requirements{counted}."
    )
    return replace(release, notes=(*release.notes, note))


def as_read(release: Release) -> Release:
    """The release with groups whose cells are equal as one group, which they are to a reader.

    A reader tells groups apart by the cells of their quasi-identifiers. Only releases of one table have such groups:
    where several tables share groups, their numbers are published.
    """
    if len(release.fragments) != 1:
        return release
    (fragment,) = release.fragments
    partition = fragment.partition
    first = partition.first_rows
    cells: list[Codes] = []
    for name in release.data.quasi_identifiers:
        recoding = fragment.recodings.get(name)
        if recoding is None:
            continue
        by_group = recoding.group_content() if recoding.partition is partition else None
        if by_group is None:
            columns = recoding.content()
            if any((column != column[first][partition.group]).any() for column in columns):
                return release
            by_group = tuple(column[first] for column in columns)
        cells += by_group
    if not cells:
        return release
    # Numbered as they come, so that the order of the groups stays that of the method.
    into = dense_key(cells, partition.n_groups).astype(np.int32)
    alike = first_rows(into)
    if len(alike) == partition.n_groups:
        return release
    return _joined(release, Partition(into[partition.group]), into, alike)


def _joined(release: Release, partition: Partition, into: Codes, alike: Int64 | None = None) -> Release:
    """The release with groups joined as `into` int32 (n_groups,) says; `alike` are groups that have the cells of each
    joined one, where all that are joined have the same.
    """

    def joined(recoding: Recoding) -> Recoding:
        if not isinstance(recoding, Generalized):
            return replace(recoding, partition=partition)
        return recoding.joined(partition, into) if alike is None else recoding.chosen(partition, alike)

    fragments = tuple(
        Fragment(one.name, partition, {name: joined(recoding) for name, recoding in one.recodings.items()})
        for one in release.fragments
    )
    suppressed = None if release.suppressed_group is None else int(into[release.suppressed_group])
    return replace(release, fragments=fragments, suppressed_group=suppressed)


def _published_checks(release: Release, requirements: Sequence[Requirement]) -> list[Check]:
    """The checks by what the release publishes of each sensitive attribute."""
    checks = []
    for requirement in requirements:
        for condition in requirement.checks(release.data):
            if condition.attribute is not None:
                (fragment,) = fragments_of(release, condition.attribute)
                condition = replace(condition, values=published_view(release, fragment, condition.attribute)[1])
            checks.append(condition)
    return checks


class Joining:
    """The groups while they are joined, numbered by their first row in order of content.

    Groups fail that break a requirement, and those of `failing` bool (n_groups of the release,), which are joined with
    one other at least, whether or not they keep the requirements.

    `members` are the rows of each group, empty for one that joined another, and `sizes` int64 (n_groups,) their number;
    `low` and `high` int64 (n_groups, d) are the bounds of what each group publishes of the attributes that are
    generalized, and `weight` float (d,) is what one code more costs.
    """

    def __init__(self, release: Release, requirements: Sequence[Requirement], failing: Bools | None = None) -> None:
        self.release = release
        self.requirements = requirements
        self.checks = _published_checks(release, requirements)
        order = order_by_content(release.data, release.partition)
        numbered = Partition(np.argsort(order).astype(np.int32)[release.partition.group])
        self.members: list[Rows] = [release.partition.rows(group) for group in order.tolist()]
        regions = [
            recoding
            for fragment in release.fragments
            for recoding in fragment.recodings.values()
            if isinstance(recoding, Generalized)
        ]
        shape = (len(order), len(regions))
        self.sizes = np.array([len(rows) for rows in self.members], np.int64)
        self.low = np.array([region.low[order] for region in regions], np.int64).T.reshape(shape)
        self.high = np.array([region.high[order] for region in regions], np.int64).T.reshape(shape)
        self.weight = np.array([1 / max(len(region.domain) - 1, 1) for region in regions])
        self.failing = np.zeros(len(order), np.bool_) if failing is None else failing[order]
        for condition in self.checks:
            codes = None if condition.values is None else condition.values.codes
            self.failing |= ~condition.holds(condition.levels(numbered, codes))

    def run(self) -> Release:
        """The release with groups joined until none fails; those whose cells are equal afterwards are one group."""
        here: Bools = np.ones(len(self.members), np.bool_)
        while self.failing.any():
            group = int(np.argmax(self.failing))
            others = np.flatnonzero(here)
            others = others[others != group]
            if len(others) == 0:
                labels = ", ".join(requirement.label() for requirement in self.requirements)
                raise InfeasibleError(
                    f"Groups were joined until each keeps {labels}, and not even one group of all rows does; ask for "
                    "less."
                )
            other = self._partner(group, others[_smallest(self._added(group, others), TRIED)])
            self.failing[group] = not self._join(group, other)
            self.failing[other] = here[other] = False
        group_of_row = self._groups()
        into = np.empty(self.release.partition.n_groups, np.int32)
        into[self.release.partition.group] = group_of_row
        return as_read(_joined(self.release, Partition(group_of_row), into))

    def _partner(self, group: int, nearest: Int64) -> int:
        """Which of the others joins the group: the first with which it keeps the requirements, else the first."""
        return self._first_holding(group, nearest.tolist())

    def _first_holding(self, group: int, others: Sequence[int]) -> int:
        holds = (other for other in others if self._holds(self.members[group], self.members[other]))
        return next(holds, others[0])

    def _added(self, group: int, others: Int64) -> Floats:
        """The information loss, summed over rows and attributes, that each of the others adds when it joins the
        group.
        """
        low, high = np.minimum(self.low[group], self.low[others]), np.maximum(self.high[group], self.high[others])
        sizes = self.sizes[others]
        own = (self.high[others] - self.low[others]) @ self.weight * sizes
        before = (self.high[group] - self.low[group]) @ self.weight * self.sizes[group]
        together = (high - low) @ self.weight * (sizes + self.sizes[group])
        return np.round(together - own - before, 9)

    def _holds(self, rows: Rows, others: Rows) -> bool:
        """Whether rows and others as one group satisfy every requirement."""
        return hold_together(self.checks, np.concatenate((rows, others)))

    def _join(self, group: int, other: int) -> bool:
        """Let the other group join the group; whether the group now satisfies every requirement."""
        holds = self._holds(self.members[group], self.members[other])
        self.members[group] = np.concatenate((self.members[group], self.members[other]))
        self.members[other] = np.zeros(0, np.int64)
        self.sizes[group] += self.sizes[other]
        self.low[group] = np.minimum(self.low[group], self.low[other])
        self.high[group] = np.maximum(self.high[group], self.high[other])
        return holds

    def _groups(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """The number of each row's group."""
        present = [rows for rows in self.members if len(rows)]
        group = np.empty(sum(len(rows) for rows in present), np.int32)
        for number, rows in enumerate(present):
            group[rows] = number
        return group


def _smallest(numbers: Floats, most: int) -> Int64:
    """Where the smallest numbers stand, at most so many, int64: the smallest first, of equal ones the first."""
    if len(numbers) <= most:
        return np.argsort(numbers, kind="stable")
    few = np.flatnonzero(numbers <= np.partition(numbers, most - 1)[most - 1])
    return few[np.argsort(numbers[few], kind="stable")[:most]]


def order_by_content(data: Microdata, partition: Partition) -> Int64:
    """The groups by their first rows in order of content, so that the order of the table decides nothing."""
    first = np.full(partition.n_groups, data.n_rows)
    np.minimum.at(first, partition.group[data.canonical_order], np.arange(data.n_rows))
    return np.argsort(first)
