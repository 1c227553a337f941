"""How well predictions meet the truth, class by class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from anoncore.base.showing import Result
from anoncore.kernels.arrays import Codes, Floats, Int64
from anoncore.table.domain import Domain


@dataclass(frozen=True, eq=False)
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
    size = len(domain)
    counts = np.bincount(truth.astype(np.int64) * size + predicted, minlength=size * size).reshape(size, size)
    right = np.diag(counts).astype(np.float64)
    true, guessed = counts.sum(axis=1), counts.sum(axis=0)
    share = true / counts.sum()
    f = _ratio(2 * right, true + guessed)
    per_class = pd.DataFrame(
        {"share": share, "precision": _ratio(right, guessed), "recall": _ratio(right, true), "f": f},
        index=pd.Index(domain.texts, name=domain.name),
    )
    confusion = pd.DataFrame(counts, index=per_class.index, columns=pd.Index(domain.texts, name="predicted"))
    return Outcome(float(right.sum() / counts.sum()), float(share @ f), per_class, confusion)


def _ratio(part: Floats, whole: Int64) -> Floats:
    """Part divided by whole; 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
