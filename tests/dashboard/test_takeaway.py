"""What the page Publish hands out besides the tables: each file is what its sentence says."""

from __future__ import annotations

import dataclasses
import io
import re
import runpy
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anoncore import Recipe
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.cli import main
from anoncore.publishing import Certificate, verify
from anoncore.requirements import KAnonymity
from dashboard.views import publish, takeaway
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run, people

MONDRIAN = Mondrian(requirements=[KAnonymity(k=5)])


def paper(found: takeaway.Paper | list[takeaway.Paper], key: str = "") -> takeaway.Paper:
    return next(one for one in (found if isinstance(found, list) else [found]) if key in ("", one.key))


def test_every_button_has_its_sentence(visitor: Visitor) -> None:
    add_run(visitor, MONDRIAN)
    visitor.open("publish")
    labels = [button.proto.label for button in visitor.at.download_button]
    assert labels == [
        *("CSV", "Parquet", "Excel", "Certificate (JSON)", "Report (HTML)", "Mapping (CSV)"),
        *("Recipe (TOML)", "Script (Python)"),
    ]
    texts = visitor.texts()
    assert "re-checks it from the published files alone" in texts
    assert "Not for publication: it tells which values stand behind the published cells of" in texts


@pytest.mark.slow
@pytest.mark.parametrize("format", ["csv", "parquet", "excel"])
@pytest.mark.parametrize("algorithm", [MONDRIAN, Anatomy(l=2)], ids=["generalized", "joined"])
def test_every_download_verifies_by_the_certificate(
    visitor: Visitor, algorithm: Any, format: str, tmp_path: Path
) -> None:
    run = add_run(visitor, algorithm)
    proof = Certificate.loads(paper(takeaway._certificate(run)).make())
    # The group numbers of joined tables are drawn anew at every download.
    with zipfile.ZipFile(io.BytesIO(publish._archive(run, format)())) as archive:
        own, *names = archive.namelist()
        files = {name: archive.read(name) for name in names}
        archive.extractall(tmp_path)
    found = verify(proof, files, data=run.data, key=takeaway.input_key(run))
    assert not found.of("fails")
    # A column that is published by decision breaks the k of the generalized table, and no promise of the joined ones.
    assert found.code == (3 if algorithm == MONDRIAN else 0)
    assert main(["verify", str(tmp_path / own)]) == found.code
    assert main(["verify", str(tmp_path / own), str(tmp_path)]) == found.code


def test_what_does_not_hold_is_not_handed_out(visitor: Visitor) -> None:
    run = add_run(visitor, MONDRIAN)
    broken = dataclasses.replace(run.release, algorithm=Mondrian(requirements=[KAnonymity(k=999)]))
    object.__setattr__(run, "release", broken)
    visitor.open("publish")
    buttons = {button.proto.label: button for button in visitor.at.download_button}
    assert all(buttons[label].proto.disabled for label in ("CSV", "Parquet", "Excel", "Certificate (JSON)"))
    assert "There is no certificate for what does not hold." in visitor.warnings[0]


def test_recipe_and_script_make_the_same_groups(visitor: Visitor, tmp_path: Path) -> None:
    run = add_run(visitor, MONDRIAN)
    people().to_csv(tmp_path / "people.csv", index=False)
    papers = takeaway._recipes(run)
    (tmp_path / "recipe.toml").write_text(str(paper(papers, "recipe").make()), encoding="utf-8")
    again = Recipe.load(tmp_path / "recipe.toml").run().release
    assert (again.partition.group == run.release.partition.group).all()
    (tmp_path / "script.py").write_text(str(paper(papers, "script").make()), encoding="utf-8")
    made = runpy.run_path(str(tmp_path / "script.py"))["release"]
    assert (made.partition.group == run.release.partition.group).all()


def test_a_seed_is_in_nothing_that_is_handed_out(visitor: Visitor) -> None:
    run = add_run(visitor, Anatomy(l=2, seed=(1 << 64) + 987654))
    papers = [takeaway._certificate(run), takeaway._report(run), *takeaway._recipes(run)]
    for one in papers:
        assert str((1 << 64) + 987654) not in str(one.make()), one.key


def test_the_mapping_says_in_its_name_that_it_is_secret(visitor: Visitor) -> None:
    run = add_run(visitor, MONDRIAN)
    found = paper(takeaway._mapping(run))
    assert found.ending == "-mapping-not-for-publication.csv"
    frame = pd.read_csv(io.BytesIO(found.make()))  # type: ignore[arg-type]
    assert frame.groupby("attribute")["rows"].sum().to_dict() == {"age": 240, "sex": 240, "town": 240}
    joined = paper(takeaway._mapping(add_run(visitor, Anatomy(l=2))))
    assert "only what belongs together" in joined.missing


def test_reports_of_one_run_and_of_several(visitor: Visitor) -> None:
    first, second = add_run(visitor, MONDRIAN), add_run(visitor, Anatomy(l=2))
    visitor.open("publish")
    assert "Comparison of 2 releases (HTML)" in [button.proto.label for button in visitor.at.download_button]
    text = str(paper(takeaway._report(second)).make())
    assert "<b>C</b>" not in text
    assert "illness" in text
    assert re.search(r"(?i)<script|https?://|javascript:", text) is None
    assert first.label != second.label
