"""Quasi-identifiers as kernels see them: positions on an axis, or a hierarchy's nodes, flat in arrays."""

from __future__ import annotations

from typing import NamedTuple

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel

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
