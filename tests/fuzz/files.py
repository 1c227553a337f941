"""Fuzzed table files: text in odd encodings, Parquet and Excel mutated by structure and by bytes."""

from __future__ import annotations

import datetime
import decimal
import gzip
import io
import zipfile
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from anoncore import Microdata
from anoncore.publishing.certification.strict_reading import read_strictly
from anoncore.publishing.export import write_tables
from anoncore.sources import TableSource, read_table
from anoncore.table.summary import summarize
from tests.fuzz.case import Case, RefutedError
from tests.fuzz.mutations import CELLS, NAMES, mutated_bytes

ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252", "latin-1", "shift_jis")
UPLOADS = (
    "table.csv",
    "../../etc/passwd",
    "C:\\x\\y.xlsx",
    "",
    "/",
    "t.parquet",
    "a\x00b.csv",
    "x.csv.gz",
    "..",
    "ü" * 300,
)
ROLES = ("identifier", "quasi-identifier", "sensitive", "insensitive")
KINDS = ("numeric", "ordinal", "nominal")
LIMIT = 4 << 20


def delimited(case: Case) -> None:
    """Text tables: every separator, quoting and encoding, ragged rows, huge cells, and bytes changed at random."""
    data = _text_table(case)
    if case.chance(0.4):
        data = mutated_bytes(case, data)
    if case.chance(0.1):
        data = gzip.compress(data, mtime=0)
        data = mutated_bytes(case, data, 2) if case.chance(0.3) else data
    _read(case, data)


def parquet(case: Case) -> None:
    """Parquet files of every type, as they are and with bytes changed."""
    data = _parquet_table(case)
    _read(case, mutated_bytes(case, data, 3) if case.chance(0.5) else data)


def excel(case: Case) -> None:
    """Workbooks with odd cells, and with a member or its bytes changed."""
    data = _workbook(case)
    if case.chance(0.5):
        data = _changed_member(case, data)
    elif case.chance(0.3):
        data = mutated_bytes(case, data, 3)
    _read(case, data)


def _read(case: Case, data: bytes) -> None:
    case.keep("file", data)
    options = {
        "name": case.pick(UPLOADS) if case.chance(0.3) else "table.csv",
        "sheet": case.pick((None, None, 0, 1, "a", -1, 10**9)) if case.chance(0.3) else None,
        "encoding": case.pick((*ENCODINGS, "no such", "base64", "rot13", "idna", "utf-7"))
        if case.chance(0.1)
        else None,
        "missing": case.pick(((), ("7",), ("", "x"))),
    }
    case.keep("options", options)
    check_table(case, read_table(data, max_bytes=LIMIT, **options))


def check_table(case: Case, source: TableSource) -> None:
    """What every table that was read keeps, and what the pages do with it next."""
    frame = source.frame
    names = list(frame.columns)
    if not len(frame) or not names or len(set(names)) < len(names) or not all(type(one) is str for one in names):
        raise RefutedError(f"a table of {frame.shape} with the columns {names[:9]}")
    for name in names:
        if frame[name].dtype.kind not in "ifM" and not isinstance(frame[name].dtype, pd.StringDtype):
            raise RefutedError(f"column {name!r} has the type {frame[name].dtype}")
    if "/" in source.name or "\\" in source.name:
        raise RefutedError(f"the name {source.name!r} is a path")
    summarize(frame)
    roles = {name: case.pick(ROLES) for name in names}
    kinds = {name: case.pick(KINDS) for name in names if case.chance(0.1)}
    if case.chance(0.05):
        format_ = case.pick(("csv", "parquet", "excel"))
        content = io.BytesIO()
        write_tables({"release": frame}, content, format_)
        (again,) = (one.table for one in read_strictly("release", content.getvalue())[0])
        if again.n_rows != len(frame):
            raise RefutedError(f"{format_} gives {again.n_rows} of {len(frame)} rows")
    Microdata(frame, case.keep("roles", roles), case.keep("kinds", kinds))


def _text_table(case: Case) -> bytes:
    separator = case.pick((",", ",", ";", "\t", "|", " ", ":"))
    end = case.pick(("\n", "\n", "\r\n", "\r", "\n\n"))
    width, height = case.random.randint(1, 6), case.random.randint(0, 30)
    pools = [case.random.sample(CELLS, case.random.randint(1, 5)) for _ in range(width)]
    rows = [[case.pick(NAMES) if case.chance(0.1) else f"c{place}" for place in range(width)]]
    rows += [[case.pick(pool) for pool in pools] for _ in range(height)]
    if case.chance(0.15) and len(rows) > 1:
        ragged = case.pick(rows)
        ragged[:] = ragged[:-1] if case.chance(0.5) else [*ragged, "more"]
    if case.chance(0.02):
        case.pick(rows)[:1] = ["y" * case.pick((131_071, 131_073, 1_100_000))]
    quoted = case.chance(0.8)
    lines = [separator.join(_quoted(cell, separator) if quoted else cell for cell in row) for row in rows]
    text = end.join(lines) + (end if case.chance(0.8) else "")
    if case.chance(0.05):
        text = f"sep={case.pick(',;|x')}{end}{text}"
    return text.encode(case.pick(ENCODINGS), errors="replace")


def _quoted(cell: str, separator: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in (separator, '"', "\n", "\r")) else cell


