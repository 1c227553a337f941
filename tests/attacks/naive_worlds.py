"""The attack by its definition: possible worlds one by one, plain iteration, dictionaries."""

from __future__ import annotations

from decimal import Decimal, localcontext
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
    """One step of equation 4: expected rows with x of each signature / its rows. `counts`: rows with x by group.

    `fixed`: the share of rare signatures, one for all groups or one for each.
    """
    expected = dict.fromkeys(shares, 0.0)
    rows = dict.fromkeys(shares, 0)
    members = {}
    for row, group in enumerate(groups):
        members.setdefault(group, []).append(row)
        if signatures[row] in rows:
            rows[signatures[row]] += 1
    for group, people in members.items():
        rare = fixed[group] if isinstance(fixed, list) else fixed
        p = float_worlds([shares.get(signatures[row], rare) for row in people], counts[group])
        for row, one in zip(people, p, strict=True):
            if signatures[row] in expected:
                expected[signatures[row]] += one
    return {signature: expected[signature] / rows[signature] for signature in shares}


ARRIVED = Decimal("1e-13")


def walked(signatures, groups, counts, start, steps=3_000, digits=60):
    """The shares after each step of plain expectation-maximization from equal ones, `start`, by its definition.

    In decimal numbers of so many digits that rounding decides nothing in these steps: equal shares of people whom
    nothing tells apart may be a saddle, which an error in the 17th digit would leave. It ends after all steps, or with
    one that changes no share by 1e-13.
    """
    members = {}
    for signature, group in zip(signatures, groups, strict=True):
        members.setdefault(group, []).append(signature)
    rows = {signature: signatures.count(signature) for signature in signatures}
    with localcontext() as context:
        context.prec = digits
        share = Decimal(start.numerator) / Decimal(start.denominator)
        found = [dict.fromkeys(rows, share)]
        while len(found) <= steps:
            shares, expected = found[-1], dict.fromkeys(rows, Decimal(0))
            for group, people in members.items():
                for signature in set(people):
                    expected[signature] += people.count(signature) * _has_x(signature, people, shares, counts[group])
            found.append({signature: expected[signature] / rows[signature] for signature in rows})
            if _change(found) < ARRIVED:
                break
    return found


def limit(signatures, groups, counts, start):
    """Where plain expectation-maximization ends; None where it is still on its way after all steps of `walked`."""
    found = walked(signatures, groups, counts, start)
    if _change(found) >= ARRIVED:
        return None
    return {signature: float(share) for signature, share in found[-1].items()}


def _change(found):
    """The largest change of a share in the last step."""
    return max(abs(share - found[-2][signature]) for signature, share in found[-1].items())


def _has_x(signature, people, shares, n):
    """p(t:x) of a person of the signature: the weight of all worlds in which they have x, over that of all worlds."""
    if n == 0:
        return Decimal(0)
    others = [shares[one] for one in people]
    others.remove(shares[signature])
    with_x = shares[signature] * _weight(others, n - 1)
    return with_x / (with_x + (1 - shares[signature]) * _weight(others, n))


def _weight(f, n):
    """The weight of all worlds in which n of the people have x."""
    by_number = [Decimal(1)] + [Decimal(0)] * n
    for share in f:
        for number in range(n, 0, -1):
            by_number[number] = by_number[number] * (1 - share) + by_number[number - 1] * share
        by_number[0] *= 1 - share
    return by_number[n]
