"""What the papers define, counted plainly: from the original table and the published groups alone.

These are the oracles of the book. They take a table of values and the group of every row, and nothing that the library
made of them: no codes, histograms or matrices.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations, product
from math import fsum

import numpy as np
import numpy.typing as npt
import pandas as pd

Numbers = npt.NDArray[np.float64]
Columns = Sequence[Sequence[str]]
SAME = "none: equality with what is counted, to 1e-9"
"""The least effect of a statement about exact numbers: a difference of any size."""


def members(groups: Sequence[int]) -> list[list[int]]:
    """The rows of every group."""
    found: dict[int, list[int]] = defaultdict(list)
    for row, group in enumerate(groups):
        found[int(group)].append(row)
    return [found[group] for group in sorted(found)]


def posterior(
    frame: pd.DataFrame, groups: Sequence[int], columns: Columns, secret: str, values: Sequence[object] = ()
) -> Numbers:
    """p(t, s) of the slicing paper, section 3.2, (rows, values), bucket by bucket; `values` sorted if not given."""
    values = list(values) or sorted(frame[secret].unique())
    cells = [_cells(frame, [name for name in column if name != secret]) for column in columns]
    of_secret = next(number for number, column in enumerate(columns) if secret in column)
    secrets, buckets = frame[secret].tolist(), members(groups)
    found = np.zeros((len(frame), len(values)))
    for t in range(len(frame)):
        total = 0.0
        for bucket in buckets:
            matching = float(np.prod([np.mean([own[row] == own[t] for row in bucket]) for own in cells]))
            if matching > 0:
                total += matching
                alike = Counter(secrets[row] for row in bucket if cells[of_secret][row] == cells[of_secret][t])
                for value, count in alike.items():
                    found[t, values.index(value)] += matching * count / alike.total()
        found[t] /= total
    return found


def matches(frame: pd.DataFrame, groups: Sequence[int], columns: Columns) -> tuple[list[int], Counter[object]]:
    """Section 5 of the slicing paper: matching buckets of every row, and of every tuple that any bucket can make."""
    cells = [_cells(frame, column) for column in columns]
    made: Counter[object] = Counter()
    for bucket in members(groups):
        made.update(product(*({own[row] for row in bucket} for own in cells)))
    rows = list(zip(*cells, strict=True))
    return [made[row] for row in rows], Counter({one: count for one, count in made.items() if one not in set(rows)})


def pair_matches(
    frame: pd.DataFrame, groups: npt.NDArray[np.int64], columns: Columns
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """`matches` of two columns and many rows: matching buckets of every row, and of every fake tuple."""
    one, other = (frame.groupby(list(column), observed=True).ngroup().to_numpy() for column in columns)
    pairs = one * (other.max() + 1) + other
    keys = []
    for bucket in np.split(np.argsort(groups, kind="stable"), np.flatnonzero(np.diff(np.sort(groups))) + 1):
        left, right = np.unique(one[bucket]), np.unique(other[bucket])
        keys.append((left[:, None] * (other.max() + 1) + right).ravel())
    made, buckets = np.unique(np.concatenate(keys), return_counts=True)
    is_real = np.isin(made, pairs)
    return buckets[np.searchsorted(made, pairs)], buckets[~is_real]


def _cells(frame: pd.DataFrame, names: Iterable[str]) -> list[tuple[object, ...]]:
    return list(map(tuple, frame[list(names)].astype(object).to_numpy()))


def phi_squared(one: pd.Series, other: pd.Series, intervals: int = 10) -> float:
    """The mean-square contingency coefficient of section 4.1; numbers in intervals of equal width."""
    one, other = (_in_intervals(part.reset_index(drop=True), intervals) for part in (one, other))
    joint = pd.crosstab(one, other, normalize=True).to_numpy()
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float(((joint - expected) ** 2 / expected).sum() / (min(joint.shape) - 1))


def _in_intervals(values: pd.Series, number: int) -> pd.Series:
    if values.dtype.kind not in "if":
        return values
    above, width = values - values.min(), values.max() - values.min()
    return (above * number // width).clip(upper=number - 1)


def two_way(shown: pd.DataFrame, original: pd.DataFrame, names: Sequence[str]) -> float:
    """Half the sum of the differences of the shares of all pairs of values, on average over the pairs of attributes."""
    apart = []
    for pair in combinations(names, 2):
        both = [frame.value_counts(list(pair), normalize=True) for frame in (shown, original)]
        apart.append(both[0].sub(both[1], fill_value=0).abs().sum() / 2)
    return float(np.mean(apart))


def worlds(shares: Sequence[float], n: int) -> list[tuple[tuple[int, ...], float]]:
    """Every choice of n people who have x, and its weight."""
    found = []
    for chosen in combinations(range(len(shares)), n):
        has = [person in chosen for person in range(len(shares))]
        weight = np.prod([f if own else 1 - f for f, own in zip(shares, has, strict=True)])
        found.append((chosen, float(weight)))
    return found


def beliefs(shares: Sequence[float], n: int) -> Numbers:
    """p(t:x) of every person of a group, from all its worlds; n / N where no world is possible.

    Whoever has the same share has the same probability to the last digit, whatever the order of the people.
    """
    ranked = sorted(shares)
    every = worlds(ranked, n)
    total = fsum(weight for _, weight in every)
    if total == 0:
        return np.full(len(shares), n / len(shares))
    of_share = {
        share: fsum(weight for some, weight in every if ranked.index(share) in some) / total for share in set(ranked)
    }
    return np.array([of_share[share] for share in shares])


def learned(
    signatures: Sequence[object], groups: Sequence[int], has_x: Sequence[bool], frequent: Iterable[object], fixed: float
) -> dict[object, float]:
    """The shares p(s:x) that equation 4 of the foreground paper leaves as they are, reached step by step from `fixed`.

    Only the number of people with x in each group is read of `has_x`, which is what a release tells.
    """
    buckets = members(groups)
    counts = [sum(has_x[row] for row in bucket) for bucket in buckets]
    rows = Counter(signatures)
    shares = dict.fromkeys(frequent, fixed)
    for _ in range(5_000):
        expected: dict[object, list[float]] = {signature: [] for signature in shares}
        for bucket, n in zip(buckets, counts, strict=True):
            for row, p in zip(bucket, beliefs([shares.get(signatures[row], fixed) for row in bucket], n), strict=True):
                if signatures[row] in expected:
                    expected[signatures[row]].append(float(p))
        # The sum does not depend on the order, so that signatures which nothing tells apart stay equal.
        new = {signature: fsum(expected[signature]) / rows[signature] for signature in shares}
        change = max(abs(new[signature] - shares[signature]) for signature in shares)
        shares = new
        if change < 1e-10:
            break
    return shares


def single_beliefs(odds: Numbers, groups: npt.NDArray[np.int64], has_x: npt.NDArray[np.bool_]) -> Numbers:
    """p(t:x) where no group has more than one person with x: the odds over those of the group, 0 where nobody has."""
    total, n = np.bincount(groups, weights=odds), np.bincount(groups, weights=has_x)
    if n.max() > 1:
        raise ValueError("A group has several people with x.")
    return np.asarray(n[groups] * odds / total[groups])


def ordered_distance(values: pd.Series, groups: Sequence[int] | npt.NDArray[np.int32], evenly: bool = False) -> Numbers:
    """The distance of every group from the table by section 3.6 of the dissertation.

    Neighbouring values that occur are 1 / (m - 1) apart; with `evenly` as far apart as the values are, as a share of
    the distance of the least and the largest.
    """
    levels, place = np.unique(values.to_numpy(), return_inverse=True)
    group = np.unique(groups, return_inverse=True)[1]
    shape = (int(group.max()) + 1, len(levels))
    table = np.bincount(group * len(levels) + place, minlength=shape[0] * shape[1]).reshape(shape)
    if len(levels) == 1:
        return np.zeros(len(table))
    step = np.diff(levels) / (levels[-1] - levels[0]) if evenly else np.full(len(levels) - 1, 1 / (len(levels) - 1))
    shares = table / table.sum(axis=1, keepdims=True)
    moved = np.abs(np.cumsum(shares - table.sum(axis=0) / table.sum(), axis=1))[:, :-1]
    return np.asarray(moved @ step)


def cell_loss(frame: pd.DataFrame, groups: Sequence[int], names: Sequence[str]) -> float:
    """How much of its domain a generalized cell covers on average: of a number its range, of others their values."""
    losses = []
    for name in names:
        by_group, column = frame[name].groupby(np.asarray(groups)), frame[name]
        if column.dtype.kind in "if":
            covered = (by_group.max() - by_group.min()) / (column.max() - column.min())
        else:
            covered = (by_group.nunique() - 1) / (column.nunique() - 1)
        losses.append(float((covered * by_group.size()).sum() / len(frame)))
    return float(np.mean(losses))


def end_bound(places: npt.NDArray[np.int64], fragments: npt.NDArray[np.int64], values: int) -> float:
    """The aggregate bound of section 4.3 of the dissertation: in every fragment all mass moves to the farther end.

    `places` (rows,): position of each row's value among the `values` of the attribute; `fragments`: that of each row.
    """
    if values == 1:
        return 0.0
    total = 0.0
    for fragment in np.unique(fragments):
        position = places[fragments == fragment]
        total += max((position - position.min()).sum(), (position.max() - position).sum())
    return total / len(places) / (values - 1)
