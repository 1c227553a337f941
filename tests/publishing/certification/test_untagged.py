"""Columns that undo a tag: no certificate without a decision, and the decision with its numbers in the certificate."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from anoncore import Microdata, ParameterError, Release, ReleaseError
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.publishing.certification import Certificate, certify, verify
from anoncore.requirements import KAnonymity
from tests.publishing.certification.tables import FORMATS, KEY, written

PUPILS = pd.DataFrame(
    {
        "age": range(20, 32),
        "degree": ["none", "school", "college"] * 4,
        "years": [8, 12, 16] * 4,
        "town": list("AB") * 6,
        "illness": ["flu", "gout", "cold", "flu", "cold", "gout", "gout", "flu", "flu", "cold", "gout", "cold"],
    }
)
ROLES = {"age": "quasi-identifier", "degree": "quasi-identifier", "illness": "sensitive"}


def released(**more: str) -> Release:
    return Mondrian(requirements=[KAnonymity(k=6)]).anonymize(Microdata(PUPILS, roles=ROLES | more))


def test_without_a_decision_there_is_no_certificate() -> None:
    with pytest.raises(ReleaseError) as refused:
        certify(released(), KEY)
    told = str(refused.value)
    assert "'years' has no tag and tells 'degree' of every row (guessing: 33%)" in told
    assert "'town' has no tag and is published as it is" in told
    assert "name it in publish_untagged" in told


def test_a_role_that_was_given_decides_on_what_only_singles_out() -> None:
    with pytest.raises(ReleaseError) as refused:
        certify(released(town="insensitive", years="insensitive"), KEY)
    assert "'town'" not in str(refused.value)
    certificate = certify(released(town="insensitive", years="insensitive"), KEY, publish_untagged=["years"])
    assert [(one.column, one.decision) for one in certificate.untagged or ()] == [
        ("years", "published as it is"),
        ("town", "tagged insensitive"),
    ]


@pytest.mark.parametrize("format", FORMATS)
def test_the_certificate_records_the_decision_and_its_numbers(format: str) -> None:
    release = released()
    tables = release.tables()
    files = written(tables, format)
    certificate = certify(release, KEY, files, tables=tables, publish_untagged=["years", "town"])
    table = tables["release"]
    for entry in certificate.untagged or ():
        assert entry.decision == "published as it is"
        assert entry.classes is not None
        sizes = table.groupby(["age", "degree", entry.column]).size()
        assert (entry.classes.k, entry.classes.smallest) == (6, sizes.min())
        assert entry.classes.n_below == sizes[sizes < 6].sum()
    years = (certificate.untagged or [])[0]
    assert (years.column, years.tells, years.share) == ("years", ["degree"], 1.0)
    assert Certificate.loads(certificate.dumps()) == certificate
    verification = verify(certificate, files)
    assert verification.holds, [one.sentence for one in verification.findings if one.outcome == "fails"]
    assert sum(one.check.startswith("untagged column") and one.outcome == "holds" for one in verification.findings) == 2


def test_other_numbers_than_those_of_the_files_fail() -> None:
    release = released()
    tables = release.tables()
    files = written(tables, "csv")
    certificate = certify(release, KEY, files, tables=tables, publish_untagged=["years", "town"])
    forged = json.loads(certificate.dumps())
    forged["untagged"][0]["classes"]["smallest"] = 6
    verification = verify(Certificate.loads(json.dumps(forged)), files)
    (failing,) = (one for one in verification.findings if one.outcome == "fails")
    assert failing.check == "untagged column 'years'"
    assert "the certificate says 6" in failing.sentence


def test_a_name_that_is_no_such_column_is_refused() -> None:
    for wrong in ("yeers", "age", "illness"):
        with pytest.raises(ParameterError, match="publishes no insensitive column"):
            certify(released(), KEY, publish_untagged=["years", "town", wrong])


def test_a_release_without_such_columns_says_nothing_of_them() -> None:
    data = Microdata(PUPILS.drop(columns=["years", "town"]), roles=ROLES)
    release = Mondrian(requirements=[KAnonymity(k=6)]).anonymize(data)
    certificate = certify(release, KEY)
    assert certificate.untagged is None
    assert "untagged" not in certificate.dumps()
    exact = Anatomy(l=2).anonymize(Microdata(PUPILS, roles=ROLES))
    assert certify(exact, KEY).untagged is None, "what stands exactly beside a column, the column cannot give away"
