"""Expected numbers of people with the sensitive value x in a large group, by a sum around a circle.

If every person of a group had x independently of all others, with a probability p of their own, then the product of
the polynomials 1 - p + p z over all people would have the probability of n people with x as its coefficient of z^n.
That coefficient is also the mean of the product times z^-n over all points z of the circle |z| = 1 (Cauchy's formula).
The possible worlds have the same shares of their total weight when all odds p / (1 - p) are multiplied by one number,
so the odds are chosen such that n people are expected to have x. Then the product falls off quickly on both sides of
z = 1, and some 20 points give all digits of a double, however large the group is.

Source of the worlds and weights: `foreground_worlds`, which has the same numbers by multiplying polynomials out.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel

LEAST_VARIANCE = 5.0
"""Of the number of people with x, from where on few points are enough. Below it polynomials are short."""
POINTS = 32
"""Points on half of the circle, at most."""
WIDTH = 6
"""Rows of POINTS numbers that the sum needs to work with."""
DIGITS = 40.0
"""Terms are left out that are smaller than e^-40, which is 4e-18, of the largest."""
TILTS = 30
"""Steps of Newton's method for the factor of all odds, at most."""
CENTRED = 0.05
"""How near to n the expected number of people is brought, in standard deviations."""


@inner_kernel
def expect_around(
    odds: Floats, classes: Int32, counts: Int64, n: int, expected: Floats, points: Floats, weigh: bool
) -> float:
    """Write how many people of each entry are expected to have x; returns the logarithm of the weight of all worlds.

    Entry e has `counts[e]` people of signature `classes[e]`, whose odds are `odds[classes[e]]`, 0 and infinity
    included. The unit of the weight is the world in which nobody has x whose odds are finite. Returns 0 without
    `weigh`, and NaN, with nothing written, where the variance is too small. `points` float (WIDTH, POINTS) is memory.
    """
    left, free, low, high = n, 0, 0.0, 0.0
    for e in range(len(counts)):
        one = odds[classes[e]]
        if one == np.inf:
            left -= counts[e]
        elif one > 0.0:
            free += counts[e]
            low += counts[e] / (1.0 + one)
            high += counts[e] - counts[e] / (1.0 + one)
    if not 0 < left < free or not low > 0.0 or not high > 0.0:
        return np.nan
    tilt, variance = left / (free - left) * (low / high), 0.0
    for _ in range(TILTS):
        mean, variance = 0.0, 0.0
        for e in range(len(counts)):
            one = odds[classes[e]]
            if 0.0 < one < np.inf:
                lacks = 1.0 / (1.0 + tilt * one)
                mean += counts[e] * (1.0 - lacks)
                variance += counts[e] * (1.0 - lacks) * lacks
        if not variance > LEAST_VARIANCE or abs(mean - left) <= CENTRED * np.sqrt(variance):
            break
        tilt *= np.exp(min(max((left - mean) / variance, -1.0), 1.0))
    if not variance > LEAST_VARIANCE or not abs(mean - left) <= CENTRED * np.sqrt(variance):
        return np.nan
    # The sum over so many points of the whole circle adds the coefficients of z^(n + size), z^(n - size) and so on to
    # that of z^n; by Bernstein's inequality they are below the digits that count.
    tail = DIGITS + 0.5 * np.log(7.0 * variance)
    size = 2 * int(np.ceil((tail / 3.0 + np.sqrt(tail * tail / 9.0 + 2.0 * tail * variance)) / 2.0))
    # A point at the angle a adds at most e^(-variance * (1 - cos a)).
    angle = 2.0 * np.pi / size
    farthest = np.arccos(max(1.0 - DIGITS / variance, -1.0))
    n_points = min(int(farthest / angle) + 1, size // 2) + 1
    if n_points > POINTS:
        return np.nan
    total = _sum_around(odds, classes, counts, left, expected, points, n_points, tilt, size)
    if not weigh:
        return 0.0
    log_weight = np.log(total / size) - left * np.log(tilt)
    for e in range(len(counts)):
        one = odds[classes[e]]
        if one < np.inf:
            log_weight += counts[e] * np.log1p(tilt * one)
    return log_weight


@inner_kernel
def _sum_around(
    odds: Floats,
    classes: Int32,
    counts: Int64,
    left: int,
    expected: Floats,
    points: Floats,
    n_points: int,
    tilt: float,
    size: int,
) -> float:
    """Write the expected numbers, and return the sum of the product times z^-left over `size` points of the circle.

    What lies below the real axis mirrors what lies above it, and is not visited. Every loop over the points is short
    and without conditions, so that the compiler computes several points at a time.
    """
    z_re, z_im, sum_re, sum_im, own_re, own_im = points[0], points[1], points[2], points[3], points[4], points[5]
    turn_re, turn_im = np.cos(2.0 * np.pi / size), np.sin(2.0 * np.pi / size)
    z_re[0], z_im[0] = 1.0, 0.0
    for i in range(1, n_points):
        z_re[i] = z_re[i - 1] * turn_re - z_im[i - 1] * turn_im
        z_im[i] = z_re[i - 1] * turn_im + z_im[i - 1] * turn_re
    # Each point stands for two, but for the first one and that at -1.
    for i in range(n_points):
        sum_re[i] = 2.0
        sum_im[i] = 0.0
        own_re[i] = z_re[i]
        own_im[i] = -z_im[i]
    sum_re[0] = 1.0
    if 2 * (n_points - 1) == size:
        sum_re[n_points - 1] = 1.0
    _multiply_by_power(sum_re, sum_im, own_re, own_im, n_points, left)
    for e in range(len(counts)):
        one = tilt * odds[classes[e]]
        if 0.0 < one < np.inf:
            lacks, has = 1.0 / (1.0 + one), one / (1.0 + one)
            for i in range(n_points):
                own_re[i] = lacks + has * z_re[i]
                own_im[i] = has * z_im[i]
            _multiply_by_power(sum_re, sum_im, own_re, own_im, n_points, counts[e])
    total = 0.0
    for i in range(n_points):
        total += sum_re[i]
    for e in range(len(counts)):
        one = tilt * odds[classes[e]]
        if one == np.inf:
            expected[e] = counts[e]
            continue
        # The people of this entry who have x: the product with one factor p z in place of one 1 - p + p z.
        lacks, has, with_x = 1.0 / (1.0 + one), one / (1.0 + one), 0.0
        for i in range(n_points):
            re, im = lacks + has * z_re[i], has * z_im[i]
            part_re, part_im = z_re[i] * re + z_im[i] * im, z_im[i] * re - z_re[i] * im
            own_re[i] = (sum_re[i] * part_re - sum_im[i] * part_im) / (re * re + im * im)
        for i in range(n_points):
            with_x += own_re[i]
        expected[e] = counts[e] * has * (with_x / total)
    return total


@inner_kernel
def _multiply_by_power(
    sum_re: Floats, sum_im: Floats, own_re: Floats, own_im: Floats, n_points: int, power: int
) -> None:
    """Multiply complex numbers by powers of others, which are overwritten, by repeated squaring."""
    while True:
        if power % 2 == 1:
            for i in range(n_points):
                re = sum_re[i] * own_re[i] - sum_im[i] * own_im[i]
                sum_im[i] = sum_re[i] * own_im[i] + sum_im[i] * own_re[i]
                sum_re[i] = re
        power //= 2
        if power == 0:
            break
        for i in range(n_points):
            re = own_re[i] * own_re[i] - own_im[i] * own_im[i]
            own_im[i] = 2.0 * own_re[i] * own_im[i]
            own_re[i] = re
