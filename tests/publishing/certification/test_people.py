"""Certificates where people were counted: what they say, what the files can still contradict, and old ones."""

from __future__ import annotations

import io
import json

import pandas as pd
import pytest

from anoncore import Microdata
from anoncore.algorithms import Mondrian
from anoncore.publishing import Certificate, certify, new_key, verify, write_tables
from anoncore.requirements import DistinctDiversity, EntropyDiversity, KAnonymity

VISITS = pd.DataFrame(
    {
        "patient": ["A", "A", "B", "C", "C", "D"],
        "age": [21, 22, 23, 44, 45, 46],
        "disease": ["flu", "cold", "flu", "cold", "cold", "flu"],
    }
)
ROLES = {"age": "quasi-identifier", "disease": "sensitive"}
WANTED = (KAnonymity(k=2), DistinctDiversity(l=2), EntropyDiversity(l=1.5))


def certified(unit="patient"):
    frame = VISITS if unit else VISITS.drop(columns="patient")
    release = Mondrian(requirements=WANTED).anonymize(Microdata(frame, ROLES, unit=unit))
    file = io.BytesIO()
    write_tables(release.tables(), file, "csv")
    files = {"visits.csv": file.getvalue()}
    return certify(release, new_key(), files), files


def test_the_certificate_says_by_what_people_were_counted_and_that_files_do_not_show_it():
    certificate, files = certified()
    assert (certificate.unit.column, certificate.unit.people) == ("patient", 4)
    k = certificate.requirements[0]
    assert (k.reached, k.rechecked) == (2.0, False)
    assert k.reason == "people were counted by 'patient', which is not published"
    assert Certificate.loads(certificate.dumps()) == certificate
    assert not any(cell in files["visits.csv"].decode() for cell in ("A", "patient"))
    verification = verify(certificate, files)
    assert verification.code == 3
    sentences = [finding.sentence for finding in verification.of("claimed")]
    assert "k-anonymity (k = 2): people were counted by 'patient', which is not published." in sentences


@pytest.mark.parametrize(
    ("wanted", "sentence"), [(0, "k-anonymity (k = 9) fails"), (1, "distinct l-diversity (l = 9) fails")]
)
def test_rows_that_are_too_few_contradict_it(wanted, sentence):
    certificate, files = certified()
    said = json.loads(certificate.dumps())
    parameter = ("k", "l")[wanted]
    said["requirements"][wanted]["requirement"][parameter] = 9
    said["requirements"][wanted]["asked"] = 9.0
    said["requirements"][wanted]["label"] = said["requirements"][wanted]["label"].replace("= 2", "= 9")
    verification = verify(Certificate.loads(json.dumps(said)), files)
    assert not verification.holds
    assert any(sentence in finding.sentence for finding in verification.findings)


def test_without_a_unit_nothing_is_said_of_it():
    certificate, files = certified(unit=None)
    assert certificate.unit is None
    assert "unit" not in json.loads(certificate.dumps())
    assert verify(certificate, files).holds
