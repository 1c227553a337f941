"""Samples of the attribute sets of a table, and what a sample says of all of them."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Mapping
from itertools import islice
from math import comb

import numpy as np

from anoncore.attacks.foreground.sets import Signatures, levels, signatures_of
from anoncore.base.shared_work import cached
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, record
from anoncore.table.domain import Domain
from anoncore.table.microdata import Microdata

SEARCHED_ROWS = 60_000
"""Rows of which the frequent attribute sets are listed; of a larger table they are a random sample."""
MOST_LISTED = 4_000
"""Attribute sets that are listed at most; larger ones are not looked for where they could be more."""
MOST_TRIED = 48
"""Attribute sets that are drawn to choose epsilon by some of them."""
GOLDEN = (5**0.5 - 1) / 2
MOST_LISTS = 12
"""Lists of the attribute sets of one table that are kept."""
TOWARDS_MOST = 0.25
"""Weight of the upper bound in what is added for the sets that are left out; see `extended`."""
STANDARD_ERRORS = 2.2
SMALLEST_MARGIN = 0.002
"""A share of the people so small that a few sets may hold it which no sample shows."""


def interval(breached: Bools, n_all: int) -> tuple[float, float, float]:
    """How many people all `n_all` sets give away: the best guess, and the ends of its interval, as shares.

    `breached` bool (n_sets, n_people) tells whom each of the drawn sets gives away. The variance is that of the
    jackknife: what the guess would be without one of the sets.
    """
    n_sets, n_people = breached.shape
    times = breached.sum(axis=0)
    counts = np.bincount(times, minlength=n_sets + 1) / n_people
    value = extended(counts, n_sets, n_all)
    without = np.empty(n_sets)
    for place, given in enumerate(breached):
        moved = np.bincount(times[given], minlength=n_sets + 1) / n_people
        left = (counts - moved)[:-1] + moved[1:]
        without[place] = extended(left, n_sets - 1, n_all - 1)
    left_out = 1 - n_sets / n_all
    error = np.sqrt(left_out * (n_sets - 1) / n_sets * ((without - without.mean()) ** 2).sum())
    margin = STANDARD_ERRORS * float(error) + SMALLEST_MARGIN
    return value, max(value - margin, 1 - float(counts[0])), min(value + margin, 1.0)


def extended(counts: Floats, n_sets: int, n_all: int) -> float:
    """The share of the people whom any of `n_all` sets gives away, by how many of `n_sets` sets drawn from them do.

    `counts` float (n_sets + 1,): shares of the people by the number of drawn sets that give them away. The others are
    at least as many as Chao and Lin's bound says. They are at most as many as if each of those whom exactly one drawn
    set gives away were given away by that set alone.
    """
    if n_sets == n_all:
        return float(1 - counts[0])
    drawn = n_sets / n_all
    once, twice = float(counts[1]), float(counts[2:3].sum())
    often = 2 * twice * n_sets / max(n_sets - 1, 1) + once * drawn / (1 - drawn)
    least = once**2 / often if often > 0 else 0.0
    most = once * (1 - drawn) / drawn
    return min(float(1 - counts[0] + least ** (1 - TOWARDS_MOST) * most**TOWARDS_MOST), 1.0)


@record
class SetSample:
    """Attribute sets that are drawn, with the smallest codes that hold their classes, and how many there are in all."""

    sets: tuple[Signatures, ...]
    n_all: int

    def shared_out(self) -> Iterator[tuple[float, Signatures]]:
        """Each set as the attack takes it, with the share of the sets that are then done."""
        for done, one in enumerate(self.sets, start=1):
            yield done / len(self.sets), Signatures(one.attributes, one.classes.astype(np.int32), one.rows, one.values)


@record
class _SomeRows:
    """Some rows of a table, by their codes."""

    n_rows: int
    codes: Mapping[str, Codes]
    domain: Mapping[str, Domain]


class SetList:
    """The attribute sets of a table with a frequent signature, and samples of them.

    `n_all` is how many there are, at most where not all are listed. The table may be some rows of another one, whose
    list it then has: `whole`.
    """

    def __init__(
        self,
        data: Microdata,
        names: tuple[str, ...],
        minimum_rows: float,
        max_size: int | None,
        seed: int,
        whole: SetList | None = None,
    ) -> None:
        self._data = weakref.ref(data)
        self._minimum_rows = minimum_rows
        self._lock = threading.Lock()
        if whole is None:
            rng = np.random.default_rng(seed)
            self.sets, self.n_all = _listed(data, names, minimum_rows, max_size, rng)
            self._start = float(rng.random())
        else:
            self.sets, self.n_all, self._start = whole.sets, whole.n_all, whole._start
        self._made: dict[int, Signatures | None] = {}

    def drawn(self, n_sets: int) -> SetSample:
        """So many sets from evenly distributed places of the list, or all where there are fewer."""
        places = self._places(n_sets)
        found = tuple(one for place in places if (one := self._at(place)) is not None)
        # Of a large table, some sets that are listed have no frequent signature, as the drawn ones show.
        return SetSample(found, max(round(self.n_all * len(found) / max(len(places), 1)), len(found)))

    def beginning(self, n_sets: int) -> SetSample:
        """The first `n_sets` of the sets by which epsilon is chosen."""
        return SetSample(tuple(islice(self.spread_out(), n_sets)), self.n_all)

    def spread_out(self) -> Iterator[Signatures]:
        """MOST_TRIED of the sets, each made when it is asked for; every beginning has small sets and large ones."""
        places = self._places(MOST_TRIED)
        # Multiples of the golden ratio, modulo 1, lie evenly wherever one stops.
        along = (self._start + GOLDEN * np.arange(len(places))) % 1
        for place in places[np.argsort(np.argsort(along))]:
            one = self._at(place)
            if one is not None:
                yield one

    def _places(self, n_sets: int) -> Int64:
        wanted = min(n_sets, len(self.sets))
        return ((np.arange(wanted) + self._start) * len(self.sets) / max(wanted, 1)).astype(np.int64)

    def _at(self, place: int) -> Signatures | None:
        """The set at a place of the list; None where it has no frequent signature. All releases share it."""
        with self._lock:
            if place not in self._made:
                data = self._data()
                assert data is not None, "a list is asked for by its table"
                found = signatures_of(data, self.sets[place], self._minimum_rows)
                self._made[place] = None if found is None else _small(found)
            return self._made[place]


def set_list(
    data: Microdata,
    names: tuple[str, ...],
    minimum_rows: float,
    max_size: int | None,
    seed: int,
    whole: SetList | None = None,
) -> SetList:
    """The list of a table's attribute sets, which is the same for all its releases; see `SetList`."""
    key = (names, minimum_rows, max_size, seed)
    return cached(data, "attribute sets", key, lambda: SetList(data, *key, whole), MOST_LISTS)


