"""deFinetti's attack by its definition, person by person, on tables whose values are as few as the model's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import exp, factorial, log, prod

import numpy as np

Person = tuple[int, ...]
"""What is known of a person: a value per attribute, counted from 0."""


def chance(
    people: Sequence[Person], secrets: Sequence[int], sizes: Sequence[int], person: Person, secret: int
) -> float:
    """The probability of what is known of a person who has a secret, by people with secrets and Laplace's rule."""
    with_secret = [one for one, other in zip(people, secrets, strict=True) if other == secret]
    return prod(
        (sum(one[a] == person[a] for one in with_secret) + 1) / (len(with_secret) + size)
        for a, size in enumerate(sizes)
    )


def likelihood(people: Sequence[Person], secrets: Sequence[int]) -> int:
    """The product of the factorials of how many people with each secret have each value.

    Over all models that are possible, the probability of an assignment is this number times what depends on how many
    people have each secret, and that no assignment changes.
    """
    counts = Counter((a, value, s) for one, s in zip(people, secrets, strict=True) for a, value in enumerate(one))
    return prod(factorial(count) for count in counts.values())


def assigned(
    people: Sequence[Person],
    groups: Sequence[Sequence[int]],
    secrets: Sequence[int],
    sizes: Sequence[int],
    starts: int,
    burn_in: int,
    samples: int,
    rng: np.random.Generator,
) -> list[Counter[int]]:
    """How often each person has each secret in the rounds that count; people stand group by group."""

    def swapped(now: Sequence[int]) -> list[int]:
        model, now = list(now), list(now)
        known = {(one, s): chance(people, model, sizes, one, s) for one in set(people) for s in set(secrets)}
        partner, coin = rng.random(len(people)), rng.random(len(people))
        for group in groups:
            for i in group if len(group) > 1 else ():
                others = [place for place in group if place != i]
                j = others[int(partner[i] * len(others))]
                rho = (known[people[i], now[j]] * known[people[j], now[i]]) / (
                    known[people[i], now[i]] * known[people[j], now[j]]
                )
                if coin[i] < rho / (1 + rho):
                    now[i], now[j] = now[j], now[i]
        return now

    assignments = []
    for _ in range(starts):
        mixed = rng.random(len(people))
        now: list[int] = []
        for group in groups:
            now += [secrets[place] for place in sorted(group, key=lambda place: mixed[place])]
        for _ in range(burn_in):
            now = swapped(now)
        assignments.append(now)
    now = max(assignments, key=lambda assignment: likelihood(people, assignment))
    counts: list[Counter[int]] = [Counter() for _ in people]
    for _ in range(samples):
        now = swapped(now)
        for place, secret in enumerate(now):
            counts[place][secret] += 1
    return counts


def by_regions(
    people: Sequence[Person],
    groups: Sequence[Sequence[int]],
    secrets: Sequence[int],
    regions: Sequence[Sequence[set[int]]],
    sizes: Sequence[int],
) -> list[dict[int, float]]:
    """Beliefs about people by the regions of their groups: `regions[g][a]` are the values that group g allows."""
    all_secrets = sorted(set(secrets))

    def model(a: int, value: int, secret: int) -> float:
        count = Fraction(0)
        for group, region in zip(groups, regions, strict=True):
            n = sum(secrets[place] == secret for place in group)
            count += Fraction(n * (value in region[a]), len(region[a]))
        n_all = sum(one == secret for one in secrets)
        return float((count + 1) / (n_all + sizes[a]))

    table = {(a, v, s): model(a, v, s) for a, size in enumerate(sizes) for v in range(size) for s in all_secrets}
    beliefs: list[dict[int, float]] = [{} for _ in people]
    for group, region in zip(groups, regions, strict=True):
        here = Counter(secrets[place] for place in group)
        for place in group:
            weight = {}
            for s, n in here.items():
                fits = [
                    log(table[a, value, s]) - log(sum(table[a, v, s] for v in region[a]))
                    for a, value in enumerate(people[place])
                ]
                weight[s] = n * exp(sum(fits))
            beliefs[place] = {s: one / sum(weight.values()) for s, one in weight.items()}
    return beliefs
