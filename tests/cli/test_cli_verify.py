"""The commands that certify, verify and evaluate: what they say and how they end."""

from __future__ import annotations

import json
import runpy
import stat
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pandas as pd
import pytest

from anoncore import Recipe
from anoncore.cli import main
from anoncore.measures.criteria import CRITERIA
from anoncore.publishing import Certificate
from tests.cli.test_cli import ANATOMY, ENDINGS, Terminal, write_recipe


@pytest.fixture(params=["", ANATOMY], ids=["one-table", "joined-tables"])
def certified(request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The certificate of a run; the recipe and the tables lie beside it."""
    recipe = write_recipe(tmp_path, request.param) if request.param else write_recipe(tmp_path)
    assert main(["run", recipe, "--output", str(tmp_path), "--key-file", str(tmp_path / "key")]) == 0
    capsys.readouterr()
    return tmp_path / "people-release-certificate.json"


def test_what_was_run_verifies(certified: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(certified)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in said].count("signature") == 1
    said = [line for line in said if not line.startswith("signature: ")]
    assert all(line.startswith("holds: ") for line in said[:-1])
    assert said[-1] == f"The certificate holds: all {len(said) - 1} statements were counted here and hold."


@pytest.mark.slow
def test_a_release_of_groups_is_checked_without_importing_methods_attacks_or_recipes(tmp_path: Path) -> None:
    assert main(["run", write_recipe(tmp_path), "--output", str(tmp_path), "--quiet"]) == 0
    words = ["verify", str(tmp_path / "people-release-certificate.json"), "--quiet"]
    code = f"""
import sys
from anoncore.cli import main
assert main({words!r}) == 0
rooms = ("algorithms", "attacks", "utility", "measures", "search", "recipes.recipe", "publishing.publication")
assert not [name for name in rooms if f"anoncore.{{name}}" in sys.modules]
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_the_original_table_is_proved_with_the_key(certified: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = certified.parent
    words = ["verify", str(certified), "--recipe", str(folder / "people.toml"), "--key-file", str(folder / "key")]
    assert main(words) == 0
    assert "holds: The release was made of this table." in capsys.readouterr().out
    (folder / "other").write_text("0" * 64, encoding="ascii")
    assert main([*words[:-1], str(folder / "other")]) == 1
    assert "the key differs" in capsys.readouterr().out
    assert stat.S_IMODE((folder / "key").stat().st_mode) == 0o600 or sys.platform == "win32"
    assert (folder / "key").read_text(encoding="ascii").strip() not in certified.read_text(encoding="utf-8")


def test_a_changed_file_fails_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", write_recipe(tmp_path), "--output", str(tmp_path)])
    file = tmp_path / "people-release.csv"
    table = pd.read_csv(file, dtype=str)
    words = ["verify", str(tmp_path / "people-release-certificate.json"), str(file)]
    diagnoses = table["diagnosis"].unique()
    for changed, reason in (
        (table.iloc[:-1], "'people-release' has 119 rows"),
        (table.assign(diagnosis=[diagnoses[-1], *table["diagnosis"][1:]]), "values of 'diagnosis' were changed"),
        (table.assign(diagnosis=table["diagnosis"].iloc[::-1].to_list()), "some stand in other rows or groups"),
    ):
        changed.to_csv(file, index=False)
        capsys.readouterr()
        assert main(words) == 1
        said = capsys.readouterr().out
        assert reason.replace("people-release", "release") in said
        assert "The certificate does not hold" in said
    table.groupby("age", dropna=False).head(1).to_csv(file, index=False)
    assert main([*words, "--no-hashes"]) == 1
    assert "k-anonymity (k = 5) fails in" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["gone.json"], 2, "The certificate 'gone.json' cannot be read: no such file"),
        (["people.toml"], 2, "This is no certificate of a release"),
        (["people-release.zip"], 2, "'people-release.zip' is a zip; unpack it into an empty folder, and verify that"),
        (["people-release-certificate.json", "gone.csv"], 2, "'gone.csv' cannot be read"),
        (["people-release-certificate.json", "--recipe", "people.toml"], 2, "--recipe and --key-file together"),
        (["people-release-certificate.json", "people.toml", "./people.toml"], 2, "Two files are called"),
    ],
)
def test_what_cannot_be_verified_is_one_sentence(
    words: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["run", write_recipe(tmp_path), "--output", str(tmp_path)])
    monkeypatch.chdir(tmp_path)
    with ZipFile("people-release.zip", "w") as archive:
        archive.write("people-release-certificate.json")
    capsys.readouterr()
    assert main(["verify", *words]) == code
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1


