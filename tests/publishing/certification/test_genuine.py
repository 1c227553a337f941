"""No file that we write is refused: every method, every format, awkward values; also with an earlier certificate."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, get_args

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from anoncore import AnonymizationError, Microdata, Release, ReleaseError
from anoncore.base.pandas_versions import TEXT
from anoncore.publishing import Certificate, certify, verify
from anoncore.publishing.export import FileFormat, archive_bytes, write_tables
from tests.properties.subjects import build, subjects
from tests.publishing.certification.smuggling import METHODS, released
from tests.publishing.certification.tables import KEY
from tests.publishing.certification.tables import certificate as made

FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)
ROLES = {"number": "quasi-identifier", "kind": "quasi-identifier", "hidden": "sensitive", "extra": "insensitive"}
AWKWARD = (
    "", " ", "=1+1", "'=1", "-5", "+x", "@", "\t", "a\rb", "a\nb", '"', ",", "'", "_x0041_", "\u2028", "é", "0", "007",
    "1.50", "1e5", "True", "NaN", "None", "#N/A", "2020-01-01", "{a, b}", "<b>", "&amp;", "  x  ", "\x00", "😀", "—",
)  # fmt: skip
EXTRAS: tuple[tuple[Any, ...], ...] = (
    AWKWARD,
    (0.1 + 0.2, 1 / 3, -0.0, 0.0, 1e140, 5e-324, 2.0**60, np.nan),
    (1, 2**53 + 1, -(10**17), 0),
    (True, False),
    (True, 1, 1.0, "1", "True"),
    (pd.Timestamp("2020-01-01"), pd.Timestamp("1850-05-05"), pd.Timestamp("2020-01-01 10:11:12.123456"), pd.NaT),
    (10**20, 5, float("inf"), None),
    (Decimal("1.10"), Decimal("-2.250"), Decimal("3"), Decimal("0.10"), None),
    (Decimal("1.1234567890123456789"), Decimal("1.1234567890123456788"), Decimal("12345678901234567890"), Decimal("0")),
    (Decimal("1E+16"), Decimal("-2E+20"), Decimal("1E+2"), Decimal("7E+30"), None),
    (None,),
)


def small_table(seed: int) -> Microdata:
    """Few people, each column of one of the awkward kinds."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(4, 14))

    def drawn(values: tuple[Any, ...]) -> list[Any]:
        return [values[place] for place in rng.integers(0, len(values), rows)]

    columns: dict[str, Any] = {
        "number": rng.integers(0, 6, rows) if rng.random() < 0.5 else rng.random(rows),
        "kind": pd.Series(drawn(AWKWARD[: int(rng.integers(2, 6))]), dtype=object),
        "hidden": pd.Series(drawn(("flu", "=cold", "gout", "")), dtype=object),
        "extra": pd.Series(drawn(EXTRAS[int(rng.integers(0, len(EXTRAS)))])),
    }
    return Microdata(pd.DataFrame(columns), roles=ROLES)


def earlier(certificate: Certificate) -> Certificate:
    """The certificate as it was written before it said how cells are written."""
    values = json.loads(certificate.dumps())
    values.pop("written", None)
    for table in values["tables"]:
        del table["written"]
    return Certificate.loads(json.dumps(values))


def failures(release: Release, format: FileFormat) -> list[str] | None:
    """What a verification of a release's own file finds wrong; None where the format cannot hold the release."""
    tables, content = release.tables(), io.BytesIO()
    try:
        write_tables(tables, content, format)
    except AnonymizationError:
        return None
    files = {"release": content.getvalue()}
    try:
        certificate = made(release, files=files, tables=tables)
    except ReleaseError as error:
        # An empty text is a value in the table, and no value to readers: what they count may be another level.
        if "what its readers count otherwise" not in str(error):
            raise
        return None
    unnamed = certificate.model_copy(update={"files": []})
    again = io.BytesIO()
    write_tables(release.tables(), again, format)
    found = [
        *verify(certificate, files, data=release.data, key=KEY).findings,
        *verify(unnamed, {"again": again.getvalue()}).findings,
        *verify(earlier(unnamed), files).findings,
    ]
    return [one.sentence for one in found if one.outcome == "fails"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=0))
@settings(max_examples=2, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 10**9))
def test_every_small_release_is_certified_and_verifies_in_every_format(
    name: str, parameters: dict[str, Any], seed: int
) -> None:
    try:
        release = build(name, dict(parameters)).anonymize(small_table(seed))
    except AnonymizationError:  # the table allows none
        return
    for format in FORMATS:
        assert failures(release, format) in (None, []), format


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("format", FORMATS)
def test_what_is_written_verifies(method: str, format: FileFormat) -> None:
    assert failures(released(method), format) == []


@pytest.mark.parametrize("extra", EXTRAS, ids=str)
def test_awkward_values_verify(extra: tuple[Any, ...]) -> None:
    values = pd.Series(extra * 3)
    frame = pd.DataFrame(
        {"number": range(len(values)), "kind": "a", "hidden": list("xyz") * len(extra), "extra": values}
    )
    release = build("mondrian", {}).anonymize(Microdata(frame, roles=ROLES))
    held = [failures(release, format) for format in FORMATS]
    assert held[0] == held[2] == []
    assert held[1] in (None, [])


