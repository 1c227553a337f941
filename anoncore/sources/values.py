"""Columns of text become numbers, dates, True/False or categories; decided over the distinct texts of a column."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.sources import numerals
from anoncore.sources.notes import Notes, shown
from anoncore.sources.numerals import Values

# What pandas.read_csv takes as missing, without "None".
MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NULL", "NaN", "n/a", "nan", "null"),
)
# Missing or a value, as the other values of the column suggest.
DOUBTFUL = ("?", "NA", "None")
FEWEST_CODES = 3


@dataclass(frozen=True)
class TextRules:
    """What is known of a file's texts: whether commas are decimal marks, and further texts that mean missing."""

    comma_is_decimal: bool = False
    missing: Collection[str] = ()


@dataclass(frozen=True)
class _Distinct:
    """Distinct texts (m,), without surrounding spaces; `codes` (n,) says which one a row has, `rows` (m,) how often."""

    texts: pa.Array
    codes: npt.NDArray[np.intp]
    rows: npt.NDArray[np.int64]
    trimmed: bool


def typed_columns(
    names: Sequence[str], columns: Sequence[pa.ChunkedArray], notes: Notes, rules: TextRules
) -> dict[str, pd.Series]:
    """Interpret columns of text (each n strings without nulls; an empty cell is ""), as `typed_column` does."""
    return {name: typed_column(name, column, notes, rules) for name, column in zip(names, columns, strict=True)}


def typed_column(name: str, column: pa.ChunkedArray, notes: Notes, rules: TextRules) -> pd.Series:
    """One column as int64, float64, datetime64 or text (dtype str, missing as NaN), n rows.

    Missing are empty cells, the texts of `MISSING`, those of the rules, and of the doubtful ones: "?" unless nothing
    else is there, "None" in columns of numbers, dates or True/False only, "NA" unless the other values are codes of two
    capital letters (NA is Namibia). Notes name the texts that were read as missing.
    """
    distinct = _distinct(column)
    sure = _is_in(distinct.texts, (*MISSING, *rules.missing))
    doubtful = _is_in(distinct.texts, DOUBTFUL) & ~sure
    rest = distinct.texts.filter(pa.array(~sure & ~doubtful))
    values = _typed(rest, name, notes, rules) if len(rest) else None
    missing = sure | doubtful
    if values is None:
        missing = sure | (doubtful & _missing_in_text(distinct.texts, rest, doubtful, name, notes))
    _note_missing(distinct, missing, name, notes)
    if missing.all():
        notes.about("Without any value, kept as missing throughout: {columns}.", name)
    if distinct.trimmed:
        notes.about("Spaces around values were removed in {columns}.", name)
    series = None if values is None else _spread(values, missing, distinct, name, notes)
    if series is not None:
        return series
    _note_mixture(distinct, missing, name, notes)
    return _text(distinct, missing, name)


def without_infinities(values: npt.NDArray[np.float64], name: str, notes: Notes) -> npt.NDArray[np.float64]:
    """Infinities become missing (NaN); a note counts them. Values (n,) -> (n,), a copy where something changes."""
    infinite = np.isinf(values)
    if not infinite.any():
        return values
    notes.about("Infinite values were taken as missing in {columns}.", name, f"{_count(int(infinite.sum()))}")
    return np.where(infinite, np.nan, values)


def note_empty_rows(frame: pd.DataFrame, notes: Notes) -> None:
    """Count rows without any value, in tables of more than one column."""
    if frame.shape[1] < 2 or not frame.iloc[:, 0].isna().any():
        return
    empty = int(frame.isna().all(axis=1).sum())
    if empty:
        notes.say(f"{_count(empty)} {'holds' if empty == 1 else 'hold'} no value at all; kept as missing.")


def _distinct(column: pa.ChunkedArray) -> _Distinct:
    # One chunk: encoding several copies the growing dictionary for each of them.
    encoded = pa.concat_arrays(column.cast(pa.large_string()).chunks).dictionary_encode()
    raw, codes = encoded.dictionary, encoded.indices.to_numpy()
    texts = pc.utf8_trim_whitespace(raw)
    return _Distinct(
        texts=texts,
        codes=codes.astype(np.intp),
        rows=np.bincount(codes, minlength=len(texts)).astype(np.int64),
        # An empty cell of spaces needs no mention.
        trimmed=pc.any(pc.and_(pc.not_equal(raw, texts), pc.not_equal(texts, ""))).as_py(),
    )


