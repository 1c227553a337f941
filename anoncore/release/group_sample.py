"""Some groups of a large release as a release of their own, for first answers that need not read everybody."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anoncore.base.random_numbers import generator
from anoncore.base.shared_work import cached
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, record
from anoncore.kernels.grouping import runs_from, starts_of
from anoncore.release.partition import Partition
from anoncore.release.recoding import (
    ColumnRegions,
    Distorted,
    Exact,
    Generalized,
    GroupValues,
    Recoding,
    WrittenRegions,
)
from anoncore.release.release import Fragment, Release
from anoncore.table.part import rows_of

MOST_SAMPLES = 3
"""Samples of one release that are kept: what one first answer draws, another one asks for again."""
FEWEST_THINNED = 200
"""People of a group that would be expected in a sample, from which on so many of them are taken instead of all or none:
what is believed in so large a group hangs on shares of its people alone.
"""


@record
class GroupSample:
    """A release of the people of some groups alone, and which share of all people they are.

    `rows` int64 (n_rows,): their rows in the release that they are drawn from.
    """

    release: Release
    share: float
    rows: Int64

    def standard_error(self, of_people: Floats | Bools, group: Int64 | Codes) -> float:
        """How far a mean over some people here may lie from that over all, by what is found of them and their groups.

        People of a group are drawn together, so that groups are what varies.
        """
        sums = np.bincount(group, of_people - of_people.mean())
        n_groups = np.count_nonzero(np.bincount(group))
        spread = (sums**2).sum() * n_groups / max(n_groups - 1, 1) * (1 - self.share)
        return float(np.sqrt(spread)) / max(len(of_people), 1)


def sampled(release: Release, n_rows: int, seed: int = 0) -> GroupSample:
    """About `n_rows` people of a release: groups drawn evenly from all groups in the order of their sizes, and of very
    large groups some people each.

    Everybody has the same chance, so that shares of the people here are shares of all people. A release is left whole
    that has few more people, that is nobody's, or whose fragments have groups of their own.
    """
    if release.is_synthetic or not release.is_shared or release.data.n_rows < 2 * n_rows:
        return GroupSample(release, 1.0, np.arange(release.data.n_rows))
    return cached(release, "group sample", (n_rows, seed), lambda: _drawn(release, n_rows, seed), MOST_SAMPLES)


def _drawn(release: Release, n_rows: int, seed: int) -> GroupSample:
    rng, before = generator(seed), release.partition
    share = n_rows / before.n_rows
    is_thinned = before.sizes * share >= FEWEST_THINNED
    small = np.flatnonzero(~is_thinned)
    small = small[np.lexsort((rng.random(len(small)), before.sizes[small]))]
    drawn = small[np.arange(rng.random() / share, len(small), 1 / share).astype(np.int64)]
    groups = np.sort(np.concatenate((drawn, np.flatnonzero(is_thinned))))
    sizes = np.where(is_thinned, np.round(before.sizes * share), before.sizes).astype(np.int64)[groups]
    order = before.order
    if is_thinned.any():
        # A random order inside each group of which only the first rows are taken.
        places = np.flatnonzero(is_thinned[before.group[order]])
        thinned, order = order[places], order.copy()
        order[places] = thinned[np.lexsort((rng.random(before.n_rows)[thinned], before.group[thinned]))]
    rows = order[runs_from(before.starts[groups], sizes)]
    place = np.argsort(rows)
    rows, group = rows[place], np.repeat(np.arange(len(groups), dtype=np.int32), sizes)[place]
    partition = Partition(group)
    fragments = tuple(
        Fragment(
            one.name,
            partition,
            {name: of_groups(recoding, partition, groups, rows) for name, recoding in one.recodings.items()},
        )
        for one in release.fragments
    )
    suppressed = np.flatnonzero(groups == release.suppressed_group)
    part = replace(
        release,
        data=rows_of(release.data, rows),
        fragments=fragments,
        suppressed_group=int(suppressed[0]) if len(suppressed) else None,
    )
    return GroupSample(part, len(rows) / before.n_rows, rows)


def of_groups(recoding: Recoding, partition: Partition, groups: Int64, rows: Int64) -> Recoding:
    """The same cells of some groups alone.

    `groups` int64 (partition.n_groups,): their numbers in the recoding; `rows` int64 (partition.n_rows,): their rows.
    """
    if isinstance(recoding, Distorted):
        return replace(recoding, partition=partition, codes=recoding.codes[rows], original=recoding.original[rows])
    if isinstance(recoding, Exact):
        return replace(recoding, partition=partition, codes=recoding.codes[rows])
    if isinstance(recoding, Generalized):
        chosen = recoding.chosen(partition, groups)
        return replace(chosen, written=chosen.written[groups]) if isinstance(chosen, WrittenRegions) else chosen
    if isinstance(recoding, ColumnRegions):
        classes, of_row = np.unique(recoding.classes.partition.group[rows], return_inverse=True)
        of_classes = recoding.classes.chosen(Partition(of_row.reshape(-1).astype(np.int32)), classes)
        return replace(recoding, partition=partition, classes=of_classes)
    assert isinstance(recoding, GroupValues), f"{type(recoding).__name__} is no form of cells"
    sizes = recoding.sizes[groups]
    return replace(
        recoding,
        partition=partition,
        offsets=starts_of(sizes),
        members=recoding.members[runs_from(recoding.offsets[groups], sizes)],
        original=None if recoding.original is None else recoding.original[rows],
    )
