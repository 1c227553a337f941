"""The foreground-knowledge attack from some of its attribute sets: a first answer, with an interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from anoncore.attacks.foreground.adversary import EPSILONS, check_adversary, minimum_signature_rows
from anoncore.attacks.foreground.chosen_epsilon import Trial, chosen_epsilon
from anoncore.attacks.foreground.control import control_target
from anoncore.attacks.foreground.mining import Target, Unreliable, attack_sets, breach_limit
from anoncore.attacks.foreground.sampled_sets import SMALLEST_MARGIN, interval, set_list
from anoncore.attacks.foreground.solver import FULL, Precision, Solver
from anoncore.base.arguments import checked
from anoncore.base.estimate import Estimate
from anoncore.base.number import measure
from anoncore.base.progress import silent
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.release.release import Release

QUICK_ROWS = 5_000_000
"""Rows in small groups that are attacked in some tenths of a second, over all attribute sets."""
HEAVY_GROUPS = 2_500.0
"""People of their group with their value, times people of their group, at which a row takes twice as long."""
SIZES = tuple(sorted(size * 2**power for power in range(12) for size in (24, 32)))
"""Numbers of attribute sets that are drawn, so that releases of one table share their samples. From fewer than that one
cannot tell how much the others add.
"""
ROUGHLY = Precision(tolerance=1e-6, most_steps=1_000)
"""Shares that no longer move in the sixth decimal. Fewer steps save little and leave out who is given away at the end:
where groups are large, shares move slowly for a long time.
"""


@dataclass(frozen=True, kw_only=True)
class ForegroundEstimate(Estimate):
    """The share of breached people that the whole foreground-knowledge attack will find, from some attribute sets.

    Attributes
    ----------
    value : float
        The best guess at the recall of the whole attack.
    low, high : float
        The interval that holds it; `low` is at least the share of the people whom the drawn attribute sets give away.
    confidence : float
        Share of the cases in which the interval holds it.
    how : str
        How many attribute sets were drawn, in a few words.
    baseline : float
        The same share for an adversary who takes every possible world for equally likely.
    control : float
        The same share of a control, with the same attribute sets.
    epsilon : float
        Error that the adversary accepts in what they learn.
    learned : bool
        Whether any signature is frequent enough; otherwise value, low, high and control are NaN.
    n_sets : int
        Attribute sets that were attacked with.
    n_all : int
        Attribute sets that the whole attack goes through; of a large table, as far as a sample of its rows tells.
    too_costly : tuple of float
        Larger epsilons that nobody tried, because the attack would take too long; empty where epsilon is given.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"nation": list("JJJAAA"), "disease": ["flu"] * 3 + ["gout"] * 3})
    >>> data = Microdata(people, roles={"nation": "quasi-identifier", "disease": "sensitive"})
    >>> buckets = Partition([0, 0, 1, 1, 2, 2])
    >>> exact = {name: Exact(data.domain[name], buckets, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, buckets, {name: exact[name]}) for name in exact))
    >>> found = attacks.foreground_knowledge_estimate(release, "disease", epsilon=0.4)
    >>> found.how, found.n_sets, found.n_all
    ('from all attribute sets', 1, 1)
    """

    baseline: float
    control: float
    epsilon: float
    learned: bool
    n_sets: int
    n_all: int
    too_costly: tuple[float, ...] = ()

    @property
    def excess(self) -> float:
        """What lies above the control."""
        return self.value - self.control


@measure()
@checked
def foreground_knowledge_estimate(
    release: Release,
    attribute: str,
    r: float = 2.0,
    epsilon: float | None = None,
    sigma: float = 0.9,
    unreliable: Unreliable = "overall",
    solver: Solver = "fixed-point",
    max_size: int | None = None,
    seed: int = 0,
    progress: Callable[[float, str], None] | None = None,
    at_least: bool = False,
) -> ForegroundEstimate:
    """Estimate the breach that `foreground_knowledge` finds, from the attack with some of its attribute sets.

    The sets are drawn evenly from the list of all sets, sorted by size. Whoever one of them gives away is given away by
    the whole attack too; only the shares are learned to five or six decimals here. How many more people the other
    sets give away lies between two bounds, which follow from how many of them one drawn set gives away, and how many
    two: a weighted geometric mean of both bounds is added. The interval reaches 2.2 standard errors to both sides, by
    the jackknife over the sets. How many sets are drawn follows from the rows and the groups alone. Where all of them
    are quick, the attack is the whole one.

    Parameters
    ----------
    release : Release
        The release that the adversary reads.
    attribute : str
        The sensitive attribute whose value is guessed.
    r : float
        A breach is a belief above 1 / r; at least 1.
    epsilon : float, optional
        Error that the adversary accepts in what they learn, above 0; by default the one that `foreground_knowledge`
        chooses, with the sets by which it was chosen.
    sigma : float
        Chance of a larger error, above 0 and at most 1.
    unreliable : {"overall", "uniform", "group"}
        Share of x that people with rare signatures are taken to have: the overall share, 1/2, or that in their group.
    solver : {"fixed-point", "newton"}
        How the shares are found.
    max_size : int, optional
        Most attributes in a set; by default all.
    seed : int
        Draws the sets, and the rows of a large table by which they are listed.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop the attack.
    at_least : bool
        Count a belief of exactly 1 / r as a breach too.

    Returns
    -------
    ForegroundEstimate
        The estimate with its interval, and the sets that it is from.

    Raises
    ------
    ReleaseError
        For fragments with partitions of their own, or an attribute that is generalized.
    DataError
        Without quasi-identifiers, or for an attribute that is not sensitive.
    ParameterError
        For a number out of range.

    Notes
    -----
    Assumes: sets of attributes that are left out give away about as many people as those that are drawn.
    Cost: that of `foreground_knowledge` with about 5,000,000 / n of its attribute sets for n rows, and at least 24.
    Use: a first answer is needed at once, and the exact one follows.
    Avoid: the number is published; see `foreground_knowledge`.

    References
    ----------
    Chao and Lin, Nonparametric Lower Bounds for Species Richness and Shared Species Richness under Sampling without
    Replacement, Biometrics 68, 2012.

    Examples
    --------
    A table with so few attribute sets is attacked with all of them, and the number is exact:

    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"nation": list("JJJAAA"), "disease": ["flu"] * 3 + ["gout"] * 3})
    >>> data = Microdata(people, roles={"nation": "quasi-identifier", "disease": "sensitive"})
    >>> buckets = Partition([0, 0, 1, 1, 2, 2])
    >>> exact = {name: Exact(data.domain[name], buckets, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, buckets, {name: exact[name]}) for name in exact))
    >>> found = attacks.foreground_knowledge_estimate(release, "disease", epsilon=0.4)
    >>> found.low, found.value, found.high, found.is_exact
    (1.0, 1.0, 1.0, True)
    """
    release.require_people("Foreground knowledge is turned against the group that holds a person's row")
    check_adversary(r, epsilon, sigma, max_size, unreliable, solver, 1, seed)
    if epsilon is None:
        adversary = (attribute, r, sigma, unreliable, solver, max_size, at_least, seed)
        choice = chosen_epsilon(release, *adversary, silent if progress is None else progress)
        if choice.best is not None:
            estimate = _of_trial(choice.best, _guess(release, attribute, unreliable, r, at_least))
            return replace(estimate, too_costly=choice.too_costly)
        epsilon = EPSILONS[-1]
    names = tuple(name for name in release.data.require_quasi_identifiers() if name != attribute)
    target = Target.of(release, attribute, unreliable)
    limit = breach_limit(r, at_least)
    listed = set_list(release.data, names, minimum_signature_rows(epsilon, sigma), max_size, seed)
    cost = _cost(target)
    is_whole = listed.n_all * cost <= QUICK_ROWS or target.n_needing == 0
    affordable = [size for size in SIZES if size * cost <= QUICK_ROWS]
    sample = listed.drawn(len(listed.sets) if is_whole else max(affordable, default=SIZES[0]))
    guess = _guess(release, attribute, unreliable, r, at_least)
    if not sample.sets or target.n_needing == 0:
        return _told((nan, nan, nan), nan, guess, epsilon, 0, sample.n_all)
    targets = [target, control_target(release, attribute, unreliable, seed + 1)[0]]
    breached = [np.empty((len(sample.sets), one.n_needing), dtype=np.bool_) for one in targets]
    in_order = [one.needs[one.partition.order] for one in targets]
    precision = FULL if is_whole else ROUGHLY
    for place, (done, leaks) in enumerate(attack_sets(sample.shared_out(), targets, limit, solver, precision)):
        for people, needs, (_, found) in zip(breached, in_order, leaks, strict=True):
            people[place] = lies_above(found.own[needs], limit, ACCUMULATED)
        if progress is not None:
            progress(done, f"{place + 1:,} of {sample.n_all:,} attribute sets learned")
    n_sets = len(sample.sets)
    if is_whole:
        value, control = (float(people.any(axis=0).mean()) for people in breached)
        return _told((value, value, value), control, guess, epsilon, n_sets, sample.n_all)
    shares, control_shares = (interval(people, sample.n_all) for people in breached)
    return _told(shares, control_shares[0], guess, epsilon, n_sets, sample.n_all)


def _of_trial(trial: Trial, guess: float) -> ForegroundEstimate:
    """The estimate from the attribute sets by which epsilon was chosen, of the attack with those that are afforded."""
    n_sets, n_afforded = len(trial.breached), max(trial.n_afforded, len(trial.breached))
    value, low, high = interval(trial.breached, n_afforded)
    # The shares are known to the fourth decimal only, so that even all sets give no exact number.
    shares = value, max(low - SMALLEST_MARGIN, 0.0), min(high + SMALLEST_MARGIN, 1.0)
    return _told(shares, trial.control, guess, trial.epsilon, n_sets, n_afforded)


def _guess(release: Release, attribute: str, unreliable: Unreliable, r: float, at_least: bool) -> float:
    """The recall of an adversary who takes every possible world for equally likely."""
    target = Target.of(release, attribute, unreliable)
    return target.figures(*target.random_worlds(), breach_limit(r, at_least))[0]


def _cost(target: Target) -> float:
    """What the attack with one set costs, in rows of small groups: large groups have more possible worlds."""
    people = target.partition.sizes[target.published.group]
    return target.partition.n_rows + float((target.published.n * people).sum()) / HEAVY_GROUPS


def _told(
    shares: tuple[float, float, float], control: float, baseline: float, epsilon: float, n_sets: int, n_all: int
) -> ForegroundEstimate:
    """The estimate in words, and what it is from."""
    value, low, high = shares
    return ForegroundEstimate(
        value=value,
        low=low,
        high=high,
        confidence=1.0 if low == high else 0.95,
        how="from all attribute sets" if n_sets == n_all else f"from {n_sets:,} of {n_all:,} attribute sets",
        baseline=baseline,
        control=control,
        epsilon=epsilon,
        learned=n_sets > 0,
        n_sets=n_sets,
        n_all=n_all,
    )