def test_a_certificate_can_be_left_out_and_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe, output = write_recipe(tmp_path), tmp_path / "out"
    assert main(["run", recipe, "--output", str(output), "--no-certificate"]) == 0
    assert [file.name for file in output.iterdir()] == ["people-release.csv"]
    (output / "people-release.csv").unlink()
    assert main(["run", recipe, "--output", str(output)]) == 0
    (output / "people-release.csv").unlink()
    assert main(["run", recipe, "--output", str(output)]) == 2
    assert "people-release-certificate.json' exists" in capsys.readouterr().err
    assert not (output / "people-release.csv").exists()


def test_a_key_file_that_is_none_is_refused_before_the_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "key").write_text("short", encoding="ascii")
    recipe = write_recipe(tmp_path, source='path = "not there.csv"')
    assert main(["run", recipe, "--output", str(tmp_path / "out"), "--key-file", str(tmp_path / "key")]) == 2
    assert "holds no key" in capsys.readouterr().err


@pytest.mark.parametrize("file_format", list(ENDINGS))
def test_recipe_command_line_and_export_give_the_same_groups(tmp_path: Path, file_format: str) -> None:
    recipe = write_recipe(tmp_path)
    assert main(["run", recipe, "--output", str(tmp_path), "--format", file_format]) == 0
    proof = Certificate.load(tmp_path / "people-release-certificate.json")
    sizes = Recipe.load(recipe).run().release.partition.sizes.tolist()
    assert sorted(sizes) == sorted(
        int(size) for size, count in proof.tables[0].group_sizes.items() for _ in range(count)
    )
    assert main(["verify", str(tmp_path / "people-release-certificate.json")]) == 0


def test_evaluate_measures_without_writing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = write_recipe(tmp_path)
    before = sorted(tmp_path.iterdir())
    words = ["--measure", "k", "--measure", "utility.query_error(n_queries = 200, seed = 1)", "--measure", "t"]
    assert main(["evaluate", recipe, *words]) == 0
    title, smallest, queries, distance = capsys.readouterr().out.splitlines()
    assert title == recipe
    assert smallest == "  k: Smallest group 5, higher is better"
    assert queries.startswith("  utility.query_error(n_queries=200, seed=1): Query error ")
    assert distance.startswith("  t: Distance (t) 0.")
    assert sorted(tmp_path.iterdir()) == before


