"""Choosing a node's cut from frequency sets: asks for one set after the other, in Mondrian's order."""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anoncore.algorithms.cut_order import widest_first
from anoncore.algorithms.rothko.setting import Node, Setting
from anoncore.kernels.arrays import Int32
from anoncore.kernels.attributes import HIERARCHY
from anoncore.kernels.frequency_cuts import best_cut, children_cut, median_cut
from anoncore.kernels.splitting import NODE_CHILDREN, THRESHOLD
from anoncore.kernels.sweep import INFOGAIN, TIE

FrequencySet = npt.NDArray[np.uint32]


class Cut(NamedTuple):
    """A cut as `PartitionTree.split` takes it."""

    kind: int
    attribute: int
    value: int


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
                return Cut(NODE_CHILDREN, a, top)
            continue
        code = median_cut(counts, node.size, node.totals, int(checks.count_start[-1]), checks)
        if code >= 0:
            return Cut(THRESHOLD, a, int(node.low[a]) + code)
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
                best, cut = cost, Cut(NODE_CHILDREN, a, top)
            continue
        cost, code = best_cut(counts, node.size, node.totals, n_bins, gain, best, checks)
        if code >= 0:
            best, cut = cost, Cut(THRESHOLD, a, int(node.low[a]) + code)
        if not gain and cut is not None:
            break
    return best, cut


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
