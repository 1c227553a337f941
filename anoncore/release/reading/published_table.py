"""Published tables as texts that are the same whether they come from CSV, Parquet or Excel."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from json.encoder import encode_basestring_ascii
from operator import lt
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.base import pandas_versions
from anoncore.base.pandas_versions import is_arrow_text
from anoncore.base.texts import FORMULA, MOST_DIGITS, is_missing, value_text
from anoncore.kernels.arrays import Bytes, Codes, Int64, record
from anoncore.kernels.hashing import may_be_written_otherwise
from anoncore.table.coding import content_ranks

NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d(?::\d\d)?)?)?")
EXACT_WHOLE = 1e16
WORD_BYTES = 8


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


def cell_texts(values: pd.Series[Any] | pa.Array) -> list[str]:
    """The text of each of some values, as `cell_text` gives it one by one.

    Only few texts and numbers have to be looked at one by one, since all others can be written in one way alone.
    """
    if isinstance(values, pd.Series):
        is_text = is_arrow_text(values.dtype)
        if not is_text and not (isinstance(values.dtype, np.dtype) and values.dtype.kind in "iuf"):
            return [cell_text(value) for value in values]
        values = pa.array(values, from_pandas=True)
        values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if is_text_type(values.type):
        may_differ = may_be_written_otherwise(*text_bytes(values))
        if values.null_count:
            may_differ |= np.asarray(values.is_null())
        texts: list[str] = values.to_pylist()
        for position in np.flatnonzero(may_differ).tolist():
            texts[position] = cell_text(texts[position])
        return texts
    if pa.types.is_integer(values.type):
        return values.cast(pa.large_string()).fill_null("").to_pylist()
    if values.type == pa.float64():
        numbers = np.asarray(values.fill_null(np.nan))
        is_whole = (np.abs(numbers) < EXACT_WHOLE) & (numbers == np.rint(numbers))
        texts = pa.array(np.where(is_whole, numbers, 0).astype(np.int64)).cast(pa.large_string()).to_pylist()
        for position in np.flatnonzero(~is_whole).tolist():
            texts[position] = cell_text(numbers[position])
        return texts
    # As pandas gives them, which is what the texts of other formats are made of.
    column = pa.table([values], names=["values"]).to_pandas(integer_object_nulls=True, date_as_object=True)["values"]
    return [cell_text(value) for value in column]


def is_text_type(kind: pa.DataType) -> bool:
    """Whether a column of Arrow holds texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def text_bytes(texts: pa.Array) -> tuple[Bytes, Int64]:
    """The bytes of texts, uint8 (n_bytes,), and where each text begins and the last one ends, (n_texts + 1,).

    These are the column's own bytes, which may go on before the first text and behind the last one.
    """
    _, starts, content = texts.buffers()
    bounds, held = np.zeros(1, np.int64), np.zeros(1, np.uint8)
    if len(texts):
        width = np.int64 if pa.types.is_large_string(texts.type) else np.int32
        bounds = np.frombuffer(starts, width)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
        held = np.frombuffer(content, np.uint8) if content is not None and content.size else held
    # Arrow's buffers can be written to or not; kernels would be compiled for each of the two.
    held.flags.writeable = False
    return held, bounds


def joined_bytes(texts: pa.Array, between: str) -> bytes:
    """The bytes of texts of the type large_string one after the other, and of another text between every two."""
    whole = pa.LargeListArray.from_arrays(pa.array([0, len(texts)], pa.int64()), texts)
    return bytes(pc.binary_join(whole, pa.scalar(between, texts.type))[0].as_buffer())


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


