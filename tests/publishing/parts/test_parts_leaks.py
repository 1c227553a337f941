"""Columns that undo a tag in releases in parts: the same as in memory, found from counts and from the parts alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anoncore import Microdata, privacy
from anoncore.algorithms import Mondrian, RothkoTree
from anoncore.cli import main
from anoncore.datasets import table
from anoncore.engines import joint_counts
from anoncore.measures import verdict
from anoncore.publishing.certification import published_rows as part_files
from anoncore.publishing.certification.published_rows import PartFile
from anoncore.publishing.certification.scan import PartClasses
from anoncore.requirements import KAnonymity
from anoncore.sources.large_table import LargeTable
from tests.publishing.parts.folders import certified_run, failures, verified

pytestmark = pytest.mark.slow

ROLES = {
    "person-id": "identifier",
    "name": "identifier",
    **dict.fromkeys(("age", "education", "sex"), "quasi-identifier"),
    "diagnosis": "sensitive",
    "race": "insensitive",
}
DECIDED = ("years-of-school", "half", "other-half", "code-of-diagnosis", "number")
ALL_ROLES = {**ROLES, **dict.fromkeys(DECIDED, "insensitive")}


def census(n_rows: int = 3_000) -> pd.DataFrame:
    """Census-like people with columns that tell tagged ones: alone, nearly, two together, and one with all different
    values.
    """
    frame = table("census").load(n_rows=n_rows)[[*ROLES]]
    rng = np.random.default_rng(2)
    frame["years-of-school"] = pd.factorize(frame["education"])[0]
    half = rng.integers(0, 2, n_rows)
    frame["half"] = half.astype(float)
    frame["other-half"] = half ^ (frame["sex"] == "Female")
    frame["code-of-diagnosis"] = pd.factorize(frame["diagnosis"])[0].astype(float)
    frame.loc[rng.random(n_rows) < 0.01, "code-of-diagnosis"] = None
    frame.loc[rng.random(n_rows) < 0.02, "half"] = np.nan
    frame["number"] = np.arange(n_rows)
    return frame


@pytest.mark.parametrize("unit_rows", [1, part_files.UNIT_ROWS])
def test_a_run_on_disk_finds_what_memory_finds(tmp_path, monkeypatch, unit_rows):
    monkeypatch.setattr(part_files, "UNIT_ROWS", unit_rows)
    frame = census()
    frame.to_parquet(tmp_path / "in.parquet", row_group_size=700)
    requirements = (KAnonymity(k=5),)
    algorithm = RothkoTree(requirements, memory_rows=400)
    _, found, _ = certified_run(tmp_path / "in.parquet", algorithm, tmp_path / "out", roles=ALL_ROLES)
    # On disk nobody looks whether an identifier numbers the people; in memory rows are called rows without one.
    repeated = {name: role for name, role in ALL_ROLES.items() if name != "person-id"}
    release = Mondrian(requirements, strict=True).anonymize(Microdata(frame.drop(columns="person-id"), repeated))
    expected = privacy.tag_leaks(release)
    assert [one.sentence for one in found.leaks] == [one.sentence for one in expected]
    assert [(one.relations, one.split, one.role) for one in found.leaks] == [
        (one.relations, one.split, one.role) for one in expected
    ]
    told = {one.column: [(other.telling, other.told) for other in one.relations] for one in found.leaks}
    assert (("half", "other-half"), "sex") in told["half"]
    assert (("years-of-school",), "education") in told["years-of-school"]
    assert (("code-of-diagnosis",), "diagnosis") in told["code-of-diagnosis"]
    assert told["race"] == []
    (number,) = (one for one in found.leaks if one.column == "number")
    assert number.split.n_below == 3_000
    assert found.verdict.breaking == verdict(release).breaking == found.certificate.breaking
    assert found.verdict.asked == verdict(release).asked
    split = privacy.all_but_secrets(release)
    over_all = found.certificate.over_all
    assert (tuple(over_all.columns), over_all.smallest, over_all.n_below) == (
        split.columns,
        split.smallest,
        split.n_below,
    )
    holding = verified(tmp_path / "out")
    assert holding.code == 3
    assert sum(one.check.startswith("insensitive column") for one in holding.findings) == len(expected)
    assert "published by decision, find everybody: 3,000 of 3,000 rows" in holding.state


@settings(max_examples=25)
@given(st.data())
def test_the_classes_of_parts_are_those_of_the_rows_however_they_lie(tmp_path_factory, data):
    """The plain twin: pandas groups all rows at once; parts may share classes, and units may be single rows."""
    folder = tmp_path_factory.mktemp("parts")
    n_rows = data.draw(st.integers(1, 60))
    rng = np.random.default_rng(data.draw(st.integers(0, 1_000)))
    frame = pd.DataFrame({name: rng.choice(["a", "b", None], n_rows) for name in ("x", "y")}, dtype="str")
    frame["one"] = rng.integers(0, 2, n_rows)
    frame["two"] = rng.choice([0.5, 1.5, np.nan], n_rows)
    cuts = sorted(rng.integers(0, n_rows, data.draw(st.integers(0, 3))).tolist())
    for number, (begin, end) in enumerate(zip([0, *cuts], [*cuts, n_rows], strict=True)):
        frame.iloc[begin:end].to_parquet(folder / f"{number}.parquet", row_group_size=data.draw(st.integers(1, 9)))
    files = [PartFile(path.name, path) for path in sorted(folder.iterdir())]
    sets = [(), ("one",), ("two",), ("one", "two")]
    k = data.draw(st.integers(1, 5))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(part_files, "UNIT_ROWS", data.draw(st.sampled_from([1, 10, 1_000])))
        found = list(PartClasses(files, ["x", "y"], k).sizes(sets))
    for names, (smallest, below) in zip(sets, found, strict=True):
        sizes = frame.groupby(["x", "y", *names], dropna=False).size()
        assert (smallest, below) == (sizes.min(), sizes[sizes < k].sum()), names


def test_a_decision_is_kept_and_checked(tmp_path):
    census(600).to_parquet(tmp_path / "in.parquet")
    algorithm = RothkoTree((KAnonymity(k=5),), memory_rows=400)
    _, found, _ = certified_run(tmp_path / "in.parquet", algorithm, tmp_path / "out", roles=ALL_ROLES)
    entries = {one.column: one for one in found.certificate.decided}
    assert {entries[name].decision for name in (*DECIDED, "race")} == {"published by decision"}
    number = entries["number"]
    fewer = number.model_copy(update={"classes": number.classes.model_copy(update={"n_below": 599})})
    forged = found.certificate.model_copy(update={"decided": [fewer]})
    (failing,) = failures(verified(tmp_path / "out", forged))
    assert failing.endswith("; the certificate says 1 and 599.")
    for change, said in (
        ({"columns": ["nowhere"]}, "groups cannot be made; the certificate says 1 and 600."),
        ({"columns": ["race"]}, "; the certificate says 1 and 600."),
        ({"k": 6, "smallest": 2}, "; the certificate says 2 and 600."),
    ):
        other = number.model_copy(update={"classes": number.classes.model_copy(update=change)})
        (failing,) = failures(verified(tmp_path / "out", found.certificate.model_copy(update={"decided": [other]})))
        assert failing.endswith(said)
    other = found.certificate.over_all.model_copy(update={"n_below": 1})
    (failing,) = failures(verified(tmp_path / "out", found.certificate.model_copy(update={"over_all": other})))
    assert failing.endswith("; the certificate says 1 and 1.")


def test_a_column_without_a_role_is_neither_read_nor_written(tmp_path, monkeypatch):
    census(600).to_parquet(tmp_path / "in.parquet")
    roles = {name: role for name, role in ROLES.items() if name != "race"}
    asked = []
    batches = LargeTable.batches
    monkeypatch.setattr(LargeTable, "batches", lambda table, names: asked.extend(names) or batches(table, names))
    algorithm = RothkoTree((KAnonymity(k=5),), memory_rows=400)
    _, found, written = certified_run(tmp_path / "in.parquet", algorithm, tmp_path / "out", roles=roles)
    assert set(asked) == {"age", "education", "sex", "diagnosis"}
    assert written.profile.left_out == ("race", *DECIDED)
    files = sorted((tmp_path / "out").glob("*.parquet"))
    assert {name for file in files for name in pq.read_schema(file).names} == set(asked)
    rows = pd.concat([pd.read_parquet(file) for file in files])
    assert rows.groupby(["age", "education", "sex"]).size().min() >= 5, "counted by pandas alone"
    assert (found.certificate.decided, found.certificate.breaking, found.leaks) == (None, None, ())
    assert {one.name for one in found.certificate.attributes} == set(roles)


def test_what_has_too_many_values_to_be_counted_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(joint_counts, "MOST_VALUES", 100)
    numbers = np.arange(3_000)
    frame = pd.DataFrame({"age": numbers // 20, "town": numbers // 10, "ill": ["x", "y", "z"] * 1_000})
    frame.to_parquet(tmp_path / "in.parquet")
    roles = {"age": "quasi-identifier", "ill": "sensitive", "town": "insensitive"}
    _, found, _ = certified_run(tmp_path / "in.parquet", RothkoTree((KAnonymity(k=20),)), tmp_path / "out", roles=roles)
    assert "was not looked at, because together they have more than" in found.certificate.not_checked[0]
    assert "'town'" in found.certificate.not_checked[0]
    (leak,) = found.leaks
    assert (leak.column, leak.relations, leak.split.smallest) == ("town", (), 10)


def test_the_command_says_what_breaks_the_promise_and_what_is_left_out(tmp_path: Path, capsys):
    census(600).to_parquet(tmp_path / "people.parquet")
    recipe = tmp_path / "people.toml"

    def written(roles: dict[str, str], first: str = "format = 2") -> list[str]:
        lines = "\n".join(f'{name} = "{role}"' for name, role in roles.items())
        recipe.write_text(
            f'{first}\n[source]\npath = "people.parquet"\n[roles]\n{lines}\n[algorithm]\nname = "rothko-tree"\n'
            'requirements = [{name = "k-anonymity", k = 5}]\n'
        )
        return ["run", str(recipe), "--engine", "disk", "--force", "--output", str(tmp_path / "out")]

    words = written(ALL_ROLES)
    assert main(words) == 0
    first, *said = capsys.readouterr().out.splitlines()
    assert first.startswith("Everything that was asked holds over what is known; 'number', 'code-of-diagnosis', ")
    assert ", published by decision, find every row: 600 of 600 rows lie in groups of fewer than k = 5." in first
    assert any("'years-of-school' is published by decision and tells 'education' of " in line for line in said)
    assert any("Tag 'code-of-diagnosis' as sensitive, or leave it out of the release." in line for line in said)
    assert main([*words, "--strict"]) == 1
    certificate = json.loads((tmp_path / "out" / "people-release" / "_certificate.json").read_text())
    assert {one["column"] for one in certificate["decided"]} >= set(DECIDED)
    assert main([*words, "--no-certificate"]) == 0
    said = capsys.readouterr()
    assert "whether a column that is published as it is breaks what was asked was not looked for" in said.err
    assert "holds in every group for readers who know no column that is published as it is." in said.out
    words = written({name: role for name, role in ROLES.items() if name != "race"})
    assert main([*words, "--strict"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Everything that was asked holds")
    assert "known" not in said.splitlines()[0]
    assert "  Left out, because they have no role: 'race', 'years-of-school', " in said
    words = written(ROLES, "format = 1")
    assert main(words) == 1
    assert "Nobody decided on 'years-of-school', 'half', " in capsys.readouterr().err
    assert main([*words, "--publish-untagged"]) == 0
    assert pq.read_table(tmp_path / "out" / "people-release").num_rows == 600
