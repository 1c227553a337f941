"""The shares p(s:x) that reproduce themselves: accelerated expectation-maximization, and its Jacobian.

p(s:x) is the probability that a person of signature s has the value x. Given the shares, the groups tell how many
people of each signature are expected to have x; divided by the people of the signature, these are new shares. The
adversary looks for shares that this step does not change.

- `rows` int64 (m,): number of people of each of the m signatures that are solved for; all others are of class m.
- `case` int64, `groups` int64: the cases of the groups that hold x, and how many groups each of them stands for.
- `support` int32 (s,): the signatures whose people may have x, ascending. `certain` float (s,): their rows with x in
  the groups in which everybody looks alike.
- `alike` int64 (s,): number of the unknown, 0..u-1, that is the share of each signature of the support. Signatures that
  nothing in the release tells apart are one unknown, and so are all those outside the support, if there are any.
- `f` float (u + 1,): the shares of the unknowns, then the fixed one of class m (negative: that
  of each case itself). `people` float (u,): their rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anoncore.kernels.arrays import Floats, Int32, Int64
from anoncore.kernels.compiler import inner_kernel, kernel
from anoncore.kernels.foreground_cases import Cases, Occurrences, expect, room
from anoncore.kernels.foreground_newton import is_as_predicted, is_inside, newton_step, probed, take_probe
from anoncore.kernels.foreground_worlds import expected_counts, log_weight, set_share_of_group
from anoncore.kernels.sorting import filled_with, sort_in_place

NOBODY = 1e-100
"""A share below this counts as 0."""
PLAIN_STEPS = 20
"""Steps of expectation-maximization before the first jump: the first ones bend most, and choose between solutions."""
FIRST_STEPS = 6
"""The same before the first jump to where the path seems to end, which must prove to be its end."""
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
FITTING = 0.1
"""Largest step at what seems to be the limit, as a share of the first of the three steps that lead there."""
SEPARATE = 1e-8
"""Squared sine of the angle between two steps from which on they tell of two directions, and not only of rounding."""
ROUNDING = 1e-15
LOG_ROUNDING = 1e-9
LIKELIHOOD_ROUNDING = 1e-13
APART = 1e-9
"""Shares that differ by more, in proportion, differ not only by rounding."""


NEWTON_STEPS = 30
"""Steps before the first try of Newton's method, which is to start near the limit."""
NEWTON_SHORTENING = 0.25
SHORTEST_PART = 0.05
"""Where Newton's step is not kept, a part of it is tried, and a part of that down to this one."""
MOST_PROBED = 40
"""Unknowns for which Newton's method is tried: each costs one more step."""

NOW, FIRST, SECOND, THIRD, JUMP, LANDED, PROBE = 0, 1, 2, 3, 4, 5, 7
"""Points it goes through: three plain steps, a jump with two steps after it, and where one share is moved a little."""
ALONG, TO_LIMIT, NEWTON = range(3)
"""How it jumps: along the path, to where its steps shrink to, or to where Newton's method sees the limit."""


class Unknowns(NamedTuple):
    """What is solved for one value x, and the groups that tell of it (the fields' meaning is above)."""

    case: Int64
    groups: Int64
    support: Int32
    certain: Floats
    alike: Int64
    people: Floats


class Workspace(NamedTuple):
    """Memory that every step uses again.

    `share`, `with_x` float (m + 1,): share and expected rows with x of each signature. `expected`, `log_weights` and
    `work`: see `expect`.
    """

    share: Floats
    with_x: Floats
    expected: Floats
    log_weights: Floats
    work: Floats


@inner_kernel
def _workspace(cases: Cases, m: int) -> Workspace:
    """Memory for the steps of any value."""
    entries = 0
    for composition in cases.composition:
        entries += cases.start[composition + 1] - cases.start[composition]
    return Workspace(np.empty(m + 1), np.empty(m + 1), np.empty(entries), np.empty(len(cases.n)), np.empty(room(cases)))


