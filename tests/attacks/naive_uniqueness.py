"""The uniqueness estimators and the individual risk by their definitions, slowly."""

from __future__ import annotations

from fractions import Fraction
from math import comb, exp, lgamma, log

import numpy as np


def plain_zayatz(sizes: np.ndarray, people: int) -> float:
    """s1 * P(F = 1 | f = 1) * N / n in exact fractions."""
    n, alone = int(sizes.sum()), int((sizes == 1).sum())

    def drawn_once(size: int) -> Fraction:
        return Fraction(size * comb(people - size, n - 1), comb(people, n))

    of_size = {int(size): int((sizes == size).sum()) for size in np.unique(sizes)}
    chance = alone * drawn_once(1) / sum(count * drawn_once(size) for size, count in of_size.items())
    return float(alone * chance * Fraction(people, n))


def pitman_likelihood(sizes: np.ndarray, theta: float, alpha: float) -> float:
    """The logarithm of Pitman's sampling formula, without the factors that no parameter changes."""
    n, u = int(sizes.sum()), len(sizes)
    value = sum(log(theta + i * alpha) for i in range(1, u)) - sum(log(theta + i) for i in range(1, n))
    return value + sum(log(i - alpha) for size in sizes for i in range(1, int(size)))


def pitman_uniques(sizes: np.ndarray, people: int) -> float:
    """The likelihood's largest value by golden sections inside golden sections."""

    def best_theta(alpha: float) -> float:
        return exp(golden(lambda place: pitman_likelihood(sizes, exp(place) - alpha, alpha), -12.0, 12.0)) - alpha

    alpha = golden(lambda one: pitman_likelihood(sizes, best_theta(one), one), 0.0, 1 - 1e-9)
    theta = best_theta(alpha)
    return exp(lgamma(theta + 1) - lgamma(theta + alpha)) * people**alpha


def golden(function, low: float, high: float) -> float:
    """Where a function with one peak is largest, to about 1e-8."""
    share = (5**0.5 - 1) / 2
    left, right = high - share * (high - low), low + share * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > 1e-9 * max(1.0, abs(high)):
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - share * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + share * (high - low)
            at_right = function(right)
    return (low + high) / 2


def plain_shlosser(sizes: np.ndarray, q: float) -> float:
    """Haas and Stokes' modified Shlosser estimator, class by class."""
    alone = int((sizes == 1).sum())
    first = sum(i * q**2 * (1 - q**2) ** (i - 1) for i in sizes.tolist())
    second = sum((1 - q) ** i * ((1 + q) ** i - 1) for i in sizes.tolist())
    third = sum((1 - q) ** i for i in sizes.tolist())
    fourth = sum(i * q * (1 - q) ** (i - 1) for i in sizes.tolist())
    return len(sizes) + alone * first / second * (third / fourth) ** 2


def plain_risk(records: int, probability: float) -> float:
    """The sum of 1 / F times the negative binomial probability of F, from F = f on."""
    weight, total, people = probability**records, 0.0, records
    while people < 100_000 and (weight > 1e-18 or people < 2 * records / probability):
        total += weight / people
        weight *= people / (people - records + 1) * (1 - probability)
        people += 1
    return total


def chance_of_class(size: int, alpha: float, beta: float, fraction: float) -> float:
    """How likely a class of the slide negative binomial model has so many people in the sample, class size by size."""
    total, there = 0.0, beta**alpha  # the chance of a class of one more person than `others`
    for others in range(200_000):
        people = others + 1
        if people >= size:
            total += there * comb(people, size) * fraction**size * (1 - fraction) ** (people - size)
        if (1 - fraction) ** people < 1e-18:
            break
        there *= (alpha + others) / (others + 1) * (1 - beta)
    return total
