"""Files of several tables with one certificate: counted in their join, and not to be forged."""

from __future__ import annotations

import json
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata, Release, privacy
from anoncore.algorithms import Mondrian
from anoncore.base.errors import DataError, ParameterError, ReleaseError
from anoncore.publishing import JoinedCertificate, joined_files, new_key, verify_joined
from anoncore.publishing.export import FileFormat
from anoncore.recipes.joined_tables import JoinedRecipe
from anoncore.requirements import FrequencyDiversity, KAnonymity
from tests.recipes.hospital import write_recipe

CERTIFICATE = "hospital-certificate.json"


def releases(folder: Path, linked: bool = True) -> dict[str, Release]:
    return {
        name: one.release for name, one in JoinedRecipe.load(write_recipe(folder, linked=linked)).run().tables.items()
    }


def made(folder: Path, format: FileFormat = "csv", linked: bool = True) -> tuple[dict[str, Any], dict[str, bytes]]:
    files = joined_files(releases(folder, linked), "hospital", new_key(), format)
    return json.loads(files.pop(CERTIFICATE)), files


def outcomes(certificate: dict[str, Any], files: dict[str, bytes], hashes: bool = True) -> dict[str, str]:
    """What was counted of each check, by its name; of what was also found to be a claim what was counted."""
    found = verify_joined(JoinedCertificate.loads(json.dumps(certificate)), files, hashes)
    return {one.check: one.outcome for one in reversed(found.findings)}


def plain_k(files: dict[str, bytes], known: dict[str, list[str]]) -> int:
    """People of the smallest class, by reading the files with pandas and walking over their rows."""
    shows: dict[str, list[str]] = {}
    for name, content in files.items():
        for row in pd.read_csv(BytesIO(content), dtype=str).to_dict("records"):
            (columns,) = (names for table, names in known.items() if table in name)
            shows.setdefault(row["patient"], []).append(f"{name}{[row[column] for column in columns]}")
    return min(Counter(tuple(sorted(rows)) for rows in shows.values()).values())


@pytest.mark.parametrize("format", ["csv", "parquet", "excel"])
def test_what_is_written_verifies_in_every_format(tmp_path: Path, format: FileFormat) -> None:
    certificate, files = made(tmp_path, format)
    found = outcomes(certificate, files)
    assert "fails" not in found.values()
    assert {check: found[check] for check in found if check.startswith("join")} == {
        "join: k": "holds",
        "join: k-anonymity (k = 5) of 'patients'": "holds",
        "join: k-anonymity (k = 5) of 'visits'": "holds",
    }


def test_the_k_of_the_certificate_is_that_of_the_files(tmp_path: Path) -> None:
    certificate, files = made(tmp_path)
    assert certificate["k"] == plain_k(files, {"patients": ["age", "sex"], "visits": ["year"]}) == 10


def test_a_forged_certificate_of_files_that_join_to_one_person_fails(tmp_path: Path) -> None:
    """Each table keeps its k = 5; what a forger leaves alone is how the pseudonyms join them."""
    certificate, files = made(tmp_path)
    frame = pd.read_csv(BytesIO(files["hospital-visits.csv"]))
    # The pseudonyms are other ones each time, so that some orders of them still join to classes of 5.
    for seed in range(100):
        frame["patient"] = np.random.default_rng(seed).permutation(frame["patient"])
        files["hospital-visits.csv"] = frame.sort_values("patient").to_csv(index=False, lineterminator="\r\n").encode()
        if plain_k(files, {"patients": ["age", "sex"], "visits": ["year"]}) < 5:
            break
    assert plain_k(files, {"patients": ["age", "sex"], "visits": ["year"]}) < 5
    found = outcomes(certificate, files, hashes=False)
    assert found["visits: k-anonymity (k = 5)"] == "holds"
    assert found["join: k"] == "fails"
    assert found["join: k-anonymity (k = 5) of 'patients'"] == "fails"
    certificate["k"] = plain_k(files, {"patients": ["age", "sex"], "visits": ["year"]})
    assert outcomes(certificate, files, hashes=False)["join: k-anonymity (k = 5) of 'visits'"] == "fails"


def test_l_is_counted_in_the_join_too(tmp_path: Path) -> None:
    certificate, files = made(tmp_path)
    asked = {**certificate["tables"]["visits"]["requirements"][0], "attribute": "diagnosis", "reached": None}
    requirement = FrequencyDiversity(l=3)
    asked |= {"requirement": requirement.to_dict(), "label": requirement.label(), "asked": 3.0}
    certificate["tables"]["visits"]["requirements"].append(asked)
    check = f"join: {requirement.label()} of 'visits'"
    assert outcomes(certificate, files)[check] == "holds"
    frame = pd.read_csv(BytesIO(files["hospital-visits.csv"]))
    ages = pd.read_csv(BytesIO(files["hospital-patients.csv"])).set_index("patient")["age"]
    # All of one age get one diagnosis, of which each year has two: l = 2 by year, and 1 for whoever joins the ages.
    frame["diagnosis"] = (
        frame["patient"].map(ages).map(dict(zip(sorted(set(ages)), ["flu", "cold", "gout", "HIV"], strict=True)))
    )
    files["hospital-visits.csv"] = frame.to_csv(index=False, lineterminator="\r\n").encode()
    assert outcomes(certificate, files, hashes=False)[check] == "fails"


