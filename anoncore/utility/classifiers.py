"""The classifiers that judge a release, and how published cells become their features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from anoncore.base.extras import imported
from anoncore.kernels.arrays import Codes, Floats, Int32, Int64
from anoncore.kernels.decision_tree import BEGIN, END, grow, leaves_of, prune
from anoncore.table.domain import Domain, Kind
from anoncore.table.microdata import Microdata

Features = npt.NDArray[Any]
"""Cells of some rows as numbers, (n, number of features): int32 codes, or float32 coordinates."""
NEIGHBOURS = 5
"""Rows that vote, at least, for the nearest neighbours."""
SMALLEST_LEAF = 5
"""Rows of the smallest leaf of a tree."""
LARGEST_KEY = 2**31 - 1
"""Largest code together with its class that fits into 32 bits."""
FREQUENCY_BINS = 20
"""Bins of about equal frequency into which naive Bayes cuts numbers."""


@dataclass(frozen=True, eq=False)
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
    (minimum description length, in the place of C4.5's pessimistic error estimate). It is the tree that scikit-learn
    grows and prunes, down to which of several equally good splits is taken.
    """

    title = "decision tree"

    def features(self, table: Mapping[str, Bounds]) -> Features:
        """Codes of the bounds."""
        return np.stack([side for bounds in table.values() for side in bounds.sides], axis=1)

    def train(self, features: Features, labels: Codes, table: Mapping[str, Bounds], seed: int) -> Any:
        """A pruned tree."""
        return _GrownTree.of(features, labels, seed)


@dataclass(frozen=True, eq=False)
class _GrownTree:
    """A pruned tree (see `kernels.decision_tree`), the classes, and their shares in each leaf, (n_leaves, n_classes).

    `leaf` is the number of each node among the leaves.
    """

    nodes: Int32
    leaf: Int64
    shares: Floats
    classes_: Codes

    @classmethod
    def of(cls, features: Features, labels: Codes, seed: int) -> _GrownTree:
        n = len(labels)
        classes, label = _numbered(labels)
        bits = int(len(classes) - 1).bit_length()
        largest = int(features.max()) << bits
        width = np.int32 if largest <= LARGEST_KEY - (1 << bits) else np.int64
        codes: npt.NDArray[Any] = features.T.astype(width, order="C")
        keys = (codes << bits) + label.astype(codes.dtype)
        rows = np.arange(n, dtype=np.int32)
        extents = np.stack([codes.min(axis=1), codes.max(axis=1)], axis=1).astype(np.int32)
        counts = np.arange(n + 1, dtype=np.float64)
        products = counts * np.log2(np.maximum(counts, 1))
        # The seed that scikit-learn draws for a tree of this random state.
        state = np.random.RandomState(seed).randint(0, 2**31 - 1)
        nodes, entropy = grow(keys, rows, len(classes), bits, extents, SMALLEST_LEAF, products, state)
        is_leaf = prune(nodes, entropy, float(np.log2(n)) / n)
        sizes = (nodes[:, END] - nodes[:, BEGIN])[is_leaf]
        # The slices of the leaves follow each other in the order of the rows.
        of_row = np.repeat(np.arange(len(sizes)), sizes)
        found = np.bincount(of_row * len(classes) + label[rows], minlength=len(sizes) * len(classes))
        return cls(nodes, np.cumsum(is_leaf) - 1, found.reshape(len(sizes), len(classes)) / sizes[:, None], classes)

    def predict_proba(self, features: Features) -> Floats:
        """Shares of the classes in the leaf of each row, (n, number of classes)."""
        return self.shares[self.leaf[leaves_of(self.nodes, features)]]


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


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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
