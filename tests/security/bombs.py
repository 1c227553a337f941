"""Files that are made to take much memory or time, read as the dashboard reads them.

    python -m tests.security.bombs                 # all of them, as large as an attacker would make them
    python -m tests.security.bombs --size 0.1      # smaller ones
    python -m tests.security.bombs styles wide     # those whose names hold one of these words

Each one runs in a process of its own. A line per file says how long it took, how much memory, and what the reader said;
the program ends with 1 where one took more than 1.5 GB, or more seconds of a processor than a file of its size may.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

from anoncore.base.errors import AnonymizationError
from anoncore.sources.apart import read_table_apart, usual_limits

MOST_MEMORY = 1_500_000_000
STARTING = 3.0
"""Seconds of a processor of the one who asks, and until the process that reads is looked at."""
MB = 1 << 20
SPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
PLAIN_ROWS = '<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row><row r="2"><c r="A2"><v>1</v></c></row>'

Bomb = Callable[[float], bytes]


def workbook(**parts: str | bytes) -> bytes:
    """A workbook with some of its parts replaced; names are written `xl/styles.xml` as `xl__styles`."""
    content = io.BytesIO()
    openpyxl.Workbook().save(content)
    with zipfile.ZipFile(content) as file:
        members = {name: file.read(name) for name in file.namelist()}
    members["xl/worksheets/sheet1.xml"] = sheet(PLAIN_ROWS)
    for name, part in parts.items():
        path = {"types": "[Content_Types].xml", "rels": "xl/_rels/workbook.xml.rels"}.get(
            name, name.replace("__", "/") + ".xml"
        )
        if path == "xl/sharedStrings.xml" and path not in members:
            kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
            override = f'<Override PartName="/{path}" ContentType="{kind}"/></Types>'
            members["[Content_Types].xml"] = members["[Content_Types].xml"].replace(b"</Types>", override.encode())
        members[path] = part if isinstance(part, bytes) else part.encode()
    return archive(members)


def archive(members: dict[str, bytes]) -> bytes:
    """A zip of these members."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name, member in members.items():
            file.writestr(name, member)
    return content.getvalue()


def sheet(rows: str, before: str = "", after: str = "") -> bytes:
    """The XML of a sheet."""
    return f"<worksheet {SPACE}>{before}<sheetData>{rows}</sheetData>{after}</worksheet>".encode()


def styles(part: str, entry: str, times: float) -> bytes:
    """A workbook whose formats have very many entries of one part."""
    entries = entry * int(times)
    return workbook(xl__styles=f"<styleSheet {SPACE}><{part}>{entries}</{part}></styleSheet>")


def shared(entry: str, times: float) -> bytes:
    """A workbook with very many shared texts."""
    return workbook(xl__sharedStrings=f"<sst {SPACE}>{entry * int(times)}</sst>")


def parquet(columns: int, rows: int, **options: object) -> bytes:
    """A Parquet file of whole numbers, all of them 0."""
    content = io.BytesIO()
    column = pa.array([0]).take(pa.array([0] * rows))
    pq.write_table(pa.table({f"c{number}": column for number in range(columns)}), content, **options)
    return content.getvalue()


def one_text(letters: int, rows: int) -> bytes:
    """A Parquet file that shows one long text in every row."""
    content = io.BytesIO()
    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * letters]))
    pq.write_table(pa.table({"a": column}), content, use_dictionary=True)
    return content.getvalue()


def wide(columns: float, rows: int = 1, cell: str = "1", between: str = ",") -> bytes:
    """A text table of many columns."""
    header = between.join(f"c{number}" for number in range(int(columns)))
    line = between.join([cell] * int(columns))
    return "\n".join([header, *[line] * rows, ""]).encode()


def cells(text: str, times: float, rows: int = 1) -> bytes:
    """A text table with one long cell in every row."""
    return ("a,b\n" + f'"{text * int(times)}",1\n' * rows).encode()


