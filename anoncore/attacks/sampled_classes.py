"""The classes of a table that is a sample: records with equal published quasi-identifiers."""

from __future__ import annotations

import numpy as np

from anoncore.base.errors import DataError, ParameterError
from anoncore.kernels.arrays import Int64, record
from anoncore.privacy.published import published_key
from anoncore.release.release import Fragment, Release


@record
class SampledClasses:
    """The class of each row, int64 (n_rows,), and the records of each class, int64 (n_classes,), of one fragment.

    `first` int64 (n_classes,) is a row of each class, and `names` are the quasi-identifiers that the fragment
    publishes.
    """

    fragment: Fragment
    names: tuple[str, ...]
    of_row: Int64
    first: Int64
    records: Int64


def sampled_classes(release: Release) -> list[SampledClasses]:
    """The classes of every fragment that publishes quasi-identifiers. Raises DataError where none does."""
    known = release.data.require_quasi_identifiers()
    found = []
    for fragment in release.fragments:
        names = tuple(name for name in fragment.attributes if name in known)
        if names:
            of_row = published_key(fragment, names)
            _, first, records = np.unique(of_row, return_index=True, return_counts=True)
            found.append(SampledClasses(fragment, names, of_row, first, records))
    if not found:
        raise DataError("The release publishes no quasi-identifier, so nobody is found by them in a population.")
    return found


def checked_fraction(fraction: float) -> float:
    """The share of the population that is in the table. Raises ParameterError for one that is not in (0, 1]."""
    if not 0 < fraction <= 1:
        raise ParameterError(
            f"The sampling fraction is the share of the population that is in the table, above 0 and at most 1, not "
            f"{fraction:g}."
        )
    return float(fraction)
