"""How many predicates are true of exactly one of more people than could be asked, and how sure that is."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from anoncore.attacks.control_figures import Interval, wilson
from anoncore.kernels.arrays import Floats, Int64

STEP = 1.05
"""Each probability that is looked at is so many times the one before; those between hardly lead to other counts."""
RAREST = 0.01
"""The smallest probability but 0, as the number of those who are expected among the people that are wanted."""
CARE = (0.1, 0.3, 0.6, 1.2, 2.5)
"""How much chance counts beside the largest error that any spread of probabilities can make; the best one is taken."""
MOST_ALIKE = 12.0
"""Logarithm of the shape of a spread beyond which all probabilities are equal, as far as counts can tell."""


class SuccessAmongMore:
    """The share of predicates that are true of exactly one of `wanted` people, from their counts among fewer people.

    How likely a predicate is true of somebody differs from predicate to predicate, and all counts together tell how
    these probabilities are spread. The estimate takes them for gamma distributed, so that counts follow a negative
    binomial distribution, which is fitted to them.

    The interval assumes nothing of the spread. It is what two intervals have in common, both found by linear programs.
    One is that of a weighted sum of the shares of predicates with each count. The weights are those by which the sum is
    as near as possible to the share that is wanted, whatever the spread is, and the interval reaches as far as the
    largest error of the sum and chance together. The other one reaches from the smallest to the largest share of all
    spreads that lead to the counts up to chance. Few people tell little about many, and the interval is wide then.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_predicates,)
        Of how many people each predicate is true.
    size : int
        How many people were asked.
    wanted : int
        How many people the share is told of.

    References
    ----------
    Fisher, Corbet and Williams, Journal of Animal Ecology 1943 (the estimate); Armstrong and Kolesar, Optimal inference
    in a class of regression models, Econometrica 2018 (intervals of a weighted sum with a bounded error); Valiant and
    Valiant, Estimating the unseen, Journal of the ACM 2017 (all spreads that lead to the counts).
    """

    def __init__(self, counts: Int64, size: int, wanted: int) -> None:
        self.counts, self.ratio = counts, wanted / size
        ends = _ends_of_bins(int(counts.max()))
        self.seen = np.bincount(np.searchsorted(ends, counts), minlength=len(ends)) / len(counts)
        n_probabilities = int(np.ceil(np.log(wanted / RAREST) / np.log(STEP))) + 1
        probability = np.concatenate(([0.0], np.geomspace(RAREST / wanted, 1.0, n_probabilities)))
        self.leads_to = _chances_of_bins(probability, size, ends)
        self.succeeds = wanted * probability * (1 - probability) ** (wanted - 1)

    @cached_property
    def share(self) -> float:
        """The share if probabilities are gamma distributed."""
        from scipy.optimize import minimize_scalar
        from scipy.special import gammaln

        mean = float(self.counts.mean())
        if not mean:
            return 0.0
        counts, often = np.unique(self.counts, return_counts=True)

        def unlikeliness(logarithm: float) -> float:
            shape = np.exp(logarithm)
            chance = gammaln(counts + shape) - gammaln(shape) + shape * np.log(shape) + counts * np.log(mean)
            return float(-often @ (chance - (counts + shape) * np.log(shape + mean)))

        shape = float(np.exp(minimize_scalar(unlikeliness, bounds=(-MOST_ALIKE, MOST_ALIKE), method="bounded").x))
        more = mean * self.ratio
        return float(np.exp((shape + 1) * np.log(shape / (shape + more))) * more)

    def interval(self, z: float) -> Interval:
        """Where the share lies, whatever the spread of the probabilities, with chance `z` deviations wide."""
        each = _at_once(z, 2)
        one, other = self._of_sums(each), self._of_spreads(each)
        low, high = max(one[0], other[0], 0.0), min(one[1], other[1], 1.0)
        return min(low, self.share), max(high, self.share)

    def _of_sums(self, z: float) -> Interval:
        """The narrowest interval of a weighted sum: narrow where many counts occur."""
        # As many predicates as Agresti and Coull add, one as likely with each count: few of them show little of chance.
        number = len(self.counts) + z**2
        seen = (len(self.counts) * self.seen + z**2 / len(self.seen)) / number
        found = (0.0, 1.0)
        for weights, error in self._sums:
            middle = float(weights @ seen)
            deviation = np.sqrt(max(float(weights**2 @ seen) - middle**2, 0.0) / number)
            reach = error + z * float(deviation)
            if 2 * reach < found[1] - found[0]:
                found = middle - reach, middle + reach
        return found

    def _of_spreads(self, z: float) -> Interval:
        """The smallest and the largest share of all spreads that lead to these counts up to chance: narrow where hardly
        any predicate is true of anybody.
        """
        from scipy.optimize import linprog

        each = _at_once(z, len(self.seen))
        low, high = np.array([wilson(float(one), len(self.counts), each) for one in self.seen]).T
        found = []
        for sign in (1.0, -1.0):
            program = linprog(
                sign * self.succeeds,
                A_ub=np.concatenate((self.leads_to, -self.leads_to)),
                b_ub=np.concatenate((high, -low)),
                A_eq=np.ones((1, len(self.succeeds))),
                b_eq=[1.0],
            )
            # Where predicates depend much on each other, no spread may lead to the counts.
            found.append(sign * float(program.fun) if program.fun is not None else float(sign < 0))
        return found[0], found[1]

    @cached_property
    def _sums(self) -> list[tuple[Floats, float]]:
        """Weights of the counts, and the largest error of the sum that any spread can make, from exact to steady."""
        from scipy.optimize import linprog

        n_bins, n_probabilities = self.leads_to.shape
        deviations = np.sqrt(np.maximum(self.seen, 1 / len(self.counts)) / len(self.counts))
        # The unknowns are the weights, what chance makes of each at most, and the largest error.
        none, each = np.zeros((n_probabilities, n_bins)), np.eye(n_bins)
        errors = [np.hstack((sign * self.leads_to.T, none, -np.ones((n_probabilities, 1)))) for sign in (1, -1)]
        chances = [np.hstack((sign * np.diag(deviations), -each, np.zeros((n_bins, 1)))) for sign in (1, -1)]
        bounds = [(None, None)] * n_bins + [(0.0, None)] * (n_bins + 1)
        found = []
        for care in CARE:
            program = linprog(
                np.concatenate((np.zeros(n_bins), np.full(n_bins, care), [1.0])),
                A_ub=np.concatenate((*errors, *chances)),
                b_ub=np.concatenate((self.succeeds, -self.succeeds, np.zeros(2 * n_bins))),
                bounds=bounds,
            )
            if program.x is not None:
                found.append((program.x[:n_bins], float(program.x[-1])))
        return found


def _at_once(z: float, number: int) -> float:
    """How many deviations wide so many intervals are that hold all at once as surely as one of `z` deviations."""
    from scipy.special import ndtr, ndtri

    return float(ndtri(1 - (1 - ndtr(z)) / number))


def _ends_of_bins(largest: int) -> Int64:
    """The last count of each bin, ascending: counts up to 4 alone, larger ones with those up to half as much again."""
    ends = [0, 1, 2, 3, 4]
    while ends[-1] < largest:
        ends.append(ends[-1] * 3 // 2)
    return np.array(ends, np.int64)


def _chances_of_bins(probability: Floats, size: int, ends: Int64) -> Floats:
    """How likely a count of each bin is with each probability, float (n_bins, n_probabilities)."""
    from scipy.special import bdtr

    upto = bdtr(np.minimum(ends, size)[:, None].astype(np.float64), size, probability[None, :])
    upto[-1] = 1.0
    chances: Floats = np.diff(upto, axis=0, prepend=0.0)
    return chances
