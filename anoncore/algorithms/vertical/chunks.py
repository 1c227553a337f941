"""The l-diverse and t-close form: segments of rows, cut by the fragments into chunks that are generalized alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from anoncore.algorithms.base import Algorithm
from anoncore.algorithms.vertical.fragment_data import part_of
from anoncore.algorithms.vertical.fragment_recodings import region_of, united
from anoncore.algorithms.vertical.mutual_information import xlogx
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, Rows, record
from anoncore.kernels.grouping import distinct
from anoncore.kernels.information import best_threshold
from anoncore.kernels.rounding import ACCUMULATED, stays_within
from anoncore.privacy.common_attribute import alike_values
from anoncore.privacy.join_blocks import Joins, RowRule, Rule, TooManyJoins, ValueRule, blocks
from anoncore.release.partition import Partition
from anoncore.release.recoding import Generalized
from anoncore.release.release import Fragment
from anoncore.requirements import Check, CheckSet, DistinctDiversity, Requirement
from anoncore.requirements.k_anonymity import largest_k
from anoncore.table.microdata import Microdata, SensitiveValues

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
    unsafe = [np.zeros(len(of_fragment), np.bool_) for of_fragment in counts]
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
        is_unsafe = np.zeros(len(classes), np.bool_)
        for subset, known in joins.subsets.items():
            touched = np.zeros(len(known), np.bool_)
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


def segments(data: Microdata, common: str, requirements: Sequence[Requirement], most_values: int) -> tuple[Rows, ...]:
    """The row numbers of each segment, in the table's order.

    Top down, a segment with more than `most_values` different values of the common attribute is cut at the
    quasi-identifier and threshold with the largest gain of information about it, as long as both sides satisfy all
    requirements. Where the best cut is not allowable the segment is final, so that its chunks can still be cut in their
    own ways. Source: Zakerzadeh, Aggarwal and Barker, vertical fragmentation, section 5 (a classification-oriented
    clustering; LeFevre et al., Workload-aware anonymization, KDD 2006, for the criterion).
    """
    names = data.quasi_identifiers
    columns = np.stack([data.codes[name] for name in names])
    sizes = np.array([len(data.domain[name]) for name in names], np.int64)
    classes, n_classes = data.codes[common], len(data.domain[common])
    logs = xlogx(data.n_rows)
    checks = CheckSet(requirements, data).checks
    final: list[Rows] = []
    waiting = [np.arange(data.n_rows)]
    while waiting:
        rows = waiting.pop()
        if len(distinct(classes[rows])) > most_values:
            column, code, _ = best_threshold(columns, rows, sizes, classes, n_classes, logs)
            beyond = columns[column, rows] > code
            if column >= 0 and _allowable(checks, rows, beyond):
                waiting += [rows[beyond], rows[~beyond]]
                continue
        final.append(rows)
    return tuple(final)


def _allowable(checks: Sequence[Check], rows: Rows, beyond: Bools) -> bool:
    parts = Partition(beyond.astype(np.int32))
    for check in checks:
        codes: Codes | None = None if check.values is None else check.values.codes[rows]
        if not check.holds(check.levels(parts, codes)).all():
            return False
    return True


Generalizer = Callable[[tuple[Requirement, ...]], Algorithm]
"""The generalizing algorithm with the given requirements."""
Segmentation = Literal["none", "as-needed", "full"]
TRIES = 4
"""Levels of diversity at which segments are tried, where classes of different segments do not go together."""


@record
class Chunked:
    """Per fragment its partition and the regions of its quasi-identifiers; also how many segments, and classes were
    merged.
    """

    partitions: tuple[Partition, ...]
    regions: tuple[dict[str, Generalized], ...]
    n_segments: int
    n_merged: int

    @property
    def n_classes(self) -> int:
        """Classes of all fragments."""
        return sum(partition.n_groups for partition in self.partitions)


def generalize_chunks(
    data: Microdata,
    common: str,
    fragments: Sequence[Sequence[str]],
    requirements: Sequence[Requirement],
    generalizer: Generalizer,
    segmentation: Segmentation,
    progress: Callable[[float], None],
) -> Chunked:
    """Generalize every fragment of every segment on its own, and put the classes of each fragment together.

    The rows are cut into segments that satisfy the requirements. `segmentation` says how far: `full` cuts as far as
    that is allowable; `as-needed` leaves a segment alone once it has just the l values that its chunks must keep, and
    also tries one segment of all rows (without l it is only that); `none` does not cut. Distinct diversity of the
    common attribute is then asked for at the segment's own level, so that all classes of a segment have the same values
    and any two of them join to at least l of them and k rows (theorem 5.1). Requirements that compare with the table
    compare with the whole one.

    Joins of classes of different segments, which the paper does not look at, are made safe by merging classes. If any
    had to be merged, segments that keep more values are tried too, and the result with the most classes counts. Source:
    Zakerzadeh, Aggarwal and Barker, vertical fragmentation, section 5.
    """
    attempts: list[Chunked] = []
    for number, level in enumerate(_levels(data, common, requirements, segmentation)):
        # Levels beyond the first ones are worth a try only where classes had to be merged.
        if number > (segmentation == "as-needed") and min(attempt.n_merged for attempt in attempts) == 0:
            break
        wanted = [
            requirement.replace(l=level) if _is_diversity_of(requirement, common) else requirement
            for requirement in requirements
        ]
        cut = segments(data, common, wanted, {"none": data.n_rows, "as-needed": level, "full": 0}[segmentation])
        attempts.append(_generalize(data, common, fragments, requirements, cut, generalizer, progress))
    return max(attempts, key=lambda attempt: attempt.n_classes)


def _levels(
    data: Microdata, common: str, requirements: Sequence[Requirement], segmentation: Segmentation
) -> Sequence[int]:
    """The levels of diversity that segments are asked for: what is required first, then more, up to every value of the
    table.
    """
    n_values = len(distinct(data.codes[common]))
    l = max(
        (int(requirement.threshold) for requirement in requirements if _is_diversity_of(requirement, common)),
        default=n_values,
    )
    if l >= n_values or segmentation == "none" or common in data.sensitive_values:
        return (l,)
    between = np.linspace(l, n_values, TRIES).round().astype(int)[1:-1].tolist()
    return tuple(dict.fromkeys((l, n_values, *between)))


def _generalize(
    data: Microdata,
    common: str,
    fragments: Sequence[Sequence[str]],
    requirements: Sequence[Requirement],
    cut: Sequence[Rows],
    generalizer: Generalizer,
    progress: Callable[[float], None],
) -> Chunked:
    asked = tuple(against(requirement, data) for requirement in requirements)
    groups = [np.empty(data.n_rows, np.int32) for _ in fragments]
    made: list[list[Fragment]] = [[] for _ in fragments]
    for number, rows in enumerate(cut):
        own = tuple(_at_level_of(requirement, data, common, rows) for requirement in asked)
        for fragment, names in enumerate(fragments):
            segment = part_of(data, names, common, rows)
            about = {None, *segment.sensitive}
            applying = tuple(requirement for requirement in own if getattr(requirement, "attribute", None) in about)
            chunk = generalizer(applying).anonymize(segment).fragments[0]
            # Numbered on from the classes of the segments before.
            groups[fragment][rows] = chunk.partition.group + sum(done.partition.n_groups for done in made[fragment])
            made[fragment].append(chunk)
        progress((number + 1) / len(cut))
    before = [Partition(group) for group in groups]
    into = _without_unsafe_joins(data, common, fragments, requirements, before)
    after = tuple(Partition(new[partition.group]) for new, partition in zip(into, before, strict=True))
    regions = tuple(
        {
            name: united([region_of(chunk, name) for chunk in chunks], new, partition)
            for name in names
            if name in data.quasi_identifiers
        }
        for names, chunks, new, partition in zip(fragments, made, into, after, strict=True)
    )
    n_merged = sum(partition.n_groups for partition in before) - sum(partition.n_groups for partition in after)
    return Chunked(after, regions, len(cut), n_merged)


def against(requirement: Requirement, table: Microdata) -> Requirement:
    """The requirement for some rows of a table, with the whole table as its reference."""
    if requirement.attribute_free:
        return requirement
    kind: Any = type(requirement)

    class OfTable(kind):  # type: ignore[misc]
        def reference(self, data: Microdata, values: SensitiveValues) -> Floats:
            return kind.reference(self, table, table.sensitive_view(values.attribute))

    return OfTable(**dict(requirement))


def _at_level_of(requirement: Requirement, data: Microdata, common: str, rows: Rows) -> Requirement:
    """Distinct diversity of the common attribute at the segment's level; another requirement as it is."""
    if not _is_diversity_of(requirement, common) or common in data.sensitive_values:
        return requirement
    return requirement.replace(l=len(distinct(data.codes[common][rows])))


