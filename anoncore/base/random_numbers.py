"""Random numbers that begin with a seed which somebody chose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anoncore.base.errors import ParameterError

if TYPE_CHECKING:
    from numpy import float64, int64
    from numpy.random import Generator
    from numpy.typing import NDArray


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
