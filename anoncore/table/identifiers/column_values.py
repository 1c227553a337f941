"""The different values of a column as texts, with the rows that have them, read once and only where they are needed."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from anoncore.base.texts import value_text
from anoncore.kernels.arrays import Bools, Int64
from anoncore.table.column_words import FREE_TEXT
from anoncore.table.identifiers.words import VERSIONS, identifier_words
from anoncore.table.summary import ColumnSummary, summarize_column

LOOKED_AT = 20_000
"""Different values of a column that are looked at one by one; of more, evenly many are left out between them."""
LONGEST = 200
"""Characters of a value that are looked at; forms are shorter, and no value may take long to compare with them."""
PICTURES = (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"II*\x00", b"MM\x00*", b"BM")
"""How files of pictures begin."""
HALF = 0.5
FEWEST_SHARE = 0.05
"""Share of the rows below which different values only tell kinds of things apart, where they are few."""
NAMED_SHARE = 0.05
"""Distinct values / rows from which the name of a column tells what its values are."""
LONG_TEXT = 40
"""Mean number of characters above which texts of several words are called free text."""
FEWEST_DIGITS, MOST_SHORTER = 8, 0.15
"""Digits of the longest of random numbers that lost the zeros in front, and the share of the shorter ones: a tenth."""
_VERSION = re.compile(r"[vV]?\d+\.[-+.\w]*")
_NUMERAL = re.compile(r"[-+]?(?:(?:0|[1-9]\d{0,14})(?:[.,]\d{1,15})?|[1-9]\d{0,2}(?:,\d{3}){2,4})", re.ASCII)
"""A number of at most 15 digits as text; one with a zero in front is a code."""


class ColumnValues:
    """A column with what its name and its values tell.

    Parameters
    ----------
    column : Series
        The column, one cell per row.
    summary : ColumnSummary
        Its summary.
    read_from_text : bool
        Whether the cells were texts, so that no number lost a zero in front.
    """

    def __init__(self, column: pd.Series[Any], summary: ColumnSummary, read_from_text: bool = False) -> None:
        self._column, self.summary, self.read_from_text = column, summary, read_from_text
        self.name, self.words = summary.name, identifier_words(summary.name)

    def with_numbers_read(self) -> ColumnValues:
        """The values as numbers where all of them are texts that numbers are written as; else as they are."""
        if not self.is_text or not all(map(_NUMERAL.fullmatch, self.looked_at[0])):
            return self
        texts = self._column.astype(object)
        numbers = pd.to_numeric(texts, errors="coerce")
        if numbers.count() < texts.count():
            numbers = pd.to_numeric(texts.map(_with_point, na_action="ignore"), errors="coerce")
        if numbers.count() < texts.count():
            return self
        return ColumnValues(numbers, summarize_column(numbers), read_from_text=True)

    @property
    def is_text(self) -> bool:
        """Whether the column holds texts."""
        return self.summary.type == "text" and not self.is_bytes

    @property
    def is_whole(self) -> bool:
        """Whether the column holds whole numbers."""
        return self.summary.type == "whole number"

    @property
    def is_called_free_text(self) -> bool:
        """Whether it holds texts that its name calls free text: many different ones, or mostly of several words."""
        is_called = self.is_text and FREE_TEXT.names(self.words)
        return is_called and (self.summary.distinct_share >= NAMED_SHARE or self.has_several_words)

    @property
    def is_free_text(self) -> bool:
        """Whether it holds free text, which may name people: by its name, or by many different long texts.

        Encoded data and paths are as long, but one word; labels of categories are few.
        """
        is_long = self.is_text and self.summary.mean_length > LONG_TEXT
        return self.is_called_free_text or (
            is_long and self.summary.distinct_share >= NAMED_SHARE and self.has_several_words
        )

    @cached_property
    def has_several_words(self) -> bool:
        """Whether at least half of the values are texts of several words, and no sets as releases publish them."""
        return self.share_where(lambda text: len(text.split()) > 1 and not _is_set(text)) >= HALF

    @cached_property
    def has_lost_zeros(self) -> bool:
        """Whether whole numbers are as random codes of one length are whose zeros in front were lost: nine in ten have
        all digits, and amounts are hardly so.
        """
        if not self.is_whole or self.numbers[0].min(initial=0) < 0:
            return False
        numbers = self.numbers[0]
        n_digits = len(value_text(float(numbers.max())))
        shorter = np.mean(numbers < 10.0 ** (n_digits - 1))
        return bool(
            n_digits >= FEWEST_DIGITS and value_text(float(numbers.max()))[0] == "9" and shorter <= MOST_SHORTER
        )

    @property
    def are_versions(self) -> bool:
        """Whether the column holds versions of software, which are written as IP addresses and codes are."""
        return self.is_text and VERSIONS.names(self.words) and self.share_where(_VERSION.fullmatch) >= HALF

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

    def is_few(self, least: int) -> bool:
        """Whether there are fewer different values than `least`, and they are less than a share of the rows."""
        return self.summary.n_distinct < least and self.summary.distinct_share < FEWEST_SHARE

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


def _is_set(text: str) -> bool:
    return text.startswith("{") and text.endswith("}")


def _with_point(value: Any) -> str:
    """A number as Python reads it: one comma is a decimal one, and of several each stands between thousands."""
    text = value_text(value)
    return text.replace(",", "." if text.count(",") == 1 else "")