@inner_kernel
def _step(cases: Cases, unknowns: Unknowns, f: Floats, updated: Floats, memory: Workspace, weigh: bool) -> float:
    """One step of expectation-maximization: write the expected rows with x of each unknown / its rows.

    With `weigh` it returns how likely the published numbers of x are at f: a logarithm, up to a constant.
    """
    share, with_x, expected, log_weights = memory.share, memory.with_x, memory.expected, memory.log_weights
    start, composition, classes, counts = cases.start, cases.composition, cases.classes, cases.counts
    occurring, groups, support, alike, people = (
        unknowns.case,
        unknowns.groups,
        unknowns.support,
        unknowns.alike,
        unknowns.people,
    )
    u, likelihood = len(people), 0.0
    share[-1] = f[u]
    for i in range(len(support)):
        signature = support[i]
        share[signature] = f[alike[i]]
        # Where everybody in a group looks alike, n of them have x whatever their share is.
        with_x[signature] = unknowns.certain[i]
        if weigh and 0.0 < share[signature] < 1.0:
            likelihood += with_x[signature] * _log_odds(share[signature])
    expect(cases, occurring, share, support, expected, log_weights, memory.work, weigh)
    at = 0
    for i in range(len(occurring)):
        begin, end = start[composition[occurring[i]]], start[composition[occurring[i]] + 1]
        for e in range(begin, end):
            with_x[classes[e]] += groups[i] * expected[at + e - begin]
        at += end - begin
        if weigh and not np.isnan(log_weights[i]):
            likelihood += groups[i] * log_weights[i]
        elif weigh:
            if f[len(people)] < 0.0:
                set_share_of_group(share, counts[begin:end], cases.n[occurring[i]])
            likelihood += groups[i] * log_weight(share, classes[begin:end], counts[begin:end], cases.n[occurring[i]])
    for i in range(u):
        updated[i] = 0.0
        if weigh and 0.0 < f[i] < 1.0:
            likelihood += people[i] * np.log1p(-f[i])
    for i in range(len(support)):
        updated[alike[i]] += with_x[support[i]]
    for i in range(u):
        updated[i] /= people[i]
        # Nobody has x, and the odds of numbers that are smaller still cannot be told from 0 / 0.
        if updated[i] < NOBODY:
            updated[i] = 0.0
    return likelihood


@kernel
def expectation_step(cases: Cases, unknowns: Unknowns, m: int, f: Floats) -> tuple[Floats, float]:
    """Updated shares of the unknowns, float (u,), and how likely the published numbers of x are at f, of m signatures.

    The likelihood is a logarithm, up to the constant that people of class m add if none of them has x.
    """
    updated = np.empty(len(unknowns.people))
    memory = _workspace(cases, m)
    return updated, _step(cases, unknowns, f, updated, memory, True)


@kernel
def fixed_points(
    cases: Cases,
    held: Occurrences,
    rows: Int64,
    values: Int64,
    alike_begin: Int64,
    alike: Int64,
    start: Floats,
    fixed: Floats,
    tolerance: Floats,
    limit: int,
) -> tuple[Floats, Int64, Floats]:
    """Follow expectation-maximization to its limit for each of the `values`, int64 (v,).

    `start` and `fixed` float (n_values,): the share that every signature of a value begins with, and the fixed one of
    class m; `tolerance` float (n_values,): the change of a share in one step at which each value is solved.
    `alike[alike_begin[i]:alike_begin[i + 1]]`: which signatures of value i are one unknown, as `alike_signatures` has
    it. `alike` is empty where that is not known yet. There the value is solved only if the first step tells all
    signatures apart, for then no two are alike.

    Returns the shares of the supports of the values, one after the other, the steps taken, -1 for a value that is left
    unsolved, and the last change of any share.
    """
    m, supports, n_shares = len(rows), held.supports, 0
    memory = _workspace(cases, m)
    for value in values:
        n_shares += supports.size[value]
    shares, steps, change = np.empty(n_shares), np.empty(len(values), np.int64), np.zeros(len(values))
    n_people, every, at = rows.sum(), np.arange(m + 1), 0
    for i in range(len(values)):
        value = values[i]
        first, last = held.value_start[value], held.value_start[value + 1]
        begin, size = supports.at[value], supports.size[value]
        classes, certain = supports.classes[begin : begin + size], supports.certain[begin : begin + size]
        # All signatures outside the support are one more unknown, which the first step sets to 0.
        joined, n_unknowns, n_signatures = every[: size + (size < m)], size + (size < m), m
        if len(alike) > 0:
            joined, n_unknowns = alike[alike_begin[i] : alike_begin[i + 1]], 0
            for j in range(len(joined)):
                n_unknowns = max(n_unknowns, joined[j] + 1)
            n_signatures = n_unknowns
        people, others = np.zeros(n_unknowns), n_people
        for j in range(size):
            people[joined[j]] += rows[classes[j]]
            others -= rows[classes[j]]
        if size < m:
            people[joined[size]] += others
        f = np.empty(n_unknowns + 1)
        f[:n_unknowns] = start[value]
        f[n_unknowns] = fixed[value]
        unknowns = Unknowns(held.case[first:last], held.groups[first:last], classes, certain, joined[:size], people)
        is_open = len(alike) == 0 and m > 1
        solution, steps[i], change[i] = _fixed_point(
            cases, unknowns, f, n_signatures, tolerance[value], limit, memory, is_open
        )
        for j in range(size):
            shares[at + j] = solution[joined[j]]
        at += size
    return shares, steps, change


