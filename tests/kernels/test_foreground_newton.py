"""Newton's step towards shares that reproduce themselves, against derivatives worked out apart from it."""

import numpy as np
import pytest

from anoncore.kernels import foreground_newton
from anoncore.kernels.foreground_newton import KEPT
from tests.kernels.from_python import from_python

newton_step = from_python(foreground_newton.newton_step)
take_probe = from_python(foreground_newton.take_probe)
probed = from_python(foreground_newton.probed)

PEOPLE = np.array([200.0, 350.0, 90.0])
WANTED = np.array([0.3, 0.12, 0.45])
TOGETHER = np.array([[3.0, 1.0, -0.5], [1.0, 2.0, 0.4], [-0.5, 0.4, 1.5]])
"""Minus the second derivatives of a likelihood, in units of 1,000 people, whose largest value is at WANTED."""


def pull_of(f):
    """The derivative by the shares of the likelihood -1000 (f - w) T (f - w) / 2."""
    return -1000 * TOGETHER @ (f - WANTED)


def plain(f):
    """A plain step: it adds the derivative by the log-odds, over the people."""
    return f + pull_of(f) * f * (1 - f) / PEOPLE


def taken(now, people=PEOPLE, plain=plain):
    """Whether Newton's step is one, the step and what is predicted after it."""
    stepped, slope = plain(now), np.empty((len(now), len(now)))
    for moved in range(len(now)):
        there = now.copy()
        there[moved] = probed(now[moved])
        take_probe(now, stepped, moved, plain(there), slope)
    step, predicted = np.empty(len(now)), np.empty(len(now))
    is_one = newton_step(now, stepped, slope, people, step, predicted)
    return is_one, step, predicted


@pytest.mark.slow
def test_one_step_leads_to_the_largest_value_of_a_likelihood_that_bends_evenly():
    now = np.array([0.25, 0.2, 0.5])
    is_one, step, predicted = taken(now)
    assert is_one
    assert now + step == pytest.approx(WANTED, abs=1e-6)
    assert predicted == pytest.approx(np.zeros(3), abs=1e-8)


@pytest.mark.slow
def test_a_share_is_held_at_nine_tenths_of_its_way_and_the_others_do_their_best():
    now = np.array([0.25, 0.004, 0.5])
    # The largest value would be far below 0 for the second share.
    here = WANTED.copy()
    here[1] = -0.4

    def plain(f):
        return f - 1000 * TOGETHER @ (f - here) * f * (1 - f) / PEOPLE

    is_one, step, predicted = taken(now, plain=plain)
    assert is_one
    assert step[1] == pytest.approx((KEPT - 1) * now[1])
    others = [0, 2]
    # By hand: T_oo (f_o - w_o) = -T_o1 (f_1 - w_1).
    best = here[others] - np.linalg.solve(
        TOGETHER[np.ix_(others, others)], TOGETHER[others, 1] * (now[1] + step[1] - here[1])
    )
    assert (now + step)[others] == pytest.approx(best, abs=1e-6)
    assert predicted == pytest.approx(plain(now + step) - (now + step), abs=1e-7)
    assert predicted[1] < 0


def test_shares_that_have_arrived_take_the_plain_step():
    def arrived(f):
        stepped = plain(f)
        stepped[1] = f[1] / 2
        return stepped

    now = np.array([0.25, 1e-14, 0.5])
    is_one, step, predicted = taken(now, plain=arrived)
    assert is_one
    assert (step[1], predicted[1]) == (-now[1] / 2, 0)
    others = [0, 2]
    best = WANTED[others] + np.linalg.solve(TOGETHER[np.ix_(others, others)], TOGETHER[others, 1] * WANTED[1])
    assert (now + step)[others] == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("edge", [1e-20, 1 - 5e-13])
def test_no_step_while_a_share_leaves_0_or_1(edge):
    """What it does to the others is still to come, however near they are to where they would stay without it."""
    inwards = 1e-21 if edge < 0.5 else -5e-14

    def leaving(f):
        stepped = plain(f)
        stepped[1] = f[1] + inwards
        return stepped

    assert not taken(np.array([0.25, edge, 0.5]), plain=leaving)[0]


def test_no_step_from_where_the_likelihood_bends_up():
    def saddle(f):
        return f - 1000 * np.diag([3.0, -2.0, 1.5]) @ (f - WANTED) * f * (1 - f) / PEOPLE

    assert not taken(np.array([0.25, 0.12001, 0.5]), plain=saddle)[0]
