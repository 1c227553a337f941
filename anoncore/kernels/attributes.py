"""Quasi-identifiers as kernels see them: positions on an axis, or the nodes of a hierarchy, flat in arrays.

The lists of all attributes stand one after the other in one array each, so that a kernel takes any number of attributes
without being compiled anew. Codes and nodes are numbered per attribute; a node covers a run of codes.
"""

from __future__ import annotations

from typing import NamedTuple

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel
from anoncore.kernels.rounding import ACCUMULATED, reaches

NUMBER, CATEGORY, HIERARCHY = 0, 1, 2


class Attributes(NamedTuple):
    """The attributes of a search, d in number.

    `form` int64 (d,): NUMBER, CATEGORY or HIERARCHY. `span` float (d,): width of the whole domain on the attribute's
    axis, in a hierarchy the number of codes less 1. `code_start` int64 (d + 1,): where attribute a's codes begin in
    `position` float (where a code lies on the axis) and `leaf` int32 (the lowest node with a code, in a hierarchy).
    `node_start` int64 (d + 1,): where its nodes begin in `first`, `last` int32 (lowest and highest code of a node) and
    `parent` int32 (-1 at the root, node 0). The children of a node are `children[child_start[i]:child_start[i + 1]]`
    with i = node_start[a] + a + node: an attribute has one start more than it has nodes, so those before it have `a`
    more.
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


@inner_kernel
def widest(widths: Floats) -> int:
    """The first attribute that is as wide as the widest, but for what rounding may have taken from it.

    The same numbers in another unit round otherwise, and that must not choose between attributes of equal widths.
    """
    limit = widths[0]
    for own in widths:
        limit = max(limit, own)
    for a in range(len(widths)):
        if reaches(widths[a], limit, ACCUMULATED):
            return a
    return 0


@inner_kernel
def largest_domain(attributes: Attributes) -> int:
    """Number of codes of the attribute that has most."""
    largest = 1
    for a in range(len(attributes.form)):
        largest = max(largest, attributes.code_start[a + 1] - attributes.code_start[a])
    return largest
