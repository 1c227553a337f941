"""A release read as a table of records, as adversaries do who compare people with records or learn from them.

Fragments are linked at random within what links them (`Release.linking`), as nothing tells which row of one goes with
which of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from anoncore.attacks.control_people import People
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, record
from anoncore.kernels.grouping import dense_key
from anoncore.kernels.guessing import Regions, nearest_records
from anoncore.release.population import regions, sets_from
from anoncore.release.recoding import Exact, Recoding
from anoncore.release.release import Release
from anoncore.table.domain import Domain, Kind


@record
class Records:
    """Published records, an axis per attribute: what each publishes, and one value of each cell drawn at random.

    Attributes
    ----------
    names : tuple of str
        The attributes.
    domains : tuple of Domain
        Their values.
    cells : tuple of (Recoding, ndarray of int64, shape (n_records,))
        For each attribute how it is published, and the row of each record there.
    drawn : ndarray of int32, shape (n_records, n_axes)
        A code that each cell allows, each of them as likely: an exact table as the release might have been made of.
    priority : ndarray of int64, shape (n_records,)
        A random order, by which an adversary takes one of several records that are alike to them.
    order : ndarray of int64, shape (n_records,)
        The records in the order in which learners meet them, in which that of the original rows has no part.
    """

    names: tuple[str, ...]
    domains: tuple[Domain, ...]
    cells: tuple[tuple[Recoding, Int64], ...]
    drawn: Codes
    priority: Int64
    order: Int64

    @classmethod
    def of(cls, release: Release, names: Sequence[str], rng: np.random.Generator) -> Records:
        """The records of a release. Raises ReleaseError where nothing links its fragments."""
        linked = release.linking(rng)
        cells = []
        for name in names:
            fragments = [number for number, one in enumerate(release.fragments) if name in one.recodings]
            # What is published exactly somewhere tells more than the same attribute generalized elsewhere.
            exact = [one for one in fragments if isinstance(release.fragments[one].recodings[name], Exact)]
            number = (exact or fragments)[0]
            cells.append((release.fragments[number].recodings[name], np.asarray(linked[number], np.int64)))
        order = release.records_order
        priority = np.empty(len(order), np.int64)
        priority[order] = rng.permutation(len(order))
        low, high, start, members = regions(cells)
        sizes = np.diff(start, axis=1)
        chance = np.empty(low.shape)
        chance[order] = rng.random(low.shape)
        place = (chance * np.where(sizes > 0, sizes, high - low + 1)).astype(np.int64)
        drawn = (low + place).astype(np.int32)
        is_set = sizes > 0
        drawn[is_set] = members[start[:, :-1][is_set] + place[is_set]]
        domains = tuple(release.data.domain[name] for name in names)
        return cls(tuple(names), domains, tuple(cells), drawn, priority, order)

    def of_attributes(self, names: Sequence[str]) -> Records:
        """The same records by some of the attributes, in this order."""
        axes = [self.names.index(name) for name in names]
        return Records(
            tuple(names),
            tuple(self.domains[axis] for axis in axes),
            tuple(self.cells[axis] for axis in axes),
            np.ascontiguousarray(self.drawn[:, axes]),
            self.priority,
            self.order,
        )

    @cached_property
    def is_number(self) -> Bools:
        """Whether each attribute is numeric, bool (n_axes,)."""
        return np.array([domain.kind is Kind.NUMERIC for domain in self.domains], np.bool_)

    @cached_property
    def content(self) -> Int64:
        """A number of each record's cell on every axis, int64 (n_records, n_axes); equal cells have equal numbers."""
        columns = [
            dense_key([column[rows] for column in recoding.content()], len(rows)) for recoding, rows in self.cells
        ]
        return np.column_stack(columns)

    @cached_property
    def distinct(self) -> tuple[Int64, Int64]:
        """Of the records that publish the same: the first by priority, and how many they are, int64 (n_distinct,).

        They stand in the order of priority.
        """
        key = dense_key(list(self.content.T), len(self.priority))
        order = np.argsort(self.priority)
        _, first, count = np.unique(key[order], return_index=True, return_counts=True)
        by_priority = np.argsort(first)
        return order[first[by_priority]], count[by_priority]

    def nearest(self, people: People) -> tuple[Int64, Floats]:
        """The record nearest to each person, and how far it is from them.

        `nearest_records` has the distance. Of records that are equally near the first by priority is taken.
        """
        records = self.distinct[0]
        low, high, start, members = regions([(recoding, rows[records]) for recoding, rows in self.cells])
        # Categories with many values come first: most records differ in them, and are left without a look at the rest.
        order = np.lexsort((-np.array([len(domain) for domain in self.domains]), self.is_number))
        start, members = sets_from(start[:, :-1][:, order], np.diff(start, axis=1)[:, order], members)
        known = people.of([self.names[axis] for axis in order])
        low, high = np.ascontiguousarray(low[:, order]), np.ascontiguousarray(high[:, order])
        domains = [self.domains[axis] for axis in order]
        low_place, high_place = (
            np.column_stack([domain.shares[side[:, axis]] for axis, domain in enumerate(domains)])
            for side in (low, high)
        )
        place, distance = nearest_records(
            known.positions,
            known.place,
            Regions(low, high, start, members),
            low_place,
            high_place,
            self.is_number[order],
        )
        return records[place], distance

    def features(self) -> Floats:
        """The drawn values as numbers for a learner, float (n_records, n_axes), in `order`."""
        columns = []
        for axis, domain in enumerate(self.domains):
            codes = self.drawn[self.order, axis]
            columns.append(domain.shares[codes] if self.is_number[axis] else codes.astype(np.float64))
        return np.column_stack(columns)

    def features_of(self, people: People) -> Floats:
        """The same numbers of people, float (n_people, n_axes); a category that the table lacks is -1."""
        known = people.of(self.names)
        return np.where(self.is_number, known.place, known.below.astype(np.float64))
