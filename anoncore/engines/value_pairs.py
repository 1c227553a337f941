"""What became what, in a release that is made part by part: values and published cells with their numbers of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.base.faults import writing
from anoncore.base.sql import literal
from anoncore.kernels.arrays import Int32, Int64
from anoncore.kernels.grouping import occurring_pairs
from anoncore.release.mapping import COLUMNS
from anoncore.sources.large_table import connected_duckdb
from anoncore.table.domain import Domain

SCHEMA = pa.schema([("attribute", pa.int32()), ("code", pa.int32()), ("published", pa.string()), ("rows", pa.int64())])
MEMORY = "256MB"
BATCH_ROWS = 100_000


def write_pairs(folder: Path, number: int, pairs: Sequence[pa.Table]) -> None:
    """Write the pairs of one part to a file of its own in a folder, where `mapping_frames` adds them up."""
    path = folder / f"{number}.parquet"
    own = path.with_suffix(".part")
    with writing(folder):
        # A task of a cluster may be run twice: a file is there when it is whole, and is then the same.
        pq.write_table(pa.concat_tables(pairs), own)
        own.replace(path)


def pairs_of_rows(place: int, codes: Int32, group: Int32, texts: pa.Array) -> pa.Table:
    """The pairs of one attribute in a part: codes int32 (n_rows,), `texts` those of the groups."""
    distinct = texts.dictionary_encode()
    values, cells, rows = occurring_pairs(codes, distinct.indices.to_numpy(zero_copy_only=False)[group])
    return _table(place, values.astype(np.int32), distinct.dictionary.take(pa.array(cells)), rows)


def pairs_of_class(place: int, counts: Int64, text: pa.Array) -> pa.Table:
    """The pairs of one attribute in a single class: counts int64 (n_codes,), `text` the only cell."""
    codes = np.flatnonzero(counts).astype(np.int32)
    return _table(place, codes, text.take(pa.array(np.zeros(len(codes), np.int32))), counts[codes])


def _table(place: int, codes: Int32, texts: pa.Array, rows: Int64) -> pa.Table:
    places = pa.array(np.full(len(codes), place, np.int32))
    return pa.table([places, pa.array(codes), texts.cast(pa.string()), pa.array(rows, pa.int64())], schema=SCHEMA)


def mapping_frames(folder: Path, domains: Mapping[str, Domain], table: str) -> Iterator[pd.DataFrame]:
    """The pairs of all parts added up, some rows at a time, with the columns of `ValueMapping.frame`.

    Sorted by attribute in published order, original value in its order and published cell.
    """
    names = list(domains)
    query = (
        "SELECT attribute, code, published, sum(rows)::BIGINT AS rows "
        f"FROM read_parquet({literal(f'{folder}/*.parquet')}) GROUP BY ALL ORDER BY ALL"
    )
    spill = str(folder / "spill")
    with closing(connected_duckdb(memory_limit=MEMORY, temp_directory=spill)) as connection:
        for batch in connection.sql(query).to_arrow_reader(BATCH_ROWS):
            places, codes = batch.column(0).to_numpy(), batch.column(1).to_numpy()
            original = np.empty(batch.num_rows, object)
            for place in np.unique(places).tolist():
                own = places == place
                original[own] = np.asarray(domains[names[place]].texts, object)[codes[own]]
            published = np.array(batch.column(2).to_pylist(), object)
            values = (
                table,
                np.array(names, object)[places],
                original,
                published,
                batch.column(3).to_numpy(),
                original == published,
            )
            yield pd.DataFrame(dict(zip(COLUMNS, values, strict=True)))
