"""Random numbers that begin with a seed which somebody chose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anoncore.base.errors import ParameterError

if TYPE_CHECKING:
    from numpy.random import Generator


def generator(seed: int) -> Generator:
    """The random numbers of a seed; raises ParameterError for one below 0."""
    import numpy as np

    if seed < 0:
        raise ParameterError(f"The seed must be at least 0, not {seed}.")
    return np.random.default_rng(seed)
