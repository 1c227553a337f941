"""A hierarchy laid over the codes of one domain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Tree:
    """A hierarchy over the codes of one domain. Node 0 is the root; every node is an interval of codes.

    Arrays have one entry per node: `first` and `last` code (both included), `parent` (-1 at the root), `level` (0 at
    a leaf; the lowest level of the hierarchy at which the node's values are one group). The children of node v are
    `children[child_start[v]:child_start[v + 1]]`. `leaf[code]` is the node of a single code.
    """

    labels: tuple[str, ...]
    first: npt.NDArray[np.int32]
    last: npt.NDArray[np.int32]
    parent: npt.NDArray[np.int32]
    level: npt.NDArray[np.int32]
    children: npt.NDArray[np.int32]
    child_start: npt.NDArray[np.int32]
    leaf: npt.NDArray[np.int32]
    height: int

    def common_ancestor(self, low: npt.NDArray[np.int32], high: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Lowest node that holds the codes low..high, for arrays of code pairs."""
        node = self.leaf[low]
        while True:
            outside = self.last[node] < high
            if not outside.any():
                return node
            node = np.where(outside, self.parent[node], node).astype(np.int32)
