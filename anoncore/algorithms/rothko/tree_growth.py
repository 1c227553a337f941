"""RothkoTree: growing the partition tree from frequency sets, one scan per level of the tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest

import numpy as np

from anoncore.algorithms.rothko.cut_choice import Choice, Cut, FrequencySet, choose_cut, likely_order
from anoncore.algorithms.rothko.partition_tree import PartitionTree
from anoncore.algorithms.rothko.rows import Rows
from anoncore.algorithms.rothko.setting import Extent, Part, Setting, Statistics
from anoncore.kernels.arrays import Int32
from anoncore.kernels.tree_scans import Requests, add_frequencies

COUNT_BYTES = 4
"""Bytes of a count in a frequency set."""


def tree_parts(setting: Setting, rows: Rows, region: Int32, known: Extent | None = None) -> Iterator[Part]:
    """The parts of a table that fit in memory or are final, from left to right; the cuts are those of Mondrian.

    One scan serves all nodes of a level as long as their frequency sets fit into `frontier_memory`. Once they do not,
    the rows are divided and each part goes on alone. The sizes of the sides of a cut follow from the counts that it was
    chosen by, so that parts which fit in memory are not scanned for it. Source: Rothko (TR 1590), section 2.1.
    """
    if rows.n_rows <= setting.model.memory_rows:
        yield Part(rows, region, is_class=False)
        return
    tree = PartitionTree(setting.attributes, region)
    nodes = {0: known if known is not None else Extent(rows.n_rows, region[:, 0], region[:, 1])}
    open_nodes, final = dict(nodes), set[int]()
    while open_nodes and len(nodes) < rows.most_leaves and _fits(setting, open_nodes):
        born: dict[int, Extent] = {}
        for node, cut in _Level(setting, rows, tree, open_nodes).cuts().items():
            if cut is None:
                final.add(node)
                continue
            children = tree.split(node, cut.kind, cut.attribute, cut.value)
            born |= {child: side for child, side in zip(children, cut.sides, strict=True) if side is not None}
        nodes.update(born)
        open_nodes = {node: extent for node, extent in born.items() if extent.size > setting.model.memory_rows}
    if len(tree) == 1:
        yield Part(rows, region, is_class=True)
        return
    for leaf, part in setting.divide(rows, tree):
        if leaf in final:
            yield Part(part, tree.region[leaf], is_class=True)
        else:
            yield from tree_parts(setting, part, tree.region[leaf], nodes[leaf])


def _set_width(setting: Setting) -> int:
    return 1 + int(setting.count_start[-1])


def _set_bytes(setting: Setting, node: Extent, attribute: int) -> int:
    return (int(node.high[attribute]) - int(node.low[attribute]) + 1) * _set_width(setting) * COUNT_BYTES


def _fits(setting: Setting, nodes: dict[int, Extent]) -> bool:
    """Whether the largest frequency set of every node fits into memory at once; a single node is always served."""
    needed = sum(max(_set_bytes(setting, node, a) for a in range(len(node.low))) for node in nodes.values())
    return len(nodes) == 1 or needed <= setting.model.frontier_bytes


class _Level:
    """The open nodes of one level, each choosing its cut from what scans count.

    The first scan counts what `Node` has and, as far as they fit into memory, the frequency sets of the attributes that
    are likely to be cut. Only where the set that a node turns out to need was left out, another scan follows.
    """

    def __init__(self, setting: Setting, rows: Rows, tree: PartitionTree, extents: dict[int, Extent]) -> None:
        self.setting, self.rows, self.tree, self.extents = setting, rows, tree, extents
        self.found: dict[int, Cut | None] = {}
        self.wanted: dict[int, list[int]] = {}
        self.choices: dict[int, Choice] = {}

    def cuts(self) -> dict[int, Cut | None]:
        """The cut of every node, None where none is allowable."""
        statistics = Statistics(self.setting, self.tree, list(self.extents))
        likely = {node: likely_order(self.setting, extent) for node, extent in self.extents.items()}
        sets = self._scan(self.extents, likely, statistics)
        nodes = statistics.nodes()
        for node, counted in nodes.items():
            self.choices[node] = choose_cut(self.setting, counted)
            self._advance(node, None)
        # Rows that lie closer together than was known leave rows of zeros at both ends of the sets.
        for (node, a), counts in sets.items():
            begin = int(nodes[node].low[a] - self.extents[node].low[a])
            sets[node, a] = counts[begin : begin + int(nodes[node].high[a] - nodes[node].low[a]) + 1]
        while self.wanted:
            for node in list(self.wanted):
                while node in self.wanted and (node, self.wanted[node][0]) in sets:
                    self._advance(node, sets[node, self.wanted[node][0]])
            if self.wanted:
                sets = self._scan(nodes, self.wanted)
        return {node: self.found[node] for node in self.extents}

    def _advance(self, node: int, counts: FrequencySet | None) -> None:
        try:
            choice = self.choices[node]
            self.wanted[node] = next(choice) if counts is None else choice.send(counts)
        except StopIteration as end:
            self.found[node] = end.value
            self.wanted.pop(node, None)

    def _scan(
        self, nodes: Mapping[int, Extent], wanted: Mapping[int, list[int]], statistics: Statistics | None = None
    ) -> dict[tuple[int, int], FrequencySet]:
        """One scan for as many of the wanted sets as fit, the next one of every node before any second one, and for
        statistics.
        """
        turns = zip_longest(*([(node, a) for a in attributes] for node, attributes in wanted.items()))
        taken: list[tuple[int, int]] = []
        free = self.setting.model.frontier_bytes
        for node, a in (pair for turn in turns for pair in turn if pair is not None):
            size = _set_bytes(self.setting, nodes[node], a)
            if size <= free or not taken:
                taken.append((node, a))
                free -= size
        frequencies = _Frequencies(self.setting, self.tree, nodes, sorted(taken), statistics)
        self.setting.scan(self.rows, frequencies)
        return frequencies.sets()


class _Frequencies:
    """Accumulates frequency sets of (node, attribute) pairs, sorted by node, and statistics where they are wanted."""

    def __init__(
        self,
        setting: Setting,
        tree: PartitionTree,
        nodes: Mapping[int, Extent],
        pairs: list[tuple[int, int]],
        statistics: Statistics | None,
    ) -> None:
        self._statistics = statistics
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
        if self._statistics is not None:
            self._statistics.add(rows)
        add_frequencies(rows, self._tree, self._requests, self._counts, self._count_start, self._n_attributes)

    def merge(self, other: _Frequencies) -> None:
        """Count what the sets of other rows have counted."""
        if self._statistics is not None and other._statistics is not None:
            self._statistics.merge(other._statistics)
        self._counts += other._counts

    def sets(self) -> dict[tuple[int, int], FrequencySet]:
        """The sets, uint32 (codes of the node's range, numbers per code)."""
        base, width = self._requests.base, self._requests.width
        return {
            pair: self._counts[base[number] : base[number + 1]].reshape(-1, width)
            for number, pair in enumerate(self._pairs)
        }
