"""How well a classifier that learns from a release predicts the original data."""

from __future__ import annotations

from itertools import product

import numpy as np

from anoncore.base.arguments import checked
from anoncore.base.errors import ParameterError
from anoncore.base.number import ALSO_SYNTHETIC, Number, measure
from anoncore.base.progress import Progress
from anoncore.base.score import Score
from anoncore.kernels.arrays import Codes, Floats, Int64
from anoncore.release.release import Release
from anoncore.utility.classifiers import ClassifierName
from anoncore.utility.cross_validation import Trial, is_random
from anoncore.utility.outcome import Outcome, judge

MOST_CLASSES = 100

CLASSIFICATION = Number(
    name="classification",
    title="Classification accuracy",
    template="Share of held-out original rows whose value of {target} a {classifier} from the release predicts right.",
    family="cost",
    source="Li et al., Slicing, 2009, section 6.2",
    form="share",
    unit="share of rows",
    higher_is_better=True,
    bounds=(0.0, 1.0),
    baseline="the accuracy of the same classifier trained on the original table.",
    release_forms=ALSO_SYNTHETIC,
    is_slow=True,
)


class Classification(Score):
    """Accuracy of a classifier trained on the release; its baseline is that of one trained on the original data.

    Attributes
    ----------
    target : str
        The attribute that is predicted.
    accuracy : float
        Share of the held-out rows that are predicted right.
    weighted_f : float
        F-measure of each class, weighted with the class's share.
    released : Outcome
        What training on the release gives; where rows were linked several times, over all repeats.
    original : Outcome
        What training on the original data gives.
    majority : Outcome
        What guessing the most frequent class gives.
    fold_accuracy : ndarray of float, shape (repeats, folds)
        Accuracy part by part, which shows how it scatters.
    predicted : ndarray of int32, shape (repeats, rows)
        The class that each original row is predicted to have after training on the release, by its code.
    from_original : ndarray of int32, shape (rows,)
        The same after training on the original data.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20] * 10 + [60] * 10, "disease": ["flu"] * 10 + ["cold"] * 10})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=10)]).anonymize(data)
    >>> found = utility.classification(release, "disease", folds=2)
    >>> found.accuracy, found.majority.accuracy, found.fold_accuracy.tolist()
    (1.0, 0.5, [[1.0, 1.0]])
    """

    target: str
    accuracy: float
    weighted_f: float
    released: Outcome
    original: Outcome
    majority: Outcome
    fold_accuracy: Floats
    predicted: Codes
    from_original: Codes


@measure(CLASSIFICATION)
@checked
def classification(
    release: Release,
    target: str,
    classifier: ClassifierName = "tree",
    folds: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
    repeats: int = 5,
) -> Classification:
    """How well a classifier that is trained on the release predicts original rows that were held out.

    The rows are cut into parts of equal class shares. For each part, the classifier learns from the released rows of
    all other parts and predicts the original, exact rows of this part from all other published attributes. Generalized
    values enter as lower and upper bound, an exact test value as both. Groups are those of the whole release, so a
    region may have been widened by a held-out row.

    Rows of different fragments with a shared partition are linked at random inside the groups, and a target published
    by region takes a random value of it; then the whole is repeated. Fragments with partitions of their own have a
    classifier each, which vote with their class probabilities. The original data and the majority class are judged on
    the same parts.

    From a synthetic table the classifier learns all rows, because none of them belongs to a part that is held out, and
    predicts every original row. A synthetic table that copies people is then tested on the people whom it copies, and
    looks better than the original: whether it copies is asked by `attacks.singling_out` and `attacks.inference`.

    Parameters
    ----------
    release : Release
        The release that is judged.
    target : str
        The attribute to predict, of at most 100 values.
    classifier : {"tree", "naive-bayes", "knn"}
        What learns: a decision tree, naive Bayes, or the nearest neighbours.
    folds : int
        Parts that are held out in turn, from 2 to the number of rows.
    seed : int
        Makes it repeatable.
    progress : callable, optional
        Called with the share done and a text as parts get done; it may raise CancelledError to stop.
    repeats : int
        Random linkings over which it is averaged, at least 1.

    Returns
    -------
    Classification
        Accuracy and weighted F, beside those of the original data and of the majority class.

    Raises
    ------
    ParameterError
        For an unknown classifier, a target of more than 100 values or a number out of range.
    ReleaseError
        If the target is not published, or nothing is published with it.

    Notes
    -----
    Assumes: a reader trains on the release and predicts people who are not in it.
    Cost: `folds` trainings on the release and on the original, `repeats` times where rows are linked at random; one on
      a synthetic table.
    Use: the release is meant for prediction.
    Avoid: the class has more than 100 values, or nobody will train on the release.

    References
    ----------
    Li et al., slicing, section 6.2; Inan et al., ICDE 2009 (bounds).

    Examples
    --------
    All young people have the flu and all old ones a cold. Two classes, young and old, keep that; one class of all loses
    it:

    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20] * 10 + [60] * 10, "disease": ["flu"] * 10 + ["cold"] * 10})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> two, one = (Mondrian(requirements=[KAnonymity(k=k)]).anonymize(data) for k in (10, 20))
    >>> float(utility.classification(two, "disease", folds=2)), float(utility.classification(one, "disease", folds=2))
    (1.0, 0.5)
    """
    check_trial(release, target, classifier, folds, repeats)
    trial = Trial(release, target, classifier, folds, seed)
    linkings = repeats if is_random(release, target) else 1
    parts = list(product(range(linkings), range(folds)))
    return _score(trial, *trial.predict(parts, range(folds), progress))


def check_trial(release: Release, target: str, classifier: ClassifierName, folds: int, repeats: int) -> None:
    """Raise ParameterError or ReleaseError where a classifier cannot be judged so."""
    release.fragment_of(target)
    n = release.data.n_rows
    if not 2 <= folds <= n:
        raise ParameterError(f"The rows are cut into 2 to {n:,} folds (the number of rows), not {folds}.")
    if repeats < 1:
        raise ParameterError(f"The number of repeats must be at least 1, not {repeats}.")
    size = len(release.data.domain[target])
    if size > MOST_CLASSES:
        raise ParameterError(
            f"'{target}' has {size:,} values; choose a target of at most {MOST_CLASSES}, such as a category."
        )


def _score(trial: Trial, predicted: Codes, original: Codes) -> Classification:
    data, target, fold = trial.release.data, trial.target, trial.fold
    truth, domain = data.codes[target], data.domain[target]
    released = judge(np.tile(truth, len(predicted)), predicted.ravel(), domain)
    from_original = judge(truth, original, domain)
    right = np.stack([np.bincount(fold, weights=run == truth) for run in predicted])
    return Classification(
        released.accuracy,
        CLASSIFICATION,
        baseline=from_original.accuracy,
        words={"target": f"'{target}'", "classifier": trial.method.title},
        target=target,
        accuracy=released.accuracy,
        weighted_f=released.weighted_f,
        released=released,
        original=from_original,
        majority=judge(truth, majority(truth, fold, len(domain)), domain),
        fold_accuracy=right / np.bincount(fold),
        predicted=predicted,
        from_original=original,
    )


def majority(truth: Codes, fold: Int64, size: int) -> Codes:
    """The most frequent class of the other parts, for every row."""
    counts = np.zeros((int(fold.max()) + 1, size), np.int64)
    np.add.at(counts, (fold, truth), 1)
    return np.argmax(counts.sum(axis=0) - counts, axis=1).astype(np.int32)[fold]
