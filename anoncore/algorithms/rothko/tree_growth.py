"""RothkoTree: growing the partition tree from frequency sets, one scan per level of the tree."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anoncore.algorithms.rothko.cut_choice import Choice, Cut, FrequencySet, choose_cut
from anoncore.algorithms.rothko.partition_tree import PartitionTree
from anoncore.algorithms.rothko.rows import Rows
from anoncore.algorithms.rothko.setting import Node, Part, Setting, Statistics
from anoncore.kernels.arrays import Int32
from anoncore.kernels.tree_scans import Requests, add_frequencies

COUNT_BYTES = 4
"""Bytes of a count in a frequency set."""


def tree_parts(setting: Setting, rows: Rows, region: Int32, known: Node | None = None) -> Iterator[Part]:
    """The parts of a table that fit in memory or are final, from left to right; the cuts are those of Mondrian.

    One scan serves all nodes of a level as long as their frequency sets fit into `frontier_memory`. Once they do not,
    the rows are divided and each part goes on alone. Source: Rothko (TR 1590), section 2.1.
    """
    if rows.n_rows <= setting.model.memory_rows:
        yield Part(rows, region, is_class=False)
        return
    tree = PartitionTree(setting.attributes, region)
    nodes = {0: known} if known is not None else _statistics(setting, rows, tree, [0])
    open_nodes, final = dict(nodes), set[int]()
    while open_nodes and len(nodes) < rows.most_leaves and _fits(setting, open_nodes):
        cuts = _Level(setting, rows, tree, open_nodes).cuts()
        born = []
        for node, cut in cuts.items():
            if cut is None:
                final.add(node)
            else:
                born += list(tree.split(node, *cut))
        counted = _statistics(setting, rows, tree, born) if born else {}
        nodes.update(counted)
        open_nodes = {
            node: statistics for node, statistics in counted.items() if statistics.size > setting.model.memory_rows
        }
    if len(tree) == 1:
        yield Part(rows, region, is_class=True)
        return
    for leaf, part in setting.divide(rows, tree):
        if leaf in final:
            yield Part(part, tree.region[leaf], is_class=True)
        else:
            yield from tree_parts(setting, part, tree.region[leaf], nodes[leaf])


def _statistics(setting: Setting, rows: Rows, tree: PartitionTree, leaves: list[int]) -> dict[int, Node]:
    statistics = Statistics(setting, tree, leaves)
    setting.scan(rows, statistics)
    return statistics.nodes()


def _set_width(setting: Setting) -> int:
    return 1 + int(setting.count_start[-1])


def _set_bytes(setting: Setting, node: Node, attribute: int) -> int:
    return (int(node.high[attribute]) - int(node.low[attribute]) + 1) * _set_width(setting) * COUNT_BYTES


def _fits(setting: Setting, nodes: dict[int, Node]) -> bool:
    """Whether the largest frequency set of every node fits into memory at once; a single node is always served."""
    needed = sum(max(_set_bytes(setting, node, a) for a in range(len(node.low))) for node in nodes.values())
    return len(nodes) == 1 or needed <= setting.model.frontier_bytes


class _Level:
    """The open nodes of one level, each choosing its cut from the frequency sets that scans bring."""

    def __init__(self, setting: Setting, rows: Rows, tree: PartitionTree, nodes: dict[int, Node]) -> None:
        self.setting, self.rows, self.tree, self.nodes = setting, rows, tree, nodes
        self.found: dict[int, Cut | None] = {}
        self.wanted: dict[int, list[int]] = {}
        self.choices: dict[int, Choice] = {}

    def cuts(self) -> dict[int, Cut | None]:
        """The cut of every node, None where none is allowable."""
        for node, statistics in self.nodes.items():
            self.choices[node] = choose_cut(self.setting, statistics)
            self._advance(node, None)
        while self.wanted:
            sets = self._scan()
            for node in list(self.wanted):
                while node in self.wanted and (node, self.wanted[node][0]) in sets:
                    self._advance(node, sets.pop((node, self.wanted[node][0])))
        return {node: self.found[node] for node in self.nodes}

    def _advance(self, node: int, counts: FrequencySet | None) -> None:
        try:
            choice = self.choices[node]
            self.wanted[node] = next(choice) if counts is None else choice.send(counts)
        except StopIteration as end:
            self.found[node] = end.value
            self.wanted.pop(node, None)

    def _scan(self) -> dict[tuple[int, int], FrequencySet]:
        """One scan for as many of the wanted sets as fit: the next one of every node before any second one."""
        pairs = [(node, wanted[0]) for node, wanted in self.wanted.items()]
        pairs += [(node, a) for node, wanted in self.wanted.items() for a in wanted[1:]]
        taken: list[tuple[int, int]] = []
        free = self.setting.model.frontier_bytes
        for node, a in pairs:
            size = _set_bytes(self.setting, self.nodes[node], a)
            if size <= free or not taken:
                taken.append((node, a))
                free -= size
        frequencies = _Frequencies(self.setting, self.tree, self.nodes, sorted(taken))
        self.setting.scan(self.rows, frequencies)
        return frequencies.sets()


class _Frequencies:
    """Accumulates frequency sets of (node, attribute) pairs, sorted by node."""

    def __init__(
        self, setting: Setting, tree: PartitionTree, nodes: dict[int, Node], pairs: list[tuple[int, int]]
    ) -> None:
        self._tree, self._pairs = tree.arrays(), pairs
        self._count_start, self._n_attributes = setting.count_start, setting.search.n_attributes
        width = _set_width(setting)
        sizes = [_set_bytes(setting, nodes[node], a) // COUNT_BYTES for node, a in pairs]
        per_node = np.bincount([node for node, _ in pairs], minlength=len(tree))
        self._requests = Requests(
            node_start=np.concatenate(([0], np.cumsum(per_node))).astype(np.int64),
            attribute=np.array([a for _, a in pairs], dtype=np.int32),
            low=np.array([nodes[node].low[a] for node, a in pairs], dtype=np.int32),
            base=np.cumsum([0, *sizes]).astype(np.int64),
            width=width,
        )
        self._counts = np.zeros(sum(sizes), dtype=np.uint32)

    def add(self, rows: Int32) -> None:
        """Count rows."""
        add_frequencies(rows, self._tree, self._requests, self._counts, self._count_start, self._n_attributes)

    def merge(self, other: _Frequencies) -> None:
        """Count what the sets of other rows have counted."""
        self._counts += other._counts

    def sets(self) -> dict[tuple[int, int], FrequencySet]:
        """The sets, uint32 (codes of the node's range, numbers per code)."""
        base, width = self._requests.base, self._requests.width
        return {
            pair: self._counts[base[number] : base[number + 1]].reshape(-1, width)
            for number, pair in enumerate(self._pairs)
        }
