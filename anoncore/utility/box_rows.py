"""The different rows of a table, laid out for the search of the classes that lose least."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anoncore.kernels.arrays import Codes, Int64, record
from anoncore.kernels.cheapest_boxes import UNIT, BoxRows
from anoncore.kernels.grouping import dense_key, first_rows, starts_of
from anoncore.table.domain import Domain, Kind, Tree
from anoncore.table.microdata import Microdata


@record
class DistinctRows:
    """The different rows of a table by their quasi-identifiers.

    `boxes` is what kernels read of them. `number` int64 (n_rows,) says which of them each row of the table is. The loss
    of a row is counted in `UNIT` per cell, over `n_cells` cells, and is by at most `error` too high, because both ends
    of a range of numbers are rounded down.
    """

    boxes: BoxRows
    number: Int64
    n_cells: int
    error: int

    @classmethod
    def of(cls, data: Microdata) -> DistinctRows:
        """The different rows of a table. Raises DataError where it has no quasi-identifier."""
        names = data.require_quasi_identifiers()
        domains = [data.domain[name] for name in names]
        steps = [_least_step(domain) for domain in domains]
        order = sorted(range(len(names)), key=lambda a: -steps[a])
        codes = np.column_stack([data.codes[names[a]] for a in order])
        ordered = [domains[a] for a in order]
        number = dense_key(codes.T, len(codes), is_sorted=True)
        different = codes[first_rows(number)]
        boxes = _laid_out(
            different, ordered, np.bincount(number), np.array([len(names) * UNIT + 1, *(steps[a] for a in order)])
        )
        # One for the end of a range that is rounded down, one for the doubles that it is worked out of.
        return cls(boxes, number, len(names), 2 * boxes.numbers.shape[1])

    def least_steps(self, k: int) -> Int64:
        """A loss that no box of k rows with each row is below: too few agree with it in attributes of which any other
        value loses that much.
        """
        boxes = self.boxes
        before = starts_of(boxes.amounts)
        is_alone = before[boxes.ends] - before[boxes.begins] < k
        return np.where(is_alone.any(axis=0), boxes.steps[is_alone.argmax(axis=0)], 0)


def _laid_out(codes: Codes, domains: Sequence[Domain], amounts: Int64, steps: Int64) -> BoxRows:
    """The rows as kernels read them, sorted as they are; attributes with a single value cost nothing."""
    kept = [a for a, domain in enumerate(domains) if len(domain) > 1]
    numbers = [a for a in kept if domains[a].tree is None and domains[a].kind is Kind.NUMERIC]
    in_sets = [a for a in kept if domains[a].tree is None and domains[a].kind is not Kind.NUMERIC]
    trees = [(a, tree) for a in kept if (tree := domains[a].tree) is not None]
    begins, ends = _agreeing(codes)
    return BoxRows(
        numbers=_columns([_positions(domains[a])[codes[:, a]] for a in numbers], len(codes), np.int64),
        leaves=_columns([codes[:, a] for a, _ in trees], len(codes), np.int32),
        values=_columns([codes[:, a] for a in in_sets], len(codes), np.int32),
        added=np.array([UNIT // (len(domains[a]) - 1) for a in in_sets], np.int64),
        amounts=amounts,
        code_start=starts_of(len(tree.leaf) for _, tree in trees)[:-1],
        leaf=_joined([tree.leaf for _, tree in trees], np.int32),
        node_start=starts_of(len(tree.first) for _, tree in trees)[:-1],
        first=_joined([tree.first for _, tree in trees], np.int32),
        last=_joined([tree.last for _, tree in trees], np.int32),
        parent=_joined([tree.parent for _, tree in trees], np.int32),
        loss=_joined([_node_losses(tree) for _, tree in trees], np.int64),
        begins=begins,
        ends=ends,
        steps=steps.astype(np.int64),
    )


def _columns(columns: Sequence[np.ndarray], n_rows: int, dtype: type) -> np.ndarray:
    return np.column_stack(columns).astype(dtype) if columns else np.zeros((n_rows, 0), dtype)


def _joined(arrays: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([*arrays, np.zeros(0)]).astype(dtype)


def _positions(domain: Domain) -> Int64:
    """Where the codes of a number lie between the first and the last one."""
    return np.floor(domain.shares * UNIT).astype(np.int64)


def _node_losses(tree: Tree) -> Int64:
    """What a cell with each node of a hierarchy loses, rounded down."""
    return (tree.last - tree.first).astype(np.int64) * UNIT // (len(tree.leaf) - 1)


def _least_step(domain: Domain) -> int:
    """The least that a cell with two different values loses."""
    if len(domain) == 1:
        return 0
    if domain.tree is not None:
        losses = _node_losses(domain.tree)
        return int(losses[losses > 0].min())
    return int(np.diff(_positions(domain)).min()) if domain.kind is Kind.NUMERIC else UNIT // (len(domain) - 1)


def _agreeing(codes: Codes) -> tuple[Int64, Int64]:
    """Where the rows begin and end that agree with each row in the first 0, 1, ... attributes."""
    n, d = codes.shape
    begins, ends = np.zeros((d + 1, n), np.int64), np.full((d + 1, n), n, np.int64)
    is_new = np.zeros(n, np.bool_)
    is_new[0] = True
    for p in range(d):
        is_new[1:] |= codes[1:, p] != codes[:-1, p]
        starts = np.flatnonzero(is_new)
        block = np.cumsum(is_new) - 1
        begins[p + 1], ends[p + 1] = starts[block], np.append(starts[1:], n)[block]
    return begins, ends
