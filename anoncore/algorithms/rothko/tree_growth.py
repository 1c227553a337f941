"""RothkoTree: growing the partition tree from frequency sets, one scan per level of the tree."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from copy import copy
from itertools import pairwise, zip_longest
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anoncore.algorithms.cut_order import widest_first, widths
from anoncore.algorithms.rothko.partition_tree import PartitionTree
from anoncore.algorithms.rothko.rows import Rows
from anoncore.algorithms.rothko.setting import Extent, Node, Part, Setting, Statistics
from anoncore.kernels.arrays import Counts, Int32
from anoncore.kernels.attributes import HIERARCHY
from anoncore.kernels.grouping import starts_of
from anoncore.kernels.rothko import Requests, add_frequencies, best_cut, children_cut, leaves_of, median_cut
from anoncore.kernels.splitting import NODE_CHILDREN, THRESHOLD
from anoncore.kernels.sweep import INFOGAIN, TIE

FrequencySet = npt.NDArray[np.uint32]
MOST_LIKELY = 2
"""Attributes that are counted for the median beforehand: all nine of the synthetic table took twice the time of two,
and saved no scan.
"""


class Cut(NamedTuple):
    """A cut as `PartitionTree.split` takes it, and what it leaves on each of its sides; None where no row is."""

    kind: int
    attribute: int
    value: int
    sides: tuple[Extent | None, ...]


Choice = Generator[list[int], FrequencySet, Cut | None]
"""Yields the attributes whose frequency sets it wants, the next first; is sent that one; returns the cut, if any."""


def choose_cut(setting: Setting, node: Node) -> Choice:
    """The cut of a node: the one that `kernels.mondrian.choose_split` takes on its rows if shared medians are not
    divided.

    Source: LeFevre and DeWitt, Rothko (TR 1590), section 2: AV, AVC and AVS groups.
    """
    least = setting.kernel_checks.minimum_rows
    if node.size < 2 * least or node.size < 2:
        return None
    if setting.search.criterion == INFOGAIN:
        cost, cut = yield from _cheapest(setting, node, gain=True)
        labels = node.totals[setting.kernel_checks.count_start[-1] :].astype(np.float64)
        entropy = _xlogx(float(node.size)) - sum(_xlogx(count) for count in labels.tolist())
        if cut is not None and entropy - cost >= setting.search.min_gain * node.size:
            return cut
    cut = yield from _median(setting, node)
    if cut is None and setting.search.n_sensitive > 0:
        _, cut = yield from _cheapest(setting, node, gain=False)
    return cut


def _median(setting: Setting, node: Node) -> Choice:
    ranked, checks = _ranked(setting, node), setting.kernel_checks
    for turn, a in enumerate(ranked):
        counts = yield ranked[turn : turn + 1]
        if setting.attributes.form[a] == HIERARCHY:
            top, child, n_children = _children(setting, a, node)
            fits, _ = children_cut(counts, child, n_children, int(checks.count_start[-1]), checks)
            if fits:
                return _into_children(node, a, counts, top, child, n_children)
            continue
        code = median_cut(counts, node.size, node.totals, int(checks.count_start[-1]), checks)
        if code >= 0:
            return _at_threshold(node, a, code, counts)
    return None


def _cheapest(setting: Setting, node: Node, gain: bool) -> Generator[list[int], FrequencySet, tuple[float, Cut | None]]:
    """The allowable cut of lowest cost, with its cost; when balance decides, the first attribute that has one wins."""
    checks, best = setting.kernel_checks, np.inf
    n_bins = int(checks.count_start[-1])
    cut: Cut | None = None
    is_tree = setting.attributes.form == HIERARCHY
    open_attributes = [a for a in range(len(node.low)) if node.low[a] < node.high[a] and (gain or not is_tree[a])]
    for turn, a in enumerate(open_attributes):
        counts = yield open_attributes[turn:] if gain else [a]
        if is_tree[a]:
            top, child, n_children = _children(setting, a, node)
            fits, cost = children_cut(counts, child, n_children, n_bins, checks)
            if fits and cost < best - TIE * node.size:
                best, cut = cost, _into_children(node, a, counts, top, child, n_children)
            continue
        cost, code = best_cut(counts, node.size, node.totals, n_bins, gain, best, checks)
        if code >= 0:
            best, cut = cost, _at_threshold(node, a, code, counts)
        if not gain and cut is not None:
            break
    return best, cut


def likely_order(setting: Setting, node: Extent) -> list[int]:
    """The attributes of a node that is not counted yet, in the order in which `choose_cut` is likely to ask for them.

    Its rows may lie closer together than is known, so that another attribute may turn out to be the widest. Where only
    sizes are asked for, the median of one of the first two nearly always makes two sides that are large enough.
    """
    if setting.search.criterion == INFOGAIN:
        return [a for a in range(len(node.low)) if node.low[a] < node.high[a]]
    ranked = _ranked(setting, node)
    return ranked if setting.search.n_sensitive > 0 else ranked[:MOST_LIKELY]


def _at_threshold(node: Node, a: int, code: int, counts: FrequencySet) -> Cut:
    """The cut behind a code of attribute a, which is counted from the node's lowest one."""
    rows = counts[:, 0]
    sides = tuple(_side(node, a, rows, begin, end) for begin, end in ((0, code + 1), (code + 1, len(rows))))
    return Cut(THRESHOLD, a, int(node.low[a]) + code, sides)


