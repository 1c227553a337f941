"""The three ways to change class values so that joins of classes of different fragments are safe."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np

from anoncore.algorithms.joined_groups import order_by_content
from anoncore.kernels.arrays import Int64
from anoncore.privacy.join_blocks import ChangeRule, Classes, Joins, RowRule, SelectivityRule, TooManyJoins, blocks
from anoncore.release.partition import Partition
from anoncore.table.microdata import Microdata


def majority_values(counts: Sequence[Int64]) -> list[Int64]:
    """The naive way: every row gets its class's majority value (the first of equals), whatever the joins are.

    `counts` (n_classes, n_values) per fragment; the result has the same form. Two classes then join to 0 or at least
    k^2 rows. Source: Zakerzadeh, Aggarwal and Barker, vertical fragmentation, section 4.2.2.
    """
    changed = []
    for of_fragment in counts:
        majority = np.zeros_like(of_fragment)
        majority[np.arange(len(of_fragment)), np.argmax(of_fragment, axis=1)] = of_fragment.sum(axis=1)
        changed.append(majority)
    return changed


def enforce(counts: Sequence[Int64], rule: ChangeRule, rng: np.random.Generator) -> list[Int64]:
    """Change class values until every join of classes of different fragments keeps the rule.

    `counts` (n_classes, n_values) per fragment: rows of each class value in each class, of which every class has enough
    for the rule on its own. The result has the same form. The first two fragments are searched breadth first over their
    dependency graph, whose nodes are classes and whose edges join classes with a common value. If the join with an
    unvisited neighbour breaks the rule, that neighbour is changed step by step (see `ChangeRule.reduce`) until its
    joins with the current class and with all visited ones are safe. Each further fragment is joined to all joins of
    those before it, and only its own classes change. Starts are random; all else follows the order of the classes.
    Source: Zakerzadeh, Aggarwal and Barker, vertical fragmentation, algorithms 2 to 4.
    """
    sides = [_Nodes.of(of_fragment) for of_fragment in counts]
    _breadth_first(sides[0], sides[1], rule, rng)
    if len(sides) == 2:
        return [side.counts for side in sides]
    joins = Joins(rule)
    try:
        joins.add(sides[0].classes(rule))
        for before, side in pairwise(sides[1:]):
            joins.add(before.classes(rule))
            _join_to_all(side, joins.subsets.values(), rule)
    except TooManyJoins:
        return _value_by_value(counts, rule.value_by_value(), rng)
    return [side.counts for side in sides]


def _value_by_value(counts: Sequence[Int64], rule: ChangeRule, rng: np.random.Generator) -> list[Int64]:
    """Change class values by the rule's stricter form, under which it is enough to look at pairs of fragments."""
    sides = [_Nodes.of(of_fragment) for of_fragment in counts]
    _breadth_first(sides[0], sides[1], rule, rng)
    for number in range(2, len(sides)):
        _join_to_all(sides[number], [side.classes(rule).distinct()[0] for side in sides[:number]], rule)
    return [side.counts for side in sides]


@dataclass(eq=False)
class _Nodes:
    """The classes of one fragment: their rows per value as they become (`counts`) and as they were (`original`).

    `seen` holds each different content of a visited class once, because classes with the same content have the same
    joins.
    """

    counts: Int64
    original: Int64
    sizes: Int64
    majority: Int64
    seen: dict[bytes, Int64] = field(default_factory=dict)

    @classmethod
    def of(cls, counts: Int64) -> _Nodes:
        given = counts.astype(np.int64)
        return cls(given.copy(), given, given.sum(axis=1), np.argmax(given, axis=1))

    def classes(self, rule: ChangeRule, nodes: Int64 | None = None) -> Classes:
        """All nodes, or the given ones, in the form that the rule reads."""
        some = np.arange(len(self.counts)) if nodes is None else nodes
        return rule.classes(self.counts[some], self.sizes[some])

    def content(self, node: int) -> Int64:
        """The rows per value of one node, then its number of rows."""
        return np.append(self.counts[node], self.sizes[node])

    def visited(self, rule: ChangeRule) -> Classes:
        """The different contents of the visited classes."""
        content = np.stack(list(self.seen.values()))
        return rule.classes(content[:, :-1], content[:, -1])

    def reduce_until_safe(self, node: int, fixed: Classes, rule: ChangeRule) -> None:
        """Change one node until its join with each of the fixed classes is safe, at the latest when it has one value
        left.
        """
        while rule.broken(rule.levels(fixed, self.classes(rule, np.array([node])))).any():
            rule.reduce(self.counts[node], int(self.majority[node]))


