"""`--policy` of the commands that judge releases, and `anoncore policy`: lines, JSON and exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anoncore import Policy
from anoncore.cli import main

RECIPE = """
format = 2
[source]
path = "people.csv"
[roles]
age = "quasi-identifier"
disease = "sensitive"
number = "{role}"
[algorithm]
name = "mondrian"
requirements = [{{ name = "k-anonymity", k = 5 }}]
"""
OURS = """
name = "Ours"
[levels]
k = {k}
l = 2
[risks]
reidentified-largest = {{ at_most = 0.2 }}
[refuse]
columns = ["Name"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twenty-four people; who is how old says nothing of whom the flu got, or which number somebody has."""
    monkeypatch.chdir(tmp_path)
    rows = range(24)
    pd.DataFrame(
        {
            "name": [f"person {row}" for row in rows],
            "age": [20 + row for row in rows],
            "disease": [("flu", "cold")[row % 2] for row in rows],
            "number": [row * 7 % 24 for row in rows],
        }
    ).to_csv("people.csv", index=False)
    Path("left-out.toml").write_text(RECIPE.replace("number", "name").format(role="identifier"))
    Path("decided.toml").write_text(RECIPE.format(role="insensitive"))
    Path("five.toml").write_text(OURS.format(k=5))
    Path("forty.toml").write_text(OURS.format(k=40))
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)["policy"]


def statuses(judgement: dict[str, Any]) -> dict[str, str]:
    return {rule["key"]: rule["status"] for rule in judgement["rules"]}


def test_run_and_verify_end_with_the_code_of_the_policy(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate = "out/left-out-release-certificate.json"
    code, judgement = told(capsys, "run", "left-out.toml", "--output", "out", "--policy", "five.toml")
    assert (code, judgement["status"], set(statuses(judgement).values())) == (0, "kept", {"kept"})
    code, counted = told(capsys, "verify", certificate, "--policy", "five.toml")
    assert (code, statuses(counted)) == (0, statuses(judgement))
    code, counted = told(capsys, "verify", certificate, "--policy", "forty.toml")
    assert (code, statuses(counted)["levels.k"]) == (1, "broken")
    # What needs the original table, or an attack, cannot be counted in files.
    code, counted = told(capsys, "verify", certificate, "--policy", "wp216")
    assert (code, set(statuses(counted).values())) == (3, {"not measured"})
    assert main(["verify", certificate, "--policy", "wp216", "--strict"]) == 1
    capsys.readouterr()
    assert main(["run", "left-out.toml", "--output", "out", "--force", "--policy", "forty.toml"]) == 1
    printed = capsys.readouterr().out
    assert "Ours: 1 of 4 rules is broken." in printed
    assert "  broken: groups of at least 40 people (k): size 6" in printed
    # It is written all the same, and its own certificate holds.
    assert main(["verify", certificate]) == 0


def test_a_published_column_that_breaks_a_rule_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, judgement = told(capsys, "run", "decided.toml", "--output", "out", "--policy", "five.toml")
    assert (code, judgement["rules"][0]["columns"]) == (3, ["number"])
    certificate = "out/decided-release-certificate.json"
    code, counted = told(capsys, "verify", certificate, "--policy", "five.toml")
    assert (code, statuses(counted)["levels.k"]) == (3, "only if nobody knows")
    assert counted["rules"][0]["columns"] == ["number"]
    # A reader who takes the column for known finds everybody.
    code, counted = told(capsys, "verify", certificate, "--known", "age,number", "--policy", "five.toml")
    assert (code, statuses(counted)["levels.k"]) == (1, "broken")


def test_the_certificate_states_what_a_policy_asks_and_the_release_keeps(folder: Path) -> None:
    """Stack & Deal promises k alone; the flu is half of every group, and so of the table."""
    recipe = Path("left-out.toml").read_text()
    begin = recipe.index("[algorithm]")
    Path("stacked.toml").write_text(f'{recipe[:begin]}[algorithm]\nname = "stack-and-deal"\nk = 6\n')
    rules = 'name = "Ours"\n[levels]\nk = {k}\nl = {l}\nt = 0.5\n[risks]\ndistinct-l = {{ at_least = 2 }}\n'
    Path("kept.toml").write_text(rules.format(k=4, l=1.2))
    Path("broken.toml").write_text(rules.format(k=4, l=2.5))
    file = Path("out/stacked-release-certificate.json")

    def stated(policy: str) -> set[str]:
        main(["run", "stacked.toml", "--output", "out", "--force", "--quiet", "--policy", policy])
        assert main(["verify", str(file)]) == 0
        return {one["label"] for one in json.loads(file.read_text())["requirements"]}

    k, t = {"k-anonymity (k = 6)", "k-anonymity (k = 4)"}, "t-closeness (t = 0.5, ground = equal)"
    assert stated("kept.toml") == {*k, "frequency l-diversity (l = 1.2)", t, "distinct l-diversity (l = 2)"}
    assert stated("broken.toml") == {*k, t, "distinct l-diversity (l = 2)"}


def test_each_secret_is_certified_that_keeps_a_policy(folder: Path) -> None:
    people = pd.read_csv("people.csv")
    people.assign(number=["even", "even", "odd"] * 8).to_csv("people.csv", index=False)
    Path("two.toml").write_text(RECIPE.format(role="sensitive"))
    main(["run", "two.toml", "--output", "out", "--quiet", "--policy", "five.toml"])
    stated = json.loads(Path("out/two-release-certificate.json").read_text())["requirements"]
    assert [one["attribute"] for one in stated if one["label"].startswith("frequency")] == ["disease"]
    assert main(["verify", "out/two-release-certificate.json"]) == 0


def test_files_with_another_column_keep_no_rule_by_what_their_certificate_says(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "left-out.toml", "--output", "out", "--quiet"])
    file = Path("out/left-out-release.csv")
    pd.read_csv(file).assign(Name="x").to_csv(file, index=False)
    arguments = ("verify", "out/left-out-release-certificate.json", "--no-hashes", "--policy", "five.toml")
    code, judgement = told(capsys, *arguments)
    assert code == 1
    assert statuses(judgement)["refuse.columns.Name"] != "kept"


def test_a_certificate_that_takes_no_column_for_known_keeps_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "left-out.toml", "--output", "out", "--quiet"])
    path = Path("out/left-out-release-certificate.json")
    forged = json.loads(path.read_text())
    for attribute in forged["attributes"]:
        attribute["role"] = "sensitive" if attribute["role"] == "quasi-identifier" else attribute["role"]
    path.write_text(json.dumps(forged))
    _, judgement = told(capsys, "verify", str(path), "--no-hashes", "--policy", "cms")
    assert statuses(judgement)["levels.k"] != "kept"


def test_check_judges_the_table_as_it_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("check", "people.csv", "--known", "age", "--secret", "disease", "--identifier", "name")
    code, judgement = told(capsys, *arguments, "--policy", "five.toml")
    assert code == 1
    # The table holds the names, whatever they are tagged as.
    assert statuses(judgement)["refuse.columns.Name"] == "broken"
    assert statuses(judgement)["levels.k"] == "broken"
    assert main([*arguments, "--control", "people.csv"]) == 2
    # Nothing is named as known: all but the secret is, also the names.
    code = main(["check", "people.csv", "--secret", "disease", "--policy", "five.toml", "--json"])
    told_all = json.loads(capsys.readouterr().out)
    names = [str(name) for name in pd.read_csv("people.csv").columns if name != "disease"]
    assert (code, told_all["known"], told_all["policy"]["status"]) == (1, names, "broken")
    assert main(["check", "people.csv", "--secret", "disease", "--require", "k=2"]) == 2
    assert "--known" in capsys.readouterr().err
    code, judgement = told(capsys, *arguments, "--control", "people.csv", "--policy", "cms")
    assert code == 1


def test_sweep_aims_at_the_limits_and_judges_what_it_finds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("sweep", "left-out.toml", "--try", "mondrian k=2,6")
    code, judgement = told(capsys, *arguments, "--policy", "five.toml")
    assert (code, judgement["rules"][0]["value"]) == (0, 6)
    code, judgement = told(capsys, *arguments, "--policy", "forty.toml")
    assert (code, judgement["status"]) == (1, "broken")
    code, judgement = told(capsys, *arguments, "--policy", "hipaa-safe-harbor")
    assert (code, judgement["status"]) == (0, "kept")
    assert main(["sweep", "left-out.toml", "--policy", "hipaa-safe-harbor"]) == 2


def test_the_command_policy(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == Policy.presets()
    assert main(["policy", "cms"]) == 0
    assert Policy.loads(capsys.readouterr().out) == Policy.load("cms")
    assert main(["policy", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == Policy.schema()
    assert main(["policy", "cms", "--schema"]) == 2
    Path("wrong.toml").write_text('name = "x"\n[risks]\nreidentifed-largest = { at_most = 0.1 }')
    capsys.readouterr()
    assert main(["policy", "wrong.toml"]) == 2
    assert "did you mean 'reidentified-largest'?" in capsys.readouterr().err
    assert main(["run", "left-out.toml", "--policy", "wrong.toml"]) == 2
