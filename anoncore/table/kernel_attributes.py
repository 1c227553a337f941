"""The domains of quasi-identifiers laid out as the flat arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anoncore.kernels.arrays import starts_of
from anoncore.kernels.attributes import CATEGORY, HIERARCHY, NUMBER, Attributes
from anoncore.table.domain import Domain, Kind


def kernel_attributes(domains: Sequence[Domain]) -> Attributes:
    """Lay out the domains of the attributes that a search may split."""
    form, position, leaf = [], [], []
    first, last, parent, child_start, children = [], [], [], [], []
    begun = 0  # children of the trees that are laid out already
    for domain in domains:
        tree = domain.tree
        position.append(domain.steps)
        leaf.append(np.zeros(len(domain), dtype=np.int32) if tree is None else tree.leaf)
        if tree is None:
            form.append(NUMBER if domain.kind is Kind.NUMERIC else CATEGORY)
            child_start.append(np.array([begun], dtype=np.int64))
            continue
        form.append(HIERARCHY)
        first.append(tree.first)
        last.append(tree.last)
        parent.append(tree.parent)
        child_start.append(tree.child_start.astype(np.int64) + begun)
        children.append(tree.children)
        begun += len(tree.children)
    n_nodes = [0 if domain.tree is None else len(domain.tree.labels) for domain in domains]
    none = np.zeros(0, dtype=np.int32)
    spans = [
        domain.extent if domain.tree is None and domain.kind is Kind.NUMERIC else float(len(domain) - 1)
        for domain in domains
    ]
    return Attributes(
        form=np.array(form, dtype=np.int64),
        span=np.array(spans, dtype=np.float64),
        code_start=starts_of(len(domain) for domain in domains),
        position=np.concatenate(position),
        leaf=np.concatenate(leaf),
        node_start=starts_of(n_nodes),
        first=np.concatenate([*first, none]),
        last=np.concatenate([*last, none]),
        parent=np.concatenate([*parent, none]),
        child_start=np.concatenate(child_start),
        children=np.concatenate([*children, none]),
    )
