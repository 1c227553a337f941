"""The lattice of full-domain generalizations: every attribute at one level of its hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import prod

import numpy as np

from anoncore.base.errors import DataError
from anoncore.kernels.arrays import Bools, Codes, Floats, Int64, record
from anoncore.kernels.grouping import starts_of
from anoncore.kernels.incognito import (
    Combinations,
    entry_groups,
    every_group_holds,
    groups_holding,
    holding,
    rows_in_small_groups,
)
from anoncore.release.partition import Partition
from anoncore.requirements import CheckSet
from anoncore.table.hierarchy_levels import Levels
from anoncore.table.microdata import Microdata

Node = tuple[int, ...]
MOST_NODES = 500_000
"""Nodes of the largest lattice that is searched."""


@record
class FrequencySet:
    """The groups of one node as entries; an entry is a combination of sensitive values within a group.

    Where one person may have several rows, an entry is one of a person with a combination of sensitive values.

    Per entry, `codes`, int32 (n_entries, n_attributes), are the group's codes, `sensitive`, int32
    (n_entries,), is the number of the combination, and `weight`, int64 (n_entries,), counts its rows. Group g has the
    entries from starts[g] to starts[g + 1] - 1.
    """

    codes: Codes
    sensitive: Codes
    weight: Int64
    starts: Int64


@record
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

    `columns` are the codes of the quasi-identifiers, int32 (n_rows,) each.

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
        of_person = np.zeros((data.n_rows, 0), np.int32) if data.people is None else data.people[:, None]
        combinations, combination = _numbered(np.hstack((of_person, checks.cells)))
        self.combinations = Combinations(
            self.checks,
            np.ascontiguousarray(combinations[:, of_person.shape[1] :]),
            np.ascontiguousarray(combinations[:, : of_person.shape[1]]).ravel(),
        )
        self.n_combinations = len(combinations)
        self.columns = [data.codes[name] for name in self.names]
        entries = Partition.alike([*self.columns, combination])
        first = entries.first_rows
        codes = np.column_stack([column[first] for column in self.columns])
        begins = np.flatnonzero((codes[1:] != codes[:-1]).any(axis=1)) + 1
        self.base = FrequencySet(codes, combination[first], entries.sizes, np.concatenate(([0], begins, [len(first)])))
        self._entries = _Entries.of(self.base)
        self._number = np.concatenate([levels.number.ravel() for levels in self.levels])
        self._number_start = starts_of(levels.number.size for levels in self.levels)[:-1]

    @cached_property
    def lost(self) -> Floats:
        """Mean loss of a cell at every node where every row is published, with an axis per attribute."""
        return lost_cells(self.levels, self.columns)

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
        return float(self.lost[node]) + more / (self.n_rows * len(self.names))

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


def lost_cells(levels: Sequence[Levels], codes: Sequence[Codes]) -> Floats:
    """Mean loss of a cell at every node where every row is published, with an axis per attribute."""
    lost: Floats = np.zeros(())
    for one, own in zip(levels, codes, strict=True):
        rows = np.bincount(own, minlength=len(one.domain))
        lost = np.add.outer(lost, one.loss @ rows / (len(own) * len(levels)))
    return lost


def nodes_by_loss(levels: Sequence[Levels], codes: Sequence[Codes]) -> Int64:
    """All nodes, int64 (n_nodes, d), from the one at which the cells lose least to the one at which they lose most."""
    lost = lost_cells(levels, codes)
    return np.column_stack(np.unravel_index(np.argsort(np.round(lost, 12), axis=None, kind="stable"), lost.shape))


def _numbered(columns: Codes) -> tuple[Codes, Codes]:
    """The distinct rows of the columns, and the number of each row among them."""
    if columns.shape[1] == 0:
        return np.zeros((1, 0), np.int32), np.zeros(len(columns), np.int32)
    distinct, number = np.unique(columns, axis=0, return_inverse=True)
    return np.ascontiguousarray(distinct), number.ravel().astype(np.int32)
