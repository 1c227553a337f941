"""Published tables as texts that are the same whether they come from CSV, Parquet or Excel."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from anoncore.base.texts import FORMULA, MOST_DIGITS, is_missing, value_text
from anoncore.kernels.arrays import Codes, Int64

NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d(?::\d\d)?)?)?")
EXACT_WHOLE = 1e16
LARGEST_KEY = 1 << 62


def cell_text(value: Any) -> str:
    """The text of a published cell, equal for all formats; an empty text stands for a missing cell.

    A spreadsheet's guard apostrophe is taken away, numbers and dates are written in one way.
    """
    if is_missing(value):
        return ""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, timedelta):
        return duration_text(value)
    return _moment(pd.Timestamp(value)) if isinstance(value, datetime | date) else str(value)


def duration_text(duration: timedelta) -> str:
    """The text of a duration, the same whichever class it has and whatever library gave it: 0 days 01:30:00."""
    return str(pd.Timedelta(duration))


def _text(text: str) -> str:
    behind = text.lstrip("'")
    if behind != text and FORMULA.match(behind):
        # Apostrophes before a text that a spreadsheet would run are guards, however many there are.
        text = behind
    number = NUMBER.fullmatch(text)
    if number is not None:
        return _number(float(text)) if number[1] or number[2] or text == "-0" else text
    if MOMENT.fullmatch(text):
        try:
            return _moment(moment_of(text))
        except ValueError:
            return text
    return text


def _number(number: float) -> str:
    if not (number.is_integer() and abs(number) < EXACT_WHOLE):
        # A workbook has sixteen digits, which are not always enough for the next one to come out the same.
        number = float(f"{float(f'{number:.16g}'):.15g}")
    return str(int(number)) if number.is_integer() and abs(number) < EXACT_WHOLE else repr(number)


def _decimal(number: Decimal) -> str:
    # A Parquet file gives all decimals of a column as many places, also a whole number that a double does not hold.
    if abs(number) >= EXACT_WHOLE and number.adjusted() < MOST_DIGITS and number == number.to_integral_value():
        return str(int(number))
    return _text(str(number))


def moment_of(text: str) -> pd.Timestamp:
    """The point in time that a text names. Raises ValueError where there is none."""
    try:
        return pd.Timestamp(text)
    except ValueError:
        # Before about 1900, zones are apart by seconds too, which pandas writes and does not read.
        return pd.Timestamp(datetime.fromisoformat(text))


def _moment(moment: pd.Timestamp) -> str:
    # Two midnights of different zones are two points in time, and the day alone does not say which.
    return value_text(moment) if moment.tz is None else moment.isoformat(sep=" ")


@dataclass(frozen=True, eq=False)
class Column:
    """The cells of one column: `codes` int32 (n_rows,) into `texts`, which are distinct and sorted."""

    codes: Codes
    texts: tuple[str, ...]

    @classmethod
    def of(cls, values: Iterable[Any]) -> Column:
        """The column of any values."""
        series = values if isinstance(values, pd.Series) else pd.Series(list(values), dtype=object)
        raw, distinct = factorized(series)
        return cls.coded(raw, [cell_text(value) for value in distinct])

    @classmethod
    def coded(cls, codes: npt.NDArray[Any], texts: Sequence[str]) -> Column:
        """The column of codes into texts that are in any order and may be alike."""
        used: list[int] = np.flatnonzero(np.bincount(codes)).tolist() if len(codes) else []
        ordered = sorted({texts[code] for code in used})
        rank = {text: position for position, text in enumerate(ordered)}
        recode = np.array([rank.get(text, 0) for text in texts], dtype=np.int32)
        return cls(recode[codes] if len(codes) else np.zeros(0, dtype=np.int32), tuple(ordered))

    @cached_property
    def cells(self) -> npt.NDArray[np.object_]:
        """The text of every row."""
        return np.array(self.texts, dtype=object)[self.codes]


def factorized(series: pd.Series[Any]) -> tuple[Int64, list[Any]]:
    """A number per row and the value of each number; values of different types stay apart."""
    if series.dtype != object:
        codes, distinct = pd.factorize(series, use_na_sentinel=False)
        return codes.astype(np.int64), list(distinct)
    numbers: dict[Any, int] = {}
    by_row = [numbers.setdefault((type(value), value), len(numbers)) for value in series]
    return np.array(by_row, dtype=np.int64), [value for _, value in numbers]


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """One published table: its name and its columns, in order."""

    name: str
    columns: Mapping[str, Column]

    @classmethod
    def of(cls, name: str, frame: pd.DataFrame) -> PublishedTable:
        """The cells of a frame; its row labels play no part."""
        columns = {cell_name(label): Column.of(frame.iloc[:, position]) for position, label in enumerate(frame.columns)}
        return cls(name, columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())).codes) if self.columns else 0

    def keys(self, names: Iterable[str]) -> Int64:
        """A number per row, int64 (n_rows,): equal where the rows agree in the named columns, in their order."""
        asked = tuple(names)
        if asked not in self._found_keys:
            self._found_keys[asked] = self._keys(asked)
        return self._found_keys[asked]

    @cached_property
    def _found_keys(self) -> dict[tuple[str, ...], Int64]:
        return {}

    def _keys(self, names: Sequence[str]) -> Int64:
        """The rank of every row among the combinations of cells that there are."""
        key, span = np.zeros(self.n_rows, dtype=np.int64), 1
        for name in names:
            column = self.columns[name]
            size = max(len(column.texts), 1)
            if span * size > LARGEST_KEY:
                key = _ranks(key)
                span = int(key.max(initial=0)) + 1
            key, span = key * size + column.codes, span * size
        return _ranks(key)


def _ranks(key: Int64) -> Int64:
    """The rank of every number among those that there are."""
    return np.asarray(pd.factorize(key, sort=True)[0], dtype=np.int64)


def cell_name(label: Any) -> str:
    """The name of a column as it was before a spreadsheet's guard."""
    text = str(label)
    behind = text.lstrip("'")
    if behind != text and FORMULA.match(behind):
        # Apostrophes before a text that a spreadsheet would run are guards, however many there are.
        text = behind
    return text
