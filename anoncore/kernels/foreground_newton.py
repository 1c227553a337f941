"""Newton's step towards shares that reproduce themselves, from a few probes of one step of expectation-maximization.

Near its limit expectation-maximization may need thousands of steps, each a little shorter than the one before. Newton's
step goes there at once. It solves slope d = change, where `change` is what a plain step adds to the shares, and slope
is the identity minus the derivatives of that step. The derivatives are differences: the plain step is taken once more
for every share, with this share moved a little.

- `now` float (u + 1,): the shares f of u unknowns, and the fixed one. `stepped` of the same shape: after a plain step.
- `people` float (u,): the rows that each of the u shares is about.
- `jump`, `landed` float (u,): where a jump leads, and the shares after the plain step from there.
- `slope` float (u, u). Rows and columns of shares that have arrived at 0 or 1 are not used.
"""

from __future__ import annotations

import numpy as np

from anoncore.kernels.arrays import Bools, Floats
from anoncore.kernels.compiler import inner_kernel

EDGE = 1e-12
"""A share nearer than this to 0 or 1 has arrived there, and is left to plain steps."""
PROBE = 1e-7
"""How far a share is moved to see what that changes, as a part of f (1 - f): the root of 1e-14, as far as rounding may
change a sum over many groups. A shorter way would show more of the rounding, a longer one more of the bend."""
ROUNDING = 1e-14
FITTING = 0.1
"""Largest difference between the plain step after a jump and the predicted one, as a share of the plain step before."""
KEPT = 0.1
"""Part of the way to 0 or 1 that is left at least: at the ends every share would reproduce itself."""


@inner_kernel
def is_inside(share: float) -> bool:
    """Whether a share has not arrived at 0 or 1."""
    return share * (1.0 - share) > EDGE


@inner_kernel
def _leaves(now: float, stepped: float) -> bool:
    """Whether a share has only passed by 0 or 1, and leaves again: what it does to the others is still to come."""
    step = stepped - now
    return (now < 0.5 and step > ROUNDING * now) or (now > 0.5 and step < -ROUNDING)


@inner_kernel
def probed(share: float) -> float:
    """The share moved a little."""
    return share + PROBE * share * (1.0 - share)


@inner_kernel
def take_probe(now: Floats, stepped: Floats, moved: int, stepped_from_there: Floats, slope: Floats) -> None:
    """Write the column of `slope` for the share `moved`, from the plain steps without and with it moved."""
    width = probed(now[moved]) - now[moved]
    for i in range(len(slope)):
        slope[i, moved] = 0.0
        if is_inside(now[i]):
            slope[i, moved] = (stepped[i] - stepped_from_there[i]) / width
    slope[moved, moved] += 1.0


