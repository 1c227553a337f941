"""Cells of Parquet files as the texts by which readers tell them apart, the same as in files of other formats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from anoncore.kernels.arrays import Bytes, Int64, Words
from anoncore.kernels.text_hashing import may_be_written_otherwise, text_hashes
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


def hashed_texts(values: pa.Array, key: Words) -> Words:
    """The keyed hash of the text of each of the distinct values, uint64 (n_values, 2).

    Values that are one text have one hash. Texts are hashed as the bytes that the column holds; only the few that may
    be written in another way become Python's texts first.
    """
    if not _is_text(values.type):
        return text_hashes(*text_bytes(pa.array(distinct_texts(values), pa.large_string())), key)
    content, starts = text_bytes(values)
    hashes = text_hashes(content, starts, key)
    suspects = _suspects(values, content, starts)
    if len(suspects):
        texts = [cell_text(text) for text in values.take(pa.array(suspects)).to_pylist()]
        hashes[suspects] = text_hashes(*text_bytes(pa.array(texts, pa.large_string())), key)
    return hashes


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
