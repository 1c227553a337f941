"""Buckets of people about whom the foreground-knowledge attack can tell nothing apart, or little enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from anoncore.attacks.foreground.sets import Signatures
from anoncore.kernels.arrays import Codes, Floats, Int64, Words, record
from anoncore.kernels.foreground_safe import Knowledge, deal_alike, total_excess
from anoncore.kernels.grouping import dense_key, grouped_rows, starts_of
from anoncore.table.microdata import SensitiveValues

MOST_OFFERED = 8
"""Profiles of which one bucket each is tried before one is joined."""
MOST_COMPARED = 100
"""Profiles whose odds are compared with those of a bucket."""
MOST_MIXED = 32
"""Buckets of several profiles that are tried where none of a single profile helps."""
FIRST_SIZE = 4
"""Multiple of l up to which a leftover row's bucket grows before the attack says what is learned from it."""
WORD = 64
FULL = 2**WORD - 1
SMALLEST, LARGEST = 1e-300, 1 - 1e-12
"""Shares are kept between these, so that their odds are finite and above 0."""


@record
class Profiles:
    """People who have the same signature in every attribute set of the attack share a profile.

    `of_row`, int64 (n_rows,), is the profile of each row. `classes`, int32 (n_profiles, n_sets), is the signature of
    each profile in each set, where the last number of a set stands for the rare ones. `sizes`, int64 (n_sets,), counts
    the signatures of each set, the rare ones as one.
    """

    of_row: Int64
    classes: Codes
    sizes: Int64

    @classmethod
    def of(cls, sets: Sequence[Signatures], n_rows: int) -> Profiles:
        """Number the profiles by their signatures, so that the order of the rows does not matter."""
        profile = dense_key((signatures.classes for signatures in sets), n_rows)
        first = np.unique(profile, return_index=True)[1]
        classes = np.column_stack([signatures.classes[first] for signatures in sets])
        order = np.lexsort(classes.T[::-1])
        classes, of_row = np.ascontiguousarray(classes[order]), np.argsort(order)[profile]
        return cls(of_row, classes, np.array([len(signatures) + 1 for signatures in sets], np.int64))

    def knowledge(self, readings: Sequence[Sequence[Floats]]) -> Knowledge:
        """What the adversary knows, by profile. `readings` has one array (size of the set, n_values) per set, for each
        reading.
        """
        start = starts_of(self.sizes)
        width = int(start[-1])
        position = [self.classes + start[:-1] + reading * width for reading in range(len(readings))]
        shares = [np.concatenate(reading) for reading in readings]
        return Knowledge(
            np.ascontiguousarray(np.hstack(position), np.int32), np.ascontiguousarray(np.concatenate(shares).T)
        )


