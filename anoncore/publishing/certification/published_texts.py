"""Cells of Parquet files as the texts by which readers tell them apart, the same as in files of other formats."""

from __future__ import annotations

import pyarrow as pa

from anoncore.kernels.arrays import Words
from anoncore.kernels.hashing import text_hashes
from anoncore.publishing.certification.written_cells import arrow_texts
from anoncore.release.reading.published_table import is_text_type, text_bytes


def hashed_cells(values: pa.Array, key: Words) -> Words:
    """The keyed hash of each of the distinct values of a column as it is written, uint64 (n_values, 2).

    Values that are one text to `cell_texts`, such as 1.5 and 1.50, stay apart, as they are to a reader of the file.
    """
    cells = values if is_text_type(values.type) else pa.array(arrow_texts(values), pa.large_string())
    return text_hashes(*text_bytes(cells.fill_null("")), key)


def two_spellings(name: str, one: str, other: str) -> str:
    """Why a column cannot be counted whose cells write one value in two ways, which readers tell apart."""
    return (
        f"'{name}' writes one value in two ways, {one[:40]!r} and {other[:40]!r}, by which a reader tells its rows "
        "apart; write it in one way before the release is made."
    )
