"""Columns of every type are coded and published on disk as they are in memory."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anoncore import DataError, Microdata
from anoncore.algorithms import Mondrian, RothkoTree
from anoncore.engines.column_coding import code_column
from anoncore.requirements import KAnonymity
from anoncore.sources import read_table

from .large_tables import expected, published, run

N = 250
RNG = np.random.default_rng(0)


def gappy(values: Any) -> list[Any]:
    return [None if RNG.random() < 0.1 else value for value in values]


def whole(high: int) -> list[int]:
    return [int(value) for value in RNG.integers(0, high, N)]


START = datetime(2020, 1, 1, tzinfo=UTC)
COLUMNS = {
    "flag": pa.array(gappy(RNG.random(N) < 0.5)),
    "decimal": pa.array(gappy(Decimal(value) / 4 for value in whole(20)), pa.decimal128(8, 2)),
    "unsigned": pa.array(gappy(whole(9)), pa.uint64()),
    "time": pa.array(gappy(time(hour, 30) for hour in whole(24))),
    "day": pa.array(gappy(date(2020, 1, 1) + timedelta(day) for day in whole(30))),
    "stamp": pa.array(gappy(START + timedelta(hours=hour) for hour in whole(90)), pa.timestamp("ms", tz="UTC")),
    "float": pa.array(gappy(value / 2 for value in whole(9)), pa.float32()),
    "categories": pa.array(gappy(RNG.choice(["a", "b", "c"], N).tolist())).dictionary_encode(),
    "small": pa.array(RNG.integers(-5, 5, N).astype(np.int8)),
    "far apart": pa.array([value * 2**40 for value in whole(5)]),
    "infinite": pa.array(np.where(RNG.random(N) < 0.1, np.inf, RNG.integers(0, 5, N))),
    "no value": pa.nulls(N, pa.int32()),
    'quo"ted': pa.array(whole(7)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_this_type_is_published_as_in_memory(tmp_path: Path, name: str) -> None:
    others = {f"kept {kind}": column for kind, column in COLUMNS.items() if kind != "infinite"}
    pq.write_table(pa.table({name: COLUMNS[name], "x": whole(30), **others}), tmp_path / "in.parquet")
    roles = {name: "quasi-identifier", "x": "quasi-identifier", "*": "insensitive"}
    data = Microdata(read_table(tmp_path / "in.parquet").frame, roles)
    release = Mondrian((KAnonymity(k=5),), strict=True).anonymize(data)
    run(tmp_path / "in.parquet", RothkoTree((KAnonymity(k=5),), memory_rows=40), tmp_path / "out", roles=roles)
    assert [row[:2] for row in published(tmp_path / "out")] == [row[:2] for row in expected(release)]
    kept = pq.read_table(tmp_path / "out").column(f"kept {'day' if name == 'stamp' else 'stamp'}").to_pylist()
    original = COLUMNS["day" if name == "stamp" else "stamp"].to_pylist()
    assert sorted(map(str, kept)) == sorted(map(str, original))


def test_lists_are_refused(tmp_path: Path) -> None:
    for name in ("x", "other"):
        columns: dict[str, Any] = {"x": whole(9), "other": whole(9)} | {name: [[1, 2]] * N}
        pq.write_table(pa.table(columns), tmp_path / "in.parquet")
        roles = {"x": "quasi-identifier", "other": "insensitive"}
        with pytest.raises(DataError, match=f"'{name}' holds lists"):
            run(tmp_path / "in.parquet", RothkoTree(), tmp_path / "out", roles=roles)


def test_codes_are_those_of_the_whole_column() -> None:
    values = pa.array([3.5, None, 1.0, float("nan"), 3.5])
    counted = pa.table({"value": pa.array([3.5, None, 1.0, float("nan")]), "rows": pa.array([2, 1, 1, 1])})
    column = code_column("weight", counted)
    assert column.domain.values == (1.0, 3.5)
    assert column.counts.tolist() == [1, 2, 2]
    assert column.coder(values).tolist() == [1, 2, 0, 2, 1]