TABLES: dict[str, Bomb] = {
    "wide 1,000,000": lambda s: wide(1e6 * s),
    "wide 600,000": lambda s: wide(6e5 * s),
    "wide 100,000": lambda s: wide(1e5 * s),
    "wide 10,000 of 5 rows": lambda s: wide(1e4 * s, 5),
    "wide 10,000 of 500 rows": lambda s: wide(1e4 * s, int(500 * s) + 1),
    "wide, semicolons": lambda s: wide(1e6 * s, between=";"),
    "wide, tabs": lambda s: wide(1e6 * s, between="\t"),
    "wide, packed": lambda s: gzip.compress(wide(3e6 * s)),
    "wide, UTF-16": lambda s: wide(5e5 * s).decode().encode("utf-16"),
    "commas alone": lambda s: b"," * int(9e6 * s),
    "commas, many lines": lambda s: (b"," * 1000 + b"\n") * int(9000 * s),
    "names of quotes": lambda s: b'"",' * int(3e6 * s) + b"\n1",
    "a name of 9 MB": lambda s: b"a" * int(9e6 * s) + b",b\n1,2\n",
    "a quoted name of lines": lambda s: b'"' + b"a\n" * int(4e6 * s) + b'",b\n1,2\n',
    "a quote that stays open": lambda s: b'a,b\n"' + b"1,2\n" * int(2e6 * s),
    "quotes alone": lambda s: b"a,b\n" + b'"' * int(9e6 * s),
    "blank lines": lambda s: b"\n" * int(2e7 * s) + b"a,b\n1,2\n",
    "lines of spaces": lambda s: b" \n" * int(1e7 * s) + b"a,b\n1,2\n",
    "line ends of all kinds": lambda s: b"\r\n\r\n\n\r" * int(2e6 * s) + b"a\n1\n",
    "zeros": lambda s: b"\0" * int(2e7 * s),
    "one column": lambda s: b"a\n" + b"1\n" * int(4e6 * s),
    "one column, packed": lambda s: gzip.compress(b"a\n" + b"1\n" * int(1e8 * s)),
    "zeros, packed": lambda s: gzip.compress(b"\0" * int(2e9 * s), 1),
    "packed twice": lambda s: gzip.compress(gzip.compress(b"a\n" + b"1\n" * int(1e8 * s))),
    "numbers of many digits": lambda s: cells("9", 1e6 * s, 4),
    "a number with dots": lambda s: cells("1.", 2e6 * s),
    "a date without end": lambda s: cells("2020-01-01 ", 1e6 * s),
    "spaces in cells": lambda s: cells(" ", 4e6 * s),
    "a long cell of a range": lambda s: cells("1-", 16_000 * s, 20),
    "distinct texts": lambda s: b"a\n" + "".join(f"x{n}\n" for n in range(int(1e6 * s))).encode(),
    "ragged rows": lambda s: b"a,b\n" + b"1,2\n" * int(1e6 * s) + b"1,2,3\n",
    "other letters": lambda s: b"a,b\n" + b"\xe4\xf6,\xfc\n" * int(1e6 * s),
    "random bytes": lambda s: bytes((n * 7919 >> 3) % 256 for n in range(int(2e6 * s))),
    "JSON of brackets": lambda s: b"[" * int(9e6 * s),
    "a sep line": lambda s: b"sep=;\n" * int(1e6 * s) + b"a;b\n1;2\n",
    "styles, formats": lambda s: styles("cellXfs", '<xf numFmtId="14" applyAlignment="1"><alignment/></xf>', 2e6 * s),
    "styles, fonts": lambda s: styles("fonts", '<font><b/><sz val="1"/><color rgb="FF000000"/></font>', 2e6 * s),
    "styles, numbers": lambda s: styles("numFmts", '<numFmt numFmtId="200" formatCode="yyyy"/>', 2e6 * s),
    "styles, borders": lambda s: styles("borders", "<border><left/><right/></border>", 2e6 * s),
    "styles, names": lambda s: styles("cellStyles", '<cellStyle name="a" xfId="0"/>', 2e6 * s),
    "shared texts": lambda s: shared("<si><t>x</t></si>", 4e6 * s),
    "shared texts, empty": lambda s: shared("<si/>", 2e7 * s),
    "shared texts, runs": lambda s: shared("<si>" + "<r><t>x</t></r>" * 1000 + "</si>", 5e3 * s),
    "a shared text": lambda s: shared(f"<si><t>{'x' * int(1e8 * s)}</t></si>", 1),
    "names of a workbook": lambda s: workbook(
        xl__workbook=f"<workbook {SPACE}><definedNames>" + "<definedName name='a'>A1</definedName>" * int(1e6 * s)
    ),
    "content types": lambda s: workbook(types="<Types>" + '<Default Extension="a" ContentType="b"/>' * int(2e6 * s)),
    "relations": lambda s: workbook(rels="<Relationships>" + '<Relationship Id="a"/>' * int(2e6 * s)),
    "properties": lambda s: workbook(docProps__core="<a>" + "<b/>" * int(2e7 * s) + "</a>"),
    "a theme": lambda s: workbook(xl__theme__theme1="<a>" + "<b/>" * int(2e7 * s) + "</a>"),
    "entities": lambda s: workbook(
        xl__sharedStrings='<!DOCTYPE sst [<!ENTITY e0 "xxxxxxxxxx">'
        + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
        + f"]><sst {SPACE}><si><t>&e9;</t></si></sst>"
    ),
    "deep tags": lambda s: workbook(xl__worksheets__sheet1=sheet("<a>" * int(3e6 * s))),
    "empty rows": lambda s: workbook(xl__worksheets__sheet1=sheet("<row/>" * int(2e7 * s) + PLAIN_ROWS)),
    "far cells": lambda s: workbook(
        xl__worksheets__sheet1=sheet(
            "".join(f'<row r="{n}"><c r="XFD{n}"><v>1</v></c></row>' for n in range(1, int(3e4 * s) + 3))
        )
    ),
    "a far row": lambda s: workbook(
        xl__worksheets__sheet1=sheet(PLAIN_ROWS + '<row r="1048576"><c><v>1</v></c></row>')
    ),
    "a row beyond all": lambda s: workbook(
        xl__worksheets__sheet1=sheet(PLAIN_ROWS + '<row r="2000000000"><c><v>1</v></c></row>')
    ),
    "a wide sheet": lambda s: workbook(
        xl__worksheets__sheet1=sheet(f"<row>{'<c><v>1</v></c>' * int(16_384 * s)}</row>" * 9)
    ),
    "many cells": lambda s: workbook(
        xl__worksheets__sheet1=sheet(f"<row>{'<c><v>1</v></c>' * 100}</row>" * int(1e5 * s))
    ),
    "merged cells": lambda s: workbook(
        xl__worksheets__sheet1=sheet(PLAIN_ROWS, after="<mergeCells>" + '<mergeCell ref="A1:B2"/>' * int(2e6 * s))
    ),
    "columns of a sheet": lambda s: workbook(
        xl__worksheets__sheet1=sheet(
            PLAIN_ROWS, before=f"<cols>{'<col min=' + chr(34) + '1' + chr(34) + '/>'}" * int(2e6 * s)
        )
    ),
    "many members": lambda s: archive({f"xl/{n}": b"" for n in range(int(1e5 * s))} | {"[Content_Types].xml": b"<a/>"}),
    "an archive of zeros": lambda s: archive({"xl/workbook.xml": b"\0" * int(1e9 * s)}),
    "Parquet, wide": lambda s: parquet(int(5e4 * s) + 1, 1),
    "Parquet, 9,000 columns": lambda s: parquet(int(9e3 * s) + 1, 1),
    "Parquet, one text": lambda s: one_text(int(1e5 * s) + 1, int(1e5 * s) + 1),
    "Parquet, zeros": lambda s: parquet(4, int(2e7 * s) + 1),
    "Parquet, row groups": lambda s: parquet(4, int(2e4 * s) + 1, row_group_size=1),
    "Parquet, cut": lambda s: parquet(4, 100)[: -int(20 * s) - 1],
}
"""What a visitor may upload as a table, by the share of its full size."""


