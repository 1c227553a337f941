"""Cells of Parquet files as the texts by which readers tell them apart, the same as in files of other formats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from anoncore.kernels.arrays import Bytes, Int64, Words
from anoncore.kernels.hashing import may_be_written_otherwise, text_hashes
from anoncore.publishing.certification.written_cells import arrow_texts
from anoncore.release.reading.published_table import cell_text


def distinct_texts(values: pa.Array) -> list[str]:
    """The text of each of the distinct values of a column; an empty text stands for none."""
    if not _is_text(values.type):
        # As pandas gives them, which is what the texts of other formats are made of.
        table = pa.table([values], names=["values"])
        column: Any = table.to_pandas(integer_object_nulls=True, date_as_object=True)["values"]
        return [cell_text(value) for value in column]
    texts = values.to_pylist()
    for position in _suspects(values, *text_bytes(values)).tolist():
        texts[position] = cell_text(texts[position])
    return texts


def hashed_cells(values: pa.Array, key: Words) -> Words:
    """The keyed hash of each of the distinct values of a column as it is written, uint64 (n_values, 2).

    Values that are one text to `distinct_texts`, such as 1.5 and 1.50, stay apart, as they are to a reader of the file.
    """
    cells = values if _is_text(values.type) else pa.array(arrow_texts(values), pa.large_string())
    return text_hashes(*text_bytes(cells.fill_null("")), key)


def written_twice(values: pa.Array, texts: Sequence[str]) -> tuple[str, str] | None:
    """Two of the distinct values of a column that have one text and are written in two ways; None where none are."""
    if len({*texts}) == len(texts):
        return None
    first: dict[str, Any] = {}
    for value, text in zip(values.to_pylist(), texts, strict=True):
        if value is not None and first.setdefault(text, value) is not value:
            return str(first[text]), str(value)
    return None


def two_spellings(name: str, one: str, other: str) -> str:
    """Why a column cannot be counted whose cells write one value in two ways, which readers tell apart."""
    return (
        f"'{name}' writes one value in two ways, {one[:40]!r} and {other[:40]!r}, by which a reader tells its rows "
        "apart; write it in one way before the release is made."
    )


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def text_bytes(texts: pa.Array) -> tuple[Bytes, Int64]:
    """The bytes of texts, uint8 (n_bytes,), and where each text begins and the last one ends, (n_texts + 1,).

    These are the column's own bytes, which may go on before the first text and behind the last one.
    """
    _, starts, content = texts.buffers()
    bounds, held = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.uint8)
    if len(texts):
        width = np.int64 if pa.types.is_large_string(texts.type) else np.int32
        bounds = np.frombuffer(starts, dtype=width)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
        held = np.frombuffer(content, dtype=np.uint8) if content is not None and content.size else held
    # Arrow's buffers can be written to or not; kernels would be compiled for each of the two.
    held.flags.writeable = False
    return held, bounds


def _suspects(values: pa.Array, content: Bytes, starts: Int64) -> Int64:
    """The positions of texts that may have another text in the certificate, and of what is no text."""
    found = may_be_written_otherwise(content, starts)
    if values.null_count:
        found |= np.asarray(values.is_null())
    return np.flatnonzero(found)