def _arrays(case: Case, n: int) -> pa.Array:
    """A column of one of Arrow's types, often with nulls, now and then with nothing else."""

    def some(values: Any, kind: pa.DataType) -> pa.Array:
        nulls = case.pick((0, 0, 0.3, 1))
        return pa.array([None if case.random.random() < nulls else case.pick(values) for _ in range(n)], kind)

    days = [datetime.date(1, 1, 1), datetime.date(2020, 2, 29), datetime.date(9999, 12, 31)]
    texts = [cell for cell in CELLS if "\ud800" not in cell]
    makers = (
        lambda: some(texts, pa.string()),
        lambda: some(texts, pa.large_string()),
        lambda: some(texts[:6], pa.string()).dictionary_encode(),
        lambda: some([1, 2, None], pa.int8()).dictionary_encode(),
        lambda: some([0, 1, -(2**63), 2**63 - 1, 2**53 + 1], pa.int64()),
        lambda: some([0, 2**64 - 1], pa.uint64()),
        lambda: some([0.0, -0.0, 1e308, float("nan"), float("inf"), 5e-324], pa.float64()),
        lambda: some([np.float16(1.5), np.float16(65504)], pa.float16()),
        lambda: some([decimal.Decimal("1.50"), decimal.Decimal("-" + "9" * 18)], pa.decimal128(38, 2)),
        lambda: some([decimal.Decimal(10) ** 60], pa.decimal256(76, 5)),
        lambda: some([True, False], pa.bool_()),
        lambda: some(days, pa.date32()),
        lambda: some(
            [0, 253402300799, -62135596800, 2**62, -(2**62)], pa.timestamp(case.pick(("s", "ms", "us", "ns")))
        ),
        lambda: some([0, 2**50], pa.timestamp("us", tz=case.pick(("UTC", "Europe/Berlin", "+05:30")))),
        lambda: some([0, 86_399], pa.time32("s")),
        lambda: some([0, 2**40], pa.duration("us")),
        lambda: some([b"abc", b"\xff\xfe", b""], pa.binary()),
        lambda: some([b"abcd"], pa.binary(4)),
        lambda: some([[1], [1, 2], []], pa.list_(pa.int64())),
        lambda: some([{"x": 1}], pa.struct([("x", pa.int64())])),
        lambda: some([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
        lambda: pa.nulls(n),
    )
    return case.pick(makers)()


def _parquet_table(case: Case) -> bytes:
    n = case.pick((0, 1, 2, 3, 20, 20, 20))
    width = case.random.randint(0 if case.chance(0.05) else 1, 5)
    arrays = [_arrays(case, n) for _ in range(width)]
    names = [case.pick(NAMES) if case.chance(0.2) else f"c{place}" for place in range(width)]
    if case.chance(0.05):
        names = ["__index_level_0__", *names][:width]
    content = io.BytesIO()
    table = pa.table(arrays, names=names)
    if case.chance(0.1) and width:
        table = table.replace_schema_metadata({b"pandas": case.pick((b"{", b'{"columns": 3}', b"\xff"))})
    try:
        pq.write_table(
            table,
            content,
            use_dictionary=case.chance(0.5),
            compression=case.pick(("none", "snappy", "gzip", "zstd")),
            row_group_size=case.pick((1, 7, 1000)) if n else None,
        )
    except pa.ArrowException:  # what Parquet itself cannot hold
        return content.getvalue()
    return content.getvalue()


def _workbook(case: Case) -> bytes:
    import openpyxl
    from openpyxl.utils.exceptions import IllegalCharacterError

    book = openpyxl.Workbook()
    sheet = book.active
    moments = (datetime.date(1900, 1, 1), datetime.datetime(9999, 12, 31, 23, 59), datetime.time(1, 2))
    values = (*CELLS, *moments, 1, 2.5, 1e300, -0.0, True, None, None, datetime.timedelta(days=-1))
    width = case.random.randint(1, 5)
    rows = [[case.pick((*NAMES, 3, None, True, *moments)) if case.chance(0.1) else f"c{i}" for i in range(width)]]
    rows += [[case.pick(values) for _ in range(width)] for _ in range(case.random.randint(0, 12))]
    for row in rows:
        try:
            sheet.append(row)
        except (IllegalCharacterError, ValueError):
            sheet.append(["x"])
    if case.chance(0.1):
        book.create_sheet(case.pick(("a", "b", "größe")))
    if case.chance(0.05):
        sheet.merge_cells("A1:B3")
    if case.chance(0.03):
        sheet["XFD9"] = 1
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _changed_member(case: Case, data: bytes) -> bytes:
    """The archive with one member changed, removed, emptied or doubled."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(changed, "w") as target:
        names = archive.namelist()
        chosen = case.pick([*names, *[name for name in names if "sheet1" in name or "workbook.xml" in name] * 3])
        kind = case.random.randrange(6)
        for name in names:
            content = archive.read(name)
            if name == chosen:
                if kind == 0:
                    continue
                content = b"" if kind == 1 else content
                if kind >= 2:
                    swaps = ((b'"n"', b'"d"'), (b"<v>", b"<v>1e"), (b"<v>", b"<v>x"), (b'r="', b'r="Z'), (b"t=", b"s="))
                    content = mutated_bytes(case, content, 3) if kind < 4 else content.replace(*case.pick(swaps))
            target.writestr(name, content)
    return changed.getvalue()
