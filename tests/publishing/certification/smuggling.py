"""Ways to publish more than was certified, or something else, in every place that a format has.

A way changes the tables before they are written, or the file. Each says what a sentence of the verification must name.
"""

from __future__ import annotations

import io
import re
import struct
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from anoncore import Microdata, Release
from anoncore.publishing.export import archive_bytes, write_tables
from tests.properties.subjects import build

Tables = dict[str, pd.DataFrame]
ROLES = {
    "name": "identifier",
    "age": "quasi-identifier",
    "town": "quasi-identifier",
    "since": "quasi-identifier",
    "illness": "sensitive",
    "weight": "insensitive",
    "visits": "insensitive",
    "note": "insensitive",
}
METHODS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "generalization": ("mondrian", {}),
    "bucketization": ("anatomy", {"l": 2}),
    "slicing": ("slicing", {"l": 1.2, "sensitive_column_size": 1}),
    "fragments": ("vertical-fragmentation", {"k": 3}),
}
SECRET = "Anna Smith"


@cache
def people(n: int = 60) -> Microdata:
    """People with whole numbers, numbers of seventeen digits, dates, guarded texts and missing values."""
    rng = np.random.default_rng(16)
    frame = pd.DataFrame(
        {
            "name": [f"Person {number}" for number in range(n)],
            "age": rng.integers(20, 60, n),
            "town": rng.choice(["=A", "B, C", "007", "Bonn"], n),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D"),
            "illness": rng.choice(["flu", "cold", "gout", "+pox"], n),
            "weight": rng.random(n) * 100,
            "visits": rng.integers(1, 9, n),
            "note": rng.choice(["=1+1", "fine", None], n),
        }
    )
    return Microdata(frame, roles=ROLES)


@cache
def released(method: str) -> Release:
    """The people's release by a method."""
    name, parameters = METHODS[method]
    return build(name, dict(parameters)).anonymize(people())


def tables_of(method: str) -> Tables:
    """Copies of the published tables."""
    return {name: frame.copy() for name, frame in released(method).tables().items()}


def written(tables: Tables, format: str) -> bytes:
    """The tables as one file."""
    content = io.BytesIO()
    write_tables(tables, content, format)  # type: ignore[arg-type]
    return content.getvalue()


class DoesNotApplyError(Exception):
    """A release has nothing that the way could change."""


@dataclass(frozen=True)
class Way:
    """A way: its name, the formats it is for, what it changes, and what a failing sentence must say (a pattern)."""

    name: str
    formats: tuple[str, ...]
    says: str
    tables: Callable[[Tables], Tables] | None = None
    content: Callable[[bytes], bytes] | None = None

    def file(self, method: str, format: str) -> bytes:
        """The file of a release, changed in this way. Raises DoesNotApplyError where there is nothing to change."""
        return _changed_file(self, method, format)


@cache
def _changed_file(way: Way, method: str, format: str) -> bytes:
    content = unchanged(method, format) if way.tables is None else written(way.tables(tables_of(method)), format)
    return content if way.content is None else way.content(content)


@cache
def unchanged(method: str, format: str) -> bytes:
    """The file of a release as it is written."""
    return written(tables_of(method), format)


ALL = ("csv", "parquet", "excel")
WAYS: list[Way] = []


def on_tables(name: str, says: str, formats: tuple[str, ...] = ALL) -> Callable[[Callable[[Tables], Tables]], None]:
    def add(change: Callable[[Tables], Tables]) -> None:
        WAYS.append(Way(name, formats, says, tables=change))

    return add


def on_file(name: str, says: str, *formats: str) -> Callable[[Callable[[bytes], bytes]], None]:
    def add(change: Callable[[bytes], bytes]) -> None:
        WAYS.append(Way(name, formats, says, content=change))

    return add


def having(tables: Tables, column: str) -> str:
    """The first table that has a column."""
    found = next((name for name, frame in tables.items() if column in frame), None)
    if found is None:
        raise DoesNotApplyError
    return found


def replaced(tables: Tables, column: str, change: Callable[[pd.Series], Any]) -> Tables:
    """The tables with one column made anew."""
    name = having(tables, column)
    frame = tables[name]
    return tables | {name: frame.assign(**{column: change(frame[column])})}


def first_cell(value: Callable[[Any], Any]) -> Callable[[pd.Series], Any]:
    """Another value in the first row that has one."""

    def change(column: pd.Series) -> Any:
        cells = list(column)
        row = next(row for row, cell in enumerate(cells) if not pd.isna(cell))
        cells[row] = value(cells[row])
        return cells

    return change


# Changes of the tables, which every format can write.


@on_tables("a column of names before the others", "'name' besides the certified columns")
def _(tables: Tables) -> Tables:
    first = next(iter(tables))
    tables[first].insert(0, "name", SECRET)
    return tables


@on_tables("a column of names after the others", "'name' besides the certified columns")
def _(tables: Tables) -> Tables:
    last = list(tables)[-1]
    tables[last]["name"] = SECRET
    return tables


