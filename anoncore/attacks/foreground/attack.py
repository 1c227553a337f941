"""The attack: learn p(s:x) from all groups, weigh the possible worlds of each with it, and see whose value shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import log

import numpy as np

from anoncore.attacks.foreground.mining import UNRELIABLE, Target, Unreliable, attack_sets, breach_limit
from anoncore.attacks.foreground.result import ForegroundKnowledge
from anoncore.attacks.foreground.sets import SetLeak, Signatures, levels
from anoncore.attacks.foreground.solver import Solver
from anoncore.attacks.rows_counted import rows_counted
from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError
from anoncore.base.number import ONE_PARTITION, Number
from anoncore.base.score import Score
from anoncore.kernels.arrays import Floats, Int64
from anoncore.kernels.foreground_groups import Beliefs, keep_highest
from anoncore.release.release import Release

Progress = Callable[[float, str], None]

FOREGROUND_BREACH = Number(
    name="foreground-breach",
    title="Foreground breach",
    template=(
        "Share of the people with a protected value of {attribute} to whom the foreground-knowledge attack ascribes it "
        "with a probability p(t:x) above 1/{r}."
    ),
    family="adversary",
    source="Wong et al., 2009",
    measured_by="attacks.foreground_knowledge",
    form="share",
    unit="share of people",
    higher_is_better=False,
    bounds=(0.0, 1.0),
    baseline="the same share for an adversary who takes every possible world for equally likely.",
    release_forms=ONE_PARTITION,
    of_attribute=True,
    is_slow=True,
    short="Breached",
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
    measured_by="attacks.foreground_knowledge",
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


@checked
def foreground_knowledge(
    release: Release,
    attribute: str,
    r: float = 2.0,
    epsilon: float = 0.01,
    sigma: float = 0.9,
    unreliable: Unreliable = "overall",
    solver: Solver = "fixed-point",
    max_size: int | None = None,
    progress: Progress | None = None,
    at_least: bool = False,
) -> ForegroundKnowledge:
    """What an adversary learns about each person by reading the whole release: p(t:x), against the bound 1 / r.

    The adversary knows everyone's quasi-identifiers and group. A signature is a combination of values of some
    quasi-identifiers. For every set of quasi-identifiers they learn from all groups together how likely each frequent
    signature s has each protected value x; with that they weigh the possible worlds of every group, and take the
    largest p(t:x). A signature with fewer than J = ln(2 / sigma) / (2 epsilon^2) rows is not relied upon. Where only
    some values need protection they are one x. The probabilities are exact.

    Parameters
    ----------
    release : Release
        The release that the adversary reads.
    attribute : str
        The sensitive attribute whose value is guessed.
    r : float
        A breach is a belief above 1 / r (see `at_least`); at least 1.
    epsilon : float
        Error that the adversary accepts in what they learn, above 0.
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

    Returns
    -------
    ForegroundKnowledge
        The beliefs about every person, and what each attribute set gave away.

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
    Assumes: the adversary knows everybody's quasi-identifiers and group, and has only the release to learn from.
    Cost: O(N n) per group of N people of which n have the value, for every attribute set with frequent signatures.
    Use: a release keeps exact or generalized groups with one shared partition, whichever method made it.
    Avoid: fragments have partitions of their own, or no signature has the rows that epsilon and sigma ask for: then
      nothing is learned.

    References
    ----------
    Wong, Fu, Wang, Xu and Yu, Can the Utility of Anonymized Data be used for Privacy Breaches?, 2009.

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
    """
    release.require_people("Foreground knowledge is turned against the group that holds a person's row")
    check_adversary(r, epsilon, sigma, max_size, unreliable, solver)
    minimum_rows = minimum_signature_rows(epsilon, sigma)
    begin = time.perf_counter()
    names = tuple(name for name in release.data.require_quasi_identifiers() if name != attribute)
    target = Target.of(release, attribute, unreliable)
    best = _Best.of(target)
    leaks: list[SetLeak] = []
    searched = _searched(release, names, minimum_rows, max_size)
    for done, (leak, found_here) in attack_sets(searched, target, breach_limit(r, at_least), solver):
        best.take(len(leaks), found_here)
        leaks.append(leak)
        if progress is not None:
            progress(done, f"{len(leaks):,} attribute sets learned")
    order = sorted(range(len(leaks)), key=lambda i: (leaks[i].recall, leaks[i].mean_probability), reverse=True)
    rank = np.full(len(leaks) + 1, -1)
    rank[order] = np.arange(len(leaks))
    found = _result(target, best, [leaks[i] for i in order], rank, r, at_least, minimum_rows, begin)
    return replace(found, notes=(*rows_counted(release), *found.notes))


def minimum_signature_rows(epsilon: float, sigma: float) -> float:
    """J: rows that a signature needs so that its share errs by more than epsilon with a chance of at most sigma.

    Source: theorem 1 (Toivonen, VLDB 1996).
    """
    return log(2 / sigma) / (2 * epsilon**2)


def check_adversary(
    r: float, epsilon: float, sigma: float, max_size: int | None, unreliable: Unreliable, solver: Solver
) -> None:
    """Raise ParameterError where no adversary learns and believes so."""
    if not r >= 1:
        raise ParameterError(f"r must be at least 1, so that 1 / r is a probability, not {r}.")
    if not epsilon > 0 or not 0 < sigma <= 1:
        raise ParameterError(
            f"epsilon must be above 0 and sigma above 0 and at most 1; given were {epsilon} and {sigma}."
        )
    if max_size is not None and max_size < 1:
        raise ParameterError(f"max_size is the number of attributes in a set, at least 1, not {max_size}.")
    if unreliable not in UNRELIABLE or solver not in ("fixed-point", "newton"):
        raise ParameterError(
            "unreliable is 'overall', 'uniform' or 'group', and solver 'fixed-point' or 'newton'; "
            f"given were {unreliable!r} and {solver!r}."
        )


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
    target: Target,
    best: _Best,
    leaks: list[SetLeak],
    rank: Int64,
    r: float,
    at_least: bool,
    minimum_rows: float,
    begin: float,
) -> ForegroundKnowledge:
    guess_own, guess_other = target.random_worlds()
    position = np.argsort(target.partition.order)
    own, other = (best.own[position], best.other[position]) if leaks else (guess_own, guess_other)
    return ForegroundKnowledge(
        attribute=target.attribute,
        r=r,
        at_least=at_least,
        minimum_rows=minimum_rows,
        values=target.view.labels[: target.n_values],
        fixed_shares=np.where(target.fixed < 0, np.nan, target.fixed),
        overall_shares=target.shares,
        breach_probability=np.maximum(own, other),
        own_probability=np.where(target.needs, own, np.nan),
        without_attack=np.maximum(guess_own, guess_other),
        own_without_attack=np.where(target.needs, guess_own, np.nan),
        leading_set=rank[best.leading[position]],
        **_scores_of_people(target, r, at_least, (own, other), (guess_own, guess_other)),
        **_scores_of_learning(leaks),
        sets=tuple(leaks),
        seconds=time.perf_counter() - begin,
        mining_seconds=sum(one.seconds for one in leaks),
        notes=_notes(leaks, minimum_rows),
    )


def _scores_of_people(
    target: Target, r: float, at_least: bool, believed: tuple[Floats, Floats], guessed: tuple[Floats, Floats]
) -> dict[str, Score]:
    """Who is breached, who is flagged without reason, and how strongly true values are believed, beside guessing."""
    limit = breach_limit(r, at_least)
    attack, guess = target.figures(*believed, limit), target.figures(*guessed, limit)
    words = {"attribute": f"'{target.attribute}'", "r": f"{r:g}"}
    numbers = {
        "recall": FOREGROUND_BREACH,
        "flagged": FOREGROUND_FLAGGED,
        "mean_probability": FOREGROUND_PROBABILITY,
    }
    return {
        name: Score(value, number, baseline=guessing, words=words)
        for (name, number), value, guessing in zip(numbers.items(), attack, guess, strict=True)
    }


def _scores_of_learning(leaks: list[SetLeak]) -> dict[str, Score]:
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


def _notes(leaks: list[SetLeak], minimum_rows: float) -> tuple[str, ...]:
    notes = []
    if not leaks:
        notes.append(
            f"No signature has {minimum_rows:,.1f} rows, so nothing is learned and every possible world is as likely; "
            "a larger epsilon relies on fewer rows."
        )
    failed = [leak.label for leak in leaks if not leak.converged]
    if failed:
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
