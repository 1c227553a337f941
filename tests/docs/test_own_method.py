"""The page "Bring your own method" is followed literally: its package is installed, listed, checked and used."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks
from tests.extension import PAGE, installed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The folder of the page's files, and the environment in which its package is installed."""
    folder = tmp_path_factory.mktemp("package")
    return folder, installed(folder)


def ran(package: tuple[Path, dict[str, str]], *arguments: str) -> subprocess.CompletedProcess[str]:
    folder, environment = package
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_notebook_prints_what_the_page_shows(package: tuple[Path, dict[str, str]]) -> None:
    code = [block for block in blocks(PAGE) if block.file is None]
    assert [block.language for block in code] == ["python", "text", "python"]
    told = ran(package, "-c", code[0].code + code[2].code)
    assert told.returncode == 0, told.stderr
    assert told.stdout == code[1].code


def test_its_own_test_passes(package: tuple[Path, dict[str, str]]) -> None:
    told = ran(package, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_sorted_blocks.py")
    assert "1 passed" in told.stdout, told.stdout + told.stderr


COMMANDS = """
import json
import sys
from contextlib import redirect_stdout
from io import StringIO

from anoncore.cli import main

told = {}
for command in json.loads(sys.argv[1]):
    with redirect_stdout(StringIO()) as printed:
        code = main(command)
    told[command[0]] = (code, printed.getvalue())
print(json.dumps(told))
"""
"""Runs commands one after the other; each of them alone would spend most of its time on imports."""


@pytest.fixture(scope="module")
def told(package: tuple[Path, dict[str, str]]) -> dict[str, tuple[int, str]]:
    """What each command answers where the package is installed: how it ends, and what it prints."""
    commands = [
        ["algorithms"],
        ["run", "recipe.toml", "--output", "out"],
        ["verify", "out/recipe-release-certificate.json"],
        ["evaluate", "recipe.toml", "--measure", "largest-class"],
        ["sweep", "recipe.toml", "--try", "sorted-blocks k=2,3", "--criteria", "k,largest-class"],
    ]
    answered = ran(package, "-c", COMMANDS, json.dumps(commands))
    assert answered.returncode == 0, answered.stderr
    found = {name: (code, text) for name, (code, text) in json.loads(answered.stdout).items()}
    assert {name: code for name, (code, _) in found.items() if code} == {}, answered.stderr
    return found


def test_it_is_listed_and_a_recipe_runs_it_in_another_process(told: dict[str, tuple[int, str]]) -> None:
    assert "sorted-blocks: Sorted blocks" in told["algorithms"][1]
    assert "Largest class" in told["run"][1]


def test_its_certificate_is_verified_with_and_without_the_package(
    package: tuple[Path, dict[str, str]], told: dict[str, tuple[int, str]]
) -> None:
    alone = (package[0], package[1] | {"PYTHONPATH": str(ROOT)})
    verified = ran(alone, "-m", "anoncore", "verify", "out/recipe-release-certificate.json")
    assert verified.returncode == 0, "a reader who lacks the package counts k all the same: " + verified.stdout
    for text in (told["verify"][1], verified.stdout):
        assert "k-anonymity (k = 3)" in text


def test_its_number_is_a_criterion_of_evaluate_and_sweep(told: dict[str, tuple[int, str]]) -> None:
    assert "3" in told["evaluate"][1]
    assert "Largest class" in told["sweep"][1]


def test_a_package_that_cannot_be_imported_is_left_out_with_its_name(
    package: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    shutil.copytree(package[0] / "site", tmp_path / "site")
    for folder in (tmp_path, tmp_path / "site"):
        (folder / "sorted_blocks.py").write_text("import no_such_library\n", encoding="utf-8")
    environment = package[1] | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path / "site")])}
    told = ran((tmp_path, environment), "-m", "anoncore", "algorithms")
    assert told.returncode == 0
    assert "mondrian: Mondrian" in told.stdout
    assert "The extension 'sorted-blocks' of the package sorted-blocks is left out" in told.stderr
