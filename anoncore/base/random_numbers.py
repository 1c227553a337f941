"""Random numbers that begin with a seed which somebody chose."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from anoncore.base.errors import ParameterError

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.random import Generator
    from numpy.typing import NDArray


FRESH_BITS = 128
GUESSABLE = 1 << 64
"""Seeds below can be tried one after the other, or are what a person would type."""


def fresh_seed() -> int:
    """A seed of 128 bits from the system's entropy, which nobody can guess."""
    return secrets.randbits(FRESH_BITS)


def is_guessable(seed: int | None) -> bool:
    """Whether random choices that begin with a seed can be repeated by guessing it; never where none was given.

    A release shows whether a guess is right: its groups are those that the seed makes. Trying a seed takes a fraction
    of a millisecond, so that all seeds of 32 bits are tried in days on one machine. Of a seed that was drawn with 128
    bits one in 2^64 is taken for a guessable one.
    """
    return seed is not None and seed < GUESSABLE


def generator(seed: int) -> Generator:
    """The random numbers of a seed; raises ParameterError for one below 0."""
    import numpy as np

    if seed < 0:
        raise ParameterError(f"The seed must be at least 0, not {seed}.")
    return np.random.default_rng(seed)


def drawn_along(order: NDArray[int64], rng: Generator) -> NDArray[float64]:
    """A random number from 0 to 1 for each row, drawn along an order of the rows instead of as they stand."""
    import numpy as np

    numbers = np.empty(len(order))
    numbers[order] = rng.random(len(order))
    return numbers
