"""What an editor of certificates and files tries: none of it ends with exit code 0."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl.comments import Comment

from anoncore import Microdata, Release
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.base.errors import DataError
from anoncore.publishing import Certificate
from anoncore.requirements import DistinctDiversity, KAnonymity
from tests.publishing.certification.forging import Forgery, restated

RAW = pd.DataFrame(
    {
        "age": range(20, 60),
        "zip": [f"{10_000 + 37 * row}" for row in range(40)],
        "disease": [f"disease {row % 8}" for row in range(40)],
        "visits": range(40),
    }
)
"""40 different people, as they are."""
ROLES = {"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive", "visits": "insensitive"}
KNOWN = {name: ROLES[name] for name in ("age", "zip", "disease")}


def mondrian(roles: dict[str, str] = KNOWN, k: int = 5) -> Release:
    return Mondrian(requirements=[KAnonymity(k=k)]).anonymize(Microdata(RAW, roles))


@pytest.fixture
def forgery(tmp_path: Path) -> Forgery:
    """An honest release of one table, in which each of age and zip is shared by five."""
    return Forgery(mondrian(), tmp_path)


def published_raw(claims: dict[str, Any]) -> None:
    """Make the certificate call age and zip columns that are published exactly."""
    for one in claims["attributes"]:
        if one["name"] in ("age", "zip"):
            one["form"] = "exact"


def test_the_honest_release_passes(forgery: Forgery, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = forgery.judged(capsys)
    assert code == 0, said
    assert "over 'age', 'zip'" in said


def test_raw_rows_with_an_invented_group_column(forgery: Forgery, capsys: pytest.CaptureFixture[str]) -> None:
    table = {"release": RAW[["age", "zip", "disease"]].assign(group=[row // 5 for row in range(40)])}
    forgery.rewritten(table)
    forgery.hashed()
    published_raw(forgery.claims)
    restated(forgery.claims, table, "group")
    forgery.claims["requirements"][0]["reached"] = 5.0
    code, said = forgery.judged(capsys)
    assert code in (1, 2)
    assert "linked_by" in said


def test_raw_rows_in_one_of_two_joined_tables(forgery: Forgery, capsys: pytest.CaptureFixture[str]) -> None:
    group = [row // 5 for row in range(40)]
    tables = {"raw": RAW[["age", "zip", "disease"]].assign(group=group), "other": RAW[["visits"]].assign(group=group)}
    forgery.claims["attributes"].append(
        {"name": "visits", "role": "sensitive", "kind": "numeric", "type": "number", "form": "exact"}
    )
    _joined(forgery, tables)
    code, said = forgery.judged(capsys)
    assert code == 1
    assert "k-anonymity (k = 5) fails in 40 of 40" in said


def test_raw_rows_whose_secrets_are_called_nothing_beside_a_table_to_join(
    forgery: Forgery, capsys: pytest.CaptureFixture[str]
) -> None:
    group = [row // 5 for row in range(40)]
    tables = {"raw": RAW[["age", "zip", "disease"]].assign(group=group), "other": RAW[["visits"]].assign(group=group)}
    forgery.claims["attributes"][2] = {
        "name": "disease", "role": "insensitive", "kind": "nominal", "type": "text", "form": "exact",
        "values": sorted(set(RAW["disease"])),
    }  # fmt: skip
    forgery.claims["attributes"].append(
        {"name": "visits", "role": "sensitive", "kind": "numeric", "type": "number", "form": "exact"}
    )
    _joined(forgery, tables)
    code, said = forgery.judged(capsys)
    assert code in (1, 3)
    assert "'disease'" in said


def _joined(forgery: Forgery, tables: dict[str, pd.DataFrame]) -> None:
    """Publish two tables with a column that joins them, described to the last hash."""
    forgery.file.unlink()
    forgery.file = forgery.folder / "people.zip"
    forgery.rewritten(tables)
    forgery.hashed()
    published_raw(forgery.claims)
    restated(forgery.claims, tables, "group")
    forgery.claims["requirements"][0]["reached"] = 5.0


def test_k_is_counted_whatever_rechecked_says(forgery: Forgery, capsys: pytest.CaptureFixture[str]) -> None:
    (asked,) = forgery.claims["requirements"]
    asked["requirement"]["k"] = 1000
    asked |= {
        "label": "k-anonymity (k = 1000)", "asked": 1000.0, "reached": None,
        "rechecked": False, "reason": "the registry holds the proof",
    }  # fmt: skip
    code, said = forgery.judged(capsys)
    assert code == 1
    assert "k-anonymity (k = 1000) fails in" in said
    assert "the registry holds the proof" not in said


def test_people_who_are_more_than_the_rows(forgery: Forgery, capsys: pytest.CaptureFixture[str]) -> None:
    (asked,) = forgery.claims["requirements"]
    asked |= {"rechecked": False, "reason": "people were counted", "reached": 5.0}
    forgery.claims["unit"] = {"column": "patient", "people": 40, "about": "One person may have several rows."}
    code, said = forgery.judged(capsys)
    assert code == 3
    assert "claimed, not checked: k-anonymity (k = 5)" in said
    asked |= {"requirement": {"name": "k-anonymity", "k": 30}, "label": "k-anonymity (k = 30)", "asked": 30.0}
    assert forgery.judged(capsys)[0] == 1, "there are no more people than rows"


def test_nothing_that_is_claimed_overwrites_the_line(forgery: Forgery, capsys: pytest.CaptureFixture[str]) -> None:
    hidden = "\r\x1b[2K\x1b]0;x\x07\u202eholds"
    for one in forgery.claims["attributes"]:
        if one["name"] == "disease":
            one["name"] = "disease" + hidden
    (asked,) = forgery.claims["requirements"]
    asked |= {"label": hidden, "reason": hidden, "rechecked": False}
    said = forgery.judged(capsys)[1]
    forgery.claims["people"] = [
        {"attribute": None, "asked": 1.0, "source": hidden, "sentence": hidden, "rechecked": True, "reason": hidden}
    ]
    said += forgery.judged(capsys)[1]
    forgery.claims["tables"][0]["name"] = hidden
    said += forgery.judged(capsys)[1]
    forgery.claims[hidden] = 1
    said += forgery.judged(capsys)[1]
    assert all(mark not in said for mark in ("\r", "\x1b", "\x07", "\u202e"))


def test_a_comment_in_a_workbook_whose_hash_is_certified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forgery = Forgery(mondrian(), tmp_path, "excel")
    book = openpyxl.load_workbook(forgery.file)
    book.worksheets[0]["A2"].comment = Comment(RAW.to_csv(), "Anna")
    book.save(forgery.file)
    forgery.hashed()
    code, said = forgery.judged(capsys)
    assert code == 1
    assert "comments" in said


def test_metadata_of_a_parquet_file_whose_hash_is_certified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forgery = Forgery(mondrian(), tmp_path, "parquet")
    table = pq.read_table(forgery.file)
    pq.write_table(table.replace_schema_metadata({"original": RAW.to_csv()}), forgery.file)
    forgery.hashed()
    code, said = forgery.judged(capsys)
    assert code == 1
    assert "holds metadata" in said


def test_values_of_a_dictionary_that_no_row_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forgery = Forgery(mondrian(), tmp_path, "parquet")
    table = pq.read_table(forgery.file)
    column = table.column("disease").combine_chunks().dictionary_encode()
    values = pa.concat_arrays([column.dictionary, pa.array([RAW.to_csv()], column.dictionary.type)])
    stuffed = pa.DictionaryArray.from_arrays(column.indices, values)
    pq.write_table(table.set_column(2, "disease", stuffed), forgery.file, store_schema=False)
    forgery.hashed()
    code, said = forgery.judged(capsys)
    assert code == 1
    assert "values that no row has" in said


def test_time_stamps_of_a_workbook(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forgery = Forgery(mondrian(), tmp_path, "excel")
    with zipfile.ZipFile(forgery.file) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for (name, part), letter in zip(members, "P7:hiv!!!!!!", strict=False):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, ord(letter) % 60, 0))
            info.external_attr, info.create_system = 0o644 << 16, 3
            archive.writestr(info, part, zipfile.ZIP_DEFLATED)
    forgery.file.write_bytes(content.getvalue())
    forgery.hashed()
    code, said = forgery.judged(capsys)
    assert code == 1
    assert "says when" in said


def test_the_moment_at_which_a_workbook_says_it_was_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forgery = Forgery(mondrian(), tmp_path, "excel")

    def spell(members: dict[str, bytes]) -> None:
        part = members["docProps/core.xml"]
        members["docProps/core.xml"] = part.replace(b"1980-01-01T00:00:00Z", b"2007-08-09T10:11:12Z")

    forgery.repacked(spell)
    forgery.hashed()
    code, said = forgery.judged(capsys)
    assert code == 1
    assert "docProps/core.xml" in said


def test_an_extra_member_of_a_zip_with_its_own_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forgery = Forgery(Anatomy(l=3).anonymize(Microdata(RAW, KNOWN)), tmp_path)

    def stuff(members: dict[str, bytes]) -> None:
        members["people-certificate.json"] = json.dumps(forgery.claims | {"made": RAW.to_csv()}).encode()

    forgery.repacked(stuff)
    forgery.hashed()
    assert forgery.judged(capsys)[0] == 1


@pytest.mark.slow
def test_a_false_epsilon_marked_as_checked(forgery: Forgery, capsys: pytest.CaptureFixture[str]) -> None:
    promise = "Whatever one person's row holds, every table is about as likely (epsilon = 0.1)."
    claimed = {"attribute": None, "asked": 0.1, "source": "Dwork et al.", "sentence": promise, "reason": ""}
    forgery.claims["people"] = [claimed | {"rechecked": True}]
    code, said = forgery.judged(capsys)
    assert code == 3
    assert "claimed, not checked" in next(line for line in said.splitlines() if "epsilon" in line)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text.replace('"version"', '"version": 1, "version"', 1), "'version' stands twice"),
        (lambda text: text.replace('"label"', '"label": "x", "label"', 1), "'label' stands twice"),
        (lambda text: text.replace('"version": 2', '"version": true', 1), "version: Input should be a valid integer"),
        (lambda text: text.replace('"version": 2', '"version": 1.0', 1), "version: Input should be a valid integer"),
        (lambda text: text.replace('"made"', '"note": "Anna has HIV", "made"', 1), "note"),
        (lambda text: text.replace('"rows": 40', '"rows": NaN', 1), "NaN"),
        (lambda text: text.replace('"rows": 40', '"rows": 4e999', 1), "4e999 is too large"),
        (lambda text: text.replace('"reached": 5.0', '"reached": Infinity', 1), "Infinity"),
        (lambda text: text.replace('"bytes": ', '"bytes": -', 1), "bytes"),
        (lambda text: text[:-1] + " ", "no certificate"),
        (lambda text: text + '{"second": 1}', "no certificate"),
        (lambda text: "[" * 100_000, "no certificate"),
    ],
)
def test_a_certificate_that_is_not_written_as_one_is_refused(
    forgery: Forgery, capsys: pytest.CaptureFixture[str], change: Any, says: str
) -> None:
    text = json.dumps(forgery.claims)
    with pytest.raises(DataError, match=says):
        Certificate.loads(change(text))


def test_published_columns_that_find_people_if_they_are_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forgery = Forgery(mondrian(ROLES), tmp_path)
    code, said = forgery.judged(capsys)
    assert code == 3
    assert "only if nobody knows 'visits'" in said
    for name in ("decided", "over_all", "breaking"):
        forgery.claims.pop(name, None)
    code, said = forgery.judged(capsys)
    assert code == 3
    assert "only if nobody knows 'visits'" in said
    assert forgery.judged(capsys, "--strict")[0] == 1


def test_published_columns_that_break_diversity_if_they_are_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = Mondrian(requirements=[DistinctDiversity(l=3)]).anonymize(Microdata(RAW, ROLES))
    code, said = Forgery(release, tmp_path).judged(capsys)
    assert code == 3
    assert "only if nobody knows 'visits'" in said


def test_a_certificate_that_calls_nothing_known(forgery: Forgery, capsys: pytest.CaptureFixture[str]) -> None:
    table = {"release": RAW[["age", "zip", "disease"]]}
    forgery.rewritten(table)
    forgery.hashed()
    for one in forgery.claims["attributes"]:
        one |= {"role": "sensitive", "form": "exact"}
    restated(forgery.claims, table)
    forgery.claims["requirements"][0]["reached"] = 40.0
    code, said = forgery.judged(capsys)
    assert code == 3
    assert "no column" in said


def test_a_certificate_that_asks_for_nothing(forgery: Forgery, capsys: pytest.CaptureFixture[str]) -> None:
    forgery.claims["requirements"] = []
    assert forgery.judged(capsys)[0] == 3


def test_requirements_that_everybody_alone_meets(forgery: Forgery, capsys: pytest.CaptureFixture[str]) -> None:
    table = {"release": RAW[["age", "zip", "disease"]]}
    forgery.rewritten(table)
    forgery.hashed()
    published_raw(forgery.claims)
    restated(forgery.claims, table)
    (asked,) = forgery.claims["requirements"]
    asked["requirement"]["k"] = 1
    asked |= {"label": "k-anonymity (k = 1)", "asked": 1.0, "reached": 1.0}
    code, said = forgery.judged(capsys)
    assert code == 3
    assert "asks for nothing" in said


def test_values_that_are_said_to_need_no_protection_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = Mondrian(requirements=[DistinctDiversity(l=3)]).anonymize(Microdata(RAW, KNOWN))
    forgery = Forgery(release, tmp_path)
    next(one for one in forgery.claims["attributes"] if one["name"] == "disease")["protected"] = ["disease 1"]
    said = forgery.judged(capsys)[1]
    assert "only 'disease 1' is said to need protection" in said


def test_the_reader_says_what_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forgery = Forgery(mondrian(ROLES), tmp_path)
    code, said = forgery.judged(capsys, "--known", "age,zip")
    assert code == 0, said
    assert "over 'age', 'zip'" in said
    code, said = forgery.judged(capsys, "--known", "age,visits")
    assert code == 1
    assert "over 'age', 'visits'" in said
    code, said = forgery.judged(capsys, "--known", "age,weight")
    assert code == 2
    assert "'weight'" in said


def test_a_linked_folder_and_a_linked_file(forgery: Forgery, capsys: pytest.CaptureFixture[str]) -> None:
    folder = forgery.folder / "handed-out"
    raw = forgery.folder / "raw"
    folder.mkdir()
    raw.mkdir()
    RAW.to_csv(raw / "raw.csv")
    for file in (forgery.file, forgery.certificate):
        shutil.move(file, folder / file.name)
    forgery.certificate = folder / forgery.certificate.name
    assert forgery.judged(capsys, str(folder))[0] == 0
    (folder / "more").symlink_to(raw)
    code, said = forgery.judged(capsys, str(folder))
    assert code == 1
    assert "'more' is a link" in said
    (folder / "more").unlink()
    (folder / "more.csv").symlink_to(raw / "raw.csv")
    assert forgery.judged(capsys, str(folder))[0] == 1
    (folder / "more.csv").unlink()
    (folder / "Anna has HIV").mkdir()
    code, said = forgery.judged(capsys, str(folder))
    assert code == 1
    assert "'Anna has HIV' is a folder" in said


def test_a_name_that_the_certificate_does_not_name(forgery: Forgery, capsys: pytest.CaptureFixture[str]) -> None:
    folder = forgery.folder / "handed-out"
    folder.mkdir()
    shutil.copy(forgery.file, folder / "Anna has HIV.csv")
    code, said = forgery.judged(capsys, str(folder))
    assert code == 1
    assert "'Anna has HIV.csv'" in said