def named(name: str) -> str:
    """A file name that fits the content."""
    return "bomb.parquet" if name.startswith("Parquet") else "bomb.csv"


def measure(name: str, path: Path) -> dict[str, object]:
    """Read one of them, in this process and the one that it starts: seconds, bytes, and what it says."""
    import resource

    content = path.read_bytes()
    begin, before = time.perf_counter(), _processor()
    try:
        frame = read_table_apart(content, named(name), max_bytes=200 * MB).frame
        said = f"read: {frame.shape[0]:,} rows, {frame.shape[1]:,} columns"
    except AnonymizationError as error:
        said = str(error)
    seconds, processor = time.perf_counter() - begin, _processor() - before
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return {"bytes": len(content), "seconds": seconds, "processor": processor, "memory": memory, "said": said}


def _processor() -> float:
    import resource

    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def main() -> int:
    """Measure the bombs and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="words of names; all of them without any")
    parser.add_argument("--size", type=float, default=1.0, help="share of the full size")
    parser.add_argument("--make", help=argparse.SUPPRESS)
    parser.add_argument("--read", help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.make:
        given.path.write_bytes(TABLES[given.make](given.size))
        return 0
    if given.read:
        print(json.dumps(measure(given.read, given.path)))
        return 0
    chosen = [name for name in TABLES if not given.words or any(word in name for word in given.words)]
    worst = 0
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            # What makes a file takes more memory than what reads it, and must not be counted.
            ours = [sys.executable, "-m", "tests.security.bombs", "--path", f"{folder}/bomb", "--size", str(given.size)]
            subprocess.run([*ours, "--make", name], check=True)
            found = json.loads(subprocess.run([*ours, "--read", name], capture_output=True, check=True).stdout)
        most = usual_limits(found["bytes"]).processor + STARTING
        is_bad = found["memory"] > MOST_MEMORY or found["processor"] > most
        worst |= is_bad
        print(
            f"{'BAD ' if is_bad else '    '}{name:26} {found['bytes'] / MB:8.2f} MB {found['seconds']:6.1f} s "
            f"{found['processor']:6.1f} s of processor {found['memory'] / 1e6:7.0f} MB  {found['said'][:150]}",
            flush=True,
        )
    return worst


if __name__ == "__main__":
    sys.exit(main())
