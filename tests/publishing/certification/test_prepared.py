"""Certificates of shifted dates and pseudonyms: claims in our words, k over joined rows counted, forgers caught."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest

from anoncore import DataError, Microdata
from anoncore.algorithms import Mondrian
from anoncore.publishing import Certificate, certify, verify, write_tables
from anoncore.requirements import KAnonymity
from anoncore.table.preparation import DateShift, prepared
from anoncore.table.pseudonyms import Pseudonyms
from tests.publishing.certification.forging import Forgery, restated

KEY = "key"
PSEUDONYMS = Pseudonyms(b"0123456789abcdef")
VISITS = pd.DataFrame(
    {
        "patient": list("AABBCC"),
        "age": [20, 60, 21, 61, 22, 22],
        "admitted": pd.date_range("2024-01-01", periods=6),
        "illness": ["flu", "cold", "gout", "flu", "cold", "gout"],
    }
)
ROLES = {"age": "quasi-identifier", "illness": "sensitive", "admitted": "insensitive"}


def data_of(frame: pd.DataFrame = VISITS, seed: int | None = None, pseudonym: bool = True) -> Microdata:
    shifts = {"admitted": DateShift(shift=30, by="patient")}
    return prepared(frame, shifts, {"patient": PSEUDONYMS} if pseudonym else None, seed=seed).microdata(roles=ROLES)


def certified(data: Microdata) -> tuple[Certificate, dict[str, bytes]]:
    release = Mondrian(requirements=(KAnonymity(k=2),)).anonymize(data)
    file = io.BytesIO()
    write_tables(release.tables(), file, "csv")
    files = {"visits.csv": file.getvalue()}
    return certify(release, KEY, files), files


def test_it_stands_in_the_certificate_and_is_only_claimed() -> None:
    certificate, files = certified(data_of())
    assert certificate.prepared is not None
    assert certificate.prepared.model_dump() == {"shifted": ["admitted"], "most_days": 30, "pseudonyms": ["patient"]}
    assert Certificate.loads(certificate.dumps()) == certificate
    found = verify(certificate, files)
    claimed = {one.check: one.sentence for one in found.of("claimed")}
    assert found.code == 3
    assert claimed["shifted dates"].startswith("Dates shifted by up to 30 days per person: 'admitted'.")
    assert claimed["pseudonyms"].startswith("Pseudonyms made with a key: 'patient'.")
    assert claimed["shifted dates"] in certificate.not_checked
    assert certificate.requirements[0].reason == (
        "people were counted by 'patient', and no file shows that a pseudonym is one person"
    )


def test_the_classes_of_all_columns_are_counted_without_pseudonyms() -> None:
    """Two patients have visits on the same days: the day does not tell every row apart, as the pseudonym would."""
    days = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-02-01", "2024-02-02", "2024-01-01", "2024-01-02"])
    roles = {**ROLES, "admitted": "insensitive"}
    certificate, files = certified(Microdata(VISITS.assign(admitted=days), roles, pseudonym="patient"))
    assert certificate.over_all is not None
    assert (certificate.over_all.columns, certificate.over_all.n_below) == (["admitted"], 4)
    found = verify(certificate, files)
    (counted,) = (one for one in found.findings if one.check == "all published columns but the secrets")
    assert counted.sentence.endswith("the smallest group has 1 row, and 4 of all rows are in groups of fewer than 2.")
    assert (counted.outcome, found.code) == ("holds", 3)


def test_joined_rows_are_counted_beside_k_over_rows() -> None:
    found = verify(*certified(data_of()))
    (joined,) = (one for one in found.findings if one.check == "rows joined by 'patient'")
    assert joined.outcome == "claimed"
    assert joined.breaking == (
        "'patient', a pseudonym, joins the rows of a person: by all of them somebody hides among 1 person, and 1 of 3 "
        "people hide among fewer than 2"
    )
    assert joined.breaking in found.state


def test_joined_rows_that_keep_k_hold() -> None:
    twins = pd.concat([VISITS, VISITS.assign(patient=list("DDEEFF"))], ignore_index=True)
    found = verify(*certified(data_of(twins)))
    (joined,) = (one for one in found.findings if one.check == "rows joined by 'patient'")
    assert (joined.outcome, joined.breaking) == ("holds", "")
    assert joined.sentence == "Where 'patient' joins the rows of a person, everybody of 6 people hides among 2 or more."


def test_nothing_is_said_where_nothing_was_prepared() -> None:
    release = Mondrian(requirements=(KAnonymity(k=2),)).anonymize(Microdata(VISITS, ROLES))
    certificate = certify(release, KEY)
    assert certificate.prepared is None
    assert "prepared" not in json.loads(certificate.dumps())


def test_neither_shifts_nor_key_nor_true_dates_are_published() -> None:
    certificate, files = certified(data_of(pseudonym=False, seed=3))
    written = certificate.dumps() + files["visits.csv"].decode()
    assert PSEUDONYMS.key.hex() not in written
    assert "patient" not in files["visits.csv"].decode()
    certificate, files = certified(data_of())
    for text in (certificate.dumps(), files["visits.csv"].decode()):
        assert PSEUDONYMS.key.hex() not in text


def test_the_input_is_compared_without_what_was_made_anew() -> None:
    certificate, files = certified(data_of(seed=1))
    again = verify(certificate, files, data=data_of(seed=2), key=KEY)
    (finding,) = (one for one in again.findings if one.check == "input")
    assert (finding.outcome, finding.sentence) == (
        "holds",
        "The release was made of this table; not compared: 'admitted', 'patient'.",
    )
    other = verify(certificate, files, data=data_of(VISITS.assign(age=5)), key=KEY)
    assert any(one.check == "input" and one.outcome == "fails" for one in other.findings)


def forged(tmp_path: Path, frame: pd.DataFrame = VISITS) -> Forgery:
    release = Mondrian(requirements=(KAnonymity(k=2),)).anonymize(data_of(frame))
    return Forgery(release, tmp_path)


def test_what_is_left_out_is_not_claimed() -> None:
    roles = {name: role for name, role in ROLES.items() if name != "admitted"}
    shifts = {"admitted": DateShift(shift=30, by="patient")}
    certificate, _ = certified(prepared(VISITS, shifts).microdata(roles=roles))
    assert certificate.prepared is None


@pytest.mark.parametrize("role", ["insensitive", "sensitive"])
def test_pseudonyms_are_joined_whatever_the_certificate_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], role: str
) -> None:
    """The certificate is silent of pseudonyms and people, and calls the column something else."""
    forgery = forged(tmp_path)
    del forgery.claims["prepared"]
    for name in ("unit", "breaking", "decided", "over_all"):
        forgery.claims.pop(name, None)
    (column,) = (one for one in forgery.claims["attributes"] if one["name"] == "patient")
    column["role"] = role
    (asked,) = forgery.claims["requirements"]
    asked |= {"reached": 2.0, "rechecked": True, "reason": ""}
    code, said = forgery.judged(capsys)
    assert code == 3
    assert "'patient', a pseudonym, joins the rows of a person: by all of them somebody hides among 1 person" in said


def test_a_pseudonym_that_is_called_known_joins_rows_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Everybody has each row twice, so that k = 2 holds of rows even where the pseudonym is known."""
    forgery = forged(tmp_path, pd.concat([VISITS, VISITS], ignore_index=True))
    for name in ("prepared", "unit", "breaking", "decided", "over_all"):
        forgery.claims.pop(name, None)
    tables = {"release": pd.read_csv(forgery.file)}
    for one in forgery.claims["attributes"]:
        one["role"] = "quasi-identifier" if one["name"] == "patient" else one["role"]
    (asked,) = forgery.claims["requirements"]
    asked |= {"reached": 2.0, "rechecked": True, "reason": ""}
    restated(forgery.claims, tables)
    code, said = forgery.judged(capsys)
    assert "k-anonymity (k = 2) holds over 'age', 'patient'" in said.replace("'patient', 'age'", "'age', 'patient'")
    assert "'patient', a pseudonym, joins the rows of a person: by all of them somebody hides among 1 person" in said
    assert code in (1, 3)


