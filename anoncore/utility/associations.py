"""How well a release keeps the association between pairs of attributes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.base.errors import DataError, ParameterError, ReleaseError
from anoncore.base.score import Score
from anoncore.release.release import Release
from anoncore.table.microdata import Microdata
from anoncore.utility.bins import cut
from anoncore.utility.contingency import PairTable, original_counts, released_counts

INTERVALS = 10


class AssociationError(Score):
    """Mean absolute difference of the association of all pairs of published attributes, 0 (all kept) to 1.

    `original`, `released` and `difference` (released - original) are frames of phi squared, attributes by attributes.
    """

    original: pd.DataFrame
    released: pd.DataFrame
    difference: pd.DataFrame


def association(data: Microdata, intervals: int = INTERVALS) -> pd.DataFrame:
    """Association phi squared of every pair of attributes in the original table, attributes by attributes.

    phi^2(A, B) = 1/(min(d_A, d_B) - 1) sum (f_ij - f_i f_j)^2 / (f_i f_j), from 0 (independent) to 1; 0 where an
    attribute is constant. Numbers are cut into `intervals` of equal width (empty ones do not count). Identifiers have
    none. Raises ParameterError for fewer than 2 intervals. Source: Li et al., slicing, section 4.1.
    """
    _check_intervals(intervals)
    if not data.attributes:
        raise DataError("The table has only identifiers; association needs attributes that may be published.")
    return _frame(original_counts(data, cut(data, data.attributes, intervals)))


def association_error(release: Release, intervals: int = INTERVALS) -> AssociationError:
    """Mean of |phi^2 in the release - phi^2 in the original table| over all pairs of published attributes.

    `association` defines phi^2; in the release it comes from expected counts (see `released_counts`). Raises
    ReleaseError if fewer than two attributes are published, ParameterError for fewer than 2 intervals.

    Parameters: `intervals` into which numbers are cut.
    Assumes: numbers are compared in intervals; a reader takes values of a region for equally likely and fragments for
      independent inside a group.
    Cost: one table of counts per pair of attributes.
    Use: readers look for relations between attributes.
    Avoid: one relation alone counts: then look at the map of pairs, or at `classification`.
    Source: Li et al., slicing, section 4.1 (phi squared); Cramer, 1946.
    """
    _check_intervals(intervals)
    names = release.attributes
    if len(names) < 2:
        raise ReleaseError("The release publishes fewer than two attributes; association needs a pair.")
    cells = cut(release.data, names, intervals)
    original, released = _frame(original_counts(release.data, cells)), _frame(released_counts(release, cells))
    difference = released - original
    pairs = np.abs(difference.to_numpy())[np.triu_indices(len(names), 1)]
    return AssociationError(
        float(pairs.mean()),
        name="association-error",
        title="Association error",
        unit="phi squared",
        higher_is_better=False,
        bounds=(0.0, 1.0),
        baseline=0.0,
        meaning="How far the association of two attributes in the release is from that in the original, on average.",
        original=original,
        released=released,
        difference=difference,
    )


def _check_intervals(intervals: int) -> None:
    if intervals < 2:
        raise ParameterError(f"Numbers are cut into at least 2 intervals, not {intervals}.")


def _frame(table: PairTable) -> pd.DataFrame:
    """Phi squared of every pair; 1 of an attribute with itself."""
    names = list(table.names)
    values = _phi_squared(table)
    np.fill_diagonal(values, 1.0)
    return pd.DataFrame(values, index=names, columns=names)


def _phi_squared(table: PairTable) -> npt.NDArray[np.float64]:
    """sum f_ij^2 / (f_i f_j) - 1, the same as the definition's sum, divided by min(d) - 1."""
    begins, sizes = table.starts[:-1], np.diff(table.starts)
    margin = np.repeat(np.add.reduceat(table.counts, begins, axis=1), sizes, axis=1)
    expected = margin * margin.T
    terms = np.divide(np.square(table.counts), expected, out=np.zeros_like(expected), where=expected > 0)
    sums = np.add.reduceat(np.add.reduceat(terms, begins, axis=0), begins, axis=1)
    most = np.minimum.outer(sizes, sizes) - 1
    phi = np.divide(sums - 1, most, out=np.zeros_like(sums), where=most > 0)
    return np.clip(phi, 0.0, 1.0)