DAYS = [date(2020, 1, 1), date(1850, 5, 5), None, date(2020, 1, 1)]
MOMENTS = [None if day is None else datetime(day.year, day.month, day.day, 10, 11, 12) for day in DAYS]
SPANS = [timedelta(days=1), timedelta(days=-2), None, timedelta(days=1)]
HOURS = [timedelta(hours=30), timedelta(minutes=-1), None, timedelta(days=1)]
TYPED = [
    *(
        pytest.param(pd.Series(MOMENTS, dtype=f"datetime64[{unit}]"), id=f"moments {unit}")
        for unit in ("s", "ms", "us")
    ),
    pytest.param(pd.Series(MOMENTS, dtype="datetime64[s]").dt.tz_localize("Europe/Vienna"), id="moments with a zone"),
    pytest.param(pd.Series([np.datetime64("2020-01-01", "s")] * 4, dtype=object), id="moments as objects"),
    pytest.param(pd.Series(MOMENTS, dtype="datetime64[s]").astype("category"), id="moments as categories"),
    *(pytest.param(pd.Series(spans, dtype="timedelta64[us]"), id=f"durations {spans[0]}") for spans in (SPANS, HOURS)),
    *(pytest.param(pd.Series(spans, dtype=object), id=f"durations as objects {spans[0]}") for spans in (SPANS, HOURS)),
    pytest.param(pd.Series([time(1)] * 4, dtype=pd.ArrowDtype(pa.time32("s"))), id="times of day"),
    pytest.param(
        pd.Series([*list("aab"), None], dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))), id="dict"
    ),
]
"""Columns in types that a file holds in another one."""
MISSING: list[Any] = [
    *(f"datetime64[{unit}]" for unit in ("s", "ms", "us", "ns")),
    *("datetime64[s, UTC]", "timedelta64[s]", "timedelta64[ns]", "Int8", "UInt64", "Float32", "boolean", "string"),
    *(TEXT, "category", "float64", "object"),
    *(pd.ArrowDtype(kind) for kind in (pa.date32(), pa.timestamp("ms"), pa.bool_(), pa.decimal128(5, 2), pa.null())),
]


def beside(extra: Any) -> pd.DataFrame:
    """Four people with a column that nobody protects."""
    return pd.DataFrame({"number": [1, 2, 3, 4], "kind": list("aabb"), "hidden": ["flu", "gout"] * 2, "extra": extra})


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("extra", TYPED)
def test_values_of_types_that_a_file_holds_in_another_type_verify(extra: pd.Series[Any], format: FileFormat) -> None:
    for name, parameters in (("mondrian", {}), ("vertical-fragmentation", {"k": 2, "enforce": "naive"})):
        release = build(name, parameters).anonymize(Microdata(beside(extra), roles=ROLES))
        assert failures(release, format) == []


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", MISSING, ids=str)
def test_a_column_that_is_missing_everywhere_verifies(kind: Any, format: FileFormat) -> None:
    extra = pd.Series([None] * 4, dtype=kind)
    for name, parameters in (("mondrian", {}), ("vertical-fragmentation", {"k": 2, "enforce": "naive"})):
        release = build(name, parameters).anonymize(Microdata(beside(extra), roles=ROLES))
        assert failures(release, format) == []


@pytest.mark.parametrize("library", ["arrow", "polars", "duckdb"])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("days", [DAYS, [None] * 4], ids=["days", "missing"])
def test_days_of_other_libraries_verify(library: str, format: FileFormat, days: list[Any]) -> None:
    table: Any = pa.Table.from_pandas(beside(None).drop(columns="extra"), preserve_index=False)
    table = table.append_column("extra", pa.array(days, pa.date32()))
    if library == "polars":
        table = pytest.importorskip("polars").from_arrow(table)
    elif library == "duckdb":
        table = pytest.importorskip("duckdb").from_arrow(table)
    release = build("mondrian", {}).anonymize(Microdata(table, roles=ROLES))
    assert failures(release, format) == []


def test_dates_that_are_all_missing_verify_in_fragments() -> None:
    release = build("vertical-fragmentation", {"k": 3, "enforce": "naive"}).anonymize(small_table(3983))
    tables = [table for table in release.tables().values() if "extra" in table]
    assert tables
    assert all(table["extra"].isna().all() and table["extra"].dtype.kind == "M" for table in tables)
    assert [failures(release, format) for format in FORMATS] == [[], [], []]


@pytest.mark.parametrize("method", METHODS)
def test_a_workbook_that_says_when_it_was_saved_is_refused(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of earlier versions do: times can spell anything."""

    def as_saved(parts: Iterable[tuple[str, bytes]]) -> bytes:
        return archive_bytes(
            (name, part.replace(b"1980-01-01T00:00:00Z", b"2026-05-06T07:08:09Z")) for name, part in parts
        )

    release, content = released(method), io.BytesIO()
    tables = release.tables()
    certificate = certify(release, KEY, tables=tables)
    with monkeypatch.context() as patched:
        patched.setattr("anoncore.publishing.export.archive_bytes", as_saved)
        write_tables(tables, content, "excel")
    assert b"2026" in zipfile.ZipFile(content).read("docProps/core.xml")
    (found,) = verify(earlier(certificate), {"release.xlsx": content.getvalue()}).of("fails")
    assert "docProps/core.xml" in found.sentence


@pytest.mark.slow
def test_a_large_release_verifies() -> None:
    rng = np.random.default_rng(3)
    rows = 70_000  # more than one batch of the Parquet reader, and more than one block of a text file
    # Cells are looked at value by value, and rows by all: few values are enough.
    frame = pd.DataFrame(
        {
            "number": rng.integers(0, 90, rows),
            "kind": rng.choice(list("abc"), rows),
            "extra": rng.choice(rng.random(4_000), rows),
        }
    )
    data = Microdata(frame, roles={"number": "quasi-identifier", "kind": "quasi-identifier", "extra": "insensitive"})
    release = build("mondrian", {}).anonymize(data)
    for format in FORMATS[:2]:
        assert failures(release, format) == []
