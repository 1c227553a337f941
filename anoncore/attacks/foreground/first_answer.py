"""The foreground-knowledge attack from some of its attribute sets: a first answer, with an interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import hypot, nan

import numpy as np

from anoncore.attacks.foreground.adversary import EPSILONS, Adversary
from anoncore.attacks.foreground.chosen_epsilon import AT_ONCE, QUICK, Trial, chosen_epsilon, only_choice
from anoncore.attacks.foreground.mining import PeopleAttacked, Target, Unreliable, attack_sets
from anoncore.attacks.foreground.sampled_groups import SAMPLED_ROWS, Stages, control_of_all
from anoncore.attacks.foreground.sampled_sets import SMALLEST_MARGIN, STANDARD_ERRORS, SetSample, interval
from anoncore.attacks.foreground.solver import FULL, Precision, Solver
from anoncore.base.arguments import checked
from anoncore.base.estimate import Estimate
from anoncore.base.number import measure
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.shared_work import cached
from anoncore.kernels.arrays import Bools
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.release.group_sample import GroupSample, sampled
from anoncore.release.release import Release

UNLEARNED = 2.0
"""What all groups teach beyond a sample, at most, in differences between the sample and half of it."""
FEW_SETS = 6
"""Attribute sets by which a sample and half of it are compared, and a control of few groups with one of more."""
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


NEAR_LIMIT = 2
"""People whose belief is so near the limit, with shares to the fourth decimal, that they may lie on its other side."""


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

    Of a large release, groups with 60,000 people in all are attacked, drawn evenly from all groups by size. The
    adversary relies on the same signatures as with all groups. Fewer groups teach more noise, which gives people away
    by chance too. So half of the sample is attacked as well: the interval is wider by twice the difference of both
    shares and by the standard error of the groups, and the control is lowered by as much as it fell from the half to
    the sample.

    Where the attack takes so long that the adversary can afford a few sets with the first epsilon and nothing else,
    only some groups of the sample teach, first a sixteenth of them, then as many as can be afforded at once. The same
    people are attacked with what both taught. The interval goes from what more groups give away to where that would
    fall if the noise became less with their number to the power of 0.3, and is wider by the standard error of both.

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
    adversary = Adversary(attribute, r, sigma, unreliable, solver, max_size, at_least, seed)
    adversary.check(epsilon, 1)
    report = silent if progress is None else progress
    if epsilon is None:
        # The board asks for it twice, the second time among the strongest attacks.
        of_some = cached(release, "first answer", (adversary,), lambda: _of_sample(release, adversary, report), most=1)
        if of_some is not None:
            return of_some
    target, limit = adversary.target(release), adversary.limit
    guess = target.figures(*target.random_worlds(), limit)[0]
    if epsilon is None:
        choice = chosen_epsilon(release, adversary, report)
        if choice.best is not None:
            return _told(_of_trial(choice.best), choice.best, guess, choice.too_costly)
        epsilon = EPSILONS[-1]
    listed = adversary.listed(release, epsilon)
    cost = _cost(target)
    is_whole = listed.n_all * cost <= QUICK_ROWS or target.n_needing == 0
    affordable = [size for size in SIZES if size * cost <= QUICK_ROWS]
    sample = listed.drawn(len(listed.sets) if is_whole else max(affordable, default=SIZES[0]))
    if not sample.sets or target.n_needing == 0:
        return _estimate((nan, nan, nan), nan, guess, epsilon, 0, sample.n_all)
    targets = target, adversary.control(release, 1)[0]
    breached = _breached(sample, targets, adversary, FULL if is_whole else ROUGHLY, report)
    n_sets = len(sample.sets)
    if is_whole:
        value, control = (float(people.any(axis=0).mean()) for people in breached)
        return _estimate((value, value, value), control, guess, epsilon, n_sets, sample.n_all)
    shares, control_shares = (interval(people, sample.n_all) for people in breached)
    return _estimate(shares, control_shares[0], guess, epsilon, n_sets, sample.n_all)


def _of_sample(release: Release, adversary: Adversary, progress: Progress) -> ForegroundEstimate | None:
    """The estimate from some groups of a large release; None where there is no such sample, or it tells nothing."""
    people = sampled(release, SAMPLED_ROWS, adversary.seed)
    if people.share == 1.0:
        return None
    some = replace(adversary, share=people.share)
    at_once = _of_few_groups(release, people, some, progress)
    if at_once is not None:
        return at_once
    choice = chosen_epsilon(people.release, some, progress, release)
    trial, target = choice.best, some.target(people.release)
    if trial is None:
        return None
    value, low, high = _of_trial(trial)
    order = target.partition.order
    group = target.partition.group[order][target.needs[order]]
    of_groups = STANDARD_ERRORS * people.standard_error(np.asarray(trial.breached.any(axis=0)), group)
    half = sampled(release, SAMPLED_ROWS // 2, adversary.seed)
    of_half, control_of_half = _of_half(half, adversary, trial.epsilon, release)
    of_few, control_of_few = (float(one[:FEW_SETS].any(axis=0).mean()) for one in (trial.breached, trial.by_chance))
    margin = hypot(max(value - low, high - value), of_groups) + UNLEARNED * abs(of_few - of_half)
    guess = target.figures(*target.random_worlds(), some.limit)[0]
    shares = value, max(value - margin, 0.0), min(value + margin, 1.0)
    estimate = _told(shares, trial, guess, choice.too_costly)
    fallen = max(control_of_half - control_of_few, 0.0)
    return replace(
        estimate,
        control=max(estimate.control - fallen, 0.0),
        how=f"{estimate.how}, on {len(target.true):,} of {release.data.n_rows:,} rows",
    )


def _of_half(people: GroupSample, adversary: Adversary, epsilon: float, whole: Release) -> tuple[float, float]:
    """The shares whom the first FEW_SETS attribute sets give away in a sample of a release, and in its control."""
    some = replace(adversary, share=people.share)
    targets = some.target(people.release), some.control(people.release)[0]
    needs = [target.needs[target.partition.order] for target in targets]
    breached = [np.zeros(target.n_needing, np.bool_) for target in targets]
    sets = some.listed(people.release, epsilon, whole).beginning(FEW_SETS).shared_out()
    for _, attacks in attack_sets(sets, targets, some.limit, some.solver, QUICK):
        for given_away, needing, attack in zip(breached, needs, attacks, strict=True):
            given_away |= lies_above(attack.beliefs.own[needing], some.limit, ACCUMULATED)
    of_release, of_control = (float(given_away.mean()) for given_away in breached)
    return of_release, of_control


def _of_few_groups(
    release: Release, people: GroupSample, some: Adversary, progress: Progress
) -> ForegroundEstimate | None:
    """The estimate from what few groups of a sample teach, as many as can be afforded at once.

    None where the adversary might afford another epsilon, or more attribute sets: few groups do not tell which. There
    the attack is quick, and all groups of the sample can teach.
    """
    stages = Stages(people, some)
    if stages.first == 1:
        return None
    first = stages.stage(stages.first)
    choice = only_choice(people.release, some, part_of(progress, 0.0, 0.4), release, first)
    trial = None if choice is None else choice.best
    if choice is None or trial is None:
        return None
    n_sets, times = len(trial.breached), stages.times(trial.work)
    last = stages.stage(stages.first // times)
    listed = some.listed(people.release, trial.epsilon, release)
    (breached,) = _breached(listed.beginning(n_sets), (last.lesson,), some, AT_ONCE, part_of(progress, 0.4, 0.8))
    (by_chance,) = _breached(listed.beginning(FEW_SETS), (last.control,), some, AT_ONCE, part_of(progress, 0.8, 1.0))
    of_last = replace(trial, breached=breached)
    shares = stages.of_all_groups(trial.breached, breached, times, _of_trial(of_last))
    before, after = (float(one[:FEW_SETS].any(axis=0).mean()) for one in (trial.by_chance, by_chance))
    control = control_of_all(trial.control, trial.control * after / before if before > 0 else after, times)
    target = last.lesson.target
    guess = target.figures(*target.random_worlds(), some.limit)[0]
    estimate = _told(shares, of_last, guess, choice.too_costly)
    teach = len(last.lesson.teaching.order)
    return replace(estimate, control=control, how=f"{estimate.how}, on {teach:,} of {release.data.n_rows:,} rows")


def _breached(
    sample: SetSample, targets: Sequence[PeopleAttacked], adversary: Adversary, precision: Precision, progress: Progress
) -> list[Bools]:
    """Whom each set gives away of those who need protection, by position: bool (n_sets, n_needing) for each target."""
    in_order = [one.in_order for one in targets]
    found = [np.empty((len(sample.sets), int(needs.sum())), np.bool_) for needs in in_order]
    share_done, n_done = 0.0, 0

    def still() -> None:
        progress(share_done, f"{n_done:,} of {sample.n_all:,} attribute sets learned")

    learned = attack_sets(sample.shared_out(), targets, adversary.limit, adversary.solver, precision, still)
    for place, (done, attacks) in enumerate(learned):
        for people, needs, attack in zip(found, in_order, attacks, strict=True):
            people[place] = lies_above(attack.beliefs.own[needs], adversary.limit, ACCUMULATED)
        share_done, n_done = done, place + 1
        still()
    return found


def _of_trial(trial: Trial) -> tuple[float, float, float]:
    """The share, and its interval, from the sets by which epsilon was chosen, of the attack with all afforded ones."""
    value, low, high = interval(trial.breached, max(trial.n_afforded, len(trial.breached)))
    # The shares are known to the fourth decimal only, so that even all sets give no exact number.
    margin = max(SMALLEST_MARGIN, NEAR_LIMIT / trial.breached.shape[1])
    return value, max(low - margin, 0.0), min(high + margin, 1.0)


def _cost(target: Target) -> float:
    """What the attack with one set costs, in rows of small groups: large groups have more possible worlds."""
    people = target.partition.sizes[target.published.group]
    return target.partition.n_rows + float((target.published.n * people).sum()) / HEAVY_GROUPS


def _told(
    shares: tuple[float, float, float], trial: Trial, baseline: float, too_costly: tuple[float, ...]
) -> ForegroundEstimate:
    """The estimate from the attribute sets of a trial."""
    n_sets = len(trial.breached)
    n_afforded = max(trial.n_afforded, n_sets)
    estimate = _estimate(shares, trial.control, baseline, trial.epsilon, n_sets, n_afforded, too_costly)
    if n_afforded == trial.n_all:
        return estimate
    some = f"{n_sets:,} of the " if n_sets < n_afforded else "the "
    return replace(
        estimate, how=f"from {some}{n_afforded:,} of {trial.n_all:,} attribute sets that can be gone through"
    )


def _estimate(
    shares: tuple[float, float, float],
    control: float,
    baseline: float,
    epsilon: float,
    n_sets: int,
    n_all: int,
    too_costly: tuple[float, ...] = (),
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
        too_costly=too_costly,
    )
