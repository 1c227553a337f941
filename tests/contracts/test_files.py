"""What every file and the repository as a whole look like."""

import re

import pytest

from tests.contracts.source import python_files, short, tracked

TOP_LEVEL = {"pyproject.toml", "README.md", "LICENSE", "anoncore", "dashboard", "datasets", "tests"}
ALSO_ALLOWED = {"docs", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CITATION.cff", "Dockerfile"}
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|raise NotImplemented" + r"Error)\b")


@pytest.mark.slow
def test_files_are_named_for_their_ideas_and_finished():
    assert [short(path) for path in python_files() if path.stem in ("utils", "util", "helpers", "misc")] == []
    lines = (
        (f"{short(path)}:{number}", line)
        for path in python_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    )
    assert [place for place, line in lines if UNFINISHED.search(line)] == []


def test_the_top_level_is_as_agreed():
    top = {path.split("/")[0] for path in tracked()}
    unknown = {name for name in top - TOP_LEVEL - ALSO_ALLOWED if not name.startswith(".")}
    assert not unknown, f"The top level has {sorted(unknown)}, which no one agreed on."
    assert top >= TOP_LEVEL, f"The top level lacks {sorted(TOP_LEVEL - top)}."


def test_the_folder_of_the_built_in_tables_holds_data_alone():
    assert {path.rpartition(".")[2] for path in tracked() if path.startswith("datasets/")} == {"csv", "toml"}


def test_no_generated_file_is_tracked():
    generated = re.compile(r"__pycache__|\.egg-info|\.py[co]$|\.nb[ic]$|\.hypothesis/|_cache/|\.ipynb_checkpoints")
    assert [path for path in tracked() if generated.search(path)] == []


def test_test_files_are_collected():
    uncollected = [
        short(path)
        for path in python_files("tests")
        if "def test_" in path.read_text(encoding="utf-8")
        and not path.name.startswith("test_")
        and "benchmarks" not in path.parts
        and "papers" not in path.parts
        and path.parent.name != "contracts"
    ]
    assert uncollected == []
