"""Learning p(s:x) from the groups of a release: the shares that reproduce themselves.

There may be several such shares. What is meant is the limit of plain expectation-maximization from the overall share,
which every solver here reaches: an adversary who starts from what is published of everybody, and learns step by step.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Literal

import numpy as np

from anoncore.base.errors import ParameterError
from anoncore.kernels.arrays import Floats, Int64
from anoncore.kernels.foreground_cases import Cases, Occurrences
from anoncore.kernels.foreground_solver import (
    Unknowns,
    expectation_step,
    fixed_points,
    signature_keys,
    step_jacobian,
)

Solver = Literal["fixed-point", "newton"]

TOLERANCE = 1e-12
"""Largest change of a share in one more step of expectation-maximization at which the solution counts as reached."""
MOST_STEPS = 100_000
WARM_UP = 30
"""Steps of expectation-maximization before Newton's method, which then starts near their limit."""
EDGE = 1e-12
"""A share nearer than this to 0 or 1 has arrived there, and Newton's method leaves it to plain steps."""
FITTING = 0.1
"""Largest difference between the change after a Newton step and the predicted one, as a share of the change before."""
ROUNDING = 1e-13
"""How much the likelihood may fall by rounding, as a share of its logarithm."""
PRIMES = (2_147_483_647, 2_147_483_629)
"""Two hashes modulo primes: that they agree by chance for two signatures is a matter of 1 in 4e18."""
MOST_UNKNOWNS = 3_000
"""Signatures that Newton's method solves for at most: its system is dense. The fixed point has no such limit."""


@dataclass(frozen=True)
class Precision:
    """When the fixed point counts as reached: no share changes by more than the tolerance, or after so many steps."""

    tolerance: float = TOLERANCE
    most_steps: int = MOST_STEPS


FULL = Precision()


@dataclass(frozen=True, eq=False)
class Solution:
    """Shares of the signatures for every value, float (n_values, m + 1): the last is the fixed one of all other rows.

    `steps` counts those of all values, and `converged` says whether the tolerance was reached for each of them.
    """

    shares: Floats
    steps: int
    converged: bool


def solve(
    cases: Cases,
    held: Occurrences,
    rows: Int64,
    start: Floats,
    fixed: Floats,
    solver: Solver,
    precision: Precision = FULL,
) -> Solution:
    """The shares of the m signatures with `rows` rows each, from all equal to `start`; `fixed`: that of other rows.

    `start` and `fixed` float (n_values,). Both solvers give the limit of plain expectation-maximization. `fixed-point`
    jumps ahead along its path, with this precision; `newton` takes Newton steps as soon as they lead to the maximum of
    the likelihood that the path is near. Raises ParameterError for Newton's method with more than 3,000 signatures.
    """
    n_values, m = len(start), len(rows)
    shares = np.zeros((n_values, m + 1))
    shares[:, m] = fixed
    values = np.flatnonzero(start > 0)
    if solver == "newton":
        found = [_newton(cases, _unknowns(cases, held, rows, int(x)), start[x], fixed[x]) for x in values]
        for x, (solution, _, _) in zip(values, found, strict=True):
            shares[x] = solution
        return Solution(shares, sum(steps for _, steps, _ in found), all(converged for _, _, converged in found))
    # Which signatures are alike is found out only where the first step leaves it open, which it rarely does.
    unknown = np.full((len(values), m), -1, dtype=np.int64)
    shares[values], steps, change = _followed(cases, held, rows, values, unknown, start, fixed, precision)
    left = np.flatnonzero(steps < 0)
    if len(left) > 0:
        alike = np.array([_unknowns(cases, held, rows, int(x)).alike[:-1] for x in values[left]])
        shares[values[left]], steps[left], change[left] = _followed(
            cases, held, rows, values[left], alike, start, fixed, precision
        )
    return Solution(shares, int(steps.sum()), bool((change <= precision.tolerance).all()))


def _followed(
    cases: Cases,
    held: Occurrences,
    rows: Int64,
    values: Int64,
    alike: Int64,
    start: Floats,
    fixed: Floats,
    precision: Precision,
) -> tuple[Floats, Int64, Floats]:
    """The limit of expectation-maximization for some values, the steps that it took, and the last change."""
    shares, steps, change = fixed_points(cases, held, rows, values, alike, start, fixed, *astuple(precision))
    return shares, steps, change


