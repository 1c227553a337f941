"""Texts become values of their column's type, once per distinct text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.base.pandas_versions import TEXT
from anoncore.base.texts import counted
from anoncore.kernels.arrays import Floats, Int64
from anoncore.sources import numerals
from anoncore.sources.inference import ColumnType, Evidence, TextRules, as_texts
from anoncore.sources.notes import Notes

TRIED_ROWS, MOST_DISTINCT = 2_000, 0.8
"""Rows at the top of a column that are looked at, and the share of distinct texts up to which all are looked for."""


@dataclass(frozen=True)
class Distinct:
    """Distinct texts (m,), without surrounding spaces; `codes` (n,) says which one a row has, `rows` (m,) how often.

    Where nearly every row has a text of its own, to find out which ones are distinct takes longer than it saves: then
    `codes` is None, and the texts are those of the rows.
    """

    texts: pa.Array
    codes: npt.NDArray[np.intp] | None
    rows: Int64
    trimmed: bool

    @classmethod
    def of(cls, column: pa.Array) -> Distinct:
        """The distinct texts of n strings without nulls, in the order of their first row."""
        raw, codes = column.cast(pa.large_string()), None
        rows = np.ones(len(raw), np.int64)
        top = raw[:TRIED_ROWS].dictionary_encode()
        if len(top.dictionary) <= MOST_DISTINCT * len(top):
            encoded = top if len(top) == len(raw) else raw.dictionary_encode()
            raw, codes = encoded.dictionary, encoded.indices.to_numpy().astype(np.intp)
            rows = np.bincount(codes, minlength=len(raw)).astype(np.int64)
        texts = pc.utf8_trim_whitespace(raw)
        # An empty cell of spaces needs no mention.
        trimmed = not texts.equals(raw) and pc.any(pc.and_(pc.not_equal(raw, texts), pc.not_equal(texts, ""))).as_py()
        return cls(texts, codes, rows, bool(trimmed))

    def show(self, evidence: Evidence) -> None:
        """Add these texts to the evidence of their column."""
        evidence.add(self.texts, self.rows, trimmed=self.trimmed)


def typed_frame(
    names: Sequence[str], columns: Sequence[pa.ChunkedArray], notes: Notes, rules: TextRules
) -> pd.DataFrame:
    """Interpret whole columns of text (each n strings without nulls; an empty cell is ""), as `_typed_column` does."""
    # Arrays, as pandas takes longer to make a series of each of ten thousand columns than to make a table of them.
    return pd.DataFrame(
        {name: _typed_column(name, column, notes, rules) for name, column in zip(names, columns, strict=True)}
    )


def _typed_column(name: str, column: pa.ChunkedArray, notes: Notes, rules: TextRules) -> Any:
    """One column as an array of int64, float64, datetime64 or text (dtype str, missing as NaN), n rows.

    What is missing and which type fits is told in `Evidence.column_type`; the notes say what was decided.
    """
    # One chunk: encoding several copies the growing dictionary for each of them.
    distinct = Distinct.of(pa.concat_arrays(column.chunks))
    evidence = Evidence(rules)
    distinct.show(evidence)
    kind = evidence.column_type(name, notes)
    values, infinite = typed_values(distinct, evidence.without_unseen(kind))
    note_infinite(infinite, name, notes)
    if kind.kind in ("text", "boolean"):
        return pd.array(values, dtype=TEXT)
    return values.to_numpy(zero_copy_only=False)


def typed_values(distinct: Distinct, kind: ColumnType) -> tuple[pa.Array, int]:
    """The rows as int64, float64, timestamps or strings, null where missing or infinite; and how many are infinite.

    Raises ValueError for texts that do not fit the type.
    """
    if kind.missing:
        missing = np.asarray(pc.is_in(distinct.texts, as_texts(tuple(sorted(kind.missing)))))
        values = _converted(distinct.texts.filter(pa.array(~missing)), kind)
    else:
        missing = np.zeros(len(distinct.texts), np.bool_)
        values = _converted(distinct.texts, kind)
    infinite = np.zeros(len(missing), np.bool_)
    infinite[~missing] = np.isinf(values.to_numpy(zero_copy_only=False)) if kind.kind == "fraction" else False
    n_infinite = int(distinct.rows[infinite].sum())
    absent = missing | infinite
    if not absent.any():
        return (values if distinct.codes is None else values.take(pa.array(distinct.codes))), n_infinite
    place = np.cumsum(~missing) - 1
    if distinct.codes is not None:
        place, absent = place[distinct.codes], absent[distinct.codes]
    return values.take(pa.array(place, mask=absent)), n_infinite


def arrow_type(kind: ColumnType) -> pa.DataType:
    """The type of the arrays that `typed_values` makes."""
    types = {"whole": pa.int64(), "fraction": pa.float64(), "date": pa.timestamp(kind.unit)}
    return types.get(kind.kind, pa.large_string())


def _converted(texts: pa.Array, kind: ColumnType) -> pa.Array:
    """The values of texts that are not missing, (m,) -> (m,)."""
    if kind.kind == "boolean":
        return pc.if_else(pc.equal(pc.utf8_lower(texts), "true"), pa.scalar("True", texts.type), "False")
    if kind.kind == "date":
        texts = texts if kind.order is None else numerals.iso_dates(texts, kind.order)
        return numerals.moments(texts, zoned=kind.zoned, unit=kind.unit)
    if kind.commas == "thousands":
        texts = numerals.ungrouped(texts)
    elif kind.commas == "decimal":
        texts = numerals.with_point(texts)
    if kind.kind == "whole":
        return numerals.whole_numbers(texts)
    return pa.array(numerals.fractions(texts)) if kind.kind == "fraction" else texts


def note_infinite(rows: int, name: str, notes: Notes) -> None:
    """Note that infinite values are now missing."""
    if rows:
        notes.about("Infinite values were taken as missing in {columns}.", name, counted(rows, "row"))


def without_infinities(values: Floats, name: str, notes: Notes) -> Floats:
    """Infinities become missing (NaN); a note counts them. Values (n,) -> (n,), a copy where something changes."""
    infinite = np.isinf(values)
    if not infinite.any():
        return values
    note_infinite(int(infinite.sum()), name, notes)
    return np.where(infinite, np.nan, values)


def empty_rows(frame: pd.DataFrame) -> int:
    """How many rows hold no value, in tables of more than one column."""
    if frame.shape[1] < 2 or not frame.iloc[:, 0].isna().any():
        return 0
    return int(frame.isna().all(axis=1).sum())


def note_empty_rows(empty: int, notes: Notes) -> None:
    """Note how many rows hold no value, if any does."""
    if empty:
        notes.say(f"{counted(empty, 'row')} {'holds' if empty == 1 else 'hold'} no value at all; kept as missing.")
