"""A partition tree over coded quasi-identifiers, grown split by split."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anoncore.kernels.arrays import Int32
from anoncore.kernels.attributes import Attributes
from anoncore.kernels.rothko import TreeArrays
from anoncore.kernels.splitting import NODE_CHILDREN


class PartitionTree:
    """Node 0 is the root, whose region is `region`, int32 (n_attributes, 2): lowest and highest code of each attribute.

    `children[v]` are consecutive node numbers, none at a leaf.
    """

    def __init__(self, attributes: Attributes, region: Int32) -> None:
        self._attributes = attributes
        self._splits: list[tuple[int, int]] = [(-1, 0)]
        self._routes: list[Int32] = []
        self._route_start: list[int] = [-1]
        self.children: list[range] = [range(0)]
        self.parent: list[int] = [-1]
        self.region: list[Int32] = [region]

    def __len__(self) -> int:
        return len(self.children)

    def split(self, node: int, kind: int, attribute: int, value: int) -> range:
        """Split a leaf (`kind`, `attribute`, `value` as in `kernels.splitting.Split`); returns its children."""
        self._splits[node] = (attribute, value)
        regions = []
        if kind == NODE_CHILDREN:
            tops = self.tops(attribute, value)
            first, last = self._attributes.first, self._attributes.last
            size = self._attributes.code_start[attribute + 1] - self._attributes.code_start[attribute]
            route = np.zeros(size, np.int32)
            for child, top in enumerate(tops):
                route[first[top] : last[top] + 1] = child
                regions.append(self._narrowed(node, attribute, int(first[top]), int(last[top])))
            self._route_start[node] = sum(map(len, self._routes))
            self._routes.append(route)
        else:
            low, high = self.region[node][attribute]
            regions = [
                self._narrowed(node, attribute, low, value),
                self._narrowed(node, attribute, value + 1, high),
            ]
        self.children[node] = range(len(self), len(self) + len(regions))
        for region in regions:
            self._splits.append((-1, 0))
            self._route_start.append(-1)
            self.children.append(range(0))
            self.parent.append(node)
            self.region.append(region)
        return self.children[node]

    def tops(self, attribute: int, node: int) -> Int32:
        """The children of a hierarchy node, as places in the flat arrays of `Attributes`."""
        base = int(self._attributes.node_start[attribute])
        start = self._attributes.child_start[base + attribute + node : base + attribute + node + 2]
        return (base + self._attributes.children[start[0] : start[1]]).astype(np.int32)

    def _narrowed(self, node: int, attribute: int, low: int, high: int) -> Int32:
        region = self.region[node].copy()
        region[attribute] = low, high
        return region

    def prune(self, node: int) -> None:
        """Make a node a leaf; what was below it is no longer part of the tree."""
        self._splits[node] = (-1, 0)
        self._route_start[node] = -1
        self.children[node] = range(0)

    def leaves(self) -> Iterator[int]:
        """The leaves of the tree, from left to right."""
        stack = [0]
        while stack:
            node = stack.pop()
            if not self.children[node]:
                yield node
            stack.extend(reversed(self.children[node]))

    def slots(self) -> tuple[list[int], Int32]:
        """The leaves from left to right, and the place of each node among them, int32 (n_nodes,), -1 for inner ones."""
        leaves, slot = list(self.leaves()), np.full(len(self), -1, np.int32)
        slot[leaves] = np.arange(len(leaves))
        return leaves, slot

    def arrays(self) -> TreeArrays:
        """The tree as kernels walk it."""
        splits = np.array(self._splits, np.int32)
        return TreeArrays(
            attribute=splits[:, 0].copy(),
            value=splits[:, 1].copy(),
            first_child=np.array([children.start for children in self.children], np.int32),
            route_start=np.array(self._route_start, np.int64),
            route=np.concatenate([*self._routes, np.zeros(0, np.int32)]),
        )