class SafeBuckets:
    """Buckets as they are being made, each an array of row numbers; an empty one was joined to another.

    A set of protected values is a whole number with a bit per value. `pure` has the buckets of a single profile that
    others may still take, and `mixed` those of several profiles with their values, the latest last.
    """

    def __init__(self, profiles: Profiles, view: SensitiveValues, l: int, rows: Int64) -> None:
        """Deal `rows`, in random order, inside their profiles; those that are left over wait in `leftovers`."""
        self.profiles, self.view, self.l = profiles, view, l
        order, starts = grouped_rows(profiles.of_row[rows], len(profiles.classes))
        by_profile = rows[order]
        dealt = deal_alike(by_profile, starts, view.codes, view.size, view.unique, l)
        order = by_profile[np.argsort(dealt[by_profile], kind="stable")]
        n_over = int((dealt < 0).sum())
        self.buckets: list[Int64] = list(order[n_over:].reshape(-1, l)) if n_over < len(order) else []
        self.leftovers: list[int] = order[:n_over].tolist()
        self.mixed: dict[int, int] = {}
        self.pure = PureBuckets(
            ((int(profiles.of_row[bucket[0]]), self._held(bucket)) for bucket in self.buckets), view.size
        )

    def group(self, n_rows: int) -> Codes:
        """The bucket of every row, numbered without gaps, int32 (n_rows,)."""
        group = np.empty(n_rows, np.int32)
        for number, rows in enumerate(bucket for bucket in self.buckets if len(bucket)):
            group[rows] = number
        return group

    def join_free_rows(self) -> None:
        """Make buckets of leftover rows that need no protection; the last few join a bucket that has no protected
        value.
        """
        codes, unique = self.view.codes, self.view.unique
        if unique < 0:
            return
        free = [row for row in self.leftovers if codes[row] == unique]
        whole = len(free) - len(free) % self.l
        for begin in range(0, whole, self.l):
            self.mixed[len(self.buckets)] = 0
            self.buckets.append(np.array(free[begin : begin + self.l]))
        rest = free[whole:]
        host = next((i for i, rows in enumerate(self.buckets) if (codes[rows] == unique).all()), None)
        if host is not None and rest:
            self._forget(host)
            self.buckets[host] = np.append(self.buckets[host], rest)
            self.mixed[host] = 0
            rest = []
        protected = [row for row in self.leftovers if codes[row] != unique]
        self.leftovers = protected + rest

    def place_leftovers(self, knowledge: Knowledge, bound: float, report: Callable[[float], None]) -> None:
        """Let every leftover row join buckets until nobody among them exceeds the bound, or until the bucket is large
        enough.
        """
        for done, row in enumerate(self.leftovers):
            report(done / len(self.leftovers))
            self.buckets.append(np.array([row]))
            self.widen(len(self.buckets) - 1, knowledge, bound, FIRST_SIZE * self.l)
        self.leftovers = []

    def widen(self, bucket: int, knowledge: Knowledge, bound: float, most: int) -> bool:
        """Join other buckets to a bucket, each time the one that helps most, until nobody in it exceeds the bound.

        It stops at `most` rows, because what is learned changes with the size of a bucket, and where no other bucket
        helps. The joined buckets have no protected value in common, so that each value stays with one row. Returns
        whether the bucket grew.
        """
        size = len(self.buckets[bucket])
        self._forget(bucket)
        excess = self.excess(self.buckets[bucket], knowledge, bound)
        while excess > 0 and len(self.buckets[bucket]) < most:
            best, left = self._best(self._helpful(self.buckets[bucket], knowledge, bound), bucket, knowledge, bound)
            if best is None or left >= excess:
                best, left = self._best(self._several(bucket), bucket, knowledge, bound)
            if best is None or left >= excess:
                break
            excess = left
            self.buckets[bucket] = np.concatenate([self.buckets[bucket], self.buckets[best]])
            self._forget(best)
            self.buckets[best] = np.zeros(0, np.int64)
        self.mixed[bucket] = self._held(self.buckets[bucket])
        return len(self.buckets[bucket]) > size

    def _best(
        self, offered: Iterator[int], bucket: int, knowledge: Knowledge, bound: float
    ) -> tuple[int | None, float]:
        """Of the offered buckets the one that leaves the least excess if it joins, with this excess; the first that
        leaves none.
        """
        best, least, rows = None, np.inf, self.buckets[bucket]
        for other in offered:
            joining, left = self.buckets[other], np.inf
            # Most offers are too small for l rows together, and joining their rows would take longer than all else.
            if len(rows) + len(joining) >= self.l:
                left = self.excess(np.concatenate((rows, joining)), knowledge, bound)
            if best is None or left < least:
                best, least = other, left
            if left == 0:
                break
        return best, least

    def _several(self, bucket: int) -> Iterator[int]:
        """Buckets of several profiles that have no protected value in common with this bucket, the latest first."""
        held = self._held(self.buckets[bucket])
        for other, values in islice(reversed(self.mixed.items()), MOST_MIXED):
            if not values & held:
                yield other

    def excess(self, rows: Int64, knowledge: Knowledge, bound: float) -> float:
        """By how much the bucket fails: p(t:x) / bound - 1 where that is positive, summed over attribute sets and
        values.
        """
        if len(rows) < self.l:
            return np.inf
        values, held = _tally(code for code in self.view.codes[rows].tolist() if code != self.view.unique)
        profiles, counts = _tally(self.profiles.of_row[rows].tolist())
        excess: float = total_excess(profiles.astype(np.int32), counts, values, held, knowledge, bound)
        return excess

    def _helpful(self, rows: Int64, knowledge: Knowledge, bound: float) -> Iterator[int]:
        """One bucket of each of the profiles that would leave the least excess in the values of these rows.

        Where each value has one row, p(t:x) is the odds of t divided by the sum of the odds in the bucket. Of profiles
        that help equally, the one with the most similar odds comes first.
        """
        kinds = self.pure.without(self._held(rows))
        if not len(kinds):
            return
        offered = self.pure.profile[kinds]
        values = _tally(code for code in self.view.codes[rows].tolist() if code != self.view.unique)[0]
        if len(values) == 0:
            values = np.arange(len(knowledge.shares))
        profiles, counts = _tally(self.profiles.of_row[rows].tolist())
        mine, theirs = (_odds(knowledge, values, which) for which in (profiles, offered))
        highest = mine.max(axis=1, keepdims=True)
        total = (mine * counts[:, None]).sum(axis=1, keepdims=True) + self.l * theirs
        excess = np.maximum(np.maximum(highest, theirs) / total / bound - 1, 0).sum(axis=(0, 2))
        nearest = np.argsort(excess, kind="stable")[:MOST_COMPARED]
        with np.errstate(over="ignore"):  # beside odds near 0 any others are infinitely unlike
            unlike = np.abs(np.log(highest / theirs[:, nearest])).mean(axis=(0, 2))
        for kind in kinds[nearest[np.lexsort((unlike, excess[nearest]))]][:MOST_OFFERED]:
            yield self.pure.first_of(int(kind))

    def _held(self, rows: Int64) -> int:
        """The protected values of some rows, a bit each."""
        held = 0
        for code in self.view.codes[rows].tolist():
            if code != self.view.unique:
                held |= 1 << code
        return held

    def _forget(self, bucket: int) -> None:
        """No longer offer a bucket to others, because it is about to change."""
        self.mixed.pop(bucket, None)
        self.pure.forget(bucket)


