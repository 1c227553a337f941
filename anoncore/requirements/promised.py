"""Which requirements follow from those that somebody promises."""

from __future__ import annotations

from collections.abc import Sequence

from anoncore.requirements.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    RecursiveDiversity,
)
from anoncore.requirements.requirement import Comparison, Requirement
from anoncore.requirements.t_closeness import TCloseness
from anoncore.table.microdata import Microdata


def is_promised(wanted: Requirement, promises: Sequence[Requirement], data: Microdata) -> bool:
    """Whether whoever keeps the promises keeps this requirement as well, on every attribute that it covers."""
    if wanted.attribute_free:
        return any(_implies(promise, wanted) for promise in promises)
    named = getattr(wanted, "attribute", None)
    covered = list(data.sensitive) if named is None else [named]
    return all(
        any(getattr(promise, "attribute", None) in (None, name) and _implies(promise, wanted) for promise in promises)
        for name in covered
    )


def _implies(promise: Requirement, wanted: Requirement) -> bool:
    """Whether every group that keeps the promise keeps what is wanted of the same attribute."""
    if not wanted.counts_alone:
        return promise == wanted
    if isinstance(promise, FrequencyDiversity) and isinstance(wanted, DistinctDiversity | EntropyDiversity):
        # No value has more than 1/l of the group: at least l values occur, and their entropy is at least log l.
        return promise.l >= wanted.l
    if isinstance(promise, EntropyDiversity) and isinstance(wanted, DistinctDiversity):
        return promise.l >= wanted.l
    if type(promise) is not type(wanted):
        return False
    if isinstance(promise, TCloseness) and isinstance(wanted, TCloseness) and promise.ground != wanted.ground:
        return False
    if isinstance(promise, RecursiveDiversity) and isinstance(wanted, RecursiveDiversity) and promise.l < wanted.l:
        return False
    if wanted.comparison is Comparison.AT_LEAST:
        return promise.threshold >= wanted.threshold
    return promise.threshold <= wanted.threshold
