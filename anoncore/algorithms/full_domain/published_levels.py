"""The release that publishes all rows alike: every quasi-identifier at one level, or in the same ranges."""

from __future__ import annotations

from collections.abc import Mapping

from anoncore.algorithms.base import Algorithm, generalized_release
from anoncore.algorithms.full_domain.lattice import Lattice, Node
from anoncore.kernels.arrays import Codes
from anoncore.release.partition import Partition
from anoncore.release.recoding import Generalized
from anoncore.release.release import Fragment, Release
from anoncore.release.suppressed_rows import with_region_of_all
from anoncore.table.microdata import Microdata


def release_at(
    model: Algorithm,
    data: Microdata,
    lattice: Lattice,
    levels: Node,
    partition: Partition,
    codes: Codes,
    suppressed: int,
    notes: tuple[str, ...] = (),
) -> Release:
    """A release at these levels; its notes say which these are, then `notes`, then how many rows are suppressed.

    `codes` int32 (n_published, d) are codes of any one row of each class that is published; where rows are
    `suppressed`, the partition has one class more, the last one.
    """
    published = {}
    for column, (name, one, level) in enumerate(zip(lattice.names, lattice.levels, levels, strict=True)):
        node = one.node[level][codes[:, column]]
        low, high = one.tree.first[node], one.tree.last[node]
        published[name] = Generalized(one.domain, partition, "node", low, high, node=node)
    chosen = zip(lattice.names, levels, lattice.heights, strict=True)
    which = "Levels: " + ", ".join(f"{name} {level} of {height}" for name, level, height in chosen) + "."
    return release_of(model, data, published, partition, suppressed, (which, *notes))


def release_of(
    model: Algorithm,
    data: Microdata,
    published: Mapping[str, Generalized],
    partition: Partition,
    suppressed: int,
    notes: tuple[str, ...],
) -> Release:
    """A release of the cells of the classes that are published; where rows are `suppressed`, these are one class more.

    Its notes say how many rows are suppressed.
    """
    recodings = dict(generalized_release(model, data, partition).fragments[0].recodings)
    for name, recoding in published.items():
        recodings[name] = with_region_of_all(recoding, partition) if suppressed else recoding
    told = list(notes)
    if suppressed:
        told.append(
            f"{suppressed:,} of {data.n_rows:,} rows ({suppressed / data.n_rows:.2%}) are suppressed: all their "
            "quasi-identifiers are *, and they are one class."
        )
    left_out = partition.n_groups - 1 if suppressed else None
    return Release(data, (Fragment("release", partition, recodings),), model, tuple(told), left_out)