def _unknowns(cases: Cases, held: Occurrences, rows: Int64, value: int) -> Unknowns:
    """What is solved for one value, with signatures that nothing tells apart as one unknown.

    Solved as one unknown, they stay equal in floating point too. Otherwise rounding would decide which of them has the
    value where nothing in the release does: their equal shares may be a saddle, from which every error grows.
    """
    m = len(rows)
    own = slice(held.value_start[value], held.value_start[value + 1])
    alike, n_alike = np.zeros(m, dtype=np.int64), 1
    unknowns = Unknowns(held.case[own], held.groups[own], held.certain[value], alike, np.ones(1))
    inverses = [np.array([pow(int(n), -1, prime) for n in rows], dtype=np.int64) for prime in PRIMES]
    while n_alike < m:
        colour = np.append(alike, n_alike)
        keys = [
            signature_keys(cases, unknowns, colour, prime, inverse)
            for prime, inverse in zip(PRIMES, inverses, strict=True)
        ]
        # Whoever was told apart before still is: the number so far comes first.
        finer = np.unique(np.column_stack([alike, *keys]), axis=0, return_inverse=True)[1].ravel()
        n_finer = int(finer.max()) + 1
        if n_finer == n_alike:
            break
        alike, n_alike = finer, n_finer
    return unknowns._replace(
        alike=np.append(alike, n_alike), people=np.bincount(alike, weights=rows).astype(np.float64)
    )


def _newton(cases: Cases, unknowns: Unknowns, start: float, fixed: float) -> tuple[Floats, int, bool]:
    """Plain steps, and Newton steps in between where these lead to the maximum of the likelihood nearby.

    Gives the shares of the signatures, float (m + 1,), the steps, and whether the tolerance was reached.
    """
    u = len(unknowns.people)
    if u > MOST_UNKNOWNS:
        raise ParameterError(
            f"Newton's method would solve for {u:,} signatures at once, more than {MOST_UNKNOWNS:,}; choose the solver "
            "'fixed-point', or a smaller epsilon, which leaves fewer signatures."
        )
    shares = np.append(np.full(u, start), fixed)
    steps, next_try, pause, converged = 0, WARM_UP, 1, False
    while steps < MOST_STEPS and not converged:
        updated, likelihood = expectation_step(cases, unknowns, shares)
        change = updated - shares[:u]
        steps += 1
        converged = bool(np.abs(change).max() <= TOLERANCE)
        tries = steps >= next_try and not converged
        jump = _newton_step(cases, unknowns, shares, change, likelihood) if tries else None
        if jump is not None:
            shares, pause = jump, 1
            continue
        if tries:
            # Each try costs a system of equations; the longer none succeeds, the rarer they become.
            next_try, pause = steps + pause, 2 * pause
        shares = np.append(shares[:u] + change, fixed)
    return shares[unknowns.alike], steps, converged


def _newton_step(cases: Cases, unknowns: Unknowns, shares: Floats, change: Floats, likelihood: float) -> Floats | None:
    """Newton's step from `shares`, and a plain one after it; None where it might lead away from the limit.

    `change` (u,): what a plain step adds; `likelihood`: the logarithm of that of `shares`. The step is taken only where
    the likelihood bends down in all directions, so that it leads to a maximum and not to a saddle; where the plain step
    after it changes what Newton's equations predict; and where the likelihood does not fall.
    """
    u = len(unknowns.people)
    spread = shares[:u] * (1 - shares[:u])
    inside = np.flatnonzero(spread > EDGE)
    # A share that has only passed by 0 or 1 and leaves again: what it does to the others is still to come.
    leaves = (spread <= EDGE) & np.where(shares[:u] < 0.5, change > ROUNDING * shares[:u], change < -ROUNDING)
    if len(inside) == 0 or leaves.any():
        return None
    slope = np.eye(len(inside)) - step_jacobian(cases, unknowns, shares)[np.ix_(inside, inside)]
    # Rows * slope * spread is minus the second derivative of the likelihood by the log-odds; scaled to be symmetric.
    scale = np.sqrt(unknowns.people[inside] / spread[inside])
    bend = scale[:, None] * slope / scale
    try:
        factor = np.linalg.cholesky((bend + bend.T) / 2)
    except np.linalg.LinAlgError:
        return None
    direction = np.linalg.solve(factor.T, np.linalg.solve(factor, scale * change[inside])) / scale
    step = _kept_inside(shares[inside], direction) - shares[inside]
    jump = np.append(shares[:u] + change, shares[u])
    jump[inside] = shares[inside] + step
    landed = np.append(expectation_step(cases, unknowns, jump)[0], shares[u])
    after = landed[:u] - jump[:u]
    predicted = change[inside] - slope @ step
    if not np.abs(after[inside] - predicted).max() <= FITTING * np.abs(change).max():
        return None
    landed_likelihood = expectation_step(cases, unknowns, landed)[1]
    return landed if landed_likelihood >= likelihood - ROUNDING * abs(likelihood) else None


def _kept_inside(shares: Floats, direction: Floats) -> Floats:
    """Make a step go at most nine tenths of the way to 0 or 1: at the ends every share would solve its equation."""
    moved: Floats = np.clip(shares + direction, shares / 10, 1 - (1 - shares) / 10)
    return moved
