"""The compiled decision tree beside scikit-learn's: the same nodes, and the same choice among equally good splits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from anoncore.algorithms import Anatomy, Mondrian
from anoncore.base import shared_work
from anoncore.kernels.arrays import Codes, Int32
from anoncore.requirements import KAnonymity
from anoncore.utility import classification, classifiers
from anoncore.utility.classifiers import Tree
from anoncore.utility.cross_validation import released_tables
from tests.utility.releases import adult


def of_scikit_learn(features: npt.NDArray[Any], labels: Codes, seed: int) -> DecisionTreeClassifier:
    cost = float(np.log2(len(labels))) / len(labels)
    model = DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=classifiers.SMALLEST_LEAF, ccp_alpha=cost, random_state=seed
    )
    return model.fit(features, labels)


def lines(nodes: Int32, node: int = 0) -> list[tuple[int, int]]:
    """Feature and border of each split that is left after pruning, from the root down, left before right."""
    if nodes[node, 2] < 0:
        return [(-1, -1)]
    here = (int(nodes[node, 0]), int(nodes[node, 1]))
    return [here, *lines(nodes, nodes[node, 2]), *lines(nodes, nodes[node, 3])]


def assert_same(features: Int32, labels: Codes, seed: int = 0, unseen: Int32 | None = None) -> int:
    """Compare the trees node by node and their probabilities bit by bit; return the number of leaves."""
    model = Tree.__new__(Tree).train(features, labels, {}, seed)
    expected = of_scikit_learn(features, labels, seed)
    tree = expected.tree_
    splits = [
        (int(feature), int(np.floor(border))) if left >= 0 else (-1, -1)
        for feature, border, left in zip(tree.feature, tree.threshold, tree.children_left, strict=True)
    ]
    assert lines(model.nodes) == splits
    np.testing.assert_array_equal(model.classes_, expected.classes_)
    for rows in (features, unseen):
        if rows is not None:
            np.testing.assert_array_equal(model.predict_proba(rows), expected.predict_proba(rows))
    return int(expected.get_n_leaves())


@given(st.data())
@settings(max_examples=150)
def test_small_tables_full_of_ties(data: st.DataObject) -> None:
    n, width = data.draw(st.integers(1, 80)), data.draw(st.integers(1, 5))
    sizes = data.draw(st.lists(st.integers(1, 6), min_size=width, max_size=width))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    features = np.stack([rng.integers(0, size, n) for size in sizes], axis=1).astype(np.int32)
    n_classes = data.draw(st.integers(1, 4))
    labels = np.where(rng.random(n) < 0.7, features[:, 0] % n_classes, rng.integers(0, n_classes, n)).astype(np.int32)
    assert_same(features, labels, data.draw(st.integers(0, 2**32 - 1)))


@pytest.mark.parametrize("n_classes", [2, 3, 14, 100])
@pytest.mark.parametrize("largest", [3, 90, 4_000])
def test_random_tables(n_classes: int, largest: int) -> None:
    """Few and many rows with few and many codes: every way to sort and to count the rows of a node."""
    rng = np.random.default_rng(n_classes + largest)
    n = 3_000
    features = np.stack([rng.integers(0, largest, n), rng.integers(0, 5, n), rng.integers(0, 50, n) * 3], axis=1)
    labels = ((features[:, 0] * n_classes // largest + (rng.random(n) < 0.3)) % n_classes).astype(np.int32)
    unseen = rng.integers(0, largest + 10, (500, 3)).astype(np.int32)
    assert assert_same(features.astype(np.int32), labels, 3, unseen) > 1


def test_links_that_save_exactly_what_they_cost() -> None:
    """With 1,024 rows a leaf costs 10 bits: as much as it saves to part five rows of one class from five of another."""
    first = np.repeat(np.arange(52), 20)[:1024]
    second = np.tile(np.repeat([0, 1], 5), 103)[:1024]
    features = np.stack([first, second], axis=1).astype(np.int32)
    labels = np.where(first % 2 == 0, 2, second).astype(np.int32)
    for seed in range(5):
        assert_same(features, labels, seed)


@pytest.mark.slow
def test_codes_that_do_not_fit_into_32_bits_with_their_class(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    features = rng.integers(0, 30, (400, 3)).astype(np.int32)
    labels = (features[:, 0] // 10).astype(np.int32)
    labels[::7] = 0
    narrow = Tree.__new__(Tree).train(features, labels, {}, 1)
    monkeypatch.setattr(classifiers, "LARGEST_KEY", 50)
    wide = Tree.__new__(Tree).train(features, labels, {}, 1)
    np.testing.assert_array_equal(narrow.nodes, wide.nodes)
    np.testing.assert_array_equal(narrow.shares, wide.shares)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["occupation", "salary-class"])
def test_releases_of_adult(target: str) -> None:
    data = adult(["age", "education", "marital-status", "sex", "hours-per-week", "salary-class"], "occupation")
    for model in (Mondrian(requirements=[KAnonymity(k=10)]), Anatomy(l=4, seed=1)):
        (table,) = released_tables(model.anonymize(data), target, np.random.default_rng(0))
        method = Tree(data)
        features, unseen = method.features(table.cells), method.features(table.test_cells(data))
        held_out = np.arange(data.n_rows) % 10 == 0
        leaves = assert_same(features[~held_out].astype(np.int32), table.labels[~held_out], 0, unseen.astype(np.int32))
        assert leaves > 20


def test_the_whole_measure_with_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Accuracy and F of ten folds are the same where scikit-learn grows the trees."""
    data = adult(["age", "education", "sex"], "salary-class")
    release = Mondrian(requirements=[KAnonymity(k=50)]).anonymize(data)
    found = classification(release, "salary-class", folds=4)
    monkeypatch.setattr(
        Tree, "train", lambda self, features, labels, table, seed: of_scikit_learn(features, labels, seed)
    )
    shared_work._KEPT.clear()
    expected = classification(release, "salary-class", folds=4)
    assert (found.accuracy, found.weighted_f) == (expected.accuracy, expected.weighted_f)
    np.testing.assert_array_equal(found.released.confusion, expected.released.confusion)
    np.testing.assert_array_equal(found.original.confusion, expected.original.confusion)
