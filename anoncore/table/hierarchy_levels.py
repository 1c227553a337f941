"""One attribute at each level of its hierarchy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.table.domain import Domain, Tree
from anoncore.table.hierarchy import ROOT


@record
class Levels:
    """One attribute at each level of its hierarchy, from exact values (0) to a single group (the height).

    `node`, int32 (height + 1, domain size), is the tree node of each code at each level; `first` has the first code of
    that node, which stands for it, and `number` counts the nodes of a level from 0. There are `n_numbers` of them at
    each level, int64 (height + 1,). `loss`, float of the same shape, is (values of the node - 1) / (domain size - 1).
    """

    domain: Domain
    tree: Tree
    node: Codes
    first: Codes
    loss: Floats
    number: Codes
    n_numbers: Int64

    @classmethod
    def of(cls, domain: Domain) -> Levels:
        """The levels of the attribute's hierarchy; without one, the exact value and `*`."""
        tree = domain.tree if domain.tree is not None else two_levels(domain)
        node = np.empty((tree.height + 1, len(domain)), dtype=np.int32)
        # A code's node climbs to its parent as long as the parent is reached at or below the level.
        at = tree.leaf.copy()
        for level in range(tree.height + 1):
            while True:
                above = np.where(at > 0, tree.parent[at], 0)
                climbs = (at > 0) & (tree.level[above] <= level)
                if not climbs.any():
                    break
                at = np.where(climbs, above, at).astype(np.int32)
            node[level] = at
        loss = (tree.last - tree.first)[node] / max(len(domain) - 1, 1)
        first = np.ascontiguousarray(tree.first[node])
        number = np.empty_like(first)
        for level, codes in enumerate(first):
            number[level] = np.unique(codes, return_inverse=True)[1].reshape(-1)
        n_numbers = number.max(axis=1).astype(np.int64) + 1
        return cls(replace(domain, tree=tree), tree, node, first, loss, number, n_numbers)

    @property
    def height(self) -> int:
        """The top level."""
        return len(self.node) - 1


def two_levels(domain: Domain) -> Tree:
    """The hierarchy of an attribute that has none: single values, and `*` above all of them."""
    size = len(domain)
    if size == 1:
        none = np.zeros(0, dtype=np.int32)
        zero = np.zeros(1, dtype=np.int32)
        return Tree((domain.text(0),), zero, zero, zero - 1, zero, none, np.zeros(2, dtype=np.int64), zero, 1)
    leaves = np.arange(size, dtype=np.int32)
    return Tree(
        labels=(ROOT, *domain.texts),
        first=np.append(np.int32(0), leaves),
        last=np.append(np.int32(size - 1), leaves),
        parent=np.append(np.int32(-1), np.zeros(size, dtype=np.int32)),
        level=np.append(np.int32(1), np.zeros(size, dtype=np.int32)),
        children=leaves + 1,
        child_start=np.append(0, np.full(size + 1, size)).astype(np.int64),
        leaf=leaves + 1,
        height=1,
    )
