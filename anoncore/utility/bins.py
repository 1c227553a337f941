"""Coarse cells of domains for contingency tables: intervals of numbers; categories, of which rare ones share one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from anoncore.kernels.arrays import Codes, Int64, record
from anoncore.kernels.grouping import starts_of
from anoncore.kernels.rounding import ACCUMULATED
from anoncore.table.domain import Domain, Kind
from anoncore.table.microdata import Microdata

MOST_CATEGORIES = 100
"""Cells of one attribute without order, at most; the least frequent categories share the last."""
MOST_CELLS = 4_000
"""Cells of all attributes together: a contingency table of all pairs has the square of it."""


@record
class Cells:
    """The cells of several attributes: `of_code[name]` int32 (domain size,) is the cell of each code."""

    of_code: Mapping[str, Codes]

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Number of cells per attribute; none is empty in the original table."""
        return {name: int(cell.max()) + 1 for name, cell in self.of_code.items()}

    def starts(self, names: Sequence[str]) -> Int64:
        """Where each attribute's cells begin when they stand side by side, int64 (number of names + 1,)."""
        return starts_of(self.sizes[name] for name in names)


def cut(data: Microdata, names: Sequence[str], intervals: int) -> Cells:
    """Cut numeric attributes into intervals of equal width; keep categories.

    Empty intervals are dropped and missing is a cell of its own. Of an attribute with more categories than a
    contingency table can hold (100, fewer in a wide table), the least frequent ones share a cell.
    """
    categories = min(MOST_CATEGORIES, max(MOST_CELLS // max(len(names), 1), intervals))
    cells = {}
    for name in names:
        domain = data.domain[name]
        if domain.kind is Kind.NUMERIC:
            cells[name] = _intervals(domain, intervals)
        else:
            cells[name] = _categories(np.bincount(data.codes[name], minlength=len(domain)), categories)
    return Cells(cells)


def _intervals(domain: Domain, intervals: int) -> Codes:
    numbers = domain.steps[: len(domain.values)]
    width = numbers[-1] - numbers[0] if len(numbers) else 0.0
    interval = np.zeros(len(domain), np.int64)
    if width > 0:
        # A number where an interval begins lies in it, whatever rounding makes of it in the unit at hand.
        place = (numbers - numbers[0]) * intervals / width * (1 + ACCUMULATED)
        interval[: len(numbers)] = np.minimum(place, intervals - 1)
    if domain.missing_code is not None:
        interval[domain.missing_code] = intervals
    return np.unique(interval, return_inverse=True)[1].astype(np.int32)


def _categories(counts: Int64, limit: int) -> Codes:
    if len(counts) <= limit:
        return np.arange(len(counts), dtype=np.int32)
    cell = np.full(len(counts), limit - 1, np.int32)
    cell[np.argsort(-counts, kind="stable")[: limit - 1]] = np.arange(limit - 1, dtype=np.int32)
    return cell
