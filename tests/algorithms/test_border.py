"""The border of a monotone condition in a lattice against the condition asked at every node."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.algorithms.full_domain.border import Border, lowest, upwards


@st.composite
def conditions(draw):
    """The sizes of a lattice and the nodes from which upwards a condition holds; there may be none."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    nodes = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    return sizes, draw(st.lists(nodes, max_size=6))


def above(node, other):
    return all(a >= b for a, b in zip(node, other, strict=True))


@settings(max_examples=75)
@given(conditions())
def test_the_condition_is_known_at_every_node_and_asked_at_few(condition):
    sizes, begins = condition
    asked = []

    def holds(node):
        asked.append(node)
        return any(above(node, begin) for begin in begins)

    border = Border(sizes)
    found = border.find(holds)
    every = list(product(*(range(size) for size in sizes)))
    assert {node for node in every if found[node]} == {node for node in every if holds(node)}
    assert border.n_tested == len(asked) - len(every)
    assert len(set(asked[: border.n_tested])) == border.n_tested <= len(every)
    assert border.share_known == 1
    smallest = {one for one in begins if not any(one != other and above(one, other) for other in begins)}
    assert set(lowest(found)) == smallest


def test_half_of_a_chain_is_ruled_out_by_one_answer():
    border = Border([1024])
    found = border.find(lambda node: node[0] >= 700)
    assert int(found.sum()) == 1024 - 700
    assert border.n_tested <= 11


def test_nodes_come_after_those_below_them():
    grid = np.ones((3, 2, 4), dtype=np.bool_)
    grid[1, 0, 2] = False
    nodes = list(upwards(grid))
    assert len(nodes) == len(set(nodes)) == grid.size - 1
    place = {node: number for number, node in enumerate(nodes)}
    for node, other in product(nodes, nodes):
        assert node == other or not above(node, other) or place[node] > place[other]