def _is_in(texts: pa.Array, wanted: Iterable[str]) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = pc.is_in(texts, pa.array(list(wanted), texts.type)).to_numpy(zero_copy_only=False)
    return found


def _typed(texts: pa.Array, name: str, notes: Notes, rules: TextRules) -> Values | None:
    """The readers in turn; the first one that holds for every text decides."""
    values = numerals.booleans(texts)
    if values is None:
        values = numerals.numbers(texts, name, notes, comma_is_decimal=rules.comma_is_decimal)
    if values is None:
        values = numerals.dates(texts, name, notes)
    return values


def _missing_in_text(
    texts: pa.Array, rest: pa.Array, doubtful: npt.NDArray[np.bool_], name: str, notes: Notes
) -> npt.NDArray[np.bool_]:
    """Which of the doubtful texts mean missing in a column whose other values (rest) are text; (m,) -> bool (m,)."""
    missing = {"?", "NA"} if len(rest) else {"NA"}
    present = texts.filter(pa.array(doubtful)).to_pylist()
    if len(rest) >= FEWEST_CODES and numerals.matches(rest, "^[A-Z]{2}$").all():
        missing.discard("NA")
        if "NA" in present:
            notes.about("'NA' is kept as a value, because the other values are two-letter codes too: {columns}.", name)
    if "None" in present:
        notes.about("'None' is kept as a category, not read as missing: {columns}.", name)
    return _is_in(texts, missing)


def _note_missing(distinct: _Distinct, missing: npt.NDArray[np.bool_], name: str, notes: Notes) -> None:
    for position in np.flatnonzero(missing):
        text = distinct.texts[int(position)].as_py()
        if text:
            rows = _count(int(distinct.rows[position]))
            notes.about(f"The text {shown(text)} was read as missing in {{columns}}.", name, rows)


def _note_mixture(distinct: _Distinct, missing: npt.NDArray[np.bool_], name: str, notes: Notes) -> None:
    present = pa.array(~missing)
    texts, rows = distinct.texts.filter(present), distinct.rows[~missing]
    numbers = numerals.plain_numbers(texts)
    dates = numerals.matches(texts, numerals.ISO_DATE)
    for typed, kind in ((numbers, "numbers"), (dates, "dates")):
        if typed.any() and not typed.all():
            example = shown(texts.filter(pa.array(~typed))[0].as_py())
            detail = f"{_count(int(rows[~typed].sum()))} with other text, for example {example}"
            notes.about(f"Kept as text, because not all values are {kind}: {{columns}}.", name, detail)
            return


def _spread(
    values: Values, missing: npt.NDArray[np.bool_], distinct: _Distinct, name: str, notes: Notes
) -> pd.Series | None:
    """Values of the distinct texts that aren't missing, laid out over the rows; None when float64 would change them."""
    if values.dtype == object:
        filled = np.full(len(missing), None, dtype=object)
        filled[~missing] = values
        return pd.Series(filled[distinct.codes], name=name, dtype="str")
    if not missing.any():
        spread = values[distinct.codes]
    elif values.dtype.kind == "M":
        moments = np.full(len(missing), np.datetime64("NaT"), dtype=values.dtype)
        moments[~missing] = values
        spread = moments[distinct.codes]
    else:
        if values.dtype.kind == "i" and (
            values.max() > numerals.EXACT_IN_FLOAT or values.min() < -numerals.EXACT_IN_FLOAT
        ):
            numerals.too_big(name, notes)
            return None
        numbers = np.full(len(missing), np.nan)
        numbers[~missing] = values
        spread = numbers[distinct.codes]
    return pd.Series(without_infinities(spread, name, notes) if spread.dtype.kind == "f" else spread, name=name)


def _text(distinct: _Distinct, missing: npt.NDArray[np.bool_], name: str) -> pd.Series:
    codes = pa.array(distinct.codes, mask=missing[distinct.codes])
    return pd.Series(distinct.texts.take(codes), name=name, dtype="str")


def _count(rows: int) -> str:
    return f"{rows:,} row" + ("" if rows == 1 else "s")
