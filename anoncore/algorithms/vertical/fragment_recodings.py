"""What the fragments publish of the common attribute, and the numbers of their classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anoncore.base.errors import ReleaseError
from anoncore.kernels.arrays import Codes, Int64, starts_of
from anoncore.release.partition import Partition
from anoncore.release.recoding import Distorted, Exact, Generalized, GroupValues, Recoding
from anoncore.release.release import Fragment
from anoncore.table.microdata import Microdata


def distorted(data: Microdata, common: str, partition: Partition, counts: Int64) -> Distorted:
    """Values changed to the majority value of their class until each class has the given rows per value.

    `counts`, int64 (n_groups, n_values), has at most as many rows as the class for every value but the majority one.
    Which rows change does not depend on the order of the table.
    """
    domain, original = data.domain[common], data.codes[common]
    before = partition.histogram(original, len(domain))
    majority = np.argmax(before, axis=1)
    order = data.canonical_order[np.lexsort((original[data.canonical_order], partition.group[data.canonical_order]))]
    cell = partition.group[order].astype(np.int64) * len(domain) + original[order]
    begin = starts_of(before.ravel())
    rank = np.arange(len(order)) - begin[cell]
    codes: Codes = original.copy()
    gone = order[rank >= counts.ravel()[cell]]
    codes[gone] = majority[partition.group[gone]]
    return Distorted(domain, partition, codes, original=original)


def value_sets(data: Microdata, common: str, partition: Partition, counts: Int64) -> GroupValues:
    """For each class the set of the values that have a count above 0; `counts` is int64 (n_groups, n_values)."""
    group, members = np.nonzero(counts)
    offsets = starts_of(np.bincount(group, minlength=partition.n_groups))
    original = data.codes[common]
    return GroupValues(data.domain[common], partition, offsets, members.astype(np.int32), original)


def own_numbers(
    partition: Partition, recodings: dict[str, Recoding], first: Partition
) -> tuple[Partition, dict[str, Recoding]]:
    """The fragment, with other numbers for its classes if they have the same numbers as those of the first fragment.

    Fragments with equal numbers would look like a shared partition, whose classes are published as linked.
    """
    if partition.n_groups == 1 or not np.array_equal(partition.group, first.group):
        return partition, recodings
    turned = Partition((partition.group + 1) % partition.n_groups)
    return turned, {name: _turned(recoding, turned) for name, recoding in recodings.items()}


def _turned(recoding: Recoding, partition: Partition) -> Recoding:
    """The recoding of classes whose numbers went up by one, the last of which became the first."""
    if isinstance(recoding, Exact):
        return replace(recoding, partition=partition)
    if not isinstance(recoding, Generalized):
        raise TypeError(f"{type(recoding).__name__} has no region per class.")
    low, high = np.roll(recoding.low, 1), np.roll(recoding.high, 1)
    node = None if recoding.node is None else np.roll(recoding.node, 1)
    if recoding.offsets is None or recoding.members is None:
        return replace(recoding, partition=partition, low=low, high=high, node=node)
    sizes = np.roll(np.diff(recoding.offsets), 1)
    return replace(
        recoding,
        partition=partition,
        low=low,
        high=high,
        offsets=starts_of(sizes),
        members=np.roll(recoding.members, int(sizes[0])),
    )


def region_of(fragment: Fragment, name: str) -> Generalized:
    """The regions of an attribute. Raises ReleaseError where the fragment does not generalize it."""
    recoding = fragment.recodings.get(name)
    if not isinstance(recoding, Generalized):
        raise ReleaseError(f"'{name}' is not generalized; choose an algorithm that does so, such as Mondrian.")
    return recoding


def united(parts: Sequence[Generalized], into: Codes, partition: Partition) -> Generalized:
    """The regions of classes that were made in several chunks, listed one chunk after the other.

    `into`, int32, is the class of `partition` that each of them was merged into; a merged class gets the smallest
    region that holds all of theirs.
    """
    domain, form = parts[0].domain, parts[0].form
    low, high = np.full(partition.n_groups, len(domain), dtype=np.int32), np.zeros(partition.n_groups, dtype=np.int32)
    np.minimum.at(low, into, np.concatenate([recoding.low for recoding in parts]))
    np.maximum.at(high, into, np.concatenate([recoding.high for recoding in parts]))
    if form == "node" and domain.tree is not None:
        node = domain.tree.common_ancestor(low, high)
        alone = np.bincount(into)[into] == 1
        nodes = np.concatenate([recoding.node for recoding in parts if recoding.node is not None])
        node[into[alone]] = nodes[alone]
        return Generalized(domain, partition, form, domain.tree.first[node], domain.tree.last[node], node=node)
    if form == "interval":
        return Generalized(domain, partition, form, low, high)
    sizes = np.concatenate([recoding.sizes for recoding in parts])
    members = np.concatenate([recoding.members for recoding in parts if recoding.members is not None])
    pairs = np.unique(np.repeat(into, sizes).astype(np.int64) * len(domain) + members)
    offsets = starts_of(np.bincount(pairs // len(domain), minlength=partition.n_groups))
    return Generalized(
        domain, partition, form, low, high, offsets=offsets, members=(pairs % len(domain)).astype(np.int32)
    )
