"""Drawing rows from a Bayesian network whose conditional probabilities are written down as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anoncore.base.errors import DataError

Codes = NDArray[np.int64]
Figures = NDArray[np.float64]

_TOLERANCE = 1e-6


def percentages(rows: ArrayLike) -> Figures:
    """Rows of percentages as probabilities, shape kept; DataError for a negative figure or a row that is not 100."""
    figures = np.asarray(rows, dtype=np.float64)
    totals = figures.sum(axis=-1)
    if (figures < 0).any() or not np.allclose(totals, 100.0, atol=_TOLERANCE):
        raise DataError(
            f"Every row of percentages must be non-negative and sum to 100; the sums are {totals.tolist()}."
        )
    return figures / 100.0


def reweighted(probabilities: Figures, factors: Figures) -> Figures:
    """Probabilities times factors (odds ratios against an average person), each row scaled back to sum to 1.

    The two arrays broadcast against each other; the last axis is the value that is drawn.
    """
    weights = probabilities * factors
    totals = weights.sum(axis=-1, keepdims=True)
    if (totals <= 0).any():
        raise DataError("The factors leave a row of the conditional table without any possible value.")
    return np.asarray(weights / totals)


@dataclass(frozen=True)
class ConditionalTable:
    """P(child | parents), shape (|parent 1|, ..., |parent p|, |values|), every row summing to 1."""

    child: str
    parents: tuple[str, ...]
    values: tuple[object, ...]
    probabilities: Figures

    def __post_init__(self) -> None:
        shape = self.probabilities.shape
        if len(shape) != len(self.parents) + 1 or shape[-1] != len(self.values):
            raise DataError(
                f"The table of '{self.child}' has the shape {shape}; it needs one axis per parent "
                f"({len(self.parents)}) and one of {len(self.values)} values."
            )
        if not np.allclose(self.probabilities.sum(axis=-1), 1.0, atol=_TOLERANCE):
            raise DataError(f"A row of the table of '{self.child}' does not sum to 1.")

    def draw(self, rng: np.random.Generator, codes: Mapping[str, Codes], n_rows: int) -> Codes:
        """One code into `values` per row, shape (n_rows,), given the codes of the parents."""
        n_values = len(self.values)
        flat = self.probabilities.reshape(-1, n_values)
        configuration = self._configuration(codes, n_rows)
        # Stacking the cumulative rows one above the other turns the draw of all rows into one binary search.
        cumulative = np.cumsum(flat, axis=1)
        cumulative[:, -1] = 1.0
        ladder = (cumulative + np.arange(len(flat))[:, None]).ravel()
        found = np.searchsorted(ladder, rng.random(n_rows) + configuration, side="right")
        return np.asarray(np.minimum(found - configuration * n_values, n_values - 1), dtype=np.int64)

    def _configuration(self, codes: Mapping[str, Codes], n_rows: int) -> Codes:
        if not self.parents:
            return np.zeros(n_rows, dtype=np.int64)
        sizes = self.probabilities.shape[:-1]
        return np.asarray(np.ravel_multi_index([codes[parent] for parent in self.parents], sizes), dtype=np.int64)


def draw_network(
    tables: Sequence[ConditionalTable], groups: Mapping[str, tuple[str, Codes]], n_rows: int, rng: np.random.Generator
) -> dict[str, Codes]:
    """Draw all tables in their order, parents first.

    `groups` maps a derived parent (such as an age band) to the child it is read from and the group of each of its
    codes. Returns the codes of children and derived parents, each of shape (n_rows,).
    """
    codes: dict[str, Codes] = {}
    for table in tables:
        codes[table.child] = table.draw(rng, codes, n_rows)
        for derived, (origin, group) in groups.items():
            if origin == table.child:
                codes[derived] = group[codes[origin]]
    return codes
