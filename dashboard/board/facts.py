"""What the board shows of one release, as plain numbers that can be written to a file."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from anoncore import AnonymizationError, CancelledError, Policy, Release, attacks, privacy, utility
from anoncore.algorithms import Algorithm, Mondrian
from anoncore.attacks.strongest import ON_ATTRIBUTES
from anoncore.base import Estimate
from anoncore.base.progress import Progress, part_of
from anoncore.base.shared_work import Cache, cached, kept_results
from anoncore.base.texts import share_text
from anoncore.front.policy.judgement import JudgedRule, Judgement
from anoncore.front.policy.release_rules import judge_release
from anoncore.front.policy.wording import limit_rule
from anoncore.kernels.arrays import Floats
from anoncore.measures import Verdict, verdict
from anoncore.measures.answer import FOREGROUND, NOTHING, asked_ground, farthest, hidden_among
from anoncore.measures.criteria import CRITERIA, NUMBERS, value_of
from anoncore.measures.promise_marks import BUCKET, Mark, has_buckets, unpromised
from anoncore.measures.promise_marks import marks as marks_of
from anoncore.measures.verdict import Mend
from anoncore.release.recoding import Generalized
from anoncore.release.unchanged import unchanged
from anoncore.requirements import (
    KAnonymity,
    Requirement,
)
from anoncore.search.candidates import redrawn
from anoncore.utility.classifiers import ClassifierName
from dashboard.markdown import in_page_words, reason
from dashboard.session import compute
from dashboard.session.workspace import Run
from dashboard.tasks import jobs

NOBODYS = "The rows of this table are nobody's, so nobody hides among others in it."
CURVE_POINTS = 41
SIZE_EDGES = (1, 2, 3, 5, 10, 20, 50, *(digit * 10**power for power in range(2, 9) for digit in (1, 2, 5)))
"""Sizes at which a bin of the histogram of group sizes begins; the last one is open."""
CLASSIFIER: ClassifierName = "tree"
FOLDS = 10
STRONGEST, LEAST, DRAWS, POLICY = "strongest", "least", "draws", "policy"
LATE = (STRONGEST, LEAST, DRAWS)
"""Slow numbers that come after those of all columns, and only while somebody looks: what the strongest of all attacks
gets, what could be lost at least, and what other draws of a method come to.
"""
OTHER_DRAWS = 4
SECONDS_FOR_BOUND = 4.0
"""What the least possible information loss is looked for; longer makes the bound higher, never wrong."""
MOMENTARY = frozenset(
    [
        "privacy.profile",
        "attacks.reidentification",
        "attacks.attribute_disclosure",
        "utility.two_way_error",
        "utility.information_loss",
    ]
)
"""What measures the numbers of rules that are told at once."""
NOT_OF_ORIGINAL = ("foreground-excess",)
"""Criteria that say nothing of a table in which everybody is a group of their own."""

Facts = dict[str, Any]


@dataclass
class Slow:
    """A slow number as far as it is known: an estimate comes first, where there is one, and the exact number replaces
    it, or why there is none; and the job that works it out.
    """

    estimate: Facts | None = None
    exact: Facts | None = None
    problem: str = ""
    job: jobs.Job | None = None

    @property
    def facts(self) -> Facts | None:
        """The exact number, else its estimate."""
        return self.exact or self.estimate

    @property
    def is_done(self) -> bool:
        """Whether nothing more will come."""
        return self.exact is not None or bool(self.problem)


@dataclass(frozen=True)
class Judged:
    """The verdict on a release in the words of the board.

    `headline` is the verdict in a sentence, `breaking` says which published columns break what was asked and what they
    do, and `not_asked` names what nobody asked for and fails badly. `is_good`: all was asked for holds, and nothing
    else fails. `mend` is what would mend what is bad.
    """

    headline: str
    breaking: str
    not_asked: tuple[str, ...]
    is_good: bool
    mend: Mend = NOTHING

    @classmethod
    def of(cls, found: Verdict) -> Judged:
        """The words of a verdict."""
        return cls(
            found.headline, found.breaking, tuple(one.title for one in found.not_asked), found.is_good, found.mend
        )


def verdict_of(run: Run, asked: Sequence[Requirement], foreground: float | None = None) -> Verdict:
    """The verdict on a run, from measures that are computed once: the only one, on every page.

    It is held against what is `asked` of it, also where its method does not promise that. `foreground` is the share of
    people whom the foreground-knowledge attack breaches, where it was made.
    """
    cache = compute.cache_of(run)
    wanted = tuple(asked) if run.release.is_synthetic else unpromised(run.release, asked, run.title, cache)
    return verdict(run.release, wanted, cache=cache, foreground=foreground)


def marks(run: Run, asked: Sequence[Requirement]) -> tuple[Mark, ...]:
    """How everything that is asked fares in the run's release, in the words of the page."""
    found = marks_of(run.release, asked, run.title, compute.cache_of(run))
    return tuple(replace(one, sentence=in_page_words(one.sentence)) for one in found)


