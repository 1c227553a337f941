"""The border of a condition in a lattice: where it begins to hold, if it holds above every node where it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from anoncore.algorithms.full_domain.lattice import Node
from anoncore.kernels.arrays import Bools, Int64


class Border:
    """A search for all nodes of a lattice where a monotone condition holds.

    A node where it holds tells that it holds everywhere above, and a node where it fails tells that it fails everywhere
    below. From each node that is not known yet a chain leads upwards through other unknown nodes, and halving the chain
    finds where on it the condition begins to hold.

    Source: Kohlmayer, Prasser, Eckert, Kemper and Kuhn, Flash: efficient, stable and optimal k-anonymity, PASSAT 2012.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        """`sizes` are the levels of every attribute, a number each."""
        self.holding: Bools = np.zeros(sizes, np.bool_)
        self.known: Bools = np.zeros(sizes, np.bool_)
        self.n_tested = 0
        self._n_known = 0

    @property
    def share_known(self) -> float:
        """Share of the nodes of which it is known whether the condition holds."""
        return self._n_known / self.known.size

    def find(self, holds: Callable[[Node], bool]) -> Bools:
        """Whether the condition holds, for every node, bool of the shape of the lattice."""
        for node in upwards(~self.known):
            if self.known[node]:
                continue
            chain = self._chain(node)
            low, high = 0, len(chain)
            while low < high:
                middle = (low + high) // 2
                if self._test(chain[middle], holds):
                    high = middle
                else:
                    low = middle + 1
        return self.holding

    def _chain(self, node: Node) -> list[Node]:
        """Unknown nodes from this one upwards, each directly above the one before.

        The attribute that is at the lowest share of its height is raised first, so that chains lead through the middle
        of the lattice, where one answer tells most about other nodes.
        """
        chain = [node]
        heights = [size - 1 for size in self.known.shape]
        while True:
            raised = [
                (level / height, (*node[:axis], level + 1, *node[axis + 1 :]))
                for axis, (level, height) in enumerate(zip(node, heights, strict=True))
                if level < height
            ]
            unknown = [(share, above) for share, above in raised if not self.known[above]]
            if not unknown:
                return chain
            node = min(unknown)[1]
            chain.append(node)

    def _test(self, node: Node, holds: Callable[[Node], bool]) -> bool:
        result = holds(node)
        self.n_tested += 1
        told = tuple(slice(level, None) if result else slice(level + 1) for level in node)
        self._n_known += int((~self.known[told]).sum())
        self.known[told] = True
        if result:
            self.holding[told] = True
        return result


def upwards(grid: Bools) -> Iterator[Node]:
    """The nodes of a grid that are marked when it is asked for, each after all marked nodes below it."""
    nodes: Int64 = np.argwhere(grid)
    for place in np.argsort(nodes.sum(axis=1), kind="stable"):
        yield tuple(nodes[place].tolist())


def lowest(grid: Bools) -> list[Node]:
    """The nodes of a grid of which none is directly above another one, in order."""
    return [tuple(node) for node in np.argwhere(are_lowest(grid)).tolist()]


def are_lowest(grid: Bools) -> Bools:
    """Which nodes of a grid are directly above no other one of it, bool of the shape of the grid."""
    result = grid.copy()
    for axis in range(grid.ndim):
        result.swapaxes(0, axis)[1:] &= ~grid.swapaxes(0, axis)[:-1]
    return result
