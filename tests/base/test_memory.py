"""Tables that memory cannot hold are refused with a sentence, before they are taken in."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import textwrap
from pathlib import Path

import pandas as pd
import psutil
import pytest

from anoncore import DataError, Recipe
from anoncore.base import memory
from anoncore.base.memory import free_memory, require_memory, resident_memory
from anoncore.publishing.certification.strict_reading import read_strictly
from anoncore.sources import read_table
from dashboard.session import state

MB = 1 << 20


@pytest.fixture
def little(monkeypatch):
    """Half a megabyte of free memory, as it seems."""
    monkeypatch.setattr(memory, "_free_on_machine", lambda: MB // 2)


def frame(rows: int = 20_000) -> pd.DataFrame:
    return pd.DataFrame({"age": range(rows), "town": ["Rome", "Bonn"] * (rows // 2)})


def written(kind: str, rows: int) -> bytes:
    content = io.BytesIO()
    if kind == "parquet":
        frame(rows).to_parquet(content)
    elif kind == "excel":
        frame(rows).to_excel(content, index=False)
    else:
        text = frame(rows).to_csv(index=False).encode()
        content.write(gzip.compress(text) if kind == "gzip" else text)
    return content.getvalue()


def test_what_is_needed_is_set_against_what_is_free(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 3_000_000)
    require_memory(3_000_000, "'a.csv'")
    with pytest.raises(DataError) as raised:
        require_memory(4e9, "'a.csv'")
    assert str(raised.value) == (
        "'a.csv' needs about 4.0 GB of memory, but only 3.0 MB are free; take a sample of its rows, or fewer columns."
    )


@pytest.mark.parametrize("kind", ["csv", "gzip", "parquet", "excel"])
def test_a_file_that_cannot_fit_is_refused_and_a_smaller_one_read(kind, little, tmp_path):
    large = written(kind, 20_000 if kind != "excel" else 3_000)
    with pytest.raises(DataError, match=r"^'people'.* needs about .* of memory, but only 0\.5 MB are free; take a sam"):
        read_table(large, "people")
    path = tmp_path / "people"
    path.write_bytes(large)
    with pytest.raises(DataError, match="of memory, but only"):
        read_table(path)
    assert len(read_table(written(kind, 10), "people").frame) == 10


def test_without_the_guard_it_is_taken_in():
    assert len(read_table(written("csv", 20_000), "people").frame) == 20_000


def test_a_path_is_not_even_read(little, tmp_path, monkeypatch):
    path = tmp_path / "people.csv"
    path.write_bytes(b"a\n" + b"1\n" * MB)
    monkeypatch.setattr(Path, "read_bytes", lambda _self: pytest.fail("it was read"))
    with pytest.raises(DataError, match="of memory, but only"):
        read_table(path)


def test_published_files_are_guarded_too(little):
    for kind in ("csv", "parquet"):
        with pytest.raises(DataError, match="of memory, but only"):
            read_strictly("release", written(kind, 20_000))


def test_a_folder_is_guarded(little, tmp_path):
    frame().to_parquet(tmp_path / "a.parquet")
    recipe = Recipe.from_dict({"source": {"path": str(tmp_path)}, "algorithm": {"name": "mondrian"}})
    with pytest.raises(DataError, match="run it on disk with the algorithm rothko-tree"):
        recipe.microdata()


def test_a_table_that_would_be_made_up_is_guarded(little):
    rows = {"source": {"builtin": "census", "rows": 1_000_000_000}, "algorithm": {"name": "mondrian"}}
    with pytest.raises(DataError, match=r"A table of 1,000,000,000 rows needs about .* ask for fewer rows\."):
        Recipe.from_dict(rows).microdata()
    with pytest.raises(DataError, match="ask for fewer rows"):
        state.load_builtin("census", 1_000_000)


def test_free_memory_is_that_of_the_tightest_limit(monkeypatch):
    for name, free in (("_free_on_machine", 30), ("_free_in_container", 20), ("_free_in_process", 10)):
        monkeypatch.setattr(memory, name, lambda free=free: free)
        assert free_memory() == free


def test_memory_is_that_of_the_system(monkeypatch):
    free = memory._free_on_machine()
    assert MB < free < psutil.virtual_memory().total
    assert MB < (resident_memory() or 0) < psutil.virtual_memory().total

    def hidden(*_arguments):
        raise PermissionError

    monkeypatch.setattr(psutil, "virtual_memory", hidden)
    monkeypatch.setattr(psutil, "Process", hidden)
    assert memory._free_on_machine() == memory.UNKNOWN_MEMORY
    assert memory._free_in_process() == sys.maxsize
    assert resident_memory() is None


REAL = """
    import resource
    from pathlib import Path

    from anoncore import DataError
    from anoncore.sources import read_table

    read_table(b"a,b\\n1,x\\n")
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + {room}, taken + {room}))
    try:
        print(len(read_table("{path}").frame))
    except DataError as error:
        print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of addresses are those of Linux")
def test_a_process_that_has_too_little_memory_says_so_and_lives(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"age,town\n" + b"12345,Rome\n" * 1_000_000)
    said = []
    for room in (60 * MB, 2_000 * MB):
        script = textwrap.dedent(REAL).format(room=room, path=path)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout.strip())
    assert said[0].startswith("'people.csv' needs about 88.0 MB of memory, but only ")
    assert said[1] == "1000000"
