"""The combinations of levels that Incognito and LocalRecoding refused on the way to a release."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anoncore.algorithms.full_domain.border import are_lowest
from anoncore.algorithms.full_domain.lattice import lost_cells, nodes_by_loss
from anoncore.kernels.arrays import Bools, Int64
from anoncore.kernels.grouping import dense_key, distinct
from anoncore.privacy.refusals import RefusalList, Refusals
from anoncore.release.recoding import Generalized
from anoncore.release.release import Release
from anoncore.requirements import Requirement
from anoncore.table.hierarchy_levels import Levels

MOST_REFUSED = 2_000
"""Refused combinations of levels of Incognito that are looked at, those with the largest loss first."""
MOST_GROUPS = 20_000
"""Refused groups of LocalRecoding that are looked at, those that lie in the fewest classes first."""
TIE = 1e-12
"""Losses that differ by less count as equal; rounding does not choose between such combinations."""
MANY = "Of many refusals only some are used."
TIES = "Combinations of levels that lose as much as the published one, and may have been refused, are not used."
REST = (
    "Readers do not see which group holds the rows that were left over, so what was refused of the groups that may "
    "hold them is not used."
)


def refused_levels(release: Release, requirements: Sequence[Requirement], ties_are_refused: bool = True) -> Refusals:
    """The combinations of levels that are preferred to the published one: in each, some group breaks a requirement.

    Less loss is preferred, and of equal losses the lower level of the first attribute that differs; unless
    `ties_are_refused`, readers cannot tell that combinations of equal loss were refused. Where the requirements are
    monotone under merging, a combination fails if one above it does, so the highest ones tell everything.
    """
    found = RefusalList(release.data, requirements, release.partition)
    if not found.reads_secrets:
        return found.finish()
    data = release.data
    levels = [Levels.of(data.domain[name]) for name in data.quasi_identifiers]
    codes = [data.codes[name] for name in data.quasi_identifiers]
    published = [_published_level(release, name, one) for name, one in zip(data.quasi_identifiers, levels, strict=True)]
    loss = lost_cells(levels, codes)
    lost = loss[tuple(published)]
    refused: Bools = loss < lost - TIE
    earlier = np.arange(loss.size).reshape(loss.shape) < np.ravel_multi_index(published, loss.shape)
    ties = earlier & ~refused & (loss <= lost + TIE)
    if ties_are_refused:
        refused |= ties
    elif ties.any():
        found.leave_out(TIES)
    below = tuple(slice(None, level + 1) for level in published)
    refused[below] = True
    refused[tuple(published)] = False
    if all(requirement.monotone_under_merging for requirement in requirements):
        # Looked at from above, the highest are the lowest.
        refused = np.flip(are_lowest(np.flip(refused)))
    nodes = np.argwhere(refused)
    nodes = nodes[np.argsort(-loss[refused], kind="stable")]
    if len(nodes) > MOST_REFUSED:
        found.leave_out(MANY)
    for node in nodes[:MOST_REFUSED]:
        cells = [one.first[level][own] for one, level, own in zip(levels, node, codes, strict=True)]
        found.add(_groups(dense_key(cells, data.n_rows)))
    return found.finish()


def _published_level(release: Release, name: str, levels: Levels) -> int:
    """The lowest level at which an attribute's values are what the release publishes."""
    recoding = release.recoding(name)
    assert isinstance(recoding, Generalized)
    assert recoding.node is not None
    shown = recoding.node[recoding.partition.group]
    codes = release.data.codes[name]
    return next(level for level in range(levels.height + 1) if (levels.node[level][codes] == shown).all())


def _groups(key: Int64) -> list[Int64]:
    """The rows of each key."""
    order = np.argsort(key, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(key[order])) + 1)


