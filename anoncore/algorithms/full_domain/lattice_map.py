"""The lattice of levels as a map: which combinations of levels are anonymous, what each loses, and which to look at.

It is made of what a search of the lattice found: for Incognito the combinations that satisfy the requirements with none
below them that does, for optimal recoding what became of every combination, and for both the one that was chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from anoncore.algorithms.full_domain.best_first import BestFirst, Course, Optimum
from anoncore.algorithms.full_domain.incognito import Search, incognito_of, search_behind
from anoncore.algorithms.full_domain.lattice import Node, lost_cells
from anoncore.algorithms.full_domain.optimal_recoding import OptimalRecoding, optimum_behind
from anoncore.base.progress import Progress, silent
from anoncore.kernels.arrays import Bools, Floats, Int64, record
from anoncore.release.release import Release
from anoncore.table.hierarchy_levels import Levels
from anoncore.table.microdata import Microdata

MOST_NODES = 160
MOST_MINIMAL = 24
"""Minimal nodes that are drawn of a lattice that is not drawn whole, those with the least loss."""
MOST_SHOWN = 60
"""Nodes that are drawn of those at which the promise holds, and of those at which it fails, in a search by bounds."""


@record
class Nodes:
    """All nodes of a lattice; arrays over them have an axis per attribute, of its number of levels.

    `loss` float: the mean loss of a cell where every row is published at the node's levels. `chosen` is the published
    node.
    """

    names: tuple[str, ...]
    loss: Floats
    chosen: Node

    @property
    def heights(self) -> Node:
        """The top level of each attribute."""
        return tuple(size - 1 for size in self.loss.shape)

    @cached_property
    def height(self) -> Int64:
        """The height of every node: the sum of its levels."""
        return np.indices(self.loss.shape).sum(axis=0)

    @cached_property
    def per_height(self) -> Int64:
        """Nodes of each height, int64 (largest height + 1,)."""
        return np.bincount(self.height.ravel(), minlength=sum(self.heights) + 1)

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

        First the chosen node with its neighbours, the bottom and the top, then what the search says is worth a look;
        what is left of the room is filled from the chosen node outwards.
        """
        if self.loss.size <= most:
            kept: set[Node] = set(product(*(range(size) for size in self.loss.shape)))
        else:
            kept = self._around(most)
        return sorted(kept, key=lambda node: (sum(node), float(self.loss[node]), node))

    def _worth_a_look(self) -> Iterator[Node]:
        """The nodes that are drawn of a lattice that is not drawn whole, the most telling ones first."""
        return iter(())

    def _around(self, most: int) -> set[Node]:
        kept: dict[Node, None] = {}

        def keep(nodes: Iterable[Node]) -> None:
            for node in nodes:
                if len(kept) < most:
                    kept.setdefault(node)

        keep([self.chosen, tuple(0 for _ in self.names), self.heights])
        keep([*self.below(self.chosen), *self.above(self.chosen)])
        keep(self._worth_a_look())
        ring = [self.chosen]
        seen = {self.chosen}
        while ring and len(kept) < most:
            ring = [one for node in ring for one in (*self.below(node), *self.above(node)) if one not in seen]
            ring = list(dict.fromkeys(ring))
            seen.update(ring)
            keep(ring)
        return set(kept)


@record
class LatticeMap(Nodes):
    """The nodes by whether they are anonymous, from the minimal ones that a search found.

    `anonymous` bool: some minimal node is the node or lies below it. `minimal` are the nodes that satisfy the
    requirements and have none below them that does. `is_certain` says that every node above an anonymous one is
    anonymous itself, as it is where all requirements are monotone and no row may be suppressed.
    """

    anonymous: Bools
    minimal: tuple[Node, ...]
    is_certain: bool

    def counts(self) -> tuple[Int64, Int64]:
        """Nodes of each height, and the anonymous ones among them, int64 (largest height + 1,) each."""
        heights = self.height.ravel()[self.anonymous.ravel()]
        return self.per_height, np.bincount(heights, minlength=len(self.per_height))

    def _worth_a_look(self) -> Iterator[Node]:
        """The minimal nodes by loss, each with the nodes directly below it, which fail."""
        for node in sorted(self.minimal, key=lambda one: (float(self.loss[one]), one))[:MOST_MINIMAL]:
            yield from (node, *self.below(node))


@record
class SearchMap(Nodes):
    """The nodes by what became of them in the search for the optimum.

    `loss`, without suppression, is the lower bound by which nodes were looked at. `optimum` is what the search found,
    `optimum.course` what became of every node.
    """

    optimum: Optimum

    def count(self, course: Course) -> int:
        """How many nodes this became of."""
        return int((self.optimum.course == course).sum())

    def _worth_a_look(self) -> Iterator[Node]:
        """The nodes that were looked at: those at which the promise holds first, both by ascending loss."""
        for course in (Course.POSSIBLE, Course.FAILED):
            found = np.argwhere(self.optimum.course == course)
            order = np.argsort(self.loss[tuple(found.T)], kind="stable")[:MOST_SHOWN]
            yield from (tuple(node) for node in found[order].tolist())


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
    """The lattice that Incognito searched for a release. Raises ReleaseError where it did not make the release."""
    found = search_behind(release, progress if progress is not None else silent)
    return map_of(release.data, found.minimal, found.levels, found.monotone)


def search_map(release: Release, progress: Progress | None = None) -> SearchMap:
    """The lattice in which optimal recoding searched; raises ReleaseError where it did not make the release."""
    found = optimum_behind(release, progress if progress is not None else silent)
    return SearchMap(found.attributes, _lost(release.data), found.levels, found)


def map_of(data: Microdata, minimal: tuple[Node, ...], chosen: Node, is_certain: bool) -> LatticeMap:
    """The map of a table's lattice, from the minimal nodes and the chosen one that a search found."""
    loss = _lost(data)
    anonymous: Bools = np.zeros(loss.shape, dtype=np.bool_)
    for node in minimal:
        anonymous[tuple(slice(level, None) for level in node)] = True
    return LatticeMap(data.quasi_identifiers, loss, chosen, anonymous, minimal, is_certain)


def _lost(data: Microdata) -> Floats:
    """Mean loss of a cell at every node, where no row is suppressed."""
    names = data.quasi_identifiers
    return lost_cells([Levels.of(data.domain[name]) for name in names], [data.codes[name] for name in names])


def node_facts(release: Release, node: Node) -> NodeFacts:
    """What the table of a release looks like at a node.

    Raises ReleaseError where the release was made neither by Incognito nor by optimal recoding.
    """
    data, model = release.data, release.algorithm
    search = (
        BestFirst(data, model.requirements, model.max_suppression, model.most_checked)
        if isinstance(model, OptimalRecoding)
        else Search(incognito_of(release), data)
    )
    groups = search.groups(np.array(node, dtype=np.int64))
    kept, is_anonymous = search.kept(groups), search.found(groups) is not None
    return NodeFacts(
        node,
        len(groups.rows),
        int(groups.rows.min()),
        int(groups.rows[~search.holding(groups)].sum()),
        int(groups.rows[~kept].sum()),
        is_anonymous,
        search.loss(groups, kept if is_anonymous else np.ones_like(kept)),
    )
