"""`anoncore check --identifiers`: what is said, alone and beside the numbers, and which options go together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anoncore.cli import main

PEOPLE = """contact,zip,age,sex
ann@example.org,10115,34,f
bob@example.org,03601,95,m
cem@example.org,80331,58,m
"""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    return path


def test_findings_are_sentences_with_what_mends_them(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(people), "--identifiers"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == str(people)
    assert lines[1].endswith("in 4 columns and 3 rows: 3 findings in 3 columns.")
    assert lines[2] == "  'contact' holds e-mail addresses (F) in 100% of its values. Drop the column."
    assert "Keep the first three digits" in lines[3]
    assert "90+" in lines[4]
    assert lines.index("Looked at:") < lines.index("Cannot be seen:")
    assert "example.org" not in "".join(lines[1:])


def test_json_has_them_alone_and_beside_the_numbers(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", str(people), "--identifiers", "--json"])
    alone = json.loads(capsys.readouterr().out)
    assert list(alone) == ["table", "safe_harbor"]
    found = [(one["column"], one["letter"], one["mend"]) for one in alone["safe_harbor"]["found"]]
    assert found == [("contact", "F", "drop"), ("zip", "B", "three digits"), ("age", "C", "90+")]
    main(["check", str(people), "--known", "sex", "--identifiers", "--json"])
    beside = json.loads(capsys.readouterr().out)
    assert beside["safe_harbor"] == alone["safe_harbor"]
    assert beside["known"] == ["sex"]
    assert main(["check", str(people), "--known", "sex", "--json"]) == 0
    assert "safe_harbor" not in json.loads(capsys.readouterr().out)


def test_areas_with_few_people_come_from_a_file(
    people: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people.write_text("zip\n101\n803\n036\n", encoding="utf-8")
    few = tmp_path / "few.txt"
    few.write_text("101, 803\n", encoding="utf-8")
    for more, share in (([], 1 / 3), (["--few-people", str(few)], 2 / 3)):
        main(["check", str(people), "--identifiers", "--json", *more])
        (found,) = json.loads(capsys.readouterr().out)["safe_harbor"]["found"]
        assert found["share"] == pytest.approx(share, abs=1e-3)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "Name columns that others may know with --known, or ask for --policy or --identifiers"),
        (["--few-people", "few.txt", "--known", "age"], "--few-people is for --identifiers"),
        (["--identifiers", "--secret", "sex"], "--secret needs --known"),
        (["--identifiers", "--synthetic-of", "people.csv"], "--synthetic-of needs --known"),
        (["--identifiers", "--few-people", "people.csv"], "few_people holds 'contact'; give three digits as text"),
        (["--identifiers", "--few-people", "none.txt"], "none.txt"),
    ],
)
def test_a_mistake_is_a_sentence_and_exit_code_2(
    people: Path, options: list[str], says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(people.parent)
    assert main(["check", "people.csv", *options]) == 2
    assert says in capsys.readouterr().err
