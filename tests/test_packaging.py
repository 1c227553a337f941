"""The wheel is whole, and what the README and the check of every change promise is the same."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import anoncore
from anoncore import Recipe
from anoncore.datasets import tables

ROOT = Path(__file__).parents[1]
PAGE = "anoncore/_page"
"""Where the wheel keeps the page, so that it brings one import name."""
TABLES = "anoncore/datasets/data"
"""Where the wheel keeps the built-in tables."""
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
README = (ROOT / "README.md").read_text("utf-8")
CHECK = (ROOT / ".ci" / "run").read_text("utf-8")


def blocks(language: str) -> list[str]:
    """Code blocks of the README in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling, which builds the wheel, is not installed; the extra 'test' brings it")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (file,) = folder.glob("*.whl")
    return file


def test_wheel_holds_the_packages_their_settings_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        settings = archive.read(f"{PAGE}/dashboard/.streamlit/config.toml")
    core = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "anoncore").rglob("*.py*")
        if path.suffix in (".py", ".pyi")
    }
    page = {f"{PAGE}/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "dashboard").rglob("*.py")}
    report = {path.relative_to(ROOT).as_posix() for path in (ROOT / "anoncore/publishing/report/templates").iterdir()}
    rules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "anoncore/front/policy/presets").iterdir()}
    data = {
        f"{TABLES}/{path.relative_to(ROOT / 'datasets').as_posix()}"
        for path in (ROOT / "datasets").rglob("*")
        if path.is_file()
    }
    assert core | page | report | rules | data <= names
    assert {name for name in names if name.startswith(f"{TABLES}/")} == data
    assert {"anoncore/py.typed", f"{PAGE}/dashboard/icon.svg", f"{PAGE}/dashboard/page.css"} <= names
    assert {f"{PAGE}/dashboard/board/{name}" for name in ("grid.js", "grid.css", "shipped.json")} <= names
    assert settings == (ROOT / ".streamlit" / "config.toml").read_bytes()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"anoncore", f"anoncore-{anoncore.__version__}.dist-info"}
    inside = [Path(name) for name in names if Path(name).parts[0] == "anoncore"]
    assert {path.suffix for path in inside} <= {
        ".csv",
        ".json",
        ".py",
        ".pyi",
        ".typed",
        ".svg",
        ".toml",
        ".html",
        ".css",
        ".js",
    }


def test_wheel_names_its_version_licence_and_command(wheel: Path) -> None:
    info = f"anoncore-{anoncore.__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        metadata = HeaderParser().parsestr(archive.read(f"{info}/METADATA").decode())
        commands = archive.read(f"{info}/entry_points.txt").decode()
        assert f"{info}/licenses/LICENSE" in archive.namelist()
    assert metadata["Version"] == anoncore.__version__
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"
    assert commands.split() == ["[console_scripts]", "anoncore", "=", "anoncore.cli:main"]


def test_wheel_works_without_the_source_tree(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    code = (
        "import anoncore\n"
        "from anoncore import datasets\n"
        "from anoncore.cli.page import page_folder\n"
        "print(anoncore.__file__, datasets.__file__, page_folder() / 'app.py')\n"
        "from anoncore.cli import main\n"
        "main(['--help'])\n"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "installed")}
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    core, tables, app = (Path(path) for path in ran.stdout.splitlines()[0].split())
    installed = tmp_path / "installed"
    assert (core.parents[1], tables.parents[2], app.parents[3]) == (installed, installed, installed)
    assert (app.parent / ".streamlit" / "config.toml").is_file()
    assert "usage: anoncore" in ran.stdout


