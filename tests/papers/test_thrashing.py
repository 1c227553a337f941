"""The experiment on figures 8 and 9 of the Rothko paper, where it cannot be run: what is missing, and what it found."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.papers import thrashing


@pytest.mark.parametrize(("has_groups", "words"), [(False, "control groups"), (True, "the rights of root")])
def test_it_says_what_is_missing_and_what_was_measured_last(monkeypatch, capsys, tmp_path: Path, has_groups, words):
    for folder, name in (("memory", "memory.limit_in_bytes"), ("blkio", "blkio.throttle.read_bps_device")):
        (tmp_path / folder).mkdir()
        if has_groups:
            (tmp_path / folder / name).touch()
    monkeypatch.setattr(thrashing, "GROUPS", tmp_path / "memory")
    monkeypatch.setattr(thrashing, "DISKS", tmp_path / "blkio")
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    monkeypatch.setattr("sys.argv", ["thrashing"])
    before = thrashing.MEASURED.read_bytes()
    thrashing.main()
    said, *runs = capsys.readouterr().out.splitlines()
    measured = thrashing.last()
    assert words in said
    assert measured["date"] in said
    assert [json.loads(one) for one in runs] == measured["runs"]
    assert thrashing.MEASURED.read_bytes() == before
    assert list(tmp_path.rglob("anoncore-*")) == []
