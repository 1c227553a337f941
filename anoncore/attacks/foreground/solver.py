"""Learning p(s:x) from the groups of a release: the shares that reproduce themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from anoncore.attacks.foreground.sets import Signatures
from anoncore.base.errors import ParameterError
from anoncore.kernels.arrays import Floats, Int64
from anoncore.kernels.foreground_groups import compositions
from anoncore.kernels.foreground_solver import Cases, expectation_step, fixed_point, step_jacobian
from anoncore.release.partition import Partition

Solver = Literal["fixed-point", "newton"]

TOLERANCE = 1e-12
"""Largest change of a share in one more step of expectation-maximization at which the solution counts as reached."""
MOST_STEPS = 100_000
WARM_UP = 30
"""Steps of expectation-maximization before Newton's method, which then starts near the likelier solution."""
EDGE = 1e-6
"""A share nearer than this to 0 or 1 counts as 0 or 1 when a solution is judged."""
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

    `fixed-point`: accelerated expectation-maximization. `newton`: Newton's method with halved steps that keeps inside
    (0, 1). Raises ParameterError for Newton's method with more than 3,000 signatures.
    """
    weights = rows.astype(np.float64)
    first = np.append(np.full(len(rows), start), fixed)
    if len(cases.n) == 0:
        return Solution(np.append(np.zeros(len(rows)), fixed), 0, True)
    if solver == "newton":
        return _newton(cases, weights, first)
    shares, steps, change = fixed_point(cases, first, weights, TOLERANCE, MOST_STEPS)
    return Solution(shares, int(steps), bool(change <= TOLERANCE))


def _newton(cases: Cases, rows: Floats, first: Floats) -> Solution:
    m = len(rows)
    if m > MOST_UNKNOWNS:
        raise ParameterError(
            f"Newton's method would solve for {m:,} signatures at once, more than {MOST_UNKNOWNS:,}; choose the solver "
            "'fixed-point', or a smaller epsilon, which leaves fewer signatures."
        )
    shares, warm_up = first.copy(), WARM_UP
    steps = 0
    for _ in range(8):
        for _ in range(warm_up):
            shares[:m] = expectation_step(cases, shares, rows)
            steps += 1
        shares, used, converged = _newton_steps(cases, rows, shares)
        steps += used
        if not converged or _is_stable(cases, rows, shares):
            return Solution(shares, steps, converged)
        # A saddle was reached: begin again, nearer to the maximum.
        shares, warm_up = first.copy(), warm_up * 4
    return Solution(shares, steps, False)


def _newton_steps(cases: Cases, rows: Floats, shares: Floats) -> tuple[Floats, int, bool]:
    m = len(rows)
    residual = expectation_step(cases, shares, rows) - shares[:m]
    for step in range(200):
        if np.abs(residual).max() <= TOLERANCE:
            return shares, step, True
        inside = np.flatnonzero((shares[:m] > 0) & (shares[:m] < 1))
        slope = np.eye(len(inside)) - step_jacobian(cases, shares, rows)[np.ix_(inside, inside)]
        direction = np.linalg.lstsq(slope, residual[inside], rcond=1e-13)[0]
        current = np.abs(residual).max()
        for halving in range(30):
            trial = shares.copy()
            trial[inside] = _kept_inside(shares[inside], direction / 2**halving)
            change = expectation_step(cases, trial, rows) - trial[:m]
            if np.abs(change).max() < current:
                shares, residual = trial, change
                break
        else:
            # No fraction of the step helps: expectation-maximization never makes the shares less likely.
            shares = np.append(shares[:m] + residual, shares[m])
            residual = expectation_step(cases, shares, rows) - shares[:m]
    return shares, 200, bool(np.abs(residual).max() <= TOLERANCE)


def _kept_inside(shares: Floats, direction: Floats) -> Floats:
    """Make a step go at most nine tenths of the way to 0 or 1: at the ends every share would solve its equation."""
    moved: Floats = np.clip(shares + direction, shares / 10, 1 - (1 - shares) / 10)
    return moved


def _is_stable(cases: Cases, rows: Floats, shares: Floats) -> bool:
    """Whether expectation-maximization returns here from nearby: a saddle solves the equations but is no maximum."""
    now = shares[: len(rows)]
    after = expectation_step(cases, shares, rows)
    leaves_zero = (now < EDGE) & (after > now * (1 + EDGE) + 1e-300)
    leaves_one = (now > 1 - EDGE) & (1 - after > (1 - now) * (1 + EDGE) + 1e-15)
    if (leaves_zero | leaves_one).any():
        return False
    inside = np.flatnonzero((now >= EDGE) & (now <= 1 - EDGE))
    if len(inside) == 0:
        return True
    slope = step_jacobian(cases, shares, rows)[np.ix_(inside, inside)]
    return bool(np.abs(np.linalg.eigvals(slope)).max() <= 1 + EDGE)