def test_a_reader_who_names_what_is_known_sees_it_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = forged(tmp_path).judged(capsys, "--known", "age")
    assert code == 1
    assert "fails: What was counted of single rows holds only if nobody joins them" in said


def test_ids_that_are_no_pseudonyms_are_joined_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """150 people have two rows in each class that they are in: known ids keep k = 2, and joining by them breaks it.

    Person 0 alone has rows in both classes; all others have theirs in the first one or in the second.
    """
    rows = [
        (1_000_000 + 37 * one, age)
        for one in range(150)
        for age in ((20, 60) if one == 0 else (20, 20) if one % 2 else (60, 60))
    ]
    frame = pd.DataFrame([row for row in rows for _ in range(2)], columns=["id", "age"])
    release = Mondrian(requirements=(KAnonymity(k=2),)).anonymize(
        Microdata(frame, {"age": "quasi-identifier", "id": "insensitive"})
    )
    code, said = Forgery(release, tmp_path).judged(capsys)
    assert code == 3
    assert (
        "'id', if it says whose row it is, joins the rows of a person: by all of them somebody hides among 1 person"
        in said
    )


def test_an_empty_column_joins_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.DataFrame({"age": [20, 20, 60, 60], "note": pd.Series([None] * 4, dtype="str")})
    data = Microdata(frame, {"age": "quasi-identifier", "note": "insensitive"})
    _, said = Forgery(Mondrian(requirements=(KAnonymity(k=2),)).anonymize(data), tmp_path).judged(capsys)
    assert "rows of a person" not in said


def test_no_text_of_a_certificate_reaches_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "adm\x1b[31mitted"
    release = Mondrian(requirements=(KAnonymity(k=2),)).anonymize(data_of())
    tables = {name: table.rename(columns={"admitted": hostile}) for name, table in release.pandas_tables().items()}
    forgery = Forgery(release, tmp_path)
    forgery.claims["prepared"]["shifted"] = [hostile]
    for one in forgery.claims["attributes"]:
        one["name"] = hostile if one["name"] == "admitted" else one["name"]
    restated(forgery.claims, tables)
    forgery.rewritten(tables)
    forgery.hashed()
    _, said = forgery.judged(capsys)
    assert "\x1b" not in said
    assert "Dates shifted by up to 30 days per person" in said


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"shifted": ["nowhere"]}, "nothing is said about 'nowhere'"),
        ({"most_days": 0}, "prepared.most_days"),
        ({"most_days": 2**70}, "prepared.most_days"),
        ({"sentence": "all is well"}, "prepared.sentence"),
    ],
)
def test_entries_that_do_not_fit_are_refused(change: dict[str, object], reason: str) -> None:
    certificate, _ = certified(data_of())
    claims = json.loads(certificate.dumps())
    claims["prepared"] |= change
    with pytest.raises(DataError, match=reason):
        Certificate.loads(json.dumps(claims))