def quick(run: Run, secret: str | None) -> Facts:
    """Everything on the board that takes a fraction of a second: sizes, distances, cost and beliefs; of synthetic rows
    why nobody hides among them.
    """
    release = run.release
    others = {
        "distance": _distance(run, secret),
        "farthest": farthest(release, run.promises, compute.cache_of(run)),
        "lost": _lost(run),
        "belief": _belief(run, secret),
        "is_drawn": run.is_drawn,
    }
    if release.is_synthetic:
        return {"hides": {"why": NOBODYS}, **_promised(run), **others}
    sizes = hidden_among(release)
    n_groups = max(part.partition.n_groups for part in release.fragments)
    return {
        "groups": int(n_groups),
        "word": BUCKET if has_buckets(run.release) else release.group_word,
        "smallest": int(sizes.min()),
        "median": int(np.median(sizes)),
        "sizes": histogram(sizes),
        **others,
    }


def _promised(run: Run) -> Facts:
    """What the method promises of everybody and no table can show."""
    found = compute.cached("privacy.personal_guarantees", run, privacy.personal_guarantees)
    told = [one for one in found if one.level]
    return {"promised": [{"words": one.level, "sentence": one.sentence} for one in told]} if told else {}


def histogram(sizes: np.ndarray) -> list[float]:
    """Share of the people in groups of each size, by the bins of `SIZE_EDGES`, up to the last one that has any."""
    place = np.searchsorted(SIZE_EDGES, sizes, side="right") - 1
    counts = np.bincount(place, minlength=1)
    return [round(float(count) / len(sizes), 6) for count in counts]


def _distance(run: Run, secret: str | None) -> Facts:
    if secret is None:
        return {"why": "No attribute is secret, so there is no distribution to be far from."}
    ground = asked_ground(run.data, secret, run.promises)

    def distances(release: Release, name: str, ground: str) -> Floats:
        return np.asarray(privacy.emd(release, name, ground))  # type: ignore[arg-type]

    try:
        found = compute.cached("privacy.emd", run, distances, secret, ground)
        partition = run.release.fragment_of(secret).partition
    except AnonymizationError as error:
        return {"why": reason(error)}
    of_people = np.sort(found[partition.group])
    at = np.linspace(0, len(of_people) - 1, CURVE_POINTS).round().astype(int)
    return {
        "largest": float(found.max()),
        "mean": float(of_people.mean()),
        "curve": [round(float(value), 5) for value in of_people[at]],
        "ground": ground,
    }


def _lost(run: Run) -> Facts:
    """The two-way error, or the most that it can be where the original is not here, by which it would be told."""
    try:
        if run.data.knows_rows:
            error = compute.cached("utility.two_way_error", run, utility.two_way_error)
            found = {"value": float(error), **_by_attribute(error.pairs)}
            if is_generalized(run.release):
                loss = compute.cached("utility.information_loss", run, utility.information_loss)
                found["information"] = float(loss)
            return found
        bound = compute.cached("utility.two_way_error_bound", run, utility.two_way_error_bound)
    except AnonymizationError as error:
        return {"why": reason(error)}
    return {"at_most": float(bound), **_by_attribute(bound.pairs), "uncounted": list(bound.uncounted)}


