"""The dossier: seven sections by hand, what is claimed told from what was counted, and no value but published ones."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest

from anoncore import AnonymizationError, Answers, Dossier, Microdata, ParameterError, Policy, Release
from anoncore.algorithms import Algorithm, Anatomy, LocalSuppression, Mondrian, OptimalRecoding, RandomPartition
from anoncore.front.dossier.measured_release import WITHHELD, AllowedTexts
from anoncore.front.dossier.measured_treatment import CONSIDERED
from anoncore.measures import value_of
from anoncore.publishing import Certificate, new_key, release_files
from anoncore.publishing.report.drawing import Mark, points
from anoncore.requirements import KAnonymity
from anoncore.search import candidates, sweep

NASTY = """<script>alert("x")</script><img src=http://evil/>"""
POLICY = Policy(
    name="Ours", source="the office", context={"recipient": "contract"}, levels={"k": 5}, refuse={"columns": ["phone"]}
)
HEADINGS = (
    "What is released, and for whom",
    "The people and the table",
    "Adversaries considered",
    "Identifiability",
    "What was done, and what it costs",
    "Levels asked for, and what was reached",
    "Decisions and signatures",
)


@cache
def table() -> Microdata:
    """Twelve people, two of each age; each half has as many of both diseases, and an age mostly one of them."""
    people = pd.DataFrame(
        {
            "age": [20, 20, 21, 21, 22, 22, 60, 60, 61, 61, 62, 62],
            "disease": ["flu", "flu", "cold", "cold", "flu", "cold"] * 2,
            "phone": [f"+49 30 {number}" for number in range(12)],
            "notes": [f"note {number}" for number in range(12)],
        }
    )
    return Microdata(people, {"age": "quasi-identifier", "disease": "sensitive", "phone": "identifier"})


@cache
def release() -> Release:
    return Mondrian(requirements=[KAnonymity(k=6)]).anonymize(table())


@cache
def measured() -> Dossier:
    """The dossier of two classes of six, beside the releases with k = 2 and 12."""
    tried = candidates({"mondrian": {"k": [2, 12]}}, table())
    considered = [point for point in sweep(table(), tried, list(CONSIDERED)) if point is not None]
    return Dossier.of(release(), POLICY, Answers(recipients="the registry", sampled_share=0.5), considered)


@cache
def certified() -> tuple[Certificate, dict[str, bytes]]:
    files = release_files(release(), "people", new_key())
    return Certificate.loads(files.pop("people-certificate.json")), files


def test_the_seven_sections_by_hand() -> None:
    dossier = measured()
    assert (dossier.basis, dossier.exit_code) == ("release", 0)
    assert [(one.name, one.columns, one.rows) for one in dossier.released.tables] == [
        ("release", ["age", "disease"], 12)
    ]
    assert (dossier.people.rows, dossier.people.people, dossier.people.left_out) == (12, 12, ["phone", "notes"])
    prosecutor = dossier.adversaries.finders[0]
    assert (prosecutor.largest, prosecutor.mean, prosecutor.guess) == pytest.approx((1 / 6, 2 / 12, 1 / 12))
    assert {one.aim for one in dossier.adversaries.attacks if one.is_strongest} == {
        "identity",
        "attribute",
        "membership",
    }
    (sizes,) = dossier.identifiability.sizes
    assert [(one.sizes, one.groups, one.members) for one in sizes.classes if one.groups] == [("5 to 10", 2, 12)]
    levels = {one.name: one.value for one in dossier.identifiability.levels}
    assert (levels["k"], levels["distinct-l"], levels["max-share"]) == (6, 2, 0.5)
    uniques = {one.name: one.value for one in dossier.identifiability.uniques}
    assert (uniques["unique-rows-before"], uniques["unique-rows-published"]) == (0, 0)
    assert (dossier.treatment.method, dossier.treatment.rows_left_out) == ("Mondrian", 0)
    assert dossier.reached.policy is not None
    assert dossier.reached.policy.headline == POLICY.judge(release()).headline
    assert [one.status for one in dossier.reached.policy.rules] == ["kept", "kept"]
    assert dossier.decisions.review_until == ""
    # What to call next is no matter of somebody who signs.
    reasons = {one.name: one.reason for one in dossier.adversaries.not_tried}
    assert reasons["singling out"] == "No people outside the table were given to compare with."


