"""Rows cut into segments that still satisfy requirements, guided by what tells most about the class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anoncore.algorithms.vertical.mutual_information import xlogx
from anoncore.kernels.arrays import Codes, Rows
from anoncore.kernels.information import best_threshold
from anoncore.release.partition import Partition
from anoncore.requirements import Check, CheckSet, Requirement
from anoncore.table.microdata import Microdata


def segments(data: Microdata, common: str, requirements: Sequence[Requirement], most_values: int) -> tuple[Rows, ...]:
    """The row numbers of each segment, in the table's order.

    Top down, a segment with more than `most_values` different values of the common attribute is cut at the
    quasi-identifier and threshold with the largest gain of information about it, as long as both sides satisfy all
    requirements. Where the best cut is not allowable the segment is final, so that its chunks can still be cut in their
    own ways. Source: Zakerzadeh, Aggarwal and Barker, vertical fragmentation, section 5 (a classification-oriented
    clustering; LeFevre et al., Workload-aware anonymization, KDD 2006, for the criterion).
    """
    names = data.quasi_identifiers
    columns = np.stack([data.codes[name] for name in names])
    sizes = np.array([len(data.domain[name]) for name in names], dtype=np.int64)
    classes, n_classes = data.codes[common], len(data.domain[common])
    logs = xlogx(data.n_rows)
    checks = CheckSet(requirements, data).checks
    final: list[Rows] = []
    waiting = [np.arange(data.n_rows)]
    while waiting:
        rows = waiting.pop()
        if len(np.unique(classes[rows])) > most_values:
            column, code, _ = best_threshold(columns, rows, sizes, classes, n_classes, logs)
            beyond = columns[column, rows] > code
            if column >= 0 and _allowable(checks, rows, beyond):
                waiting += [rows[beyond], rows[~beyond]]
                continue
        final.append(rows)
    return tuple(final)


def _allowable(checks: Sequence[Check], rows: Rows, beyond: npt.NDArray[np.bool_]) -> bool:
    parts = Partition(beyond.astype(np.int32))
    for check in checks:
        codes: Codes | None = None if check.values is None else check.values.codes[rows]
        if not check.holds(check.levels(parts, codes)).all():
            return False
    return True