def is_generalized(release: Release) -> bool:
    """Whether it is one table of classes whose rows share their cells, which information loss is made for."""
    known = [release.fragments[0].recodings.get(name) for name in release.data.quasi_identifiers]
    return len(release.fragments) == 1 and all(isinstance(recoding, Generalized) for recoding in known)


def least_lost(release: Release, k: int, progress: Progress) -> Facts:
    """The information loss that no classes of at least k rows are below; empty for releases that are not such classes.

    It is about the table, and worked out once for all of its releases.
    """
    data = release.data
    if not data.knows_rows or not is_generalized(release) or release.partition.sizes.min() < k:
        return {}

    def bound() -> float:
        return utility.least_loss(data, k, SECONDS_FOR_BOUND, progress).bound

    return {"bound": cached(data, "least loss", (k,), bound)}


def _by_attribute(pairs: pd.DataFrame) -> Facts:
    """The mean of the pairs of each attribute."""
    means = pairs.to_numpy().sum(axis=1) / max(len(pairs) - 1, 1)
    return {"names": list(pairs.columns), "means": [round(float(mean), 5) for mean in means]}


def _belief(run: Run, secret: str | None) -> Facts:
    if secret is None:
        return {"why": "No attribute is secret."}
    try:
        found = compute.cached("attacks.attribute_disclosure", run, attacks.attribute_disclosure, secret)
    except AnonymizationError as error:
        return {"why": reason(error)}
    return {
        "largest": float(found.largest),
        "truth": float(found.truth),
        "guess": float(found.truth.baseline or 0.0),
        "above": {str(r): float(found.breached(float(r)).mean()) for r in range(2, 11)},
    }


def given_away(release: Release, secret: str, r: int, progress: Callable[[float, str], None]) -> Facts:
    """The share of the people with a protected value of whom the adversary of the foreground-knowledge attack believes
    it with more than 1/r, beside the same attack on shuffled secrets.
    """
    found = _foreground(release, secret, r, progress)
    guess = float(found.recall.baseline or 0.0)
    if not found.learned:
        return {"learned": False, "guess": guess}
    return {
        "learned": True,
        "value": float(found.recall),
        "guess": guess,
        "control": float(found.control),
        "control_low": found.control_interval[0],
        "control_high": found.control_interval[1],
        "excess": float(found.excess),
        "excess_low": found.excess_interval[0],
        "excess_high": found.excess_interval[1],
        "epsilon": found.epsilon,
        "sets": [found.n_sets, found.n_all],
        "too_costly": list(found.too_costly),
    }


def _foreground(
    release: Release, secret: str, r: int, progress: Callable[[float, str], None]
) -> attacks.ForegroundKnowledge:
    """The attack with foreground knowledge, which two numbers of the board are about, and which takes longest."""
    return cached(
        release,
        FOREGROUND,
        (secret, r),
        lambda: attacks.foreground_knowledge(release, secret, float(r), progress=progress),
        most=1,
    )


def about_given_away(release: Release, secret: str, r: int, progress: Callable[[float, str], None]) -> Facts:
    """The same from some of the attribute sets, beside one control."""
    found = attacks.foreground_knowledge_estimate(release, secret, float(r), progress=progress)
    if not found.learned:
        return {"learned": False, "guess": found.baseline, "is_exact": True}
    return {
        "learned": True,
        **_estimated(found),
        "guess": found.baseline,
        "control": found.control,
        "excess": found.excess,
        "too_costly": list(found.too_costly),
    }


