"""The certificate has all that was asked and holds, also where the method does not promise it."""

from __future__ import annotations

import pandas as pd

from anoncore import Microdata
from anoncore.algorithms import Anatomy, StackAndDeal
from anoncore.publishing import Certificate, certify, release_files, verify
from anoncore.requirements import DistinctDiversity, KAnonymity, TCloseness
from tests.publishing.certification.tables import KEY, people

ROLES = {"age": "quasi-identifier", "illness": "sensitive"}
PEOPLE = pd.DataFrame({"age": range(40), "illness": ["flu", "cold", "gout", "pox"] * 10})


def labels(certificate: Certificate) -> list[str]:
    return [one.label for one in certificate.requirements]


def test_what_stack_and_deal_keeps_without_promising_it() -> None:
    release = StackAndDeal(k=8).anonymize(Microdata(PEOPLE, ROLES))
    assert labels(certify(release, KEY)) == ["k-anonymity (k = 8)"]
    asked = (KAnonymity(k=4), DistinctDiversity(l=3), TCloseness(t=0.3), DistinctDiversity(l=99))
    certificate = certify(release, KEY, asked=asked)
    held = ["k-anonymity (k = 8)", "k-anonymity (k = 4)", "distinct l-diversity (l = 3)"]
    assert labels(certificate)[:3] == held
    assert [one.attribute for one in certificate.requirements] == [None, None, "illness", "illness"]
    assert "t-closeness (t = 0.3" in labels(certificate)[3]
    assert all(one.rechecked for one in certificate.requirements)


def test_what_was_asked_is_counted_by_the_verifier() -> None:
    release = StackAndDeal(k=8).anonymize(Microdata(PEOPLE, ROLES))
    (_, text), (name, content) = release_files(release, "people", KEY, asked=[DistinctDiversity(l=3)]).items()
    found = verify(Certificate.loads(text), {name: content})
    assert found.code == 0
    assert any(one.sentence.startswith("distinct l-diversity (l = 3) holds over 'age'") for one in found.findings)


def test_what_readers_count_otherwise_is_left_out() -> None:
    release = Anatomy(l=2).anonymize(people())
    certificate = certify(release, KEY, asked=[KAnonymity(k=2), KAnonymity(k=60)])
    assert "k-anonymity (k = 60)" not in labels(certificate)
