"""The lattice of levels as a map: which combinations of levels are anonymous, what each loses, and which to look at.

It is made of what a search of the lattice found, whatever its order: the combinations that satisfy the requirements
with none below them that does, and the one that was chosen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import numpy.typing as npt

from anoncore.algorithms.full_domain.incognito import Search, incognito_of, search_behind
from anoncore.algorithms.full_domain.lattice import Levels, Node
from anoncore.base.progress import Progress, silent
from anoncore.kernels.arrays import Bools, Floats, Int64
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata

MOST_NODES = 160
MOST_MINIMAL = 24
"""Minimal nodes that are drawn of a lattice that is not drawn whole, those with the least loss."""


@dataclass(frozen=True, eq=False)
class LatticeMap:
    """All nodes of a lattice; arrays over them have an axis per attribute, of its number of levels.

    `anonymous` bool: some minimal node is the node or lies below it. `loss` float: the mean loss of a cell where every
    row is published at the node's levels. `minimal` are the nodes that satisfy the requirements and have none below
    them that does; `chosen` is the published one. `is_certain` says that every node above an anonymous one is anonymous
    itself, as it is where all requirements are monotone and no row may be suppressed.
    """

    names: tuple[str, ...]
    anonymous: Bools
    loss: Floats
    minimal: tuple[Node, ...]
    chosen: Node
    is_certain: bool

    @property
    def heights(self) -> Node:
        """The top level of each attribute."""
        return tuple(size - 1 for size in self.anonymous.shape)

    @cached_property
    def height(self) -> Int64:
        """The height of every node: the sum of its levels."""
        return np.indices(self.anonymous.shape).sum(axis=0)

    def counts(self) -> tuple[Int64, Int64]:
        """Nodes of each height, and the anonymous ones among them, int64 (largest height + 1,) each."""
        heights, top = self.height.ravel(), sum(self.heights)
        return (
            np.bincount(heights, minlength=top + 1),
            np.bincount(heights[self.anonymous.ravel()], minlength=top + 1),
        )

    def above(self, node: Node) -> list[Node]:
        """The direct generalizations: one attribute a level higher."""
        return [
            (*node[:a], level + 1, *node[a + 1 :])
            for a, (level, top) in enumerate(zip(node, self.heights, strict=True))
            if level < top
        ]

    def below(self, node: Node) -> list[Node]:
        """The direct specializations: one attribute a level lower."""
        return [(*node[:a], level - 1, *node[a + 1 :]) for a, level in enumerate(node) if level > 0]

    def excerpt(self, most: int = MOST_NODES) -> list[Node]:
        """The nodes to draw, by height and then by loss: all of a small lattice, else what lies around the border.

        First the chosen node with its neighbours, the bottom and the top, then the minimal nodes by loss, each with the
        nodes directly below it, which fail; what is left of the room is filled from the chosen node outwards.
        """
        if self.anonymous.size <= most:
            kept: set[Node] = set(product(*(range(size) for size in self.anonymous.shape)))
        else:
            kept = self._around(most)
        return sorted(kept, key=lambda node: (sum(node), float(self.loss[node]), node))

    def _around(self, most: int) -> set[Node]:
        kept: dict[Node, None] = {}

        def keep(nodes: Iterable[Node]) -> None:
            for node in nodes:
                if len(kept) < most:
                    kept.setdefault(node)

        keep([self.chosen, tuple(0 for _ in self.names), self.heights])
        keep([*self.below(self.chosen), *self.above(self.chosen)])
        for node in sorted(self.minimal, key=lambda one: (float(self.loss[one]), one))[:MOST_MINIMAL]:
            keep([node, *self.below(node)])
        ring = [self.chosen]
        seen = {self.chosen}
        while ring and len(kept) < most:
            ring = [one for node in ring for one in (*self.below(node), *self.above(node)) if one not in seen]
            ring = list(dict.fromkeys(ring))
            seen.update(ring)
            keep(ring)
        return set(kept)


@dataclass(frozen=True)
class NodeFacts:
    """What the table looks like at one node.

    `n_groups` groups of equal cells, the `smallest` of them with so many rows; `failing` rows are in groups that break
    a requirement, `suppressed` rows would be suppressed to publish it. `anonymous` says whether that is allowed, and
    `loss` is the information loss of the release that would be made, with the suppressed rows as `*`; where it is not
    anonymous, the loss with every row published.
    """

    node: Node
    n_groups: int
    smallest: int
    failing: int
    suppressed: int
    anonymous: bool
    loss: float


def lattice_map(release: Release, progress: Progress | None = None) -> LatticeMap:
    """The lattice that Incognito searched for a release.

    Raises ReleaseError where the release was not made by Incognito.
    """
    found = search_behind(release, progress if progress is not None else silent)
    return map_of(release.data, found.minimal, found.levels, found.monotone)


def map_of(data: Microdata, minimal: tuple[Node, ...], chosen: Node, is_certain: bool) -> LatticeMap:
    """The map of a table's lattice, from the minimal nodes and the chosen one that a search found."""
    names = data.quasi_identifiers
    levels = [Levels.of(data.domain[name]) for name in names]
    loss: Floats = np.zeros(())
    for one, name in zip(levels, names, strict=True):
        share = np.bincount(data.codes[name], minlength=len(one.domain)) / data.n_rows
        loss = np.add.outer(loss, one.loss @ share / len(names))
    anonymous: npt.NDArray[np.bool_] = np.zeros(loss.shape, dtype=np.bool_)
    for node in minimal:
        anonymous[tuple(slice(level, None) for level in node)] = True
    return LatticeMap(names, anonymous, loss, minimal, chosen, is_certain)


def node_facts(release: Release, node: Node) -> NodeFacts:
    """What the table of a release of Incognito looks like at a node.

    Raises ReleaseError where the release was not made by Incognito.
    """
    search = Search(incognito_of(release), release.data)
    lattice = search.lattice
    groups = lattice.at(range(len(lattice.names)), node)
    kept, sizes = search.kept(groups), groups.sizes
    suppressed = int(sizes[~kept].sum())
    anonymous = suppressed <= search.limit
    published = kept if anonymous else np.ones_like(kept)
    return NodeFacts(
        node,
        len(sizes),
        int(sizes.min()),
        int(sizes[~lattice.holding(groups)].sum()),
        suppressed,
        anonymous,
        search.loss(node, groups, published),
    )