def by_the_strongest(release: Release, secret: str, r: int, progress: Callable[[float, str], None]) -> Facts:
    """What the strongest of all attacks on the secret gets that apply to a release, and how many these are; empty where
    none does.
    """
    try:
        foreground = _foreground(release, secret, r, part_of(progress, 0.0, 0.6))
    except CancelledError:
        raise
    except AnonymizationError:
        foreground = None  # the attack does not apply, for a reason that is told with the others
    return _strongest(
        attacks.strongest(
            release,
            secret,
            float(r),
            aims=ON_ATTRIBUTES,
            foreground=foreground,
            progress=part_of(progress, 0.6, 1.0),
        )
    )


def about_the_strongest(release: Release, secret: str, r: int, progress: Callable[[float, str], None]) -> Facts:
    """The same from first answers of the attacks."""
    found = attacks.strongest(release, secret, float(r), aims=ON_ATTRIBUTES, estimate=True, progress=progress)
    return {**_strongest(found), "is_estimate": True} if found.attribute is not None else {}


def _strongest(found: attacks.Strongest) -> Facts:
    best = found.attribute
    if best is None:
        return {}
    return {
        "title": best.title,
        "value": best.share,
        "control": best.control,
        "is_foreground": best.name == "foreground_knowledge",
        "tried": len(found.tried),
        "attacks": [attack.title for attack in found.tried],
        **_larger(found, best),
    }


def _larger(found: attacks.Strongest, best: attacks.AttackGain) -> Facts:
    """Of the attacks that get more than the strongest one, most of it by chance, the one that gets most; empty where
    none does. Of foreground knowledge cells tell anyway.
    """
    others = [one for one in found.tried if one.name not in (best.name, "foreground_knowledge")]
    most = max(others, key=lambda one: one.share, default=best)
    if share_text(most.share) == share_text(best.share) or most.share < best.share:
        return {}
    return {"larger": {"title": most.title, "value": most.share, "control": most.control}}


def predictable(release: Release, target: str, progress: Callable[[float, str], None]) -> Facts:
    """How well a tree that learns from the release predicts original rows, between guessing and the original table."""
    found = utility.classification(release, target, CLASSIFIER, FOLDS, progress=progress)
    return {
        "value": float(found.weighted_f),
        "original": float(found.original.weighted_f),
        "guess": float(found.majority.weighted_f),
    }


def about_predictable(release: Release, target: str, progress: Callable[[float, str], None]) -> Facts:
    """The same from a few trainings."""
    found = utility.classification_estimate(release, target, CLASSIFIER, FOLDS, progress=progress)
    return {**_estimated(found), "original": found.original, "guess": found.majority}


def of_other_draws(
    release: Release, secret: str | None, r: int, target: str | None, progress: Callable[[float, str], None]
) -> Facts:
    """Between which numbers four further draws of a method lie, by estimates; empty where it draws nothing at random,
    or takes long.
    """
    algorithm = release.algorithm
    if not isinstance(algorithm, Algorithm) or not algorithm.seeds or algorithm.takes_long:
        return {}
    found: dict[str, list[float]] = {"given": [], "predictable": []}
    for turn in range(1, OTHER_DRAWS + 1):

        def report(share: float, text: str, turn: int = turn) -> None:
            progress((turn - 1 + share) / OTHER_DRAWS, f"draw {turn + 1} of {OTHER_DRAWS + 1}: {text}")

        drawn = redrawn(algorithm, turn).anonymize(release.data, part_of(report, 0.0, 0.5))
        if secret is not None:
            given = about_given_away(drawn, secret, r, part_of(report, 0.5, 0.8))
            found["given"] += [given["value"]] if given["learned"] else []
        if target is not None:
            found["predictable"].append(about_predictable(drawn, target, part_of(report, 0.8, 1.0))["value"])
    # Where one of the draws could not be measured, the others do not tell how far they all lie apart.
    return {name: [min(values), max(values)] for name, values in found.items() if len(values) == OTHER_DRAWS}


def _estimated(found: Estimate) -> Facts:
    """An estimate with its interval and what it is from; `is_exact` where nothing was left to guess."""
    if found.is_exact:
        return {"value": found.value, "is_exact": True}
    return {"value": found.value, "low": found.low, "high": found.high, "how": found.how}


