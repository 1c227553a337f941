"""Where values of an identifier repeat and nobody named a unit, no command, report or certificate calls rows people."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from anoncore.cli import main

RECIPE = """
format = 2
measures = [
    "privacy.profile",
    "attacks.reidentification",
    {{ name = "attacks.attribute_disclosure", attribute = "illness" }},
]
{more}
[source]
path = "visits.csv"
[roles]
patient = "identifier"
age = "quasi-identifier"
illness = "sensitive"
[algorithm]
name = "mondrian"
requirements = [{{ name = "k-anonymity", k = 2 }}]
"""
QUESTION = "Is each of the 20 different values of 'patient' a person? They stand in 40 rows"
COUNTED = re.compile(r"\b(people|everybody|every person)\b", re.IGNORECASE)


def visits(folder: Path, more: str = "") -> str:
    """Twenty patients who came twice, and classes of two rows, in half of which both have one illness."""
    rows = [(f"p{number % 20}", 20 + number // 2, "flu" if number % 4 < 2 else "cold") for number in range(40)]
    pd.DataFrame(rows, columns=["patient", "age", "illness"]).to_csv(folder / "visits.csv", index=False)
    (folder / "visits.toml").write_text(RECIPE.format(more=more), encoding="utf-8")
    return str(folder / "visits.toml")


def shown(html: str) -> str:
    """The text of a report that stands before what it says of no table in particular."""
    body = html[html.index("<body") : html.index(">What was not checked</h2>")]
    return " ".join(re.sub(r"<[^>]+>", " ", body).replace("&#39;", "'").split())


def test_rows_are_told_and_whose_they_are_is_asked_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", visits(tmp_path), "--output", str(tmp_path / "out.csv"), "--report"]) == 0
    first, second, *lines = capsys.readouterr().out.splitlines()
    assert second.startswith(f"  {QUESTION}")
    assert not [line for line in [first, *lines] if COUNTED.search(line)]
    report = shown((tmp_path / "out-report.html").read_text(encoding="utf-8"))
    assert QUESTION in report
    rest = report.replace("rows are counted, not people", "").replace("the people of the population", "")
    assert not [rest[max(0, one.start() - 60) : one.end() + 30] for one in COUNTED.finditer(rest)]
    certificate = json.loads((tmp_path / "out-certificate.json").read_text(encoding="utf-8"))
    assert certificate["not_asked"]
    assert not [one for one in certificate["not_asked"] if COUNTED.search(one)]


def test_people_are_told_once_the_unit_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", visits(tmp_path, 'unit = "patient"'), "--output", str(tmp_path / "out.csv")]) == 0
    said = capsys.readouterr().out
    assert "40 rows (20 people)" in said
    assert QUESTION not in said
