"""CONTRIBUTING is followed literally, in a copy of the program: what it adds works and meets the contracts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Block, blocks

PAGE = ROOT / "CONTRIBUTING.md"
COPIED = ("anoncore", "dashboard", "datasets", "tests", "pyproject.toml")


def sections() -> dict[str, list[Block]]:
    """The blocks that are files or changes of files, by the heading they stand below."""
    text = PAGE.read_text(encoding="utf-8")
    headings = [(text[: match.start()].count("\n") + 1, match[1]) for match in re.finditer(r"^## (.+)$", text, re.M)]
    found: dict[str, list[Block]] = {}
    for block in blocks(PAGE):
        if block.file is not None:
            title = [name for line, name in headings if line < block.line][-1]
            found.setdefault(title, []).append(block)
    return found


def changed(text: str, change: str, where: str) -> str:
    """The text with the lines that begin with + put below the line that stands above them in the change."""
    lines, place = text.splitlines(), -1
    for line in change.splitlines():
        if line.startswith("+"):
            place += 1
            lines.insert(place, line[1:])
        else:
            assert lines.count(line[1:]) == 1, f"{where}: the line {line[1:]!r} stands {lines.count(line[1:])} times."
            place = lines.index(line[1:])
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program with everything added that the page adds."""
    folder = tmp_path_factory.mktemp("copy")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif (ROOT / name).is_file():
            shutil.copy(ROOT / name, folder / name)
    for block in (block for part in sections().values() for block in part):
        file = folder / str(block.file)
        if block.language == "diff":
            file.write_text(changed(file.read_text(encoding="utf-8"), block.code, block.where), encoding="utf-8")
        else:
            assert not file.exists(), f"{block.where}: {block.file} is there already."
            file.write_text(block.code, encoding="utf-8")
    return folder


def run(copy: Path, *arguments: str) -> str:
    """The output of Python in the copy; fails with it unless Python ends well."""
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(
        [sys.executable, *arguments], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


KINDS = ("an algorithm", "a requirement", "a measure", "an attack", "a page to the dashboard")


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_its_file_its_line_in_a_registry_and_its_test(kind):
    added = sections()[f"Add {kind}"]
    files = [str(block.file) for block in added]
    assert any(file.startswith(("anoncore/", "dashboard/")) for file in files)
    assert any(file.startswith("tests/") for file in files)
    assert any(block.language == "diff" for block in added)


CONTRACTS = tuple(
    f"tests/{name}.py"
    for name in (
        "contracts/test_layering",
        "contracts/test_numbers",
        "contracts/test_registry",
        "contracts/test_words",
        "docs/test_examples",
    )
)
ADDED = (
    *("sorted_blocks", "sorted-blocks", "SortedBlocks"),
    *("value_range", "range-diversity", "RangeDiversity"),
    *("coarsening", "coarsened-cells", "coarsened_cells"),
    *("uniform_groups", "uniform-groups", "homogeneity"),
    *("test_sizes", "every_number_that_is_declared", "no_two_files"),
)
"""Parts of the names of tests that are about what the page adds."""


@pytest.mark.slow
def test_what_is_added_passes_its_tests_and_the_contracts_and_is_offered_by_name(copy: Path):
    own = [str(block.file) for part in sections().values() for block in part if str(block.file).startswith("tests/")]
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "-k", " or ".join(ADDED), *own, *CONTRACTS]
    told = run(
        copy,
        "-c",
        f"import pytest, sys\ncode = pytest.main({options!r})\n"
        "from anoncore.cli import main\nfor name in ('algorithms', 'requirements'):\n    main([name])\n"
        "from anoncore.measures.evaluation import MEASURES\nprint(*MEASURES)\nsys.exit(code)",
    )
    assert int(re.search(r"(\d+) passed", told)[1]) >= 30
    assert "sorted-blocks: Sorted blocks" in told
    assert "range-diversity: range diversity" in told
    assert {"utility.coarsened_cells", "attacks.homogeneity"} <= set(told.split())


def test_what_is_added_meets_the_rules_of_style(copy: Path):
    if shutil.which("ruff", path=str(Path(sys.executable).parent)) is None:
        pytest.skip("ruff is not installed; the extra 'lint' brings it")
    files = [str(block.file) for part in sections().values() for block in part]
    run(copy, "-m", "ruff", "check", "--no-cache", *files)
    run(copy, "-m", "ruff", "format", "--no-cache", "--check", *files)
