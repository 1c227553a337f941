"""Which attribute a release is asked to predict where nobody chose one."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from anoncore import Microdata
from anoncore.kernels.arrays import Codes

MOST_VALUES = 20
MOST_ROWS = 20_000
"""Rows that are looked at, evenly taken from the table."""
SAME = 0.95
"""Share of the variation of an attribute that another one explains from which on it says the same in other words."""
LEAST = 0.02
"""The same below which nothing tells an attribute."""
SURE = 4.0
"""Standard deviations above what attributes that have nothing to do with each other show."""

_found: WeakKeyDictionary[Microdata, str | None] = WeakKeyDictionary()


def best_predicted(data: Microdata) -> str | None:
    """The attribute that is no secret and of which another one tells most, without saying the same in other words.

    How much one tells of the other is Goodman and Kruskal's tau, the share by which knowing the one lowers the
    probability that a guess in proportion to the values' shares is wrong. None where nothing tells much of any.
    """
    if data not in _found:
        _found[data] = _best_predicted(data)
    return _found[data]


def _best_predicted(data: Microdata) -> str | None:
    step = -(-data.n_rows // MOST_ROWS)
    names = [name for name in data.attributes if name not in data.sensitive]
    codes = {name: data.codes[name][::step] for name in names}
    told: dict[str, float] = {}
    for target in names:
        if not 2 <= len(data.domain[target]) <= MOST_VALUES:
            continue
        taus = [(tau(codes[other], codes[target]), other) for other in names if other != target]
        told[target] = max(
            (one for one, other in taus if _by_chance(codes[other], codes[target]) < one < SAME), default=0
        )
    best = max(told, key=lambda name: told[name], default=None)
    return best if best is not None and told[best] >= LEAST else None


def _by_chance(given: Codes, target: Codes) -> float:
    """The tau that two attributes which have nothing to do with each other hardly exceed."""
    more, others = len(np.unique(given)) - 1, len(np.unique(target)) - 1
    # Rows times other values times tau is about chi-squared with so many degrees of freedom.
    return SURE * float(np.sqrt(2 * more * others)) / max(len(target) * others, 1)


def tau(given: Codes, target: Codes) -> float:
    """Goodman and Kruskal's tau of two attributes: 0 where the first tells nothing of the second, 1 where all.

    It is corrected for the number of values of the first, as many values explain few rows by chance.
    """
    width = int(target.max()) + 1
    pairs, counts = np.unique(given.astype(np.int64) * width + target, return_counts=True)
    of_given = np.bincount(given)
    share = np.bincount(target) / len(target)
    rest = 1 - float((share**2).sum())
    explained = float((counts.astype(np.float64) ** 2 / of_given[pairs // width]).sum()) / len(target)
    n, n_given = len(target), int((of_given > 0).sum())
    if rest <= 0 or n <= n_given:
        return 0.0
    return max(1 - (1 - explained) / rest * (n - 1) / (n - n_given), 0.0)
