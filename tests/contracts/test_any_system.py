"""Nothing takes Linux for granted: files say their encoding, paths are not glued, what Windows lacks is guarded."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PureWindowsPath

import pytest

from anoncore import Recipe
from anoncore.publishing.certification.entries import File
from anoncore.publishing.export import member_names
from tests.contracts.source import python_files, short

OF_POSIX = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")
"""Modules that Windows lacks."""
NAMES_OF_POSIX = {
    "os": ("chown", "fork", "geteuid", "getgid", "getuid", "killpg", "mkfifo", "sched_getaffinity", "setsid", "uname"),
    "signal": ("SIGALRM", "SIGHUP", "SIGKILL", "SIGQUIT", "SIGUSR1", "SIGUSR2", "alarm", "setitimer"),
    "time": ("tzset",),
}
"""Names that modules of Windows lack."""
FOLDERS_OF_LINUX = ("/dev", "/etc", "/home", "/proc", "/sys", "/tmp", "/usr", "/var")
GUARDED = ("ImportError", "AttributeError", "OSError")
"""What is caught where a system may lack something."""
ALLOWED = {
    "anoncore/base/memory.py": "limits of a container are read where the folder exists",
    "anoncore/engines/spark_run.py": "Spark takes addresses with slashes on every system",
    "anoncore/engines/value_pairs.py": "DuckDB takes patterns with slashes on every system",
    "anoncore/recipes/saved_releases.py": "members of a zip have slashes on every system",
    "dashboard/table/table_place.py": "open files are read by their names there where the folder exists",
    "dashboard/session/session_file.py": "members of a zip have slashes on every system",
}
"""Files in which a slash or a folder of Linux is right, and why."""


def text_files_without_encoding(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Calls that read or write text by the system's own encoding, which is not UTF-8 everywhere."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or any(word.arg in ("encoding", None) for word in node.keywords):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called not in ("read_text", "write_text", "open"):
            continue
        owner = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
        if called == "read_text" and not node.args:
            yield node.lineno, "read_text without an encoding"
        if called == "write_text" and len(node.args) < 2:
            yield node.lineno, "write_text without an encoding"
        texts = [
            one.value for one in (*node.args, *(word.value for word in node.keywords)) if isinstance(one, ast.Constant)
        ]
        modes = [one for one in texts if isinstance(one, str) and set(one) <= set("rwxabt+")]
        if called == "open" and owner not in ("os", "gzip", "Image") and not any("b" in mode for mode in modes):
            yield node.lineno, "open without an encoding"


def what_windows_lacks(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Modules and names that only POSIX has, where nothing catches that they are missing."""
    nodes = list(ast.walk(tree))
    tries = [node for node in nodes if isinstance(node, ast.Try) and any(map(_catches, node.handlers))]
    withs = [node for node in nodes if isinstance(node, ast.With) and any(map(_suppresses, node.items))]
    guarded = {id(inner) for node in (*tries, *withs) for part in node.body for inner in ast.walk(part)}
    for node in nodes:
        if id(node) in guarded:
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from ((node.lineno, f"import {name}") for name in names if name.split(".")[0] in OF_POSIX)
        is_named = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if is_named and node.attr in NAMES_OF_POSIX.get(node.value.id, ()):
            yield node.lineno, f"{node.value.id}.{node.attr}"


