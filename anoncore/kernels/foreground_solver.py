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
from anoncore.kernels.foreground_worlds import expected_counts, log_weight

NOBODY = 1e-100
"""A share below this counts as 0."""
PLAIN_STEPS = 20
"""Steps of expectation-maximization before the first jump: the first ones bend most, and choose between solutions."""
SHORTEST = 2.0
"""Steps that the first jump takes at most, and those after a jump that was not kept."""
GROWTH = 2.0
WORTH_WHILE = 1.5
"""A jump over fewer steps gains nothing over the plain steps that test it."""
SHORTENING = 0.7
FARTHEST = 1.0
"""Largest change of any log-odds in a jump."""
STRAIGHT = 0.03
"""Largest difference between the step after a jump and the predicted one, as a share of the step before the jump."""
ROUNDING = 1e-15
LOG_ROUNDING = 1e-9
LIKELIHOOD_ROUNDING = 1e-13


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
        # Nobody has x, and the odds of numbers that are smaller still cannot be told from 0 / 0.
        if updated[i] < NOBODY:
            updated[i] = 0.0


@kernel
def signature_keys(cases: Cases, colour: Int64, prime: int, inverse: Int64) -> Int64:
    """What a step of expectation-maximization can see of each signature, int64 (m,): equal where steps keep it equal.

    `colour` int64 (m + 1,) tells signatures apart so far. A step sees the signature's people by case, as shares of all
    its people, and of a case the people of each colour and n. Both are sums of hashes, modulo `prime`; `inverse` int64
    (m,) has the inverse of each signature's number of people modulo the prime, for a product is a division by it.
    """
    keys = np.zeros(inverse.shape[0], np.int64)
    for case in range(cases.n.shape[0]):
        begin, end = cases.start[cases.composition[case]], cases.start[cases.composition[case] + 1]
        people = np.uint64(0)
        for e in range(begin, end):
            people += np.uint64(cases.counts[e]) * _mixed(np.uint64(colour[cases.classes[e]]) + np.uint64(prime))
        seen = np.int64(_mixed(people ^ _mixed(np.uint64(cases.n[case]))) % np.uint64(prime))
        for e in range(begin, end):
            signature = cases.classes[e]
            if signature < keys.shape[0]:
                people_here = (cases.groups[case] * cases.counts[e]) % prime
                keys[signature] = (keys[signature] + people_here * seen) % prime
    for i in range(keys.shape[0]):
        keys[i] = keys[i] * inverse[i] % prime
    return keys


@inner_kernel
def _mixed(key: np.uint64) -> np.uint64:
    """A hash of 64 bits (splitmix64): every bit of the key changes half of its bits."""
    key = (key + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(29))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(32))


@kernel
def expectation_step(cases: Cases, f: Floats, rows: Floats) -> Floats:
    """Updated shares of the solved signatures, float (m,)."""
    updated = np.empty(rows.shape[0])
    _step(cases, f, rows, updated)
    return updated


@kernel
def log_likelihood(cases: Cases, f: Floats, rows: Floats) -> float:
    """How likely the published numbers of x are if the signatures have the shares f: a logarithm, up to a constant.

    The constant is what people of signatures that are not solved for add if none of them has x.
    """
    total = 0.0
    for i in range(rows.shape[0]):
        if 0.0 < f[i] < 1.0:
            total += rows[i] * np.log1p(-f[i])
    for case in range(cases.n.shape[0]):
        begin, end = cases.start[cases.composition[case]], cases.start[cases.composition[case] + 1]
        weight = log_weight(f, cases.classes[begin:end], cases.counts[begin:end], cases.n[case])
        total += cases.groups[case] * weight
    return total


