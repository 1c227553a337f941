"""The cells of an attribute in a table of noisy counts: categories, or ranges of numbers, which count as public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

import numpy as np
import pandas as pd

from anoncore.base.errors import DataError, ParameterError
from anoncore.base.texts import listing
from anoncore.kernels.arrays import Codes, Floats, Int64, record
from anoncore.table.domain import Domain, Kind

MOST_DECIMALS, LARGEST_DIGITS = 9, 15
"""The finest grid of numbers, and the digits that a double tells apart."""
SECOND, DAY = pd.Timedelta(seconds=1), pd.Timedelta(days=1)
EPOCH = pd.Timestamp(0)


@record
class PublicCells:
    """The cells of one attribute. A missing value has a cell of its own, the last one, where some row lacks one.

    `of_code`, int32 (domain size,), is the cell of each code. `first` and `last`, int64 (n_ranges,), are the ends of
    each range in steps, both of which lie in it; None where each value is a cell.
    """

    domain: Domain
    of_code: Codes
    grid: Grid | None = None
    first: Int64 | None = None
    last: Int64 | None = None

    @property
    def size(self) -> int:
        """Number of cells."""
        return (len(self.first) + self.domain.has_missing) if self.first is not None else len(self.domain)

    def values(self, cells: Codes, rng: np.random.Generator) -> pd.Series[Any]:
        """A value for each cell, of the column's type: of a range any of its numbers, with equal chances."""
        if self.first is None or self.last is None or self.grid is None:
            values = self.domain.decoded.take(cells)
            return pd.Series(values, dtype=object if values.dtype == object else None)
        missing = cells >= len(self.first)
        inside = np.where(missing, 0, cells)
        drawn = rng.integers(self.first[inside], self.last[inside], endpoint=True)
        return self.grid.column(drawn, missing)


@dataclass(frozen=True)
class Grid:
    """The numbers that a column may hold, as whole steps: of a power of ten, or of a second or day for dates."""

    decimals: int = 0
    step: pd.Timedelta | None = None
    zone: Any = None

    @classmethod
    def of(cls, domain: Domain) -> Grid:
        """The coarsest grid on which all values of a numeric attribute lie, to nine decimals or a second."""
        if domain.is_date:
            whole_days = all(value == value.normalize() for value in domain.values)
            return cls(step=DAY if whole_days else SECOND, zone=domain.values[0].tz)
        numbers = np.array([float(value) for value in domain.values])
        room = floor(LARGEST_DIGITS - log10(max(float(np.abs(numbers).max()), 1.0)))
        most = max(min(MOST_DECIMALS, room), 0)
        exact = (places for places in range(most) if np.array_equal(np.round(numbers, places), numbers))
        return cls(next(exact, most))

    def place(self, value: Any) -> float:
        """Where a number or date lies, in steps. Raises ValueError for what is neither."""
        if self.step is None:
            return float(value) * 10.0**self.decimals
        moment = pd.Timestamp(value)
        if moment.tz is not None:
            moment = (moment.tz_convert(self.zone) if self.zone is not None else moment).tz_localize(None)
        return float((moment - EPOCH) / self.step)

    def column(self, steps: Int64, missing: np.ndarray) -> pd.Series[Any]:
        """The numbers or dates that lie there, as a column."""
        if self.step is not None:
            dates = pd.Series(EPOCH + steps * self.step)
            dates = dates if self.zone is None else dates.dt.tz_localize(self.zone, ambiguous="NaT", nonexistent="NaT")
            return dates.mask(missing)
        if self.decimals == 0:
            return pd.Series(steps, dtype="Int64").mask(missing)
        return pd.Series(np.round(steps / 10.0**self.decimals, self.decimals)).mask(missing)


def public_cells(domain: Domain, bins: int, given: Sequence[float | str] = ()) -> PublicCells:
    """The cells of an attribute: its categories, or ranges of its numbers.

    `given` are the two ends between which numbers lie, which are divided into `bins` ranges of equal width, or all ends
    of the ranges; numbers outside count into the outermost. Without them a numeric attribute lies between the smallest
    and the largest number of the table, and one with at most `bins` values has each of them as a cell.

    Raises ParameterError for ends that do not fit the attribute.
    """
    if domain.kind is not Kind.NUMERIC:
        if given:
            raise ParameterError(f"'{domain.name}' is not numeric, so it has no ranges; leave it out of the ranges.")
        return PublicCells(domain, np.arange(len(domain), dtype=np.int32))
    if not domain.values or (not given and len(domain.values) <= bins):
        return PublicCells(domain, np.arange(len(domain), dtype=np.int32))
    grid = Grid.of(domain)
    ends = _ends(domain, grid, given)
    if len(ends) == 2:
        # A range holds whole steps, so there are no more of them than steps.
        n_ranges = int(min(bins, max(floor(ends[1]) - ceil(ends[0]) + 1, 1)))
        ends = np.linspace(ends[0], ends[1] + 1, n_ranges + 1)
        ends[-1] -= 1
    first = np.ceil(ends[:-1]).astype(np.int64)
    last = np.append(first[1:] - 1, floor(ends[-1])).astype(np.int64)
    if (last < first).any():
        place = int(np.flatnonzero(last < first)[0])
        raise ParameterError(
            f"No value of '{domain.name}' lies in range {place + 1} of the {len(first)} that were given; leave out one "
            "of its ends."
        )
    places = np.array([grid.place(value) for value in domain.values])
    cell = np.clip(np.searchsorted(first, np.round(places), side="right") - 1, 0, len(first) - 1).astype(np.int32)
    if domain.has_missing:
        cell = np.append(cell, np.int32(len(first)))
    return PublicCells(domain, cell, grid, first, last)


def _ends(domain: Domain, grid: Grid, given: Sequence[float | str]) -> Floats:
    """The ends of ranges in steps, ascending, float (at least 2,)."""
    if not given:
        return np.array([grid.place(domain.values[0]), grid.place(domain.values[-1])])
    try:
        ends = np.array([grid.place(value) for value in given], np.float64)
    except (ValueError, TypeError):
        raise ParameterError(
            f"The ranges of '{domain.name}' have an end that is no {'date' if domain.is_date else 'number'}: "
            f"{listing(list(given))}."
        ) from None
    if len(ends) < 2 or not np.isfinite(ends).all() or (np.diff(ends) <= 0).any():
        raise ParameterError(
            f"The ranges of '{domain.name}' need at least two ends, from the smallest to the largest, like 0 and 100."
        )
    return ends


def require_few_cells(found: Sequence[PublicCells], most: int) -> None:
    """Raise DataError for an attribute with so many categories that noise would be all that is counted of it."""
    for one in found:
        if one.size > most:
            raise DataError(
                f"'{one.domain.name}' has {one.size:,} values, and noise hides how often each of more than {most:,} "
                "occurs; leave it out of the attributes, or coarsen it first."
            )
