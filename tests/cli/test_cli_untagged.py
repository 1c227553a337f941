"""Columns without a role on the command line: left out, or published by a decision that the first line tells."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from anoncore import Recipe, privacy
from anoncore.cli import main
from anoncore.publishing import Certificate

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


def write(folder: Path, more: str = "", roles: str = "") -> str:
    years = [8, 12, 16] * 4
    pupils = pd.DataFrame({"age": range(20, 32), "degree": ["none", "school", "college"] * 4, "years at school": years})
    pupils.to_csv(folder / "pupils.csv", index=False)
    recipe = folder / "pupils.toml"
    recipe.write_text(more + RECIPE.replace("[roles]", f"[roles]\n{roles}"), encoding="utf-8")
    return str(recipe)


BREAKS = (
    "Everything that was asked holds over what is known; 'years at school', published by decision, finds everybody: "
    "12 of 12 rows lie in groups of fewer than k = 6."
)


def published(folder: Path) -> pd.DataFrame:
    return pd.read_csv(next(folder.glob("*.csv")))


def smallest(table: pd.DataFrame, *secret: str) -> int:
    """Rows of the smallest class for who knows all columns but the secret, counted by pandas alone."""
    return int(table.groupby([name for name in table.columns if name not in secret], dropna=False).size().min())


@pytest.mark.parametrize("first", ["", "format = 2\n"])
def test_a_column_without_a_role_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str], first: str) -> None:
    output = tmp_path / "out"
    assert main(["run", write(tmp_path, first), "--output", str(output), "--strict"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Everything that was asked holds.\n")
    assert "  Left out, because they have no role: 'years at school'\n" in said
    assert list(published(output)) == ["age", "degree"]
    assert smallest(published(output)) >= 6
    certificate = output / "pupils-release-certificate.json"
    assert "years" not in certificate.read_text(encoding="utf-8")
    assert main(["verify", str(certificate), "--strict"]) == 0


def test_a_decision_that_breaks_the_promise_is_the_first_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output, recipe = tmp_path / "out", write(tmp_path, roles='"*" = "insensitive"')
    assert main(["run", recipe, "--output", str(output)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == BREAKS
    assert list(published(output)) == ["age", "degree", "years at school"]
    assert smallest(published(output)) < 6
    assert main(["run", recipe, "--output", str(output), "--force", "--strict"]) == 1
    capsys.readouterr()
    path = output / "pupils-release-certificate.json"
    certificate = Certificate.load(path)
    assert f"{certificate.breaking}." == BREAKS.partition("; ")[2]
    assert [(one.column, one.decision) for one in certificate.decided or ()] == [
        ("years at school", "published by decision")
    ]
    assert main(["verify", str(path)]) == 3
    *_, claimed, _signature, last = capsys.readouterr().out.splitlines()
    assert claimed.startswith("claimed, not checked: k-anonymity (k = 6) holds only if nobody knows 'years at school'")
    assert last == f"What was counted holds, but 1 statement of 6 is only claimed; {certificate.breaking}."
    assert main(["verify", str(path), "--strict"]) == 1


@pytest.mark.parametrize("more", [[], ["--no-certificate"]])
def test_a_recipe_of_the_first_format_is_refused_with_the_lines_that_decide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    output = tmp_path / "out"
    assert main(["run", write(tmp_path, "format = 1\n"), "--output", str(output), *more]) == 1
    said = capsys.readouterr()
    assert (said.out, output.exists()) == ("", False)
    assert said.err.strip().splitlines()[-1] == (
        "anoncore: Nobody decided on 'years at school': the recipe is of format 1 and gives it no role. Write format = "
        '2 into its first line to leave it out, or "*" = "insensitive" into [roles] to publish it as it is (on the '
        "command line: --publish-untagged)."
    )


def test_the_option_decides_for_a_recipe_of_the_first_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    recipe = write(tmp_path, "format = 1\n")
    assert main(["run", recipe, "--output", str(output), "--publish-untagged"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == BREAKS
    assert list(published(output)) == ["age", "degree", "years at school"]
    key = ["--key-file", str(tmp_path / "key.txt")]
    assert main(["run", recipe, "--output", str(output), "--publish-untagged", "--force", *key]) == 0
    certificate = str(output / "pupils-release-certificate.json")
    assert main(["verify", certificate, "--recipe", recipe, *key]) == 3, "the table is that of the certificate"
    assert main(["verify", certificate, "--recipe", write(tmp_path, "format = 2\n"), *key]) == 3
    assert main(["run", write(tmp_path), "--output", str(tmp_path / "two"), "--publish-untagged"]) == 2
    assert "Only recipes of format 1 published columns without a role." in capsys.readouterr().err


def test_a_key_of_the_first_format_decides_on_its_columns(tmp_path: Path) -> None:
    recipe = Recipe.load(write(tmp_path, 'format = 1\npublish_untagged = ["years at school"]\n'))
    assert recipe.roles["years at school"] == "insensitive"
    assert Recipe.loads(recipe.dumps()).roles == recipe.roles
    assert recipe.run().release.attributes == ("age", "degree", "years at school")


def test_columns_that_were_left_out_stay_left_out_in_a_recipe(tmp_path: Path) -> None:
    recipe = Recipe.load(write(tmp_path))
    again = Recipe.of(recipe.source_path or "", recipe.microdata(), recipe.algorithm)
    assert again.to_dict()["roles"] == {"age": "quasi-identifier", "degree": "quasi-identifier"}
    assert again.run().release.attributes == ("age", "degree")


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
    recipe = write(tmp_path, roles='"*" = "insensitive"')
    assert main(["run", recipe, "--output", str(tmp_path / "out"), "--report"]) == 0
    assert counts == {"_relations": 1, "guarantees": 1, "profile": 1}
