"""How well a reader learns from published rows, by scikit-learn's tree and by plain naive Bayes: an oracle of the book.

It takes the original table, the published groups and the columns that were kept together, and nothing that the library
made of them. Rows are linked and parts are held out by random numbers of its own, so that it comes near what the
library measures, but not to the last digit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

Ranks = npt.NDArray[np.int64]
Cells = dict[str, tuple[Ranks, Ranks]]
"""Lowest and highest rank of each cell, by attribute; the same where the cell is exact."""
FOLDS = 3
SMALLEST_LEAF = 5
BINS = 20
"""Bins of about equal frequency into which naive Bayes cuts numbers of more values."""


def accuracy(
    frame: pd.DataFrame,
    groups: npt.NDArray[np.int64],
    columns: Sequence[Sequence[str]] | None,
    target: str,
    classifier: str,
    orders: Mapping[str, Sequence[object]],
) -> float:
    """Share of the held-out original rows whose target a classifier from the published rows predicts right.

    Without `columns` every attribute but the sensitive one, which is the last of the table, was generalized: a cell is
    the range of its group. `orders` are the orders of categories that have one.
    """
    rng = np.random.default_rng(0)
    ranks = {name: _ranks(frame[name], orders.get(name)) for name in frame.columns}
    published = _linked(ranks, groups, columns, rng) if columns else _generalized(ranks, groups, frame.columns[-1])
    low, high = published.pop(target)
    label = low + (rng.random(len(frame)) * (high - low + 1)).astype(np.int64)
    exact = {name: (ranks[name], ranks[name]) for name in published}
    numbers = {name for name in published if pd.api.types.is_numeric_dtype(frame[name])}
    right = 0
    for kept, left in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(label, ranks[target]):
        learned = {name: (low[kept], high[kept]) for name, (low, high) in published.items()}
        asked = {name: (low[left], high[left]) for name, (low, high) in exact.items()}
        if classifier == "tree":
            guessed = _by_tree(learned, label[kept], asked)
        else:
            bins = {name: _bins(ranks[name], name in numbers) for name in published}
            guessed = _by_naive_bayes(learned, label[kept], asked, bins)
        right += int((guessed == ranks[target][left]).sum())
    return right / len(frame)


def _ranks(values: pd.Series, order: Sequence[object] | None) -> Ranks:
    if order is not None:
        return values.map({value: rank for rank, value in enumerate(order)}).to_numpy(np.int64)
    return np.unique(values.to_numpy(), return_inverse=True)[1].astype(np.int64)


def _linked(
    ranks: Mapping[str, Ranks],
    groups: npt.NDArray[np.int64],
    columns: Sequence[Sequence[str]],
    rng: np.random.Generator,
) -> Cells:
    """The columns after the first in random order inside each group."""
    in_place = np.argsort(groups, kind="stable")
    cells = {}
    for number, column in enumerate(columns):
        taken = np.empty_like(in_place)
        taken[in_place] = in_place if number == 0 else np.lexsort([rng.random(len(groups)), groups])
        cells |= {name: (ranks[name][taken], ranks[name][taken]) for name in column}
    return {name: cells[name] for name in ranks}


def _generalized(ranks: Mapping[str, Ranks], groups: npt.NDArray[np.int64], secret: str) -> Cells:
    """The range of its group for every cell but the secret."""
    of_group = pd.DataFrame(ranks).groupby(groups)
    ranges = {name: (of_group[name].transform("min"), of_group[name].transform("max")) for name in ranks}
    found = {name: (low.to_numpy(), high.to_numpy()) for name, (low, high) in ranges.items()}
    return found | {secret: (ranks[secret], ranks[secret])}


def _by_tree(learned: Cells, label: Ranks, asked: Cells) -> Ranks:
    """A tree over both ends of every cell; a split that saves less than log2(n) bits is cut off again."""
    n = len(label)
    tree = DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=SMALLEST_LEAF, ccp_alpha=np.log2(n) / n, random_state=0
    )
    wide = [name for name, (low, high) in learned.items() if (low < high).any()]

    def features(cells: Cells) -> npt.NDArray[np.int64]:
        return np.column_stack([low for low, _ in cells.values()] + [cells[name][1] for name in wide])

    found: Ranks = tree.fit(features(learned), label).predict(features(asked))
    return found


def _bins(ranks: Ranks, is_number: bool) -> Ranks:
    """Bin of each rank: numbers of many values by about equal frequency, everything else as it is."""
    values = int(ranks.max()) + 1
    if not is_number or values <= BINS:
        return np.arange(values)
    ordered = np.sort(ranks)
    return np.unique(np.searchsorted(ordered, np.arange(values)) * BINS // len(ranks), return_inverse=True)[1]


def _by_naive_bayes(learned: Cells, label: Ranks, asked: Cells, bins: Mapping[str, Ranks]) -> Ranks:
    """Counts with Laplace's correction; a range counts in equal parts for every value in it."""
    classes, of_row = np.unique(label, return_inverse=True)
    sizes = np.bincount(of_row)
    score = np.tile(np.log(sizes / sizes.sum()), (len(next(iter(asked.values()))[0]), 1))
    for name, (low, high) in learned.items():
        bin_of = bins[name]
        steps = np.zeros((len(classes), len(bin_of) + 1))
        np.add.at(steps, (of_row, low), 1 / (high - low + 1))
        np.add.at(steps, (of_row, high + 1), -1 / (high - low + 1))
        counts = np.zeros((len(classes), bin_of.max() + 1))
        np.add.at(counts.T, bin_of, steps.cumsum(axis=1)[:, :-1].T)
        share = np.log((counts + 1) / (sizes[:, None] + counts.shape[1]))
        score += share[:, bin_of[asked[name][0]]].T
    found: Ranks = classes[score.argmax(axis=1)]
    return found
