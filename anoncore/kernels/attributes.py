"""Quasi-identifiers as kernels see them: positions on an axis, or a hierarchy's nodes, flat in arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anoncore.domain import Domain, Kind
from anoncore.kernels.compiler import inner_kernel

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

NUMBER, CATEGORY, HIERARCHY = 0, 1, 2


class Attributes(NamedTuple):
    """One entry per attribute in `form` (NUMBER, CATEGORY, HIERARCHY) and `span` (width of the whole domain).

    `code_start[a]` is where attribute a's codes begin in `position` and `leaf`, `node_start[a]` where its nodes begin
    in `first`, `last`, `parent`; its children lists begin at `child_start[node_start[a] + a + node]` in `children`.
    Node numbers are local to their attribute.
    """

    form: Int64
    span: Floats
    code_start: Int64
    position: Floats
    leaf: Int32
    node_start: Int64
    first: Int32
    last: Int32
    parent: Int32
    child_start: Int64
    children: Int32


def kernel_attributes(domains: Sequence[Domain]) -> Attributes:
    """Lay out the domains of the attributes that a search may split."""
    form, position, leaf = [], [], []
    first, last, parent, child_start, children = [], [], [], [], []
    begun = 0
    for domain in domains:
        tree = domain.tree
        position.append(domain.positions)
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
        domain.span if domain.tree is None and domain.kind is Kind.NUMERIC else float(len(domain) - 1)
        for domain in domains
    ]
    return Attributes(
        form=np.array(form, dtype=np.int64),
        span=np.array(spans, dtype=np.float64),
        code_start=np.cumsum([0, *(len(domain) for domain in domains)]).astype(np.int64),
        position=np.concatenate(position),
        leaf=np.concatenate(leaf),
        node_start=np.cumsum([0, *n_nodes]).astype(np.int64),
        first=np.concatenate([*first, none]),
        last=np.concatenate([*last, none]),
        parent=np.concatenate([*parent, none]),
        child_start=np.concatenate(child_start),
        children=np.concatenate([*children, none]),
    )


@inner_kernel
def common_node(attributes: Attributes, a: int, node: int, low: int, high: int) -> int:
    """Lowest ancestor of `node` (itself included) that holds the codes low..high."""
    base = attributes.node_start[a]
    while attributes.first[base + node] > low or attributes.last[base + node] < high:
        node = attributes.parent[base + node]
    return node


@inner_kernel
def width(attributes: Attributes, a: int, low: int, high: int) -> float:
    """Width of the codes low..high as a share of the domain: 0 for one value, 1 for all."""
    if low == high:
        return 0.0
    begin = attributes.code_start[a]
    if attributes.form[a] == HIERARCHY:
        node = attributes.node_start[a] + common_node(attributes, a, attributes.leaf[begin + low], low, high)
        return (attributes.last[node] - attributes.first[node]) / attributes.span[a]
    return (attributes.position[begin + high] - attributes.position[begin + low]) / attributes.span[a]
