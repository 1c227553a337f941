"""The release that publishes every quasi-identifier at one level of its hierarchy."""

from __future__ import annotations

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
    recodings = dict(generalized_release(model, data, partition).fragments[0].recodings)
    for column, (name, one, level) in enumerate(zip(lattice.names, lattice.levels, levels, strict=True)):
        node = one.node[level][codes[:, column]]
        low, high = one.tree.first[node], one.tree.last[node]
        published = Generalized(one.domain, partition, "node", low, high, node=node)
        recodings[name] = with_region_of_all(published, partition) if suppressed else published
    chosen = zip(lattice.names, levels, lattice.heights, strict=True)
    told = ["Levels: " + ", ".join(f"{name} {level} of {height}" for name, level, height in chosen) + ".", *notes]
    if suppressed:
        told.append(
            f"{suppressed:,} of {data.n_rows:,} rows ({suppressed / data.n_rows:.2%}) are suppressed: all their "
            "quasi-identifiers are *, and they are one class."
        )
    left_out = partition.n_groups - 1 if suppressed else None
    return Release(data, (Fragment("release", partition, recodings),), model, tuple(told), left_out)
