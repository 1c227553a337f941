"""Choosing a node's cut from frequency sets: asks for one set after the other, in Mondrian's order."""

from __future__ import annotations

from collections.abc import Generator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anoncore.algorithms.cut_order import widest_first
from anoncore.algorithms.rothko.setting import Extent, Node, Setting
from anoncore.kernels.arrays import Int32
from anoncore.kernels.attributes import HIERARCHY
from anoncore.kernels.frequency_cuts import best_cut, children_cut, median_cut
from anoncore.kernels.splitting import NODE_CHILDREN, THRESHOLD
from anoncore.kernels.sweep import INFOGAIN, TIE

FrequencySet = npt.NDArray[np.uint32]
MOST_LIKELY = 2
"""Attributes that are counted for the median beforehand: all nine of the synthetic table took twice the time of two,
and saved no scan.
"""


class Cut(NamedTuple):
    """A cut as `PartitionTree.split` takes it, and what it leaves on each of its sides; None where no row is."""

    kind: int
    attribute: int
    value: int
    sides: tuple[Extent | None, ...]


Choice = Generator[list[int], FrequencySet, Cut | None]
"""Yields the attributes whose frequency sets it wants, the next first; is sent that one; returns the cut, if any."""


def choose_cut(setting: Setting, node: Node) -> Choice:
    """The cut of a node: the one that `kernels.mondrian.choose_split` takes on its rows if shared medians are not
    divided.

    Source: LeFevre and DeWitt, Rothko (TR 1590), section 2: AV, AVC and AVS groups.
    """
    least = setting.kernel_checks.minimum_rows
    if node.size < 2 * least or node.size < 2:
        return None
    if setting.search.criterion == INFOGAIN:
        cost, cut = yield from _cheapest(setting, node, gain=True)
        labels = node.totals[setting.kernel_checks.count_start[-1] :].astype(np.float64)
        entropy = _xlogx(float(node.size)) - sum(_xlogx(count) for count in labels.tolist())
        if cut is not None and entropy - cost >= setting.search.min_gain * node.size:
            return cut
    cut = yield from _median(setting, node)
    if cut is None and setting.search.n_sensitive > 0:
        _, cut = yield from _cheapest(setting, node, gain=False)
    return cut


def _median(setting: Setting, node: Node) -> Choice:
    ranked = widest_first(_width(setting, a, int(node.low[a]), int(node.high[a])) for a in range(len(node.low)))
    checks = setting.kernel_checks
    for turn, a in enumerate(ranked):
        counts = yield ranked[turn : turn + 1]
        if setting.attributes.form[a] == HIERARCHY:
            top = _common_node(setting, a, node)
            fits, _ = children_cut(counts, *_children(setting, a, top, node), int(checks.count_start[-1]), checks)
            if fits:
                return _into_children(setting, node, a, top, counts)
            continue
        code = median_cut(counts, node.size, node.totals, int(checks.count_start[-1]), checks)
        if code >= 0:
            return _at_threshold(node, a, code, counts)
    return None


def _cheapest(setting: Setting, node: Node, gain: bool) -> Generator[list[int], FrequencySet, tuple[float, Cut | None]]:
    """The allowable cut of lowest cost, with its cost; when balance decides, the first attribute that has one wins."""
    checks, best = setting.kernel_checks, np.inf
    n_bins = int(checks.count_start[-1])
    cut: Cut | None = None
    is_tree = setting.attributes.form == HIERARCHY
    open_attributes = [a for a in range(len(node.low)) if node.low[a] < node.high[a] and (gain or not is_tree[a])]
    for turn, a in enumerate(open_attributes):
        counts = yield open_attributes[turn:] if gain else [a]
        if is_tree[a]:
            top = _common_node(setting, a, node)
            fits, cost = children_cut(counts, *_children(setting, a, top, node), n_bins, checks)
            if fits and cost < best - TIE * node.size:
                best, cut = cost, _into_children(setting, node, a, top, counts)
            continue
        cost, code = best_cut(counts, node.size, node.totals, n_bins, gain, best, checks)
        if code >= 0:
            best, cut = cost, _at_threshold(node, a, code, counts)
        if not gain and cut is not None:
            break
    return best, cut


