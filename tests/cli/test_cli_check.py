"""`anoncore check`: numbers of a table as it is by hand and by independent definitions, and what the exit code says."""

from __future__ import annotations

import io
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore.cli import main
from tests.shared_data import FOLDER, needs

PEOPLE = """age,zip,disease
21,10115,flu
21,10115,cold
21,10115,flu
44,10117,gout
44,10117,gout
60,20095,flu
"""
"""Three people with two diseases, two with one, and one alone."""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    return path


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["check", *arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def numbers(answer: dict[str, Any]) -> dict[str, float]:
    return {one["name"]: one["value"] for one in answer["numbers"]}


def test_by_hand(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = told(capsys, str(people), "--known", "age,zip", "--secret", "disease")
    assert code == 0
    assert (answer["rows"], answer["groups"], answer["known"], answer["secret"]) == (6, 3, ["age", "zip"], ["disease"])
    found = numbers(answer)
    assert found["unique-rows"] == 1
    assert found["k"] == 1
    assert found["distinct-l"] == 1
    # The person alone has the flu for certain, half of the table has it; the two with gout are farther away.
    assert found["t-equal"] == pytest.approx(1 - 2 / 6)
    assert found["max-share"] == 1
    assert found["reidentified-largest"] == 1
    assert found["reidentified-mean"] == pytest.approx(3 / 6)
    worst = next(one for one in answer["numbers"] if one["name"] == "k")
    assert worst["group"] == {"age": 60, "zip": 20095}


def test_every_attack_is_tried_or_said_why_not(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, answer = told(capsys, str(people), "--known", "age,zip", "--secret", "disease", "--attacks", "2")
    (measured,) = answer["attacks"]
    assert (measured["attribute"], measured["r"]) == ("disease", 2.0)
    shares = {one["attack"]: one["share"] for one in measured["tried"]}
    assert shares["reidentification"] == pytest.approx(3 / 6)
    # The one with a cold is believed to have the flu; the others are believed right, above 1/2.
    assert shares["attribute_disclosure"] == pytest.approx(5 / 6)
    assert measured["not_tried"]["composition"] == "No earlier release of these people was given."
    assert "singling_out" in measured["not_tried"]
    assert main(["check", str(people), "--known", "age,zip", "--secret", "disease", "--attacks", "2"]) == 0
    said = capsys.readouterr().out
    assert "Attacks on 'disease', the strongest of each aim first:" in said
    assert "  attribute, single groups: 83.3% (share of people whose value is believed above 1/r)" in said
    assert "  not tried, composition: No earlier release of these people was given." in said


@pytest.mark.parametrize("words", [["--attacks", "2"], ["--control", "people.csv", "--secret", "disease"]])
def test_attacks_need_a_secret_and_people_to_compare_need_an_attack(people: Path, words: list[str]) -> None:
    assert main(["check", str(people), "--known", "age,zip", *words]) == 2


@pytest.mark.parametrize(
    ("required", "code", "says"),
    [
        (["k=1"], 0, "holds"),
        (["k=2"], 1, "fails in 1 of 3 groups (1 of 6 rows)"),
        (["k=3"], 1, "fails in 2 of 3 groups (3 of 6 rows)"),
        (["k=1", "l=2"], 1, "distinct l-diversity (l = 2) fails in 2 of 3 groups (3 of 6 rows)"),
        (["t=0.7"], 0, "holds"),
        (["t=0.5"], 1, "fails in 1 of 3 groups (2 of 6 rows)"),
    ],
)
def test_what_is_required_decides_the_exit_code(
    people: Path, required: list[str], code: int, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [word for one in required for word in ("--require", one)]
    assert main(["check", str(people), "--known", "age,zip", "--secret", "disease", *asked]) == code
    assert says in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--known", "age,town"], "--known: the table has no column 'town'"),
        (["--known", "age", "--secret", "age"], "stands under --secret and under another option"),
        (["--known", "age", "--require", "k"], "write one of"),
        (["--known", "age", "--require", "k=many"], "needs a number, such as k=5"),
        (["--known", "age", "--require", "k=nan"], "needs a finite number"),
        (["--known", "age", "--require", "l=2"], "name it with --secret"),
        (["--known", "age", "--require", "k=0"], "k should be"),
        (["--known", "age", "--unit", "age"], "name it under --unit alone"),
    ],
)
def test_a_mistake_is_a_sentence_and_exit_code_2(
    people: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(people), *arguments]) == 2
    out, err = capsys.readouterr()
    assert says in err
    assert out == ""


def test_a_file_that_is_not_there_is_no_failed_requirement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path / "none.csv"), "--known", "age", "--require", "k=2"]) == 2
    assert "none.csv" in capsys.readouterr().err


