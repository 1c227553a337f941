"""The multiplicity array: how many rows have each combination of sensitive values, sparse in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anoncore.kernels.arrays import Codes, Int64, Rows
from anoncore.table.microdata import Microdata, SensitiveValues


@dataclass(frozen=True, eq=False)
class Multiplicity:
    """The combinations of sensitive values that occur: the cells of the array M over all their domains that are not
    empty.

    `cells`, int32 (n_cells, d), has the codes of each in lexicographic order; `of_row`, int32 (n_rows,), is the cell of
    each row. Where only some values of an attribute need protection, its codes are those of its sensitive view. Source:
    t-closeness dissertation, sections 4.2.1 and 4.5.
    """

    views: tuple[SensitiveValues, ...]
    cells: Codes
    of_row: Codes

    @classmethod
    def of(cls, data: Microdata, attributes: Sequence[str] | None = None) -> Multiplicity:
        """Count the combinations of the named attributes (default: every sensitive one)."""
        names = tuple(attributes) if attributes is not None else data.require_sensitive()
        views = tuple(data.sensitive_view(name) for name in names)
        of_row = np.zeros(data.n_rows, dtype=np.int64)
        for view in views:
            of_row = _dense(of_row * view.size + view.codes)
        first = np.empty(int(of_row.max()) + 1, dtype=np.int64)
        first[of_row] = np.arange(data.n_rows)
        cells = np.column_stack([view.codes[first] for view in views]).astype(np.int32)
        return cls(views, cells, of_row.astype(np.int32))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The sensitive attributes, one per axis."""
        return tuple(view.attribute for view in self.views)

    @cached_property
    def sizes(self) -> Int64:
        """Values per attribute, int64 (d,)."""
        return np.array([view.size for view in self.views], dtype=np.int64)

    @cached_property
    def counts(self) -> Rows:
        """Rows per cell, int64 (n_cells,)."""
        return np.bincount(self.of_row, minlength=len(self.cells))

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return len(self.of_row)

    def labels(self, cell: int) -> tuple[str, ...]:
        """The values of one cell as text."""
        return tuple(view.labels[code] for view, code in zip(self.views, self.cells[cell], strict=True))


def _dense(numbers: Int64) -> Int64:
    """The rank of each number among the distinct ones."""
    if numbers.max() < 4 * len(numbers):
        present = np.bincount(numbers) > 0
        return (np.cumsum(present) - 1)[numbers]
    return np.unique(numbers, return_inverse=True)[1].reshape(-1)
