"""The release that publishes all rows alike: every quasi-identifier at one level, or in the same ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from anoncore.algorithms.base import Algorithm, generalized_release
from anoncore.algorithms.full_domain.best_first import GroupedTable
from anoncore.algorithms.full_domain.lattice import Node
from anoncore.base.shared_work import cached
from anoncore.release.partition import Partition
from anoncore.release.recoding import Generalized
from anoncore.release.release import Release
from anoncore.release.suppressed_rows import with_region_of_all
from anoncore.table.microdata import Microdata


class FoundLevels(Protocol):
    """What a search found: the level of every attribute, and how many rows are suppressed at these levels."""

    @property
    def levels(self) -> Node:
        """The level of every attribute."""

    @property
    def suppressed(self) -> int:
        """Number of rows that are suppressed."""


def release_at(model: Algorithm, search: GroupedTable, found: FoundLevels, notes: tuple[str, ...] = ()) -> Release:
    """The release that a search found; its notes say which levels these are, then `notes`, then what is suppressed.

    What was found is kept with the partition of the release.
    """
    partition, codes = search.classes(search.groups(np.array(found.levels)))
    cached(partition, "search", (), lambda: found)
    lattice, published = search.lattice, {}
    for column, (name, one, level) in enumerate(zip(lattice.names, lattice.levels, found.levels, strict=True)):
        node = one.node[level][codes[:, column]]
        low, high = one.tree.first[node], one.tree.last[node]
        published[name] = Generalized(one.domain, partition, "node", low, high, node=node)
    chosen = zip(lattice.names, found.levels, lattice.heights, strict=True)
    which = "Levels: " + ", ".join(f"{name} {level} of {height}" for name, level, height in chosen) + "."
    return release_of(model, search.data, published, partition, found.suppressed, (which, *notes))


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
    if suppressed:
        published = {name: with_region_of_all(one, partition) for name, one in published.items()}
        said = (
            f"{suppressed:,} of {data.n_rows:,} rows ({suppressed / data.n_rows:.2%}) are suppressed: all their "
            "quasi-identifiers are *, and they are one group."
        )
        notes = (*notes, said)
    left_out = partition.n_groups - 1 if suppressed else None
    return generalized_release(model, data, partition, notes, published, left_out)
