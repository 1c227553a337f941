"""The notebooks of the documentation, and those that recipes become, run from top to bottom as Jupyter runs them."""

from __future__ import annotations

import json
import os
import tomllib
import warnings
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest

from anoncore.cli import main
from anoncore.publishing import Certificate, verify
from tests.docs.pages import PAGES, ROOT

FOLDER = PAGES / "notebooks"
BY_JUPYTER = ("first-release", "large-table")
"""Notebooks that Jupyter runs here; the code of all runs where the site is built."""
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LONGEST_GALLERY_BLOCK = 10
RECIPE = """
format = 2
measures = ["utility.information_loss"]
source = { path = "people.csv" }
roles = { name = "identifier", age = "quasi-identifier", disease = "sensitive" }
algorithm = { name = "mondrian", requirements = [{ name = "k-anonymity", k = 2 }] }
"""


def run(notebook: Any, folder: Path) -> Any:
    """The notebook with its outputs, run by Jupyter in a folder. Raises where a cell does."""
    from nbclient import NotebookClient

    with warnings.catch_warnings():
        # Jupyter warns of its own settings.
        warnings.simplefilter("ignore")
        client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}})
        # The kernel is another process, and tests these sources whatever is installed.
        client.execute(env={**os.environ, "PYTHONPATH": str(ROOT)})
    return notebook


def read(text: str) -> Any:
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    return notebook


def test_there_are_five_notebooks_each_with_a_page() -> None:
    assert len(NOTEBOOKS) == 5
    config, index = ((ROOT / "docs" / "mkdocs.yml").read_text("utf-8"), (FOLDER / "index.md").read_text("utf-8"))
    for path in NOTEBOOKS:
        assert f"notebooks/{path.stem}.md" in config
        assert f"({path.stem}.md)" in index


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs_and_begins_with_its_title(path: Path) -> None:
    notebook = read(path.read_text(encoding="utf-8"))
    assert notebook.cells[0].source.startswith("# ")
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path.stem in BY_JUPYTER], ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path: Path, tmp_path: Path) -> None:
    notebook = run(read(path.read_text(encoding="utf-8")), tmp_path)
    last = [cell for cell in notebook.cells if cell.cell_type == "code"][-1]
    assert last.outputs, "the last cell shows something"
    assert list(tmp_path.iterdir()) == [], "what is written goes to a folder of its own"


@pytest.mark.slow
def test_the_notebook_of_a_recipe_makes_its_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people = pd.DataFrame(
        {"name": list("abcd"), "age": [21, 24, 44, 46], "disease": list("xyxy"), "town": list("ttuu")}
    )
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    assert main(["script", str(tmp_path / "recipe.toml"), "--notebook"]) == 0
    notebook = run(read(capsys.readouterr().out), tmp_path)
    shown = json.dumps(notebook)
    assert "Release by Mondrian: 4 rows" in shown
    assert "21-24" in shown
    certificate = Certificate.load(tmp_path / "release-certificate.json")
    assert verify(certificate, {"release.xlsx": (tmp_path / "release.xlsx").read_bytes()}).holds


def test_the_notebook_has_the_seed_only_where_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('source = {builtin = "census"}\nalgorithm = {name = "anatomy", seed = 31}\n', encoding="utf-8")
    assert main(["script", str(recipe), "--notebook"]) == 0
    assert "seed=31" not in "".join(cell.source for cell in read(capsys.readouterr().out).cells)
    assert main(["script", str(recipe), "--notebook", "--with-seed"]) == 0
    assert "seed=31" in "".join(cell.source for cell in read(capsys.readouterr().out).cells)


def test_a_picture_of_the_gallery_takes_at_most_ten_lines() -> None:
    page = (FOLDER / "gallery.md").read_text(encoding="utf-8")
    blocks = [part.partition("```")[0] for part in page.split("```python\n")[1:]]
    assert len(blocks) == page.count("<!-- output -->") + 1, "all but the first draw a picture"
    assert max(block.count("\n") for block in blocks) <= LONGEST_GALLERY_BLOCK


def test_what_runs_notebooks_comes_with_the_tests() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = {one.partition(">")[0] for one in extras["test"]}
    assert {"nbformat", "nbclient", "ipykernel"} <= named
