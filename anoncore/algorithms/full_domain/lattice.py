"""The lattice of full-domain generalizations: every attribute at one level of its hierarchy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from anoncore.base.errors import DataError
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, starts_of
from anoncore.kernels.incognito import (
    LARGEST_KEY,
    Combinations,
    entry_groups,
    every_group_holds,
    groups_holding,
    holding,
    rows_in_small_groups,
)
from anoncore.requirements import CheckSet
from anoncore.table.hierarchy_levels import Levels
from anoncore.table.microdata import Microdata

Node = tuple[int, ...]
MOST_NODES = 500_000
"""Nodes of the largest lattice that is searched."""


@dataclass(frozen=True, eq=False)
class FrequencySet:
    """The groups of one node as entries; an entry is a combination of sensitive values within a group.

    Where one person may have several rows, an entry is one of a person with a combination of sensitive values.

    Per entry, `codes`, int32 (n_entries, n_attributes), are the group's generalized codes, `sensitive`, int32
    (n_entries,), is the number of the combination, and `weight`, int64 (n_entries,), counts its rows. Group g has the
    entries from starts[g] to starts[g + 1] - 1.
    """

    codes: Codes
    sensitive: Codes
    weight: Int64
    starts: Int64

    @property
    def sizes(self) -> Int64:
        """Rows of each group, int64 (n_groups,)."""
        sizes: Int64 = np.add.reduceat(self.weight, self.starts[:-1])
        return sizes

    @property
    def group_codes(self) -> Codes:
        """Generalized codes of each group, int32 (n_groups, n_attributes)."""
        return self.codes[self.starts[:-1]]


@dataclass(frozen=True, eq=False)
class _Entries:
    """The entries of the table, by ascending number of their combination of sensitive values.

    `codes`, int32 (n_attributes, n_entries), has a row per attribute; `sensitive` and `weight` as in `FrequencySet`.
    """

    codes: Codes
    sensitive: Codes
    weight: Int64

    @classmethod
    def of(cls, base: FrequencySet) -> _Entries:
        order = np.argsort(base.sensitive, kind="stable")
        return cls(np.ascontiguousarray(base.codes[order].T), base.sensitive[order], base.weight[order])


def require_searchable(data: Microdata, most_nodes: int = MOST_NODES) -> int:
    """Number of nodes of the table's lattice. Raises DataError for more than `most_nodes`."""
    trees = [data.domain[name].tree for name in data.quasi_identifiers]
    n_nodes = prod(2 if tree is None else tree.height + 1 for tree in trees)
    if n_nodes > most_nodes:
        raise DataError(
            f"The hierarchies of {len(trees)} quasi-identifiers make {n_nodes:,} combinations of levels, more than "
            f"{most_nodes:,}; tag fewer quasi-identifiers or give them lower hierarchies."
        )
    return n_nodes