def _is_diversity_of(requirement: Requirement, common: str) -> bool:
    return isinstance(requirement, DistinctDiversity) and requirement.attribute == common


def _without_unsafe_joins(
    data: Microdata,
    common: str,
    fragments: Sequence[Sequence[str]],
    requirements: Sequence[Requirement],
    partitions: Sequence[Partition],
) -> tuple[Codes, ...]:
    """The new number of each class of each fragment, after classes with unsafe joins were merged."""
    k = largest_k(requirements)
    l = max(
        (int(requirement.threshold) for requirement in requirements if _is_diversity_of(requirement, common)),
        default=1,
    )
    bounds = [_bounds(data, names, partition) for names, partition in zip(fragments, partitions, strict=True)]
    return merge_unsafe(
        [partition.histogram(data.codes[common], len(data.domain[common])) for partition in partitions],
        [low for low, _ in bounds],
        [high for _, high in bounds],
        (RowRule(k), ValueRule(l, alike_values(data, common))),
    )


def _bounds(data: Microdata, names: Sequence[str], partition: Partition) -> tuple[Floats, Floats]:
    """Lowest and highest position of each class in the fragment's quasi-identifiers, scaled to 0..1."""
    sides = []
    for name in names:
        if name in data.quasi_identifiers:
            domain = data.domain[name]
            sides.append([domain.shares[bound] for bound in partition.extent(data.codes[name])])
    low, high = np.array(sides).transpose(1, 2, 0)
    return low, high
