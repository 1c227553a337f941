"""What needs a package that is not installed says so in a sentence, and the core needs none of them."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from anoncore import Microdata, attacks, utility
from anoncore.algorithms import MarginalSynthesis, Mondrian
from anoncore.base.errors import AnonymizationError
from anoncore.base.extras import PACKAGES, MissingPackageError
from anoncore.cli import main
from anoncore.publishing import write_tables
from anoncore.publishing.report import Subject, report
from anoncore.publishing.signing.signature import new_keys
from anoncore.requirements import KAnonymity
from anoncore.sources.reader import read_table
from tests.hidden_packages import hide

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
PEOPLE = pd.DataFrame(
    {"age": [21, 22, 44, 46] * 5, "zip": [1, 2, 3, 4] * 5, "disease": ["flu", "flu", "cold", "gout"] * 5}
)
DATA = Microdata(PEOPLE, {"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive"})
RELEASE = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(DATA)
RECIPE = (
    'format = 2\n[source]\npath = "people.csv"\n[roles]\nage = "quasi-identifier"\ndisease = "sensitive"\n'
    '[algorithm]\nname = "mondrian"\nrequirements = [{ name = "k-anonymity", k = 2 }]\n'
)

FEATURES: list[tuple[str, str, Callable[[Path], object]]] = [
    ("openpyxl", "excel", lambda folder: read_table(folder / "book.xlsx")),
    ("openpyxl", "excel", lambda folder: write_tables({"t": PEOPLE}, folder / "new.xlsx", "excel")),
    ("sklearn", "learn", lambda _: importlib.reload(importlib.import_module("anoncore.front.estimator"))),
    ("sklearn", "learn", lambda _: attacks.singling_out(RELEASE)),
    ("sklearn", "learn", lambda _: attacks.linkability(RELEASE, known=(["age"], ["zip"]))),
    ("sklearn", "learn", lambda _: attacks.inference(RELEASE, "disease")),
    ("sklearn", "learn", lambda _: utility.classification(RELEASE, "disease", classifier="tree", folds=2)),
    ("sklearn", "learn", lambda _: utility.classification(RELEASE, "disease", classifier="knn", folds=2)),
    ("jinja2", "report", lambda _: report([Subject("people", RELEASE)])),
    ("plotly", "plot", lambda _: RELEASE.plot()),
    ("cryptography", "sign", lambda _: new_keys("Ann")),
    ("opendp", "dp", lambda _: MarginalSynthesis().anonymize(DATA)),
    ("s3fs", "s3", lambda _: read_table("s3://bucket/people.parquet")),
    ("gcsfs", "gcs", lambda _: read_table("gs://bucket/people.parquet")),
    ("adlfs", "azure", lambda _: read_table("abfs://bucket/people.parquet")),
    ("aiohttp", "http", lambda _: read_table("https://host/people.csv")),
    ("adbc_driver_postgresql", "postgresql", lambda _: read_table("postgresql://host/db")),
]
COMMANDS = [
    ("openpyxl", "excel", ["check", "book.xlsx", "--known", "age"]),
    ("openpyxl", "excel", ["run", "recipe.toml", "--format", "excel"]),
    ("jinja2", "report", ["report", "recipe.toml"]),
    ("jinja2", "report", ["run", "recipe.toml", "--report"]),
    ("streamlit", "dashboard", ["dashboard"]),
    ("plotly", "dashboard", ["dashboard"]),
    ("pyspark", "spark", ["run", "large.toml", "--engine", "spark"]),
]
CORE = """
import sys
for name in {hidden!r}:
    sys.modules[name] = None
from anoncore.cli import main
for ending in ("csv", "parquet"):
    assert main(["check", "people." + ending, "--known", "age", "--secret", "disease"]) == 0
    assert main(["run", "recipe.toml", "--output", "published-" + ending, "--format", ending]) == 0
    assert main(["verify", "published-" + ending + "/recipe-release-certificate.json"]) == 0
assert main(["algorithms"]) == 0
exec(compile({program!r}, "README.md", "exec"))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("people.csv", index=False)
    PEOPLE.to_parquet("people.parquet")
    write_tables({"people": PEOPLE}, tmp_path / "book.xlsx", "excel")
    (tmp_path / "recipe.toml").write_text(RECIPE, "utf-8")
    (tmp_path / "large.toml").write_text(RECIPE.replace("mondrian", "rothko-tree"), "utf-8")
    return tmp_path


@pytest.mark.parametrize(("package", "extra", "use"), FEATURES)
def test_whoever_needs_a_package_says_which_and_how_to_install_it(
    package: str, extra: str, use: Callable[[Path], object], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, package)
    with pytest.raises(MissingPackageError) as refused:
        use(folder)
    assert isinstance(refused.value, AnonymizationError)
    assert re.fullmatch(
        r"[A-Z][^;]* needs [^;]*; install (it|them) with: pip install 'anoncore\[\w+\]'\.", str(refused.value)
    )
    assert PACKAGES[package].title in str(refused.value)
    assert f"[{extra}]" in str(refused.value)


@pytest.mark.parametrize(("package", "extra", "arguments"), COMMANDS)
def test_commands_say_it_too_before_they_begin(
    package: str,
    extra: str,
    arguments: list[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    hide(monkeypatch, package)
    before = {path.name for path in folder.iterdir()}
    assert main(arguments) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"{PACKAGES[package].title}; install it with: pip install 'anoncore[{extra}]'." in said
    assert {path.name for path in folder.iterdir()} == before


def test_every_package_comes_with_the_extra_that_is_named() -> None:
    for name, package in PACKAGES.items():
        needed = " ".join(EXTRAS[package.extra]).lower().replace("-", "_").replace("scikit_learn", "sklearn")
        brought = {"mbi": "opendp[mbi]", "polars": "opendp[mbi]", "aiohttp": "fsspec[http]"}.get(name, name)
        assert brought in needed, f"the extra {package.extra} brings no {name}"


@pytest.mark.slow
def test_the_core_works_without_any_of_them(folder: Path) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    program = re.findall(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)[0]
    code = CORE.format(hidden=[*PACKAGES, "rich", "IPython"], program=program)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