class Lattice:
    """The nodes over a table's quasi-identifiers, and the groups at each of them.

    Without `has_hierarchies` every attribute has two levels, exact values and all of them, and there may be any number
    of nodes.
    """

    def __init__(
        self, data: Microdata, checks: CheckSet, most_nodes: int = MOST_NODES, *, has_hierarchies: bool = True
    ) -> None:
        self.names = data.quasi_identifiers
        domains = [data.domain[name] for name in self.names]
        if not has_hierarchies:
            domains = [replace(domain, tree=None) for domain in domains]
        self.levels = tuple(Levels.of(domain) for domain in domains)
        self.heights: Node = tuple(levels.height for levels in self.levels)
        self.n_nodes = require_searchable(data, most_nodes) if has_hierarchies else 2 ** len(domains)
        self.checks = checks.kernel
        self.n_rows = data.n_rows
        # With its person in front, a combination of sensitive values is one of a person, and sorts by persons first.
        of_person = np.zeros((data.n_rows, 0), dtype=np.int32) if data.people is None else data.people[:, None]
        combinations, combination = _numbered(np.hstack((of_person, checks.cells)))
        self.combinations = Combinations(
            self.checks,
            np.ascontiguousarray(combinations[:, of_person.shape[1] :]),
            np.ascontiguousarray(combinations[:, : of_person.shape[1]]).ravel(),
        )
        self.n_combinations = len(combinations)
        rows = FrequencySet(
            np.column_stack([data.codes[name] for name in self.names]),
            combination,
            np.ones(data.n_rows, dtype=np.int64),
            np.zeros(0, dtype=np.int64),
        )
        self.base = self._rolled_up(rows, (0,) * len(self.names))
        self._entries = _Entries.of(self.base)
        self._number = np.concatenate([levels.number.ravel() for levels in self.levels])
        self._number_start = starts_of(levels.number.size for levels in self.levels)[:-1]

    def every_group_holds(self, node: Node) -> bool:
        """Whether every group of a node over all attributes satisfies every requirement."""
        entries = self._entries
        return bool(every_group_holds(self.combinations, *self._groups(node), entries.sensitive, entries.weight))

    def failing_entries(self, node: Node) -> Bools:
        """The entries in groups of a node over all attributes that break a requirement, bool (n_entries,)."""
        group, n_groups = self._groups(node)
        entries = self._entries
        holds = groups_holding(self.combinations, group, n_groups, entries.sensitive, entries.weight)
        failing: Bools = ~holds[group]
        return failing

    def rows_of(self, entries: Bools) -> int:
        """Number of rows of the chosen entries."""
        return int(self._entries.weight[entries].sum())

    def hold_together(self, chosen: Bools) -> bool:
        """Whether the chosen entries satisfy every requirement as one group."""
        entries = self._entries
        starts = np.array([0, int(chosen.sum())])
        sensitive, weight = entries.sensitive[chosen], entries.weight[chosen]
        return bool(holding(self.combinations, sensitive, weight, starts)[0])

    def loss_where(self, node: Node, suppressed: Bools) -> float:
        """Mean loss of a cell where the chosen entries are suppressed and all others published at a node's levels."""
        entries = self._entries
        codes, weight = entries.codes[:, suppressed], entries.weight[suppressed]
        more = 0.0
        for levels, level, own in zip(self.levels, node, codes, strict=True):
            more += float(weight @ (float(len(levels.domain) > 1) - levels.loss[level][own]))
        return self.loss_of_rows(node) + more / (self.n_rows * len(self.names))

    def rows_in_small_groups(self, node: Node) -> int:
        """Rows in groups of a node over all attributes that are too small for any requirement."""
        return int(rows_in_small_groups(*self._groups(node), self._entries.weight, self.checks.minimum_rows))

    def _groups(self, node: Node) -> tuple[Codes, int]:
        """The group of each of `_entries` at a node, and how many groups there are."""
        n_numbers = np.array([levels.n_numbers[level] for levels, level in zip(self.levels, node, strict=True)])
        # All values of an attribute at its top level are one, which tells nothing apart.
        columns = np.flatnonzero(n_numbers > 1)
        sizes = np.array([levels.number.shape[1] for levels in self.levels])
        start = self._number_start + np.array(node) * sizes
        group, n_groups = entry_groups(self._entries.codes, columns, self._number, start[columns], n_numbers[columns])
        return group, int(n_groups)

    def at(self, node: Node) -> FrequencySet:
        """The groups of a node, by ascending generalized codes."""
        return self._rolled_up(self.base, node)

    def keys(self, codes: Codes, node: Node) -> tuple[Int64, Codes]:
        """A number per entry, the same where the generalized codes are, and these codes."""
        coarse = np.empty_like(codes)
        key, capacity = np.zeros(len(codes), dtype=np.int64), 1
        for column, (levels, level) in enumerate(zip(self.levels, node, strict=True)):
            first = levels.first[level]
            coarse[:, column] = first[codes[:, column]]
            if capacity * len(first) >= LARGEST_KEY:
                unique, key = np.unique(key, return_inverse=True)
                capacity = len(unique)
            key = key * len(first) + coarse[:, column]
            capacity *= len(first)
        if capacity * self.n_combinations >= LARGEST_KEY:
            key = np.unique(key, return_inverse=True)[1]
        return key, coarse

    def _rolled_up(self, below: FrequencySet, node: Node) -> FrequencySet:
        key, codes = self.keys(below.codes, node)
        key = key * self.n_combinations + below.sensitive
        order = np.argsort(key, kind="stable")
        key = key.take(order)
        first = np.flatnonzero(np.diff(key, prepend=-1))
        finer, group = order.take(first), key.take(first) // self.n_combinations
        starts = np.append(np.flatnonzero(np.diff(group, prepend=-1)), len(first))
        weight = np.add.reduceat(below.weight.take(order), first)
        return FrequencySet(codes.take(finer, axis=0), below.sensitive.take(finer), weight, starts)

    def holding(self, groups: FrequencySet) -> Bools:
        """Whether each group satisfies every requirement, bool (n_groups,)."""
        return holding(self.combinations, groups.sensitive, groups.weight, groups.starts)

    def holds_together(self, groups: FrequencySet, chosen: Bools) -> bool:
        """Whether the chosen groups satisfy every requirement as one."""
        inside = np.repeat(chosen, np.diff(groups.starts))
        starts = np.array([0, inside.sum()])
        # A person may be in several of the groups, and the entries of one person have to follow each other.
        order = np.argsort(groups.sensitive[inside], kind="stable")
        sensitive, weight = groups.sensitive[inside][order], groups.weight[inside][order]
        holds = holding(self.combinations, sensitive, weight, starts)
        return bool(holds[0])

    def loss_of_rows(self, node: Node) -> float:
        """Mean loss of a cell where every row is published at the levels of a node over all attributes."""
        total = sum(loss[level] for loss, level in zip(self._mean_losses, node, strict=True))
        return float(total) / len(self.names)

    @cached_property
    def _mean_losses(self) -> tuple[Floats, ...]:
        """Of every attribute the mean loss of a cell at each level."""
        rows = [
            np.bincount(self.base.codes[:, a], weights=self.base.weight, minlength=len(levels.domain))
            for a, levels in enumerate(self.levels)
        ]
        return tuple(levels.loss @ own / self.n_rows for levels, own in zip(self.levels, rows, strict=True))

    def losses(self, node: Node, groups: FrequencySet) -> Floats:
        """Sum over the attributes of the loss of a cell of each group, float (n_groups,)."""
        total = np.zeros(len(groups.starts) - 1)
        codes = groups.group_codes
        for column, (levels, level) in enumerate(zip(self.levels, node, strict=True)):
            total += levels.loss[level][codes[:, column]]
        return total


def _numbered(columns: Codes) -> tuple[Codes, Codes]:
    """The distinct rows of the columns, and the number of each row among them."""
    if columns.shape[1] == 0:
        return np.zeros((1, 0), dtype=np.int32), np.zeros(len(columns), dtype=np.int32)
    distinct, number = np.unique(columns, axis=0, return_inverse=True)
    return np.ascontiguousarray(distinct), number.ravel().astype(np.int32)
