"""What an editor of a large release tries in its folder: none of it ends with exit code 0."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from anoncore.algorithms import RothkoTree
from anoncore.publishing.certification.certificate import CERTIFICATE_FILE
from anoncore.publishing.certification.digests import PartDigester, joined_digest, rows_digest
from anoncore.requirements import KAnonymity
from anoncore.sources.parquet import coded_table, coded_writer
from tests.engines.large_tables import ROLES, people
from tests.publishing.certification.forging import judged
from tests.publishing.parts.folders import certified_run

PART = "part-00001.parquet"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    people(200).to_parquet(folder / "people.parquet")
    roles = {name: role for name, role in ROLES.items() if role != "insensitive"}
    algorithm = RothkoTree((KAnonymity(k=5),), memory_rows=50)
    certified_run(folder / "people.parquet", algorithm, folder / "out", roles=roles)
    return folder / "out"


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "copy"))


def claimed(folder: Path, name: str) -> None:
    """Make the certificate name a file as it is now."""
    path, content = folder / CERTIFICATE_FILE, (folder / name).read_bytes()
    claims: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    claims["files"] = [one for one in claims["files"] if one["name"] != name]
    claims["files"].append({"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()})
    path.write_text(json.dumps(claims), encoding="utf-8")


def test_the_honest_release_passes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = judged(capsys, str(folder))
    assert code == 0, said
    assert "over 'age', 'weight', 'town', 'since', 'debt'" in said


@pytest.mark.parametrize("name", ["original.csv", "original.parquet", "part-99999.parquet"])
def test_a_file_that_only_the_certificate_adds(folder: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    people(200).to_csv(folder / name) if name.endswith("csv") else people(200).to_parquet(folder / name)
    claimed(folder, name)
    code, said = judged(capsys, str(folder))
    assert code == 1
    assert f"'{name}'" in said


def test_a_second_certificate_in_a_folder_below(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "below").mkdir()
    people(200).to_csv(folder / "below" / CERTIFICATE_FILE)
    code, said = judged(capsys, str(folder))
    assert code == 1
    assert "'below' is a folder" in said


def test_a_linked_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "more").symlink_to(folder.parent)
    code, said = judged(capsys, str(folder))
    assert code == 1
    assert "'more' is a link" in said


def test_metadata_of_a_part_whose_hash_is_certified(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = pq.read_table(folder / PART)
    with coded_writer(folder / PART, table.schema) as writer:
        writer.write_table(coded_table(table, table.schema))
        writer.add_key_value_metadata({"original": people(200).to_csv()})
    claimed(folder, PART)
    code, said = judged(capsys, str(folder))
    assert code == 1
    assert "holds metadata 'original'" in said


def test_values_that_no_row_of_a_part_has(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = pq.read_table(folder / PART)
    # A dictionary of all towns, of which the rows have fewer.
    stuffed = coded_table(table, table.schema).slice(0, 5)
    with coded_writer(folder / PART, table.schema) as writer:
        writer.write_table(stuffed)
    claimed(folder, PART)
    code, said = judged(capsys, str(folder))
    assert code == 1
    assert "values that no row has" in said


@pytest.mark.parametrize("change", [{"notes": ["Ann is ill"]}, {"rows": 201}, {"information loss": 0.123456789}])
def test_a_summary_that_says_more(folder: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any]) -> None:
    summary = folder / "_release.json"
    summary.write_text(json.dumps(json.loads(summary.read_text()) | change), encoding="utf-8")
    claimed(folder, summary.name)
    code, said = judged(capsys, str(folder))
    assert code == 1
    assert "says something else than the certificate" in said


def test_rows_of_people_that_are_called_suppressed_cells(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claims = json.loads((folder / CERTIFICATE_FILE).read_text(encoding="utf-8"))
    (asked,) = claims["requirements"]
    asked["requirement"]["k"] = 50
    asked |= {"label": "k-anonymity (k = 50)", "asked": 50.0, "reached": None, "rechecked": False, "reason": "trust us"}
    (folder / CERTIFICATE_FILE).write_text(json.dumps(claims), encoding="utf-8")
    code, said = judged(capsys, str(folder))
    assert code == 1
    assert "k-anonymity (k = 50) fails in" in said
    assert "trust us" not in said


@pytest.mark.parametrize("rows", [1, 200])
@pytest.mark.parametrize("words", [(), ("--no-hashes",)])
def test_a_part_without_rows_that_the_certificate_gives_some(
    folder: Path, capsys: pytest.CaptureFixture[str], rows: int, words: tuple[str, ...]
) -> None:
    schema, name = pq.read_schema(folder / PART), "part-00080.parquet"
    with coded_writer(folder / name, schema):
        pass
    claimed(folder, name)
    path = folder / CERTIFICATE_FILE
    claims = json.loads(path.read_text(encoding="utf-8"))
    columns = PartDigester(schema).close().column_sha256
    digest = rows_digest(schema.names, rows, columns)
    claims["parts"].append({"file": name, "rows": rows, "sha256": digest, "column_sha256": columns})
    claims["sha256"] = claims["tables"][0]["sha256"] = joined_digest([one["sha256"] for one in claims["parts"]])
    path.write_text(json.dumps(claims), encoding="utf-8")
    code, said = judged(capsys, str(folder), *words)
    assert code == 1
    assert f"'{name}' has no rows" in said


def test_other_numbers_of_rows_of_a_part_whose_hash_is_certified(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / CERTIFICATE_FILE
    claims = json.loads(path.read_text(encoding="utf-8"))
    claims["parts"][0]["rows"] += 1
    path.write_text(json.dumps(claims), encoding="utf-8")
    code, said = judged(capsys, str(folder))
    assert code == 1
    assert "were certified" in said
