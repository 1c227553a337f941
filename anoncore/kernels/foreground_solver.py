"""The shares p(s:x) that reproduce themselves: accelerated expectation-maximization, and its Jacobian.

p(s:x) is the probability that a person of signature s has the value x. Given the shares, the groups tell how many
people of each signature are expected to have x; divided by the people of the signature, these are new shares. The
adversary looks for shares that this step does not change.

- `f` float (m + 1,): the shares of the m signatures that are solved for, then one for the people of all others.
- `rows` float (m,): number of people of each signature.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.foreground_worlds import expected_counts


class Cases(NamedTuple):
    """Groups that look alike to the adversary, once each, so that work is done once for all of them.

    Composition c holds `counts[e]` rows of signature `classes[e]` for the entries e in start[c]:start[c + 1]; a class
    of m or more is a signature that is not solved for. Case i stands for `groups[i]` groups of composition
    `composition[i]` in which `n[i]` rows have x.
    """

    start: Int64
    classes: Int32
    counts: Int64
    composition: Int64
    n: Int64
    groups: Int64


@inner_kernel
def _step(cases: Cases, f: Floats, rows: Floats, updated: Floats) -> None:
    """One step of expectation-maximization: write the expected rows with x of each signature / its rows."""
    m = rows.shape[0]
    for i in range(m):
        updated[i] = 0.0
    for case in range(cases.n.shape[0]):
        begin, end = cases.start[cases.composition[case]], cases.start[cases.composition[case] + 1]
        expected = np.empty(end - begin)
        classes, counts = cases.classes[begin:end], cases.counts[begin:end]
        expected_counts(f, classes, counts, cases.n[case], -1, expected)
        for e in range(end - begin):
            if classes[e] < m:
                updated[classes[e]] += cases.groups[case] * expected[e]
    for i in range(m):
        updated[i] /= rows[i]


@kernel
def expectation_step(cases: Cases, f: Floats, rows: Floats) -> Floats:
    """Updated shares of the solved signatures, float (m,)."""
    updated = np.empty(rows.shape[0])
    _step(cases, f, rows, updated)
    return updated


@kernel
def fixed_point(cases: Cases, f: Floats, rows: Floats, tolerance: float, limit: int) -> tuple[Floats, int, float]:
    """Iterate to the fixed point from `f`; returns the shares (m + 1,), steps taken and the last change.

    Stops once no share changes by more than `tolerance` in a step, or after about `limit` steps. Expectation-
    maximization with squared extrapolation (SQUAREM, scheme S3, Varadhan and Roland, Scand. J. Stat. 2008): two steps
    show the direction and how it bends, and the next point is where they seem to lead. A coordinate that would leave
    (0, 1) keeps its second step, and a point that moves more in its next step than the last one did is not used.
    """
    m = rows.shape[0]
    now, first, second = f.copy(), f.copy(), f.copy()
    jump, landed = f.copy(), f.copy()
    steps = 0
    change = np.inf
    while steps < limit:
        _step(cases, now, rows, first[:m])
        steps += 1
        change = _distance(first, now)
        if change <= tolerance:
            return first, steps, change
        _step(cases, first, rows, second[:m])
        steps += 1
        squared, bend = 0.0, 0.0
        for i in range(m):
            r = first[i] - now[i]
            v = second[i] - first[i] - r
            squared += r * r
            bend += v * v
        stretch = np.sqrt(squared / bend) if bend > 0.0 else 1.0
        if stretch <= 1.0:
            _copy(second, now)
            continue
        for i in range(m):
            r = first[i] - now[i]
            v = second[i] - first[i] - r
            jump[i] = now[i] + 2 * stretch * r + stretch * stretch * v
            if not 0.0 < jump[i] < 1.0:
                jump[i] = second[i]
        _step(cases, jump, rows, landed[:m])
        steps += 1
        _copy(landed if _distance(landed, jump) <= change else second, now)
    return now, steps, change


@inner_kernel
def _copy(source: Floats, target: Floats) -> None:
    """Copy all entries."""
    # A loop, because the checks of a slice assignment take seconds to compile.
    for i in range(source.shape[0]):
        target[i] = source[i]


@inner_kernel
def _distance(a: Floats, b: Floats) -> float:
    """Largest difference of two entries."""
    largest = 0.0
    for i in range(a.shape[0]):
        largest = max(largest, abs(a[i] - b[i]))
    return largest


@kernel
def step_jacobian(cases: Cases, f: Floats, rows: Floats) -> Floats:
    """Derivatives of the updated shares by the shares, (m, m); needs shares inside (0, 1).

    The derivative of an expected count by another signature's log-odds is the covariance of the two counts given the
    group's number of x, and d log-odds / d f = 1 / (f (1 - f)).
    """
    m = rows.shape[0]
    jacobian = np.zeros((m, m))
    for case in range(cases.n.shape[0]):
        begin, end = cases.start[cases.composition[case]], cases.start[cases.composition[case] + 1]
        classes, counts = cases.classes[begin:end], cases.counts[begin:end]
        mean, joint = np.empty(end - begin), np.empty(end - begin)
        if not expected_counts(f, classes, counts, cases.n[case], -1, mean):
            continue
        for e in range(end - begin):
            if classes[e] >= m or mean[e] <= 0.0:
                continue
            expected_counts(f, classes, counts, cases.n[case], e, joint)
            for other in range(end - begin):
                if classes[other] < m:
                    covariance = mean[e] * (joint[other] - mean[other])
                    jacobian[classes[other], classes[e]] += cases.groups[case] * covariance
    for i in range(m):
        for j in range(m):
            jacobian[i, j] /= rows[i] * f[j] * (1.0 - f[j])
    return jacobian
