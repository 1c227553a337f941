"""What is looked at in many rows of a CSV at a time finds what is found row by row."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncore.publishing.certification.strict_reading import read_strictly
from anoncore.publishing.certification.text_cells import is_written, text_columns, text_fault

CELLS = st.text(alphabet=["a", "b", ",", '"', "\n", "\r", " ", "é", "'"], max_size=3)


def written(rows: list[list[str]], line_end: str) -> bytes:
    """A CSV by Python's own writer."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator=line_end).writerows(rows)
    return buffer.getvalue().encode()


def both_ways(content: bytes, width: int) -> tuple[bool, bool]:
    """Whether a CSV is as it is written, in many rows at a time and row by row."""
    columns = text_columns(content, width)
    coded = [column.slice(1).combine_chunks().dictionary_encode() for column in columns]
    labels = [column[0].as_py() for column in columns]
    return is_written(content, labels, coded), not text_fault(content, columns)


@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=5)))
def test_what_is_written_is_found_to_be(rows: list[list[str]]) -> None:
    assert both_ways(written(rows, "\r\n"), len(rows[0])) == (True, True)


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
        fast, slow = both_ways(changed, 2)
    except Exception:  # no table of two columns any more
        return
    assert slow or not fast


@pytest.mark.parametrize(
    "content", [b"a,b\r\n1,2\n", b"a,b\r\n\r\n1,2\r\n", b"a,b\r\n1,2", b'a,b\r\n"1",2\r\n', b"a,b\n1,2\r\n"]
)
def test_other_lines_are_a_fault(content: bytes) -> None:
    assert both_ways(content, 2) == (False, False)
    assert read_strictly("x.csv", content).faults
