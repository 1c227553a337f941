"""The attack: learn p(s:x) from all groups, weigh the possible worlds of each with it, and see whose value shows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np

from anoncore.attacks.foreground.adversary import EPSILONS, Adversary
from anoncore.attacks.foreground.chosen_epsilon import Choice, chosen_epsilon
from anoncore.attacks.foreground.control import Excess, beside_control
from anoncore.attacks.foreground.fact_learning import ToldTarget
from anoncore.attacks.foreground.fact_worlds import is_true, value_facts
from anoncore.attacks.foreground.facts import Fact, facts_of
from anoncore.attacks.foreground.mining import Attacked, SetAttack, Target, Unreliable, attack_sets
from anoncore.attacks.foreground.result import ForegroundKnowledge
from anoncore.attacks.foreground.sampled_sets import MOST_TRIED
from anoncore.attacks.foreground.sets import SetLeak, Signatures, levels
from anoncore.attacks.foreground.solver import FULL, Precision, Solver
from anoncore.attacks.foreground.with_facts import ForegroundWithFacts, notes_of
from anoncore.attacks.rows_counted import rows_counted
from anoncore.base.arguments import checked
from anoncore.base.number import ONE_PARTITION, RISK, Number, measure
from anoncore.base.progress import Progress, part_of, silent
from anoncore.base.score import Score
from anoncore.kernels.arrays import Floats, Int64
from anoncore.kernels.foreground_groups import Beliefs, keep_highest
from anoncore.kernels.rounding import ACCUMULATED, lies_above
from anoncore.release.release import Release

TOO_SMALL = "the table is too small for this certainty"
"""What is said where no signature has the rows that epsilon asks for, in place of a number."""

FOREGROUND_BREACH = replace(
    RISK,
    name="foreground-breach",
    title="Foreground breach",
    template=(
        "Share of the people with a protected value of {attribute} to whom the foreground-knowledge attack ascribes it "
        "with a probability p(t:x) above 1/{r}."
    ),
    source="Wong et al., 2009",
    baseline="the same share for an adversary who takes every possible world for equally likely.",
    release_forms=ONE_PARTITION,
    of_attribute=True,
    is_slow=True,
    short="Breached",
)
FOREGROUND_CONTROL, FOREGROUND_EXCESS = beside_control(
    FOREGROUND_BREACH,
    "Share of the people with a protected value of {attribute} whom the foreground-knowledge attack breaches "
    "(belief above 1/{r}), less the same share on shuffled secrets.",
)
FOREGROUND_FLAGGED = replace(
    FOREGROUND_BREACH,
    name="foreground-flagged",
    title="People falsely flagged",
    template="Share of people with a p(t:x) above 1/{r} for a protected value of {attribute} that they lack.",
    short="Falsely flagged",
)
FOREGROUND_PROBABILITY = replace(
    FOREGROUND_BREACH,
    name="foreground-mean-probability",
    title="Mean probability of the true value",
    template="How strongly the attack believes in the true protected value of {attribute}, on average.",
    unit="probability",
    baseline="the same mean for an adversary who takes every possible world for equally likely.",
    short="Mean p(t:x)",
)
FOREGROUND_ERROR = Number(
    name="foreground-error",
    title="Error of what was learned",
    template="Mean relative error of the learned p(s:x); without the attack: that of the overall share.",
    family="adversary",
    source="Wong et al., 2009",
    form="share",
    unit="share of the true probability",
    higher_is_better=True,
    bounds=(0.0, None),
    baseline="the error of the overall share of x, taken for everybody.",
    release_forms=ONE_PARTITION,
    of_attribute=True,
    is_slow=True,
    short="Learning error",
)
FOREGROUND_RANGE = replace(
    FOREGROUND_BREACH,
    name="foreground-range",
    title="Mean difference inside a group",
    template="Largest minus smallest p(s:x) among the people of a group, over groups and attribute sets.",
    form="number",
    unit="probability",
    baseline="0: an adversary to whom the people of a group are alike.",
    short="",
)


@measure(
    FOREGROUND_EXCESS,
    FOREGROUND_BREACH,
    FOREGROUND_CONTROL,
    FOREGROUND_FLAGGED,
    FOREGROUND_PROBABILITY,
    FOREGROUND_ERROR,
    FOREGROUND_RANGE,
)
@checked
def foreground_knowledge(
    release: Release,
    attribute: str,
    r: float = 2.0,
    epsilon: float | None = None,
    sigma: float = 0.9,
    unreliable: Unreliable = "overall",
    solver: Solver = "fixed-point",
    max_size: int | None = None,
    progress: Progress | None = None,
    at_least: bool = False,
    draws: int = 3,
    seed: int = 0,
    facts: Sequence[Fact | str] = (),
) -> ForegroundKnowledge:
    """What an adversary learns about each person by reading the whole release: p(t:x), against the bound 1 / r.

    The adversary knows everyone's quasi-identifiers and group. A signature is a combination of values of some
    quasi-identifiers. For every set of quasi-identifiers they learn from all groups together how likely each frequent
    signature s has each protected value x; with that they weigh the possible worlds of every group, and take the
    largest p(t:x). A signature with fewer than J = ln(2 / sigma) / (2 epsilon^2) rows is not relied upon. Where only
    some values need protection they are one x. The probabilities are exact.

    The largest of many beliefs exceeds 1 / r now and then where there is nothing to learn. So the same attack is made
    on controls, for which the secret was shuffled over all people before the method ran again. What lies above them is
    what the release gives away.

    Facts that the adversary knows from elsewhere leave fewer possible worlds, and these teach and tell more. What
    changes is in `with_facts`. A fact about one person decides whether they have a value, and so does one about nobody
    or everybody of a kind; what then follows for the others of a group, by the secrets that are left, is known too. A
    fact about a share of the people of a kind leaves the worlds of x in which so many of them have x; of other values
    it says nothing unless it leaves no choice.

    Parameters
    ----------
    release : Release
        The release that the adversary reads.
    attribute : str
        The sensitive attribute whose value is guessed.
    r : float
        A breach is a belief above 1 / r (see `at_least`); at least 1.
    epsilon : float, optional
        Error that the adversary accepts in what they learn, above 0. By default that one of 0.01, 0.02, 0.05, 0.1 and
        0.2 is taken with which the attack lies farthest above its control, as samples of attribute sets tell. Where an
        attack with all attribute sets would take long then, it goes through as many of them, evenly drawn, as can be
        attacked with in some seconds, with shares to the fourth decimal; `n_all` says how many there are.
    sigma : float
        Chance of a larger error, above 0 and at most 1.
    unreliable : {"overall", "uniform", "group"}
        Share of x that people with rare signatures are taken to have. The paper says that a uniform distribution is
        assumed, which can be read in three ways: the overall share, 1/2, or the share in the person's own group.
    solver : {"fixed-point", "newton"}
        How the shares are found. Both end where plain expectation-maximization from the overall share ends, also where
        the equations have several solutions.
    max_size : int, optional
        Most attributes in a set; by default all.
    progress : callable, optional
        Called with the share done and a text; it may raise CancelledError to stop the attack.
    at_least : bool
        Count a belief of exactly 1 / r as a breach too. The definition does not, but the recall that the paper reports
        at r = 2 comes out so.
    draws : int
        How often the secret is shuffled for the control; without any there is no control, and epsilon has to be given.
    seed : int
        Draws the controls and the attribute sets.
    facts : sequence of Fact or str
        What the adversary knows beside the release, such as "row 12 has not flu", "nobody where age < 30 has gout" or
        "at least 10% where sex = female has flu" (see `Fact`). They need not be true. Epsilon is chosen without them.

    Returns
    -------
    ForegroundKnowledge
        The beliefs about every person, what lies above the control, and what each attribute set gave away. Where no
        signature has the rows that epsilon asks for, nothing was learned: `learned` is False, and recall is NaN.

    Raises
    ------
    ReleaseError
        For fragments with partitions of their own, or an attribute that is generalized.
    DataError
        Without quasi-identifiers, or for an attribute that is not sensitive; for facts about what does not occur, and
        facts that leave no possible world.
    ParameterError
        For a number out of range, or a sentence that is no fact.

    Notes
    -----
    Assumes: the adversary knows everybody's quasi-identifiers and group, and has only the release to learn from.
    Cost: O(N n) per group of N people of which n have the value, for every attribute set with frequent signatures, four
      times with three controls, for each of which the method runs once more. Facts cost one more attack; those that
      count people are exact in tables of few groups, and weigh odds in larger ones, by hundreds of plain steps.
    Use: a release keeps exact or generalized groups with one shared partition, whichever method made it.
    Avoid: fragments have partitions of their own, or no signature has the rows that epsilon and sigma ask for: then
      nothing is learned.

    References
    ----------
    Wong, Fu, Wang, Xu and Yu, Can the Utility of Anonymized Data be used for Privacy Breaches?, 2009. The control, the
    choice of epsilon and the facts are ours; the paper leaves background knowledge to future work. Counts in large
    tables: Ganchev, Graça, Gillenwater and Taskar, Posterior Regularization, JMLR 2010.

    Examples
    --------
    In bucket 1 one person is from J, one from A, and one of them has the flu. The other buckets tell who: everybody
    from J has the flu, nobody from A does.

    >>> import pandas as pd
    >>> from anoncore import Exact, Fragment, Microdata, Partition, Release, attacks
    >>> people = pd.DataFrame({"nation": list("JJJAAA"), "disease": ["flu"] * 3 + ["gout"] * 3})
    >>> data = Microdata(people, roles={"nation": "quasi-identifier", "disease": "sensitive"})
    >>> buckets = Partition([0, 0, 1, 1, 2, 2])
    >>> exact = {name: Exact(data.domain[name], buckets, data.codes[name]) for name in data.attributes}
    >>> release = Release(data, tuple(Fragment(name, buckets, {name: exact[name]}) for name in exact))
    >>> found = attacks.foreground_knowledge(release, "disease", r=2, epsilon=0.4)
    >>> found.breach_probability[2:4].round(3).tolist(), found.without_attack[2:4].tolist()
    ([1.0, 1.0], [0.5, 0.5])

    Six people are too few for a certainty of 0.01:

    >>> too_sure = attacks.foreground_knowledge(release, "disease", r=2, epsilon=0.01)
    >>> too_sure.learned, float(too_sure.recall)
    (False, nan)

    Facts may do what the table is too small for:

    >>> told = attacks.foreground_knowledge(release, "disease", epsilon=0.01, facts=["nobody where nation = A has flu"])
    >>> told.with_facts.breach_probability[2:4].tolist(), told.with_facts.n_more
    ([1.0, 1.0], 2)
    """
    release.require_people("Foreground knowledge is turned against the group that holds a person's row")
    adversary = Adversary(attribute, r, sigma, unreliable, solver, max_size, at_least, seed)
    adversary.check(epsilon, draws)
    begin = time.perf_counter()
    report = silent if progress is None else progress
    names, target = adversary.known(release), adversary.target(release)
    known = facts_of(facts)
    told = ToldTarget.of(target, value_facts(release, attribute, known)) if known else None
    if epsilon is not None:
        plan, begun = _Plan(epsilon), 0.0
    else:
        plan, begun = _Plan.of(chosen_epsilon(release, adversary, part_of(report, 0, PART))), PART
    minimum_rows = adversary.minimum_rows(plan.epsilon)
    learns = next(levels(release.data, names, minimum_rows, 1), None) is not None
    controlled = begun + PART if learns and draws else begun
    making = part_of(report, begun, controlled)
    controls = _controls(release, adversary, draws if learns else 0, making)
    searched, n_all = _searched(release, names, minimum_rows, max_size), None
    if plan.n_sets is not None:
        listed = adversary.listed(release, plan.epsilon)
        # The sets by which epsilon was chosen are among those that are gone through.
        sample = listed.beginning(plan.n_sets) if plan.n_sets <= MOST_TRIED else listed.drawn(plan.n_sets)
        searched, n_all = sample.shared_out(), listed.n_all
    best, best_told = _Best.of(target), _Best.of(target)
    by_chance = [np.zeros(release.data.n_rows, np.bool_) for _ in controls]
    leaks: list[SetLeak] = []
    limit, learning = adversary.limit, part_of(report, controlled, 1)
    targets: list[Attacked[SetAttack]] = [target, *(one for one, _ in controls), *([told] if told is not None else [])]
    told_converged, share_done = True, 0.0

    def still() -> None:
        learning(share_done, f"{len(leaks):,} attribute sets learned")

    for done, (attack, *others) in attack_sets(searched, targets, limit, solver, plan.precision, still):
        best.take(len(leaks), attack.beliefs)
        leaks.append(attack.leak())
        for breached, other in zip(by_chance, others, strict=False):
            breached |= lies_above(other.beliefs.own, limit, ACCUMULATED)
        if told is not None:
            best_told.take(len(leaks) - 1, others[-1].beliefs)
            told_converged &= others[-1].leak().converged
        share_done = done
        still()
    shares = [
        float(breached[one.needs[one.partition.order]].mean())
        for breached, (one, _) in zip(by_chance, controls, strict=True)
        if one.n_needing
    ]
    result = _result(
        release,
        target,
        best,
        leaks,
        shares,
        plan,
        adversary,
        len(leaks) if n_all is None else n_all,
        tuple(dict.fromkeys(how for _, how in controls if how)),
        begin,
    )
    if told is None:
        return result
    holds = tuple(is_true(release, attribute, fact) for fact in known)
    notes = notes_of(known, holds, told.weighs_counts, told_converged or plan.precision != FULL)
    return replace(
        result,
        with_facts=_with_facts(result, adversary, told, best_told, known, holds, shares, notes),
        seconds=time.perf_counter() - begin,
    )


PART = 0.2
"""Share of the progress that choosing epsilon takes, and making the controls."""


@dataclass(frozen=True)
class _Plan:
    """How the attack is made: with which epsilon, with how many attribute sets (None: all), and how precisely."""

    epsilon: float
    n_sets: int | None = None
    precision: Precision = FULL
    sentence: str = ""
    too_costly: tuple[float, ...] = ()

    @classmethod
    def of(cls, choice: Choice) -> _Plan:
        """The attack with the epsilon that was chosen, as far as it can be afforded."""
        if choice.best is None:
            return cls(EPSILONS[-1])
        best = choice.best
        n_sets = None if best.n_afforded >= best.n_all else best.n_afforded
        return cls(best.epsilon, n_sets, best.precision, choice.sentence, choice.too_costly)


def _controls(release: Release, adversary: Adversary, draws: int, progress: Progress) -> list[tuple[Target, str]]:
    """What is attacked as a control, and how it was made. None of them is what epsilon was chosen by."""
    made = []
    for draw in range(draws):
        progress(draw / draws, f"Making control {draw + 1} of {draws}")
        report = part_of(progress, draw / draws, (draw + 1) / draws)
        made.append(adversary.control(release, 1 + draw, report))
    return made


@dataclass(eq=False)
class _Best:
    """The largest probabilities of every person over the attribute sets so far, and the set that gives them.

    All by position: the rows stand by group.
    """

    own: Floats
    other: Floats
    leading: Int64

    @classmethod
    def of(cls, target: Target) -> _Best:
        n = target.partition.n_rows
        return cls(np.zeros(n), np.zeros(n), np.full(n, -1))

    def take(self, number: int, found: Beliefs) -> None:
        """Take in what one more attribute set gives."""
        keep_highest(found.own, found.other, number, self.own, self.other, self.leading)


def _searched(
    release: Release, names: tuple[str, ...], minimum_rows: float, max_size: int | None
) -> Iterator[tuple[float, Signatures]]:
    """All attribute sets with a reliable signature, each with the share of the search that is done."""
    for size, level in enumerate(levels(release.data, names, minimum_rows, max_size)):
        for done, signatures in enumerate(level, start=1):
            yield (size + done / len(level)) / len(names), signatures


def _result(
    release: Release,
    target: Target,
    best: _Best,
    leaks: list[SetLeak],
    by_chance: list[float],
    plan: _Plan,
    adversary: Adversary,
    n_all: int,
    how: tuple[str, ...],
    begin: float,
) -> ForegroundKnowledge:
    order = sorted(range(len(leaks)), key=lambda i: (leaks[i].recall, leaks[i].mean_probability), reverse=True)
    rank = np.full(len(leaks) + 1, -1)
    rank[order] = np.arange(len(leaks))
    guess_own, guess_other = target.random_worlds()
    position = np.argsort(target.partition.order)
    own, other = (best.own[position], best.other[position]) if leaks else (guess_own, guess_other)
    scores = _scores_of_people(target, adversary, (own, other) if leaks else None, (guess_own, guess_other))
    beside = Excess.of(float(scores["recall"]), by_chance, target.n_needing)
    minimum_rows, words = adversary.minimum_rows(plan.epsilon), adversary.words
    return ForegroundKnowledge(
        attribute=target.attribute,
        r=adversary.r,
        at_least=adversary.at_least,
        epsilon=plan.epsilon,
        minimum_rows=minimum_rows,
        learned=bool(leaks),
        values=target.view.labels[: target.n_values],
        fixed_shares=np.where(target.fixed < 0, np.nan, target.fixed),
        overall_shares=target.shares,
        breach_probability=np.maximum(own, other),
        own_probability=np.where(target.needs, own, np.nan),
        without_attack=np.maximum(guess_own, guess_other),
        own_without_attack=np.where(target.needs, guess_own, np.nan),
        leading_set=rank[best.leading[position]],
        **scores,
        **beside.scores(FOREGROUND_CONTROL, FOREGROUND_EXCESS, words),
        **_scores_of_learning(leaks),
        sets=tuple(leaks[i] for i in order),
        n_all=n_all,
        too_costly=plan.too_costly,
        seconds=time.perf_counter() - begin,
        mining_seconds=sum(one.seconds for one in leaks),
        notes=(*rows_counted(release), *_notes(leaks, minimum_rows, n_all, plan.sentence, plan.precision), *how),
        with_facts=None,
    )


def _with_facts(
    result: ForegroundKnowledge,
    adversary: Adversary,
    told: ToldTarget,
    best: _Best,
    facts: tuple[Fact, ...],
    holds: tuple[bool, ...],
    by_chance: list[float],
    notes: tuple[str, ...],
) -> ForegroundWithFacts:
    """The beliefs with the facts, and whom they give away beside those of the attack without them."""
    target, position = told.target, np.argsort(told.target.partition.order)
    guessed = told.random_worlds()
    own, other = (best.own[position], best.other[position]) if result.learned else guessed
    scores = _scores_of_people(target, adversary, (own, other), guessed)
    beside = Excess.of(float(scores["recall"]), by_chance, target.n_needing)
    limit, words = adversary.limit, adversary.words
    before = lies_above(np.nan_to_num(result.own_probability), limit, ACCUMULATED)
    after = lies_above(np.where(target.needs, own, 0.0), limit, ACCUMULATED)
    return ForegroundWithFacts(
        facts=facts,
        is_true=holds,
        breach_probability=np.maximum(own, other),
        own_probability=np.where(target.needs, own, np.nan),
        own_without_attack=np.where(target.needs, guessed[0], np.nan),
        own_without_facts=result.own_probability,
        more=after & ~before,
        fewer=before & ~after,
        **scores,
        excess=Score(beside.excess, FOREGROUND_EXCESS, baseline=0.0, words=words),
        excess_interval=beside.excess_interval,
        notes=notes,
    )


def _scores_of_people(
    target: Target, adversary: Adversary, believed: tuple[Floats, Floats] | None, guessed: tuple[Floats, Floats]
) -> dict[str, Any]:
    """Who is breached, who is flagged without reason, and how strongly true values are believed, beside guessing.

    All are NaN where nothing was learned.
    """
    limit = adversary.limit
    attack = (nan, nan, nan) if believed is None else target.figures(*believed, limit)
    guess = target.figures(*guessed, limit)
    numbers = {
        "recall": FOREGROUND_BREACH,
        "flagged": FOREGROUND_FLAGGED,
        "mean_probability": FOREGROUND_PROBABILITY,
    }
    return {
        name: Score(value, number, baseline=guessing, words=adversary.words)
        for (name, number), value, guessing in zip(numbers.items(), attack, guess, strict=True)
    }


def _scores_of_learning(leaks: list[SetLeak]) -> dict[str, Any]:
    """How true the learned shares are, and how far they differ inside a group."""
    return {
        "error": Score(
            _mean_of([leak.relative_error for leak in leaks]),
            FOREGROUND_ERROR,
            baseline=_mean_of([leak.guessing_error for leak in leaks]),
        ),
        "mean_range": Score(_mean_of([leak.mean_range for leak in leaks]), FOREGROUND_RANGE, baseline=0.0),
    }


def _mean_of(numbers: list[float]) -> float:
    known = [number for number in numbers if not np.isnan(number)]
    return float(np.mean(known)) if known else float("nan")


def _notes(leaks: list[SetLeak], minimum_rows: float, n_all: int, chosen: str, precision: Precision) -> tuple[str, ...]:
    notes = [chosen] if chosen else []
    if not leaks:
        notes.append(
            f"{TOO_SMALL.capitalize()}: no signature has {minimum_rows:,.1f} rows, so nothing was "
            "learned. That is no sign of safety; a larger epsilon relies on fewer rows."
        )
    if 0 < len(leaks) < n_all:
        notes.append(
            f"The attack went through {len(leaks):,} of {n_all:,} attribute sets, and its controls through the same: "
            "with all of them it breaches at least as many people."
        )
    failed = [leak.label for leak in leaks if not leak.converged]
    if failed and precision == FULL:
        notes.append(
            f"The solver did not converge for {len(failed)} of {len(leaks)} attribute sets, first: {failed[0]}."
        )
    contradicted = sum(leak.contradicted for leak in leaks)
    if contradicted:
        notes.append(
            f"What was learned rules out every possible world of {contradicted:,} groups (over all attribute sets); "
            "there everyone counts as equally likely."
        )
    return tuple(notes)