def refused_groups(release: Release, requirements: Sequence[Requirement], n_left: int) -> Refusals:
    """The groups that LocalRecoding refused: at a combination of levels, those that did not become a class.

    A group becomes a class at the first combination where it satisfies the requirements, so every other group was
    refused. Readers know that `n_left` rows were left over and joined into one class, with others where that was
    needed, and not which class that is: it may be any that is as large.
    """
    data, partition = release.data, release.partition
    found = RefusalList(data, requirements, partition)
    if not found.reads_secrets:
        return found.finish()
    holds_rest = (partition.sizes >= n_left) & (n_left > 0)
    walk = _LatticeWalk(release, holds_rest, max(found.checks.kernel.minimum_rows, 1))
    walk.run()
    if n_left:
        found.leave_out(REST)
    refused = walk.refused
    if len(refused) > MOST_GROUPS:
        found.leave_out(MANY)
        refused.sort(key=lambda one: one[0])
    for _, rows in refused[:MOST_GROUPS]:
        found.add([rows])
    return found.finish()


class _LatticeWalk:
    """The combinations of levels in the order in which LocalRecoding tries them, and what becomes of the groups.

    `is_open` bool (n_groups,) are the classes of which readers cannot tell when, or whether, they were taken from the
    rows that are left. A group that has rows of them may have been another one, so nothing is refused of it.
    """

    def __init__(self, release: Release, is_open: Bools, least: int) -> None:
        data = release.data
        self.of_row, self.sizes, self.least = release.partition.group, release.partition.sizes, least
        self.is_open = is_open.copy()
        self.levels = [Levels.of(data.domain[name]) for name in data.quasi_identifiers]
        self.codes = [data.codes[name] for name in data.quasi_identifiers]
        self.left = np.arange(data.n_rows)
        self.refused: list[tuple[int, Int64]] = []
        # Groups that are refused again at the next combination are the same groups: the sum of a random word per row
        # tells sets of rows apart, but for a chance of 2^-64.
        self.words = np.random.default_rng(7).integers(0, 2**63, data.n_rows, dtype=np.uint64)
        self.salt = [
            np.random.default_rng(a).integers(0, 2**63, len(one.domain), dtype=np.uint64)[one.first]
            for a, one in enumerate(self.levels)
        ]
        self.seen: set[int] = set()

    def run(self) -> None:
        """Try every combination by ascending mean loss, as the method does."""
        for node in nodes_by_loss(self.levels, self.codes):
            if not len(self.left):
                return
            self._try(node)

    def _try(self, node: Int64) -> None:
        key = np.zeros(len(self.left), np.uint64)
        for a, level in enumerate(node):
            key += self.salt[a][level][self.codes[a][self.left]]
        order = np.argsort(key, kind="stable")
        rows, key = self.left[order], key[order]
        starts = np.concatenate(([0], np.flatnonzero(key[1:] != key[:-1]) + 1))
        sizes = np.diff(np.append(starts, len(rows)))
        classes = self.of_row[rows]
        is_open = self.is_open[classes]
        lowest = np.minimum.reduceat(np.where(is_open, len(self.sizes), classes), starts)
        highest = np.maximum.reduceat(np.where(is_open, -1, classes), starts)
        n_open = np.add.reduceat(is_open, starts, dtype=np.int64)
        holds_one = (lowest == highest) & (sizes - n_open == self.sizes[np.minimum(lowest, len(self.sizes) - 1)])
        is_class = holds_one & (n_open == 0)
        # Without the rows of open classes the group would be this class, which may so have been taken here.
        self.is_open[lowest[holds_one & (n_open > 0)]] = True
        candidates = np.flatnonzero(~is_class & (n_open == 0) & (sizes >= self.least))
        words = np.add.reduceat(self.words[rows], starts)[candidates]
        for group, word in zip(candidates.tolist(), words.tolist(), strict=True):
            if word not in self.seen:
                self.seen.add(word)
                members = rows[starts[group] : starts[group] + sizes[group]]
                self.refused.append((len(distinct(self.of_row[members])), members))
        self.left = np.sort(rows[~np.repeat(is_class, sizes)])