Measure = tuple[tuple[Hashable, ...], Callable[..., Facts] | None, Callable[..., Facts]]
"""A slow number: its name with what it is asked with, how it is estimated, and how it is computed exactly.

Both functions get the release, then what stands behind the name, and `progress`. An estimate that says `is_exact` is
the number itself, so that it is not computed a second time.
"""


def of_cells(measures: tuple[Measure, ...]) -> tuple[Measure, ...]:
    """The slow numbers that cells show: all but the late ones."""
    return tuple(measure for measure in measures if measure[0][0] not in LATE)


def number(release: Release, name: str, secret: str | None, *, progress: Progress) -> Facts:
    """Any criterion of a release, and the same of the original table published as it is, where that is here."""
    criterion = CRITERIA[name]
    progress(0.0, criterion.title)
    found: Facts = {"value": value_of(release, name, secret)}
    data = release.data
    if data.knows_rows and name not in NOT_OF_ORIGINAL:

        def of_original() -> float | None:
            try:
                return value_of(unchanged(data, Mondrian(requirements=(KAnonymity(k=1),))), name, secret)
            except AnonymizationError:
                return None

        found["original"] = cached(data, "criteria of the original", (name, secret), of_original)
    return found


NUMBER = "number:"
"""How the names of rows begin that were added: the name of a criterion follows."""


def by_policy(release: Release, text: str, *, progress: Progress) -> Facts:
    """What the policy in a text of TOML says of a release, rule by rule."""
    return _judgement(release, Policy.loads(text), progress).to_dict()


def key_of(policy: Policy) -> tuple[str, str]:
    """The name of what a policy says among the slow numbers, with what it is asked with."""
    return POLICY, policy.to_toml()


def about_policy(release: Release, text: str, *, progress: Progress) -> Facts:
    """The same from the rules that take a moment; the others are not measured yet."""
    policy = Policy.loads(text)
    slow = {name: limit for name, limit in policy.risks.items() if NUMBERS[name].measured_by not in MOMENTARY}
    quick = {name: limit for name, limit in policy.risks.items() if name not in slow}
    found = _judgement(release, policy.model_copy(update={"risks": quick}), progress)
    later = [
        JudgedRule(f"risks.{name}", limit_rule(NUMBERS[name], limit), None, "", "", "not measured", reason="not yet")
        for name, limit in slow.items()
    ]
    return {**replace(found, lines=(*found.lines, *later)).to_dict(), "is_exact": not later}


def _judgement(release: Release, policy: Policy, progress: Progress) -> Judgement:
    cache = with_foreground(release, kept_results(release), progress)
    return judge_release(policy, release, cache=cache, progress=progress)


def with_foreground(release: Release, cache: Cache, progress: Progress) -> Cache:
    """A cache of the results of a release in which the attack with foreground knowledge is the one of the board."""

    def result(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        if name == "attacks.foreground_knowledge" and len(arguments) == 2:
            return _foreground(release, *arguments, progress)
        return cache(name, function, *arguments)

    return result


def measures(
    secret: str | None,
    r: int,
    target: str | None,
    numbers: Sequence[str] = (),
    k: float | None = None,
    policy: Policy | None = None,
) -> tuple[Measure, ...]:
    """The slow numbers of the board for one adversary, one attribute that is predicted, further criteria, groups of at
    least k, and the rules of a policy.
    """
    found: list[Measure] = []
    if policy is not None:
        found.append((key_of(policy), about_policy, by_policy))
    found += [((f"{NUMBER}{name}", name, secret), None, number) for name in numbers]
    if secret is not None:
        found.append((("given", secret, r), about_given_away, given_away))
    if target is not None:
        found.append((("predictable", target), about_predictable, predictable))
    # Those that are late come last.
    if secret is not None:
        found.append(((STRONGEST, secret, r), about_the_strongest, by_the_strongest))
    if k is not None:
        found.append(((LEAST, int(k)), None, least_lost))
    if secret is not None or target is not None:
        found.append(((DRAWS, secret, r, target), None, of_other_draws))
    return tuple(found)