def _into_children(node: Node, a: int, counts: FrequencySet, top: int, child: Int32, n_children: int) -> Cut:
    """The cut into the children of a node of the attribute's hierarchy."""
    begins = np.searchsorted(child, np.arange(n_children + 1)).tolist()
    rows = counts[:, 0]
    sides = tuple(_side(node, a, rows, *ends) for ends in pairwise(begins))
    return Cut(NODE_CHILDREN, a, top, sides)


def _side(node: Node, a: int, rows: Counts, begin: int, end: int) -> Extent | None:
    """The extent of the node's rows whose codes of attribute a lie from `begin` to before `end`; None for no rows.

    `rows` counts those of each code, from the node's lowest one on.
    """
    there = begin + np.flatnonzero(rows[begin:end])
    if not len(there):
        return None
    low, high = node.low.copy(), node.high.copy()
    low[a], high[a] = node.low[a] + there[0], node.low[a] + there[-1]
    return Extent(int(rows[begin:end].sum()), low, high)


def _xlogx(count: float) -> float:
    return count * float(np.log2(max(count, 1.0)))


def _children(setting: Setting, a: int, node: Node) -> tuple[int, Int32, int]:
    """The lowest node of the hierarchy that holds the node's codes, its child for each of them, and how many it has."""
    tree = setting.domains[a].tree
    assert tree is not None
    top = tree.node_over(node.low[a], node.high[a])
    children = tree.children_of(top)
    codes = np.arange(node.low[a], node.high[a] + 1)
    return top, np.searchsorted(tree.last[children], codes).astype(np.int32), len(children)


def _ranked(setting: Setting, node: Extent) -> list[int]:
    """The attributes of a node, from the widest one on."""
    return widest_first(widths(setting.domains, setting.attributes.span, node.low, node.high))


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
        # No part of the setting is kept: its compiled functions lie elsewhere in every process of a cluster.
        self._statistics = statistics
        self._tree, self._pairs = tree.arrays(), pairs
        self._count_start, self._n_attributes = setting.count_start, setting.search.n_attributes
        self._width, self._low = _set_width(setting), [nodes[node].low[a] for node, a in pairs]
        self._base = starts_of([_set_bytes(setting, nodes[node], a) // COUNT_BYTES for node, a in pairs])
        self._counts = np.zeros(self._base[-1], np.uint32)
        self._requests = self._requested(range(len(pairs)))

    def _requested(self, numbers: Sequence[int]) -> Requests:
        """The requests for some of the pairs, by their numbers."""
        per_node = np.bincount([self._pairs[number][0] for number in numbers], minlength=len(self._tree.attribute))
        return Requests(
            node_start=starts_of(per_node),
            attribute=np.array([self._pairs[number][1] for number in numbers], np.int32),
            low=np.array([self._low[number] for number in numbers], np.int32),
            base=self._base[[*numbers]],
            width=self._width,
        )

    def add(self, rows: Int32, leaf: Int32 | None = None) -> None:
        """Count rows; `leaf` int32 (n_rows,) is where each of them ends in the tree, if that is known already."""
        leaf = leaves_of(rows, self._tree) if leaf is None else leaf
        if self._statistics is not None:
            self._statistics.add(rows, leaf)
        add_frequencies(rows, leaf, self._requests, self._counts, self._count_start, self._n_attributes)

    def shares(self, n: int) -> list[_Frequencies]:
        """The statistics and every n-th set of a node for the first one, the following sets for each other one."""
        shares = []
        for first in range(max(min(n, len(self._pairs)), 1)):
            share = copy(self)
            share._statistics = self._statistics if first == 0 else None
            share._requests = self._requested(range(first, len(self._pairs), n))
            shares.append(share)
        return shares

    def merge(self, other: _Frequencies) -> None:
        """Count what the sets of other rows have counted."""
        if self._statistics is not None and other._statistics is not None:
            self._statistics.merge(other._statistics)
        self._counts += other._counts

    def sets(self) -> dict[tuple[int, int], FrequencySet]:
        """The sets, uint32 (codes of the node's range, numbers per code)."""
        base = self._base
        return {
            pair: self._counts[base[number] : base[number + 1]].reshape(-1, self._width)
            for number, pair in enumerate(self._pairs)
        }
