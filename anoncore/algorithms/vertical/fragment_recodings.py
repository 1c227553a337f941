"""What the fragments publish of the common attribute, and the numbers of their classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anoncore.base.errors import ReleaseError
from anoncore.kernels.arrays import Codes, Int64
from anoncore.kernels.grouping import starts_of
from anoncore.release.partition import Partition, own_numbers
from anoncore.release.recoding import Distorted, Generalized, GroupValues, Recoding
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


def unlinked(
    partition: Partition, recodings: dict[str, Recoding], first: Partition
) -> tuple[Partition, dict[str, Recoding]]:
    """The fragment, with other numbers for its classes if they have the same numbers as those of the first fragment."""
    turned = own_numbers(partition, first)
    if turned is partition:
        return partition, recodings
    before = np.roll(np.arange(partition.n_groups), 1)
    return turned, {
        name: one.chosen(turned, before) if isinstance(one, Generalized) else replace(one, partition=turned)
        for name, one in recodings.items()
    }


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
    low, high = (np.concatenate(ends) for ends in zip(*((part.low, part.high) for part in parts), strict=True))
    nodes = [part.node for part in parts if part.node is not None]
    sets = [part for part in parts if part.members is not None]
    every = replace(
        parts[0],
        partition=Partition(np.arange(len(into), dtype=np.int32)),
        low=low,
        high=high,
        node=np.concatenate(nodes) if nodes else None,
        offsets=starts_of(np.concatenate([part.sizes for part in sets])) if sets else None,
        members=np.concatenate([part.members for part in sets if part.members is not None]) if sets else None,
    )
    joined = every.joined(partition, into)
    if every.node is None or joined.node is None:
        return joined
    # A class that was merged with no other keeps its node, of which there may be several with the same codes.
    alone = np.bincount(into)[into] == 1
    node = joined.node.copy()
    node[into[alone]] = every.node[alone]
    return replace(joined, node=node)