def test_without_pseudonyms_the_join_is_a_claim(tmp_path: Path) -> None:
    certificate, files = made(tmp_path, linked=False)
    assert not certificate["is_linked"]
    assert outcomes(certificate, files)["join"] == "claimed"
    certificate["k"] = 1_000
    assert outcomes(certificate, files)["join"] == "claimed"


def test_another_column_that_joins_the_tables_is_found_whatever_it_is_called(tmp_path: Path) -> None:
    """A forger calls the tables unlinked, and publishes a number of each person in both under two names."""
    visits = pd.DataFrame({"id": range(40), "year": np.arange(40) % 5, "bill": np.arange(40) + 500})
    # Most of the numbers are decoys, which the other table does not have.
    patients = pd.DataFrame({"id": range(40), "age": np.arange(40) // 8, "account": np.arange(40) + 530})
    method = Mondrian(requirements=[KAnonymity(k=5)])
    forged = {
        "patients": Microdata(patients, {"age": "quasi-identifier", "account": "insensitive"}, unit="id"),
        "visits": Microdata(visits, {"year": "quasi-identifier", "bill": "insensitive"}, unit="id"),
    }
    files = joined_files({name: method.anonymize(data) for name, data in forged.items()}, "hospital", new_key())
    certificate = JoinedCertificate.loads(files.pop(CERTIFICATE))
    found = verify_joined(certificate, files)
    (finding,) = [one for one in found.findings if one.check == "join: other columns"]
    assert finding.outcome == "claimed"
    assert "nobody joins the tables by 'account' of 'patients' and 'bill' of 'visits'" in finding.sentence


@pytest.mark.parametrize(
    ("known", "counted", "k"),
    [
        (["age", "sex", "year"], {"patients": ["age", "sex"], "visits": ["year"]}, 10),
        (["age", "year", "diagnosis"], {"patients": ["age"], "visits": ["year", "diagnosis"]}, 2),
        # Of the patients no column is named, so those of their certificate count.
        (["diagnosis"], {"patients": ["age", "sex"], "visits": ["diagnosis"]}, 2),
        (["sex", "year"], {"patients": ["sex"], "visits": ["year"]}, 20),
    ],
)
def test_a_reader_says_what_is_known(tmp_path: Path, known: list[str], counted: dict[str, list[str]], k: int) -> None:
    certificate, files = made(tmp_path)
    assert plain_k(files, counted) == k
    found = verify_joined(JoinedCertificate.loads(json.dumps(certificate)), files, known=known)
    told = {one.check: one.sentence for one in found.findings}
    for name in ("patients", "visits"):
        sentence = told[f"join: k-anonymity (k = 5) of '{name}'"]
        assert f"{name}, joined: k-anonymity (k = 5) {'holds' if k >= 5 else 'fails'}" in sentence
        assert f"the worst group has size {k} " in sentence
    assert bool(found.of("fails")) == (k < 5)


def test_what_is_no_known_column_of_the_tables_is_refused(tmp_path: Path) -> None:
    certificate, files = made(tmp_path)
    for known, says in (
        (["yaer"], r"No table has a published column 'yaer' to be known; .* Did you mean 'year'\?"),
        (["patient"], "'patient' joins the tables"),
        ([], "Name at least one column"),
    ):
        with pytest.raises(ParameterError, match=says):
            verify_joined(JoinedCertificate.loads(json.dumps(certificate)), files, known=known)


def test_files_that_are_missing_or_added_fail(tmp_path: Path) -> None:
    certificate, files = made(tmp_path)
    assert outcomes(certificate, {**files, "more.csv": b"a\r\n1\r\n"})["file 'more.csv'"] == "fails"
    del files["hospital-visits.csv"]
    assert outcomes(certificate, files)["visits: files"] == "fails"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda one: one["tables"].pop("visits"), "tables"),
        (lambda one: one.update(by="year"), "'patients' has no column 'year'"),
        (lambda one: one["tables"]["visits"]["attributes"][0].update(role="sensitive"), "is sensitive in 'visits'"),
        (lambda one: one.update(more=1), "more"),
        (lambda one: one.update(k=0), "k"),
        (lambda one: one["tables"].update({"../x": one["tables"].pop("visits")}), "tables"),
        (lambda one: one["tables"].update(visits=one["tables"]["patients"]), "two tables are in one file"),
    ],
)
def test_what_is_no_certificate_is_refused(tmp_path: Path, change: Any, says: str) -> None:
    certificate, _ = made(tmp_path)
    change(certificate)
    with pytest.raises(DataError, match=says):
        JoinedCertificate.loads(json.dumps(certificate))


def test_tables_that_join_to_more_than_promised_get_no_certificate(tmp_path: Path) -> None:
    found = JoinedRecipe.load(write_recipe(tmp_path, telling=True))
    linked = {name: one.run().release for name, one in found.tables.items()}
    assert privacy.joined(linked).k < 5
    with pytest.raises(ReleaseError, match="no certificate for tables that readers join to more than each promises"):
        joined_files(linked, "hospital", new_key())