def test_what_was_considered_stands_beside_this_release() -> None:
    considered = measured().treatment.considered
    assert [one.is_chosen for one in considered] == [True, False, False]
    chosen, finer, coarser = considered
    assert finer.lost is not None
    assert chosen.lost is not None
    assert coarser.lost is not None
    assert finer.lost < chosen.lost <= coarser.lost
    assert finer.given_away is not None
    assert chosen.given_away == 0 < finer.given_away
    assert "k-anonymity (k = 12)" in coarser.label
    page = measured().to_html()
    assert page.count('class="mark chosen"') == 1
    assert page.count('class="mark"') == 2


def test_one_row_alone_is_counted() -> None:
    ages = [20, 20, 20, 33, 33, 34]
    data = Microdata(pd.DataFrame({"age": ages}), {"age": "quasi-identifier"})
    dossier = Dossier.of(Mondrian(requirements=[KAnonymity(k=3)]).anonymize(data))
    uniques = {one.name: one for one in dossier.identifiability.uniques}
    assert uniques["unique-rows-before"].value == pytest.approx(1 / 6)
    # Nobody said which share of the population is in the table, so nothing is estimated, and nothing is 0.
    assert (uniques["population-uniques"].value, uniques["population-uniques"].standing) == (None, "not measured")
    assert dossier.adversaries.not_tried[0].reason == "no published column is a secret"


def test_other_draws_of_a_random_method_are_laid_beside_this_one() -> None:
    drawn = Dossier.of(RandomPartition(k=4, seed=1).anonymize(table()), draws=3).identifiability
    spread = {one.name: one for one in drawn.spread}
    assert "3 further ones were measured" in drawn.draws
    tried = [value_of(RandomPartition(k=4, seed=seed).anonymize(table()), "two-way-error") for seed in (1, 2, 3, 4)]
    lost = spread["two-way-error"]
    assert (lost.value, lost.least, lost.most) == (tried[0], min(tried[1:]), max(tried[1:]))
    once = Dossier.of(RandomPartition(k=4, seed=1).anonymize(table()), draws=0).identifiability
    assert once.spread == []
    assert once.draws.endswith("was not measured.")
    assert "draws nothing at random" in measured().identifiability.draws


def test_what_holds_only_over_what_is_known_is_never_said_to_hold() -> None:
    people = pd.DataFrame({"age": [20, 20, 21, 21], "number": [1, 2, 3, 4]})
    data = Microdata(people, {"age": "quasi-identifier", "number": "insensitive"})
    dossier = Dossier.of(Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data), Policy(name="Ours", levels={"k": 2}))
    assert {one.outcome for one in dossier.reached.statements} == {"holds over what is known"}
    assert (dossier.people.as_it_is, len(dossier.people.gives_away), dossier.exit_code) == (["number"], 1, 3)
    assert 'class="kept"' not in dossier.to_html()


def test_the_page_has_its_sections_and_lines_to_fill_in() -> None:
    page = measured().to_html()
    found = re.findall(r"<h2[^>]*>.*?</span> (.*?)</h2>", page)
    assert tuple(found) == HEADINGS
    typed = Dossier.of(release(), None, Answers(title="A", purpose="B", recipients="C", duration="D")).to_html()
    untyped = Dossier.of(release()).to_html()
    assert untyped.count('class="blank"') - typed.count('class="blank"') == 4
    assert "<dt>For whom</dt><dd>C</dd>" in typed


def test_every_text_is_escaped_and_nothing_is_fetched() -> None:
    people = pd.DataFrame({NASTY: [1, 1, 2, 2], "disease": [NASTY, "flu"] * 2})
    data = Microdata(people, {NASTY: "quasi-identifier", "disease": "sensitive"})
    hostile = Mondrian(requirements=[KAnonymity(k=2)]).anonymize(data)
    answers = Answers(title=NASTY, controls=(NASTY,), decisions=({"what": NASTY},), signatures=({"name": NASTY},))
    policy = Policy(name=NASTY, source=NASTY, levels={"k": 2})
    page = Dossier.of(hostile, policy, answers).to_html()
    assert "<script" not in page
    assert "<img" not in page
    assert not re.search(r"""(?:src|href)\s*=|url\(|@import""", page.replace("&lt;img src=http", ""))
    assert "default-src 'none'" in page


