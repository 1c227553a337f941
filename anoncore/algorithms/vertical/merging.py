"""Classes of one fragment merged until no join of classes of different fragments breaks a rule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anoncore.kernels.arrays import Bools, Floats, Int64
from anoncore.kernels.rounding import ACCUMULATED, stays_within
from anoncore.privacy.join_blocks import Joins, Rule, TooManyJoins, blocks

Group = npt.NDArray[np.int32]
BATCH = 10
"""One of so many unsafe classes is merged before joins are counted anew."""


def merge_unsafe(
    counts: Sequence[Int64], low: Sequence[Floats], high: Sequence[Floats], rules: Sequence[Rule]
) -> tuple[Group, ...]:
    """The new class of each class, int32 (n_classes,) per fragment, numbered from 0 without gaps.

    `counts` is (n_classes, n_values) per fragment; `low` and `high` (n_classes, n_attributes) bound the class in the
    fragment's attributes, each scaled to 0..1. A class with an unsafe join is merged with the class of its fragment
    that needs the least width together with it. A tenth of the unsafe classes of one fragment is merged at a time.
    Joins that are safe stay so, and with one class per fragment the join has every value, so this ends.
    """
    merged = [_Merging(*of_fragment) for of_fragment in zip(counts, low, high, strict=True)]
    while True:
        unsafe = unsafe_classes([merging.counts for merging in merged], rules)
        fragments = [i for i, merging in enumerate(merged) if unsafe[i].any() and len(merging.counts) > 1]
        if not fragments:
            return tuple(merging.group for merging in merged)
        # The fragment that has the most classes loses least by having fewer.
        chosen = max(fragments, key=lambda i: len(merged[i].counts))
        merged[chosen].merge_some(np.flatnonzero(unsafe[chosen]))


def unsafe_classes(counts: Sequence[Int64], rules: Sequence[Rule]) -> list[Bools]:
    """Whether each class has a join that breaks a rule, bool (n_classes,) per fragment.

    Of a join of three and more fragments only the class of the last fragment is marked. Where these joins are too many
    to look at, the rule's stricter form for pairs is used (see `Rule.value_by_value`).
    """
    unsafe = [np.zeros(len(of_fragment), dtype=np.bool_) for of_fragment in counts]
    for rule in rules:
        try:
            broken = _unsafe(counts, rule, larger=True)
        except TooManyJoins:
            broken = _unsafe(counts, rule.value_by_value(), larger=False)
        for so_far, more in zip(unsafe, broken, strict=True):
            so_far |= more
    return unsafe


def _unsafe(counts: Sequence[Int64], rule: Rule, larger: bool) -> list[Bools]:
    """Whether each class has a join that breaks one rule; with `larger`, also joins of three and more fragments."""
    joins = Joins(rule)
    unsafe: list[Bools] = []
    places: list[Int64] = []
    for number, of_fragment in enumerate(counts):
        classes, number_of_class = rule.classes(of_fragment, of_fragment.sum(axis=1)).distinct()
        is_unsafe = np.zeros(len(classes), dtype=np.bool_)
        for subset, known in joins.subsets.items():
            touched = np.zeros(len(known), dtype=np.bool_)
            for block in blocks(known, classes):
                broken = rule.broken(rule.levels(known.take(block), classes))
                is_unsafe |= broken.any(axis=0)
                touched[block] = broken.any(axis=1)
            if len(subset) == 1:
                unsafe[subset[0]] |= touched[places[subset[0]]]
        unsafe.append(is_unsafe[number_of_class])
        places.append(number_of_class)
        if number + 1 < len(counts):
            joins.add(classes, larger)
    return unsafe


class _Merging:
    """The classes of one fragment while they are being merged."""

    def __init__(self, counts: Int64, low: Floats, high: Floats) -> None:
        self.counts = counts.astype(np.int64)
        self.low, self.high = low, high
        self.group: Group = np.arange(len(counts), dtype=np.int32)

    def merge_some(self, classes: npt.NDArray[np.integer]) -> None:
        """Merge a tenth of the given classes, at least one, each with its nearest class, beginning with the last."""
        for unsafe_class in classes[::-1][: -(-len(classes) // BATCH)].tolist():
            if unsafe_class < len(self.counts) and len(self.counts) > 1:
                self.merge(unsafe_class)

    def merge(self, merging: int) -> None:
        """Merge one class with its nearest class."""
        width = (np.maximum(self.high, self.high[merging]) - np.minimum(self.low, self.low[merging])).sum(axis=1)
        width[merging] = np.inf
        # Of classes at equal distance it is the first one: rounding, which differs from unit to unit, must not choose.
        other = int(np.argmax(stays_within(width, width.min(), ACCUMULATED)))
        keep, gone = min(merging, other), max(merging, other)
        self.counts[keep] += self.counts[gone]
        self.low[keep] = np.minimum(self.low[keep], self.low[gone])
        self.high[keep] = np.maximum(self.high[keep], self.high[gone])
        self.counts = np.delete(self.counts, gone, axis=0)
        self.low, self.high = np.delete(self.low, gone, axis=0), np.delete(self.high, gone, axis=0)
        self.group[self.group == gone] = keep
        self.group[self.group > gone] -= 1
