"""The possible worlds of one group: which of its people may have the sensitive value, and how likely each world is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError
from anoncore.base.showing import Result
from anoncore.kernels.arrays import Bools, Floats, record
from anoncore.kernels.foreground_groups import person_probabilities

MOST_WORLDS = 20_000
"""Above this the worlds of a group are not listed; `group_probabilities` needs no list."""


@record
class PossibleWorlds(Result):
    """Every way in which n of the N people of a group may have the sensitive value x.

    Attributes
    ----------
    has_value : ndarray of bool, shape (n_worlds, N)
        Who has x in each world.
    weight : ndarray of float, shape (n_worlds,)
        The product of f, or 1 - f, over the people.
    share : ndarray of float, shape (n_worlds,)
        The weight as a share of that of all worlds; each world alike where every weight is 0.
    probability : ndarray of float, shape (N,)
        p(t:x), the probability that each person has x.

    Examples
    --------
    >>> from anoncore import attacks
    >>> worlds = attacks.possible_worlds([0.5, 0.5], n=1)
    >>> worlds.has_value.tolist(), worlds.share.tolist()
    ([[True, False], [False, True]], [0.5, 0.5])
    """

    has_value: Bools
    weight: Floats
    share: Floats
    probability: Floats


@checked
def group_probabilities(f: Sequence[float] | Floats, n: int) -> Floats:
    """The probability p(t:x) that each person of a group has the value x, when n of them are known to have it.

    With P the product of (1 - f_i) + f_i z over the group and P_j the same without person j, p(t_j:x) is f_j [z^(n-1)]
    P_j(z) / [z^n] P(z), where [z^n] takes the coefficient of z^n. Where f contradicts the group, everybody has n / N.

    Parameters
    ----------
    f : sequence of float, shape (N,)
        The probability that each person has x, before the group is seen.
    n : int
        People of the group who have x, from 0 to N.

    Returns
    -------
    ndarray of float, shape (N,)
        p(t:x) of each person.

    Raises
    ------
    ParameterError
        For f outside 0 to 1 and n outside 0 to N.

    References
    ----------
    Foreground-knowledge paper, section 3, in polynomial form.

    Examples
    --------
    Either the first has x (0.8 * 0.5 = 0.4) or the second (0.2 * 0.5 = 0.1):

    >>> from anoncore import attacks
    >>> attacks.group_probabilities([0.8, 0.5], n=1).round(3).tolist()
    [0.8, 0.2]
    """
    probability: Floats = person_probabilities(_checked(f, n), n)
    return probability


@checked
def possible_worlds(f: Sequence[float] | Floats, n: int) -> PossibleWorlds:
    """All worlds of a group in which n of N people have the value x, with their weights.

    Worlds come in the order of the people who have x.

    Parameters
    ----------
    f : sequence of float, shape (N,)
        The probability that each person has x, before the group is seen.
    n : int
        People of the group who have x, from 0 to N.

    Returns
    -------
    PossibleWorlds
        The worlds, the weight of each, and the probability of each person.

    Raises
    ------
    ParameterError
        For more than 20,000 worlds, f outside 0 to 1 and n outside 0 to N.

    References
    ----------
    Foreground-knowledge paper, section 3, definition 4, equations 1 to 3 and table 5.

    Examples
    --------
    Either the first has x, with weight 0.8 * 0.5, or the second, with weight 0.2 * 0.5:

    >>> from anoncore import attacks
    >>> worlds = attacks.possible_worlds([0.8, 0.5], n=1)
    >>> worlds.weight.round(3).tolist(), worlds.probability.round(3).tolist()
    ([0.4, 0.1], [0.8, 0.2])
    """
    shares = _checked(f, n)
    size = len(shares)
    if comb(size, n) > MOST_WORLDS:
        raise ParameterError(
            f"A group of {size} people of whom {n} have the value has {comb(size, n):,} possible worlds; at most "
            f"{MOST_WORLDS:,} are listed. The probabilities themselves need no list."
        )
    has_value = np.zeros((comb(size, n), size), np.bool_)
    for world, people in enumerate(combinations(range(size), n)):
        has_value[world, list(people)] = True
    weight = np.where(has_value, shares, 1 - shares).prod(axis=1)
    total = weight.sum()
    share = weight / total if total > 0 else np.full(len(weight), 1 / len(weight))
    return PossibleWorlds(has_value, weight, share, share @ has_value)


def _checked(f: Sequence[float] | Floats, n: int) -> Floats:
    shares = np.array(f, np.float64)
    if shares.ndim != 1 or len(shares) == 0 or not ((shares >= 0) & (shares <= 1)).all():
        raise ParameterError("f needs one probability from 0 to 1 for each person of the group.")
    if not 0 <= n <= len(shares):
        raise ParameterError(f"Of a group of {len(shares)} people 0 to {len(shares)} can have the value, not {n}.")
    return shares
