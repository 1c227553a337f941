"""What is in each column of a table, before anything is tagged."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd

from anoncore.base.arguments import checked
from anoncore.base.pandas_versions import TEXT
from anoncore.base.texts import range_text, value_text
from anoncore.kernels.arrays import Bools, Int64
from anoncore.table.given_table import as_pandas

BINS = 20
"""Most bins of a column's distribution."""
EXAMPLES = 3


@dataclass(frozen=True)
class ColumnSummary:
    """What is in one column: its type in words, counts of rows, and its distribution.

    `n_distinct` leaves missing values out. `bin_texts` and `bin_counts` are the bins of the distribution and their
    rows: ranges of equal width for numbers and dates with many values, else the most frequent values. `lowest` and
    `highest` are texts, empty for a column of other values. `top` is the most frequent value, with `top_count` rows.
    `mean_length` is the mean number of characters of a text column's distinct values, and 0 for other columns.
    `examples` are the most frequent values, three at most, and `n_single` the rows whose value no other row has.
    """

    name: str
    type: str
    n_rows: int
    n_distinct: int
    n_missing: int
    lowest: str
    highest: str
    top: str
    top_count: int
    bin_texts: tuple[str, ...]
    bin_counts: tuple[int, ...]
    mean_length: float
    examples: tuple[str, ...]
    n_single: int

    @property
    def distinct_share(self) -> float:
        """Distinct values / rows with a value, 0 for an empty column."""
        known = self.n_rows - self.n_missing
        return self.n_distinct / known if known else 0.0

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers."""
        return self.type in ("whole number", "number")

    @property
    def n_in_bins(self) -> int:
        """Rows that the bins cover; fewer than all where only the most frequent values are shown."""
        return sum(self.bin_counts)


@checked
def summarize(frame: Any) -> tuple[ColumnSummary, ...]:
    """One summary per column of a table of any kind, in column order. Column names in pandas need not be unique."""
    frame = as_pandas(frame)
    return tuple(summarize_column(column) for _, column in frame.items())


def summarize_column(column: pd.Series[Any], bins: int = BINS) -> ColumnSummary:
    """The summary of one column."""
    # NumPy's own arrays take half the time of those that pandas puts around them.
    plain = isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufbO"
    codes, values = pd.factorize(column.to_numpy() if plain else column.array, use_na_sentinel=True)
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    kind = _type(column) if len(values) else "empty"
    ranged = kind in ("whole number", "number", "date") and len(values) > 0
    finite = _finite(values) if ranged else np.ones(len(values), dtype=np.bool_)
    within = values if finite.all() else values[finite]
    low, high = (within.min(), within.max()) if ranged and len(within) else (None, None)
    if low is not None and len(values) > bins and _has_width(low, high):
        texts, amounts = _ranges(within, counts[finite], kind, bins)
    else:
        texts, amounts = _most_frequent(values, counts, bins, in_order=ranged)
    best = _largest(counts, EXAMPLES)
    return ColumnSummary(
        name=str(column.name),
        type=kind,
        n_rows=len(column),
        n_distinct=len(values),
        n_missing=int((codes < 0).sum()),
        lowest="" if low is None else _text(low, kind),
        highest="" if high is None else _text(high, kind),
        top=_text(values[best[0]], kind) if len(best) else "",
        top_count=int(counts[best[0]]) if len(best) else 0,
        bin_texts=texts,
        bin_counts=amounts,
        mean_length=_mean_length(values) if kind == "text" and len(values) else 0.0,
        examples=tuple(_text(values[place], kind) for place in best),
        n_single=int((counts == 1).sum()),
    )


def _mean_length(values: Any) -> float:
    """The mean number of characters of values that may be anything, such as the bytes of pictures."""
    try:
        return float(pd.Series(values).astype(TEXT).str.len().mean())
    except UnicodeDecodeError:
        return float(np.mean([len(value_text(value)) for value in values]))


def _largest(counts: Int64, n: int) -> list[int]:
    """The places of the n largest numbers, the first of equal ones first; much faster than sorting many of them."""
    rest, found = counts.copy(), list[int]()
    for _ in range(min(n, len(counts))):
        found.append(int(rest.argmax()))
        rest[found[-1]] = -1
    return found


def _type(column: pd.Series[Any]) -> str:
    if pd.api.types.is_bool_dtype(column.dtype):
        return "yes or no"
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return "date"
    if pd.api.types.is_integer_dtype(column.dtype):
        return "whole number"
    if pd.api.types.is_numeric_dtype(column.dtype):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        known = numbers[np.isfinite(numbers)]
        return "whole number" if len(known) and bool((known == np.floor(known)).all()) else "number"
    return "text"


def _finite(values: Any) -> Bools:
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return np.ones(len(values), dtype=np.bool_)
    return np.isfinite(np.asarray(values, dtype=np.float64))


def _has_width(low: Any, high: Any) -> bool:
    """Whether the range can be cut into bins; the distance of the largest floats is itself too large for a float."""
    if isinstance(low, pd.Timestamp):
        return bool(low < high)
    return bool(low < high) and isfinite(float(high) - float(low))


def _ranges(values: Any, counts: Int64, kind: str, bins: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
    if kind == "date":
        numbers = values.to_numpy(dtype="datetime64[s]").astype(np.int64).astype(np.float64)
    else:
        numbers = np.asarray(values, dtype=np.float64)
    low, high = float(numbers.min()), float(numbers.max())
    if kind == "whole number":
        width = np.ceil((high - low + 1) / bins)
        edges = low + width * np.arange(int(np.ceil((high - low + 1) / width)) + 1)
    else:
        edges = np.linspace(low, high, bins + 1)
    amounts, _ = np.histogram(numbers, bins=edges, weights=counts)
    return tuple(_edge_text(edges[i], edges[i + 1], kind) for i in range(len(edges) - 1)), tuple(
        int(amount) for amount in amounts
    )


def _edge_text(low: float, high: float, kind: str) -> str:
    if kind == "date":
        first, last = (str(np.datetime64(int(edge), "s").astype("datetime64[D]")) for edge in (low, high))
        return f"{first} to {last}"
    if kind == "whole number":
        return value_text(low) if high - low <= 1 else range_text(low, high - 1)
    return f"{low:.4g} to {high:.4g}"


def _most_frequent(values: Any, counts: Int64, bins: int, in_order: bool) -> tuple[tuple[str, ...], tuple[int, ...]]:
    chosen = np.argsort(-counts, kind="stable")[:bins]
    if in_order:
        chosen = chosen[values[chosen].argsort()]
    return tuple(value_text(values[i]) for i in chosen), tuple(counts[chosen].tolist())


def _text(value: Any, kind: str) -> str:
    return f"{value:.6g}" if kind == "number" else value_text(value)
