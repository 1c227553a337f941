"""The site builds without a warning, fetches nothing from outside, and explains everything that is registered."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from anoncore.cli.command import COMMANDS
from anoncore.measures.evaluation import MEASURES, MEASURES_OF_SEVERAL
from anoncore.requirements import REQUIREMENTS
from tests.contracts.test_layering import LAYER_OF
from tests.docs.pages import PAGES, ROOT

CONFIG = ROOT / "docs" / "mkdocs.yml"
ROOMS = (
    *("algorithms", "anoncore", "attacks", "datasets", "privacy", "publishing", "requirements", "search", "sources"),
    "utility",
)
"""The packages whose public names have pages in the reference; `anoncore` is the top itself."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for module in ("mkdocs", "material", "mkdocstrings_handlers"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed; the extra 'docs' brings it")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(CONFIG), "-d", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    told = built.stdout + built.stderr
    assert built.returncode == 0, told
    assert not re.search(r"warning", told, re.IGNORECASE), told
    return folder


@pytest.mark.slow
def test_nothing_is_fetched_from_outside(site: Path):
    """No script, style, font or picture has an address of another host; links that people click may."""
    fetched = re.compile(r"<(?:script|img|iframe|source)[^>]+src=\"?(?:https?:)?//|<link[^>]+href=\"?(?:https?:)?//")
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 30
    assert [page.name for page in pages if fetched.search(page.read_text(encoding="utf-8"))] == []
    styles = [path for path in site.rglob("*.css") if re.search(r"url\(\W?(?:https?:)?//", path.read_text("utf-8"))]
    assert styles == []


@pytest.mark.slow
def test_the_reference_has_every_public_name(site: Path):
    for package in ROOMS:
        folder = site / "reference" / "python" / package
        index = (folder / "index.html").read_text(encoding="utf-8")
        module = importlib.import_module("anoncore" if package == "anoncore" else f"anoncore.{package}")
        for name in set(module.__all__) - {"__version__"}:
            (anchor,) = set(re.findall(rf'(?:href="\w+\.html#|id=")(anoncore\.(?:\w+\.)*{name})"', index))
            homes = [page for page in folder.glob("*.html") if f'id="{anchor}"' in page.read_text(encoding="utf-8")]
            assert len(homes) == 1, f"{name} of {module.__name__} stands on the pages {homes}."


@pytest.mark.slow
def test_notebooks_and_pictures_show_what_their_code_shows(site: Path):
    gallery = (site / "notebooks" / "gallery.html").read_text(encoding="utf-8")
    assert gallery.count('class="plotly-graph-div"') == 8
    assert '<script src="../assets/plotly.min.js">' in gallery
    assert (site / "assets" / "plotly.min.js").is_file()
    first = (site / "notebooks" / "first-release.html").read_text(encoding="utf-8")
    assert "Release by Mondrian: 2,000 rows" in first
    assert 'href="first-release.ipynb"' in first
    assert (site / "notebooks" / "first-release.ipynb").is_file()
    for page in (site / "notebooks").glob("*.html"):
        assert "shown-code-" not in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_architecture_draws_every_room(site: Path):
    page = (site / "explanation" / "architecture.html").read_text(encoding="utf-8")
    drawn = re.findall(r'<text class="name"[^>]*>([^<]+)</text>', page)
    assert sorted(drawn) == sorted(["dashboard", *LAYER_OF])


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_every_requirement_is_explained(name):
    page = (PAGES / "explanation" / "requirements.md").read_text(encoding="utf-8")
    assert f"{{ #{name} }}" in page, f"explanation/requirements.md has no section for {name}."


@pytest.mark.parametrize("name", [name for name in (*MEASURES, *MEASURES_OF_SEVERAL) if name.startswith("attacks.")])
def test_every_attack_is_explained(name):
    page = "".join(one.read_text(encoding="utf-8") for one in (PAGES / "explanation").glob("attacks*.md"))
    assert f"`{name.partition('.')[2]}`" in page or f"{{ #{name.partition('.')[2]} }}" in page


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_section(name):
    page = (PAGES / "reference" / "command-line.md").read_text(encoding="utf-8")
    assert f"## anoncore {name}\n\n<!-- help: {name} -->" in page