@inner_kernel
def _tells_all_apart(shares: Floats) -> bool:
    """Whether no two shares could be equal but for rounding; those of signatures without x remain 0 in every step."""
    ordered = np.empty(len(shares))
    _copy(shares, ordered)
    sort_in_place(ordered)
    for i in range(1, len(ordered)):
        if ordered[i] - ordered[i - 1] <= APART * ordered[i] and ordered[i] > 0.0:
            return False
    return True


@inner_kernel
def _fixed_point(
    cases: Cases,
    unknowns: Unknowns,
    f: Floats,
    n_signatures: int,
    tolerance: float,
    limit: int,
    memory: Workspace,
    is_open: bool,
) -> tuple[Floats, int, float]:
    """Follow expectation-maximization from `f` to its limit; returns the shares (u + 1,), steps and the last change.

    Stops once no share changes by more than `tolerance` in a step, or after about `limit` steps. There may be several
    fixed points, and the one meant is where expectation-maximization itself ends. Squared extrapolation (SQUAREM,
    scheme S3, Varadhan and Roland, Scand. J. Stat. 2008) jumps ahead along its path: two steps show the direction and
    how it bends, and where they seem to lead. A jump is kept only if it stays on the path as far as can be seen: no
    odds change by more than a factor e, the step after the jump is the one that three plain steps predict, and the
    likelihood has not fallen. Jumps begin short and grow longer while they are kept. Where three steps shrink by
    constant factors, it jumps to the limit that these lead to instead, and keeps that only if hardly any step is left
    there; after each such jump that was not kept it waits twice as long with the next. After some steps it tries
    Newton's method too (`foreground_newton`), and keeps that where the plain step that follows is the predicted one
    and the likelihood has not fallen. That is for at most MOST_PROBED signatures that are told apart, of which there
    are `n_signatures`, also those that nobody with x has. `is_open`: whether signatures may be alike; then it returns
    -1 steps after a first one that leaves this open.
    """
    u = len(unknowns.people)
    points = np.empty((9, u + 1))
    for i in range(9):
        _copy(f, points[i])
    path, jump, landed = points[:4, :u], points[JUMP], points[LANDED]
    is_probed = n_signatures <= MOST_PROBED
    slope, newton, predicted, part = np.zeros((u, u) if is_probed else (0, 0)), np.zeros(u), np.zeros(u), 1.0
    next_newton = max(NEWTON_STEPS, 2 * n_signatures) if is_probed else limit
    steps, change, stretch, longest, before = 0, np.inf, 0.0, SHORTEST, 0.0
    is_early, kind, waiting, pause, newton_pause, moved = True, ALONG, 0, 1, n_signatures + 2, 0
    # Each step leads from one point to the next. There is one call of it, because every call is compiled anew into
    # this function.
    source = NOW
    while steps < limit:
        weigh = source == LANDED or (source == NOW and steps + 1 >= FIRST_STEPS)
        likelihood = _step(cases, unknowns, points[source], points[source + 1, :u], memory, weigh)
        steps += 1
        if source == SECOND:
            waiting -= 1
            kind = TO_LIMIT if waiting < 0 and _jump_to_limit(path, jump) else ALONG
            source = JUMP
            if is_early and kind == ALONG:
                _copy(points[THIRD], points[NOW])
                source = NOW
            continue
        if source in (JUMP, LANDED):
            # The step from where the jump landed tells how likely that is, and begins the next round if it is kept.
            # Every group adds to the sum, so its rounding is in proportion to the sum.
            if source == JUMP:
                if kind == NEWTON:
                    is_there = is_as_predicted(points[:2, :u], jump, landed, predicted, part)
                elif kind == TO_LIMIT:
                    is_there = _distance(landed, jump) <= FITTING * _distance(path[1], path[0])
                else:
                    is_there = _is_straight(path, stretch, jump, landed)
                if is_there:
                    source = LANDED
                    continue
            is_kept = source == LANDED and likelihood >= before - LIKELIHOOD_ROUNDING * abs(before)
            if not is_kept and kind == NEWTON and part > SHORTEST_PART:
                part *= NEWTON_SHORTENING
                _go(points[NOW], newton, part, jump)
                source = JUMP
                continue
            if not is_kept and kind == NEWTON:
                # Each try costs a step for every unknown; the longer none succeeds, the rarer they become.
                next_newton, newton_pause = steps + newton_pause, 2 * newton_pause
                source = FIRST
                continue
            source = NOW
            if not is_kept:
                if kind == TO_LIMIT:
                    waiting, pause = pause, 2 * pause
                else:
                    longest = max(SHORTEST, stretch / GROWTH)
                _copy(points[THIRD], points[NOW])
                continue
            if kind == ALONG:
                longest = max(longest, GROWTH * stretch)
            elif kind == NEWTON:
                newton_pause = n_signatures + 2
            _copy(landed, points[NOW])
            _copy(points[LANDED + 1], points[FIRST])
        if source == NOW:
            before = likelihood
            change = _distance(points[FIRST], points[NOW])
            if steps == 1 and is_open and not _tells_all_apart(points[FIRST, :u]):
                return points[FIRST].copy(), -1, change
            if change <= tolerance:
                return points[FIRST].copy(), steps, change
            if steps < FIRST_STEPS:
                _copy(points[FIRST], points[NOW])
                continue
            if steps < next_newton:
                source = FIRST
                continue
            moved = -1
        if source in (NOW, PROBE):
            if moved >= 0:
                take_probe(points[NOW], points[FIRST], moved, points[PROBE + 1], slope)
            moved += 1
            while moved < u and not is_inside(points[NOW, moved]):
                moved += 1
            if moved < u:
                _copy(points[NOW], points[PROBE])
                points[PROBE, moved] = probed(points[NOW, moved])
                source = PROBE
            elif newton_step(points[NOW], points[FIRST], slope, unknowns.people, newton, predicted):
                kind, source, part = NEWTON, JUMP, 1.0
                _go(points[NOW], newton, part, jump)
            else:
                next_newton, newton_pause = steps + newton_pause, 2 * newton_pause
                source = FIRST
            continue
        is_early = steps < PLAIN_STEPS
        if is_early:
            source = SECOND
            continue
        stretch = _jump(path, longest, jump)
        if stretch == 0.0:
            _copy(points[SECOND], points[NOW])
            source = NOW
        else:
            source = SECOND
    return points[NOW].copy(), steps, change


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
def _jump_to_limit(path: Floats, jump: Floats) -> bool:
    """Write where the path ends if its steps shrink by two constant factors; nothing, and False, if it may not end.

    Steps that are sums of two geometric series satisfy step(i + 2) = p step(i + 1) + q step(i), and the factors of the
    series are the roots of z^2 = p z + q; where one series is all there is, q is 0. Near the maximum of the likelihood
    to which expectation-maximization leads, all factors lie in [0, 1); near a saddle that it leaves, one is above 1.
    """
    first, second, both, first_third, second_third = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(path.shape[1]):
        r, v, w = path[1, i] - path[0, i], path[2, i] - path[1, i], path[3, i] - path[2, i]
        first += r * r
        second += v * v
        both += r * v
        first_third += r * w
        second_third += v * w
    if second <= 0.0:
        return False
    p, q = second_third / second, 0.0
    separate = first * second - both * both
    if separate > SEPARATE * first * second:
        p = (first * second_third - both * first_third) / separate
        q = (second * first_third - both * second_third) / separate
    if not (0.0 <= p < 2.0 and q <= 0.0 and p * p + 4.0 * q >= 0.0 and p + q < 1.0):
        return False
    # How much of the last step, and of the one before, all further steps add up to.
    of_last, of_before = (p + q) / (1.0 - p - q), q / (1.0 - p - q)
    for i in range(path.shape[1]):
        limit = path[3, i] + of_last * (path[3, i] - path[2, i]) + of_before * (path[2, i] - path[1, i])
        is_inside = 0.0 < path[3, i] < 1.0
        if is_inside and not (0.0 < limit < 1.0 and abs(_log_odds(limit) - _log_odds(path[3, i])) <= FARTHEST):
            return False
    for i in range(path.shape[1]):
        jump[i] = path[3, i]
        if 0.0 < path[3, i] < 1.0:
            jump[i] += of_last * (path[3, i] - path[2, i]) + of_before * (path[2, i] - path[1, i])
    return True


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
def _log_odds(share: float) -> float:
    """log(share / (1 - share)) of a share inside (0, 1)."""
    return np.log(share) - np.log1p(-share)


