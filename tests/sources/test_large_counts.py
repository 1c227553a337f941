"""Combinations of values of a large table, counted in one scan and in several."""

from __future__ import annotations

from collections import Counter
from contextlib import closing, nullcontext

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anoncore import DataError
from anoncore.base.faults import writing
from anoncore.engines.column_coding import distinct_values
from anoncore.sources import large_table
from anoncore.sources.large_table import LargeTable

ROWS = [
    ("a", 1, 0.5),
    ("a", 1, 0.5),
    ("a", 2, 0.0),
    ("b", None, -0.0),
    ("b", None, 0.0),
    (None, 1, None),
    (None, None, None),
    (None, None, None),
]


@pytest.fixture
def table(tmp_path):
    columns = dict(zip(("value_1", "rows", "number"), map(list, zip(*ROWS, strict=True)), strict=True))
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    with closing(LargeTable(tmp_path / "people.parquet", tmp_path)) as opened:
        yield opened


def counted(found):
    """The combinations and their rows, with both zeros as one number."""
    lines = zip(*(column.to_pylist() for column in found.columns), strict=True)
    result = Counter()
    for *values, rows in lines:
        result[tuple(0.0 if value == 0 and isinstance(value, float) else value for value in values)] += rows
    return result


@pytest.mark.parametrize("scans", [(1,), (4,), (16,)])
def test_every_combination_is_counted_once_in_any_number_of_scans(table, monkeypatch, scans):
    monkeypatch.setattr(large_table, "SCANS", scans)
    found = table.joint(["value_1", "rows", "number"])
    # Columns that are called like those of the answer do not get into its way.
    assert found.column_names == ["value_0", "value_1", "value_2", "rows"]
    assert counted(found) == Counter(ROWS)
    assert len(counted(found)) == found.num_rows
    assert counted(distinct_values(table, "value_1", 3)) == {("a",): 3, ("b",): 2, (None,): 3}
    with pytest.raises(DataError, match="'value_1' has more than 2 different values"):
        distinct_values(table, "value_1", 2)


class Short:
    """A connection, and its only cursor, whose memory does not suffice for a count in fewer than so many scans."""

    def __init__(self, connection, scans):
        self.connection, self.scans, self.asked = connection, scans, []

    def cursor(self):
        return nullcontext(self)

    def execute(self, query):
        return self.connection.execute(query)

    def sql(self, query):
        self.asked.append(query)
        if f"% {self.scans} " not in query:
            raise duckdb.OutOfMemoryException("Out of Memory Error: could not allocate block")
        return self.connection.sql(query)

    def close(self):
        self.connection.close()


@pytest.mark.parametrize(("scans", "asked"), [(4, 1 + 4), (16, 1 + 1 + 16)])
def test_what_does_not_fit_is_counted_in_more_scans(table, scans, asked):
    table._connection = short = Short(table._connection, scans)
    assert counted(table.joint(["value_1", "rows"])) == Counter(row[:2] for row in ROWS)
    assert len(short.asked) == asked


def test_what_never_fits_is_said(table):
    table._connection = Short(table._connection, 64)
    with pytest.raises(DataError, match=r"'people\.parquet' takes more memory .* not at fault\. Leave out columns"):
        table.joint(["value_1"])


def test_what_never_fits_is_said_of_what_is_written_too(tmp_path):
    with pytest.raises(DataError, match=r"takes more memory .* Leave out columns"), writing(tmp_path):
        raise duckdb.OutOfMemoryException("Out of Memory Error: could not allocate block")