class PureBuckets:
    """The buckets of a single profile that are still to be had, by profile and protected values: by kind.

    `profile`, int64 (n_kinds,), is the profile of each kind. The kinds of a profile stand together.
    """

    def __init__(self, described: Iterable[tuple[int, int]], n_values: int) -> None:
        """`described` has the profile and the protected values of every bucket, of which there are `n_values`."""
        buckets: dict[int, dict[int, list[int]]] = {}
        for number, (profile, held) in enumerate(described):
            buckets.setdefault(profile, {}).setdefault(held, []).append(number)
        kinds = [(profile, held) for profile, by_values in buckets.items() for held in by_values]
        self._n_words = -(-n_values // WORD)
        self.profile = np.array([profile for profile, _ in kinds], np.int64)
        self._values = np.array([self._words(held) for _, held in kinds], np.uint64).reshape(-1, self._n_words)
        self._buckets = [buckets[profile][held] for profile, held in kinds]
        self._kind = {number: kind for kind, numbers in enumerate(self._buckets) for number in numbers}
        self._left = np.ones(len(kinds), np.bool_)
        # Buckets are taken and never added, so that a set of values for which none is left stays without one.
        self._used_up: set[int] = set()

    def without(self, held: int) -> Int64:
        """Of every profile that has such buckets the first kind that has none of these values, int64 (n_fitting,)."""
        if held in self._used_up:
            return np.zeros(0, np.int64)
        fits = self._left & ~(self._values & self._words(held)).any(axis=1)
        kinds = np.flatnonzero(fits)
        if not len(kinds):
            self._used_up.add(held)
        profile = self.profile[kinds]
        is_first = np.ones(len(kinds), np.bool_)
        np.not_equal(profile[1:], profile[:-1], out=is_first[1:])
        return kinds[is_first]

    def first_of(self, kind: int) -> int:
        """The first bucket of a kind."""
        return self._buckets[kind][0]

    def forget(self, bucket: int) -> None:
        """Take a bucket away, if it is still there."""
        kind = self._kind.pop(bucket, None)
        if kind is not None:
            self._buckets[kind].remove(bucket)
            self._left[kind] = bool(self._buckets[kind])

    def _words(self, held: int) -> Words:
        """A set of values as words of 64 bits, uint64 (n_words,)."""
        return np.array([held >> begin & FULL for begin in range(0, WORD * self._n_words, WORD)], np.uint64)


def _tally(numbers: Iterable[int]) -> tuple[Int64, Int64]:
    """The distinct numbers, ascending, and how often each occurs; for so few that calls of NumPy would take longer."""
    counts = Counter(numbers)
    distinct = sorted(counts)
    return np.array(distinct, np.int64), np.array([counts[one] for one in distinct], np.int64)


def _odds(knowledge: Knowledge, values: Int64, profiles: Int64) -> Floats:
    """The odds of the values for the profiles in every attribute set, (n_values, n_profiles, n_sets)."""
    shares = np.clip(knowledge.shares[values], SMALLEST, LARGEST)
    odds: Floats = (shares / (1 - shares))[:, knowledge.place[profiles]]
    return odds
