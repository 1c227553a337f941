"""Learning p(s:x) from the groups of a release: the shares that reproduce themselves.

There may be several such shares. What is meant is the limit of plain expectation-maximization from the overall share,
which every solver here reaches: an adversary who starts from what is published of everybody, and learns step by step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from anoncore.attacks.foreground.sets import Signatures
from anoncore.base.errors import ParameterError
from anoncore.kernels.arrays import Floats, Int64
from anoncore.kernels.foreground_groups import compositions
from anoncore.kernels.foreground_solver import (
    Cases,
    expectation_step,
    fixed_point,
    log_likelihood,
    signature_keys,
    step_jacobian,
)
from anoncore.release.partition import Partition

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


@dataclass(frozen=True, eq=False)
class Solution:
    """Shares of the signatures, float (m + 1,): the last is the fixed one of all other rows."""

    shares: Floats
    steps: int
    converged: bool


@dataclass(frozen=True, eq=False)
class ValueGroups:
    """The groups that hold a value x, and how many of their rows have it."""

    groups: Int64
    n: Int64


@dataclass(frozen=True, eq=False)
class SetGroups:
    """The groups of a release as one attribute set sees them.

    Groups with the same numbers of people of each signature have one composition, int64 (n_groups,). Its entries are
    `classes` and `counts` from `start[c]` to `start[c + 1]`; `entry_of_row` int32 (n_rows,) is the entry of each row.
    """

    signatures: Signatures
    composition: Int64
    entry_of_row: npt.NDArray[np.int32]
    start: Int64
    classes: npt.NDArray[np.int32]
    counts: Int64

    @classmethod
    def of(cls, signatures: Signatures, partition: Partition) -> SetGroups:
        """Find the compositions of the partition's groups."""
        layout = compositions(partition.order, partition.starts, signatures.classes, len(signatures) + 1)
        return cls(signatures, *layout)

    def cases(self, held: ValueGroups) -> tuple[Cases, Int64]:
        """The different compositions with numbers of rows with x, of the groups that hold x, and the case of each."""
        width = int(held.n.max(initial=0)) + 1
        key = self.composition[held.groups] * width + held.n
        unique, case, count = np.unique(key, return_inverse=True, return_counts=True)
        composition, n = np.divmod(unique, width)
        return Cases(self.start, self.classes, self.counts, composition, n, count), case


def solve(cases: Cases, rows: Int64, start: float, fixed: float, solver: Solver) -> Solution:
    """The shares of the m signatures with `rows` rows each, from all equal to `start`; `fixed`: that of other rows.

    Both solvers give the limit of plain expectation-maximization. `fixed-point` jumps ahead along its path; `newton`
    takes Newton steps as soon as they lead to the maximum of the likelihood that the path is near. Raises
    ParameterError for Newton's method with more than 3,000 signatures.
    """
    if len(cases.n) == 0:
        return Solution(np.append(np.zeros(len(rows)), fixed), 0, True)
    alike = _alike(cases, rows)
    weights = np.bincount(alike, weights=rows).astype(np.float64)
    joined = cases._replace(classes=np.append(alike, len(weights)).astype(np.int32)[cases.classes])
    first = np.append(np.full(len(weights), start), fixed)
    if solver == "newton":
        found = _newton(joined, weights, first)
    else:
        shares, steps, change = fixed_point(joined, first, weights, TOLERANCE, MOST_STEPS)
        found = Solution(shares, int(steps), bool(change <= TOLERANCE))
    return Solution(np.append(found.shares[alike], fixed), found.steps, found.converged)


