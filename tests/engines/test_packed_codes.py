"""Coded rows as bytes, as Spark hands them on, and what its tasks leave in files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from anoncore import DataError
from anoncore.engines.spark_run import TaskResults, packed, unpacked

CODES = arrays(np.int32, array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9))


@given(CODES, st.data())
def test_rows_come_back_whole_from_any_part_of_an_array_and_from_several(codes, data):
    cut = data.draw(st.integers(0, len(codes)))
    whole = packed(codes)
    assert unpacked(whole).tolist() == codes.tolist()
    chunks = pa.chunked_array([whole.slice(0, cut), whole.slice(cut)])
    assert unpacked(chunks).tolist() == codes.tolist()
    if cut < len(codes):
        assert unpacked(whole.slice(cut)).tolist() == codes[cut:].tolist()


def test_rows_that_do_not_lie_one_after_the_other_are_packed_in_their_order():
    codes = np.arange(12, dtype=np.int32).reshape(4, 3)
    assert unpacked(packed(codes[::2])).tolist() == codes[::2].tolist()
    assert unpacked(packed(np.asfortranarray(codes))).tolist() == codes.tolist()


def test_a_task_that_runs_twice_leaves_one_result_and_one_that_was_lost_leaves_none(tmp_path):
    results = TaskResults.at(tmp_path / "results")
    results.leave(0, 3, "first")
    results.leave(1, 4, "second")
    results.leave(0, 3, "first")
    # What a lost machine was writing.
    (results.folder / ".0123.unfinished").write_bytes(b"half")
    assert sorted(results.of_all(7)) == ["first", "second"]
    results.remove()
    assert not results.folder.exists()


def test_results_of_some_rows_are_not_taken_for_those_of_all(tmp_path):
    results = TaskResults.at(tmp_path / "results")
    results.leave(0, 3, "first")
    with pytest.raises(DataError, match=r"Of 7 rows this machine can read .* in 3; name a workspace"):
        list(results.of_all(7))


def test_a_folder_of_results_is_new(tmp_path):
    TaskResults.at(tmp_path / "results")
    with pytest.raises(FileExistsError):
        TaskResults.at(tmp_path / "results")
