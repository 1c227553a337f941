"""`anoncore sweep`: what it tries, what it prints, what it writes, and how it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anoncore.cli import main
from anoncore.recipes.recipe import Recipe

RECIPE = """
[source]
path = "people.csv"
[roles]
age = "quasi-identifier"
town = "quasi-identifier"
illness = "sensitive"
[algorithm]
name = "mondrian"
requirements = [{ name = "k-anonymity", k = 2 }]
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    n = 120
    pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "town": rng.choice(list("ABC"), n),
            "illness": rng.choice(["flu", "cold", "ulcer", "gout"], n),
        }
    ).to_csv(tmp_path / "people.csv", index=False)
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE)
    return path


def test_every_combination_stands_in_the_file(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = recipe.with_name("points.csv")
    asked = ["--try", "mondrian k=3,6", "--try", "anatomy l=2", "--criteria", "information-loss,k"]
    assert main(["sweep", str(recipe), *asked, "--output", str(output)]) == 0
    points = pd.read_csv(output)
    assert len(points) == 3
    expected = Recipe.load(recipe).microdata()
    from anoncore import utility
    from anoncore.algorithms import Mondrian
    from anoncore.requirements import KAnonymity

    loss = utility.information_loss(Mondrian(requirements=[KAnonymity(k=6)]).anonymize(expected))
    assert points["information-loss"][1] == pytest.approx(float(loss))
    assert (points["k"] >= [3, 6, 2]).all()
    printed = capsys.readouterr().out
    assert printed.count("information-loss") == 3
    assert "* unbeaten in Information loss and Smallest group" in printed


@pytest.mark.slow
def test_targets_choose_what_to_try_and_the_cheapest_is_named(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(recipe), "--target", "k=5", "--target", "t=0.5"]) == 0
    printed = capsys.readouterr().out
    assert "Cheapest that keeps every target" in printed
    assert "without 'Smallest group at least 5'" in printed


def test_what_cannot_be_reached_is_told_by_the_exit_code(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(recipe), "--try", "mondrian k=5", "--target", "distinct-l=9"]) == 1
    assert "misses: Different values at least 9" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ([], "Say what to try"),
        (["--try", "magic k=2"], "magic"),
        (["--try", "anatomy k=2"], "'k=2' sets nothing of anatomy"),
        (["--try", "mondrian k=two"], "'two' is no number"),
        (["--target", "beauty=1"], "beauty"),
        (["--target", "k"], "cannot be read"),
        (["--try", "mondrian k=2", "--criteria", "beauty"], "beauty"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(
    recipe: Path, capsys: pytest.CaptureFixture[str], asked: list[str], words: str
) -> None:
    assert main(["sweep", str(recipe), *asked]) == 2
    assert words in capsys.readouterr().err


def test_labels_and_columns_tell_every_parameter_that_matters(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = recipe.with_name("points.csv")
    # k = 5 and l = 2 are the defaults, which are told all the same.
    asked = ["--try", "mondrian k=3,5 t=0.3,0.4 min_gain=0.01,0.5", "--try", "anatomy l=2", "--criteria", "k"]
    assert main(["sweep", str(recipe), *asked, "--output", str(output)]) == 0
    points = pd.read_csv(output)
    printed = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "mondrian (min_gain = 0.01, k-anonymity k = 5, t-closeness t = 0.3)" in points["release"].tolist()
    assert points["release"].is_unique
    assert [line.partition(": k ")[0] for line in printed[:9]] == points["release"].tolist()
    assert points["release"].iloc[-1] == "anatomy (l = 2)"
    mondrian = points[points["mondrian.split"].notna()]
    found = set(mondrian[["k-anonymity.k", "t-closeness.t", "mondrian.min_gain"]].itertuples(index=False, name=None))
    assert found == {(k, t, gain) for k in (3, 5) for t in (0.3, 0.4) for gain in (0.01, 0.5)}
    assert mondrian["mondrian.split"].eq("median").all()
    assert points["anatomy.l"].tolist()[8:] == [2]