def _alike(cases: Cases, rows: Int64) -> Int64:
    """Number the signatures, int64 (m,), so that those have one number whose shares stay equal from equal shares on.

    Solved as one unknown, they stay equal in floating point too. Otherwise rounding would decide which of them has the
    value where nothing in the release does: their equal shares may be a saddle, from which every error grows.
    """
    m = len(rows)
    alike = np.zeros(m, dtype=np.int64)
    n_alike = 1
    inverses = [np.array([pow(int(n), -1, prime) for n in rows], dtype=np.int64) for prime in PRIMES]
    while n_alike < m:
        colour = np.append(alike, n_alike)
        keys = [signature_keys(cases, colour, prime, inverse) for prime, inverse in zip(PRIMES, inverses, strict=True)]
        # Whoever was told apart before still is: the number so far comes first.
        finer = np.unique(np.column_stack([alike, *keys]), axis=0, return_inverse=True)[1].ravel()
        n_finer = int(finer.max()) + 1
        if n_finer == n_alike:
            break
        alike, n_alike = finer, n_finer
    return alike


def _newton(cases: Cases, rows: Floats, first: Floats) -> Solution:
    """Plain steps, and Newton steps in between where these lead to the maximum of the likelihood nearby."""
    m = len(rows)
    if m > MOST_UNKNOWNS:
        raise ParameterError(
            f"Newton's method would solve for {m:,} signatures at once, more than {MOST_UNKNOWNS:,}; choose the solver "
            "'fixed-point', or a smaller epsilon, which leaves fewer signatures."
        )
    shares = first
    steps, next_try, pause = 0, WARM_UP, 1
    while steps < MOST_STEPS:
        change = expectation_step(cases, shares, rows) - shares[:m]
        steps += 1
        if np.abs(change).max() <= TOLERANCE:
            return Solution(np.append(shares[:m] + change, shares[m]), steps, True)
        jump = _newton_step(cases, rows, shares, change) if steps >= next_try else None
        if jump is not None:
            shares, pause = jump, 1
            continue
        if steps >= next_try:
            # Each try costs a system of equations; the longer none succeeds, the rarer they become.
            next_try, pause = steps + pause, 2 * pause
        shares = np.append(shares[:m] + change, shares[m])
    return Solution(shares, steps, False)


def _newton_step(cases: Cases, rows: Floats, shares: Floats, change: Floats) -> Floats | None:
    """Newton's step from `shares`, and a plain one after it; None where it might lead away from the limit.

    `change` (m,): what a plain step adds. The step is taken only where the likelihood bends down in all directions, so
    that it leads to a maximum and not to a saddle; where the plain step after it changes what Newton's equations
    predict; and where the likelihood does not fall.
    """
    m = len(rows)
    spread = shares[:m] * (1 - shares[:m])
    inside = np.flatnonzero(spread > EDGE)
    if len(inside) == 0:
        return None
    slope = np.eye(len(inside)) - step_jacobian(cases, shares, rows)[np.ix_(inside, inside)]
    # Rows * slope * spread is minus the second derivative of the likelihood by the log-odds; scaled to be symmetric.
    scale = np.sqrt(rows[inside] / spread[inside])
    bend = scale[:, None] * slope / scale
    try:
        factor = np.linalg.cholesky((bend + bend.T) / 2)
    except np.linalg.LinAlgError:
        return None
    direction = np.linalg.solve(factor.T, np.linalg.solve(factor, scale * change[inside])) / scale
    step = _kept_inside(shares[inside], direction) - shares[inside]
    jump = np.append(shares[:m] + change, shares[m])
    jump[inside] = shares[inside] + step
    after = expectation_step(cases, jump, rows) - jump[:m]
    predicted = change[inside] - slope @ step
    if not np.abs(after[inside] - predicted).max() <= FITTING * np.abs(change).max():
        return None
    landed = np.append(jump[:m] + after, shares[m])
    before = log_likelihood(cases, shares, rows)
    return landed if log_likelihood(cases, landed, rows) >= before - ROUNDING * abs(before) else None


def _kept_inside(shares: Floats, direction: Floats) -> Floats:
    """Make a step go at most nine tenths of the way to 0 or 1: at the ends every share would solve its equation."""
    moved: Floats = np.clip(shares + direction, shares / 10, 1 - (1 - shares) / 10)
    return moved
