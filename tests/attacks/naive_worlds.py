"""The attack by its definition: possible worlds one by one, plain iteration, dictionaries."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations


def enumerated(f, n):
    """p(t:x) of each person as exact fractions, from all worlds; n / N where no world is possible."""
    size = len(f)
    total, with_x = Fraction(0), [Fraction(0)] * size
    for people in combinations(range(size), n):
        weight = Fraction(1)
        for person in range(size):
            weight *= f[person] if person in people else 1 - f[person]
        total += weight
        for person in people:
            with_x[person] += weight
    return [one / total for one in with_x] if total else [Fraction(n, size)] * size


def float_worlds(f, n):
    """The same in floating point."""
    size = len(f)
    total, with_x = 0.0, [0.0] * size
    for people in combinations(range(size), n):
        weight = 1.0
        for person in range(size):
            weight *= f[person] if person in people else 1 - f[person]
        total += weight
        for person in people:
            with_x[person] += weight
    return [one / total for one in with_x] if total else [n / size] * size


def updated(signatures, groups, counts, shares, fixed):
    """One step of equation 4: expected rows with x of each signature / its rows. `counts`: rows with x by group."""
    expected = dict.fromkeys(shares, 0.0)
    rows = dict.fromkeys(shares, 0)
    members = {}
    for row, group in enumerate(groups):
        members.setdefault(group, []).append(row)
        if signatures[row] in rows:
            rows[signatures[row]] += 1
    for group, people in members.items():
        p = float_worlds([shares.get(signatures[row], fixed) for row in people], counts[group])
        for row, one in zip(people, p, strict=True):
            if signatures[row] in expected:
                expected[signatures[row]] += one
    return {signature: expected[signature] / rows[signature] for signature in shares}
