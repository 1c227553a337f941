"""Report, certificate and command say what the verdict says, in the same words."""

from __future__ import annotations

import pandas as pd
from markupsafe import Markup

from anoncore import Microdata
from anoncore.algorithms import Anatomy, Mondrian
from anoncore.cli.text import summary
from anoncore.measures import verdict
from anoncore.publishing import Certificate, certify, verify
from anoncore.publishing.report import Subject, report
from anoncore.recipes.recipe import RecipeRun
from anoncore.requirements import KAnonymity
from tests.measures.test_verdict import PEOPLE, ROLES
from tests.publishing.certification.tables import KEY, written

FRAME = PEOPLE.assign(illness=["flu"] * 10 + ["cold"] * 10)
DATA = Microdata(FRAME, ROLES)


def test_the_same_words_everywhere() -> None:
    release = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(DATA)
    found = verdict(release)
    sentences = [one.sentence for one in found.not_asked]
    assert len(sentences) == 2
    lines = list(summary(RecipeRun(release, DATA, {}), found))
    assert {f"  Not asked for, and not protected: {one}" for one in sentences} <= set(lines)
    page = report([Subject("One", release)])
    both = report([Subject("One", release), Subject("Other", Anatomy(l=2).anonymize(DATA))])
    # The report makes the foreground-knowledge attack too, which learns nothing from twenty people.
    told = Subject("One", release).verdict
    assert told == found
    for sentence in (told.headline, *sentences):
        assert str(Markup.escape(sentence)) in page
        assert str(Markup.escape(sentence)) in both
    tables = release.tables()
    files = written(tables, "csv")
    certificate = certify(release, KEY, files, tables=tables)
    assert certificate.not_asked == sentences
    assert Certificate.loads(certificate.dumps()) == certificate
    assert verify(certificate, files).holds


def test_a_certificate_of_a_good_release_says_nothing_more() -> None:
    release = Mondrian(requirements=[KAnonymity(k=20)]).anonymize(DATA)
    certificate = certify(release, KEY)
    assert certificate.not_asked is None
    assert "not_asked" not in certificate.dumps()


def test_the_report_makes_the_foreground_attack_too() -> None:
    """Twelve people of each age are enough to learn from, and classes of one illness give everybody away."""
    release = Mondrian(requirements=[KAnonymity(k=5)]).anonymize(Microdata(pd.concat([FRAME] * 12), ROLES))
    assert [one.name for one in Subject("One", release).verdict.not_asked] == [
        *(one.name for one in verdict(release).not_asked),
        "foreground-excess",
    ]
