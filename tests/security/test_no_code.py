"""What users write is data: nothing in the program runs it, imports it or revives objects from it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contracts.source import python_files, short

RUNNING = {"eval", "exec", "__import__", "compile", "execfile", "system", "popen", "read_pickle", "unsafe_load"}
LOADING = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "yaml", "joblib", "subprocess"}
BETWEEN_OWN_PROCESSES = {
    "anoncore/engines/spark_run.py",
    "anoncore/algorithms/synthesis/marginal_synthesis.py",
    "anoncore/front/warmup/worker.py",
    "anoncore/front/warmup/workshop.py",
}
"""They move what only the program made from one of its processes to another; no file or text of a user is unpickled.

Spark moves the counters of this very run, and the process that compiles gets the types of arguments; that process is
started by the program, with nothing that a user wrote in its command, and so is the one that runs OpenDP.
"""
READING = "anoncore/sources/apart.py"
"""It starts the process that reads a file of a visitor, which answers with JSON and Arrow; neither is unpickled."""
COMPILING = "anoncore/kernels/compiled_code.py"
"""It lets numba compile functions of the program; the method has the name of Python's own function."""
OWN_MODULES = {
    "anoncore/base/extras.py",
    "anoncore/base/lazy_names.py",
    "anoncore/datasets/__init__.py",
    "anoncore/cli/command.py",
    "anoncore/cli/completion.py",
    "anoncore/cli/page.py",
    "anoncore/sources/reading_process.py",
    "anoncore/front/warmup/worker.py",
    "dashboard/tasks/warmup.py",
    "dashboard/elements/routes.py",
    "dashboard/closer/method.py",
    "dashboard/closer/attack.py",
    "dashboard/learn/learn.py",
}
"""They import modules of the program and of packages that it needs, or run its page, by names that stand in it."""


def dangers(path: Path) -> Iterator[str]:
    """Everything in a file that could run or revive what a user wrote."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
            found = {name.split(".")[0] for name in names} & LOADING
            yield from (f"{short(path)}:{node.lineno} imports {name}" for name in found)
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        own = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == "re"
        if (called in RUNNING and not own) or (
            called in ("import_module", "run_path", "run_module") and short(path) not in OWN_MODULES
        ):
            yield f"{short(path)}:{node.lineno} calls {called}"
        for keyword in node.keywords:
            if keyword.arg in ("shell", "allow_pickle") and getattr(keyword.value, "value", True):
                yield f"{short(path)}:{node.lineno} sets {keyword.arg}"


@pytest.mark.slow
def test_nothing_that_a_user_wrote_is_run_or_revived():
    allowed = dict.fromkeys(BETWEEN_OWN_PROCESSES, ("imports pickle", "imports subprocess"))
    allowed |= {READING: ("imports subprocess",), COMPILING: ("calls compile",)}
    found = [
        one
        for path in python_files("anoncore", "dashboard")
        for one in dangers(path)
        if not one.endswith(allowed.get(short(path), ("nothing",)))
    ]
    assert found == []


def test_the_search_for_dangers_finds_them(tmp_path, monkeypatch):
    source = tmp_path / "anoncore" / "bad.py"
    source.parent.mkdir()
    lines = ["import pickle", "from yaml import load", "eval('1')", "run('x', shell=True)", "import_module(name)"]
    source.write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr("tests.contracts.source.ROOT", tmp_path)
    assert [one.split(":")[1].split(" ")[0] for one in dangers(source)] == ["1", "2", "3", "4", "5"]
