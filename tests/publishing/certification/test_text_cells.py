"""A CSV is what Python's own writer makes of its cells, or a fault is found."""

from __future__ import annotations

import csv
import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncore.publishing.certification import strict_reading
from anoncore.publishing.certification.strict_reading import read_strictly, text_fault
from anoncore.publishing.certification.written_cells import text_columns

CELLS = st.text(alphabet=["a", "b", ",", '"', "\n", "\r", " ", "é", "'"], max_size=3)


def written(rows: list[list[str]], line_end: str) -> bytes:
    """A CSV by Python's own writer."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator=line_end).writerows(rows)
    return buffer.getvalue().encode()


def fault_of(content: bytes, width: int) -> tuple[str, list[list[str]]]:
    """What is found in a CSV, and its rows."""
    columns = text_columns(content, width)
    coded = [column.slice(1).combine_chunks().dictionary_encode() for column in columns]
    labels = [column[0].as_py() for column in columns]
    return text_fault(content, labels, coded), [
        list(row) for row in zip(*map(pa.ChunkedArray.to_pylist, columns), strict=True)
    ]


@given(
    st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=5)),
    st.integers(1, 3),
)
def test_what_is_written_is_found_to_be(rows: list[list[str]], at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strict_reading, "JOINED_ROWS", at_once)
        assert fault_of(written(rows, "\r\n"), len(rows[0])) == ("", rows)


@given(
    st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=2, max_size=4),
    st.integers(0, 1000),
    st.sampled_from([b"", b"\r", b"\n", b'"', b'""', b" ", b"\r\n", b"\n\n"]),
    st.integers(0, 2),
)
def test_nothing_hides_between_the_cells(rows: list[list[str]], at: int, added: bytes, removed: int) -> None:
    content = written(rows, "\r\n")
    at %= len(content)
    changed = content[:at] + added + content[at + removed :]
    try:
        fault, found = fault_of(changed, 2)
    except Exception:  # no table of two columns any more
        return
    assert fault or changed in (written(found, "\r\n"), written(found, "\n"))


@pytest.mark.parametrize(
    "content", [b"a,b\r\n1,2\n", b"a,b\r\n\r\n1,2\r\n", b"a,b\r\n1,2", b'a,b\r\n"1",2\r\n', b"a,b\n1,2\r\n"]
)
def test_other_lines_are_a_fault(content: bytes) -> None:
    assert fault_of(content, 2)[0]
    assert read_strictly("x.csv", content)[1]