@inner_kernel
def newton_step(now: Floats, stepped: Floats, slope: Floats, people: Floats, step: Floats, predicted: Floats) -> bool:
    """Write Newton's step, and what a plain step should add after it; False where it may lead to another limit.

    The step is one only where plain steps shrink in all directions, else it could lead to a saddle, or away from where
    plain steps lead. No share goes more than nine tenths of its way to 0 or 1; the step of the others is the best there
    is with these as they are. Shares that have arrived at 0 or 1 take the plain step.
    """
    u = len(people)
    # The derivative of the likelihood by a share is people * (stepped - now) / (f (1 - f)). Its own derivatives are
    # symmetric, so the difference is taken that shows less of the rounding: that by the share of which there is more.
    # All is scaled to be of one size.
    scale, bend, factor = np.empty(u), np.zeros((u, u)), np.zeros((u, u))
    pull, is_free = np.zeros(u), np.zeros(u, np.bool_)
    for i in range(u):
        scale[i], bend[i, i] = 1.0, 1.0
        step[i] = stepped[i] - now[i]
        is_free[i] = is_inside(now[i])
        if is_free[i]:
            scale[i] = np.sqrt(people[i] / (now[i] * (1.0 - now[i])))
            pull[i] = scale[i] * step[i]
        elif _leaves(now[i], stepped[i]):
            return False
    for i in range(u):
        for j in range(i + 1):
            if is_free[i] and is_free[j]:
                more, less = i, j
                if people[i] / scale[i] < people[j] / scale[j]:
                    more, less = j, i
                bend[i, j] = scale[less] * slope[less, more] / scale[more]
                bend[j, i] = bend[i, j]
    if not _factorized(bend, is_free, factor):
        return False
    # That was whether plain steps shrink; with this it is how the likelihood bends by the shares.
    for i in range(u):
        if is_free[i]:
            bend[i, i] += step[i] * (1.0 - 2.0 * now[i]) / (now[i] * (1.0 - now[i]))
    n_held = 1
    while n_held > 0:
        if not _factorized(bend, is_free, factor):
            return False
        _solve(factor, is_free, pull, step)
        n_held = 0
        for i in range(u):
            low, high = (KEPT - 1.0) * now[i], (1.0 - KEPT) * (1.0 - now[i])
            if is_free[i]:
                step[i] /= scale[i]
                if not low <= step[i] <= high:
                    step[i] = min(max(step[i], low), high)
                    is_free[i] = False
                    n_held += 1
                    for k in range(u):
                        pull[k] -= bend[k, i] * scale[i] * step[i]
    for i in range(u):
        predicted[i] = 0.0
        if is_inside(now[i]):
            left = pull[i]
            for j in range(u):
                if is_free[j]:
                    left -= bend[i, j] * scale[j] * step[j]
            landed = now[i] + step[i]
            predicted[i] = left * scale[i] * landed * (1.0 - landed) / people[i]
    return True


@inner_kernel
def _factorized(bend: Floats, is_free: Bools, factor: Floats) -> bool:
    """Write Cholesky's decomposition of the free rows and columns; False if they are not positive definite."""
    for i in range(len(bend)):
        for j in range(i + 1):
            factor[i, j] = 0.0
            if not (is_free[i] and is_free[j]):
                continue
            rest = bend[i, j]
            for k in range(j):
                rest -= factor[i, k] * factor[j, k]
            if i > j:
                factor[i, j] = rest / factor[j, j]
            elif rest > 0.0:
                factor[i, i] = np.sqrt(rest)
            else:
                return False
    return True


@inner_kernel
def _solve(factor: Floats, is_free: Bools, pull: Floats, solution: Floats) -> None:
    """Write the solution of the free rows and columns; the entries of all others stay."""
    u = len(pull)
    for i in range(u):
        if is_free[i]:
            solution[i] = pull[i]
            for k in range(i):
                if is_free[k]:
                    solution[i] -= factor[i, k] * solution[k]
            solution[i] /= factor[i, i]
    for i in range(u - 1, -1, -1):
        if is_free[i]:
            for k in range(i + 1, u):
                if is_free[k]:
                    solution[i] -= factor[k, i] * solution[k]
            solution[i] /= factor[i, i]


@inner_kernel
def is_as_predicted(plain: Floats, jump: Floats, landed: Floats, predicted: Floats, part: float) -> bool:
    """Whether the plain step after that part of a jump is about the predicted one, of shares that had not arrived.

    `plain` float (2, u): the shares before and after the plain step from where the jump begins. Steps are compared as
    shares, which say what is nearly reached, and as log-odds, which say how people of rare values compare.
    """
    surprise, change, log_surprise, log_change = 0.0, 0.0, 0.0, 0.0
    for i in range(len(predicted)):
        if is_inside(plain[0, i]):
            plainly = plain[1, i] - plain[0, i]
            wrong = abs(landed[i] - jump[i] - (1.0 - part) * plainly - part * predicted[i])
            surprise, change = max(surprise, wrong), max(change, abs(plainly))
            log_surprise = max(log_surprise, wrong / (jump[i] * (1.0 - jump[i])))
            log_change = max(log_change, abs(plainly) / (plain[0, i] * (1.0 - plain[0, i])))
    return surprise <= FITTING * change and log_surprise <= FITTING * log_change