@on_tables("the exact ages beside the generalized ones", "'age ' besides the certified columns")
def _(tables: Tables) -> Tables:
    name = having(tables, "age")
    tables[name]["age "] = range(len(tables[name]))
    return tables


@on_tables("a column left out", "lacks '.*' of the certified columns")
def _(tables: Tables) -> Tables:
    first = next(iter(tables))
    return tables | {first: tables[first].iloc[:, :-1]}


@on_tables("columns in another order", "in another order than they were certified in")
def _(tables: Tables) -> Tables:
    first = next(iter(tables))
    return tables | {first: tables[first].iloc[:, ::-1]}


@on_tables("a column under another name", "No file has the table")
def _(tables: Tables) -> Tables:
    first = next(iter(tables))
    return tables | {first: tables[first].rename(columns={tables[first].columns[-1]: SECRET})}


@on_tables("a row twice", "has 61 rows, but 60 were certified")
def _(tables: Tables) -> Tables:
    first = next(iter(tables))
    return tables | {first: tables[first].iloc[[0, *range(len(tables[first]))]]}


@on_tables("a row left out", "has 59 rows, but 60 were certified")
def _(tables: Tables) -> Tables:
    last = list(tables)[-1]
    return tables | {last: tables[last].iloc[:-1]}


@on_tables("a row in place of another one", "values of .* were changed")
def _(tables: Tables) -> Tables:
    first = next(iter(tables))
    frame = tables[first]
    return tables | {first: frame.iloc[[0, *range(len(frame) - 1)]]}


@on_tables("rows in another order", "An order of rows can tell which of them belong to whom")
def _(tables: Tables) -> Tables:
    return {name: frame.sample(frac=1, random_state=3) for name, frame in tables.items()}


@on_tables("a value changed", "values of 'illness' were changed")
def _(tables: Tables) -> Tables:
    return replaced(tables, "illness", first_cell(lambda value: "cold" if value != "cold" else "flu"))


@on_tables("a new value", "values of 'illness' were changed")
def _(tables: Tables) -> Tables:
    return replaced(tables, "illness", first_cell(lambda _value: SECRET))


@on_tables("values exchanged between rows", "stand in other rows or groups|groups of the tables were exchanged")
def _(tables: Tables) -> Tables:
    return replaced(tables, "weight", lambda column: [column.iloc[-1], *column.iloc[1:-1], column.iloc[0]])


@on_tables("a space after a text", "values of 'illness' were changed")
def _(tables: Tables) -> Tables:
    return replaced(tables, "illness", first_cell(lambda value: f"{value} "))


@on_tables("a letter that looks the same", "values of 'illness' were changed")
def _(tables: Tables) -> Tables:
    return replaced(tables, "illness", lambda column: [value.replace("o", "\u043e") for value in column])


@on_tables("an unseen mark in a text", "values of 'illness' were changed")
def _(tables: Tables) -> Tables:
    return replaced(tables, "illness", first_cell(lambda value: f"{value}\u200b"))


@on_tables("the last digit of a number", "values of 'weight' (are written otherwise|were changed)", ("csv", "parquet"))
def _(tables: Tables) -> Tables:
    return replaced(tables, "weight", first_cell(lambda value: np.nextafter(value, 1e9)))


@on_tables("the last digits of a number", "values of 'weight' (are written otherwise|were changed)")
def _(tables: Tables) -> Tables:
    # A workbook holds 16 digits: less would leave numbers that begin with 1 as they are.
    return replaced(tables, "weight", first_cell(lambda value: value * (1 + 2e-15)))


@on_tables("numbers rounded", "values of 'weight' were changed")
def _(tables: Tables) -> Tables:
    return replaced(tables, "weight", lambda column: column.round(6))


@on_tables("whole numbers as fractions", "values of 'visits' are written otherwise", ("csv", "parquet"))
def _(tables: Tables) -> Tables:
    return replaced(tables, "visits", lambda column: column.astype(float))


@on_tables("numbers as texts", "values of 'visits' are written otherwise", ("parquet", "excel"))
def _(tables: Tables) -> Tables:
    return replaced(tables, "visits", lambda column: column.astype(str))


@on_tables("one number as text", "values of 'visits' are written otherwise", ("excel",))
def _(tables: Tables) -> Tables:
    return replaced(tables, "visits", lambda column: pd.Series([str(column.iloc[0]), *column.iloc[1:]], dtype=object))


@on_tables("True for 1", "values of 'visits' were changed")
def _(tables: Tables) -> Tables:
    if not (tables[having(tables, "visits")]["visits"] == 1).any():
        raise DoesNotApplyError
    return replaced(tables, "visits", lambda column: [str(True) if value == 1 else str(value) for value in column])


@on_tables("a narrower type", "values of 'visits' are written otherwise", ("parquet",))
def _(tables: Tables) -> Tables:
    return replaced(tables, "visits", lambda column: column.astype("int16"))


