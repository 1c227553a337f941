"""Bounds on what is believed of the people in a sliced table, over everybody who fits its buckets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from anoncore.attacks.posterior import bucket_factors, bucket_posterior
from anoncore.base.errors import ReleaseError
from anoncore.kernels.arrays import Floats, Int64
from anoncore.privacy.published import Cells, published_key
from anoncore.release.release import Release

MOST_PEOPLE = 1_000_000
"""People who fit the buckets, above whom nothing is bounded."""
AT_ONCE = 50_000
"""People, at least, who are listed together."""
BELIEFS_AT_ONCE = 10_000_000
"""Beliefs, in whatever value, that are computed together."""


@dataclass(frozen=True)
class Bounds:
    """What is known of the smallest level of anyone in the table: at least `low`, at most `high`."""

    low: float
    high: float


def level_bounds(release: Release, attribute: str, level: Callable[[Floats], Floats]) -> Bounds | None:
    """Bounds of the smallest level of anyone in the table, by the published columns; None where too many people fit.

    `level` gives a number for each row of p(t, s), float (n, m) -> float (n,). The people who fit a bucket are all
    combinations of what its columns show. The people of the table are among them, so nobody is below the smallest level
    of all who fit. Each cell of each column belongs to somebody, who has at most the largest level of those who share
    the cell; the smallest of these largest levels is therefore an upper bound. Raises ReleaseError for columns that
    share attributes.
    """
    factors = bucket_factors(release, attribute)
    if any(factor.power < 0 for factor in factors):
        raise ReleaseError("Some columns of this release share attributes; who fits such columns is not counted.")
    keys = [published_key(factor.fragment, factor.known) for factor in factors]
    cells = [Cells.of(release.partition, key) for key in keys]
    borders = [shown.starts for shown in cells]
    n_people = np.prod([np.diff(border).astype(np.float64) for border in borders], axis=0)
    if n_people.sum() > MOST_PEOPLE:
        return None
    # The highest level that the person behind each cell can have, as far as the cell alone tells.
    best = [np.full(len(shown), -np.inf) for shown in cells]
    low, step = np.inf, max(1, BELIEFS_AT_ONCE // len(release.data.domain[attribute]))
    for people in _combinations(borders, n_people):
        signatures = np.column_stack([shown.value[people[:, column]] for column, shown in enumerate(cells)])
        beliefs = bucket_posterior(release, attribute, factors, keys, np.arange(len(people)), signatures)
        parts = [slice(begin, begin + step) for begin in range(0, len(people), step)]
        levels = np.concatenate([level(beliefs.dense(part)) for part in parts])
        low = min(low, float(levels.min()))
        for column, owner in enumerate(best):
            np.maximum.at(owner, people[:, column], levels)
    return Bounds(low, min(float(owner.min()) for owner in best))


def _combinations(borders: list[Int64], n_people: Floats) -> Iterator[Int64]:
    """The cells of everybody who fits some bucket, int64 (n, n_factors), in batches of several whole buckets."""
    waiting: list[Int64] = []
    size = 0
    for bucket in range(len(n_people)):
        ranges = [np.arange(border[bucket], border[bucket + 1]) for border in borders]
        waiting.append(np.stack([axis.ravel() for axis in np.meshgrid(*ranges, indexing="ij")], axis=1))
        size += len(waiting[-1])
        if size >= AT_ONCE:
            yield np.concatenate(waiting)
            waiting, size = [], 0
    if waiting:
        yield np.concatenate(waiting)
