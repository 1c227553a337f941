"""Columns that are published as they are: the decision with its numbers in the certificate, and what files show."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from anoncore import Microdata, Release
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.publishing import Certificate, certify, verify
from anoncore.publishing.certification.finding import Finding
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


BY_DECISION = {"years": "insensitive", "town": "insensitive"}


def released(**more: str) -> Release:
    return Mondrian(requirements=[KAnonymity(k=6)]).anonymize(Microdata(PUPILS, roles=ROLES | more))


def test_a_column_without_a_role_is_in_no_certificate() -> None:
    certificate = certify(released(), KEY)
    assert (certificate.decided, certificate.over_all, certificate.breaking) == (None, None, None)
    for word in ("years", "town", "decided", "over_all", "breaking"):
        assert word not in certificate.dumps()


@pytest.mark.parametrize("format", FORMATS)
def test_the_certificate_records_the_decision_and_its_numbers(format: str) -> None:
    release = released(**BY_DECISION)
    tables = release.tables()
    files = written(tables, format)
    certificate = certify(release, KEY, files, tables=tables)
    table = tables["release"]
    for entry in certificate.decided or ():
        assert entry.decision == "published by decision"
        assert entry.classes is not None
        sizes = table.groupby(["age", "degree", entry.column]).size()
        assert (entry.classes.k, entry.classes.smallest) == (6, sizes.min())
        assert entry.classes.n_below == sizes[sizes < 6].sum()
    years = (certificate.decided or [])[0]
    assert (years.column, years.tells, years.share) == ("years", ["degree"], 1.0)
    sizes = table.groupby(["age", "degree", "years", "town"]).size()
    over_all = certificate.over_all
    assert over_all is not None
    assert (over_all.columns, over_all.k) == (["years", "town"], 6)
    assert (over_all.smallest, over_all.n_below) == (sizes.min(), sizes[sizes < 6].sum())
    assert Certificate.loads(certificate.dumps()) == certificate
    verification = verify(certificate, files)
    assert (verification.code, verification.of("fails")) == (3, ())
    assert sum(one.check.startswith("insensitive") and one.outcome == "holds" for one in verification.findings) == 2
    assert verification.state.endswith(f"is only claimed; {certificate.breaking}.")
    assert "'years', 'town', published by decision, find everybody: 12 of 12 rows" in verification.state


def failures(certificate: dict[str, Any], files: dict[str, bytes]) -> list[Finding]:
    found = verify(Certificate.loads(json.dumps(certificate)), files).findings
    return [one for one in found if one.outcome == "fails"]


def test_other_numbers_than_those_of_the_files_fail() -> None:
    release = released(**BY_DECISION)
    tables = release.tables()
    files = written(tables, "csv")
    plain = json.loads(certify(release, KEY, files, tables=tables).dumps())
    forged = json.loads(json.dumps(plain))
    forged["decided"][0]["classes"]["smallest"] = 6
    (failing,) = failures(forged, files)
    assert failing.check == "insensitive column 'years'"
    assert "the certificate says 6" in failing.sentence
    plain["over_all"] |= {"smallest": 6, "n_below": 0}
    (failing,) = failures(plain, files)
    assert failing.check == "all published columns but the secrets"
    assert failing.sentence.endswith("; the certificate says 6 and 0.")


def test_a_certificate_that_says_nothing_of_such_columns_is_never_called_good() -> None:
    release = released(**BY_DECISION)
    tables = release.tables()
    files = written(tables, "csv")
    plain = json.loads(certify(release, KEY, files, tables=tables).dumps())
    silent = {name: value for name, value in plain.items() if name not in ("decided", "over_all", "breaking")}
    verification = verify(Certificate.loads(json.dumps(silent)), files)
    assert "'years', 'town', published by decision, find everybody: 12 of 12 rows" in verification.state
    (found,) = verification.of("claimed")
    assert found.sentence.startswith(
        "k-anonymity (k = 6) holds only if nobody knows 'years', 'town', which are published"
    )


def test_a_certificate_of_an_earlier_version_is_read_and_checked() -> None:
    release = released(**BY_DECISION)
    tables = release.tables()
    files = written(tables, "csv")
    plain = json.loads(certify(release, KEY, files, tables=tables).dumps())
    earlier = {name: value for name, value in plain.items() if name not in ("over_all", "breaking", "decided")}
    earlier["untagged"] = [one | {"decision": "published as it is"} for one in plain["decided"]]
    certificate = Certificate.loads(json.dumps(earlier))
    assert [one.column for one in certificate.decided or ()] == ["years", "town"]
    assert verify(certificate, files).code == 3
    assert "untagged" not in certificate.dumps()


def test_what_a_release_made_elsewhere_publishes_was_decided_by_nobody() -> None:
    published = released(**BY_DECISION).tables()
    release = Release.from_published(published["release"], original=Microdata(PUPILS, ROLES))
    certificate = certify(release, KEY, requirements=[KAnonymity(k=6)])
    assert {one.decision for one in certificate.decided or ()} == {"published, and nobody decided so"}
    assert "on which nobody decided, find everybody" in str(certificate.breaking)


def test_a_release_without_such_columns_says_nothing_of_them() -> None:
    exact = Anatomy(l=2).anonymize(Microdata(PUPILS, roles=ROLES | BY_DECISION))
    assert certify(exact, KEY).decided is None, "what stands exactly beside a column, the column cannot give away"
