"""The weighted F of a classifier from a few trainings, or from a sample of a large table's rows, with an interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.estimate import Estimate
from anoncore.base.number import measure
from anoncore.base.progress import Progress, part_of, silent
from anoncore.kernels.arrays import Codes, Floats, Int64
from anoncore.release.group_sample import sampled
from anoncore.release.release import Release
from anoncore.utility.classifiers import ClassifierName
from anoncore.utility.cross_validation import (
    Predicted,
    Trial,
    is_linked_by_groups,
    is_random,
    runs_of_original,
    runs_of_release,
    runs_of_some_rows,
)
from anoncore.utility.learning import check_trial, majority
from anoncore.utility.outcome import class_f, confusion_of, judge, ratio

LARGEST_TRAINING: Mapping[str, int] = MappingProxyType({"tree": 1_000_000, "naive-bayes": 8_000_000, "knn": 200_000})
"""Cells of a training that is made on all rows of the other folds; a larger table is sampled."""
SAMPLED_TRAINING: Mapping[str, int] = MappingProxyType({"tree": 250_000, "naive-bayes": 4_000_000, "knn": 100_000})
"""Cells of a training on a sample of the rows."""
TRAININGS = 3
"""Trainings of an estimate."""
LINKED = 4
"""Rows of a large release that are linked for these, for each one that a training learns from."""
WORTH_WHILE = 2
"""Where all trainings have at most so many times the cells of the largest one, all are made."""
INSTABILITY = 2.0
"""How often the variance of one training is that of its held-out rows, as classifiers differ from fold to fold."""
TRUST = 4
"""Trainings that the figure above weighs as much as."""
FADING = 0.7
"""What a doubling of the training rows adds to the weighted F, as a share of what the doubling before added."""
UNSURE = 1.0
"""How far what is added for more rows may be wrong, as a share of it."""
CONFIDENCE = 0.95
SMALLEST_MARGIN = 0.001


@dataclass(frozen=True, kw_only=True)
class ClassificationEstimate(Estimate):
    """What the weighted F of a full cross-validation will be, as far as a few trainings tell.

    Attributes
    ----------
    value : float
        The best guess at the weighted F.
    low, high : float
        The interval that holds the weighted F of the full cross-validation.
    confidence : float
        Share of the cases in which the interval holds it.
    how : str
        How many trainings were made, in a few words.
    original : float
        Weighted F of training on the original data: exact, or from the same sample of a large table.
    majority : float
        Weighted F of guessing the most frequent class.
    n_trained : int
        Trainings on the release that were made.
    n_all : int
        Trainings on the release that the full cross-validation makes.
    n_rows : int
        Rows that each training learned from.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20] * 10 + [60] * 10, "disease": ["flu"] * 10 + ["cold"] * 10})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=10)]).anonymize(data)
    >>> found = utility.classification_estimate(release, "disease", folds=2)
    >>> found.how, found.n_trained, found.n_all
    ('from all 2 trainings', 2, 2)
    """

    original: float
    majority: float
    n_trained: int
    n_all: int
    n_rows: int


@measure()
@checked
def classification_estimate(
    release: Release,
    target: str,
    classifier: ClassifierName = "tree",
    folds: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
    repeats: int = 5,
) -> ClassificationEstimate:
    """Estimate the weighted F of `classification` from a few trainings.

    Three folds are held out, each with another linking of the rows where rows are linked at random. Each training is
    one of those that `classification` makes with the same arguments, on all rows of the other folds, so the estimate
    does not suffer from small training sets. A large table is sampled instead: three trainings learn from a sample of
    the rows, with equal class shares, and from half of it, and predict other rows. What more rows would add is
    extrapolated from what the second half added, and widens the interval. Which of both is done follows from the size
    of the table alone; where all trainings are quick, all are made. A synthetic table is learned whole, once.

    The variance of a training is that of its held-out rows, times two because classifiers differ from fold to fold,
    corrected by how the three trainings differ.

    Parameters
    ----------
    release : Release
        The release that is judged.
    target : str
        The attribute to predict, of at most 100 values.
    classifier : {"tree", "naive-bayes", "knn"}
        What learns: a decision tree, naive Bayes, or the nearest neighbours.
    folds : int
        Parts that the full cross-validation holds out in turn, from 2 to the number of rows.
    seed : int
        Makes it repeatable.
    progress : callable, optional
        Called with the share done and a text as parts get done; it may raise CancelledError to stop.
    repeats : int
        Random linkings over which the full cross-validation averages, at least 1.

    Returns
    -------
    ClassificationEstimate
        The estimate with its interval, beside what the original data and guessing give.

    Raises
    ------
    ParameterError
        For an unknown classifier, a target of more than 100 values or a number out of range.
    ReleaseError
        If the target is not published, or nothing is published with it.

    Notes
    -----
    Assumes: folds that are left out are predicted as well as those that are tried, and of a large table, each doubling
      of the training rows adds less than the one before.
    Cost: three trainings, on the release and on the sample of a large original table.
    Use: a first answer is needed at once, and the exact one follows.
    Avoid: the number is published; see `classification`. Where a release tells so little that the classifier finds
      something to learn in few of the random linkings only, three trainings may not show it.

    References
    ----------
    Cochran, Sampling Techniques, 1977, section 2.6 (finite populations); Smyth, Linear Models and Empirical Bayes
    Methods, 2004, section 4 (a variance from few values and one that is known of many); Figueroa et al., Predicting
    Sample Size Required for Classification Performance, 2012 (learning curves).

    Examples
    --------
    So few rows are judged exactly:

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20] * 10 + [60] * 10, "disease": ["flu"] * 10 + ["cold"] * 10})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=10)]).anonymize(data)
    >>> found = utility.classification_estimate(release, "disease", folds=2)
    >>> found.low, found.value, found.high
    (1.0, 1.0, 1.0)
    """
    check_trial(release, target, classifier, folds, repeats)
    width = sum(name != target for name in release.attributes)
    linkings = repeats if is_random(release, target) else 1
    cells = max(release.data.n_rows, release.n_records) * max(width, 1)
    if cells > LARGEST_TRAINING[classifier]:
        n_rows = SAMPLED_TRAINING[classifier] // max(width, 1)
        return _from_sample(release, target, classifier, folds, linkings, n_rows, seed, progress)
    parts = list(product(range(linkings), range(folds)))
    if not release.is_synthetic and len(parts) * cells > WORTH_WHILE * LARGEST_TRAINING[classifier]:
        parts = [(number % linkings, number) for number in range(min(TRAININGS, folds))]
    return _from_folds(Trial(release, target, classifier, folds, seed), parts, linkings * folds, progress)


def _from_folds(
    trial: Trial, parts: Sequence[tuple[int, int]], n_all: int, progress: Progress | None
) -> ClassificationEstimate:
    """The estimate from some of the trainings of the cross-validation; the original data are judged on all folds."""
    data, target = trial.release.data, trial.target
    truth, domain = data.codes[target], data.domain[target]
    predicted, original = trial.predict(parts, range(trial.folds), progress)
    tried = [(run, trial.fold == part) for run, part in parts]
    counts = [confusion_of(truth[rows], predicted[run][rows], len(domain)) for run, rows in tried]
    value, margin = weighted_f(np.sum(counts, axis=0)), 0.0
    if len(parts) < n_all:
        # A row that is tried with one linking says little of the others, so only without linkings the rows are finite.
        left_out = 1 - len(parts) / n_all if n_all == trial.folds else 1.0
        margin = _spread(counts) * float(np.sqrt(left_out)) + SMALLEST_MARGIN
    trained = f"all {n_all}" if len(parts) == n_all else f"{len(parts)} of {n_all:,}"
    return ClassificationEstimate(
        value=value,
        low=max(value - margin, 0.0),
        high=min(value + margin, 1.0),
        confidence=CONFIDENCE if margin else 1.0,
        how=f"from {trained} trainings",
        original=judge(truth, original, domain).weighted_f,
        majority=judge(truth, majority(truth, trial.fold, len(domain)), domain).weighted_f,
        n_trained=len(parts),
        n_all=n_all,
        n_rows=data.n_rows - data.n_rows // trial.folds,
    )


def _from_sample(
    release: Release,
    target: str,
    classifier: ClassifierName,
    folds: int,
    linkings: int,
    n_rows: int,
    seed: int,
    progress: Progress | None,
) -> ClassificationEstimate:
    """The estimate from trainings on `n_rows` rows of a large table, carried on to those of the cross-validation."""
    truth, domain = release.data.codes[target], release.data.domain[target]
    report = silent if progress is None else progress
    asked, of_release = (target, classifier, TRAININGS), part_of(report, 0.0, 0.5)
    # Linking all rows of a large release would take longer than all that is learned from some of them.
    if is_linked_by_groups(release) and len(truth) >= n_rows * 2 * LINKED:
        learned = truth
        released = runs_of_some_rows(release, *asked, n_rows, seed, of_release)
    else:
        some = sampled(release, n_rows * LINKED, seed).release
        learned = some.data.codes[target]
        released = runs_of_release(some, *asked, linkings, n_rows, seed, of_release)
    original = runs_of_original(release, *asked, n_rows, seed, part_of(report, 0.5, 1.0))
    doublings = max(float(np.log2(len(truth) * (1 - 1 / folds) / n_rows)), 0.0)
    to_release = max(float(np.log2(release.n_records / n_rows)), 0.0) if release.is_synthetic else doublings
    value, margin = _carried_on(learned, released, len(domain), to_release)
    return ClassificationEstimate(
        value=value,
        low=max(value - margin, 0.0),
        high=min(value + margin, 1.0),
        confidence=CONFIDENCE,
        how=f"from {TRAININGS} trainings on {n_rows:,} of {len(truth):,} rows",
        original=_carried_on(truth, original, len(domain), doublings)[0],
        majority=judge(truth, np.full_like(truth, np.bincount(truth).argmax()), domain).weighted_f,
        n_trained=TRAININGS,
        n_all=linkings * folds,
        n_rows=n_rows,
    )


def _carried_on(truth: Codes, runs: Sequence[Predicted], size: int, doublings: float) -> tuple[float, float]:
    """The weighted F after further doublings of the training rows, and how far it may be wrong."""
    of_all = [confusion_of(truth[rows], found, size) for rows, found, _ in runs]
    of_half = [confusion_of(truth[rows], found, size) for rows, _, found in runs]
    value = weighted_f(np.sum(of_all, axis=0))
    gains = [weighted_f(more) - weighted_f(fewer) for more, fewer in zip(of_all, of_half, strict=True)]
    # What a doubling adds, and so many times that: FADING + FADING^2 + ... over all doublings.
    times = FADING * (1 - FADING**doublings) / (1 - FADING)
    added = max(float(np.mean(gains)), 0.0) * times
    differences = [
        _moves(more)[truth[rows], found] - _moves(fewer)[truth[rows], by_half]
        for (rows, found, by_half), more, fewer in zip(runs, of_all, of_half, strict=True)
    ]
    scatter = _moderated(gains, float(np.mean([one.var() * len(one) for one in differences])))
    margin = float(np.hypot(_spread(of_all), scatter * times)) + UNSURE * added + SMALLEST_MARGIN
    return min(value + added, 1.0), margin


def _spread(counts: Sequence[Int64]) -> float:
    """How far the weighted F of all trainings together may be from its mean."""
    return _moderated([weighted_f(one) for one in counts], float(np.mean([_row_variance(one) for one in counts])))


def _moderated(values: Sequence[float], row_variance: float) -> float:
    """Half of the interval of the mean of few values, whose variance is about that of their rows times INSTABILITY."""
    n = len(values)
    own = (n - 1) * float(np.var(values, ddof=1)) if n > 1 else 0.0
    variance = (TRUST * INSTABILITY * row_variance + own) / (TRUST + n - 1)
    # scipy.stats is slow to import, and only this needs it.
    from scipy import stats

    return float(stats.t.ppf((1 + CONFIDENCE) / 2, TRUST + n - 1) * np.sqrt(variance / n))


def weighted_f(counts: Int64) -> float:
    """The weighted F of a confusion."""
    return float((counts.sum(axis=1) / counts.sum()) @ class_f(counts))


def _moves(counts: Int64) -> Floats:
    """How far a row moves the weighted F of a confusion, by its true and its predicted class.

    That is its derivative after the counts: of the right predictions of the row's class, and of the predictions of the
    class that it was taken for.
    """
    slope = ratio(counts.sum(axis=1) / counts.sum(), counts.sum(axis=1) + counts.sum(axis=0))
    return np.tile(-slope * class_f(counts), (len(counts), 1)) + np.diag(2 * slope)


def _row_variance(counts: Int64) -> float:
    """Variance of the weighted F of a confusion if its rows are a random sample."""
    moved = _moves(counts)
    mean = (counts * moved).sum() / counts.sum()
    return float((counts * (moved - mean) ** 2).sum())
