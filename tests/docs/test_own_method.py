"""The page "Bring your own method" is followed literally: its package is installed, listed, checked and used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import blocks
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


def test_it_is_listed_and_a_recipe_runs_it_in_another_process(package: tuple[Path, dict[str, str]]) -> None:
    listed = ran(package, "-m", "anoncore", "algorithms")
    assert "sorted-blocks: Sorted blocks" in listed.stdout
    made = ran(package, "-m", "anoncore", "run", "recipe.toml", "--output", "out")
    assert made.returncode == 0, made.stdout + made.stderr
    assert "Largest class" in made.stdout
    certificate = str(next((package[0] / "out").glob("*certificate.json")))
    for environment in (package[1], package[1] | {"PYTHONPATH": str(Path(__file__).parents[2])}):
        verified = ran((package[0], environment), "-m", "anoncore", "verify", certificate)
        assert verified.returncode == 0, "a reader who lacks the package counts k all the same: " + verified.stdout
        assert "k-anonymity (k = 3)" in verified.stdout


def test_its_number_is_a_criterion_of_evaluate_and_sweep(package: tuple[Path, dict[str, str]]) -> None:
    told = ran(package, "-m", "anoncore", "evaluate", "recipe.toml", "--measure", "largest-class")
    assert told.returncode == 0, told.stdout + told.stderr
    assert "3" in told.stdout
    swept = ran(
        package,
        *("-m", "anoncore", "sweep", "recipe.toml", "--try", "sorted-blocks k=2,3", "--criteria", "k,largest-class"),
    )
    assert swept.returncode == 0, swept.stdout + swept.stderr
    assert "Largest class" in swept.stdout


def test_a_package_that_cannot_be_imported_is_left_out_with_its_name(tmp_path: Path) -> None:
    environment = installed(tmp_path)
    for folder in (tmp_path, tmp_path / "site"):
        (folder / "sorted_blocks.py").write_text("import no_such_library\n", encoding="utf-8")
    told = ran((tmp_path, environment), "-m", "anoncore", "algorithms")
    assert told.returncode == 0
    assert "mondrian: Mondrian" in told.stdout
    assert "The extension 'sorted-blocks' of the package sorted-blocks is left out" in told.stderr
