"""Releases laid side by side by the definition: every possible world of two tables, and Bayes' rule value by value."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations


def worlds(first, second, prior):
    """The belief in each value of each person who is in both, from all worlds that fit both releases.

    A release is a list of groups: the people, and the values that the group publishes in no order. A world gives
    everybody of both tables one value; its weight is the product of the priors of these values.
    """
    weight, total = {}, Fraction(0)
    for a in _assignments(first):
        for b in _assignments(second):
            if any(a[person] != b[person] for person in a.keys() & b.keys()):
                continue
            world = a | b
            chance = Fraction(1)
            for value in world.values():
                chance *= prior[value]
            total += chance
            for person in a.keys() & b.keys():
                weight[person, world[person]] = weight.get((person, world[person]), 0) + chance
    return {key: one / total for key, one in weight.items()}


def _assignments(groups):
    """Every way to hand each group's values to its people, once each."""
    if not groups:
        yield {}
        return
    (people, values), *rest = groups
    for ordered in set(permutations(values)):
        for other in _assignments(rest):
            yield dict(zip(people, ordered, strict=True)) | other


def joined(beliefs, prior):
    """Bayes' rule for independent releases: dictionaries of beliefs by value; None where nothing is possible in all."""
    weights = {}
    for value, share in prior.items():
        weight = share
        for belief in beliefs:
            weight = weight * belief.get(value, 0) / share
        weights[value] = weight
    total = sum(weights.values())
    return {value: weight / total for value, weight in weights.items()} if total else None
