"""The scan of parts against the groups of the same rows read as one table, whatever parts and row groups they have."""

from __future__ import annotations

import hashlib
import io
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore.publishing.certification import digests as digests_of_rows
from anoncore.publishing.certification import published_rows as part_files
from anoncore.publishing.certification import scan as part_scan
from anoncore.publishing.certification.digests import PartDigester
from anoncore.publishing.certification.entries import Attribute
from anoncore.publishing.certification.published_release import PublishedRelease
from anoncore.publishing.certification.published_rows import PartFile
from anoncore.publishing.certification.scan import PartClasses, Question, hashed_cells, scan_rows
from anoncore.release.partition import Partition
from anoncore.release.reading.published_table import PublishedTable
from anoncore.requirements import DistinctDiversity, FrequencyDiversity, KAnonymity, TCloseness, VarianceDiversity

ATTRIBUTES = {
    "age": Attribute(name="age", role="quasi-identifier", kind="numeric", type="number", form="region"),
    "town": Attribute(name="town", role="quasi-identifier", kind="nominal", type="text", form="region"),
    "ill": Attribute(
        name="ill", role="sensitive", kind="ordinal", type="text", form="exact", values=["cold", "flu", "", "gout"]
    ),
    "pay": Attribute(name="pay", role="sensitive", kind="numeric", type="number", form="exact"),
    "note": Attribute(name="note", role="insensitive", kind="nominal", type="text", form="exact"),
}
QUESTIONS = [
    Question(KAnonymity(k=2), None),
    Question(DistinctDiversity(l=2), "ill"),
    Question(TCloseness(t=0.2, ground="ordered"), "ill"),
    Question(TCloseness(t=0.2, ground="equal"), "pay"),
    Question(FrequencyDiversity(l=2), "pay"),
    Question(VarianceDiversity(v=1.0), "pay"),
]
AGES = ["20-29", "30-39", "1.5", "1.50", "'=3", "=3", "-0", "2020-01-01", "(missing)"]
"""Some of them are one value where files are read, and two cells to a reader who looks for a person."""


@st.composite
def tables(draw):
    """A table with few groups, as parts with some rows each."""
    n = draw(st.integers(1, 40))
    row = st.tuples(
        st.sampled_from(AGES),
        st.sampled_from(["Ulm", "Bonn"]),
        st.sampled_from(["cold", "flu", "gout", None, ""]),
        st.sampled_from([1.0, 2.5, 3.0, None, 10.0]),
    )
    rows = draw(st.lists(row, min_size=n, max_size=n))
    frame = pd.DataFrame(rows, columns=["age", "town", "ill", "pay"])
    frame["pay"] = frame["pay"].astype("float64")
    frame["note"] = "x"
    if draw(st.booleans()):
        frame = frame.sort_values(["age", "town"], kind="stable").reset_index(drop=True)
    cuts = sorted(draw(st.sets(st.integers(1, max(n - 1, 1)), max_size=3)) - {n})
    return frame, cuts, draw(st.integers(1, 9)), draw(st.integers(1, 12))


def part_of(frame: pd.DataFrame, name: str, group_rows: int) -> PartFile:
    content = io.BytesIO()
    arrays = [pa.array(frame[column], from_pandas=True) for column in frame]
    table = pa.table(arrays, names=list(frame)).cast(
        pa.schema(
            [
                ("age", pa.string()),
                ("town", pa.string()),
                ("ill", pa.string()),
                ("pay", pa.float64()),
                ("note", pa.string()),
            ]
        )
    )
    pq.write_table(table, content, row_group_size=group_rows)
    return PartFile(name, content.getvalue())


def plain_levels(whole: PublishedRelease, question: Question) -> np.ndarray:
    """The plain twin: all rows at once, coded as a table that requirements are asked about otherwise."""
    (table,) = whole.tables
    partition = Partition(table.keys(["age", "town"]).astype(np.int32))
    if question.attribute is None:
        return partition.sizes.astype(float)
    data = whole.microdata({question.attribute: table.columns[question.attribute]})
    (check,) = question.requirement.replace(attribute=question.attribute).checks(data)
    return check.levels(partition)


