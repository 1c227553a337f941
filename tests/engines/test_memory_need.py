"""What a run on disk says that it needs of the memory, and that it keeps to less where it may take less."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anoncore import DataError
from anoncore.algorithms import RothkoSampling, RothkoTree
from anoncore.cli import main
from anoncore.engines.large_run import PROGRAM, RunSettings, anonymize_table, memory_plan
from anoncore.engines.spool import Tags, profile_of
from anoncore.requirements import KAnonymity
from anoncore.sources.large_table import LargeTable

from .large_tables import ROLES, people

MEASURED = """
import sys
from pathlib import Path
from anoncore.cli import main
code = main(sys.argv[1:])
lines = Path("/proc/self/status").read_text().splitlines()
print("peak", next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")))
sys.exit(code)
"""
"""Tells its own peak: that of `resource` counts what the process took that started this one."""
RECIPE = """
[source]
path = "numbers.parquet"
[roles]
a = "quasi-identifier"
b = "quasi-identifier"
c = "quasi-identifier"
s = "sensitive"
[algorithm]
name = "rothko-sampling"
requirements = [{ name = "k-anonymity", k = 5 }, { name = "distinct-diversity", l = 2 }]
"""


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    """A recipe beside its table of 3,000,000 rows."""
    rng = np.random.default_rng(1)
    columns = {name: rng.integers(0, size, 3_000_000) for name, size in [("a", 900_000), ("b", 90), ("c", 9), ("s", 5)]}
    pd.DataFrame(columns).to_parquet(tmp_path / "numbers.parquet")
    (tmp_path / "numbers.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path / "numbers.toml"


def profile(folder: Path, algorithm):
    people(4_000).to_parquet(folder / "people.parquet")
    table = LargeTable(folder / "people.parquet", folder)
    try:
        return profile_of(table, Tags(roles=ROLES), algorithm, lambda _: None)[0]
    finally:
        table.close()


@pytest.mark.parametrize("kind", [RothkoTree, RothkoSampling])
def test_what_fits_stays_as_it_was_asked_for(tmp_path, kind):
    algorithm = kind(requirements=(KAnonymity(k=5),))
    plan = memory_plan(profile(tmp_path, algorithm), algorithm, 3, 4_000_000_000)
    assert (plan.memory_rows, plan.workers) == (algorithm.memory_rows, 3)
    assert PROGRAM < plan.needed < 1_000_000_000


def test_less_memory_means_less_at_a_time_and_too_little_is_refused(tmp_path):
    algorithm = RothkoTree(requirements=(KAnonymity(k=5),), memory_rows=2_000_000)
    found = profile(tmp_path, algorithm)
    found._n_rows = 50_000_000
    plans = [memory_plan(found, algorithm, 2, megabytes * 1_000_000) for megabytes in (9_000, 1_900, 1_700, 1_600)]
    assert [plan.needed <= limit for plan, limit in zip(plans, (9e9, 1.9e9, 1.7e9, 1.6e9), strict=True)] == [True] * 4
    for more, less in pairwise(plans):
        assert (more.memory_rows, more.workers, more.counted) >= (less.memory_rows, less.workers, less.counted)
    assert plans[0].memory_rows > plans[-1].memory_rows
    with pytest.raises(DataError, match=r"needs at least 1.* GB of memory.* but may take 1.10 GB; give it more"):
        memory_plan(found, algorithm, 2, 1_100_000_000)


def test_a_run_keeps_to_smaller_parts_with_the_same_groups(tmp_path, monkeypatch):
    monkeypatch.setattr("anoncore.engines.large_run.LEAST_ROWS", 10)
    monkeypatch.setattr("anoncore.engines.large_run.ROW_BYTES", 1_000_000)
    people().to_parquet(tmp_path / "people.parquet")
    algorithm = RothkoTree(requirements=(KAnonymity(k=5),), memory_rows=400)
    found, told = [], []
    for memory in (None, 700_000_000):
        settings = RunSettings(memory=memory, note=told.append)
        output = tmp_path / f"out-{memory}"
        open_table = lambda workspace: LargeTable(tmp_path / "people.parquet", workspace)  # noqa: E731
        found.append(anonymize_table(open_table, Tags(roles=ROLES), algorithm, output, settings))
    free, small = found
    assert (free.algorithm.memory_rows, small.algorithm.memory_rows) == (400, 25)
    assert len([*(tmp_path / "out-700000000").glob("*.parquet")]) > 1
    assert (free.n_groups, free.discernibility) == (small.n_groups, small.discernibility)
    assert all(sentence.startswith("This run needs at most about ") for sentence in told)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells the peak of a process in /proc")
def test_a_process_takes_no_more_than_it_may_and_says_so(numbers):
    words = ["run", str(numbers), "--engine", "disk", "--memory", "800MB", "--output", str(numbers.parent / "out")]
    words += ["--key-file", str(numbers.parent / "key")]
    done = subprocess.run([sys.executable, "-c", MEASURED, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split("peak ")[1]) <= 800_000_000
    said = next(line for line in done.stderr.splitlines() if "needs at most about" in line)
    assert float(said.split("about ")[1].split(" MB")[0]) <= 800
    summary = json.loads((numbers.parent / "out" / "numbers-release" / "_release.json").read_text(encoding="utf-8"))
    assert summary["rows"] == 3_000_000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--engine", "disk", "--memory", "much"], "'much' is no size; write one such as 1.5GB or 800MB"),
        (["--engine", "disk", "--memory", "100MB"], "needs at least"),
        (["--engine", "memory", "--memory", "1GB"], "--memory is for the engine disk, and this one is memory"),
    ],
)
def test_sizes_that_cannot_be_are_refused_in_a_sentence(tmp_path, capsys, words, said):
    people().to_parquet(tmp_path / "numbers.parquet")
    recipe = RECIPE
    for letter, name in {"a": "age", "b": "town", "c": "debt", "s": "ill"}.items():
        recipe = recipe.replace(f"\n{letter} =", f"\n{name} =")
    (tmp_path / "people.toml").write_text(recipe, encoding="utf-8")
    try:
        code = main(["run", str(tmp_path / "people.toml"), "--output", str(tmp_path / "out"), *words])
    except SystemExit as end:
        code = end.code
    assert code == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out" / "people-release").exists()