@record
class Column:
    """The cells of one column: `codes` int32 (n_rows,) into `texts`, which are distinct and sorted, and `counts`, how
    many rows have each of these, int64 (n_texts,).
    """

    codes: Codes
    texts: tuple[str, ...]
    counts: Int64

    @classmethod
    def of(cls, values: Iterable[Any]) -> Column:
        """The column of any values."""
        series = values if isinstance(values, pd.Series) else pd.Series(list(values), dtype=object)
        if series.dtype != object:
            codes, values = pandas_versions.factorized(series)
            return cls.coded(codes, cell_texts(pd.Series(values)))
        raw, distinct = factorized(series)
        return cls.coded(raw, [cell_text(value) for value in distinct])

    @classmethod
    def coded(cls, codes: npt.NDArray[Any], texts: Sequence[str]) -> Column:
        """The column of codes into texts that are in any order and may be alike."""
        return cls.counted(codes, np.bincount(codes, minlength=len(texts)), texts)

    @classmethod
    def counted(cls, codes: npt.NDArray[Any], rows: Int64, texts: Sequence[str]) -> Column:
        """The column of codes of which it is known how many rows have each of them, int64 (n_texts,); see `coded`."""
        used = np.flatnonzero(rows)
        is_whole = len(used) == len(texts)
        if is_whole and all(map(lt, texts, texts[1:])):
            # Codes that are in order already are shared with other columns that have them.
            return cls(codes.astype(np.int32, copy=False), tuple(texts), rows)
        rank, first = ranked(texts if is_whole else [texts[code] for code in used.tolist()])
        recode = np.zeros(len(texts), np.int32)
        recode[used] = rank
        counts = np.bincount(rank, weights=rows[used], minlength=len(first)).astype(np.int64)
        return cls(recode[codes], tuple(map(texts.__getitem__, used[first].tolist())), counts)

    @cached_property
    def quoted(self) -> pa.Array:
        """The texts as JSON writes them."""
        return pa.array([*map(encode_basestring_ascii, self.texts)], pa.large_string())

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the texts and the number of rows that have each, as JSON, after the length of this JSON."""
        rows = pa.array(self.counts).cast(pa.large_string())
        cells = pc.binary_join_element_wise(self.quoted, rows, pa.scalar(",", rows.type))
        content = b"[[%s]]" % joined_bytes(cells, "],[")
        return hashlib.sha256(len(content).to_bytes(8, "little") + content).hexdigest()

    @cached_property
    def cells(self) -> npt.NDArray[np.object_]:
        """The text of every row."""
        return np.array(self.texts, object)[self.codes]


def ranked(texts: Sequence[str]) -> tuple[Codes, Int64]:
    """The rank of every text among the different ones, int32 (n_texts,), and where each of these is found first."""
    if all(map(lt, texts, texts[1:])):
        return np.arange(len(texts), dtype=np.int32), np.arange(len(texts), dtype=np.int64)
    try:
        array = pa.array(texts, pa.large_string())
    except UnicodeEncodeError:  # half a character, which sorts as its bytes do, too
        array = pa.array([text.encode("utf-8", "surrogatepass") for text in texts], pa.large_binary())
    order = text_order(array)
    in_order = array.take(pa.array(order))
    is_new = np.ones(len(texts), np.bool_)
    is_new[1:] = np.asarray(pc.not_equal(in_order[1:], in_order[:-1]))
    rank = np.empty(len(texts), np.int32)
    rank[order] = np.cumsum(is_new) - 1
    return rank, order[is_new].astype(np.int64)


def reading_ranks(texts: Sequence[str]) -> Codes:
    """The rank of each of some distinct texts, int32 (n_texts,): numbers by their size, then all other texts."""
    is_number = np.fromiter((NUMBER.fullmatch(text) is not None for text in texts), np.bool_, len(texts))
    places = np.flatnonzero(is_number)
    numbers = np.array([float(texts[place]) for place in places.tolist()], dtype=np.float64)
    if (np.abs(numbers) >= EXACT_WHOLE).any():  # a double does not tell all of these apart
        exact = [Decimal(texts[place]) for place in places.tolist()]
        numbers_first = places[np.array(sorted(range(len(exact)), key=exact.__getitem__), np.int64)]
    else:
        numbers_first = places[np.argsort(numbers, kind="stable")]
    others = sorted(np.flatnonzero(~is_number).tolist(), key=texts.__getitem__)
    ranks = np.empty(len(texts), np.int32)
    ranks[np.concatenate((numbers_first, np.array(others, np.int64)))] = np.arange(len(texts), dtype=np.int32)
    return ranks


def cell_ranks(values: pd.Series[Any]) -> Codes:
    """The rank of each cell in the order of `reading_ranks`, int32 (n_rows,); equal where files write the same."""
    column = Column.of(values)
    return reading_ranks(column.texts)[column.codes]


def text_order(texts: pa.Array) -> Int64:
    """The order of some texts; short ones, such as most numbers, are compared eight bytes at once."""
    is_short = texts.type == pa.large_string() and pc.max(pc.binary_length(texts)).as_py() <= WORD_BYTES
    if not is_short or pc.any(pc.match_substring(texts, "\0")).as_py():
        return np.asarray(pc.sort_indices(texts))
    content, bounds = text_bytes(pc.ascii_rpad(texts, WORD_BYTES, padding="\0"))
    words = content[bounds[0] : bounds[-1]].view(f">u{WORD_BYTES}")
    return np.argsort(words.astype(np.uint64), kind="stable")


def factorized(series: pd.Series[Any]) -> tuple[Int64, list[Any]]:
    """A number per row and the value of each number; values of different types stay apart."""
    if series.dtype != object:
        codes, distinct = pandas_versions.factorized(series)
        return codes, list(distinct)
    numbers: dict[Any, int] = {}
    by_row = [numbers.setdefault((type(value), value), len(numbers)) for value in series]
    return np.array(by_row, np.int64), [value for _, value in numbers]


@record
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

    @property
    def names(self) -> list[str]:
        """The names of the columns in their order."""
        return list(self.columns)

    def units(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Some columns of all rows in Arrow, coded as they are."""
        columns = [self.columns[name] for name in names]
        coded = [
            pa.DictionaryArray.from_arrays(pa.array(one.codes), pa.array(one.texts, pa.large_string()))
            for one in columns
        ]
        # A table without columns has no rows in Arrow.
        yield pa.table(coded or [pa.nulls(self.n_rows)], names=list(names) or [""])

    def keys(self, names: Iterable[str]) -> Int64:
        """A number per row, int64 (n_rows,): equal where the rows agree in the named columns, in their order."""
        asked = tuple(names)
        if asked not in self._found_keys:
            columns = [self.columns[name] for name in asked]
            self._found_keys[asked] = (
                content_ranks([one.codes for one in columns], [max(len(one.texts), 1) for one in columns])
                if columns
                else np.zeros(self.n_rows, np.int64)
            )
        return self._found_keys[asked]

    @cached_property
    def _found_keys(self) -> dict[tuple[str, ...], Int64]:
        return {}


def cell_name(label: Any) -> str:
    """The name of a column as it was before a spreadsheet's guard."""
    text = str(label)
    behind = text.lstrip("'")
    if behind != text and FORMULA.match(behind):
        # Apostrophes before a text that a spreadsheet would run are guards, however many there are.
        text = behind
    return text
