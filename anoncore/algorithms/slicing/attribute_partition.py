"""Attributes put into columns for slicing: by correlation, with a sensitive column of a given size, or by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from anoncore.base.errors import DataError
from anoncore.base.shared_work import shared
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Floats, record
from anoncore.release.overlap import links
from anoncore.table.microdata import Microdata
from anoncore.utility.associations import INTERVALS, association


@record
class AttributePartition:
    """Columns, the one with the sensitive attribute last, and what they were made from.

    `medoids[i]` is the attribute that column i was clustered around (None: the sensitive column of a given size).
    `association` is phi squared of every pair of attributes.
    """

    columns: tuple[tuple[str, ...], ...]
    medoids: tuple[str | None, ...]
    association: pd.DataFrame


def partition_attributes(
    data: Microdata, columns: int, sensitive_column_size: int | None = None, intervals: int = INTERVALS
) -> AttributePartition:
    """Put highly correlated attributes into the same of `columns` columns.

    The distance of two attributes is 1 - phi squared (see `utility.association`, which cuts numbers into `intervals` of
    equal width); PAM finds the columns. With `sensitive_column_size` = alpha the last column holds the sensitive
    attribute (or all of them) and so many of those most correlated with it that they are alpha, and PAM clusters the
    others; alpha = 1 with 2 columns and one sensitive attribute is bucketization. Raises DataError where the table has
    too few attributes, or no sensitive attribute or too many for a column of given size. Source: Li et al., slicing,
    section 4.1.
    """
    key = ("columns for slicing", columns, sensitive_column_size, intervals)
    return shared(data, key, lambda: _partition(data, columns, sensitive_column_size, intervals))


def _partition(data: Microdata, columns: int, sensitive_column_size: int | None, intervals: int) -> AttributePartition:
    names = list(data.attributes)
    phi = association(data, intervals)
    if sensitive_column_size is None:
        if columns > len(names):
            raise DataError(f"{columns} columns need as many attributes, but the table has {len(names)}.")
        return _clustered(data, names, columns, phi)
    last = _sensitive_column(data, names, columns, sensitive_column_size, phi)
    rest = [name for name in names if name not in last]
    if columns == 1:
        return AttributePartition((last,), (None,), phi)
    clusters = _clustered(data, rest, columns - 1, phi)
    return AttributePartition((*clusters.columns, last), (*clusters.medoids, None), phi)


def given_columns(data: Microdata, columns: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Columns made by hand, checked, and in the order in which they link.

    An attribute may stand in several columns (overlapping slicing) if the adversary knows it or if it is the sensitive
    one. Raises DataError for a column that is empty or names what the table lacks, for an attribute in no column, and
    for an insensitive attribute in several; ReleaseError for columns that overlap in a ring.
    """
    names = [name for column in columns for name in column]
    unknown = [name for name in dict.fromkeys(names) if name not in data.attributes]
    if unknown:
        raise DataError(
            f"The columns name {listing(unknown)}, which the table lacks or never publishes; "
            f"it has {listing(data.attributes, 30)}."
        )
    for column in columns:
        if not column or len(set(column)) < len(column):
            raise DataError(f"A column needs attributes, each once; this one has {listing(column) or 'none'}.")
    left_out = [name for name in data.attributes if name not in names]
    if left_out:
        raise DataError(f"No column has {listing(left_out)}; put every attribute into a column, or drop its role.")
    twice = [name for name in data.insensitive if names.count(name) > 1]
    if twice:
        raise DataError(
            f"Columns share {listing(twice)}; only quasi-identifiers and sensitive attributes may be shared."
        )
    order = _sensitive_last(data, columns) if len(names) == len(set(names)) else list(columns)
    return tuple(tuple(order[number]) for number in (0, *(link.column for link in links(order))))


def _sensitive_last(data: Microdata, columns: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    protected = set(data.sensitive)
    return sorted(columns, key=lambda column: bool(protected & set(column)))


def _sensitive_column(data: Microdata, names: list[str], columns: int, size: int, phi: pd.DataFrame) -> tuple[str, ...]:
    protected = data.require_sensitive()
    if size < len(protected):
        raise DataError(
            f"The sensitive column holds all {len(protected)} sensitive attributes ({', '.join(protected)}), so it has "
            f"at least {len(protected)}; leave its size empty or give the columns by hand to put them into several."
        )
    most = len(names) - columns + 1
    if size > most or (columns == 1 and size < len(names)):
        raise DataError(
            f"A sensitive column of {size} and {columns - 1} other columns do not fit {len(names)} attributes; "
            f"the sensitive column has {'all' if columns == 1 else 'at most'} {max(most, 1)}."
        )
    others = [name for name in names if name not in protected]
    closest = phi.loc[list(protected)].max(axis=0)
    correlation = dict(zip(phi.columns, closest.to_numpy(dtype=np.float64).tolist(), strict=True))
    nearest = sorted(others, key=lambda name: -correlation[name])[: size - len(protected)]
    return tuple(name for name in names if name in nearest or name in protected)


def _clustered(data: Microdata, names: list[str], columns: int, phi: pd.DataFrame) -> AttributePartition:
    distance = 1.0 - phi.loc[names, names].to_numpy()
    medoids = k_medoids(distance, columns)
    of_name = np.argmin(distance[:, medoids], axis=1)
    of_name[medoids] = np.arange(columns)
    clusters = [(tuple(np.array(names)[of_name == number]), names[medoid]) for number, medoid in enumerate(medoids)]
    clusters.sort(key=lambda column: (bool(set(data.sensitive) & set(column[0])), names.index(column[0][0])))
    return AttributePartition(
        tuple(tuple(map(str, column)) for column, _ in clusters), tuple(medoid for _, medoid in clusters), phi
    )


def k_medoids(distance: Floats, k: int) -> list[int]:
    """The medoids that PAM finds for a distance matrix (n, n), ascending; the same at every call.

    BUILD adds, one by one, the medoid that lowers the sum of distances to the nearest medoid most. SWAP then exchanges
    a medoid for another item, always the exchange that lowers the sum most, until none does. Source: Kaufman and
    Rousseeuw, Finding Groups in Data, 1990, chapter 2.
    """
    medoids: list[int] = []
    for _ in range(k):
        medoids.append(min(_others(distance, medoids), key=lambda item: _cost(distance, [*medoids, item])))
    best = _cost(distance, medoids)
    while True:
        swaps = [
            [*medoids[:number], item, *medoids[number + 1 :]]
            for number in range(k)
            for item in _others(distance, medoids)
        ]
        swapped = min(swaps, key=lambda swap: _cost(distance, swap), default=medoids)
        cost = _cost(distance, swapped)
        if cost >= best - 1e-12:
            return sorted(medoids)
        medoids, best = swapped, cost


def _others(distance: Floats, medoids: list[int]) -> list[int]:
    return [item for item in range(len(distance)) if item not in medoids]


def _cost(distance: Floats, medoids: list[int]) -> float:
    return float(distance[:, medoids].min(axis=1).sum())
