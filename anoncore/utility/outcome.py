"""How well predictions meet the truth, class by class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.table.domain import Domain
from anoncore.table.microdata import Codes


@dataclass(frozen=True, eq=False)
class Outcome:
    """Predictions of one way to learn.

    `accuracy` is the share predicted right; `weighted_f` the F-measure of each class weighted with the class's share;
    `per_class` a frame of share, precision, recall and f by class; `confusion` a frame of counts, true by predicted.
    """

    accuracy: float
    weighted_f: float
    per_class: pd.DataFrame
    confusion: pd.DataFrame


def judge(truth: Codes, predicted: npt.NDArray[np.int32], domain: Domain) -> Outcome:
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


def _ratio(part: npt.NDArray[np.float64], whole: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Part by whole, 0 where there is nothing."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
