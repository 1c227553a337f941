"""Rows that are left out of a release: their quasi-identifiers become regions of all values, which say nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anoncore.kernels.arrays import Bools
from anoncore.release.partition import Partition
from anoncore.release.recoding import Exact, Generalized, Recoding
from anoncore.release.release import Fragment, Release
from anoncore.table.microdata import Microdata


def with_suppressed(part: Release, data: Microdata, published: Bools) -> Release:
    """A release of some rows of a table, together with all other rows as one more class of regions of all values.

    `part` is the release of the rows that are marked in `published`, as one table; its quasi-identifiers are
    generalized and its other attributes exact. Where it leaves out rows itself, all are left out in one class.
    """
    (fragment,) = part.fragments
    suppressed = fragment.partition.n_groups if part.suppressed_group is None else part.suppressed_group
    group = np.full(data.n_rows, suppressed, np.int32)
    group[published] = fragment.partition.group
    partition = Partition(group)
    recodings: dict[str, Recoding] = {
        name: _in_other_groups(recoding, partition)
        if isinstance(recoding, Generalized)
        else Exact(recoding.domain, partition, data.codes[name])
        for name, recoding in fragment.recodings.items()
    }
    return Release(data, (Fragment(fragment.name, partition, recodings),), part.algorithm, part.notes, suppressed)


def _in_other_groups(recoding: Generalized, partition: Partition) -> Generalized:
    """The regions of groups of which there may be one more than before, of all values."""
    if partition.n_groups == recoding.partition.n_groups:
        return replace(recoding, partition=partition)
    return with_region_of_all(recoding, partition)


def with_region_of_all(recoding: Generalized, partition: Partition) -> Generalized:
    """The regions, and one of all values for a further group."""
    size = len(recoding.domain)
    changes: dict[str, object] = {
        "partition": partition,
        "low": np.append(recoding.low, np.int32(0)),
        "high": np.append(recoding.high, np.int32(size - 1)),
    }
    if recoding.offsets is not None and recoding.members is not None:
        changes["members"] = np.append(recoding.members, np.arange(size, dtype=np.int32))
        changes["offsets"] = np.append(recoding.offsets, recoding.offsets[-1] + size)
    if recoding.node is not None:
        changes["node"] = np.append(recoding.node, np.int32(0))
    return replace(recoding, **changes)  # type: ignore[arg-type]