def _breadth_first(first: _Nodes, second: _Nodes, rule: ChangeRule, rng: np.random.Generator) -> None:
    sides = (first, second)
    waiting = [np.ones(len(side.counts), np.bool_) for side in sides]
    unvisited = [np.ones(len(side.counts), np.bool_) for side in sides]
    for start in rng.permutation(len(first.counts) + len(second.counts)).tolist():
        side, node = (0, start) if start < len(first.counts) else (1, start - len(first.counts))
        if not waiting[side][node]:
            continue
        waiting[side][node] = False
        queue = deque([(side, node)])
        while queue:
            side, node = queue.popleft()
            other = 1 - side
            left = np.flatnonzero(unvisited[other])
            values = sides[side].original[node] > 0
            neighbours = left[sides[other].original[left][:, values].any(axis=1)]
            _visit(sides[side], node, sides[other], neighbours, rule)
            unvisited[side][node] = False
            next_nodes = neighbours[waiting[other][neighbours]]
            waiting[other][next_nodes] = False
            queue.extend((other, int(neighbour)) for neighbour in next_nodes)


def _visit(side: _Nodes, node: int, other: _Nodes, neighbours: Int64, rule: ChangeRule) -> None:
    """Make the unvisited neighbours of a node safe with it and with all nodes of its side visited before."""
    content = side.content(node)
    if content.tobytes() in side.seen:
        return
    side.seen[content.tobytes()] = content
    if not len(neighbours):
        return
    levels = rule.levels(side.classes(rule, np.array([node])), other.classes(rule, neighbours))
    unsafe = neighbours[rule.broken(levels[0])]
    if len(unsafe):
        fixed = side.visited(rule)
        for neighbour in unsafe.tolist():
            other.reduce_until_safe(neighbour, fixed, rule)


def _join_to_all(side: _Nodes, before: Collection[Classes], rule: ChangeRule) -> None:
    """Make the nodes of a further fragment safe with every join of the fragments before it."""
    _, first, same = np.unique(
        np.column_stack((side.counts, side.sizes)), axis=0, return_index=True, return_inverse=True
    )
    different = _Nodes.of(side.counts[first])
    safe = False
    while not safe:
        safe = True
        for fixed in before:
            classes = different.classes(rule)
            for block in blocks(fixed, classes):
                levels = rule.levels(fixed.take(block), classes)
                for node in np.flatnonzero(rule.broken(levels).any(axis=0)).tolist():
                    different.reduce_until_safe(node, fixed.take(block), rule)
                    safe = False
    side.counts[:] = different.counts[same.ravel()]


Strategy = Literal["naive", "dependency", "selectivity"]
STRATEGIES: tuple[Strategy, ...] = ("naive", "dependency", "selectivity")


def enforced_counts(
    data: Microdata,
    common: str,
    partitions: Sequence[Partition],
    strategy: Strategy,
    k: int,
    delta: float,
    seed: int | None,
) -> list[Int64]:
    """Rows per class value in each class of each fragment after the changes, int64 (n_groups, n_values) each.

    `selectivity` has 0 for a value that the class no longer publishes. Classes are numbered by their first row in
    content order while they are changed, so that the order of the table changes nothing.
    """
    codes, size = data.codes[common], len(data.domain[common])
    orders = [order_by_content(data, partition) for partition in partitions]
    counts = [partition.histogram(codes, size)[order] for partition, order in zip(partitions, orders, strict=True)]
    if strategy == "naive":
        changed = majority_values(counts)
    else:
        rule: ChangeRule = RowRule(k) if strategy == "dependency" else SelectivityRule(k, delta)
        changed = enforce(counts, rule, np.random.default_rng(seed))
    return [of_fragment[np.argsort(order)] for of_fragment, order in zip(changed, orders, strict=True)]
