"""What became what on disk is what it is in memory, and the report shows the numbers of the parts."""

from __future__ import annotations

import io
import re
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anoncore import Hierarchy, Microdata, privacy
from anoncore.algorithms import Mondrian
from anoncore.cli import main
from anoncore.engines import value_pairs
from anoncore.publishing.export import csv_bytes
from anoncore.release.mapping import value_mapping
from anoncore.requirements import DistinctDiversity, KAnonymity
from tests.engines.large_tables import ROLES, people

TOWNS = Hierarchy.from_nested({"South": ["Ulm", "it's"], "Rhine": ["Bonn", "Köln, Süd"]})
RECIPE = """
[source]
path = "people.parquet"
[roles]
{roles}
[algorithm]
name = "rothko-tree"
memory_rows = {memory_rows}
recoding = "{recoding}"
requirements = [{{name = "k-anonymity", k = 5}}, {{name = "distinct-diversity", l = 2}}]
[hierarchies.town]
taxonomy = {{South = ["Ulm", "it's"], Rhine = ["Bonn", "Köln, Süd"]}}
"""


def write_recipe(folder: Path, memory_rows: int = 50, recoding: str = "rows") -> Path:
    people().to_parquet(folder / "people.parquet")
    roles = "\n".join(f'{name} = "{role}"' for name, role in ROLES.items())
    path = folder / "people.toml"
    path.write_text(RECIPE.format(roles=roles, memory_rows=memory_rows, recoding=recoding), encoding="utf-8")
    return path


def in_memory(recoding: str):
    data = Microdata(people(), ROLES, hierarchies={"town": TOWNS})
    return Mondrian((KAnonymity(k=5), DistinctDiversity(l=2)), strict=True, recoding=recoding).anonymize(data)


@pytest.mark.slow
@pytest.mark.parametrize("recoding", ["rows", "regions"])
def test_the_mapping_is_that_of_the_release_in_memory(tmp_path, monkeypatch, capsys, recoding):
    monkeypatch.setattr(value_pairs, "BATCH_ROWS", 16)  # several batches, and one header
    recipe = write_recipe(tmp_path, recoding=recoding)
    assert main(["run", str(recipe), "--engine", "disk", "--output", str(tmp_path / "out"), "--mapping"]) == 0
    expected = value_mapping(in_memory(recoding))
    names = list(expected.frame.columns)
    written = pd.read_csv(tmp_path / "out" / "people-release-mapping-not-for-publication.csv", keep_default_na=False)
    readable = pd.read_csv(io.BytesIO(csv_bytes(expected.frame)), keep_default_na=False)
    assert list(written) == names
    pd.testing.assert_frame_equal(
        written.sort_values(names).reset_index(drop=True), readable.sort_values(names).reset_index(drop=True)
    )
    # Attributes in published order, their values in the order that they have.
    assert written["attribute"].drop_duplicates().tolist() == readable["attribute"].drop_duplicates().tolist()
    assert (
        written[["attribute", "original value"]].drop_duplicates().to_numpy().tolist()
        == readable[["attribute", "original value"]].drop_duplicates().to_numpy().tolist()
    )
    assert f"({expected.sentence.rstrip('.')})" in capsys.readouterr().out


def test_a_class_larger_than_memory_is_mapped_too(tmp_path):
    frame = pd.DataFrame({"age": [30, 31] * 150 + [40] * 20, "ill": ["gout", "flu", "cold"] * 106 + ["flu", "cold"]})
    frame.to_parquet(tmp_path / "people.parquet")
    path = tmp_path / "people.toml"
    path.write_text(
        '[source]\npath = "people.parquet"\n[roles]\nage = "quasi-identifier"\nill = "sensitive"\n'
        '[algorithm]\nname = "rothko-tree"\nmemory_rows = 50\nrequirements = [{name = "k-anonymity", k = 160}]\n',
        encoding="utf-8",
    )
    assert main(["run", str(path), "--engine", "disk", "--output", str(tmp_path / "out"), "--mapping"]) == 0
    written = pd.read_csv(tmp_path / "out" / "people-release-mapping-not-for-publication.csv", dtype=str)
    release = Mondrian((KAnonymity(k=160),), strict=True).anonymize(
        Microdata(frame, {"age": "quasi-identifier", "ill": "sensitive"})
    )
    assert written.to_numpy().tolist() == value_mapping(release).frame.astype(str).to_numpy().tolist()


def texts_of(html: str) -> str:
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)))


def test_the_report_shows_the_numbers_of_the_parts(tmp_path):
    recipe = write_recipe(tmp_path)
    assert main(["run", str(recipe), "--engine", "disk", "--output", str(tmp_path / "out"), "--report"]) == 0
    html = (tmp_path / "out" / "people-release-report.html").read_text(encoding="utf-8")
    release = in_memory("rows")
    profile = privacy.profile(release)
    seen = texts_of(html)
    sizes = release.partition.sizes
    assert f"400 rows in {len(sizes)} groups of {sizes.min()} to {sizes.max()} rows" in seen
    distance = float(profile.score("t-equal", "ill"))
    assert f"ill {distance:.4g} 0 " in seen
    assert f"{len(sizes) / 400:.1%}" in seen  # the mean risk to be found
    for name in release.data.quasi_identifiers:
        loss = release.recoding(name).loss() @ sizes / 400
        assert f"generalized, {loss:.1%} lost" in seen
    assert "holds over what is known; 'note', published by decision, finds " in seen
    assert "k-anonymity (k = 5) holds over what is known: the worst published group has size 5" in seen
    assert "and 337 of 400 rows are in groups of fewer than k = 5. Tag 'note' as a quasi-identifier" in seen
    assert html.count("<svg") == 4  # sizes, distances, beliefs, losses
    assert "<script" not in html
    # People, not groups, are drawn by how sure one is of them: all bars together are 400.
    belief = privacy.profile(release).score("max-share", "ill")
    assert f"largest {float(belief):.1%}." in html


def test_hostile_values_are_escaped_in_the_report(tmp_path):
    frame = people()
    frame["ill"] = frame["ill"].replace("flu", "<script>alert(1)</script>")
    recipe = write_recipe(tmp_path)
    frame.to_parquet(tmp_path / "people.parquet")
    assert main(["run", str(recipe), "--engine", "disk", "--output", str(tmp_path / "out"), "--report"]) == 0
    assert "<script" not in (tmp_path / "out" / "people-release-report.html").read_text(encoding="utf-8")


def test_files_that_are_there_are_not_replaced_unless_forced(tmp_path, capsys):
    recipe = write_recipe(tmp_path)
    words = ["run", str(recipe), "--engine", "disk", "--output", str(tmp_path / "out"), "--report", "--mapping"]
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "people-release-report.html").write_text("mine")
    assert main(words) == 2
    assert "people-release-report.html' exists" in capsys.readouterr().err
    assert not (tmp_path / "out" / "people-release").exists()
    assert main([*words, "--force"]) == 0
    assert "mine" not in (tmp_path / "out" / "people-release-report.html").read_text()
    assert main([*words, "--force", "--no-certificate"]) == 2
    assert "--report takes its numbers from the certificate's scan" in capsys.readouterr().err


def test_weights_of_a_drawing_count_as_values_do():
    from anoncore.publishing.report.drawing import histogram

    values, weights = np.array([0.1, 0.4, 0.9]), np.array([3.0, 1.0, 2.0])
    every = np.repeat(values, weights.astype(int))
    drawn = [
        histogram(every, "x", "y", str, "alt"),
        histogram(values, "x", "y", str, "alt", weights=weights),
    ]
    assert drawn[0] == drawn[1]
