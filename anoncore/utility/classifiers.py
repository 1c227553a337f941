"""The classifiers that judge a release, and how published cells become their features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from anoncore.base.extras import imported
from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.kernels.grouping import dense_key, first_rows
from anoncore.table.domain import Domain, Kind
from anoncore.table.microdata import Microdata

Features = npt.NDArray[Any]
"""Cells of some rows as numbers, (n, number of features): int32 codes, or float32 coordinates."""
NEIGHBOURS = 5
"""Rows that vote, at least, for the nearest neighbours."""
FEW_ALIKE = 0.8
"""Share of the rows that differ from which on a tree learns from all rows one by one."""
SMALLEST_LEAF = 5
"""Rows of the smallest leaf of a tree."""
FREQUENCY_BINS = 20
"""Bins of about equal frequency into which naive Bayes cuts numbers."""


@record
class Bounds:
    """Cells of one attribute: lowest and highest code, int32 (n,).

    `single` cells have one feature instead of two: the attribute is exact where the classifier learns.
    """

    low: Codes
    high: Codes
    single: bool

    @property
    def sides(self) -> tuple[Codes, ...]:
        """The codes that become features."""
        return (self.low,) if self.single else (self.low, self.high)


class Classifier(ABC):
    """One way to learn a class from cells of some attributes of `data`."""

    title: ClassVar[str]

    def __init__(self, data: Microdata) -> None:
        self.data = data

    @abstractmethod
    def features(self, table: Mapping[str, Bounds]) -> Features:
        """The cells of some rows as the numbers from which the classifier learns."""

    @abstractmethod
    def train(self, features: Features, labels: Codes, table: Mapping[str, Bounds], seed: int) -> Any:
        """A model with `classes_` and `predict_proba`; `table` says from which attributes the features came."""


class Tree(Classifier):
    """A decision tree in the manner of C4.5: entropy, binary splits of the attributes' order, pruned.

    Bounds enter as codes, which keep the attribute's order (categories without one: the order of the domain). A leaf
    has at least 5 rows; a split stays if it saves log2(n) bits on the n training rows, the cost of describing it
    (minimum description length, in the place of C4.5's pessimistic error estimate). scikit-learn grows and prunes it.
    """

    title = "decision tree"

    def features(self, table: Mapping[str, Bounds]) -> Features:
        """Codes of the bounds."""
        return np.stack([side for bounds in table.values() for side in bounds.sides], axis=1)

    def train(self, features: Features, labels: Codes, table: Mapping[str, Bounds], seed: int) -> Any:
        """A pruned tree."""
        trees = imported("sklearn.tree", "The classifier tree")
        cost = float(np.log2(len(labels))) / len(labels)
        settings: dict[str, Any] = {"criterion": "entropy", "random_state": seed}
        first, times = different_rows(features, labels)
        if len(first) > FEW_ALIKE * len(labels) or len(labels) < 2 * SMALLEST_LEAF:
            grown = trees.DecisionTreeClassifier(**settings, min_samples_leaf=SMALLEST_LEAF).fit(features, labels)
        else:
            # Rows that are alike enter once, with their number as a weight: the same tree from fewer rows. A leaf has a
            # quarter of a row less than it may have, so that rounding refuses none.
            settings["min_weight_fraction_leaf"] = (SMALLEST_LEAF - 0.25) / len(labels)
            tree = trees.DecisionTreeClassifier(**settings)
            grown = tree.fit(features[first], labels[first], sample_weight=times)
        return PrunedTree(grown, *pruned(grown.tree_, cost))


@record
class PrunedTree:
    """A tree of scikit-learn whose nodes predict as the node does to which they were pruned, int64 (n_nodes,).

    `classes_` and `predict_proba` are those of scikit-learn.
    """

    grown: Any
    predicting: Int64
    shares: Floats

    @property
    def classes_(self) -> Codes:
        """The classes, ascending."""
        found: Codes = self.grown.classes_
        return found

    def predict_proba(self, features: Features) -> Floats:
        """Shares of the classes in the leaf of each row, float (n, n_classes)."""
        return self.shares[self.predicting[self.grown.apply(features)]]


def different_rows(features: Features, labels: Codes) -> tuple[Int64, Int64]:
    """The first of the rows that agree in features and label, int64 (n_different,), and how many rows do."""
    number = dense_key([*features.T, labels], len(labels))
    return first_rows(number), np.bincount(number)


def pruned(tree: Any, cost: float) -> tuple[Int64, Floats]:
    """The node that predicts for each node of a tree, and the shares of the classes in each.

    A branch stays if what its leaves are purer by, as a share of all rows, exceeds `cost` for each leaf that it adds.
    That is minimal cost-complexity pruning as scikit-learn does it with `ccp_alpha` (Breiman et al., Classification and
    Regression Trees, 1984, section 3.3), in time linear in the nodes instead of their number times that of cuts.
    """
    left, right = tree.children_left, tree.children_right
    alone = tree.weighted_n_node_samples * tree.impurity / tree.weighted_n_node_samples[0] + cost
    levels = [np.zeros(1, np.int64)]
    while len(inner := levels[-1][left[levels[-1]] >= 0]):
        levels.append(np.concatenate((left[inner], right[inner])))
    least, predicting = alone.copy(), np.arange(len(left))
    for level in reversed(levels):
        inner = level[left[level] >= 0]
        of_branch = least[left[inner]] + least[right[inner]]
        stays = of_branch < alone[inner]
        least[inner[stays]] = of_branch[stays]
        predicting[inner[stays]] = -1
    for level in levels:
        inner = level[left[level] >= 0]
        for child in (left[inner], right[inner]):
            # Below a node that predicts, so does that node.
            is_cut = predicting[inner] >= 0
            predicting[child[is_cut]] = predicting[inner[is_cut]]
    return predicting, tree.value[:, 0, :] / tree.value[:, 0, :].sum(axis=1, keepdims=True)


def _numbered(labels: Codes) -> tuple[Codes, Int64]:
    """The classes that occur, ascending, and the number of each row's class among them."""
    occurs = np.bincount(labels) > 0
    return np.flatnonzero(occurs).astype(np.int32), (np.cumsum(occurs) - 1)[labels]


class NaiveBayes(Classifier):
    """Naive Bayes over categories with Laplace's correction; numbers are cut into 20 bins of about equal frequency.

    A row counts in equal parts for every value from its lower to its upper bound: were the two bounds categories of
    their own, a value that is only ever inside regions would be unseen in each class and speak for the rarest one.
    """

    title = "naive Bayes"

    def features(self, table: Mapping[str, Bounds]) -> Features:
        """Codes of both bounds."""
        sides = [side for bounds in table.values() for side in (bounds.low, bounds.high)]
        return np.stack(sides, axis=1)

    def train(self, features: Features, labels: Codes, table: Mapping[str, Bounds], seed: int) -> Any:
        """Logarithms of class shares and of each value's share in each class."""
        classes, label = _numbered(labels)
        sizes = np.bincount(label)
        columns = []
        for number, name in enumerate(table):
            low, high = features[:, 2 * number].astype(np.int64), features[:, 2 * number + 1].astype(np.int64)
            size = len(self.data.domain[name])
            if table[name].single:
                keys = np.bincount(label * size + low, minlength=len(classes) * size)
                counts = keys.reshape(len(classes), size).astype(np.float64)
            else:
                counts = _spread_counts(low, high, label, len(classes), size)
            category = self._category(name)
            binned = np.stack([np.bincount(category, weights=line) for line in counts])
            share = (binned + 1) / (sizes[:, None] + binned.shape[1])
            columns.append(np.log(share.T[category]))
        return _ValueShares(classes, np.log(sizes / sizes.sum()), tuple(columns))

    def _category(self, name: str) -> Int64:
        """Category of each code, (domain size,)."""
        domain = self.data.domain[name]
        if domain.kind is not Kind.NUMERIC or len(domain) <= FREQUENCY_BINS:
            return np.arange(len(domain))
        counts = np.bincount(self.data.codes[name], minlength=len(domain))
        before = np.cumsum(counts) - counts
        return np.unique(before * FREQUENCY_BINS // self.data.n_rows, return_inverse=True)[1]


@record
class _ValueShares:
    """`share[a]` (domain size, n_classes) is the logarithm of the share of each value of attribute a in each class."""

    classes_: Codes
    prior: Floats
    share: tuple[Floats, ...]

    def predict_proba(self, features: Features) -> Floats:
        """Class probabilities of exact rows, (n, number of classes)."""
        score = np.repeat(self.prior[None, :], len(features), axis=0)
        for number, share in enumerate(self.share):
            score += share[features[:, 2 * number]]
        odds = np.exp(score - score.max(axis=1, keepdims=True))
        probability: Floats = odds / odds.sum(axis=1, keepdims=True)
        return probability


def _spread_counts(low: Int64, high: Int64, label: Int64, n_classes: int, size: int) -> Floats:
    """Expected rows of each class and code when a row is spread evenly over low..high, (n_classes, size)."""
    weight = 1 / (high - low + 1)
    steps = np.bincount(label * (size + 1) + low, weights=weight, minlength=n_classes * (size + 1))
    steps -= np.bincount(label * (size + 1) + high + 1, weights=weight, minlength=n_classes * (size + 1))
    counts: Floats = np.cumsum(steps.reshape(n_classes, size + 1)[:, :-1], axis=1)
    return counts


class NearestNeighbours(Classifier):
    """The 5 nearest rows by Euclidean distance, and with each of them every row that has the same features.

    Every attribute weighs the same: numbers and ranks are scaled to 0..1, categories without order are at distance 1
    of each other; two bounds share the weight of one value.
    """

    title = "k-nearest neighbours"

    def features(self, table: Mapping[str, Bounds]) -> Features:
        """Scaled positions, or an indicator per category."""
        columns = []
        for name, bounds in table.items():
            axes = _axes(self.data.domain[name]) / np.sqrt(len(bounds.sides))
            columns += [axes.astype(np.float32)[side] for side in bounds.sides]
        return np.hstack(columns)

    def train(self, features: Features, labels: Codes, table: Mapping[str, Bounds], seed: int) -> Any:
        """The different points of feature space with their counts of each class."""
        return _Points.of(features, labels)


@record
class _Points:
    """Different points, their rows per class, and an index of the points.

    Released rows share few points, original ones repeat: looking points up instead of rows is several times faster.
    """

    counts: Int64
    classes_: Codes
    index: Any

    @classmethod
    def of(cls, features: Features, labels: Codes) -> _Points:
        neighbors = imported("sklearn.neighbors", "The classifier knn")
        first, point = _distinct(features)
        classes, label = np.unique(labels, return_inverse=True)
        counts = np.bincount(point * len(classes) + label, minlength=len(first) * len(classes))
        index = neighbors.NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(first)), algorithm="brute")
        index.fit(features[first])
        return cls(counts.reshape(len(first), len(classes)), classes, index)

    def predict_proba(self, features: Features) -> Floats:
        """Class shares of the nearest points that together have at least 5 rows, (n, number of classes)."""
        first, point = _distinct(features)
        near = self.index.kneighbors(features[first], return_distance=False)
        rows = self.counts.sum(axis=1)[near]
        needed = np.cumsum(rows, axis=1) - rows < NEIGHBOURS
        votes = (self.counts[near] * needed[:, :, None]).sum(axis=1)
        shares: Floats = votes / votes.sum(axis=1, keepdims=True)
        return shares[point]


def _distinct(features: Features) -> tuple[Int64, Int64]:
    """One row for each different line of features, and for every row the number of its line."""
    lines = np.ascontiguousarray(features).view(np.dtype((np.void, features.shape[1] * features.itemsize))).ravel()
    _, first, line = np.unique(lines, return_index=True, return_inverse=True)
    return first, line


def _axes(domain: Domain) -> Floats:
    """Coordinates of each code, (domain size, number of axes), any two values at most 1 apart."""
    if domain.kind is Kind.NOMINAL and len(domain) > 2:
        return np.eye(len(domain)) / np.sqrt(2)
    return domain.shares[:, None]


ClassifierName = Literal["tree", "naive-bayes", "knn"]
CLASSIFIERS: Mapping[ClassifierName, type[Classifier]] = MappingProxyType(
    {"tree": Tree, "naive-bayes": NaiveBayes, "knn": NearestNeighbours}
)