def _listed(
    data: Microdata, names: tuple[str, ...], minimum_rows: float, max_size: int | None, rng: np.random.Generator
) -> tuple[list[tuple[str, ...]], int]:
    """The attribute sets with a frequent signature, by size, and how many: at most, if some are left out."""
    rows: Microdata | _SomeRows = data
    if data.n_rows > SEARCHED_ROWS:
        some = np.sort(rng.choice(data.n_rows, SEARCHED_ROWS, replace=False))
        rows = _SomeRows(SEARCHED_ROWS, {name: data.codes[name][some] for name in names}, data.domain)
    listed: list[tuple[str, ...]] = []
    largest = len(names) if max_size is None else min(max_size, len(names))
    for size, level in enumerate(levels(rows, names, minimum_rows * rows.n_rows / data.n_rows, max_size), start=1):
        listed += [one.attributes for one in level]
        # A set of the next size has size + 1 subsets of this one, and each of these could grow by any other attribute.
        most_next = len(level) * (len(names) - size) // (size + 1)
        if size < largest and len(listed) + most_next > MOST_LISTED:
            return listed, sum(comb(len(names), number) for number in range(1, largest + 1))
    return listed, len(listed)


def _small(one: Signatures) -> Signatures:
    """The same with classes in as few bytes as they need."""
    return Signatures(one.attributes, one.classes.astype(np.min_scalar_type(len(one))), one.rows, one.values)
