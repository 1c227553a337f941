"""What goes through pipes: tables and recipes from the standard input, results as one JSON object on the output."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anoncore import Recipe
from anoncore.algorithms import ALGORITHMS, Mondrian
from anoncore.cli import main
from anoncore.requirements import REQUIREMENTS
from anoncore.sources import read_table

ROOT = Path(__file__).parents[2]
RECIPE = """\
format = 2
measures = ["utility.information_loss"]
[source]
path = "people.csv"
[roles]
age = "quasi-identifier"
disease = "sensitive"
[algorithm]
name = "mondrian"
requirements = [{name = "k-anonymity", k = 2}]
"""
TABLE = "age,disease\n" + "".join(f"{age},{disease}\n" for age, disease in zip(range(20, 32), "abc" * 4, strict=True))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(TABLE, encoding="utf-8")
    Path("people.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts a text on the standard input."""

    def type_in(text: str) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    return type_in


def results(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    """What a command prints with --json, of which nothing else stands on the output."""
    capsys.readouterr()
    assert main([*words, "--json"]) == code
    printed = json.loads(capsys.readouterr().out)
    assert isinstance(printed, dict)
    return printed


def test_a_table_is_judged_that_comes_through_a_pipe(typed: Any, capsys: pytest.CaptureFixture[str]) -> None:
    typed(TABLE)
    judged = results(capsys, "check", "-", "--known", "age", "--secret", "disease", "--require", "k=2", code=1)
    assert (judged["table"], judged["rows"], judged["holds"]) == ("standard input", 12, False)


@pytest.mark.parametrize("words", [["recipe", "-"], ["script", "-"], ["evaluate", "-", "--measure", "k"]])
def test_a_recipe_comes_through_a_pipe(typed: Any, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    typed(RECIPE)
    assert main(words) == 0
    assert "k" in capsys.readouterr().out


def test_the_table_of_a_release_goes_through_a_pipe(typed: Any, capfd: pytest.CaptureFixture[str]) -> None:
    typed(RECIPE)
    assert main(["run", "-", "--output", "-", "--no-certificate"]) == 0
    out, err = capfd.readouterr()
    assert read_table(out.encode(), "release").frame.groupby("age").size().min() >= 2
    assert "Mondrian: 12 rows in" in err
    assert sorted(path.name for path in Path().iterdir()) == ["people.csv", "people.toml"]


def test_several_tables_are_no_single_output(capsys: pytest.CaptureFixture[str]) -> None:
    Path("people.toml").write_text(RECIPE.partition("[algorithm]")[0] + '[algorithm]\nname = "anatomy"\nl = 3\n')
    assert main(["run", "people.toml", "--output", "-", "--no-certificate"]) == 2
    assert "The release has 2 tables" in capsys.readouterr().err


def test_recipes_points_and_hierarchies_go_to_the_output(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "people.csv", "--output", "-"]) == 0
    assert Recipe.loads(capfd.readouterr().out).source.path == "people.csv"
    assert main(["sweep", "people.toml", "--try", "mondrian k=3,6", "--criteria", "k", "--output", "-"]) == 0
    points = pd.read_csv(io.StringIO(capfd.readouterr().out))
    assert points["k"].tolist() == [3, 6]
    assert main(["hierarchy", "people.csv", "--column", "age", "--form", "width", "--output", "-"]) == 0
    assert capfd.readouterr().out.startswith("20;")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_zip_is_written_where_one_is_named(ending: str) -> None:
    assert main(["run", "people.toml", "--output", "people.zip", "--format", ending]) == 0
    assert sorted(path.name for path in Path().glob("people*z*")) == ["people.zip"]
    assert not Path(f"people-release.{ending}").exists()
    assert zipfile.ZipFile("people.zip").namelist() == [f"release.{ending}"]
    assert main(["verify", "people-certificate.json"]) == 0


def test_results_of_a_run_and_its_verification(capsys: pytest.CaptureFixture[str]) -> None:
    run = results(capsys, "run", "people.toml", "--output", "out")
    assert run["rows"] == {"release": 12}
    assert "k-anonymity (k = 2)" in run["held"][0]
    assert 0 < run["measures"]["utility.information_loss"] < 1
    assert [Path(path).name for path in run["written"]] == ["people-release.csv", "people-release-certificate.json"]
    assert len(run["key"]) >= 32
    verified = results(capsys, "verify", "out/people-release-certificate.json")
    assert verified["holds"] is True
    assert {finding["outcome"] for finding in verified["findings"]} == {"holds"}
    Path("out/people-release.csv").write_text("age,disease\n20,a\n", encoding="utf-8")
    assert results(capsys, "verify", "out", code=1)["holds"] is False
    judged = results(capsys, "check", "people.csv", "--known", "age")
    swept = results(capsys, "sweep", "people.toml", "--try", "mondrian k=3", "--target", "k=3")
    (model,) = results(capsys, "algorithms", "anatomy").values()
    described = (ROOT / "docs" / "pages" / "how-to" / "command-line.md").read_text(encoding="utf-8")
    for printed in (run, verified, verified["findings"][0], judged, swept, swept["points"][0], model):
        assert [key for key in printed if f"`{key}`" not in described] == []


def test_the_points_of_a_sweep_and_the_cheapest_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sweep", "people.toml", "--try", "mondrian k=3,6", "--target", "k=6", "--spare", "information-loss"]
    swept = results(capsys, *words)
    assert [point["values"]["k"] for point in swept["points"]] == [3, 6]
    assert swept["best"] == swept["points"][1]["release"]
    assert (swept["spare"], swept["missed"]) == ("information-loss", [])


def test_a_recipe_and_numbers_about_its_release(capsys: pytest.CaptureFixture[str]) -> None:
    assert results(capsys, "recipe", "people.toml") == Recipe.load("people.toml").to_dict()
    assert results(capsys, "evaluate", "people.toml", "--measure", "k") == {"people.toml": {"k": 3.0}}


@pytest.mark.parametrize(("command", "registry"), [("algorithms", ALGORITHMS), ("requirements", REQUIREMENTS)])
def test_all_methods_and_requirements_with_their_fields(
    command: str, registry: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = results(capsys, command)
    assert {name: list(model["fields"]) for name, model in listed.items()} == {
        name: list(model.model_fields) for name, model in registry.items()
    }
    assert all(model["use"] and model["source"] for model in listed.values())


def test_all_of_one_method(capsys: pytest.CaptureFixture[str]) -> None:
    (mondrian,) = results(capsys, "algorithms", "mondrian").values()
    assert mondrian["fields"]["split"]["choices"] == ["median", "infogain", "regression", "loss"]
    assert mondrian["fields"]["min_gain"]["default"] == Mondrian().min_gain
    assert mondrian["fields"]["min_gain"]["ge"] == 0
    assert main(["algorithms", "mondrian"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("mondrian: Mondrian\n")
    for part in ("  Use: ", "  Avoid: ", "min_gain (number, 0 or more, default 0.01)"):
        assert part in text
    assert "anatomy" not in text


def test_a_built_in_table_is_named_by_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--table", "t-closeness-table-2.1", "--output", "paper.toml"]) == 0
    assert Recipe.load("paper.toml").source.builtin == "t-closeness-table-2.1"
    judged = results(capsys, "check", "--table", "slicing-table-1", "--known", "age,sex")
    assert (judged["table"], judged["rows"]) == ("slicing-table-1", 8)
