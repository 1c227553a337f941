"""Requirements by their definitions, on the rows of one class in plain Python: the book's oracle of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import exp, log

from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    Requirement,
    TCloseness,
    VarianceDiversity,
)

NEAR = 1e-9


def satisfied(requirement: Requirement, values: Sequence[float], everybody: Sequence[float]) -> bool:
    """Whether a class with these sensitive numbers satisfies it; `everybody`: those of the whole table.

    t-closeness takes the equal distance. Raises TypeError for a requirement that is not written here.
    """
    counts = Counter(values)
    shares = [count / len(values) for count in counts.values()]
    match requirement:
        case KAnonymity():
            return len(values) >= requirement.k
        case DistinctDiversity():
            return len(counts) >= requirement.l
        case EntropyDiversity():
            return exp(-sum(share * log(share) for share in shares)) >= requirement.l - NEAR
        case FrequencyDiversity():
            return max(shares) <= 1 / requirement.l + NEAR
        case VarianceDiversity():
            return variance(values) >= requirement.v - NEAR
        case TCloseness():
            return equal_distance(values, everybody) <= requirement.t + NEAR
    raise TypeError(f"{type(requirement).__name__} has no plain definition here.")


def variance(values: Sequence[float]) -> float:
    """Mean squared distance from the mean."""
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / len(values)


def equal_distance(values: Sequence[float], everybody: Sequence[float]) -> float:
    """Earth mover's distance where all values are one step apart: half of what the shares differ by."""
    mine, all_of_them = Counter(values), Counter(everybody)
    return sum(abs(mine[one] / len(values) - all_of_them[one] / len(everybody)) for one in all_of_them) / 2
