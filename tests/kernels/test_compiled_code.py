"""Compiled code is found again for the same sources, wherever they lie, and never for changed ones."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from anoncore.kernels import compiled_code
from anoncore.kernels.compiled_code import FORGOTTEN_AFTER_DAYS, digest_of, folder_of_this_process, prepared

PACKAGE = Path(compiled_code.__file__).parents[1]

ASK = """
from anoncore.kernels.added_outer import outer
value = outer(1.0)
print(value, sum(outer.stats.cache_hits.values()))
"""


def clone(folder: Path, inner: str) -> Path:
    """A package `anoncore` of the real compiler and two kernels, one of which is inlined into the other."""
    kernels = folder / "anoncore" / "kernels"
    kernels.mkdir(parents=True)
    (folder / "anoncore" / "__init__.py").touch()
    for name in ("__init__", "compiler", "compiled_code", "linking"):
        shutil.copy(PACKAGE / "kernels" / f"{name}.py", kernels)
    head = "from anoncore.kernels.compiler import inner_kernel, kernel\n"
    (kernels / "added_inner.py").write_text(f"{head}@inner_kernel\ndef inner(x):\n    return {inner}\n")
    (kernels / "added_outer.py").write_text(
        f"{head}from anoncore.kernels.added_inner import inner\n@kernel\ndef outer(x):\n    return inner(x)\n"
    )
    return folder


def ask(package: Path, environment: dict[str, str]) -> tuple[float, int]:
    """What the outer kernel of a package gives for 1.0 in a new process, and how often it came from the disk."""
    told = subprocess.run(
        [sys.executable, "-c", ASK], cwd=package, env=environment, capture_output=True, text=True, check=True
    )
    value, hits = told.stdout.split()
    return float(value), int(hits)


@pytest.mark.slow
@pytest.mark.parametrize("variable", ["NUMBA_CACHE_DIR", "XDG_CACHE_HOME"])
def test_a_second_clone_compiles_nothing_and_a_change_of_an_inlined_file_is_seen(tmp_path: Path, variable: str) -> None:
    if variable == "XDG_CACHE_HOME" and sys.platform != "linux":
        pytest.skip("Only Linux reads the user's cache folder from XDG_CACHE_HOME.")
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "PYTHONPATH")}
    environment = kept | {variable: str(tmp_path / "cache")}
    first = clone(tmp_path / "first", "x + 1")
    assert ask(first, environment) == (2.0, 0)
    assert ask(clone(tmp_path / "second", "x + 1"), environment) == (2.0, 1)
    (first / "anoncore" / "kernels" / "added_inner.py").write_text(
        (first / "anoncore" / "kernels" / "added_inner.py").read_text().replace("x + 1", "x + 100")
    )
    assert ask(first, environment) == (101.0, 0)
    assert ask(tmp_path / "second", environment) == (2.0, 1)


def test_a_digest_stands_for_names_and_contents(tmp_path: Path) -> None:
    source = tmp_path / "inner.py"
    source.write_text("A = 1\n")
    first = digest_of(tmp_path)
    (tmp_path / "note.txt").write_text("no source")
    assert digest_of(tmp_path) == first
    source.write_text("A = 2\n")
    second = digest_of(tmp_path)
    source.rename(tmp_path / "other.py")
    assert len({first, second, digest_of(tmp_path)}) == 3


def test_code_that_nobody_used_for_long_is_removed(tmp_path: Path) -> None:
    for name, age in (("old", FORGOTTEN_AFTER_DAYS + 1), ("recent", FORGOTTEN_AFTER_DAYS - 1)):
        folder = prepared(tmp_path, name)
        past = folder.stat().st_mtime - age * 86_400
        os.utime(folder, (past, past))
    prepared(tmp_path, "new")
    assert {folder.name for folder in tmp_path.iterdir()} == {"recent", "new"}


def test_a_cache_that_cannot_be_written_is_replaced_by_a_private_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("a file stands where the folder should be")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    folder = folder_of_this_process.__wrapped__()
    # The processes that this one starts read the variable, and so share the folder.
    private = Path(os.environ["NUMBA_CACHE_DIR"])
    try:
        assert private != tmp_path / "file"
        assert private in folder.parents
        assert stat.S_IMODE(private.stat().st_mode) == 0o700
    finally:
        shutil.rmtree(private)