def test_rows_of_one_person_count_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("who,age,disease\na,21,flu\na,21,cold\na,21,gout\nb,44,flu\nc,44,cold\n", encoding="utf-8")
    code, answer = told(capsys, str(path), "--known", "age", "--secret", "disease", "--unit", "who")
    assert code == 0
    assert (answer["rows"], answer["people"]) == (5, 3)
    # All three rows at 21 are of one person, who is alone there.
    assert numbers(answer)["unique-rows"] == 3
    assert numbers(answer)["k"] == 1
    code, answer = told(capsys, str(path), "--known", "age", "--secret", "disease", "--identifier", "who")
    assert numbers(answer)["k"] == 2


def test_names_that_a_terminal_or_a_list_could_take_for_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = ["a,b", "red\x1b[31m", "sick\nred"]
    frame = pd.DataFrame({odd[0]: [1, 1, 2], odd[1]: ["x", "x", "y"], odd[2]: ["u", "v", "\x1b[2J"]})
    path = tmp_path / "odd.csv"
    frame.to_csv(path, index=False)
    known = ["--known", odd[0], "--known", odd[1], "--secret", odd[2]]
    assert main(["check", str(path), *known, "--require", "k=2"]) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    code, answer = told(capsys, str(path), *known)
    assert (code, answer["known"], answer["secret"]) == (0, odd[:2], odd[2:])


