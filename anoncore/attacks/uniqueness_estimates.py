"""How many people of a population are unique, estimated from the sizes of the classes of a sample.

Everywhere n is the size of the sample, N that of the population, and `Classes` holds how many classes of each size the
sample has. A class is the people with equal quasi-identifiers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anoncore.kernels.arrays import Floats, Int64, record

SMALL_FRACTION = 0.1
"""Sampling fraction up to which Dankar's rule takes Pitman's estimate."""
SOLVED = 1e-9
"""Relative difference between both sides of an equation below which it counts as solved."""
ALMOST_ONE = 1 - 1e-12
STARTS = tuple((alpha, beta) for alpha in (0.1, 0.01, 1.0, 10.0) for beta in (0.1, 0.01, 0.5, 0.9))
"""Where the search for the parameters of the slide negative binomial model begins, in turn until one succeeds."""


@record
class Classes:
    """The classes of a sample by size: `counts[i]` of them have `sizes[i]` people, both float (n_sizes,), ascending."""

    sizes: Floats
    counts: Floats

    @classmethod
    def of(cls, class_size: Int64) -> Classes:
        """From the size of each class, int64 (n_classes,)."""
        sizes, counts = np.unique(class_size, return_counts=True)
        return cls(sizes.astype(np.float64), counts.astype(np.float64))

    @property
    def people(self) -> float:
        """The size of the sample, n."""
        return float(self.sizes @ self.counts)

    @property
    def number(self) -> float:
        """How many classes there are, u."""
        return float(self.counts.sum())

    def of_size(self, size: int) -> float:
        """How many classes have this size."""
        return float(self.counts[self.sizes == size].sum())


def zayatz(classes: Classes, population: float) -> float:
    """Zayatz's estimate of the unique people of the population.

    Bayes' rule gives the chance that a class of one in the sample is a class of one in the population. The sizes of the
    population's classes are taken to be distributed as those of the sample, and a class of j people has one of them in
    the sample with the hypergeometric probability. The estimate is s1 * chance * N / n, where s1 counts the classes of
    one in the sample.
    """
    from scipy.special import gammaln

    def combinations(of: npt.ArrayLike, chosen: npt.ArrayLike) -> Floats:
        """The logarithm of the binomial coefficient."""
        of, chosen = np.asarray(of, np.float64), np.asarray(chosen, np.float64)
        found: Floats = gammaln(of + 1) - gammaln(chosen + 1) - gammaln(of - chosen + 1)
        return found

    sample, alone = classes.people, classes.of_size(1)
    # One of the class's j people and n - 1 of the N - j others; impossible where there are too few others.
    possible = population - classes.sizes >= sample - 1
    sizes = classes.sizes[possible]
    drawn = sizes * np.exp(combinations(population - sizes, sample - 1) - combinations(population, sample))
    chance = alone * (sample / population) / float(classes.counts[possible] @ drawn)
    return alone * chance * population / sample


def pitman(classes: Classes, population: float) -> float:
    """Pitman's estimate: Gamma(theta + 1) / Gamma(theta + alpha) * N^alpha with the parameters that fit best.

    They maximize the likelihood of Pitman's sampling formula over 0 <= alpha < 1 and theta > -alpha. NaN where nothing
    does, as in a sample in which everybody is unique.
    """
    from scipy.optimize import brentq
    from scipy.special import digamma, gammaln

    sample, number = classes.people, classes.number
    if number == sample or number < 2:
        return float("nan")
    steps = np.arange(1.0, number)
    larger = classes.sizes > 1
    sizes, counts = classes.sizes[larger], classes.counts[larger]

    def best_theta(alpha: float) -> float:
        """Where the likelihood's derivative by theta is 0: the sum of 1 / (theta + i alpha) over i < u is that of
        1 / (theta + i) over i < n.
        """

        def slope(theta: float) -> float:
            of_sample = digamma(theta + sample) - digamma(theta + 1)
            return float((1 / (theta + steps * alpha)).sum() - of_sample)

        least = -alpha + 1e-12
        most = 1.0
        while slope(most) > 0:
            most *= 4
            if most > 1e15:
                return float("nan")
        return float(brentq(slope, least, most, xtol=1e-13, rtol=1e-14)) if slope(least) > 0 else least

    def slope_of_alpha(alpha: float) -> float:
        """The likelihood's derivative by alpha, at the best theta."""
        theta = best_theta(alpha)
        within = float(counts @ (digamma(sizes - alpha) - digamma(1 - alpha)))
        return float((steps / (theta + steps * alpha)).sum()) - within

    alpha = 0.0
    if slope_of_alpha(0.0) > 0:
        if not slope_of_alpha(ALMOST_ONE) < 0:
            return float("nan")
        alpha = float(brentq(slope_of_alpha, 0.0, ALMOST_ONE, xtol=1e-15, rtol=1e-14))
    theta = best_theta(alpha)
    return float(np.exp(gammaln(theta + 1) - gammaln(theta + alpha) + alpha * np.log(population)))


