"""Learning p(s:x) from the groups of a release: the shares that reproduce themselves.

There may be several such shares. What is meant is the limit of plain expectation-maximization from the overall share,
which every solver here reaches: an adversary who starts from what is published of everybody, and learns step by step.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from anoncore.base.errors import CancelledError, ParameterError
from anoncore.kernels.arrays import Floats, Int64, record
from anoncore.kernels.foreground_alike import alike_signatures, first_like
from anoncore.kernels.foreground_cases import Cases, Occurrences
from anoncore.kernels.foreground_shares import LearnedShares, positions
from anoncore.kernels.foreground_solver import Unknowns, expectation_step, fixed_points, step_jacobian

Solver = Literal["fixed-point", "newton"]

TOLERANCE = 1e-12
"""Largest change of a share in one more step of expectation-maximization at which the solution counts as reached."""
OF_SQUARE = 0.1
"""Largest tolerance, as a part of the square of the overall share of the value.

Where one person of n has a value, the people of the rarer signature in their group end up with it. Two signatures may
differ by one row only; then a step moves their shares by about the square of 1 / n, and it takes hundreds of steps.
"""
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
    """When the fixed point counts as reached: no share changes by more than the tolerance, or after so many steps.

    Shares of a rare value may all be smaller than the tolerance, so theirs is smaller: see `of_values`.
    """

    tolerance: float = TOLERANCE
    most_steps: int = MOST_STEPS

    def of_values(self, shares: Floats) -> Floats:
        """The tolerance for each of some values, by their overall shares."""
        return np.minimum(self.tolerance, OF_SQUARE * shares**2)


FULL = Precision()
LONG = 200_000
"""Occurrences of cases from which on values are solved one after the other."""


@record
class Solution:
    """Shares of the signatures for every value.

    `steps` counts those of all values, and `converged` says whether the tolerance was reached for each of them.
    """

    shares: LearnedShares
    steps: int
    converged: bool


def stop_when(is_stopped: Callable[[], bool]) -> None:
    """Let what this thread works at end with a CancelledError between two steps once `is_stopped` says so.

    For the threads of a pool: of a large table one attribute set takes ten seconds, and nobody waits for it any more.
    """
    _thread.is_stopped = is_stopped


def check_wanted() -> None:
    """Raise CancelledError where this thread works for somebody who waits no more (`stop_when`)."""
    if hasattr(_thread, "is_stopped") and _thread.is_stopped():
        raise CancelledError("The attack was cancelled.")


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
    supports, like = held.supports, first_like(cases, held, rows, start, fixed)
    # Each problem is solved once, for the first value that poses it.
    values, times = np.unique(like[start > 0], return_counts=True)
    size = np.zeros(len(start), np.int64)
    size[values] = supports.size[values]
    at = np.cumsum(size) - size
    if solver == "newton":
        of_values = [_newton(cases, held, rows, int(x), start[x], fixed[x]) for x in values]
        found = (
            np.concatenate([_NO_SHARES, *(shares for shares, _, _ in of_values)]),
            np.array([steps for _, steps, _ in of_values]),
            np.array([change for _, _, change in of_values]),
        )
    else:
        found = _in_turn(cases, held, rows, values, start, fixed, precision)
    shares, steps, change = found
    left = np.flatnonzero(steps < 0)
    if len(left) > 0:
        # Which signatures are alike is found out only where the first step leaves it open.
        alike = _alike(cases, held, rows, values[left])
        of_left, steps[left], change[left] = _followed(cases, held, rows, values[left], alike, start, fixed, precision)
        shares[positions(at[values[left]], size[values[left]])] = of_left
    tolerance = TOLERANCE if solver == "newton" else precision.of_values(start[values])
    is_learned = start > 0
    learned = LearnedShares(
        m=len(rows),
        classes_at=supports.at,
        at=at[like],
        size=np.where(is_learned, supports.size, 0),
        classes=supports.classes,
        shares=shares,
        fixed=fixed,
        like=like,
    )
    return Solution(learned, int(steps @ times), bool((change <= tolerance).all()))


def _in_turn(
    cases: Cases, held: Occurrences, rows: Int64, values: Int64, start: Floats, fixed: Floats, precision: Precision
) -> tuple[Floats, Int64, Floats]:
    """What `_followed` gives for all values; where that takes long one after the other, so that it can be stopped."""
    parts = np.split(values, range(1, len(values))) if len(held.case) > LONG else [values]
    found = []
    for part in parts:
        check_wanted()
        found.append(_followed(cases, held, rows, part, (_NONE, _NONE), start, fixed, precision))
    shares, steps, change = (np.concatenate(one) for one in zip(*found, strict=True))
    return shares, steps, change


_thread = threading.local()
_NONE, _NO_SHARES = np.zeros(0, np.int64), np.zeros(0)


def _followed(
    cases: Cases,
    held: Occurrences,
    rows: Int64,
    values: Int64,
    alike: tuple[Int64, Int64],
    start: Floats,
    fixed: Floats,
    precision: Precision,
) -> tuple[Floats, Int64, Floats]:
    """The limit of expectation-maximization for some values, the steps that it took, and the last change."""
    shares, steps, change = fixed_points(
        cases, held, rows, values, *alike, start, fixed, precision.of_values(start), precision.most_steps
    )
    return shares, steps, change


def _alike(cases: Cases, held: Occurrences, rows: Int64, values: Int64) -> tuple[Int64, Int64]:
    """Signatures that nothing tells apart, see `alike_signatures`.

    Solved as one unknown, they stay equal in floating point too. Otherwise rounding would decide which of them has the
    value where nothing in the release does: their equal shares may be a saddle, from which every error grows.
    """
    people, place = np.unique(rows, return_inverse=True)
    inverses = np.array([[pow(int(n), -1, prime) for n in people] for prime in PRIMES], np.int64)
    begins, alike = alike_signatures(
        cases, held, len(rows), values, np.array(PRIMES), np.ascontiguousarray(inverses[:, place])
    )
    return begins, alike


def _unknowns(cases: Cases, held: Occurrences, rows: Int64, value: int) -> Unknowns:
    """What is solved for one value, with signatures that nothing tells apart as one unknown."""
    supports, alike = held.supports, _alike(cases, held, rows, np.array([value]))[1]
    own = slice(held.value_start[value], held.value_start[value + 1])
    support = slice(supports.at[value], supports.at[value] + supports.size[value])
    classes = supports.classes[support]
    people = np.bincount(alike[: len(classes)], weights=rows[classes], minlength=int(alike.max()) + 1).astype(
        np.float64
    )
    if len(classes) < len(rows):
        people[alike[-1]] += rows.sum() - rows[classes].sum()
    return Unknowns(held.case[own], held.groups[own], classes, supports.certain[support], alike[: len(classes)], people)


def _newton(
    cases: Cases, held: Occurrences, rows: Int64, value: int, start: float, fixed: float
) -> tuple[Floats, int, float]:
    """Plain steps, and Newton steps in between where these lead to the maximum of the likelihood nearby.

    Gives the shares of the signatures of the support, the steps, and the last change.
    """
    unknowns, m = _unknowns(cases, held, rows, value), len(rows)
    u = len(unknowns.people)
    if u > MOST_UNKNOWNS:
        raise ParameterError(
            f"Newton's method would solve for {u:,} signatures at once, more than {MOST_UNKNOWNS:,}; choose the solver "
            "'fixed-point', or a smaller epsilon, which leaves fewer signatures."
        )
    shares = np.append(np.full(u, start), fixed)
    steps, next_try, pause, largest = 0, WARM_UP, 1, np.inf
    while steps < MOST_STEPS and largest > TOLERANCE:
        updated, likelihood = expectation_step(cases, unknowns, m, shares)
        change = updated - shares[:u]
        steps += 1
        largest = float(np.abs(change).max())
        tries = steps >= next_try and largest > TOLERANCE
        jump = _newton_step(cases, unknowns, m, shares, change, likelihood) if tries else None
        if jump is not None:
            shares, pause = jump, 1
            continue
        if tries:
            # Each try costs a system of equations; the longer none succeeds, the rarer they become.
            next_try, pause = steps + pause, 2 * pause
        shares = np.append(shares[:u] + change, fixed)
    return shares[unknowns.alike], steps, largest


def _newton_step(
    cases: Cases, unknowns: Unknowns, m: int, shares: Floats, change: Floats, likelihood: float
) -> Floats | None:
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
    slope = np.eye(len(inside)) - step_jacobian(cases, unknowns, m, shares)[np.ix_(inside, inside)]
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
    landed = np.append(expectation_step(cases, unknowns, m, jump)[0], shares[u])
    after = landed[:u] - jump[:u]
    predicted = change[inside] - slope @ step
    if not np.abs(after[inside] - predicted).max() <= FITTING * np.abs(change).max():
        return None
    landed_likelihood = expectation_step(cases, unknowns, m, landed)[1]
    return landed if landed_likelihood >= likelihood - ROUNDING * abs(likelihood) else None


def _kept_inside(shares: Floats, direction: Floats) -> Floats:
    """Make a step go at most nine tenths of the way to 0 or 1: at the ends every share would solve its equation."""
    moved: Floats = np.clip(shares + direction, shares / 10, 1 - (1 - shares) / 10)
    return moved
