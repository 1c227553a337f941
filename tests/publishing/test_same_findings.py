"""One release, wherever its rows lie: the same findings in the same words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from anoncore import Microdata
from anoncore.algorithms import Anatomy, Mondrian, RothkoTree
from anoncore.publishing import Certificate, Verification, publish, store, verify, verify_stored, write_tables
from anoncore.publishing.export import archive_bytes
from anoncore.release.release import Release
from anoncore.requirements import DistinctDiversity, KAnonymity, TCloseness
from tests.engines.large_tables import people
from tests.publishing.certification.tables import FORMATS, KEY
from tests.publishing.parts.folders import certified_run, verified
from tests.sources.postgresql_server import Server, running_server

ROLES = {"age": "quasi-identifier", "town": "quasi-identifier", "ill": "sensitive", "note": "insensitive"}
ASKED = (KAnonymity(k=4), DistinctDiversity(l=2), TCloseness(t=0.9))
PEOPLE = people(120)[list(ROLES)]


def told(verification: Verification) -> list[tuple[str, str]]:
    return [(one.outcome, one.sentence) for one in verification.findings]


def in_memory(release: Release, folder: Path) -> dict[str, list[tuple[str, str]]]:
    """What is found in files of every format, and in a zip with the file."""
    found = {}
    for format in FORMATS:
        path, file = publish(release, folder / format, "people", KEY, format)
        certificate, content = Certificate.load(path), file.read_bytes()
        found[format] = told(verify(certificate, {file.name: content}))
    unnamed = Certificate.load(folder / "csv" / "people-certificate.json").model_copy(update={"files": []})
    packed = archive_bytes([("release.csv", (folder / "csv" / "people.csv").read_bytes())])
    found["zip"] = told(verify(unnamed, {"people.zip": packed}))
    return found


def test_one_table_in_files_of_every_kind_and_in_parts(tmp_path: Path) -> None:
    release = Mondrian(requirements=ASKED, strict=True).anonymize(Microdata(PEOPLE, ROLES))
    found = in_memory(release, tmp_path)
    PEOPLE.to_parquet(tmp_path / "people.parquet")
    certified_run(tmp_path / "people.parquet", RothkoTree(ASKED, memory_rows=30), tmp_path / "parts", roles=ROLES)
    found["parts"] = told(verified(tmp_path / "parts"))
    assert len(list((tmp_path / "parts").glob("*.parquet"))) > 1
    assert {outcome for outcome, _ in found["csv"]} == {"holds", "claimed"}
    for kind, findings in found.items():
        assert findings == found["csv"], kind


def test_joined_tables_in_files_of_every_kind(tmp_path: Path) -> None:
    release = Anatomy(l=2).anonymize(Microdata(PEOPLE, ROLES))
    found = {}
    for format in FORMATS:
        path, file = publish(release, tmp_path / format, "people", KEY, format)
        found[format] = told(verify(Certificate.load(path), {file.name: file.read_bytes()}))
    for kind, findings in found.items():
        assert findings == found["csv"], kind


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running_server() as found:
        yield found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one", "joined"])
def test_a_database_finds_the_same(server: Server, tmp_path: Path, name: str) -> None:
    method = Mondrian(requirements=ASKED, strict=True) if name == "one" else Anatomy(l=2)
    release = method.anonymize(Microdata(PEOPLE, ROLES))
    path, file = publish(release, tmp_path, "people", KEY, "csv")
    store(release, server.address(), f"people_{name}", KEY)
    found = told(verify_stored(server.address(), f"people_{name}"))
    assert found == told(verify(Certificate.load(path), {file.name: file.read_bytes()}))


def test_one_changed_cell_fails_in_the_same_words(tmp_path: Path) -> None:
    release = Mondrian(requirements=ASKED, strict=True).anonymize(Microdata(PEOPLE, ROLES))
    said = []
    for format in FORMATS:
        path, file = publish(release, tmp_path / format, "people", KEY, format)
        frame = release.tables()["release"]
        frame.loc[0, "age"] = "1-99"
        write_tables({"release": frame}, file, format)
        found = verify(Certificate.load(path), {file.name: file.read_bytes()}, hashes=False)
        said.append([one.sentence for one in found.of("fails")])
    assert said[0] == said[1] == said[2]
    assert said[0][0].startswith("k-anonymity (k = 4) fails in 2 of ")