@kernel
def fixed_point(cases: Cases, f: Floats, rows: Floats, tolerance: float, limit: int) -> tuple[Floats, int, float]:
    """Follow expectation-maximization from `f` to its limit; returns the shares (m + 1,), steps and the last change.

    Stops once no share changes by more than `tolerance` in a step, or after about `limit` steps. There may be several
    fixed points, and the one meant is where expectation-maximization itself ends. Squared extrapolation (SQUAREM,
    scheme S3, Varadhan and Roland, Scand. J. Stat. 2008) jumps ahead along its path: two steps show the direction and
    how it bends, and where they seem to lead. A jump is kept only if it stays on the path as far as can be seen: no
    odds change by more than a factor e, the step after the jump is the one that three plain steps predict, and the
    likelihood has not fallen. Jumps begin short and grow longer while they are kept.
    """
    m = rows.shape[0]
    path = np.empty((4, m + 1))
    now, first, second, third = path[0], path[1], path[2], path[3]
    _copy(f, now)
    _copy(f, first)
    _copy(f, second)
    _copy(f, third)
    jump, landed = f.copy(), f.copy()
    steps = 0
    change = np.inf
    longest = SHORTEST
    while steps < limit:
        _step(cases, now, rows, first[:m])
        steps += 1
        change = _distance(first, now)
        if change <= tolerance:
            return first.copy(), steps, change
        if steps < PLAIN_STEPS:
            _copy(first, now)
            continue
        _step(cases, first, rows, second[:m])
        steps += 1
        stretch = _jump(path[:, :m], longest, jump)
        if stretch == 0.0:
            _copy(second, now)
            continue
        _step(cases, second, rows, third[:m])
        _step(cases, jump, rows, landed[:m])
        steps += 2
        if _is_straight(path[:, :m], stretch, jump, landed) and _is_as_likely(cases, now, landed, rows):
            longest = max(longest, GROWTH * stretch)
            _copy(landed, now)
        else:
            longest = max(SHORTEST, stretch / GROWTH)
            _copy(third, now)
    return now.copy(), steps, change


@inner_kernel
def _jump(path: Floats, longest: float, jump: Floats) -> float:
    """Write where the first three points of the path seem to lead; returns how far, in steps, 0 if it is not worth it.

    `path` float (4, m): the shares before and after each of three steps. `longest`: steps to jump at most.
    """
    squared, bend = 0.0, 0.0
    for i in range(path.shape[1]):
        r = path[1, i] - path[0, i]
        v = path[2, i] - path[1, i] - r
        squared += r * r
        bend += v * v
    stretch = min(np.sqrt(squared / bend), longest) if bend > 0.0 else 1.0
    while stretch > WORTH_WHILE:
        is_near = True
        for i in range(path.shape[1]):
            r = path[1, i] - path[0, i]
            v = path[2, i] - path[1, i] - r
            jump[i] = path[0, i] + 2 * stretch * r + stretch * stretch * v
            if path[2, i] <= 0.0 or path[2, i] >= 1.0:
                jump[i] = path[2, i]
            elif not (0.0 < jump[i] < 1.0 and abs(_log_odds(jump[i]) - _log_odds(path[2, i])) <= FARTHEST):
                is_near = False
                break
        if is_near:
            return stretch
        stretch *= SHORTENING
    return 0.0


@inner_kernel
def _is_straight(path: Floats, stretch: float, jump: Floats, landed: Floats) -> bool:
    """Whether the step after the jump is the one that a path without further bends would take.

    Where steps shrink or grow by constant factors, three of them tell what the step after a jump is. It is compared in
    shares, which say what is nearly reached, and in log-odds, which say how people of rare values compare.
    """
    error, scale, log_error, log_scale = 0.0, 0.0, 0.0, 0.0
    for i in range(path.shape[1]):
        a, b, c, d = path[0, i], path[1, i], path[2, i], path[3, i]
        error = max(error, abs(landed[i] - jump[i] - _after_jump(a, b, c, d, stretch)))
        scale = max(scale, abs(b - a))
        if 0.0 < d < 1.0 and 0.0 < landed[i] < 1.0:
            a, b, c, d = _log_odds(a), _log_odds(b), _log_odds(c), _log_odds(d)
            moved = _log_odds(landed[i]) - _log_odds(jump[i])
            log_error = max(log_error, abs(moved - _after_jump(a, b, c, d, stretch)))
            log_scale = max(log_scale, abs(b - a))
    return error <= STRAIGHT * scale + ROUNDING and log_error <= STRAIGHT * log_scale + LOG_ROUNDING


@inner_kernel
def _after_jump(a: float, b: float, c: float, d: float, stretch: float) -> float:
    """The step that follows a jump from a, if the steps from a to b, c and d shrink or grow by constant factors."""
    r, v, w = b - a, c - 2 * b + a, d - 3 * c + 3 * b - a
    return r + 2 * stretch * v + stretch * stretch * w


@inner_kernel
def _is_as_likely(cases: Cases, now: Floats, landed: Floats, rows: Floats) -> bool:
    """Whether the likelihood after a jump and the step that follows it is not lower than before, but for rounding."""
    before, after = log_likelihood(cases, now, rows), log_likelihood(cases, landed, rows)
    # Every group adds to the sum, so its rounding is in proportion to the sum.
    return after >= before - LIKELIHOOD_ROUNDING * abs(before)


@inner_kernel
def _log_odds(share: float) -> float:
    """log(share / (1 - share)) of a share inside (0, 1)."""
    return np.log(share) - np.log1p(-share)


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
