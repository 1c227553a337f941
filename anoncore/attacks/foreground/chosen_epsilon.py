"""Which epsilon gives the adversary most above chance, and with how many attribute sets they can afford to attack."""

from __future__ import annotations

from itertools import islice

import numpy as np

from anoncore.attacks.foreground.adversary import EPSILONS, Adversary
from anoncore.attacks.foreground.mining import PeopleAttacked, attack_sets
from anoncore.attacks.foreground.sampled_groups import Stage
from anoncore.attacks.foreground.sampled_sets import MOST_TRIED, SetList, SetSample, extended
from anoncore.attacks.foreground.solver import FULL, Precision
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.shared_work import cached
from anoncore.kernels.arrays import Bools, record
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.release.release import Release

EFFORT = 200_000_000
"""Work of the attack and three controls together, as `SetLeak.work` counts it: some seconds on two processors."""
ATTACKS = 4
TRIAL_EFFORT = 5_000_000
"""Work up to which more attribute sets are tried with an epsilon than the fewest."""
FEWEST_SETS = 12
BATCH = 4
"""Attribute sets after which the work is looked at."""
FEWEST_AFFORDED = 24
"""An epsilon with which fewer attribute sets can be afforded, where there are more, is none for this adversary."""
NEXT_TAKES = 6
"""How many times as long an attack with the next larger epsilon is expected to take. Where the adversary can afford few
attribute sets, it took 2.4 to 12 times as long on Adult and on census records; a trial takes longer than all others.
"""
EXACT_EFFORT = 4
"""How many times the work of quick solutions exact ones take, about."""
QUICK = Precision(tolerance=1e-4, most_steps=200)
"""Shares to the fourth decimal, and nearer where values are rare."""
AT_ONCE = Precision(tolerance=1e-3, most_steps=60)
"""The same to the third decimal, for few groups, which teach no more."""
QUICK_EFFORT = 2
"""How many times the work of solutions at once quick ones take, about."""
GROWTH = 0.7
"""With which power of the groups that teach the work becomes more, about: large tables repeat the cases of groups."""
SURELY = 2
"""How many times as many attribute sets as few groups tell the adversary may really afford."""
RISEN = 0.02
"""Control from which on a larger epsilon may have less excess, because it learns noise; and what counts as less."""
LEAST_MORE = 0.005
"""How much more excess an epsilon has to have whose control has risen: samples show no smaller differences."""


@record
class Trial:
    """One epsilon, tried on some attribute sets.

    `breached` and `by_chance` bool (n_sets, n_people): whom each set gives away in the release and in a control, among
    those whose value needs protection. `n_afforded` of `n_all` sets are what the whole attack goes through.
    `work` is that of both.
    """

    epsilon: float
    breached: Bools
    by_chance: Bools
    n_afforded: int
    n_all: int
    precision: Precision
    work: int

    @property
    def recall(self) -> float:
        """What the attack with all sets that are afforded is about to find."""
        return _extended_recall(self.breached, self.n_afforded)

    @property
    def control(self) -> float:
        """The same of the control."""
        return _extended_recall(self.by_chance, self.n_afforded)

    @property
    def excess(self) -> float:
        """What lies above the control."""
        return self.recall - self.control


def _extended_recall(breached: Bools, n_all: int) -> float:
    n_sets, n_people = breached.shape
    counts = np.bincount(breached.sum(axis=0), minlength=n_sets + 1) / n_people
    return extended(counts, n_sets, max(n_all, n_sets))


@record
class Choice:
    """What was tried, and the trial with the largest excess; None where no signature of any epsilon is frequent enough.

    `too_costly` are the epsilons that the adversary cannot afford.
    """

    best: Trial | None
    tried: tuple[Trial, ...]
    too_costly: tuple[float, ...]

    @property
    def sentence(self) -> str:
        """Which epsilon was chosen and how, in a sentence; empty where nothing was learned."""
        if self.best is None:
            return ""
        others = [f"{one.epsilon:g}" for one in self.tried if one is not self.best]
        beside = f" of those tried, which were also {', '.join(others)}" if others else ""
        text = f"With epsilon {self.best.epsilon:g} the attack lies farthest above its control{beside}."
        if self.too_costly:
            text += (
                f" Attacks with {', '.join(f'{one:g}' for one in self.too_costly)} would take too long on this table."
            )
        return text


def chosen_epsilon(
    release: Release, adversary: Adversary, progress: Progress = silent, whole: Release | None = None
) -> Choice:
    """Try the epsilons on samples of the attribute sets, the paper's first, and choose the one with the largest excess.

    As long as the control gets nothing, a larger epsilon only learns more. So the search ends where the control has
    risen and the excess has fallen, or where the adversary cannot afford the attack. The choice is the same each time
    and kept with the release. The release may be a sample of a `whole` one: the choice is about that one then.
    """
    return cached(release, "epsilon", (adversary,), lambda: _choose(release, adversary, progress, whole))


