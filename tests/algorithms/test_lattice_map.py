"""The map of the lattice against the whole lattice by brute force, and which of its nodes are drawn."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Hierarchy, InfeasibleError, Microdata, ReleaseError
from anoncore.algorithms import Anatomy, Incognito
from anoncore.algorithms.full_domain.incognito import Search
from anoncore.algorithms.full_domain.lattice_map import LatticeMap, lattice_map, node_facts
from anoncore.requirements import KAnonymity
from tests.algorithms.test_incognito import REQUIREMENTS, labels, loss, satisfying, tables


@pytest.mark.slow
@settings(max_examples=25)
@given(
    data=tables(),
    requirements=st.sampled_from(REQUIREMENTS),
    max_suppression=st.sampled_from([0.0, 0.2]),
)
def test_every_node_against_brute_force(data, requirements, max_suppression):
    model = Incognito(requirements=requirements, max_suppression=max_suppression)
    try:
        release = model.anonymize(data)
    except InfeasibleError:
        return
    expected, found = satisfying(model, data), lattice_map(release)
    assert found.chosen == model.search(data).levels
    assert set(found.minimal) <= set(expected)
    for node in product(*(range(top + 1) for top in found.heights)):
        assert found.height[node] == sum(node)
        assert found.loss[node] == pytest.approx(loss(data, node))
        facts = node_facts(release, node)
        assert facts.anonymous == (node in expected)
        sizes = pd.Series(labels(data, node)).value_counts()
        assert (facts.n_groups, facts.smallest) == (len(sizes), sizes.min())
        if found.is_certain:
            assert found.anonymous[node] == (node in expected)
            assert facts.loss == pytest.approx(loss(data, node))
        if node in expected:
            assert facts.suppressed == len(expected[node])
            assert facts.loss == pytest.approx(loss(data, node, expected[node]))
        else:
            assert not found.is_certain or not found.anonymous[node]
            assert facts.failing > 0


def map_with(sizes: tuple[int, ...], minimal: tuple[tuple[int, ...], ...]) -> LatticeMap:
    anonymous = np.zeros(sizes, dtype=bool)
    for node in minimal:
        anonymous[tuple(slice(level, None) for level in node)] = True
    names = tuple("abcdefgh"[: len(sizes)])
    return LatticeMap(names, np.indices(sizes).sum(axis=0) / sum(sizes), minimal[0], anonymous, minimal, True)


def test_a_small_lattice_is_drawn_whole():
    found = map_with((2, 3), ((1, 0), (0, 2)))
    assert found.excerpt() == [(0, 0), (0, 1), (1, 0), (0, 2), (1, 1), (1, 2)]
    assert found.above((0, 1)) == [(1, 1), (0, 2)]
    assert found.below((1, 2)) == [(0, 2), (1, 1)]
    every, anonymous = found.counts()
    assert every.tolist() == [1, 2, 2, 1]
    assert anonymous.tolist() == [0, 1, 2, 1]


def test_of_a_large_lattice_the_border_is_drawn():
    minimal = ((3, 0, 2, 1, 0), (0, 3, 3, 0, 1), (2, 2, 2, 2, 2))
    found = map_with((6, 6, 6, 6, 6), minimal)
    drawn = found.excerpt(100)
    assert len(drawn) == len(set(drawn)) == 100
    assert drawn[0] == (0,) * 5
    assert drawn[-1] == (5,) * 5
    for node in minimal:
        assert {node, *found.below(node)} <= set(drawn)
    assert {*found.above(minimal[0])} <= set(drawn)
    assert [sum(node) for node in drawn] == sorted(sum(node) for node in drawn)


def test_other_methods_have_no_lattice():
    data = Microdata(pd.DataFrame({"a": [1, 2], "s": ["x", "y"]}), roles={"a": "quasi-identifier", "s": "sensitive"})
    with pytest.raises(ReleaseError, match="Only a release that Incognito made"):
        lattice_map(Anatomy(l=2, seed=1).anonymize(data))
    assert node_facts(Incognito(requirements=(KAnonymity(k=2),)).anonymize(data), (1,)).n_groups == 1


def test_the_map_by_hand_needs_no_second_search(monkeypatch):
    people = pd.DataFrame({"age": [21, 22, 33, 34, 44, 58], "sex": list("ffffmm")})
    data = Microdata(
        people,
        roles={"age": "quasi-identifier", "sex": "quasi-identifier"},
        hierarchies={"age": Hierarchy.by_width(people["age"], width=10)},
    )
    model = Incognito(requirements=(KAnonymity(k=2),))
    release = model.anonymize(data)
    again = pickle.loads(pickle.dumps(release))
    searched = [lattice_map(again)]
    monkeypatch.setattr(Search, "run", lambda *_: pytest.fail("the search was made before"))
    searched.append(lattice_map(release))
    for found in searched:
        # Levels of age: values, tens, twenties, *; of sex: values, *. 44 and 58 are both men, together from 40 to 59.
        assert found.minimal == ((2, 0),)
        assert found.chosen == (2, 0)
        assert found.is_certain
        assert found.anonymous.tolist() == [[False, False], [False, False], [True, True], [True, True]]
    facts = node_facts(release, (1, 0))
    assert (facts.n_groups, facts.smallest, facts.failing, facts.suppressed, facts.anonymous) == (4, 1, 2, 2, False)
    kept = node_facts(release, (2, 0))
    assert (kept.n_groups, kept.smallest, kept.failing, kept.suppressed, kept.anonymous) == (2, 2, 0, 0, True)
