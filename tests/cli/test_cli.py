"""The command line: what it writes, what it says, how it ends."""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import anoncore
from anoncore.algorithms import ALGORITHMS
from anoncore.cli import main
from anoncore.publishing import Certificate
from anoncore.requirements import REQUIREMENTS
from anoncore.sources import read_table
from tests.hidden_packages import hide

MONDRIAN = 'name = "mondrian"\nrequirements = [{name = "k-anonymity", k = 5}]'
ANATOMY = 'name = "anatomy"\nl = 3'
HOSTS = ("lab.example", "10.0.0.5", "127.0.0.1", "localhost")
ENDINGS = {"csv": ".csv", "parquet": ".parquet", "excel": ".xlsx"}


def write_recipe(folder: Path, algorithm: str = MONDRIAN, source: str = 'builtin = "census"\nrows = 120') -> str:
    """A recipe file; its path as one types it."""
    path = folder / "people.toml"
    path.write_text(
        'format = 1\nmeasures = ["utility.discernibility", "privacy.profile"]\n'
        f"[source]\n{source}\n[algorithm]\n{algorithm}\n",
        encoding="utf-8",
    )
    return str(path)


@pytest.mark.parametrize("file_format", list(ENDINGS))
def test_run_writes_the_published_table_and_a_summary(
    tmp_path: Path, file_format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    assert main(["run", write_recipe(tmp_path), "--output", str(output), "--format", file_format]) == 0
    certificate, written = sorted(output.iterdir(), key=lambda file: file.suffix != ".json")
    assert certificate.name == "people-release-certificate.json"
    assert written.name == "people-release" + ENDINGS[file_format]
    frame = read_table(written).frame
    assert len(frame) == 120
    assert not {"person-id", "name"} & set(frame.columns)
    known = ["age", "workclass", "education", "marital-status", "occupation", "race", "sex"]
    assert frame.groupby(known, dropna=False).size().min() >= 5
    said = capsys.readouterr()
    assert "Mondrian: 120 rows in" in said.out
    assert "utility.discernibility: " in said.out
    assert "privacy.profile: " in said.out
    assert str(written) in said.out
    # A busy machine is told how far it is.
    assert [line for line in said.err.splitlines() if "% " not in line] == []


def test_ranges_are_published_as_the_option_says(tmp_path: Path) -> None:
    words = ["run", write_recipe(tmp_path), "--output", str(tmp_path / "out"), "--numbers"]
    assert main([*words, "bounds"]) == 0
    written = tmp_path / "out" / "people-release.csv"
    frame = read_table(written).frame
    assert list(frame.columns)[:2] == ["age_low", "age_high"]
    assert (frame["age_low"] <= frame["age_high"]).all()
    assert main(["verify", str(tmp_path / "out" / "people-release-certificate.json")]) == 0
    assert main([*words, "midpoints", "--force"]) == 0
    assert ((frame["age_low"] + frame["age_high"]) / 2).tolist() == read_table(written).frame["age"].tolist()


def test_a_workbook_of_several_sheets_is_told_unless_one_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = pd.DataFrame({"age": [20, 21] * 10})
    with pd.ExcelWriter(tmp_path / "people.xlsx") as book:
        for title in ("old", "new"):
            rows.to_excel(book, sheet_name=title, index=False)
    source, tags = 'path = "people.xlsx"', '\n[roles]\nage = "quasi-identifier"'
    recipe = write_recipe(tmp_path, source=source + tags)
    commands = {
        "run": ["--output", str(tmp_path / "one.csv"), "--force"],
        "report": ["--output", str(tmp_path / "one.html"), "--force"],
        "evaluate": ["--measure", "k"],
        "sweep": ["--try", "mondrian k=2", "--criteria", "k"],
    }
    for command, options in commands.items():
        assert main([command, recipe, *options]) == 0
        told = capsys.readouterr().err
        assert told.count("'people.xlsx' has 2 sheets, of which the first, 'old', is read.") == 1, command
        assert "name it as sheet in [source]: 'new'" in told
    write_recipe(tmp_path, source=f'{source}\nsheet = "new"{tags}')
    for command, options in commands.items():
        assert main([command, recipe, *options]) == 0
        assert capsys.readouterr().err == "", command


def test_several_tables_go_into_one_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", write_recipe(tmp_path, ANATOMY), "--output", str(tmp_path / "out.csv")]) == 0
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        tables = {name: pd.read_csv(io.BytesIO(archive.read(name))) for name in archive.namelist()}
    assert set(tables) == {"quasi-identifiers.csv", "sensitive.csv"}
    groups = tables["sensitive.csv"].groupby("group")["diagnosis"]
    assert groups.nunique().min() >= 3
    assert "out.zip (quasi-identifiers: 120 rows, sensitive: 120 rows)" in capsys.readouterr().out


def test_nothing_is_replaced_unless_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe, target = write_recipe(tmp_path), tmp_path / "out.csv"
    target.write_text("mine", encoding="utf-8")
    assert main(["run", recipe, "--output", str(target)]) == 2
    assert target.read_text(encoding="utf-8") == "mine"
    assert "exists; choose another --output, or add --force" in capsys.readouterr().err
    assert main(["run", recipe, "--output", str(target), "--force"]) == 0
    assert target.read_text(encoding="utf-8").startswith("age,")


def test_the_table_of_the_recipe_is_never_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "people.csv"
    table.write_text("age\n1\n2\n", encoding="utf-8")
    recipe = write_recipe(tmp_path, source='path = "people.csv"')
    assert main(["run", recipe, "--output", str(table), "--force"]) == 2
    assert table.read_text(encoding="utf-8") == "age\n1\n2\n"
    assert "is the table of the recipe itself" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--output", "out.doc"], "ending of 'out.doc' is not known"),
        (["--output", "out.csv", "--format", "excel"], "'out.csv' does not end like the format excel; use '.xlsx'"),
        (["--output", "out.zip", "--format", "excel"], "use '.csv'"),
    ],
)
def test_an_output_that_does_not_fit_is_refused_before_the_work(
    tmp_path: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", write_recipe(tmp_path, source='path = "not there.csv"'), *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("algorithm", "source", "code", "message"),
    [
        ('name = "anatomy"\nl = 100', 'builtin = "census"\nrows = 60', 2, "l = 100 is not possible"),
        (MONDRIAN, 'path = "gone.csv"', 2, "There is no file 'gone.csv'"),
        (MONDRIAN, 'builtin = "gone"', 2, "There is no built-in table 'gone'"),
        ('name = "sorcery"', 'builtin = "census"', 2, "There is no algorithm 'sorcery'"),
        ('name = "anatomy"\nl = 1', 'builtin = "census"', 2, "l should be greater than or equal to 2"),
    ],
)
def test_errors_are_one_sentence_and_leave_no_file(
    tmp_path: Path, algorithm: str, source: str, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out"
    assert main(["run", write_recipe(tmp_path, algorithm, source), "--output", str(output)]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert said.err.startswith("anoncore: ")
    assert said.err.count("\n") == 1
    assert not output.exists()


def test_a_release_with_a_seed_is_certified_only_where_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", write_recipe(tmp_path, ANATOMY + "\nseed = 1"), "--output", str(tmp_path)]
    before = sorted(tmp_path.iterdir())
    assert main(words) == 2
    said = capsys.readouterr().err
    assert "There is no certificate for a release whose random choices follow from a seed that was given" in said
    assert all(way in said for way in ("--no-certificate", "--guessable-seed", "guessable_seed = true"))
    assert sorted(tmp_path.iterdir()) == before
    assert main([*words, "--no-certificate"]) == 0
    assert "the recipe holds a seed" in capsys.readouterr().err
    assert main([*words, "--guessable-seed", "--force"]) == 0
    assert "the recipe holds a seed" in capsys.readouterr().err
    certificate = Certificate.load(tmp_path / "people-release-certificate.json")
    assert certificate.method.seed.startswith("given by whoever made the release: whoever guesses it")
    assert "Whoever guesses that seed can repeat and undo them" in " ".join(certificate.not_checked)
    asked = "guessable_seed = true\n" + Path(words[1]).read_text().replace("seed = 1", "seed = 2")
    Path(words[1]).write_text(asked)
    assert main([*words, "--force"]) == 0
    assert Certificate.load(tmp_path / "people-release-certificate.json").method.seed == certificate.method.seed


def test_a_seed_of_128_bits_is_none_that_can_be_guessed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = write_recipe(tmp_path, ANATOMY + f"\nseed = {(1 << 127) + 5}")
    assert main(["run", recipe, "--output", str(tmp_path)]) == 0
    assert "the recipe holds a seed" not in capsys.readouterr().err
    assert "left out" in Certificate.load(tmp_path / "people-release-certificate.json").method.seed


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_progress_is_drawn_on_a_terminal_and_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main(["run", write_recipe(tmp_path), "--output", str(tmp_path)]) == 0
    drawn = [part.strip() for part in terminal.getvalue().split("\r")]
    assert "0% Reading the table" in drawn
    assert "100% Done" in drawn
    assert drawn[-1] == ""


@pytest.mark.parametrize(("command", "registry"), [("algorithms", ALGORITHMS), ("requirements", REQUIREMENTS)])
def test_lists_show_every_registered_model_and_field(
    command: str, registry: dict[str, type[anoncore.base.model.Model]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command]) == 0
    blocks = dict(block.split(":", 1) for block in capsys.readouterr().out.strip().split("\n\n"))
    assert list(blocks) == list(registry)
    for name, model in registry.items():
        assert " ".join(model.source.split()) in " ".join(blocks[name].split())
        for field, info in model.model_fields.items():
            assert f"\n    {field} (" in blocks[name]
            assert " ".join((info.description or "?").split()) in " ".join(blocks[name].split())


def test_lists_show_types_ranges_and_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    main(["requirements"])
    said = capsys.readouterr().out
    assert "k (whole number, 1 or more, default 5): " in said
    assert "t (number, 0 or more, at most 1, default 0.2): " in said
    assert "ground (ordered | interval | equal | hierarchical, default equal): " in said
    assert "attribute (text, default none): " in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "given", "headless"),
    [
        ([], {}, False),
        (["--port", "8600", "--no-browser"], {"server.port": 8600}, True),
        (
            ["--address", "10.0.0.5", "--allow-host", "lab.example"],
            {"server.address": "10.0.0.5", "server.allowed_hosts": ("lab.example",)},
            False,
        ),
        (["--config", "office.toml"], {}, True),
    ],
)
def test_dashboard_is_started_with_the_options_asked_for(
    arguments: list[str], given: dict[str, object], headless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    started: list[Path] = []

    def serve(config: str | None, given: dict[str, object], is_headless: bool, only_check: bool) -> int:
        asked.extend([config, given, is_headless, only_check])
        return 7

    def run_path(path: str) -> dict[str, object]:
        started.append(Path(path))
        return {"serve": serve}

    monkeypatch.setattr("anoncore.cli.page.runpy.run_path", run_path)
    assert main(["dashboard", *arguments]) == 7
    assert asked == ["office.toml" if "--config" in arguments else None, given, headless, False]
    assert [(path.parent.name, path.name) for path in started] == [("process", "launch.py")]
    assert "def serve(" in started[0].read_text("utf-8")


@pytest.mark.parametrize("absent", ["streamlit", "plotly"])
def test_without_the_extra_the_dashboard_says_what_to_install(
    absent: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hide(monkeypatch, absent)
    assert main(["dashboard"]) == 2
    assert "pip install 'anoncore[dashboard]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 2),
        (["fly"], 2),
        (["run"], 2),
        (["dashboard", "--port", "99999"], 2),
        (["--version"], 0),
        (["run", "-h"], 0),
    ],
)
def test_wrong_words_end_with_two_and_help_with_zero(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == code
    said = capsys.readouterr()
    if arguments == ["--version"]:
        assert said.out == f"anoncore {anoncore.__version__}\n"
