"""Compiled code is found again for the same sources, wherever they lie, and never for changed ones."""

import ast
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.compiler_lock import global_compiler_lock

from anoncore.kernels import compiled_code
from anoncore.kernels.compiled_code import FORGOTTEN_AFTER_DAYS, KERNELS, digest_of, folder_of, prepared, sources_of

PACKAGE = Path(compiled_code.__file__).parents[1]

COMPILER = ("__init__", "compiled_code", "compiler")
"""The files that compile kernels."""

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
    for name in COMPILER:
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
def test_a_second_clone_compiles_nothing_and_a_change_of_an_inlined_file_is_seen(tmp_path: Path) -> None:
    # Only Linux reads the user's cache folder from there.
    variable = "XDG_CACHE_HOME" if sys.platform == "linux" else "NUMBA_CACHE_DIR"
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "PYTHONPATH")}
    environment = kept | {variable: str(tmp_path / "cache")}
    first = clone(tmp_path / "first", "x + 1")
    assert ask(first, environment) == (2.0, 0)
    assert ask(clone(tmp_path / "second", "x + 1"), environment) == (2.0, 1)
    # A kernel that the outer one does not import may change as it likes.
    (first / "anoncore" / "kernels" / "added_beside.py").write_text("B = 1\n")
    assert ask(first, environment) == (2.0, 1)
    (first / "anoncore" / "kernels" / "added_inner.py").write_text(
        (first / "anoncore" / "kernels" / "added_inner.py").read_text().replace("x + 1", "x + 100")
    )
    assert ask(first, environment) == (101.0, 0)
    assert ask(tmp_path / "second", environment) == (2.0, 1)


def fresh_digest(*sources: Path) -> str:
    """The digest of files as a new process would find it, in which no file was read before."""
    compiled_code.content_of.cache_clear()
    return digest_of(sources)


def test_a_digest_stands_for_names_and_contents_and_not_for_folders(tmp_path: Path) -> None:
    source = tmp_path / "inner.py"
    source.write_text("A = 1\n")
    first = fresh_digest(source)
    (tmp_path / "other").mkdir()
    shutil.copy(source, tmp_path / "other")
    assert fresh_digest(tmp_path / "other" / "inner.py") == first
    source.write_text("A = 2\n")
    second = fresh_digest(source)
    assert len({first, second, fresh_digest(source.rename(tmp_path / "outer.py"))}) == 3


def test_a_digest_changes_with_what_is_imported_directly_or_not_and_with_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_code, "KERNELS", tmp_path)
    texts = {"near": "from anoncore.kernels.far import f\n", "far": "F = 1\n", "beside": "B = 1\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    outer = tmp_path / "outer.py"
    outer.write_text("import numpy\nfrom anoncore.kernels.near import (\n    g,\n)\n\n@kernel\ndef h(): ...\n")
    first = fresh_digest(outer)
    assert {source.stem for source in sources_of([outer])} == {"outer", "near", "far"}
    (tmp_path / "beside.py").write_text("B = 2\n")
    assert fresh_digest(outer) == first
    (tmp_path / "far.py").write_text("F = 2\n")
    assert fresh_digest(outer) != first
    compiled_code.content_of.cache_clear()


def imported_kernels(source: Path) -> set[str]:
    """The kernels' files that a file imports, in whatever way."""
    found = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source} imports relatively, which no digest sees"
            found |= {f"{node.module}.{name.name}" for name in node.names}
    parts = [name.split(".") for name in found]
    return {part[2] for part in parts if part[:2] == ["anoncore", "kernels"] and len(part) > 2}


def test_every_import_of_a_kernel_is_seen_wherever_functions_are_compiled() -> None:
    compiled = [file for file in PACKAGE.rglob("*.py") if "kernels.compiler import" in file.read_text()]
    assert len(compiled) > 40
    for source in {*KERNELS.glob("*.py"), *compiled}:
        direct = {KERNELS / f"{name}.py" for name in imported_kernels(source)}
        assert direct <= sources_of([source]), source
        assert all(file.is_file() for file in direct), source


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
    folder = folder_of.__wrapped__(KERNELS / "arrays.py")
    # The processes that this one starts read the variable, and so share the folder.
    private = Path(os.environ["NUMBA_CACHE_DIR"])
    try:
        assert private != tmp_path / "file"
        assert private in folder.parents
        assert stat.S_IMODE(private.stat().st_mode) == 0o700
    finally:
        shutil.rmtree(private)


def test_the_compiler_is_read_in_by_one_thread_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba holds its lock where a call of a kernel reads it in; without it, one of the two ended with a ValueError."""
    locked: list[bool] = []
    for context in (compiled_code.cpu_target.typing_context, compiled_code.cpu_target.target_context):
        monkeypatch.setattr(context, "refresh", lambda: locked.append(global_compiler_lock.is_locked()))
    compiled_code.load_compiler()
    assert locked == [True, True]
