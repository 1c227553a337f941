"""Digests of the rows of a part, column by column, taken while it is read and whatever its row groups are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.release.reading.published_table import is_text_type, text_bytes

BLOCK_ROWS = 1 << 20
"""Texts of so many rows are sorted and coded together, so that a digest does not depend on how a file is written."""


class PartDigester:
    """Takes the rows of a part in their order, some at a time, and gives a SHA-256 of every column."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._columns = {field.name: hashlib.sha256(_kind(field.type).encode()) for field in schema}
        self._waiting: pa.Table | None = None
        self.n_rows = 0

    def add(self, rows: pa.Table) -> None:
        """Add rows that follow those before."""
        self.n_rows += rows.num_rows
        joined = rows if self._waiting is None else pa.concat_tables([self._waiting, rows]).unify_dictionaries()
        whole = joined.num_rows - joined.num_rows % BLOCK_ROWS
        for begin in range(0, whole, BLOCK_ROWS):
            self._take(joined.slice(begin, BLOCK_ROWS))
        self._waiting = joined.slice(whole) if whole < joined.num_rows else None

    def close(self) -> dict[str, str]:
        """The digest of every column, once all rows were added."""
        if self._waiting is not None:
            self._take(self._waiting)
            self._waiting = None
        return {name: digest.hexdigest() for name, digest in self._columns.items()}

    def _take(self, block: pa.Table) -> None:
        for name, digest in self._columns.items():
            column = block.column(name)
            for content in _contents(column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)):
                digest.update(len(content).to_bytes(8, "little"))
                digest.update(content)


def _kind(kind: pa.DataType) -> str:
    """What a column is called in its digest: texts are the same in all types that hold texts."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return "text" if is_text_type(kind) else str(kind)


def _contents(column: pa.Array) -> Iterator[bytes]:
    """The bytes of a block: numbers as they are and where none is, all else as sorted texts and codes."""
    plain = _numbers(column)
    if plain is not None:
        yield np.packbits(np.asarray(column.is_valid())).tobytes()
        yield np.ascontiguousarray(plain).tobytes()
        return
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    used = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=len(coded.dictionary)))
    texts = _texts(coded.dictionary.take(pa.array(used)))
    order = np.asarray(pc.sort_indices(texts))
    rank = np.full(len(coded.dictionary) + 1, -1, dtype="<i4")
    rank[used[order]] = np.arange(len(used), dtype=np.int32)
    content, starts = text_bytes(texts.take(pa.array(order)))
    yield np.diff(starts).astype("<i8").tobytes()
    yield content[starts[0] : starts[-1]].tobytes()
    yield rank[codes].tobytes()


def _numbers(column: pa.Array) -> npt.NDArray[Any] | None:
    """Numbers, dates and moments as the numbers they are stored as, 0 where there is none; None for all else."""
    kind = column.type
    width = {pa.types.is_date32: pa.int32(), pa.types.is_date64: pa.int64(), pa.types.is_timestamp: pa.int64()}
    for belongs, stored in width.items():
        if belongs(kind):
            column = column.cast(stored)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        zero = pa.scalar(0, column.type)
        return np.asarray(column.fill_null(zero))
    return None


def _texts(values: pa.Array) -> pa.Array:
    """Distinct values as texts that tell every two of them apart."""
    if is_text_type(values.type):
        return values.cast(pa.large_string())
    return pa.array([repr(value) for value in values.to_pylist()], pa.large_string())


def rows_digest(names: Sequence[str], n_rows: int, columns: Mapping[str, str]) -> str:
    """The digest of a part's rows: of its columns in their order."""
    return _hash([list(names), n_rows, [columns[name] for name in names]])


def joined_digest(digests: Sequence[str]) -> str:
    """The digest of all parts together, in whatever order they are."""
    return _hash(sorted(digests))


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()).hexdigest()
