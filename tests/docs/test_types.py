"""The Python code of README, of every page and of the notebooks passes the type checkers that people use."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, blocks, pages

pytestmark = pytest.mark.slow
RUN_ELSEWHERE = re.compile(r"<!-- not run: by tests/")
MYPY = """
[mypy]
strict = true

# As where it is installed: a checker reads what it offers, and says nothing of what is wrong inside.
[mypy-anoncore.*]
follow_imports = silent

# Only its inside and other libraries use them, and reading them takes longer than all else.
[mypy-numba.*,llvmlite.*,pyspark.*,altair.*,hypothesis.*,IPython.*,narwhals.*,prompt_toolkit.*,traitlets.*,rich.*,scipy.*,jinja2.*]
follow_imports = skip
ignore_missing_imports = true

# They have no types.
[mypy-sklearn.*]
ignore_missing_imports = true
"""
PYRIGHT = {"typeCheckingMode": "standard", "reportUnnecessaryTypeIgnoreComment": "error"}
"""What Pyright reports by default, which is less than basedpyright does; and comments that expect an error in vain."""

CALLS = """
from typing import assert_type

import pandas as pd

from anoncore import Microdata, Recipe, Role
from anoncore.algorithms import Anatomy, Mondrian, Slicing
from anoncore.datasets import Table, table, tables
from anoncore.requirements import KAnonymity, TCloseness
from anoncore.search import Point, sweep

assert_type(tables()["census"], Table)
assert_type(table("census").load(), pd.DataFrame)
data = Microdata(table("census").load(), {**table("census").roles, "age": Role.QUASI_IDENTIFIER}, {"age": "numeric"})
release = Mondrian(requirements=[KAnonymity(k=10), TCloseness(t=0.2)], split="loss").anonymize(data)
assert_type(sweep(data, [Anatomy(l=2), Slicing()], ["k"]), tuple[Point, ...])
assert_type(sweep(data, [Anatomy(l=2)], ["k"], stop=lambda: False), tuple[Point | None, ...])
assert_type(release.pandas_tables("bounds"), dict[str, pd.DataFrame])
Recipe.of("people.csv", data, release.algorithm)

Mondrian(split="halves")  # type: ignore[arg-type]
Mondrian(requirements=[10])  # type: ignore[list-item]
Mondrian(depth=3)  # type: ignore[call-arg]
Anatomy(l="two")  # type: ignore[arg-type]
release.tables(numbers="words")  # type: ignore[arg-type]
"""
"""Calls whose types are known, and wrong ones: a checker that lets one pass reports the comment that expects one."""


def is_code_of(page: Path, line: int) -> bool:
    """Whether the block at a line of a page is run by another test."""
    above = page.read_text(encoding="utf-8").splitlines()[: line - 1]
    return bool(above) and RUN_ELSEWHERE.match(above[-1].strip()) is not None


def write_page(page: Path, folder: Path) -> None:
    """Write the blocks of a page that are run as one program, line by line where the page has it, and its files."""
    program = ""
    for block in blocks(page):
        if block.language != "python" or not (block.is_run or is_code_of(page, block.line)):
            continue
        if block.file is None:
            program += "\n" * (block.line - program.count("\n")) + block.code
        else:
            (folder / block.file).write_text(block.code, encoding="utf-8")
    if program:
        name = "_".join(page.relative_to(ROOT).with_suffix("").parts).replace("-", "_")
        (folder / f"{name}.py").write_text(program, encoding="utf-8")


def write_notebook(notebook: Path, folder: Path) -> None:
    """Write the code of a notebook as one program."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    (folder / f"notebook_{notebook.stem.replace('-', '_')}.py").write_text("\n\n".join(code) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all documented code and the settings of both checkers."""
    folder = tmp_path_factory.mktemp("documented")
    for page in (ROOT / "README.md", *pages()):
        write_page(page, folder)
    for notebook in sorted((PAGES / "notebooks").glob("*.ipynb")):
        write_notebook(notebook, folder)
    (folder / "calls.py").write_text(CALLS, encoding="utf-8")
    (folder / "mypy.ini").write_text(MYPY, encoding="utf-8")
    (folder / "pyrightconfig.json").write_text(json.dumps(PYRIGHT | {"extraPaths": [str(ROOT)]}), encoding="utf-8")
    assert len(list(folder.glob("*.py"))) >= 25
    return folder


@pytest.mark.parametrize(
    ("tool", "options"),
    [("mypy", ("--cache-dir", os.devnull, ".")), ("basedpyright", ("--pythonpath", sys.executable, "."))],
    ids=("mypy", "basedpyright"),
)
def test_documented_code_has_no_errors(programs: Path, tool: str, options: tuple[str, ...]) -> None:
    if find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed; the extra 'lint' brings it")
    checked = subprocess.run(
        [sys.executable, "-m", tool, *options],
        cwd=programs,
        env=os.environ | {"MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