def test_the_attack_by_foreground_knowledge_runs_where_it_is_asked_for(
    people: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    without = numbers(told(capsys, str(people), "--known", "age,zip", "--secret", "disease")[1])
    code, answer = told(capsys, str(people), "--known", "age,zip", "--secret", "disease", "--foreground", "2")
    assert code == 0
    more = set(numbers(answer)) - set(without)
    assert {"foreground-breach", "foreground-control", "foreground-excess"} <= more
    # Nothing is learned from so few people, which is not 0.
    assert {numbers(answer)[name] for name in more} == {None}
    pd.concat([pd.read_csv(people)] * 20).to_csv(people, index=False)
    _, answer = told(capsys, str(people), "--known", "age,zip", "--secret", "disease", "--foreground", "2")
    assert all(-1 <= numbers(answer)[name] <= 1 for name in more)


def test_facts_are_known_to_the_adversary_of_foreground_knowledge(
    people: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = (str(people), "--known", "age,zip", "--secret", "disease")
    secret = pd.read_csv(people)["disease"].iloc[0]
    code, answer = told(capsys, *asked, "--foreground", "2", "--fact", f"row 1 has {secret}")
    assert code == 0
    assert numbers(answer)["foreground-breach-with-facts"] > 0, "what is known is given away, also of few people"
    assert numbers(answer)["foreground-breach"] is None
    assert main(["check", *asked, "--fact", "row 1 has flu"]) == 2
    assert "ask for --foreground too" in capsys.readouterr().err
    assert main(["check", *asked, "--foreground", "2", "--fact", "all is well"]) == 2
    assert "is not understood as a fact" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(20))
def test_numbers_are_those_of_independent_definitions(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = np.random.default_rng(seed)
    n = int(draw.integers(5, 60))
    frame = pd.DataFrame(
        {
            "age": draw.integers(20, 23, n),
            "town": draw.choice(list("AB"), n),
            "disease": draw.choice(["flu", "cold", "gout"], n),
        }
    )
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    answer = told(capsys, str(path), "--known", "age", "--known", "town", "--secret", "disease")[1]
    groups = [list(group["disease"]) for _, group in frame.groupby(["age", "town"])]
    found = numbers(answer)
    assert found["k"] == min(map(len, groups))
    assert found["distinct-l"] == min(len(set(group)) for group in groups)
    assert found["unique-rows"] == sum(len(group) == 1 for group in groups)
    shares = frame["disease"].value_counts(normalize=True)
    far = [
        0.5 * sum(abs(group.count(value) / len(group) - share) for value, share in shares.items()) for group in groups
    ]
    assert found["t-equal"] == pytest.approx(max(far))


@needs("adult.csv")
@pytest.mark.slow
def test_on_adult(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"]
    code, answer = told(
        capsys, str(FOLDER / "adult.csv"), "--known", ",".join(known), "--secret", "occupation", "--require", "k=2"
    )
    assert code == 1
    frame = pd.read_csv(FOLDER / "adult.csv", skipinitialspace=True)
    sizes = frame.fillna("?").groupby(known).size()
    found = numbers(answer)
    assert found["k"] == sizes.min() == 1
    assert found["unique-rows"] == (sizes == 1).sum()
    assert answer["requirements"][0]["failing_rows"] == (sizes == 1).sum()


def test_a_reader_who_has_seen_enough_is_no_error(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

        def fileno(self) -> int:
            return spare

    with (people.parent / "spare").open("wb") as file:
        spare = file.fileno()
        monkeypatch.setattr(sys, "stdout", Gone())
        assert main(["check", str(people), "--known", "age,zip"]) == 0


def test_a_table_of_a_database_file_is_named_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("create table one (a); insert into one values (1); create table two (a);")
    assert main(["check", str(path), "--known", "a"]) == 2
    assert "--table" in capsys.readouterr().err
    assert main(["check", str(path), "--table", "one", "--known", "a"]) == 0


def test_a_synthetic_table_is_compared_with_its_original_and_attacked_beside_people_who_are_not_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    parts = [
        pd.DataFrame(
            {
                "age": rng.integers(20, 60, 200),
                "wage": rng.integers(0, 90_000, 200),
                "disease": rng.choice(["flu", "gout", "cold"], 200),
            }
        )
        for _ in range(2)
    ]
    parts[0].to_csv("people.csv", index=False)
    parts[1].to_csv("others.csv", index=False)
    parts[0].sample(frac=1, random_state=1).to_csv("copy.csv", index=False)
    asked = ["check", "copy.csv", "--known", "age,wage", "--secret", "disease", "--synthetic-of", "people.csv"]
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert said.startswith("copy.csv: 200 synthetic rows, compared with the 200 rows of people.csv\n")
    assert "give a table of some with --control" in said
    assert "Two-way error: 0.0%" in said
    assert "Singling out" not in said
    assert main([*asked, "--control", "others.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    numbers = {one["name"]: one["value"] for one in found["numbers"]}
    assert (found["rows"], found["people"], found["groups"]) == (200, None, None)
    assert numbers["two-way-error"] == numbers["association-error"] == numbers["query-error"] == 0.0
    assert numbers["inference-members"] == 1.0
    assert numbers["inference-difference"] > 0.4
    assert numbers["singling-out-difference"] > 0.5


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--synthetic-of", "table.csv", "--require", "k=2"], "--require asks for groups of people"),
        (["--synthetic-of", "table.csv", "--foreground", "2"], "--foreground asks for groups of people"),
        (["--control", "table.csv"], "or --synthetic-of ORIGINAL for a synthetic table"),
    ],
)
def test_what_makes_no_sense_for_a_synthetic_table_is_said(
    more: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"age": [1, 2, 2]}).to_csv("table.csv", index=False)
    assert main(["check", "table.csv", "--known", "age", *more]) == 2
    assert sentence in capsys.readouterr().err