@on_tables("a word for a missing value", "values of 'note' were changed")
def _(tables: Tables) -> Tables:
    return replaced(tables, "note", lambda column: column.astype(object).where(column.notna(), "missing"))


@on_tables("empty texts for missing values", "values of 'note' are written otherwise", ("parquet", "excel"))
def _(tables: Tables) -> Tables:
    return replaced(tables, "note", lambda column: column.astype(object).where(column.notna(), ""))


@on_tables("missing for a value", "values of 'illness' were changed")
def _(tables: Tables) -> Tables:
    return replaced(tables, "illness", first_cell(lambda _value: None))


@on_tables("one more guard", "values of 'note' are written otherwise")
def _(tables: Tables) -> Tables:
    return replaced(tables, "note", lambda column: ["'=1+1" if value == "=1+1" else value for value in column])


@on_tables("times on dates", "values of 'since' (were changed|are written otherwise)")
def _(tables: Tables) -> Tables:
    column = tables[having(tables, "since")]["since"]
    if not pd.api.types.is_datetime64_any_dtype(column):
        raise DoesNotApplyError
    return replaced(tables, "since", lambda column: [*column.iloc[:-1], column.iloc[-1] + pd.Timedelta(seconds=7)])


@on_tables("microseconds on dates", "values of 'since' were changed", ("csv", "parquet"))
def _(tables: Tables) -> Tables:
    column = tables[having(tables, "since")]["since"]
    if not pd.api.types.is_datetime64_any_dtype(column):
        raise DoesNotApplyError
    return replaced(tables, "since", lambda column: [*column.iloc[:-1], column.iloc[-1] + pd.Timedelta(microseconds=7)])


@on_tables("dates as texts", "values of 'since' are written otherwise", ("parquet", "excel"))
def _(tables: Tables) -> Tables:
    column = tables[having(tables, "since")]["since"]
    if not pd.api.types.is_datetime64_any_dtype(column):
        raise DoesNotApplyError
    return replaced(tables, "since", lambda column: column.dt.strftime("%Y-%m-%d"))


@on_tables("groups called by people", r"'group' holds .*Anna Smith")
def _(tables: Tables) -> Tables:
    having(tables, "group")
    return {name: frame.assign(group=frame["group"].map("{:04d} ".format) + SECRET) for name, frame in tables.items()}


@on_tables("groups numbered with gaps", r"'group' holds '1\d+', but its \d+ groups|numbered from 0 to")
def _(tables: Tables) -> Tables:
    having(tables, "group")
    return {name: frame.assign(group=frame["group"] * 10) for name, frame in tables.items()}


@on_tables("groups exchanged between tables", "groups of the tables were exchanged|The groups of|stand in other rows")
def _(tables: Tables) -> Tables:
    having(tables, "group")
    last = list(tables)[-1]
    frame = tables[last]
    sizes = frame["group"].value_counts()
    pair = next(
        (a, b)
        for a in sizes.index
        for b in sizes.index
        if a < b and sizes[a] == sizes[b] and content(frame, a) != content(frame, b)
    )
    other = frame.assign(group=frame["group"].replace({pair[0]: pair[1], pair[1]: pair[0]}))
    return tables | {last: other.sort_values("group", kind="stable")}


def content(frame: pd.DataFrame, group: int) -> list[Any]:
    return frame[frame["group"] == group].drop(columns="group").astype(str).to_numpy().tolist()


@on_tables("one more table", "which is not certified")
def _(tables: Tables) -> Tables:
    return tables | {"more": pd.DataFrame({"who": [SECRET]})}


@on_tables("a table twice", "'(again|again.*)'")
def _(tables: Tables) -> Tables:
    return tables | {"again": next(iter(tables.values()))}


@on_tables("a name as a table's name", "Anna Smith.* should have the name|'Anna Smith")
def _(tables: Tables) -> Tables:
    if len(tables) < 2:
        raise DoesNotApplyError
    first, *rest = tables
    return {SECRET: tables[first], **{name: tables[name] for name in rest}}


# Places of a CSV.


def on_text(name: str, says: str) -> Callable[[Callable[[bytes], bytes]], None]:
    """A change of a CSV; of the first one in a zip."""

    def add(change: Callable[[bytes], bytes]) -> None:
        on_file(name, says, "csv")(lambda content: in_first_member(content, change))

    return add