@inner_kernel
def _copy(source: Floats, target: Floats) -> None:
    """Copy all entries."""
    # A loop, because the checks of a slice assignment take seconds to compile.
    for i in range(len(source)):
        target[i] = source[i]


@inner_kernel
def _go(start: Floats, step: Floats, part: float, end: Floats) -> None:
    """Write where a part of a step leads."""
    for i in range(len(step)):
        end[i] = start[i] + part * step[i]


@inner_kernel
def _distance(a: Floats, b: Floats) -> float:
    """Largest difference of two entries."""
    largest = 0.0
    for i in range(len(a)):
        largest = max(largest, abs(a[i] - b[i]))
    return largest


@kernel
def step_jacobian(cases: Cases, unknowns: Unknowns, m: int, f: Floats) -> Floats:
    """Derivatives of the updated shares by the shares, (u, u), of m signatures; needs shares inside (0, 1).

    The derivative of an expected count by another signature's log-odds is the covariance of the two counts given the
    group's number of x, and d log-odds / d f = 1 / (f (1 - f)).
    """
    u = len(unknowns.people)
    alike = filled_with(m + 1, u)
    for i in range(len(unknowns.support)):
        alike[unknowns.support[i]] = unknowns.alike[i]
    share = f[alike]
    jacobian = np.zeros((u, u))
    for i in range(len(unknowns.case)):
        case = unknowns.case[i]
        begin, end = cases.start[cases.composition[case]], cases.start[cases.composition[case] + 1]
        classes, counts = cases.classes[begin:end], cases.counts[begin:end]
        mean, joint = np.empty(end - begin), np.empty(end - begin)
        if f[u] < 0.0:
            set_share_of_group(share, counts, cases.n[case])
        if not expected_counts(share, classes, counts, cases.n[case], -1, mean):
            continue
        for e in range(end - begin):
            if alike[classes[e]] >= u or mean[e] <= 0.0:
                continue
            expected_counts(share, classes, counts, cases.n[case], e, joint)
            for other in range(end - begin):
                if alike[classes[other]] < u:
                    covariance = mean[e] * (joint[other] - mean[other])
                    jacobian[alike[classes[other]], alike[classes[e]]] += unknowns.groups[i] * covariance
    for i in range(u):
        for j in range(u):
            jacobian[i, j] /= unknowns.people[i] * f[j] * (1.0 - f[j])
    return jacobian
