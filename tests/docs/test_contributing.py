"""CONTRIBUTING is followed literally, in a copy of the program: what it adds works and meets the contracts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

PAGE = ROOT / "CONTRIBUTING.md"
COPIED = ("anoncore", "dashboard", "datasets", "tests", "pyproject.toml")


@dataclass(frozen=True)
class Sample:
    """A file that the page adds or changes, and where what is added lies."""

    file: str
    path: Path

    @property
    def is_change(self) -> bool:
        """Whether it changes a file that is there."""
        return self.path.suffix == ".diff"

    @property
    def text(self) -> str:
        """What the file holds, or what is added to it."""
        return self.path.read_text(encoding="utf-8")


def sections() -> dict[str, list[Sample]]:
    """The samples in the order in which the page links them, by the heading they stand below."""
    found: dict[str, list[Sample]] = {}
    for section in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.M)[1:]:
        linked = re.findall(r"^\[`(.+)`\]\((docs/samples/.+)\)$", section, re.M)
        if linked:
            found[section.partition("\n")[0]] = [Sample(file, ROOT / path) for file, path in linked]
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
    for sample in (sample for part in sections().values() for sample in part):
        file = folder / sample.file
        if sample.is_change:
            file.write_text(changed(file.read_text(encoding="utf-8"), sample.text, sample.path.name), encoding="utf-8")
        else:
            assert not file.exists(), f"{sample.file} is there already."
            shutil.copy(sample.path, file)
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
    files = [sample.file for sample in added if not sample.is_change]
    assert any(file.startswith(("anoncore/", "dashboard/")) for file in files)
    assert any(file.startswith("tests/") for file in files)
    assert any(sample.is_change for sample in added)


def test_every_sample_is_linked():
    linked = {sample.path for part in sections().values() for sample in part}
    assert linked == {path for path in (ROOT / "docs" / "samples").rglob("*") if path.is_file()}


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
    own = [sample.file for part in sections().values() for sample in part if sample.file.startswith("tests/")]
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
    files = [sample.file for part in sections().values() for sample in part]
    run(copy, "-m", "ruff", "check", "--no-cache", *files)
    run(copy, "-m", "ruff", "format", "--no-cache", "--check", *files)
