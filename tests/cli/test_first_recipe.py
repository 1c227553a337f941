"""`anoncore init` and `anoncore hierarchy`: what they propose, write and check."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anoncore import Recipe
from anoncore.cli import main
from anoncore.datasets import table
from anoncore.recipes.proposal import propose
from anoncore.recipes.source import Source
from anoncore.requirements import FrequencyDiversity, KAnonymity, TCloseness


def people(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "patient": rng.integers(0, n // 2, n),
            "name": [f"Person {row}" for row in range(n)],
            "zip code": rng.choice(["80331", "80333", "20095", "20097"], n),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), unit="D"),
            "age": rng.integers(18, 90, n),
            "occupation": rng.choice(["cook", "nurse", "pilot", "smith"], n),
            "diagnosis": rng.choice(["flu", "cold", "gout", "ulcer"], n),
            "income": rng.integers(1000, 9000, n),
            "religion": rng.choice(["a", "b"], n, p=[0.9, 0.1]),
        }
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    people().to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_first_recipe_runs_and_says_why_each_line_stands_there(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "people.csv"]) == 0
    said = capsys.readouterr()
    assert "identifier: patient, name" in said.out
    assert "anoncore run people.toml" in said.out
    text = Path("people.toml").read_text("utf-8")
    assert 'name = "identifier"  # Its name sounds like an identifier' in text
    assert '# unit = "patient"' in text
    # What is commented out fits as well.
    assert '# born = { calendar = ["month", "quarter", "year", "decade"] }' in text
    recipe = Recipe.load("people.toml")
    assert recipe.source == Source(path="people.csv")
    assert recipe.hierarchies["zip code"].prefix == (4, 3, 2, 1)
    assert "occupation" not in recipe.hierarchies
    promised = {KAnonymity(k=10), FrequencyDiversity(l=2, attribute="diagnosis")}
    promised |= {TCloseness(t=0.3, ground="ordered", attribute="income")}
    # Nine in ten have one value, so that no belief of half can be promised.
    promised |= {TCloseness(t=0.3, ground="equal", attribute="religion")}
    assert set(recipe.algorithm.requirements) == promised  # type: ignore[attr-defined]
    assert main(["run", "people.toml", "--output", "out"]) == 0
    assert main(["init", "people.csv"]) == 2
    assert "add --force to replace it" in capsys.readouterr().err


def test_every_commented_line_may_be_used(folder: Path) -> None:
    found = propose(Source(path="people.csv"), people())
    lines = [
        line.removeprefix("# ") if line.startswith("# ") and " = " in line else line for line in found.text.split("\n")
    ]
    recipe = Recipe.loads("\n".join(line for line in lines if not line.startswith("#")))
    assert recipe.unit == "patient"
    assert set(recipe.hierarchies) == {"zip code", "born", "age", "occupation"}
    assert recipe.microdata().hierarchies["born"].height == 5
    assert Recipe.loads(found.text) == found.recipe


def test_the_recipe_finds_its_table_from_where_it_lies(folder: Path) -> None:
    assert main(["init", "people.csv", "--output", "recipes/first.toml"]) == 0
    assert Recipe.load("recipes/first.toml").microdata().n_rows == 400
    with closing(sqlite3.connect(folder / "clinic.sqlite")) as database:
        people().drop(columns="born").to_sql("visits", database, index=False)
        people().drop(columns="born").to_sql("doctors", database, index=False)
    assert main(["init", "clinic.sqlite"]) == 2
    assert main(["init", "clinic.sqlite", "--table", "visits"]) == 0
    assert Recipe.load("clinic.toml").source == Source(path="clinic.sqlite", table="visits")
    assert Recipe.load("clinic.toml").microdata().n_rows == 400


def test_small_and_plain_tables_get_what_they_allow(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pd.DataFrame({"note": ["x"] * 30}).to_csv("plain.csv", index=False)
    assert main(["init", "plain.csv"]) == 0
    assert "tag at least one before you run the recipe" in capsys.readouterr().out
    small = propose(Source(path="small.csv"), people(50)).recipe
    assert small.algorithm.requirements[0] == KAnonymity(k=5)  # type: ignore[attr-defined]
    odd = pd.DataFrame({'a "b" \\': ["1", "2"] * 20, "age": [1, 2] * 20, "c\nd": ["x", "y"] * 20})
    text = propose(Source(path="odd.csv"), odd).text
    assert Recipe.loads(text).roles == {"age": "quasi-identifier"}
    decided = "\n".join(line.removeprefix("# ") if "guess:" in line else line for line in text.splitlines())
    assert Recipe.loads(decided).roles['a "b" \\'] == "insensitive", "a guess is a line once its # is removed"


def test_the_first_recipe_of_a_built_in_table_runs(tmp_path: Path) -> None:
    frame = table("census").load(n_rows=300)
    frame.to_csv(tmp_path / "people.csv", index=False)
    recipe = Recipe.loads(propose(Source(path="people.csv"), frame).text, tmp_path)
    assert recipe.algorithm.anonymize(recipe.microdata()).partition.n_groups > 1


def test_hierarchies_are_proposed_printed_written_and_checked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hierarchy", "people.csv"]) == 0
    proposed = capsys.readouterr().out
    assert '"zip code" = { prefix = [4, 3, 2, 1] }' in proposed
    assert 'born = { calendar = ["month", "quarter", "year", "decade"] }' in proposed
    text = f'source = {{path = "people.csv"}}\nalgorithm = {{name = "mondrian"}}\n{proposed}'
    assert Recipe.loads(text).microdata().hierarchies["zip code"].path_of("80331") == ("8033*", "*")
    one = ["hierarchy", "people.csv", "--column", "zip code"]
    assert main([*one, "--output", "zip.csv"]) == 0
    printed = capsys.readouterr().out
    assert "level 1: 2 groups: 2009*, 8033*" in printed
    assert "80331 > 8033* > *" in printed
    assert main([*one, "--check", "zip.csv"]) == 0
    assert "has a group on every level for each of the 4 values of 'zip code'" in capsys.readouterr().out
    Path("zip.csv").write_text("80331;8033*;*\n80333;8033*;*\n10115;1011*;*\n", encoding="utf-8")
    assert main([*one, "--check", "zip.csv"]) == 1
    assert "'zip.csv' lacks 2 of the 4 values of 'zip code': '20095', '20097'." in capsys.readouterr().out
    assert main(["hierarchy", "people.csv", "--column", "age", "--form", "quantiles"]) == 0
    assert "age = { quantiles = 8, fanout = 2 }" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "words", "code"),
    [
        (["--form", "prefix"], "name it with --column", 2),
        (["--column", "sex"], "The table has no column 'sex'; it has 'patient'", 2),
        (["--column", "age", "--check", "x.csv", "--form", "width"], "leave out --form and --output", 2),
        (["--column", "occupation", "--form", "calendar"], "A calendar needs dates", 2),
        (["--column", "age", "--output", "people.csv"], "add --force", 2),
        (["--column", "age", "--check", "none.csv"], "none.csv", 2),
        (["--table", "visits"], "--table is for a database", 2),
    ],
)
def test_wrong_questions_about_hierarchies_get_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], asked: list[str], words: str, code: int
) -> None:
    assert main(["hierarchy", "people.csv", *asked]) == code
    assert words in capsys.readouterr().err
