"""Whatever is published verifies in every format; whatever is changed in it does not, with the reason."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from anoncore import Microdata
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.base.errors import DataError
from anoncore.publishing import verify
from anoncore.requirements import KAnonymity
from tests.properties.subjects import subjects
from tests.publishing.certification import tables as made
from tests.publishing.certification.tables import FORMATS, KEY, certificate, people, released, written

FORMS = [
    pytest.param("mondrian", (), id="generalization"),
    pytest.param("mask", (("k", 3), ("l", 2)), id="changed-values"),
    pytest.param("anatomy", (("l", 2),), id="bucketization"),
    pytest.param("slicing", (("l", 1.2), ("sensitive_column_size", 1)), id="slicing"),
    pytest.param("vertical-fragmentation", (("k", 3),), id="fragments"),
    pytest.param("vertical-fragmentation", (("k", 3), ("enforce", "selectivity")), id="value-sets"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), subjects(turn=1))
def test_every_algorithm_is_certified_and_verifies_from_its_files(name: str, parameters: dict[str, Any]) -> None:
    release = released(name, tuple(parameters.items()))
    proof = certificate(release)
    found = verify(proof, written(release.tables(), "csv"), data=people(), key=KEY)
    assert [one.sentence for one in found.findings if one.outcome == "fails"] == []
    assert [one.outcome for one in found.findings if one.check == "input"] == ["holds"]
    assert sum(int(count) * int(size) for size, count in proof.tables[0].group_sizes.items()) == 120
    hidden = [one for one in (*proof.requirements, *proof.people, proof.joins) if one and not one.rechecked]
    assert len(proof.not_checked) == len(hidden) + 1
    # Only slicing with quasi-identifiers in several columns, and what attacks get, cannot be shown by tables.
    assert not hidden or (name == "slicing" and parameters.get("columns") == 3) or name == "attack-safe"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), FORMS)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("tamper", ["changed_cell", "dropped_row", "swapped_values"])
def test_tampering_is_found_in_every_form_and_format(
    name: str, parameters: tuple[tuple[str, Any], ...], format: str, tamper: str
) -> None:
    release = released(name, parameters)
    proof = certificate(release)
    tables = release.tables()
    assert not verify(proof, written(tables, format)).of("fails")
    touched = getattr(made, tamper)(tables)
    found = verify(proof, written(tables, format))
    assert not found.holds
    said = " ".join(one.sentence for one in found.findings if one.outcome == "fails")
    expected = {
        "changed_cell": [f"values of '{touched}' were changed"],
        "dropped_row": [f"'{touched}' has 119 rows, but 120 were certified"],
        # Where the groups that come out are those of before in another order, the order is what is found.
        "swapped_values": [
            "stand in other rows or groups",
            "groups of the tables were exchanged",
            "rows stand in another order",
        ],
    }[tamper]
    assert any(one in said for one in expected), said


@pytest.mark.parametrize("format", FORMATS)
def test_the_file_is_compared_byte_by_byte_too(format: str) -> None:
    release = released("mondrian", ())
    files = written(release.tables(), format)
    (name,) = files
    proof = certificate(release, files=files)
    assert [one.outcome for one in verify(proof, files).findings if one.check == f"file '{name}'"] == []
    tables = release.tables()
    made.changed_cell(tables)
    found = verify(proof, written(tables, format))
    assert [one.outcome for one in found.findings if one.check == f"file '{name}'"] == ["fails"]


def test_the_same_tables_in_another_file_are_fine() -> None:
    release = released("anatomy", (("l", 2),))
    proof = certificate(release, files=written(release.tables(), "csv"))
    found = verify(proof, written(release.tables(), "csv"))
    assert found.holds
    (file,) = (one for one in found.findings if one.check.startswith("file"))
    assert file.outcome == "holds"
    assert "its tables are the same" in file.sentence
    frames = {name: frame.sample(frac=1, random_state=1) for name, frame in release.tables().items()}
    shuffled = verify(proof, written(frames, "csv"))
    assert not shuffled.holds
    said = [one.sentence for one in shuffled.findings if one.outcome == "fails"]
    assert "An order of rows can tell which of them belong to whom." in said[0]


def test_unpacked_and_renamed_tables_are_recognized_by_their_columns() -> None:
    release = released("anatomy", (("l", 2),))
    (archive,) = written(release.tables(), "csv").values()
    with zipfile.ZipFile(io.BytesIO(archive)) as file:
        members = {f"{place}.csv": file.read(name) for place, name in enumerate(reversed(file.namelist()))}
    assert verify(certificate(release), members).holds


def test_tables_that_are_missing_or_too_many_fail() -> None:
    release = released("anatomy", (("l", 2),))
    proof, tables = certificate(release), release.tables()
    one = verify(proof, written({"sensitive": tables["sensitive"]}, "csv"))
    assert "No file has the table 'quasi-identifiers' with the columns 'group', 'age'" in one.findings[0].sentence
    more = verify(proof, written(tables, "csv") | written({"more": pd.DataFrame({"x": [1]})}, "parquet"))
    assert "'release' with 'x', which is not certified" in more.findings[0].sentence
    assert not one.holds
    assert not more.holds


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04broken", b"PAR1broken", b"\xff\xfe\x00"])
def test_a_file_that_is_no_table_is_refused(content: bytes) -> None:
    with pytest.raises(DataError, match=r"'x\.csv' is"):
        verify(certificate(released("mondrian", ())), {"x.csv": content})


TEXT = st.text(alphabet="=+-@'\" ,;\n\r\t{}0.1eé_x", max_size=6)


@pytest.mark.slow
@settings(max_examples=30, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.lists(st.tuples(TEXT, TEXT | st.none(), st.floats(allow_infinity=False)), min_size=4, max_size=9))
def test_any_cell_is_the_same_in_every_format(rows: list[tuple[str, str | None, float]]) -> None:
    frame = pd.DataFrame(rows, columns=["=known", "+hidden", "number"])
    frame["number"] = frame["number"].clip(-1e140, 1e140)
    roles = {"=known": "quasi-identifier", "+hidden": "insensitive", "number": "insensitive"}
    release = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(Microdata(frame, roles=roles))
    proof = certificate(release)
    for format in FORMATS:
        found = verify(proof, written(release.tables(), format))
        assert [one.sentence for one in found.findings if one.outcome == "fails"] == []


def test_group_numbers_and_row_order_do_not_matter() -> None:
    release = Anatomy(l=2).anonymize(people())
    first, second = certificate(release), certificate(release)
    assert first.tables == second.tables
    assert first.sha256 == second.sha256
    shuffled = Microdata(people().frame.sample(frac=1, random_state=3), roles=made.ROLES)
    assert certificate(Anatomy(l=2).anonymize(shuffled)).input == first.input