def in_first_member(content: bytes, change: Callable[[bytes], bytes]) -> bytes:
    if not content.startswith(b"PK"):
        return change(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    return archive_bytes([(members[0][0], change(members[0][1])), *members[1:]])


def lines_of(content: bytes) -> list[bytes]:
    return content.split(b"\r\n")


def with_line(content: bytes, number: int, change: Callable[[bytes], bytes]) -> bytes:
    lines = lines_of(content)
    lines[number] = change(lines[number])
    return b"\r\n".join(lines)


@on_text("a byte order mark", "begins with a byte order mark")
def _(content: bytes) -> bytes:
    return b"\xef\xbb\xbf" + content


@on_text("a second column of the same name", "more than one column called")
def _(content: bytes) -> bytes:
    header, *rows, end = lines_of(content)
    name = header.split(b",")[-1]
    return b"\r\n".join([name + b"," + header, *(b"%d,%s" % (place, row) for place, row in enumerate(rows)), end])


@on_text("one cell more in a row", "line 3 has .* cells, the last of them 'Anna Smith'")
def _(content: bytes) -> bytes:
    return with_line(content, 2, lambda line: line + b"," + SECRET.encode())


@on_text("one cell less in a row", "line 3 has .* cells, but the header has")
def _(content: bytes) -> bytes:
    return with_line(content, 2, lambda line: line[: line.rindex(b",")])


@on_text("a line after the table", "(line 62 has 1 cell|goes on after the table, on line 62).*")
def _(content: bytes) -> bytes:
    return content + SECRET.encode()


@on_text("a comment before the table", "# Anna Smith|line 2 has")
def _(content: bytes) -> bytes:
    return b"# " + SECRET.encode() + b"\r\n" + content


@on_text("blank lines in the table", "line 3 is ''")
def _(content: bytes) -> bytes:
    return with_line(content, 2, lambda line: b"\r\n" + line)


@on_text("blank lines after the table", "goes on after the table, on line 62")
def _(content: bytes) -> bytes:
    return content + b"\r\n\r\n"


@on_text("quotes that no cell needs", "line 2 is .*, where its cells are written")
def _(content: bytes) -> bytes:
    def quoted(line: bytes) -> bytes:
        before, _, last = line.rpartition(b",")
        return before + b',"' + last.strip(b'"') + b'"'

    return with_line(content, 1, quoted)


@on_text("spaces after the last cell", "values of .* (were changed|are written otherwise)")
def _(content: bytes) -> bytes:
    return with_line(content, 1, lambda line: line + b"   ")


@on_text("another line end in one line", "line 2 is")
def _(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n", 2).replace(b"\n", b"\r\n", 1)


@on_text("a zero byte at the end", "(line 62 has 1 cell|goes on after the table, on line 62)")
def _(content: bytes) -> bytes:
    return content + b"\0"


@on_text("the header again below the table", "has 61 rows, but 60 were certified")
def _(content: bytes) -> bytes:
    return content + lines_of(content)[0] + b"\r\n"


@on_text("the guard taken away", "values of .* are written otherwise.* guard")
def _(content: bytes) -> bytes:
    if b",'=" not in content:
        raise DoesNotApplyError
    return content.replace(b",'=", b",=")


@on_text("digits beyond those of a number", "values of .* are written otherwise")
def _(content: bytes) -> bytes:
    changed = re.sub(rb"(?<=,)(\d+\.\d+)(?=,|\r)", rb"\g<1>0", content, count=1)
    if changed == content:
        raise DoesNotApplyError
    return changed


@on_text("semicolons between the cells", "No file has the table")
def _(content: bytes) -> bytes:
    return content.replace(b",", b";")


@on_text("UTF-16", "damaged or is no table")
def _(content: bytes) -> bytes:
    return content.decode().encode("utf-16")


@on_text("a quote that is never closed", "line|damaged")
def _(content: bytes) -> bytes:
    return content + b'"' + SECRET.encode()


# Places of a zip.


def on_zip(name: str, says: str, formats: tuple[str, ...] = ALL) -> Callable[[Callable[[bytes], bytes]], None]:
    """A change of a zip; a workbook is one too."""

    def add(change: Callable[[bytes], bytes]) -> None:
        def changed(content: bytes) -> bytes:
            if not content.startswith(b"PK"):
                raise DoesNotApplyError
            return change(content)

        on_file(name, says, *formats)(changed)

    return add


def repacked(
    content: bytes, change: Callable[[zipfile.ZipInfo], None], more: tuple[tuple[str, bytes], ...] = ()
) -> bytes:
    """The same zip with changed entries, and members added as ours are."""
    again = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(again, "w", zipfile.ZIP_DEFLATED) as file:
        for member in archive.infolist():
            unpacked = archive.read(member)
            change(member)
            file.writestr(member, unpacked)
        for name, unpacked in more:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = 0o644 << 16
            file.writestr(info, unpacked)
    return again.getvalue()


def nothing(_member: zipfile.ZipInfo) -> None:
    """Leave an entry as it is."""


@on_zip("a readme in the zip", "README.txt")
def _(content: bytes) -> bytes:
    return repacked(content, nothing, (("README.txt", SECRET.encode()),))


@on_zip("an empty member with a telling name", "Anna Smith")
def _(content: bytes) -> bytes:
    return repacked(content, nothing, ((SECRET, b""),))


@on_zip("a comment of the zip", "holds a comment: 'Anna Smith'")
def _(content: bytes) -> bytes:
    return content[:-2] + struct.pack("<H", len(SECRET)) + SECRET.encode()


@on_zip("a comment of a member", "holds a comment of its member .*Anna Smith")
def _(content: bytes) -> bytes:
    return repacked(content, lambda member: setattr(member, "comment", SECRET.encode()))


@on_zip("an extra field of a member", "holds an extra field of its member")
def _(content: bytes) -> bytes:
    field = struct.pack("<HH", 0x7777, len(SECRET)) + SECRET.encode()
    return repacked(content, lambda member: setattr(member, "extra", field))


@on_zip("an extra field that only the member's own header has", "is not packed as it is written")
def _(content: bytes) -> bytes:
    changed = repacked(content, lambda member: setattr(member, "extra", struct.pack("<HH", 0x7777, 4) + b"Anna"))
    with zipfile.ZipFile(io.BytesIO(changed)) as archive:
        names = [member.filename.encode() for member in archive.infolist()]
    at = changed.index(b"PK\x01\x02")
    directory = changed[at:-22]
    for name in names:
        directory = directory.replace(name + struct.pack("<HH", 0x7777, 4) + b"Anna", name)
    entries = directory.split(b"PK\x01\x02")[1:]
    directory = b"".join(b"PK\x01\x02" + one[:26] + b"\0\0" + one[28:] for one in entries)
    end = changed[-22:]
    return changed[:at] + directory + end[:12] + struct.pack("<I", len(directory)) + end[16:]


@on_zip("bytes before the zip", "bytes before its first member|damaged|is no table")
def _(content: bytes) -> bytes:
    return SECRET.encode() + content


@on_zip("a whole zip before the zip", "bytes before its first member")
def _(content: bytes) -> bytes:
    return archive_bytes([("hidden", SECRET.encode())]) + content


@on_zip("bytes after the zip", "damaged|packed|comment")
def _(content: bytes) -> bytes:
    return content + SECRET.encode()


@on_zip("a member of a name twice", "holds the member .* 2 times")
def _(content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        first = archive.namelist()[0]
        unpacked = archive.read(first)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Duplicate name")
        return repacked(content, nothing, ((first, unpacked),))


@on_zip("a member in a folder", "whose name leads to a folder", ("csv", "parquet"))
def _(content: bytes) -> bytes:
    return repacked(content, lambda member: setattr(member, "filename", f"{SECRET}/{member.filename}"))


@on_zip("an empty folder with a telling name", "Anna Smith/")
def _(content: bytes) -> bytes:
    return repacked(content, nothing, ((f"{SECRET}/", b""),))


@on_zip("a member with its time", "says when its member .* was made", ("csv", "parquet"))
def _(content: bytes) -> bytes:
    return repacked(content, lambda member: setattr(member, "date_time", (2026, 1, 2, 3, 4, 6)))


@on_zip("a member with rights of its own", "with attributes of its own")
def _(content: bytes) -> bytes:
    return repacked(content, lambda member: setattr(member, "external_attr", 0o4711 << 16))


@on_zip("members that are not compressed", "is not packed as it is written")
def _(content: bytes) -> bytes:
    return repacked(content, lambda member: setattr(member, "compress_type", zipfile.ZIP_STORED))


@on_zip("bytes between members and directory", "is not packed as it is written")
def _(content: bytes) -> bytes:
    at = struct.unpack("<I", content[-6:-2])[0]
    return content[:at] + SECRET.encode() + content[at:-6] + struct.pack("<I", at + len(SECRET)) + content[-2:]


@on_zip("an archive in the archive", "archive inside an archive|hidden.zip")
def _(content: bytes) -> bytes:
    return repacked(content, nothing, (("hidden.zip", archive_bytes([("x", SECRET.encode())])),))


@on_zip("a hidden member that the directory does not name", "is not packed as it is written")
def _(content: bytes) -> bytes:
    hidden = archive_bytes([("hidden", SECRET.encode())])
    hidden = hidden[: hidden.index(b"PK\x01\x02")]
    at = struct.unpack("<I", content[-6:-2])[0]
    return content[:at] + hidden + content[at:-6] + struct.pack("<I", at + len(hidden)) + content[-2:]


# Places of a Parquet file.


def on_parquet(name: str, says: str) -> Callable[[Callable[[pa.Table], bytes | pa.Table]], None]:
    """A change of a Parquet file, or of its table, which is written as ours are; of the first one in a zip."""

    def add(change: Callable[[pa.Table], bytes | pa.Table]) -> None:
        def changed(content: bytes) -> bytes:
            made = change(pq.read_table(io.BytesIO(content)))
            return made if isinstance(made, bytes) else parquet(made)

        on_file(name, says, "parquet")(lambda content: in_first_member(content, changed))

    return add


def parquet(table: pa.Table, **options: Any) -> bytes:
    content = io.BytesIO()
    pq.write_table(table, content, **options)
    return content.getvalue()


@on_parquet("metadata of the file", "holds metadata 'people': 'Anna Smith'")
def _(table: pa.Table) -> pa.Table:
    return table.replace_schema_metadata({"people": SECRET})


@on_parquet("metadata of pandas", "holds metadata 'pandas'")
def _(table: pa.Table) -> bytes:
    content = io.BytesIO()
    table.to_pandas().rename_axis(SECRET).to_parquet(content)
    return content.getvalue()


@on_parquet("metadata of a column", "holds metadata of the column '.*', 'people': 'Anna Smith'")
def _(table: pa.Table) -> pa.Table:
    return table.cast(pa.schema([*list(table.schema)[:-1], table.schema[-1].with_metadata({"people": SECRET})]))


@on_parquet("a second column of the same name", "more than one column called")
def _(table: pa.Table) -> pa.Table:
    return table.append_column(table.column_names[-1], pa.array([SECRET] * table.num_rows))


@on_parquet("values of a dictionary that no row has", "values of .* are written otherwise|is not written as")
def _(table: pa.Table) -> pa.Table:
    column = table.column(table.num_columns - 1).combine_chunks().cast(pa.string())
    encoded = column.dictionary_encode()
    more = pa.concat_arrays([encoded.dictionary, pa.array([SECRET])])
    return table.set_column(
        table.num_columns - 1, table.column_names[-1], pa.DictionaryArray.from_arrays(encoded.indices, more)
    )


@on_parquet("another maker", "names as its maker|is not written as|damaged")
def _(table: pa.Table) -> bytes:
    return parquet(table).replace(b"parquet-cpp-arrow", b"parquet-Anna-S-me")


@on_parquet("smallest and largest values that no row has", "is not written as this table is")
def _(table: pa.Table) -> bytes:
    if "visits" not in table.column_names:
        raise DoesNotApplyError
    content = parquet(table)
    least = struct.pack("<q", min(table.column("visits").to_pylist()))
    at = content.rindex(least)
    return content[:at] + b"\0" * 8 + content[at + 8 :]


@on_parquet("no statistics", "is not written as this table is")
def _(table: pa.Table) -> bytes:
    return parquet(table, write_statistics=False)


@on_parquet("another compression", "is not written as this table is")
def _(table: pa.Table) -> bytes:
    return parquet(table, compression="gzip")


@on_parquet("rows in several groups of the file", "has its rows in groups of other sizes")
def _(table: pa.Table) -> bytes:
    return parquet(table, row_group_size=7)


@on_parquet("bytes that belong to no column", "is not written as this table is")
def _(table: pa.Table) -> bytes:
    content = parquet(table)
    length = struct.unpack("<I", content[-8:-4])[0]
    return content[: -8 - length] + SECRET.encode() + content[-8 - length :]


@on_parquet("zero below zero", "values of 'weight' .*")
def _(table: pa.Table) -> pa.Table:
    if "weight" not in table.column_names:
        raise DoesNotApplyError
    place = table.column_names.index("weight")
    return table.set_column(place, "weight", pa.array([-0.0, *table.column("weight").to_pylist()[1:]]))


@on_parquet("no number for a missing value", "values of .* (were changed|are written otherwise)")
def _(table: pa.Table) -> pa.Table:
    if "weight" not in table.column_names:
        raise DoesNotApplyError
    place = table.column_names.index("weight")
    return table.set_column(place, "weight", pa.array([float("nan"), *table.column("weight").to_pylist()[1:]]))


@on_parquet("an encrypted-looking end", "damaged")
def _(table: pa.Table) -> bytes:
    return parquet(table)[:-4] + b"PARE"


# Places of a workbook.


def on_parts(name: str, says: str) -> Callable[[Callable[[dict[str, bytes]], None]], None]:
    """A change of a workbook's parts, which are packed as ours are."""

    def add(change: Callable[[dict[str, bytes]], None]) -> None:
        def changed(content: bytes) -> bytes:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                parts = {name: archive.read(name) for name in archive.namelist()}
            before = dict(parts)
            change(parts)
            assert parts != before, "nothing was changed"
            return archive_bytes(parts.items())

        on_file(name, says, "excel")(changed)

    return add


SHEET, BOOK = "xl/worksheets/sheet1.xml", "xl/workbook.xml"


def in_part(name: str, says: str, part: str, old: bytes, new: bytes) -> None:
    """The first occurrence of something in a part becomes something else."""

    @on_parts(name, says)
    def _(parts: dict[str, bytes]) -> None:
        if old not in parts[part]:
            raise DoesNotApplyError
        parts[part] = parts[part].replace(old, new, 1)


def more_part(name: str, says: str, part: str) -> None:
    @on_parts(name, says)
    def _(parts: dict[str, bytes]) -> None:
        parts[part] = f"<x>{SECRET}</x>".encode()


NAME = SECRET.encode()
INLINE = b'<c r="%s" t="inlineStr"><is><t>' + NAME + b"</t></is></c>"
in_part(
    "a cell beside the table",
    r"cell Z3 stands beside the table.*Z3",
    SHEET,
    b'</row><row r="4">',
    INLINE % b"Z3" + b'</row><row r="4">',
)
in_part(
    "a name beside the header",
    "cell Z1 stands beside the table",
    SHEET,
    b'</row><row r="2">',
    INLINE % b"Z1" + b'</row><row r="2">',
)
in_part(
    "a cell below the table",
    r"61|row 62",
    SHEET,
    b"</sheetData>",
    b'<row r="62">' + INLINE % b"A62" + b"</row></sheetData>",
)
in_part(
    "a cell far below the table",
    "holds something else than rows|row 62 is not written",
    SHEET,
    b"</sheetData>",
    b'<row r="900">' + INLINE % b"A900" + b"</row></sheetData>",
)
in_part("a cell twice", "cell A2 stands again", SHEET, b'<row r="2">', b'<row r="2">' + INLINE % b"A2")
in_part("a hidden row", "row 3 is not written as rows are", SHEET, b'<row r="3">', b'<row r="3" hidden="1">')
in_part("a row's own height", "row 3 is not written as rows are", SHEET, b'<row r="3">', b'<row r="3" ht="21">')
in_part(
    "a hidden column",
    "does not begin as a sheet is written",
    SHEET,
    b"<sheetData>",
    b'<cols><col min="1" max="1" hidden="1" /></cols><sheetData>',
)
in_part(
    "a page's header and footer",
    "holds something else below its cells.*Anna",
    SHEET,
    b"</worksheet>",
    b"<headerFooter><oddHeader>" + NAME + b"</oddHeader></headerFooter></worksheet>",
)
in_part(
    "a list of allowed values",
    "holds something else below its cells.*Anna",
    SHEET,
    b"<pageMargins",
    b'<dataValidations><dataValidation type="list"><formula1>"'
    + NAME
    + b'"</formula1></dataValidation></dataValidations><pageMargins',
)
in_part(
    "a hyperlink",
    "holds something else below its cells",
    SHEET,
    b"<pageMargins",
    b'<hyperlinks><hyperlink ref="A1" tooltip="' + NAME + b'" /></hyperlinks><pageMargins',
)
in_part(
    "a conditional format",
    "holds something else below its cells",
    SHEET,
    b"<pageMargins",
    b'<conditionalFormatting sqref="A1"><cfRule><formula>"x"</formula></cfRule></conditionalFormatting><pageMargins',
)
in_part(
    "merged cells",
    "holds something else below its cells",
    SHEET,
    b"<pageMargins",
    b'<mergeCells><mergeCell ref="A1:B2" /></mergeCells><pageMargins',
)
in_part(
    "a filter",
    "holds something else below its cells",
    SHEET,
    b"<pageMargins",
    b'<autoFilter ref="A1:B2" /><pageMargins',
)
in_part(
    "a drawing of a sheet",
    "holds something else below its cells",
    SHEET,
    b"</worksheet>",
    b'<drawing r:id="rId1" /></worksheet>',
)
in_part(
    "a remark in a sheet's XML",
    "holds something else",
    SHEET,
    b"</row></sheetData>",
    b"</row><!--" + NAME + b"--></sheetData>",
)
in_part(
    "a remark in a cell",
    "is not written as such a cell is",
    SHEET,
    b"</t></is></c></row>",
    b"</t><!--" + NAME + b"--></is></c></row>",
)
in_part("an instruction in a sheet's XML", "does not begin", SHEET, b"<worksheet", b"<?who " + NAME + b"?><worksheet")
in_part(
    "text after a sheet's XML", "holds something else below its cells", SHEET, b"</worksheet>", b"</worksheet>" + NAME
)
in_part("runs of rich text", "is not written as such a cell is", SHEET, b"<is><t>", b"<is><r><t>x</t></r><t>")
in_part(
    "a reading aid of a text",
    "is not written as such a cell is.*rPh|rPh",
    SHEET,
    b"</t></is>",
    b'</t><rPh sb="0" eb="1"><t>' + NAME + b"</t></rPh></is>",
)
in_part(
    "a formula",
    "is not written as such a cell is|something else than cells",
    SHEET,
    b"<v>",
    b'<f>"' + NAME + b'"</f><v>',
)
in_part("a number with a spare digit", "is not written as such a cell is", SHEET, b"</v>", b".0</v>")
in_part("a space beside a number", "is not written as such a cell is", SHEET, b"</v>", b" </v>")
in_part(
    "a style of a cell",
    "something else than cells|is not written|are written otherwise|were changed",
    SHEET,
    b'<c r="A2" t',
    b'<c r="A2" s="7" t',
)
in_part("a character by its number", "is not written as such a cell is", SHEET, b"</t></is>", b"&#32;</t></is>")
in_part("a space in a tag", "something else than cells", SHEET, b'<c r="A2" ', b'<c  r="A2" ')


@on_parts("text escaped without need", "is called '_x00")
def _(parts: dict[str, bytes]) -> None:
    letter = re.search(rb"<t>([a-z])", parts[SHEET])
    if letter is None:
        raise DoesNotApplyError
    at = letter.start(1)
    escaped = b"_x%04X_" % parts[SHEET][at]
    parts[SHEET] = parts[SHEET][:at] + escaped + parts[SHEET][at + 1 :]


in_part("the guard taken away", "values of .* are written otherwise.*guard", SHEET, b"<t>'=", b"<t>=")
in_part(
    "a defined name",
    r"workbook.xml' \(sheets.*Anna",
    BOOK,
    b"<definedNames />",
    b'<definedNames><definedName name="x">"' + NAME + b'"</definedName></definedNames>',
)
in_part("a hidden state of a sheet", r"workbook.xml' \(sheets.*hidden", BOOK, b'state="visible"', b'state="hidden"')
in_part(
    "a very hidden state of a sheet",
    r"workbook.xml' \(sheets.*veryHidden",
    BOOK,
    b'state="visible"',
    b'state="veryHidden"',
)
in_part(
    "the title of the document",
    r"core.xml' \(properties of the document\).*Anna",
    "docProps/core.xml",
    b"<dc:creator>",
    b"<dc:title>" + NAME + b"</dc:title><dc:creator>",
)
in_part("another creator", r"core.xml' \(properties of the document\)", "docProps/core.xml", b"anoncore", NAME)
in_part(
    "the company of the document",
    r"app.xml' \(properties of the document\).*Anna",
    "docProps/app.xml",
    b"<AppVersion>",
    b"<Company>" + NAME + b"</Company><AppVersion>",
)
in_part(
    "a format with text",
    r"styles.xml' \(formats of cells",
    "xl/styles.xml",
    b"<fonts",
    b'<numFmts count="1"><numFmt numFmtId="190" formatCode="&quot;' + NAME + b'&quot;" /></numFmts><fonts',
)
in_part(
    "the name of a style", r"styles.xml' \(formats of cells", "xl/styles.xml", b'name="Normal"', b'name="' + NAME + b'"'
)
in_part(
    "the name of the theme",
    r"theme1.xml' \(names of colours",
    "xl/theme/theme1.xml",
    b'name="Office Theme"',
    b'name="' + NAME + b'"',
)
in_part(
    "a link in the relations",
    "workbook.xml.rels'",
    "xl/_rels/workbook.xml.rels",
    b"</Relationships>",
    b'<Relationship Id="r9" Target="' + NAME + b'" Type="x" /></Relationships>',
)
in_part(
    "a type of a part that is not there",
    "Content_Types",
    "[Content_Types].xml",
    b"</Types>",
    b'<Override PartName="/' + NAME + b'" ContentType="x" /></Types>',
)
more_part("comments", r"'xl/comments/comment1.xml' \(comments\)", "xl/comments/comment1.xml")
more_part("threaded comments", r"\(comments\)", "xl/threadedComments/threadedComment1.xml")
more_part("people who comment", "the writers of comments", "xl/persons/person.xml")
more_part("a picture", r"\(pictures\)", "xl/media/image1.png")
more_part("a drawing", r"\(drawings\)", "xl/drawings/drawing1.xml")
more_part("a program", r"a program \(VBA\)", "xl/vbaProject.bin")
more_part("a link to another workbook", "links to other files", "xl/externalLinks/externalLink1.xml")
more_part("texts that no cell uses", "texts beside the cells", "xl/sharedStrings.xml")
more_part("the rows of a pivot table", "stored rows of a pivot table", "xl/pivotCache/pivotCacheRecords1.xml")
more_part("properties of one's own", "properties that somebody added", "docProps/custom.xml")
more_part("data of one's own", "data that somebody added", "customXml/item1.xml")
more_part("a sheet that the workbook does not name", r"sheet9.xml' \(a sheet\)", "xl/worksheets/sheet9.xml")
more_part("printer settings", "printer settings", "xl/printerSettings/printerSettings1.bin")


def on_book(name: str, says: str) -> Callable[[Callable[[Any], None]], None]:
    """A change that openpyxl makes and saves, as any program would."""

    def add(change: Callable[[Any], None]) -> None:
        def changed(content: bytes) -> bytes:
            import openpyxl

            book = openpyxl.load_workbook(io.BytesIO(content))
            change(book)
            again = io.BytesIO()
            book.save(again)
            return again.getvalue()

        on_file(name, says, "excel")(changed)

    return add


@on_book("a second sheet, hidden, by another program", "'xl/|says when|Anna|hidden")
def _(book: Any) -> None:
    sheet = book.create_sheet("more")
    sheet["A1"], sheet.sheet_state = SECRET, "veryHidden"


@on_book("a comment, by another program", "comments")
def _(book: Any) -> None:
    from openpyxl.comments import Comment

    book.worksheets[0]["A1"].comment = Comment(SECRET, SECRET)


@on_book("the column of the same name, by another program", "does not begin as a sheet is written")
def _(book: Any) -> None:
    sheet = book.worksheets[0]
    sheet.insert_cols(1)
    for row in range(1, sheet.max_row + 1):
        sheet.cell(row, 1, sheet.cell(row, 2).value if row == 1 else SECRET)
