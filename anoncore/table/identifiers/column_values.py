"""The different values of a column as texts, with the rows that have them, read once and only where they are needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from anoncore.base.texts import value_text
from anoncore.kernels.arrays import Bools, Int64
from anoncore.table.column_words import name_words
from anoncore.table.summary import ColumnSummary

LOOKED_AT = 20_000
"""Different values of a column that are looked at one by one; of more, evenly many are left out between them."""
LONGEST = 200
"""Characters of a value that are looked at; forms are shorter, and no value may take long to compare with them."""
PICTURES = (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"II*\x00", b"MM\x00*", b"BM")
"""How files of pictures begin."""


class ColumnValues:
    """A column with what its name and its values tell.

    Parameters
    ----------
    column : Series
        The column, one cell per row.
    summary : ColumnSummary
        Its summary.
    """

    def __init__(self, column: pd.Series[Any], summary: ColumnSummary) -> None:
        self._column, self.summary = column, summary
        self.name, self.words = summary.name, frozenset(name_words(summary.name))

    @property
    def is_text(self) -> bool:
        """Whether the column holds texts."""
        return self.summary.type == "text" and not self.is_bytes

    @property
    def is_whole(self) -> bool:
        """Whether the column holds whole numbers."""
        return self.summary.type == "whole number"

    @cached_property
    def is_bytes(self) -> bool:
        """Whether the cells are bytes, such as pictures."""
        return isinstance(self._first, bytes | bytearray | memoryview)

    @cached_property
    def begins_like_a_picture(self) -> bool:
        """Whether the first cell of bytes is a picture."""
        return self.is_bytes and bytes(self._first).startswith(PICTURES)

    @cached_property
    def numbers(self) -> tuple[Any, Int64]:
        """The different finite numbers, float (m,), and how many rows have each."""
        distinct, rows = self._distinct
        values = np.asarray(distinct, dtype=np.float64)
        finite = np.isfinite(values)
        return values[finite], rows[finite]

    @cached_property
    def moments(self) -> tuple[pd.DatetimeIndex, Int64]:
        """The different dates (m,), and how many rows have each."""
        distinct, rows = self._distinct
        return pd.DatetimeIndex(distinct), rows

    @cached_property
    def looked_at(self) -> tuple[list[str], Int64]:
        """How different texts begin, without spaces around them, and how many rows have each."""
        distinct, rows = self._distinct
        step = -(-len(distinct) // LOOKED_AT) or 1
        return [value_text(value).strip()[:LONGEST] for value in distinct[::step].tolist()], rows[::step]

    def share(self, fits: Bools) -> float:
        """Share of the rows with a value that have one of the texts that fit."""
        rows = self.looked_at[1]
        return float(rows[fits].sum() / rows.sum()) if len(rows) else 0.0

    def share_where(self, test: Callable[[str], object]) -> float:
        """Share of the rows with a value whose text passes a test."""
        return self.share(np.array([bool(test(text)) for text in self.looked_at[0]], dtype=np.bool_))

    def share_with(self, pattern: str) -> float:
        """Share of the rows with a value in whose text the pattern, one of RE2, is found; of all values."""
        import pyarrow.compute as pc

        distinct, rows = self._distinct
        found = np.asarray(pc.match_substring_regex(self._arrow(distinct), pattern))
        return float(rows[found].sum() / rows.sum()) if len(rows) else 0.0

    def is_few(self, least: int, share: float) -> bool:
        """Whether there are fewer different values than `least`, and they are less than a share of the rows."""
        return self.summary.n_distinct < least and self.summary.distinct_share < share

    @cached_property
    def _first(self) -> Any:
        if self._column.dtype != object:
            return None
        place = self._column.first_valid_index()
        return None if place is None else self._column.dropna().iloc[0]

    @cached_property
    def _distinct(self) -> tuple[pd.Index[Any], Int64]:
        counts = self._column.value_counts(sort=False)
        # Categories that no row has are counted, too.
        counts = counts[counts.to_numpy() > 0]
        return counts.index, counts.to_numpy().astype(np.int64)

    @staticmethod
    def _arrow(distinct: pd.Index[Any]) -> pa.Array:
        if isinstance(distinct.dtype, pd.StringDtype):
            texts = pa.array(distinct.array)
            return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
        return pa.array([value_text(value) for value in distinct.tolist()], pa.large_string())
