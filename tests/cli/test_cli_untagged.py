"""`anoncore run` and columns that undo a tag: nothing is written without a decision, and which are possible."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from anoncore import Recipe, privacy
from anoncore.cli import main
from anoncore.publishing.certification import Certificate

RECIPE = """
[source]
path = "pupils.csv"
[roles]
age = "quasi-identifier"
degree = "quasi-identifier"
[algorithm]
name = "mondrian"
requirements = [{ name = "k-anonymity", k = 6 }]
"""


def write(folder: Path, more: str = "") -> str:
    years = [8, 12, 16] * 4
    pupils = pd.DataFrame({"age": range(20, 32), "degree": ["none", "school", "college"] * 4, "years at school": years})
    pupils.to_csv(folder / "pupils.csv", index=False)
    recipe = folder / "pupils.toml"
    recipe.write_text(more + RECIPE, encoding="utf-8")
    return str(recipe)


@pytest.mark.parametrize("more", [[], ["--no-certificate"]])
def test_nothing_is_written_without_a_decision(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    output = tmp_path / "out"
    assert main(["run", write(tmp_path), "--output", str(output), *more]) == 1
    said = capsys.readouterr()
    assert not output.exists()
    assert said.out == ""
    finding, last = said.err.strip().splitlines()
    assert finding.startswith("anoncore: 'years at school' has no tag and tells 'degree' of every row")
    assert last.endswith("publish them as they are with --publish-untagged 'years at school'.")


def test_the_option_decides_and_the_certificate_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out"
    assert main(["run", write(tmp_path), "--output", str(output), "--publish-untagged", "years at school"]) == 0
    said = capsys.readouterr().out
    assert said.count("'years at school' has no tag") == 1, "told once, and not as something that nobody asked for"
    assert "Somebody decided to publish it all the same." in said
    certificate = Certificate.load(output / "pupils-release-certificate.json")
    assert [(one.column, one.decision) for one in certificate.untagged or ()] == [
        ("years at school", "published as it is")
    ]
    assert main(["verify", str(output / "pupils-release-certificate.json")]) == 0


def test_the_recipe_decides_too(tmp_path: Path) -> None:
    path = write(tmp_path, 'publish_untagged = ["years at school"]\n')
    assert Recipe.loads(Recipe.load(path).dumps()).publish_untagged == ("years at school",)
    assert main(["run", path, "--output", str(tmp_path / "out")]) == 0


def test_a_column_that_is_not_there_is_misuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--publish-untagged", "years at school", "--publish-untagged", "yeers"]
    assert main(["run", write(tmp_path), "--output", str(tmp_path / "out"), *given]) == 2
    assert "publishes no insensitive column 'yeers'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_columns_that_were_left_out_stay_left_out_in_a_recipe(tmp_path: Path) -> None:
    recipe = Recipe.load(write(tmp_path))
    again = Recipe.of(recipe.source, recipe.microdata(), recipe.algorithm, publish_untagged=["years at school"])
    assert json.loads(json.dumps(again.to_dict()["roles"])) == {"age": "quasi-identifier", "degree": "quasi-identifier"}
    assert again.publish_untagged == ("years at school",)


def test_what_a_run_needs_several_times_is_worked_out_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts: Counter[str] = Counter()

    def count(holder: object, name: str) -> None:
        original = getattr(holder, name)

        def counted(*given: object) -> object:
            counts[name] += 1
            return original(*given)

        monkeypatch.setattr(holder, name, counted)

    count(sys.modules["anoncore.privacy.tag_leaks"], "_relations")
    count(privacy, "guarantees")
    count(privacy, "profile")
    arguments = ["run", write(tmp_path), "--output", str(tmp_path / "out"), "--report"]
    assert main([*arguments, "--publish-untagged", "years at school"]) == 0
    assert counts == {"_relations": 1, "guarantees": 1, "profile": 1}