@pytest.mark.slow
def test_wheel_has_every_built_in_table_without_the_source_tree(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    code = (
        "import hashlib, pandas as pd\n"
        "from anoncore.datasets import tables\n"
        "from anoncore.datasets.data_files import tables_folder\n"
        "print(tables_folder())\n"
        "for name, entry in tables().items():\n"
        "    rows = b'' if entry.external else pd.util.hash_pandas_object(entry.load()).to_numpy().tobytes()\n"
        "    print(name, hashlib.sha256(repr((entry.roles, entry.taxonomies)).encode() + rows).hexdigest())\n"
    )
    told = []
    for folder in (tmp_path / "installed", ROOT):
        environment = os.environ | {"PYTHONPATH": str(folder)}
        ran = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        told.append(ran.stdout.splitlines())
    installed, source = told
    assert installed[0] == str(tmp_path / "installed" / TABLES)
    assert source[0] == str(ROOT / "datasets")
    assert installed[1:] == source[1:]
    assert len(source) == 1 + len(tables())


@pytest.fixture(scope="module")
def namesake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of another project whose packages are called `datasets`, as Hugging Face's is, and `dashboard`."""
    file = tmp_path_factory.mktemp("namesake") / "namesake-1.0-py3-none-any.whl"
    content = {
        "datasets/__init__.py": "from datasets.reading import load_dataset\n",
        "datasets/reading.py": "def load_dataset(): return 'theirs'\n",
        "dashboard/__init__.py": "",
        "dashboard/app.py": "TITLE = 'theirs'\n",
        "namesake-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: namesake\nVersion: 1.0\n",
        "namesake-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "namesake-1.0.dist-info/RECORD"
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)
        archive.writestr(record, "".join(f"{name},,\n" for name in [*content, record]))
    return file


USE = {
    "anoncore": (
        "from anoncore.cli.page import page_folder\n"
        "from anoncore.datasets import table\n"
        "import anoncore, sys\n"
        "assert anoncore.__file__.startswith(sys.prefix), anoncore.__file__\n"
        "assert len(table('slicing-table-1').load()) == 8\n"
        "assert (page_folder() / 'app.py').is_file()\n"
    ),
    "namesake": (
        "import dashboard.app, datasets\n"
        "assert datasets.load_dataset() == 'theirs'\n"
        "assert dashboard.app.TITLE == 'theirs'\n"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("order", [("anoncore", "namesake"), ("namesake", "anoncore")], ids=" then ".join)
def test_packages_called_datasets_and_dashboard_stand_beside_it(
    wheel: Path, namesake: Path, tmp_path: Path, order: tuple[str, str]
) -> None:
    if importlib.util.find_spec("pip") is None:
        pytest.skip("pip, which installs the wheels, is not installed")
    venv.create(tmp_path, with_pip=False)
    (python,) = [path for path in (tmp_path / "bin" / "python", tmp_path / "Scripts" / "python.exe") if path.is_file()]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
    wheels = {"anoncore": wheel, "namesake": namesake}
    # What anoncore needs comes from the environment of the tests, after everything that is installed here.
    libraries = f"import sys\nsys.path.append({sysconfig.get_path('purelib')!r})\n"
    for name in order:
        run([*pip, "install", "--no-index", "--no-deps", "--no-compile", "--quiet", str(wheels[name])], tmp_path)
    for code in USE.values():
        run([str(python), "-c", libraries + code], tmp_path)
    removed, kept = order
    run([*pip, "uninstall", "--yes", "--quiet", removed], tmp_path)
    run([str(python), "-c", libraries + USE[kept]], tmp_path)


def run(command: list[str], folder: Path) -> None:
    """Run a command that must succeed, with nothing of the source tree on the path of Python."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_the_version_stands_in_one_place() -> None:
    assert "version" not in PROJECT["project"]
    assert PROJECT["project"]["dynamic"] == ["version"]
    source = (ROOT / PROJECT["tool"]["hatch"]["version"]["path"]).read_text("utf-8")
    assert f'__version__ = "{anoncore.__version__}"' in source
    stands = [path for path in (ROOT / "anoncore").rglob("*.py") if "__version__ = " in path.read_text("utf-8")]
    assert len(stands) == 1


def test_the_index_is_told_what_is_known_and_nothing_else() -> None:
    """There is no address of the project that could be told; classifiers are of those that the index knows."""
    project = PROJECT["project"]
    assert "urls" not in project
    assert project["classifiers"] == sorted(project["classifiers"])
    assert len(project["keywords"]) >= 5
    assert (
        f"Programming Language :: Python :: {project['requires-python'].removeprefix('>=')}" in project["classifiers"]
    )
    assert not [one for one in project["classifiers"] if one.startswith("License")], (
        "the licence has a field of its own"
    )


@pytest.mark.slow
def test_what_would_be_uploaded_passes_the_checks_of_the_index(tmp_path: Path) -> None:
    tools = {"hatchling": "test", "twine": "lint", "check_wheel_contents": "lint"}
    for module, extra in tools.items():
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed; the extra '{extra}' brings it")
    built, again = tmp_path / "built", tmp_path / "again"
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(built)], cwd=ROOT, check=True)
    (sdist,), (file,) = built.glob("*.tar.gz"), built.glob("*.whl")
    checks = (["twine", "check", "--strict", str(sdist), str(file)], ["check_wheel_contents", str(file)])
    for check in checks:
        ran = subprocess.run([sys.executable, "-m", *check], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    # Who has the source distribution builds the same wheel, and has what tests it.
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.glob("anoncore-*")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(again)], cwd=tree, check=True)
    (other,) = again.glob("*.whl")
    contents = []
    for one in (file, other):
        with zipfile.ZipFile(one) as archive:
            contents.append({name: archive.read(name) for name in archive.namelist()})
    assert contents[0] == contents[1]
    assert (tree / "tests" / "test_packaging.py").is_file()
    assert (tree / "docs" / "mkdocs.yml").is_file()


def test_no_package_host_and_no_pinned_version_is_named() -> None:
    for text in ((ROOT / "pyproject.toml").read_text("utf-8"), CHECK, *blocks("sh")):
        assert "://" not in text
        assert not re.search(r"--(extra-)?index-url|--find-links|--trusted-host", text)
    extras = PROJECT["project"]["optional-dependencies"].values()
    for requirement in [*PROJECT["project"]["dependencies"], *(one for extra in extras for one in extra)]:
        assert "==" not in requirement
        assert "@" not in requirement


def test_the_readme_is_short_and_whole_where_no_repository_is_around_it() -> None:
    """A package index shows the README alone: a link to a file beside it would be dead there."""
    assert len(README.split()) <= 900
    pictures = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", README)
    assert [(ROOT / path).is_file() for _, path in pictures] == [True]
    assert all((ROOT / path).stat().st_size < 100_000 and len(text.split()) > 10 for text, path in pictures)
    without = re.sub(r"!\[[^\]]+\]\([^)]+\)", "", README)
    assert [link for link in re.findall(r"\]\(([^)]+)\)", without) if not link.startswith(("https://", "#"))] == []
    named = re.findall(r"`((?:[A-Z]+\.(?:md|cff)|LICENSE|tests/[a-z/]+\.md))`", README)
    assert len(named) >= 5
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_what_is_cited_is_this_version() -> None:
    cited = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {anoncore.__version__}\n" in cited
    assert f"\nlicense: {PROJECT['project']['license']}\n" in cited


def test_each_command_of_the_readme_stands_on_its_own() -> None:
    start, tests = (block.strip() for block in blocks("sh"))
    for command in (start, tests):
        assert "\n" not in command
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")
    assert start.endswith("anoncore dashboard")
    assert tests in CHECK


def test_the_example_in_python_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = blocks("python")
    exec(compile(example, "README.md", "exec"), {})
    said, _, loss = capsys.readouterr().out.strip().rpartition(" ")
    assert said == "Everything that was asked holds."
    assert 0 < float(loss) < 1
    published = pd.read_csv(tmp_path / "people.csv", dtype=str)
    assert sorted(published) == ["age", "diagnosis", "education", "race", "sex"]
    assert published.groupby(["age", "sex", "education", "race"]).size().min() >= 10


def test_the_example_recipe_runs(tmp_path: Path) -> None:
    rows = ["Ann,20,Bonn,flu", "Bob,21,Berlin,gout", "Cem,30,Paris,flu", "Dora,31,Paris,gout"]
    (tmp_path / "people.csv").write_text("\n".join(["name,age,city,disease", *rows]) + "\n", encoding="utf-8")
    (example,) = blocks("toml")
    run = Recipe.loads(example, folder=tmp_path).run()
    assert sorted(run.release.partition.sizes) == [2, 2]
    assert list(run.measures) == ["privacy.profile", "utility.information_loss"]
