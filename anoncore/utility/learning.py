"""How well a classifier that learns from a release predicts the original data."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from os import cpu_count

import numpy as np
import numpy.typing as npt

from anoncore.base.errors import ParameterError
from anoncore.base.number import Number
from anoncore.base.progress import Progress
from anoncore.base.score import Score
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Codes
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata
from anoncore.utility.classifiers import CLASSIFIERS, Classifier, Features
from anoncore.utility.outcome import Outcome, judge
from anoncore.utility.training import TrainingTable, is_random, original_table, released_tables

MOST_CLASSES = 100

CLASSIFICATION = Number(
    name="classification",
    title="Classification accuracy",
    template="Share of held-out original rows whose value of {target} a {classifier} from the release predicts right.",
    family="cost",
    source="Li et al., Slicing, 2009, section 6.2",
    measured_by="utility.classification",
    form="share",
    unit="share of rows",
    higher_is_better=True,
    bounds=(0.0, 1.0),
    baseline="the accuracy of the same classifier trained on the original table.",
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
    fold_accuracy: npt.NDArray[np.float64]


def classification(
    release: Release,
    target: str,
    classifier: str = "tree",
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
    Cost: `folds` trainings on the release and on the original, `repeats` times where rows are linked at random.
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
    method = _check(release, target, classifier, folds, repeats)
    data = release.data
    rng = np.random.default_rng(seed)
    fold = _folds(data.codes[target], folds, rng)
    runs = [
        _Run.of(method, released_tables(release, target, rng), data)
        for _ in range(repeats if is_random(release, target) else 1)
    ]
    runs.append(_Run.of(method, (original_table(release, target),), data))
    predicted = _predict_all(runs, fold, folds, seed, progress)
    return _score(release, target, method, fold, predicted)


def _check(release: Release, target: str, classifier: str, folds: int, repeats: int) -> Classifier:
    release.fragment_of(target)
    if classifier not in CLASSIFIERS:
        raise ParameterError(f"There is no classifier {classifier!r}; there is {listing(list(CLASSIFIERS))}.")
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
    return CLASSIFIERS[classifier](release.data)


def _folds(codes: Codes, folds: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Part of every row: random, with each class spread evenly over the parts."""
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(len(codes), dtype=np.int64)
    fold[order] = np.arange(len(codes)) % folds
    return fold


@dataclass(frozen=True, eq=False)
class _Learner:
    """A classifier of one training table, with the features of its rows and of the original rows."""

    method: Classifier
    table: TrainingTable
    features: Features
    test_features: Features

    def votes(self, held_out: npt.NDArray[np.bool_], size: int, seed: int) -> npt.NDArray[np.float64]:
        """Class probabilities of the held-out original rows after training on all others, (n_held_out, size)."""
        model = self.method.train(self.features[~held_out], self.table.labels[~held_out], self.table.cells, seed)
        votes = np.zeros((int(held_out.sum()), size))
        votes[:, model.classes_] = model.predict_proba(self.test_features[held_out])
        return votes


@dataclass(frozen=True, eq=False)
class _Run:
    """One training and prediction of all rows, by one learner or by several that vote."""

    learners: tuple[_Learner, ...]

    @classmethod
    def of(cls, method: Classifier, tables: Sequence[TrainingTable], data: Microdata) -> _Run:
        return cls(
            tuple(
                _Learner(method, table, method.features(table.cells), method.features(table.test_cells(data)))
                for table in tables
            )
        )

    def predict(self, held_out: npt.NDArray[np.bool_], seed: int) -> Codes:
        """Class of each held-out row."""
        size = max(int(learner.table.labels.max()) for learner in self.learners) + 1
        votes = sum(learner.votes(held_out, size, seed) for learner in self.learners)
        return np.argmax(votes, axis=1).astype(np.int32)


def _predict_all(
    runs: Sequence[_Run], fold: npt.NDArray[np.int64], folds: int, seed: int, progress: Progress | None
) -> npt.NDArray[np.int32]:
    """Predictions of every run for every row, each made while the row was held out, int32 (n_runs, n_rows)."""
    predicted = np.empty((len(runs), len(fold)), dtype=np.int32)

    def learn(run: int, part: int) -> None:
        held_out = fold == part
        predicted[run, held_out] = runs[run].predict(held_out, seed)

    with ThreadPoolExecutor(cpu_count()) as pool:
        tasks = [pool.submit(learn, run, part) for run in range(len(runs)) for part in range(folds)]
        try:
            _watch(tasks, progress)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return predicted


def _watch(tasks: Sequence[Future[None]], progress: Progress | None) -> None:
    """Report finished tasks; raise what one of them, or the progress callback, raises."""
    for done, task in enumerate(as_completed(tasks), start=1):
        task.result()
        if progress is not None:
            progress(done / len(tasks), f"Trained {done} of {len(tasks)} classifiers")


def _score(
    release: Release, target: str, method: Classifier, fold: npt.NDArray[np.int64], predicted: npt.NDArray[np.int32]
) -> Classification:
    truth, domain = release.data.codes[target], release.data.domain[target]
    learned, original = predicted[:-1], predicted[-1]
    released = judge(np.tile(truth, len(learned)), learned.ravel(), domain)
    from_original = judge(truth, original, domain)
    right = np.stack([np.bincount(fold, weights=run == truth) for run in learned])
    return Classification(
        released.accuracy,
        CLASSIFICATION,
        baseline=from_original.accuracy,
        words={"target": f"'{target}'", "classifier": method.title},
        target=target,
        accuracy=released.accuracy,
        weighted_f=released.weighted_f,
        released=released,
        original=from_original,
        majority=judge(truth, _majority(truth, fold, len(domain)), domain),
        fold_accuracy=right / np.bincount(fold),
    )


def _majority(truth: Codes, fold: npt.NDArray[np.int64], size: int) -> Codes:
    """The most frequent class of the other parts, for every row."""
    counts = np.zeros((int(fold.max()) + 1, size), dtype=np.int64)
    np.add.at(counts, (fold, truth), 1)
    return np.argmax(counts.sum(axis=0) - counts, axis=1).astype(np.int32)[fold]
