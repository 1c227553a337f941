"""How well predictions meet the truth, class by class."""

from __future__ import annotations

import numpy as np
import pandas as pd

from anoncore.base.showing import Result
from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.table.domain import Domain


@record
class Outcome(Result):
    """How well the predictions of one classifier meet the truth.

    Attributes
    ----------
    accuracy : float
        Share of the rows predicted right.
    weighted_f : float
        F-measure of each class, weighted with the class's share.
    per_class : DataFrame
        Share, precision, recall and f of each class.
    confusion : DataFrame
        Number of rows, true class by predicted class.

    Examples
    --------
    >>> import pandas as pd
    >>> from anoncore import Microdata, utility
    >>> from anoncore.algorithms import Mondrian
    >>> from anoncore.requirements import KAnonymity
    >>> people = pd.DataFrame({"age": [20] * 10 + [60] * 10, "disease": ["flu"] * 10 + ["cold"] * 10})
    >>> data = Microdata(people, roles={"age": "quasi-identifier", "disease": "sensitive"})
    >>> release = Mondrian(requirements=[KAnonymity(k=10)]).anonymize(data)
    >>> utility.classification(release, "disease", folds=2).released.confusion
    predicted  cold  flu
    disease
    cold         10    0
    flu           0   10
    """

    accuracy: float
    weighted_f: float
    per_class: pd.DataFrame
    confusion: pd.DataFrame


def judge(truth: Codes, predicted: Codes, domain: Domain) -> Outcome:
    """The outcome of predictions of a domain's codes, both int32 (n,)."""
    counts = confusion_of(truth, predicted, len(domain))
    right, share, f = np.diag(counts), counts.sum(axis=1) / counts.sum(), class_f(counts)
    precision, recall = ratio(right, counts.sum(axis=0)), ratio(right, counts.sum(axis=1))
    per_class = pd.DataFrame(
        {"share": share, "precision": precision, "recall": recall, "f": f},
        index=pd.Index(domain.texts, name=domain.name),
    )
    confusion = pd.DataFrame(counts, index=per_class.index, columns=pd.Index(domain.texts, name="predicted"))
    return Outcome(float(right.sum() / counts.sum()), float(share @ f), per_class, confusion)


def confusion_of(truth: Codes, predicted: Codes, size: int) -> Int64:
    """Rows by true class and predicted class, int64 (size, size)."""
    return np.bincount(truth.astype(np.int64) * size + predicted, minlength=size * size).reshape(size, size)


def class_f(counts: Int64) -> Floats:
    """F-measure of each class of a confusion; 0 where a class neither occurs nor is predicted."""
    return ratio(2 * np.diag(counts), counts.sum(axis=1) + counts.sum(axis=0))


def ratio(part: Int64 | Floats, whole: Int64) -> Floats:
    """Part divided by whole; 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