def test_evaluate_takes_the_recipes_own_measures_and_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_recipe(tmp_path)
    (tmp_path / "second.toml").write_text(
        '[source]\nbuiltin = "census"\nrows = 120\n[algorithm]\nname = "anatomy"\nl = 2\n', encoding="utf-8"
    )
    assert main(["evaluate", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    first, second = found[str(tmp_path / "people.toml")], found[str(tmp_path / "second.toml")]
    assert list(first) == ["utility.discernibility", "privacy.profile"]
    assert {"name": "k", "attribute": None, "value": 5.0} in first["privacy.profile"]
    assert list(second) == [name for name, one in CRITERIA.items() if not one.is_slow]
    assert second["distinct-l"] == 2.0


def test_evaluate_goes_on_after_a_recipe_that_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_recipe(tmp_path)
    (tmp_path / "bad.toml").write_text("x = 1", encoding="utf-8")
    assert main(["evaluate", str(tmp_path), "--measure", "k"]) == 1
    said = capsys.readouterr()
    assert "anoncore: bad.toml: A recipe has no key 'x'" in said.err
    assert "k: Smallest group 5" in said.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--measure", "beauty"], "There is no measure 'beauty'; there is k, "),
        (["--measure", "utility.query_error(n_queries = )"], "cannot be read; write them as in a recipe"),
        (["--measure", "utility.query_error(speed = 3)"], "takes no 'speed'"),
    ],
)
def test_evaluate_refuses_unknown_measures(
    tmp_path: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", write_recipe(tmp_path), *words]) == 2
    assert message in capsys.readouterr().err


def test_a_number_that_a_release_lacks_is_named_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", write_recipe(tmp_path), "--measure", "membership-belief"]) == 0
    assert "membership-belief: not defined (Fake tuples exist only where" in capsys.readouterr().out


def test_progress_is_drawn_while_evaluating(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main(["evaluate", write_recipe(tmp_path), "--measure", "k"]) == 0
    drawn = [part.strip() for part in terminal.getvalue().split("\r")]
    assert "70% Measuring k" in drawn
    assert drawn[-2] == ""
    assert drawn[-1] == ""


@pytest.mark.parametrize("command", ["run", "verify", "evaluate", "report", "script"])
def test_help_is_there(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert "--" in capsys.readouterr().out


def test_report_and_mapping_of_a_run_say_that_they_are_not_for_publication(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    assert main(["run", write_recipe(tmp_path), "--output", str(output), "--report", "--mapping"]) == 0
    assert sorted(file.name for file in output.iterdir()) == [
        "people-release-certificate.json",
        "people-release-mapping-not-for-publication.csv",
        "people-release-report.html",
        "people-release.csv",
    ]
    mapping = pd.read_csv(output / "people-release-mapping-not-for-publication.csv")
    assert set(mapping.groupby("attribute")["rows"].sum()) == {120}
    assert "Not for publication: it tells which values stand behind" in capsys.readouterr().out
    (output / "people-release.csv").unlink()
    (output / "people-release-certificate.json").unlink()
    assert main(["run", write_recipe(tmp_path), "--output", str(output), "--report"]) == 2
    assert "people-release-report.html' exists" in capsys.readouterr().err


def test_report_sets_recipes_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, target = write_recipe(tmp_path), tmp_path / "out" / "both.html"
    second = tmp_path / "buckets.toml"
    second.write_text(f'[source]\nbuiltin = "census"\nrows = 120\n[algorithm]\n{ANATOMY}\n', encoding="utf-8")
    assert main(["report", first, str(second), "--output", str(target)]) == 0
    text = target.read_text(encoding="utf-8")
    assert "2 releases compared" in text
    assert "people" in text
    assert "buckets" in text
    assert main(["report", first, "--output", str(target)]) == 2
    assert "exists; choose another --output" in capsys.readouterr().err
    assert main(["report", *[first] * 7, "--output", str(tmp_path / "x.html")]) == 2
    assert "at most 6 recipes, not 7" in capsys.readouterr().err


def test_script_is_printed_without_its_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = write_recipe(tmp_path, ANATOMY + "\nseed = 12")
    assert main(["script", recipe]) == 0
    text = capsys.readouterr().out
    assert "seed=12" not in text
    (tmp_path / "again.py").write_text(text, encoding="utf-8")
    assert runpy.run_path(str(tmp_path / "again.py"))["release"].data.n_rows == 120
    assert main(["script", recipe, "--with-seed"]) == 0
    assert "seed=12" in capsys.readouterr().out


def test_of_a_folder_every_file_has_to_be_certified(certified: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = certified.parent / "published"
    folder.mkdir()
    (table,) = certified.parent.glob("people-release.*")
    table.rename(folder / table.name)
    certified = certified.rename(folder / certified.name)
    assert main(["verify", str(certified), str(folder)]) == 0
    (folder / "below").mkdir()
    (folder / "below" / "notes.csv").write_text("who\nAnna Smith\n", encoding="utf-8")
    assert main(["verify", str(certified), str(folder)]) == 1
    assert "'below' is a folder, and nothing in a release has one." in capsys.readouterr().out


def test_a_release_names_the_earlier_one_of_the_same_people(
    certified: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    earlier = Certificate.load(certified)
    later = certified.parent / "later"
    words = ["run", str(certified.parent / "people.toml"), "--output", str(later), "--after", str(certified)]
    assert main(words) == 0
    (named,) = Certificate.load(later / certified.name).after or []
    assert (named.sha256, named.made) == (earlier.sha256, earlier.made)
    assert named.promised == [one.label for one in earlier.requirements]
    assert earlier.after is None
    assert main(["verify", str(later / certified.name)]) == 3, "what both tell together is a claim"
    assert f"the earlier one of {earlier.made[:10]}" in (later / certified.name).read_text(encoding="utf-8")
    assert main([*words, "--no-certificate", "--force"]) == 2
    assert "--no-certificate leaves out" in capsys.readouterr().err
