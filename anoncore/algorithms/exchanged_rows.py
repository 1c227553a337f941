"""Refinement of buckets: rows of equal sensitive values change places, so that a reader expects what is true."""

from __future__ import annotations

import numpy as np

from anoncore.base.progress import Progress
from anoncore.kernels.arrays import Codes, Int64
from anoncore.kernels.exchanging import Pairs, exchange_rows, expect
from anoncore.release.partition import Partition
from anoncore.table.keys import occurring_pairs
from anoncore.table.microdata import Microdata

MOST_ROUNDS = 60
"""Exchanges that are tried for every row at most."""
LEAST_GAINED = 2e-4
"""Share of the rows, as a mean over the attributes, that a round must bring right for another one to follow."""


def exchanged(
    data: Microdata, partition: Partition, attribute: str, rng: np.random.Generator, progress: Progress
) -> Partition:
    """The buckets after rows of equal sensitive values have changed places, which lowers the two-way error.

    All values of a bucket stay as they are but those of the quasi-identifiers, so that whatever its sensitive values
    promise is kept. In each round an exchange with a random row of the same sensitive value is tried for every row; it
    stays where the joint frequencies of the quasi-identifiers and the sensitive attribute, as a reader expects them,
    come nearer to the table's. Rounds are repeated until they bring next to nothing.
    """
    ordered = data.canonical_order[rng.permutation(data.n_rows)]
    row = ordered[np.argsort(partition.group[ordered], kind="stable")]
    codes = np.column_stack([data.codes[name] for name in data.quasi_identifiers])
    sensitive = data.codes[attribute]
    pairs = _pairs(data, codes, sensitive)
    value, bucket, starts = sensitive[row], partition.group[row], partition.starts.astype(np.int64)
    before, first = expect(pairs, codes, starts, value, row), row.copy()
    enough = LEAST_GAINED * codes.size
    for number in range(MOST_ROUNDS):
        progress(number / MOST_ROUNDS, f"Exchanging rows of equal values, round {number + 1}")
        if exchange_rows(pairs, codes, starts, value, bucket, row, _partners(value, rng)) <= enough:
            break
    # The sums were kept from exchange to exchange; what is published is judged by sums made anew.
    if expect(pairs, codes, starts, value, row) <= before:
        row = first
    group = np.empty(data.n_rows, dtype=np.int32)
    group[row] = bucket
    return Partition(group)


def _partners(value: Codes, rng: np.random.Generator) -> Int64:
    """For every place another one with the same value, at random, int64 (n_rows,)."""
    partner = np.empty(len(value), dtype=np.int64)
    by_value = np.argsort(value, kind="stable")
    shuffled = rng.permutation(len(value))
    partner[by_value] = shuffled[np.argsort(value[shuffled], kind="stable")]
    return partner


def _pairs(data: Microdata, codes: Codes, sensitive: Codes) -> Pairs:
    """The pairs of a value of a quasi-identifier and a sensitive value that occur, and how often."""
    size = int(sensitive.max()) + 1
    sizes = [len(data.domain[name]) for name in data.quasi_identifiers]
    begin = np.cumsum([0, *sizes]).astype(np.int64)
    found = [occurring_pairs(codes[:, a], sensitive, sizes[a], size) for a in range(codes.shape[1])]
    number = np.concatenate([begin[a] + one for a, (one, _, _) in enumerate(found)])
    true = np.concatenate([counts for _, _, counts in found]).astype(np.float64)
    start = np.searchsorted(number, np.arange(begin[-1] + 1)).astype(np.int64)
    value = np.concatenate([other for _, other, _ in found]).astype(np.int32)
    return Pairs(begin[:-1], start, value, true, np.zeros(len(true)))
