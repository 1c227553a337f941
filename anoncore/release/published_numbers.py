"""Ranges of numbers in published tables: as text, as two columns of bounds, or as midpoints."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from anoncore.kernels.arrays import Bools, Codes, Int64, record
from anoncore.kernels.grouping import distinct
from anoncore.release.recoding import ColumnRegions, Generalized, Recoding
from anoncore.table.domain import Domain, Kind
from anoncore.table.hierarchy import ROOT

Numbers = Literal["text", "bounds", "midpoints"]
"""How ranges of numbers are published."""

NUMBER = r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
RANGE = re.compile(rf"{NUMBER}(?:-| to ){NUMBER}|\[{NUMBER}, {NUMBER}\)", re.IGNORECASE)
"""Labels of intervals: `20-29`, `-5 to 5`, and `[20, 30)`, whose upper bound lies outside."""


@dataclass(frozen=True)
class NumberColumns:
    """The names of the columns in which the ranges of one attribute are published.

    Attributes
    ----------
    low, high : str
        Columns of the lowest and of the highest number that a cell allows.
    or_missing : str or None
        Column that says whether a cell may also be missing; None where no cell may.
    """

    low: str
    high: str
    or_missing: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in published order."""
        return (self.low, self.high) if self.or_missing is None else (self.low, self.high, self.or_missing)


@record
class Ranges:
    """The regions of an attribute's groups as ranges of numbers.

    Attributes
    ----------
    low, high : Series, shape (n_groups,)
        Lowest and highest number of each region; missing where it has none, or where its label says nothing.
    or_missing : ndarray of bool, shape (n_groups,)
        Whether a cell of the region may also be missing.
    group : ndarray of int, shape (n_rows,)
        The group of each row.
    """

    low: pd.Series[Any]
    high: pd.Series[Any]
    or_missing: Bools
    group: Codes

    def midpoints(self) -> pd.Series[Any]:
        """The middle of each region, (n_groups,): numbers with a fraction, or points in time."""
        if pd.api.types.is_datetime64_any_dtype(self.low.dtype):
            return self.low + (self.high - self.low) / 2
        known = self.low.notna().to_numpy()
        middle = np.full(len(known), np.nan)
        bounds = zip(self.low[known], self.high[known], strict=True)
        middle[known] = [_middle(low, high) for low, high in bounds]
        return pd.Series(middle)


def ranges_of(recoding: Recoding) -> Ranges | None:
    """The cells of an attribute as ranges of numbers; None where they are something else.

    What a hierarchy made of numbers counts as ranges where all its published labels are such as `20-29` or `[20, 30)`;
    their bounds are those of the labels, because tighter ones would tell more than the labels do. A label `*` has no
    bounds, and is no range where all labels are.
    """
    classes = recoding.classes if isinstance(recoding, ColumnRegions) else recoding
    if not isinstance(classes, Generalized) or classes.domain.kind is not Kind.NUMERIC or classes.form == "set":
        return None
    group = classes.partition.group
    missing = classes.domain.missing_code
    holds_missing = np.zeros(len(classes.low), np.bool_) if missing is None else classes.high == missing
    if classes.node is not None and classes.domain.tree is not None:
        return _labelled(classes, holds_missing, group)
    last = classes.high - (holds_missing & (classes.low < classes.high))
    return Ranges(_stored(classes.domain, classes.low), _stored(classes.domain, last), holds_missing, group)


def column_names(name: str, found: Iterable[Ranges], taken: Collection[str]) -> NumberColumns:
    """The columns in which ranges of an attribute are published, none of which has the name of another column."""

    def free(ending: str) -> str:
        column = f"{name}_{ending}"
        while column in taken:
            column += "_"
        return column

    may_miss = any(bool(one.or_missing.any()) for one in found)
    return NumberColumns(free("low"), free("high"), free("or_missing") if may_miss else None)


def cells_of(name: str, ranges: Ranges, columns: NumberColumns | None, rows: Int64) -> dict[str, pd.Series[Any]]:
    """The published columns of some rows of an attribute: its bounds in the given columns, or its midpoints."""
    group = ranges.group[rows]
    if columns is None:
        return {name: _taken(ranges.midpoints(), group)}
    cells = {columns.low: _taken(ranges.low, group), columns.high: _taken(ranges.high, group)}
    if columns.or_missing is not None:
        cells[columns.or_missing] = pd.Series(ranges.or_missing[group])
    return cells


def _taken(values: pd.Series[Any], group: Codes) -> pd.Series[Any]:
    return values.take(group).reset_index(drop=True)


def _middle(low: Any, high: Any) -> float:
    # Numbers of NumPy would overflow where those of Python do not.
    first, last = (one.item() if isinstance(one, np.generic) else one for one in (low, high))
    return float((first + last) / 2)


def _stored(domain: Domain, codes: Codes) -> pd.Series[Any]:
    """Values of the domain, with the type of the table's column."""
    cells = domain.decoded.take(codes)
    return pd.Series(cells, dtype=object if cells.dtype == object else None)


def _labelled(classes: Generalized, holds_missing: Bools, group: Codes) -> Ranges | None:
    tree, nodes = classes.domain.tree, classes.node
    if tree is None or nodes is None or classes.domain.is_date:
        return None
    bounds: dict[int, tuple[Any, Any]] = {}
    for node in distinct(nodes).tolist():
        found = label_bounds(classes.domain, node)
        if found is None:
            return None
        bounds[node] = found
    if all(low is None for low, _ in bounds.values()):
        return None
    pairs = [bounds[node] for node in nodes.tolist()]
    return Ranges(_numbers([low for low, _ in pairs]), _numbers([high for _, high in pairs]), holds_missing, group)


def label_bounds(domain: Domain, node: int) -> tuple[Any, Any] | None:
    """The bounds that a node's label says: (None, None) where any value is meant, None where it is no range of its
    values.
    """
    tree = domain.tree
    if tree is None:
        return None
    first, last = int(tree.first[node]), int(tree.last[node])
    if first == last and tree.labels[node] == domain.text(first):
        return domain[first], domain[first]
    if tree.labels[node] == ROOT:
        return None, None
    found = RANGE.fullmatch(tree.labels[node])
    if found is None or last == domain.missing_code:
        return None
    low, high = (_number(text) for text in found.groups() if text is not None)
    return (low, high) if low <= domain[first] and domain[last] <= high else None


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _numbers(values: Sequence[Any]) -> pd.Series[Any]:
    """Numbers of labels as a column: whole ones where all are whole, missing ones included."""
    known = [value for value in values if value is not None]
    if all(isinstance(value, int | np.integer) and abs(int(value)) < 2**63 for value in known):
        return pd.Series(values, dtype="int64" if len(known) == len(values) else "Int64")
    return pd.Series([np.nan if value is None else float(value) for value in values], dtype="float64")
