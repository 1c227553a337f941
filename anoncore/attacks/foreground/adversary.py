"""The adversary of the foreground-knowledge attack: what they rely on and what counts as a breach."""

from __future__ import annotations

from math import log

from anoncore.attacks.foreground.mining import UNRELIABLE, Unreliable
from anoncore.attacks.foreground.solver import Solver
from anoncore.base.errors import ParameterError

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Errors that are tried where none is asked for, from the paper's on. A larger one relies on rarer signatures."""


def minimum_signature_rows(epsilon: float, sigma: float) -> float:
    """J: rows that a signature needs so that its share errs by more than epsilon with a chance of at most sigma.

    Source: theorem 1 (Toivonen, VLDB 1996).
    """
    return log(2 / sigma) / (2 * epsilon**2)


def check_adversary(
    r: float,
    epsilon: float | None,
    sigma: float,
    max_size: int | None,
    unreliable: Unreliable,
    solver: Solver,
    draws: int = 0,
    seed: int = 0,
) -> None:
    """Raise ParameterError where no adversary learns and believes so."""
    if not r >= 1:
        raise ParameterError(f"r must be at least 1, so that 1 / r is a probability, not {r}.")
    if (epsilon is not None and not epsilon > 0) or not 0 < sigma <= 1:
        raise ParameterError(
            f"epsilon must be above 0 and sigma above 0 and at most 1; given were {epsilon} and {sigma}."
        )
    if max_size is not None and max_size < 1:
        raise ParameterError(f"max_size is the number of attributes in a set, at least 1, not {max_size}.")
    if unreliable not in UNRELIABLE or solver not in ("fixed-point", "newton"):
        raise ParameterError(
            "unreliable is 'overall', 'uniform' or 'group', and solver 'fixed-point' or 'newton'; "
            f"given were {unreliable!r} and {solver!r}."
        )
    if draws < 0:
        raise ParameterError(f"draws is how often the secret is shuffled for the control, at least 0, not {draws}.")
    if draws == 0 and epsilon is None:
        raise ParameterError(
            "Without a control no epsilon can be chosen by what lies above it; give epsilon, or draws of at least 1."
        )
    if seed < 0:
        raise ParameterError(f"The seed must be at least 0, not {seed}.")