def _catches(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or any(name in ast.unparse(handler.type) for name in GUARDED)


def _suppresses(item: ast.withitem) -> bool:
    called = ast.unparse(item.context_expr)
    return called.startswith("suppress(") and any(name in called for name in GUARDED)


def glued_paths(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Paths that are put together as texts, and folders that only Linux has."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(FOLDERS_OF_LINUX):
            yield node.lineno, f"the folder {node.value!r}"
        if isinstance(node, ast.JoinedStr):
            for part, after in zip(node.values, node.values[1:], strict=False):
                if not (isinstance(after, ast.Constant) and str(after.value).startswith(("/", "\\"))):
                    continue
                names = ast.unparse(part).lower()
                if any(word in names for word in ("folder", "path", "file", "root", "home", "dir")):
                    yield node.lineno, f"a glued path {ast.unparse(node)}"


FINDERS = (text_files_without_encoding, what_windows_lacks, glued_paths)


@cache
def taken_for_granted() -> dict[str, list[str]]:
    """What each finder finds in the code; a file is read once for all, and its syntax is not kept."""
    found: dict[str, list[str]] = {finder.__name__: [] for finder in FINDERS}
    for path in python_files("anoncore", "dashboard"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for finder in FINDERS:
            if finder is not glued_paths or short(path) not in ALLOWED:
                found[finder.__name__] += [f"{short(path)}:{line}: {what}" for line, what in finder(tree)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("finder", [finder.__name__ for finder in FINDERS])
def test_no_code_takes_linux_for_granted(finder: str) -> None:
    wrong = taken_for_granted()[finder]
    assert not wrong, "\n".join(wrong)


def test_what_is_allowed_is_still_there() -> None:
    files = {short(path) for path in python_files("anoncore", "dashboard")}
    assert set(ALLOWED) <= files


@pytest.mark.parametrize(
    ("finder", "code"),
    [
        (text_files_without_encoding, "path.read_text()"),
        (text_files_without_encoding, "path.write_text('x')"),
        (text_files_without_encoding, "open('file')"),
        (text_files_without_encoding, "path.open('w', newline='')"),
        (what_windows_lacks, "import fcntl"),
        (what_windows_lacks, "def later():\n    from resource import getrusage"),
        (what_windows_lacks, "with suppress(ValueError):\n    import resource"),
        (what_windows_lacks, "import os\nos.fork()"),
        (what_windows_lacks, "import signal\nsignal.SIGKILL"),
        (glued_paths, "where = '/tmp/scratch'"),
        (glued_paths, "where = f'{folder}/people.csv'"),
    ],
)
def test_what_takes_linux_for_granted_is_found(finder: object, code: str) -> None:
    assert list(finder(ast.parse(code)))  # type: ignore[operator]


@pytest.mark.parametrize(
    "code",
    [
        "path.read_text('utf-8')\npath.write_text('x', encoding='utf-8')\nopen('file', 'rb')\npath.open(mode='wb')",
        "try:\n    import fcntl\nexcept ImportError:\n    fcntl = None",
        "where = folder / 'people.csv'\nshare = f'{rows}/{all_rows}'",
    ],
)
def test_what_works_everywhere_is_left_alone(code: str) -> None:
    tree = ast.parse(code)
    assert [*text_files_without_encoding(tree), *what_windows_lacks(tree), *glued_paths(tree)] == []


@pytest.mark.parametrize("name", ["CON", "aux", "com1", "a:b", 'a"b', "a\\b", "a/b", "end.", "end ", "x" * 300, "?"])
def test_members_of_archives_have_names_that_windows_takes(name: str) -> None:
    (member,) = member_names([name])
    path = PureWindowsPath(f"{member}.csv")
    assert path.stem.lower() not in ("con", "prn", "aux", "nul", "com1")
    assert path.name == f"{member}.csv", "no folder, no drive"
    assert not set(member) & set('<>:"/\\|?*')
    assert member == member.rstrip(". ")
    assert len(path.name) < 255


@pytest.mark.parametrize("name", ["..\\people.csv", "C:\\people.csv", "a/b.csv"])
def test_a_certificate_names_no_file_elsewhere_on_any_system(name: str) -> None:
    with pytest.raises(ValueError, match="no name of a file beside the certificate"):
        File(name=name, bytes=1, sha256="")


def test_a_saved_recipe_names_its_table_with_slashes(tmp_path: Path) -> None:
    for folder in ("tables", "recipes"):
        (tmp_path / folder).mkdir()
    recipe = Recipe.loads('source = {path = "tables/people.csv"}\nalgorithm = {name = "mondrian"}\n', folder=tmp_path)
    recipe.save(tmp_path / "recipes" / "people.toml")
    assert 'path = "../tables/people.csv"' in (tmp_path / "recipes" / "people.toml").read_text(encoding="utf-8")
    assert b"\r" not in (tmp_path / "recipes" / "people.toml").read_bytes()