def slide_negative_binomial(classes: Classes, population: float) -> float:
    """The estimate of the slide negative binomial model: K * beta^alpha.

    A class of the population has one person and as many more as a negative binomial variable says, with parameters
    alpha and beta. They are those by which the expected numbers of classes of one and of two in the sample are those
    seen. K, the number of the population's classes, is estimated by Shlosser's modified estimator. NaN where no
    parameters fit.
    """
    fraction = classes.people / population
    number = shlosser(classes, fraction)
    found = slide_parameters(classes, number, fraction)
    return float("nan") if found is None else number * found[1] ** found[0]


def slide_parameters(classes: Classes, number: float, fraction: float) -> tuple[float, float] | None:
    """The parameters alpha and beta by which `number` classes give those of one and two that are seen, or None.

    A class of 1 + m people has m with the negative binomial probability, and each person is in the sample with the
    probability q = fraction. With D = (1 - q) (1 - beta) the expected number of classes of one is
    K q (beta / (1 - D))^alpha (1 + alpha D / (1 - D)), that of classes of two
    K q^2 (1 - beta) / 2 * alpha beta^alpha / (1 - D)^(alpha + 2) * (2 - (1 - alpha) D).
    """
    from scipy.optimize import root

    ones, twos = classes.of_size(1), classes.of_size(2)
    if not ones or not twos or not np.isfinite(number):
        return None

    def parameters(place: npt.ArrayLike) -> tuple[float, float]:
        logarithm, odds = np.asarray(place, np.float64)
        return float(np.exp(logarithm)), float(1 / (1 + np.exp(-odds)))

    def faults(place: npt.ArrayLike) -> list[float]:
        """Expected / seen - 1, for classes of one and of two."""
        alpha, beta = parameters(place)
        missed = (1 - fraction) * (1 - beta)
        kept = 1 - missed
        common = number * fraction * (beta / kept) ** alpha
        one = common * (1 + alpha * missed / kept)
        two = common * fraction * (1 - beta) / 2 * alpha / kept**2 * (2 - (1 - alpha) * missed)
        return [one / ones - 1, two / twos - 1]

    with np.errstate(all="ignore"):
        for alpha, beta in STARTS:
            found = root(faults, [np.log(alpha), np.log(beta / (1 - beta))], tol=1e-13).x
            if np.isfinite(found).all() and max(map(abs, faults(found))) < SOLVED:
                return parameters(found)
    return None


def shlosser(classes: Classes, fraction: float) -> float:
    """Shlosser's modified estimator of how many classes the population has (Haas and Stokes, JASA 1998).

    With q the sampling fraction and s_i the classes of i people: u + s_1 * A * B^2, where A is the sum of
    i q^2 (1 - q^2)^(i-1) s_i over that of (1 - q)^i ((1 + q)^i - 1) s_i, and B the sum of (1 - q)^i s_i over that of
    i q (1 - q)^(i-1) s_i.
    """
    i, s, q = classes.sizes, classes.counts, fraction
    with np.errstate(all="ignore"):
        first = (i * q**2 * (1 - q**2) ** (i - 1) * s).sum() / (((1 - q**2) ** i - (1 - q) ** i) * s).sum()
        second = ((1 - q) ** i * s).sum() / (i * q * (1 - q) ** (i - 1) * s).sum()
    return float(classes.number + classes.of_size(1) * first * second**2)


def dankar(fraction: float, zayatz: float, pitman: float, slide: float) -> str:
    """Which of the estimates Dankar's rule takes: `pitman`, `zayatz` or `snb`.

    Up to a sampling fraction of 0.1 Pitman's; above it the smaller one of the slide negative binomial model's and
    Zayatz's. Where the model has no solution, Zayatz's is taken.
    """
    if fraction <= SMALL_FRACTION:
        return "pitman" if np.isfinite(pitman) else "zayatz"
    return "snb" if slide <= zayatz else "zayatz"
