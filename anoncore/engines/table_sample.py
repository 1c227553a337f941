"""A simple random sample of a large table, in memory, to try things on before the whole table is taken."""

from __future__ import annotations

from contextlib import closing
from hashlib import sha256

import numpy as np
import pandas as pd
import pyarrow as pa

from anoncore.algorithms.rothko.rows import sampled_places
from anoncore.base.pipeline import read_ahead
from anoncore.base.progress import Progress
from anoncore.kernels.arrays import record
from anoncore.sources.large_table import LargeTable
from anoncore.sources.notes import Notes
from anoncore.sources.parquet import check_type, table_column


@record
class TableSample:
    """Rows of a table in its order, with the types that a loaded file has.

    `n_rows` is the size of the whole table, `notes` say how columns were read, `digest` is the SHA-256 of the sample.
    """

    frame: pd.DataFrame
    n_rows: int
    notes: tuple[str, ...]
    digest: str


def sample_table(
    table: LargeTable, size: int, seed: int | None = None, progress: Progress | None = None
) -> TableSample:
    """A simple random sample without replacement of at most `size` rows, in one scan of the table.

    Raises DataError for a table that cannot be read, and what `progress` raises to stop.
    """
    n = table.n_rows
    places = sampled_places(min(size, n), n, np.random.default_rng(seed))
    chosen: list[pa.RecordBatch] = []
    begin = 0
    with closing(read_ahead(table.batches(table.names))) as batches:
        for batch in batches:
            own = places[np.searchsorted(places, begin) : np.searchsorted(places, begin + batch.num_rows)]
            if len(own) or not chosen:
                chosen.append(batch.take(pa.array(own - begin)))
            begin += batch.num_rows
            if progress is not None:
                progress(begin / n, f"{begin:,} of {n:,} rows read")
    rows, notes = pa.Table.from_batches(chosen), Notes()
    for field in rows.schema:
        check_type(field)
    frame = pd.DataFrame({name: table_column(name, rows.column(name), notes) for name in table.names})
    digest = sha256(repr(list(frame.columns)).encode())
    digest.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    told = notes.sentences() if table.notes is None else table.notes
    return TableSample(frame, n, told, digest.hexdigest())
