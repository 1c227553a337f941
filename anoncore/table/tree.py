"""A hierarchy laid over the codes of one domain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anoncore.base.showing import Shown
from anoncore.kernels.arrays import Int32


@dataclass(frozen=True, eq=False)
class Tree(Shown):
    """A hierarchy over the codes of one domain: node 0 is the root, and every node is an interval of codes.

    Attributes
    ----------
    labels : tuple of str, length n_nodes
        Label of each node.
    first, last : ndarray of int32, shape (n_nodes,)
        First and last code of each node, both included.
    parent : ndarray of int32, shape (n_nodes,)
        Node above; -1 at the root.
    level : ndarray of int32, shape (n_nodes,)
        Lowest level of the hierarchy at which the node's values are one group; 0 at a leaf.
    children : ndarray of int32, shape (n_nodes - 1,)
        Nodes sorted by parent: those below node v are `children[child_start[v]:child_start[v + 1]]`.
    child_start : ndarray of int32, shape (n_nodes + 1,)
        Where the children of each node begin.
    leaf : ndarray of int32, shape (n_codes,)
        Node of each single code.
    height : int
        Level of the root.
    """

    labels: tuple[str, ...]
    first: Int32
    last: Int32
    parent: Int32
    level: Int32
    children: Int32
    child_start: Int32
    leaf: Int32
    height: int

    def common_ancestor(self, low: Int32, high: Int32) -> Int32:
        """The lowest node that holds all codes from `low` to `high`, both of shape (n,), for each pair of them."""
        node = self.leaf[low]
        while True:
            outside = self.last[node] < high
            if not outside.any():
                return node
            node = np.where(outside, self.parent[node], node).astype(np.int32)