@pytest.mark.slow
@given(tables())
@settings(max_examples=30)
def test_groups_and_levels_are_those_of_the_whole_table(drawn):
    frame, cuts, group_rows, unit_rows = drawn
    bounds = [0, *cuts, len(frame)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(part_files, "UNIT_ROWS", unit_rows)
        # So few that groups are read from files in several pieces, and the cells of a piece in several windows.
        for name, size in (("BATCH_ROWS", 7), ("BATCH_CELLS", 3), ("READ_CELLS", 9), ("WINDOW_CELLS", group_rows)):
            patch.setattr(part_scan, name, size)
        parts = [
            part_of(frame.iloc[begin:end], f"part-{number}", group_rows)
            for number, (begin, end) in enumerate(pairwise(bounds))
        ]
        found = scan_rows(parts, ATTRIBUTES, QUESTIONS)
    as_written = frame.assign(age="as written: " + frame["age"])
    whole = PublishedRelease((PublishedTable.of("release", as_written),), ATTRIBUTES, None)
    sizes = pd.Series(whole.tables[0].keys(["age", "town"])).value_counts().value_counts()
    assert found.group_sizes == {str(size): number for size, number in sorted(sizes.items())}
    assert found.n_rows == len(frame)
    for question in QUESTIONS:
        expected = plain_levels(whole, question)
        levels = found.of(question)
        assert len(levels) == 1
        np.testing.assert_allclose(np.sort(levels[0].levels), np.sort(expected), rtol=1e-9, atol=1e-12)
        # A level belongs to the size that stands beside it.
        pairs = sorted(zip(found.sizes.tolist(), levels[0].levels.round(9).tolist(), strict=True))
        sizes = whole.partition(whole.tables[0]).sizes.tolist()
        assert pairs == sorted(zip(sizes, expected.round(9).tolist(), strict=True))


@pytest.mark.slow
@given(tables(), st.data())
@settings(max_examples=20)
def test_classes_with_further_columns_are_those_that_reading_them_alone_finds(drawn, data):
    frame, cuts, group_rows, unit_rows = drawn
    # Two of the notes are one text where files are read, and a class with either may go on in the next piece.
    notes = st.lists(st.sampled_from(["1.5", "1.50", "x"]), min_size=len(frame), max_size=len(frame))
    frame["note"] = data.draw(notes)
    splits = [((), 2), (("note",), 3), (("note", "pay"), 2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(part_files, "UNIT_ROWS", unit_rows)
        parts = [
            part_of(frame.iloc[begin:end], f"part-{number}", group_rows)
            for number, (begin, end) in enumerate(pairwise([0, *cuts, len(frame)]))
        ]
        found = scan_rows(parts, ATTRIBUTES, QUESTIONS[:1], splits=splits)
        for names, k in splits:
            (expected,) = PartClasses(parts, ["age", "town"], k).sizes([names])
            assert found.splits[names, k] == expected
    rows = found.sizes
    assert found.splits[(), 2] == (rows.min(), rows[rows < 2].sum())


KEY = np.array([3, 2**64 - 5], dtype=np.uint64)


@given(st.lists(st.one_of(st.none(), st.sampled_from([*AGES, "", "7", "07", "1-2", "ä", "'"])), max_size=9), st.data())
def test_cells_have_one_hash_where_they_are_written_alike(cells, data):
    begin = data.draw(st.integers(0, len(cells)))
    texts = pa.array(cells, data.draw(st.sampled_from([pa.string(), pa.large_string()])))[begin:]
    hashes = hashed_cells(texts, KEY)
    assert len({tuple(one) for one in hashes.tolist()}) == len({cell or "" for cell in cells[begin:]})
    assert hashes.tolist() == hashed_cells(pa.array([cell or "" for cell in cells[begin:]], pa.string()), KEY).tolist()


@pytest.mark.parametrize("cells", [[1, None, 30], [0.1, 0.1 + 2**-56, None], [0.1 + 0.2, 0.3], [True, False, None]])
def test_what_is_no_text_is_told_apart_by_every_digit(cells):
    assert len({tuple(one) for one in hashed_cells(pa.array(cells), KEY).tolist()}) == len(cells)


def test_an_attribute_of_too_many_values_is_left_out_only_where_that_is_allowed(monkeypatch):
    monkeypatch.setattr(part_scan, "MOST_VALUES", 2)
    part = part_of(
        pd.DataFrame([["20-29", "Ulm", ill, 1.0, "x"] for ill in ("cold", "flu", "gout")], columns=list(ATTRIBUTES)),
        "part",
        9,
    )
    found = scan_rows([part], ATTRIBUTES, QUESTIONS[:1], QUESTIONS[1:])
    assert list(found.values) == ["pay"]
    assert found.of(QUESTIONS[1]) == []
    with pytest.raises(part_scan.DataError, match="'ill' has more than 2 different values"):
        scan_rows([part], ATTRIBUTES, QUESTIONS)


KINDS = {
    "text": ["a", "b", None, "a", ""],
    "number": [1, None, 3, 2**53 + 1, -4],
    "fraction": [0.5, None, float("inf"), -0.0, 1e300],
    "date": [pd.Timestamp("2020-01-02").date(), None, pd.Timestamp("1931-05-06").date()] * 2,
    "moment": [pd.Timestamp("2020-01-02 03:04:05"), None, pd.Timestamp("1970-01-01")] * 2,
    "truth": [True, False, None, True, True],
}


def digests(table: pa.Table, sizes: list[int]) -> dict[str, str]:
    digester = PartDigester(table.schema)
    begin = 0
    for size in sizes:
        digester.add(table.slice(begin, size))
        begin += size
    return dict(digester.close().column_sha256)


@pytest.mark.parametrize("kind", KINDS)
def test_a_digest_tells_every_cell_and_the_order_but_no_row_groups(monkeypatch, kind):
    monkeypatch.setattr(digests_of_rows, "BLOCK_ROWS", 2)
    values = KINDS[kind][:5]
    table = pa.table({"cells": pa.array(values)})
    first = digests(table, [5])
    assert digests(table, [1, 3, 1]) == digests(table, [2, 2, 1]) == first
    if kind == "text":
        assert digests(pa.table({"cells": table.column(0).dictionary_encode()}), [3, 2]) == first
        unused = pa.DictionaryArray.from_arrays(pa.array([2, 1, None, 2, 0]), pa.array(["", "b", "a", "zz"]))
        assert digests(pa.table({"cells": unused}), [5]) == first
    for place in range(5):
        for other in range(5):
            changed = list(values)
            changed[place] = values[other]
            same = pa.array(changed).equals(pa.array(values))
            assert (digests(pa.table({"cells": pa.array(changed, table.schema.types[0])}), [5]) == first) == same


def test_texts_are_not_glued_together():
    one = digests(pa.table({"cells": ["ab", "c"]}), [2])
    assert one != digests(pa.table({"cells": ["a", "bc"]}), [2])


@given(st.lists(st.one_of(st.none(), st.sampled_from(["", "a", "b", "ba", "ä", "z\0"])), min_size=1, max_size=9))
def test_the_digest_of_texts_is_what_certificates_were_written_with(cells):
    """The plain twin: in every block the lengths of the sorted texts, the texts, and the rank of each cell."""
    expected = hashlib.sha256(b"text")
    for begin in range(0, len(cells), 4):
        block = cells[begin : begin + 4]
        texts = sorted({cell.encode() for cell in block if cell is not None})
        ranks = [-1 if cell is None else texts.index(cell.encode()) for cell in block]
        lengths = b"".join(len(text).to_bytes(8, "little") for text in texts)
        for content in (lengths, b"".join(texts), b"".join(rank.to_bytes(4, "little", signed=True) for rank in ranks)):
            expected.update(len(content).to_bytes(8, "little") + content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digests_of_rows, "BLOCK_ROWS", 4)
        for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())):
            table = pa.table({"cells": pa.array(cells, kind)})
            assert digests(table, [len(cells)]) == {"cells": expected.hexdigest()}
