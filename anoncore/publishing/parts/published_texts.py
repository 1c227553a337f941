"""Cells of Parquet files as the texts by which readers tell them apart, the same as in files of other formats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anoncore.release.reading.published_table import cell_text

WRITTEN_OTHERWISE = r"^['\d\-]"
"""Only texts that begin so may have another text in the certificate: guarded ones, numbers, dates."""
PLAIN_NUMBER = r"^(0|[1-9][0-9]*)(-(0|[1-9][0-9]*))?$"
"""Whole numbers and ranges of them, which are what they are in every format; most published cells are such."""


def distinct_texts(values: pa.Array) -> list[str]:
    """The text of each of the distinct values of a column; an empty text stands for none."""
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        # As pandas gives them, which is what the texts of other formats are made of.
        table = pa.table([values], names=["values"])
        column: Any = table.to_pandas(integer_object_nulls=True, date_as_object=True)["values"]
        return [cell_text(value) for value in column]
    texts = values.to_pylist()
    suspects = pc.and_(pc.match_substring_regex(values, WRITTEN_OTHERWISE), _not_plain(values)).fill_null(True)
    for place in np.flatnonzero(np.asarray(suspects)).tolist():
        texts[place] = cell_text(texts[place])
    return texts


def _not_plain(values: pa.Array) -> pa.Array:
    return pc.invert(pc.match_substring_regex(values, PLAIN_NUMBER))
