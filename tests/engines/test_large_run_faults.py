"""Rothko on files when things go wrong: killed runs, full disks, damaged files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from anoncore import DataError
from anoncore.algorithms import RothkoTree
from anoncore.base import faults
from anoncore.requirements import KAnonymity

from .large_tables import people, published, run

SCRIPT = """
import os, random, resource, signal, sys, time
from pathlib import Path
from anoncore.algorithms import RothkoTree
from anoncore.base.errors import DataError
from anoncore.engines.large_run import anonymize_table
from anoncore.engines.large_run import RunSettings
from anoncore.engines.spool import Tags
from anoncore.requirements import KAnonymity
from anoncore.sources.large_table import LargeTable
from tests.engines.large_tables import ROLES

def run(source, output):
    anonymize_table(
        lambda workspace: LargeTable(source, workspace),
        Tags(roles=ROLES),
        RothkoTree((KAnonymity(k=5),), memory_rows=300, frontier_memory=0.5),
        output,
        RunSettings(replace=True),
    )

def run_and_kill(source, folder, times):
    # Forks of a process that is warm: only the run itself is killed, not its start.
    run(source, folder / "warm")
    begun = time.monotonic()
    run(source, folder / "whole")
    took, draw = time.monotonic() - begun, random.Random(3)
    for number in range(times):
        child = os.fork()
        if child == 0:
            run(source, folder / f"out-{number}")
            os._exit(0)
        time.sleep(draw.uniform(0, took))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

def run_on_a_full_disk(source, output, limit):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        run(source, output)
    except DataError as error:
        print(error)

{"kill": run_and_kill, "full": run_on_a_full_disk}[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "people.parquet"
    people(6_000).to_parquet(path)
    return path


def answer_of(what: str, source: Path, output: Path, number: int) -> str:
    command = [sys.executable, "-c", SCRIPT, what, str(source), str(output), str(number)]
    root = Path(__file__).parents[2]
    return subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True, timeout=300).stdout


@pytest.mark.slow
def test_a_killed_run_leaves_nothing_that_looks_complete(source, tmp_path):
    answer_of("kill", source, tmp_path, 12)
    complete = published(tmp_path / "whole")
    assert len(complete) == 6_000
    killed = [number for number in range(12) if not (tmp_path / f"out-{number}").exists()]
    assert len(killed) >= 3
    for number in range(12):
        if number not in killed:
            assert published(tmp_path / f"out-{number}") == complete
    # What the killed runs left has hidden names, and goes when the same output is asked for again.
    assert {path.name for path in tmp_path.glob("*") if path.name.startswith("out")} == {
        f"out-{number}" for number in set(range(12)).difference(killed)
    }
    algorithm = RothkoTree((KAnonymity(k=5),), memory_rows=300, frontier_memory=0.5)
    for number in killed[:3]:
        run(source, algorithm, tmp_path / f"out-{number}")
        assert published(tmp_path / f"out-{number}") == complete
        assert not [*tmp_path.glob(f".out-{number}.*"), *tmp_path.glob(f".out-{number}-work.*")]


@pytest.mark.slow
def test_a_full_disk_is_a_clear_error(source, tmp_path):
    answer = answer_of("full", source, tmp_path / "out", 30_000)
    assert "is full; free some space, or choose another folder" in answer
    assert list(tmp_path.iterdir()) == []
    text = source.with_suffix(".csv")
    people(6_000).to_csv(text, index=False)
    assert "is full of temporary files of 'people.csv'; free some space" in answer_of("full", text, tmp_path / "o", 100)
    assert list(tmp_path.iterdir()) == []


def test_too_little_space_is_said_before_the_work(source, tmp_path, monkeypatch):
    monkeypatch.setattr(faults, "disk_usage", lambda _: type("Usage", (), {"free": 10_000}))
    with pytest.raises(DataError, match=r"needs about 0\.0 GB on the disk"):
        run(source, RothkoTree((KAnonymity(k=5),)), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_damaged_parquet_file_is_a_clear_error(source, tmp_path, share):
    content = source.read_bytes()
    (tmp_path / "cut.parquet").write_bytes(content[: int(len(content) * share)])
    with pytest.raises(DataError, match=r"'cut.parquet' cannot be read: "):
        run(tmp_path / "cut.parquet", RothkoTree((KAnonymity(k=5),)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_parquet_file_damaged_in_the_middle_is_a_clear_error(source, tmp_path):
    content = bytearray(source.read_bytes())
    middle = len(content) // 2
    content[middle - 20_000 : middle + 20_000] = bytes(40_000)
    (tmp_path / "hole.parquet").write_bytes(bytes(content))
    with pytest.raises(DataError, match=r"'hole.parquet' cannot be read: "):
        run(tmp_path / "hole.parquet", RothkoTree((KAnonymity(k=5),)), tmp_path / "out")


def test_other_files_are_refused(tmp_path):
    algorithm = RothkoTree((KAnonymity(k=5),))
    (tmp_path / "ragged.csv").write_bytes(b"age,town\n" + b"3,K\xf6ln\n" * 50 + b"3\n")
    with pytest.raises(DataError, match=r"Line 52 of 'ragged.csv' has 1 value, but the header has 2 columns"):
        run(tmp_path / "ragged.csv", algorithm, tmp_path / "out", roles={"age": "quasi-identifier"})
    (tmp_path / "book.xlsx").write_bytes(b"PK")
    with pytest.raises(DataError, match="is no table that can be read piece by piece"):
        run(tmp_path / "book.xlsx", algorithm, tmp_path / "out")
    with pytest.raises(DataError, match="There is no file"):
        run(tmp_path / "nothing.csv", algorithm, tmp_path / "out")
    (tmp_path / "mixed").mkdir()
    for name in ("a.csv", "b.parquet"):
        (tmp_path / "mixed" / name).touch()
    with pytest.raises(DataError, match=r"mixes 'b.parquet' with 'a.csv'"):
        run(tmp_path / "mixed", algorithm, tmp_path / "out")
    pd.DataFrame({"age": pd.Series([], dtype="int64")}).to_parquet(tmp_path / "none.parquet")
    with pytest.raises(DataError, match="holds column names but no rows"):
        run(tmp_path / "none.parquet", algorithm, tmp_path / "out", roles={"age": "quasi-identifier"})


def test_a_column_of_too_many_values_is_refused(source, tmp_path, monkeypatch):
    monkeypatch.setattr("anoncore.engines.spool.MOST_VALUES", 30)
    with pytest.raises(DataError, match="'age' has more than 30 different values; round them"):
        run(source, RothkoTree((KAnonymity(k=5),)), tmp_path / "out")


def test_what_a_killed_run_was_about_to_replace_comes_back(source, tmp_path):
    algorithm = RothkoTree((KAnonymity(k=5),), memory_rows=3_000)
    run(source, algorithm, tmp_path / "out")
    kept = published(tmp_path / "out")
    # As it is between the two steps of a replacement: the old folder is set aside, the new one not yet in place.
    stale = tmp_path / ".out.0123abcd.part"
    stale.mkdir()
    (tmp_path / "out").rename(stale / "old")
    with pytest.raises(DataError, match="exists; choose another name"):
        run(source, algorithm, tmp_path / "out")
    assert published(tmp_path / "out") == kept