def likely_order(setting: Setting, node: Extent) -> list[int]:
    """The attributes of a node that is not counted yet, in the order in which `choose_cut` is likely to ask for them.

    Its rows may lie closer together than is known, so that another attribute may turn out to be the widest. Where only
    sizes are asked for, the median of one of the first two nearly always makes two sides that are large enough.
    """
    if setting.search.criterion == INFOGAIN:
        return [a for a in range(len(node.low)) if node.low[a] < node.high[a]]
    ranked = widest_first(_width(setting, a, int(node.low[a]), int(node.high[a])) for a in range(len(node.low)))
    return ranked if setting.search.n_sensitive > 0 else ranked[:MOST_LIKELY]


def _at_threshold(node: Node, a: int, code: int, counts: FrequencySet) -> Cut:
    """The cut behind a code of attribute a, which is counted from the node's lowest one."""
    rows = counts[:, 0]
    sides = tuple(_side(node, a, rows, begin, end) for begin, end in ((0, code + 1), (code + 1, len(rows))))
    return Cut(THRESHOLD, a, int(node.low[a]) + code, sides)


def _into_children(setting: Setting, node: Node, a: int, top: int, counts: FrequencySet) -> Cut:
    """The cut into the children of a node of the attribute's hierarchy."""
    child, n_children = _children(setting, a, top, node)
    begins = np.searchsorted(child, np.arange(n_children + 1)).tolist()
    rows = counts[:, 0]
    sides = tuple(_side(node, a, rows, *ends) for ends in pairwise(begins))
    return Cut(NODE_CHILDREN, a, top, sides)


def _side(node: Node, a: int, rows: npt.NDArray[np.uint32], begin: int, end: int) -> Extent | None:
    """The extent of the node's rows whose codes of attribute a lie from `begin` to before `end`; None for no rows.

    `rows` counts those of each code, from the node's lowest one on.
    """
    there = begin + np.flatnonzero(rows[begin:end])
    if not len(there):
        return None
    low, high = node.low.copy(), node.high.copy()
    low[a], high[a] = node.low[a] + there[0], node.low[a] + there[-1]
    return Extent(int(rows[begin:end].sum()), low, high)


def _xlogx(count: float) -> float:
    return count * float(np.log2(max(count, 1.0)))


def _common_node(setting: Setting, a: int, node: Node) -> int:
    """The lowest node of the hierarchy that holds the node's codes."""
    tree = setting.data.domain[setting.data.quasi_identifiers[a]].tree
    assert tree is not None
    return int(tree.common_ancestor(node.low[a : a + 1], node.high[a : a + 1])[0])


def _children(setting: Setting, a: int, top: int, node: Node) -> tuple[Int32, int]:
    """The child of the hierarchy node `top` for each code of the node's range, and the number of children."""
    tree = setting.data.domain[setting.data.quasi_identifiers[a]].tree
    assert tree is not None
    children = tree.children[tree.child_start[top] : tree.child_start[top + 1]]
    codes = np.arange(node.low[a], node.high[a] + 1)
    return np.searchsorted(tree.last[children], codes).astype(np.int32), len(children)


def _width(setting: Setting, a: int, low: int, high: int) -> float:
    """The width of the codes low..high as a share of the domain, computed as in `kernels.attributes.width`."""
    domain = setting.data.domain[setting.data.quasi_identifiers[a]]
    span = float(setting.attributes.span[a])
    if low == high:
        return 0.0
    if domain.tree is not None:
        top = int(domain.tree.common_ancestor(np.array([low], np.int32), np.array([high], np.int32))[0])
        return float(domain.tree.last[top] - domain.tree.first[top]) / span
    return float(domain.steps[high] - domain.steps[low]) / span
