"""The lattice of full-domain generalizations: every attribute at one level of its hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import prod

import numpy as np

from anoncore.base.errors import DataError
from anoncore.kernels.arrays import Codes, Floats, Int64
from anoncore.kernels.lattice import Combinations
from anoncore.requirements import CheckSet
from anoncore.table.hierarchy_levels import Levels
from anoncore.table.microdata import Microdata

Node = tuple[int, ...]
MOST_NODES = 500_000
"""Nodes of the largest lattice that is searched."""


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
    """The nodes over a table's quasi-identifiers, and what stands in its rows.

    `columns` are the codes of the quasi-identifiers and `combination` the number of the combination of sensitive
    values, int32 (n_rows,) each. Where one person may have several rows, a combination is one of a person.

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
        # With its person in front, a combination of sensitive values is one of a person, and sorts by persons first.
        of_person = np.zeros((data.n_rows, 0), np.int32) if data.people is None else data.people[:, None]
        combinations, self.combination = _numbered(np.hstack((of_person, checks.cells)))
        self.combinations = Combinations(
            self.checks,
            np.ascontiguousarray(combinations[:, of_person.shape[1] :]),
            np.ascontiguousarray(combinations[:, : of_person.shape[1]]).ravel(),
        )
        self.n_combinations = len(combinations)
        self.columns = [data.codes[name] for name in self.names]

    @cached_property
    def lost(self) -> Floats:
        """Mean loss of a cell at every node where every row is published, with an axis per attribute."""
        return lost_cells(self.levels, self.columns)


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