def test_the_json_keeps_its_schema() -> None:
    schema = Dossier.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    certificate, files = certified()
    for dossier in (measured(), Dossier.of_certificate(certificate, files, POLICY)):
        told = json.loads(dossier.to_json())
        check.validate(told)
        assert Dossier.model_validate(told) == dossier
    assert not check.is_valid({**told, "more": 1})
    assert not check.is_valid({**told, "basis": "hearsay"})


@pytest.mark.parametrize(
    "method",
    [
        Mondrian(requirements=[KAnonymity(k=3)]),
        OptimalRecoding(requirements=[KAnonymity(k=3)], max_suppression=0.3),
        pytest.param(LocalSuppression(requirements=[KAnonymity(k=3)]), marks=pytest.mark.slow),
        Anatomy(l=2),
    ],
    ids=lambda method: method.name,
)
def test_no_value_of_the_original_that_is_not_published(method: Algorithm) -> None:
    rows = range(24)
    people = pd.DataFrame(
        {
            "name": [f"CANARY name {row}" for row in rows],
            "income": [734_001 + 17 * row for row in rows],
            "town": [f"CANARY town {row // 2}" for row in rows],
            "wage": [918_001 + 13 * (row // 2) for row in rows],
            "disease": [("flu", "cold", "CANARY gout")[row % 3] for row in rows],
            "diary": [f"CANARY diary {row}" for row in rows],
        }
    )
    roles = {"name": "identifier", "town": "quasi-identifier", "wage": "quasi-identifier", "disease": "sensitive"}
    made = method.anonymize(Microdata(people, roles))
    made = replace(made, notes=(*made.notes, "The group of 'CANARY diary 3' was joined."))
    published = " ".join(str(cell) for part in made.pandas_tables().values() for cell in part.to_numpy().ravel())
    original = {str(cell) for name in people for cell in people[name]}
    hidden = {text for text in original if not re.search(rf"\b{re.escape(text)}\b", published)}
    assert {"CANARY name 3", "CANARY diary 3", "734001"} <= hidden
    dossiers = [Dossier.of(made, Policy.load("hospital"))]
    files = release_files(made, "people", new_key())
    dossiers.append(Dossier.of_certificate(Certificate.loads(files.pop("people-certificate.json")), files))
    for dossier in dossiers:
        for text in (dossier.to_html(), dossier.to_json()):
            assert [one for one in hidden if re.search(rf"\b{re.escape(one)}\b", text)] == []
            assert WITHHELD in text or dossier.basis == "certificate"


def test_what_messages_quote_is_withheld_unless_it_is_published() -> None:
    allowed = AllowedTexts(frozenset({"age"}), frozenset({"20-29"}), frozenset({"Ann"}))
    assert allowed.sentence("'age' of '20-29' fits 'Ann'; it's \"Ann O'Hara\"") == (
        f"'age' of '20-29' fits {WITHHELD}; it's {WITHHELD}"
    )
    suppressing = LocalSuppression(requirements=[KAnonymity(k=3)])
    named = AllowedTexts(frozenset(), frozenset(), frozenset({"k-anonymity"}))
    assert WITHHELD in [value for _, value in named.parameters(suppressing)]
    assert named.method(suppressing) == suppressing.title
    assert WITHHELD not in [value for _, value in allowed.parameters(suppressing)]


def test_what_a_certificate_claims_is_told_from_what_was_counted() -> None:
    certificate, files = certified()
    dossier = Dossier.of_certificate(certificate, files, POLICY)
    assert (dossier.basis, dossier.exit_code) == ("certificate", 0)
    assert [(one.value, one.standing) for one in dossier.identifiability.levels] == [(6.0, "counted")]
    assert dossier.adversaries.finders[0].largest == pytest.approx(1 / 6)
    assert {one.standing for one in dossier.adversaries.finders[1:]} == {"not measured"}
    assert {one.standing for one in dossier.treatment.costs} == {"not measured"}
    assert {one.value for one in (*dossier.treatment.costs, *dossier.identifiability.uniques)} == {None}
    assert (dossier.people.standing, dossier.treatment.standing) == ("claimed", "claimed")
    got = {"attack": "definetti", "aim": "attribute", "share": 0.4, "control": 0.1}
    entry = {"tried": [{**got, "measured": "x", "compared_with": "y"}], "not_tried": {}, "is_estimate": False}
    tried = {"attribute": "disease", "r": 2.0, **entry}
    claiming = Certificate.model_validate({**certificate.model_dump(), "attacks": [tried]})
    dossier = Dossier.of_certificate(claiming, files)
    assert [(one.gain, one.standing) for one in dossier.adversaries.attacks] == [(pytest.approx(0.3), "claimed")]
    assert dossier.exit_code == 3


def test_what_a_forged_certificate_says_of_groups_is_no_number_of_the_dossier() -> None:
    certificate, files = certified()
    asked = certificate.requirements[0].model_copy(
        update={
            "requirement": {"name": "k-anonymity", "k": 12},
            "asked": 12.0,
            "reached": 12.0,
            "label": "k-anonymity (k = 12)",
        }
    )
    entry = certificate.tables[0].model_copy(update={"groups": 1, "group_sizes": {"12": 1}})
    forged = certificate.model_copy(update={"requirements": [asked], "tables": [entry]})
    dossier = Dossier.of_certificate(forged, files, POLICY)
    assert [(one.value, one.standing) for one in dossier.identifiability.levels] == [(None, "fails")]
    assert [(one.classes, one.standing) for one in dossier.identifiability.sizes] == [([], "fails")]
    assert dossier.adversaries.finders[0].standing == "not measured"
    assert (dossier.released.standing, dossier.exit_code) == ("fails", 1)
    changed = {name: content.replace(b"cold", b"gout") for name, content in files.items()}
    assert Dossier.of_certificate(certificate, changed).exit_code == 1


def test_published_tables_that_were_read_back_have_no_original() -> None:
    roles = {"age": "quasi-identifier", "disease": "sensitive"}
    dossier = Dossier.of(Release.from_published(release().tables()["release"], roles=roles))
    assert (dossier.basis, dossier.people.rows) == ("published", None)
    assert dossier.identifiability.uniques[0].standing == "not measured"
    assert "without their original" in dossier.to_html()


def test_answers_are_read_and_wrong_ones_named(tmp_path: Path) -> None:
    file = tmp_path / "answers.toml"
    file.write_text('duration = "one year"\n[roles_decided_by]\nage = "Ann"\n"*" = "Bob"\n')
    answers = Answers.load(file)
    assert (answers.duration, answers.decided_by("age"), answers.decided_by("disease")) == ("one year", "Ann", "Bob")
    assert Answers.loads(Answers.template()) == Answers()
    wrong = {
        'purpos = "x"': r"no key 'purpos'.*Did you mean 'purpose'",
        "[review]\nuntill = 'x'": r"\[review\] has no key 'untill'; it has 'until'.*Did you mean 'until'",
        "duration = 3": "duration should be a valid string, not 3",
        "sampled_share = 1.5": "sampled_share should be less than or equal to 1, not 1.5",
        'title = "a\\nb"': "title: it is one line",
        "title": "not valid TOML",
    }
    for text, message in wrong.items():
        with pytest.raises(ParameterError, match=message):
            Answers.loads(text)
    with pytest.raises(ParameterError, match=r"There is no column 'agee'; did you mean 'age'"):
        Dossier.of(release(), answers=Answers(roles_decided_by={"agee": "Ann"}))
    with pytest.raises(ParameterError, match="cannot be read"):
        Answers.load(tmp_path / "none.toml")


def test_what_is_no_point_of_a_sweep_is_refused() -> None:
    wrong: Any = [release()]
    with pytest.raises(AnonymizationError, match="considered"):
        Dossier.of(release(), considered=wrong)


def test_points_of_a_picture_by_hand() -> None:
    """Two points on each other share a label; the chosen one is a square, and what is below 0 stands at 0."""
    marks = [Mark("1", 0.5, 0.5, True), Mark("2", 0.5, 0.5), Mark("3", 0.0, -0.2)]
    drawing = str(points(marks, "lost", "given", lambda value: f"{value:.0%}", "three"))
    assert drawing.count("<circle") == 2
    assert drawing.count("<rect") == 1
    assert ">2, 1<" in drawing
    assert ">3<" in drawing
    (bottom,) = re.findall(r'<circle cx="62\.0" cy="([\d.]+)"', drawing)
    assert float(bottom) == 200.0
