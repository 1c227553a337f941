"""Random partitions: how many there are by size, and mixing tables of zeros and ones.

To draw a partition of n rows into blocks uniformly, the size of the block of the first row left is drawn in proportion
to how many partitions go on with it. Their numbers grow like n!, so everything is kept as a logarithm.

- `log_count` float (n + 1,): entry i is log(B(i) / i!), B(i) the number of partitions of i rows.
- `log_factorial` float (most + 1,): entry j is log((j - 1)!), 0 for j = 0.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Bools, Floats, Int64
from anoncore.kernels.compiler import kernel


@kernel
def log_partitions(n: int, least: int, most: int) -> tuple[Floats, Floats]:
    """`log_count` and `log_factorial` for blocks of `least` to `most` rows.

    The block of the first row has j rows, of which j - 1 are chosen among the others: B(i) = sum over j of
    C(i - 1, j - 1) B(i - j). Divided by i! that is (1 / i) sum over j of B(i - j) / (i - j)! / (j - 1)!.
    """
    log_factorial = np.zeros(most + 1)
    for j in range(2, most + 1):
        log_factorial[j] = log_factorial[j - 1] + np.log(j - 1.0)
    log_count = np.full(n + 1, -np.inf)
    log_count[0] = 0.0
    for i in range(1, n + 1):
        # The largest term is taken out of the sum, so that no exponential overflows and the largest is exactly 1.
        highest = -np.inf
        for j in range(least, min(most, i) + 1):
            highest = max(highest, log_count[i - j] - log_factorial[j])
        if highest == -np.inf:
            continue
        total = 0.0
        for j in range(least, min(most, i) + 1):
            total += np.exp(log_count[i - j] - log_factorial[j] - highest)
        log_count[i] = highest + np.log(total) - np.log(i + 0.0)
    return log_count, log_factorial


@kernel
def random_sizes(log_count: Floats, log_factorial: Floats, least: int, chance: Floats) -> Int64:
    """Sizes of the blocks of a partition drawn uniformly, int64; `chance` float in [0, 1), one number per block."""
    left = len(log_count) - 1
    most = len(log_factorial) - 1
    sizes = np.empty(left // least, np.int64)
    n_blocks = 0
    while left > 0:
        target = chance[n_blocks]
        total, chosen = 0.0, 0
        for j in range(least, min(most, left) + 1):
            share = np.exp(log_count[left - j] - log_factorial[j] - log_count[left] - np.log(left + 0.0))
            if share > 0:
                chosen = j
                total += share
                if total > target:
                    break
        sizes[n_blocks] = chosen
        n_blocks += 1
        left -= chosen
    return sizes[:n_blocks]


@kernel
def mix(table: Bools, trials: int, seed: int) -> None:
    """Exchange random 2 x 2 checkerboards of the table, bool (n_rows, n_columns), in place: its sums stay.

    A checkerboard is two lines and two columns with ones at two opposite corners and zeros at the others; exchanging
    them changes no sum of a line or a column. Enough trials make every table with these sums about equally likely.
    """
    np.random.seed(seed)  # noqa: NPY002  (the compiled generator, which has no other form)
    n_rows, n_columns = table.shape
    for _ in range(trials):
        a, b = np.random.randint(0, n_rows), np.random.randint(0, n_rows)  # noqa: NPY002
        c, d = np.random.randint(0, n_columns), np.random.randint(0, n_columns)  # noqa: NPY002
        if table[a, c] and table[b, d] and not table[a, d] and not table[b, c]:
            table[a, c] = table[b, d] = False
            table[a, d] = table[b, c] = True
