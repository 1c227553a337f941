"""What pandas 2 does otherwise than pandas 3, so that the same table gives the same results under both."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

IS_3 = int(pd.__version__.partition(".")[0]) >= 3


def _text_type() -> Any:
    try:
        return pd.StringDtype(na_value=np.nan)
    except TypeError:
        # pandas 2.2 knows the same type under its first name only.
        return pd.StringDtype("pyarrow_numpy")


TEXT: Any = _text_type()
"""The type of columns of text whose missing cells are NaN: what pandas 3 calls `str`."""

_LONG_INTEGER = re.compile(r"\s*[+-]?[0-9]{19,}\s*")
"""Texts of integers that 64 bits may not hold."""


def own_copy(frame: pd.DataFrame) -> pd.DataFrame:
    """A table that later changes of the given one do not reach; pandas 3 copies a column when it is changed."""
    return frame.copy(deep=not IS_3)


def with_text(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its texts in columns of the type `TEXT`; pandas 2 makes objects of them."""
    texts = [name for name, cells in frame.items() if _holds_texts(cells)]
    return frame.astype(dict.fromkeys(texts, TEXT))


def _holds_texts(cells: pd.Series[Any]) -> bool:
    is_of_objects = pd.api.types.is_object_dtype(cells.dtype)
    return is_of_objects and pd.api.types.infer_dtype(cells, skipna=True) in ("string", "empty")


def is_arrow_text(dtype: Any) -> bool:
    """Whether a column of this type holds texts as Arrow does."""
    return isinstance(dtype, pd.StringDtype) and dtype.storage.startswith("pyarrow")


def frame_of(table: pa.Table) -> pd.DataFrame:
    """An Arrow table as a frame whose columns of text have the type `TEXT`."""
    frame: pd.DataFrame = table.to_pandas(types_mapper={pa.string(): TEXT, pa.large_string(): TEXT}.get)
    return frame


def factorized(cells: pd.Series[Any]) -> tuple[npt.NDArray[np.int64], pd.Index[Any]]:
    """A number per cell (n,), and the cell of each number; missing cells have a number, too."""
    codes, distinct = pd.factorize(cells, use_na_sentinel=False)
    if (codes < 0).any():
        # pandas 2 numbers no missing cells among the categories of Arrow.
        codes = np.where(codes < 0, len(distinct), codes)
        distinct = pd.Index(cells.iloc[np.unique(codes, return_index=True)[1]])
    return codes.astype(np.int64), distinct


def numbers_of(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Cells as numbers, NaN where one is missing or none; integers that 64 bits do not hold become fractions."""
    try:
        return pd.to_numeric(cells, errors="coerce")
    except ValueError:
        # pandas 2 refuses the text of such an integer; written as a fraction, it is read.
        return pd.to_numeric(cells.map(_as_fraction), errors="coerce")


def _as_fraction(cell: Any) -> Any:
    return f"{cell.strip()}.0" if isinstance(cell, str) and _LONG_INTEGER.fullmatch(cell) else cell


def moments_of(texts: list[str], *, utc: bool) -> pd.DatetimeIndex:
    """Points in time written as ISO 8601 says, in microseconds unless one of them has nanoseconds.

    Raises ValueError for what no calendar has, and for nanoseconds in a column that reaches beyond the years 1678 to
    2262, which no type holds.
    """
    try:
        found = pd.DatetimeIndex(pd.to_datetime(texts, format="ISO8601", utc=utc))
    except pd.errors.OutOfBoundsDatetime:
        # pandas 2 reads a list in nanoseconds alone, but a single text in the unit that it needs.
        moments = [pd.Timestamp(text).as_unit("us", round_ok=False).asm8 for text in texts]
        found = pd.DatetimeIndex(np.array(moments, dtype="datetime64[us]"), tz="UTC" if utc else None)
    return found if found.unit == "us" or (found.nanosecond != 0).any() else found.as_unit("us")
