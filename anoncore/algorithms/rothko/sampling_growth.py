"""RothkoSampling: growing the partition tree on a sample, one pass that divides and counts, and pruning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from anoncore.algorithms.rothko.confident_checks import confident_checks
from anoncore.algorithms.rothko.partition_tree import PartitionTree
from anoncore.algorithms.rothko.rows import Rows
from anoncore.algorithms.rothko.setting import Node, Part, Setting, Statistics
from anoncore.algorithms.rothko.tree_growth import tree_parts
from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.attributes import HIERARCHY
from anoncore.kernels.checking import KernelChecks, all_hold
from anoncore.kernels.compiler import kernel
from anoncore.kernels.sample_tree import sample_splits

FILLED = 0.9
"""Share of the memory that a part should fill by the sample's estimate, so that few parts are divided once more."""


@dataclass(frozen=True, eq=False)
class Sampling:
    """How samples are drawn and used.

    `size` rows are drawn, and tests have the level `alpha`. `until_memory` says whether cutting ends as soon as the
    parts should fit in memory, `by_tree` whether RothkoTree can take over.
    """

    size: int
    alpha: float
    until_memory: bool
    by_tree: bool
    generator: np.random.Generator


def sampling_parts(setting: Setting, sampling: Sampling, rows: Rows, region: Int32) -> Iterator[Part]:
    """The parts of a table that fit in memory or are final, from left to right.

    Rows are counted while they are divided, and parts below a node that turns out wrong are put together again. Where
    no split is confident, or all splits turn out wrong, the rows go to RothkoTree if it can take them (`by_tree`).
    Otherwise they are one class, which may be larger than necessary. Source: Rothko (TR 1590), sections 3 and 3.2.
    """
    counters = setting.counters
    if rows.n_rows <= setting.model.memory_rows:
        yield Part(rows, region, is_class=False)
        return
    tree = grown(setting, sampling, rows, region)
    parts = divided(setting, rows, tree) if len(tree) > 1 else [(0, rows)]
    if not tree.children[0]:
        ((_, rows),) = parts
        if sampling.by_tree:
            counters.handed_to_tree += 1
            yield from tree_parts(setting, rows, region)
        else:
            counters.minimal = False
            yield Part(rows, region, is_class=True)
        return
    for leaf, part in parts:
        yield from sampling_parts(setting, sampling, part, tree.region[leaf])


def divided(setting: Setting, rows: Rows, tree: PartitionTree) -> list[tuple[int, Rows]]:
    """The rows of each leaf that is left of the tree once all rows are counted, from left to right."""
    statistics = Statistics(setting, tree, list(tree.leaves()))
    parts = list(setting.divide(rows, tree, statistics))
    prune(setting, tree, counted(statistics, tree))
    left = set(tree.leaves())

    def leaf_above(node: int) -> int:
        while node not in left:
            node = tree.parent[node]
        return node

    found = []
    for leaf, together in groupby(parts, lambda part: leaf_above(part[0])):
        first, *others = (part for _, part in together)
        found.append((leaf, first.joined(others)))
    return found


def grown(setting: Setting, sampling: Sampling, rows: Rows, region: Int32) -> PartitionTree:
    """The tree that the sample supports, grown until its leaves should fit in memory, or all the way."""
    model = setting.model
    n, population = min(sampling.size, rows.n_rows), rows.n_rows
    sample = np.ascontiguousarray(rows.sample(n, sampling.generator))
    setting.counters.rows_read += population
    counted = np.arange(n + 1 if model.split == "infogain" else 2, dtype=np.float64)
    search = setting.search._replace(xlogx=counted * np.log2(np.maximum(counted, 1)))
    small = int(FILLED * model.memory_rows * n / population) if sampling.until_memory else 0
    checks = confident_checks(setting.checks, n, population, sampling.alpha, _most_sides(setting))
    splits = sample_splits(sample, np.empty_like(sample), small, rows.most_leaves, setting.attributes, search, checks)
    tree = PartitionTree(setting.attributes, region)
    for node, kind, attribute, value in splits.tolist():
        tree.split(node, kind, attribute, value)
    return tree


def _most_sides(setting: Setting) -> int:
    """The most sides that a split can have: two, or the most children of a hierarchy's node."""
    starts, nodes = setting.attributes.child_start, 2
    for a in np.flatnonzero(setting.attributes.form == HIERARCHY).tolist():
        begin, end = setting.attributes.node_start[a : a + 2]
        nodes = max(nodes, int(np.diff(starts[begin + a : end + a + 1]).max(initial=0)))
    return nodes


def counted(statistics: Statistics, tree: PartitionTree) -> dict[int, Node]:
    """Size and counts of every node that has rows, from what was counted of the leaves."""
    nodes = statistics.nodes()
    # Children have larger numbers than their parents, so that from the last node on theirs are counted already.
    for node in range(len(tree) - 1, -1, -1):
        below = [nodes[child] for child in tree.children[node] if child in nodes]
        if below:
            totals = np.sum([child_node.totals for child_node in below], axis=0)
            nodes[node] = Node(sum(child_node.size for child_node in below), below[0].low, below[0].high, totals)
    return nodes


def prune(setting: Setting, tree: PartitionTree, nodes: dict[int, Node]) -> None:
    """Make the parent of every node that violates a requirement a leaf, and count these nodes."""
    n_bins = int(setting.kernel_checks.count_start[-1])
    for node in range(len(tree) - 1, 0, -1):
        if node in nodes and not node_holds(setting.kernel_checks, nodes[node].totals[:n_bins], nodes[node].size):
            setting.counters.prunes += 1
            tree.prune(tree.parent[node])


@kernel
def node_holds(checks: KernelChecks, counts: Int64, size: int) -> bool:
    """Whether the counts of a node satisfy every check."""
    return all_hold(checks, counts, size)
