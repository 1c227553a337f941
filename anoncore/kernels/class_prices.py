"""Prices of rows by which known classes of k rows cost no more than they lose: a linear program, solved step by step.

The prices are as high as possible in sum while no known set of rows costs more than its `limits`. The method (PDHG,
Chambolle and Pock 2011) moves prices up where too few sets hold a row, and the share of a set in the whole up where its
rows cost too much. Every step passes over all sets twice. What it ends with is nearly right, and that is enough: prices
are lowered afterwards until they are proven.

- The rows of set s are `members[starts[s]:starts[s + 1]]`, int32, each so often as `copies` float says.
- The sets of row i are `sets[row_starts[i]:row_starts[i + 1]]`, int32, in which it is `row_copies` times.
- `amounts`, `lowest`, `highest`, `prices` float (n,): rows of the table that are alike, bounds of their price, prices.
- `limits`, `shares` float (n_sets,).
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Floats, Int32
from anoncore.kernels.compiler import kernel

BALANCE = 20.0
"""Steps of shares against steps of prices: the ratio of how far both have to go, of tables with a few values."""


@kernel
def move_prices(
    starts: Int32,
    members: Int32,
    copies: Floats,
    limits: Floats,
    row_starts: Int32,
    sets: Int32,
    row_copies: Floats,
    amounts: Floats,
    lowest: Floats,
    highest: Floats,
    prices: Floats,
    shares: Floats,
    n_steps: int,
) -> None:
    """Take n steps from `prices` and `shares`, and leave the means over all steps in both: they are nearer the goal."""
    n, n_sets = len(amounts), len(limits)
    price_step, share_step = np.empty(n), np.empty(n_sets)
    for i in range(n):
        price_step[i] = 1 / (BALANCE * max(row_copies[row_starts[i] : row_starts[i + 1]].sum(), 1.0))
    for s in range(n_sets):
        share_step[s] = BALANCE / copies[starts[s] : starts[s + 1]].sum()
    now, ahead, share = prices.copy(), np.empty(n), shares.copy()
    prices[:] = 0.0
    shares[:] = 0.0
    for _ in range(n_steps):
        for i in range(n):
            lacking = amounts[i]
            for at in range(row_starts[i], row_starts[i + 1]):
                lacking -= row_copies[at] * share[sets[at]]
            price = min(max(now[i] + price_step[i] * lacking, lowest[i]), highest[i])
            ahead[i], now[i] = 2 * price - now[i], price
            prices[i] += price / n_steps
        for s in range(n_sets):
            above = -limits[s]
            for at in range(starts[s], starts[s + 1]):
                above += copies[at] * ahead[members[at]]
            share[s] = max(share[s] + share_step[s] * above, 0.0)
            shares[s] += share[s] / n_steps