def only_choice(
    release: Release, adversary: Adversary, progress: Progress, whole: Release, stage: Stage
) -> Choice | None:
    """The first epsilon, tried with what few groups of a sample of the `whole` release teach, where it is the only one.

    None where the adversary might afford another epsilon, or more attribute sets than the fewest, as the few groups do
    not tell which of these they would choose; and where nobody is attacked.
    """
    if not (stage.lesson.in_order.any() and stage.control.in_order.any()):
        return None
    for place, epsilon in enumerate(EPSILONS):
        listed = adversary.listed(release, epsilon, whole)
        if next(listed.spread_out(), None) is not None:
            targets = stage.lesson, stage.control
            trial = _tried(epsilon, listed, targets, adversary, progress, True, stage.share)
            return None if trial is None else Choice(trial, (trial,), EPSILONS[place + 1 :])
    return None


def _choose(release: Release, adversary: Adversary, progress: Progress, whole: Release | None) -> Choice:
    target = adversary.target(release)
    if target.n_needing == 0:
        return Choice(None, (), ())
    # Before the list of sets, for which the releases of one table wait for each other.
    control = adversary.control(release, 0, part_of(progress, 0.0, 0.0))[0]
    tried: list[Trial] = []
    best: Trial | None = None
    too_costly: tuple[float, ...] = ()
    for place, epsilon in enumerate(EPSILONS):
        progress(place / len(EPSILONS), f"Trying epsilon {epsilon:g}")
        listed = adversary.listed(release, epsilon, whole)
        report = part_of(progress, place / len(EPSILONS), (place + 1) / len(EPSILONS))
        trial = _tried(epsilon, listed, (target, control), adversary, report, best is None)
        if trial is None and next(listed.spread_out(), None) is None:
            continue
        if trial is None:
            too_costly = EPSILONS[place:]
            break
        tried.append(trial)
        # Where the control gets nothing, even a little more is no noise.
        more = LEAST_MORE if trial.control >= RISEN else 0.0
        if best is None or trial.excess > best.excess + more:
            best = trial
        elif trial.control >= RISEN and trial.excess < best.excess - RISEN:
            break
        if trial.n_afforded < min(NEXT_TAKES * FEWEST_AFFORDED, trial.n_all):
            too_costly = EPSILONS[place + 1 :]
            break
    if best is not None and best.excess <= LEAST_MORE and tried[0].control >= RISEN:
        # Nothing lies above chance, so that noise alone would choose among them.
        best = tried[0]
    return Choice(best, tuple(tried), too_costly)


def _tried(
    epsilon: float,
    listed: SetList,
    targets: tuple[PeopleAttacked, PeopleAttacked],
    adversary: Adversary,
    progress: Progress,
    is_first: bool,
    teaching: float | None = None,
) -> Trial | None:
    """One epsilon on some sets of the list; None where there are none, or the adversary cannot afford enough of them.

    The first one is tried whatever it takes, with the fewest sets: the adversary gives up none but for another. Where
    people of only a share of the groups teach, `teaching`, it is given up unless no more than these are affordable.
    """
    sample = listed.spread_out()
    in_order = [target.in_order for target in targets]
    found: tuple[list[Bools], list[Bools]] = [], []
    work, limit = 0, adversary.limit
    precision, effort = QUICK, EFFORT * adversary.share
    if teaching is not None:
        precision, effort = AT_ONCE, EFFORT * teaching**GROWTH / QUICK_EFFORT
    least = TRIAL_EFFORT if teaching is None else 0

    def still() -> None:
        # Where somebody has cancelled it, the next sets need not be attacked.
        progress(min(len(found[0]) / MOST_TRIED, 1.0), f"Trying epsilon {epsilon:g}")

    while (len(found[0]) < FEWEST_SETS or work < least) and (batch := tuple(islice(sample, BATCH))):
        sets = SetSample(batch, 0).shared_out()
        for _, attacks in attack_sets(sets, targets, limit, adversary.solver, precision, still):
            for breached, needs, attack in zip(found, in_order, attacks, strict=True):
                breached.append(lies_above(attack.beliefs.own[needs], limit, ACCUMULATED))
                work += attack.work
            still()
        afforded = int(effort * len(found[0]) * len(targets) / ATTACKS / work)
        if teaching is not None and SURELY * afforded > min(FEWEST_SETS, listed.n_all):
            return None
        if not is_first and afforded < min(FEWEST_AFFORDED, listed.n_all):
            return None
    if not found[0]:
        return None
    is_whole = afforded >= listed.n_all
    exact = is_whole and afforded >= EXACT_EFFORT * listed.n_all
    n_afforded = listed.n_all if is_whole else max(afforded, len(found[0]))
    learned = FULL if exact else QUICK
    return Trial(epsilon, np.array(found[0]), np.array(found[1]), n_afforded, listed.n_all, learned, work)
