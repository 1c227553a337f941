"""`anoncore.check` by hand, against the command line and plain pandas, and with what does not fit."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import anoncore
from anoncore import AnonymizationError, ParameterError, Policy, ReleaseError, UnmetRequirementError, attacks
from anoncore.cli import main
from anoncore.datasets import table, tables
from anoncore.requirements import EntropyDiversity, KAnonymity
from anoncore.sources import read_table
from tests.shared_data import require

PEOPLE = pd.DataFrame(
    {
        "age": [21, 21, 21, 44, 44, 60],
        "zip": [10115, 10115, 10115, 10117, 10117, 20095],
        "disease": ["flu", "cold", "flu", "gout", "gout", "flu"],
        "pay": [1000, 2000, 3000, 1000, 2000, 3000],
        "ward": ["a", "a", "b", "c", "c", "c"],
    }
)
"""Three people with two diseases, two with one, and one alone; the ward tells one of the three apart."""


def test_by_hand() -> None:
    checked = anoncore.check(PEOPLE, known=["age", "zip"], secret="disease")
    assert (checked.k, checked.l, checked.unique) == (1, 1, 1)
    # Both who are 44 have gout, as two of six do: two thirds of the group would need another disease.
    assert checked.t == pytest.approx(4 / 6)
    assert checked.number("k").group == {"age": 60, "zip": 20095}
    assert checked.number("distinct-l").group == {"age": 44, "zip": 10117}
    assert checked.holds
    # The ward tells one of the three who are 21 from the others, so two rows are alone for those who know it too.
    without_pay = anoncore.check(PEOPLE.drop(columns="pay"), known=["age", "zip"], secret="disease")
    assert (without_pay.k_all, without_pay.number("k-all").sentence.partition(" rows")[0]) == (1, "2 of 6")


def test_k_over_all_columns_is_that_of_who_knows_them_too() -> None:
    people = pd.DataFrame({"age": [1, 1, 1, 1], "ward": list("aabb"), "disease": list("wxyz")})
    checked = anoncore.check(people, known="age", secret="disease")
    assert (checked.k, checked.k_all, checked.unique) == (4, 2, 0)


def test_what_holds_is_never_shown_without_the_column_that_undoes_it() -> None:
    people = pd.DataFrame({"age": [20] * 3 + [30] * 3, "number": range(6)})
    lines = repr(anoncore.check(people, known="age", require="k=3")).splitlines()
    assert lines[1].strip() == "k-anonymity (k = 3) holds over what is known"
    assert lines[2].strip().startswith("'number', on which nobody decided, finds everybody")
    alone = repr(anoncore.check(people[["age"]], known="age", require="k=3")).splitlines()
    assert alone[1].strip() == "k-anonymity (k = 3) holds"


def test_several_secrets_are_judged_by_the_worst_and_each_by_the_distance_of_its_kind() -> None:
    checked = anoncore.check(PEOPLE, known="age", secret=["disease", "pay"])
    assert checked.l == 1
    # Of pay, the only one who is 60 has 3000: from thirds at three steps that is (1/3 + 2/3) / 2 of the way.
    assert checked.number("t-ordered", "pay").value == pytest.approx(0.5)
    assert checked.number("t-equal", "disease").value == pytest.approx(4 / 6)
    assert checked.t == pytest.approx(4 / 6)
    assert anoncore.check(PEOPLE, known="age", secret="pay").t == pytest.approx(0.5)
    assert list(checked.frame()["name"][:4]) == ["unique-rows", "k", "k-all", "disease.distinct-l"]


def test_without_a_secret_there_is_no_l_and_no_t() -> None:
    checked = anoncore.check(PEOPLE, known="age")
    assert (checked.k, checked.l, checked.t) == (1, None, None)


def test_rows_of_one_person_count_once() -> None:
    visits = pd.DataFrame({"who": list("aaabc"), "age": [21, 21, 21, 44, 44], "disease": list("xyzxy")})
    checked = anoncore.check(visits, known="age", secret="disease", unit="who")
    assert (checked.k, checked.unique) == (1, 3)
    assert "5 rows are those of 3 people" in checked.notes[0]
    assert anoncore.check(visits, known="age", secret="disease", identifier="who").k == 2


def test_what_is_required_and_fails_says_by_which_group_and_what_to_do() -> None:
    assert anoncore.check(PEOPLE, known="age", secret="disease", require="k=1").requirements[0].holds
    with pytest.raises(UnmetRequirementError) as caught:
        anoncore.check(PEOPLE, known="age", secret="disease", require=["k=2", KAnonymity(k=1), "t=0.1"])
    assert str(caught.value) == (
        "k-anonymity (k = 2) fails in 1 of 3 groups (1 of 6 rows): the group with age = 60 (1 row) has size 1, and at "
        "least 2 is asked. t-closeness (t = 0.1, ground = equal) on 'disease' fails in 3 of 3 groups (6 of 6 rows): "
        "the group with age = 44 (2 rows) has EMD of 'disease' 0.6667, and at most 0.1 is asked. anoncore.anonymize "
        "makes a release of the table in which they hold."
    )
    assert isinstance(caught.value, AnonymizationError)
    assert [required.holds for required in caught.value.check.requirements] == [False, True, False]
    assert caught.value.check.k == 1
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.check.k) == (str(caught.value), 1)
    with pytest.raises(UnmetRequirementError, match="entropy l-diversity"):
        anoncore.check(PEOPLE, known="age", secret="disease", require=EntropyDiversity(l=2))


@pytest.mark.slow
def test_attacks_and_facts_are_those_of_the_command() -> None:
    many = pd.concat([PEOPLE] * 20, ignore_index=True)
    fact = attacks.Fact.parse("row 1 has flu")
    checked = anoncore.check(many, known="age", secret="disease", foreground=2, facts=[fact])
    assert checked.number("foreground-breach-with-facts").attribute == "disease"
    (strongest,) = anoncore.check(PEOPLE, known="age", secret="disease", attacks=2).attacks
    assert strongest.identity is not None
    assert strongest.sentences[0] == "Attacks on 'disease', the strongest of each aim first:"


@pytest.mark.slow
def test_a_synthetic_table_has_costs_and_no_k() -> None:
    copy = PEOPLE.sample(frac=1, random_state=1)
    checked = anoncore.check(copy, known="age", secret="disease", synthetic_of=PEOPLE)
    assert checked.number("two-way-error").value == 0
    assert "give a table of some with control" in checked.notes[0]
    with pytest.raises(ReleaseError, match="no number 'k' of this table, whose rows are nobody's"):
        _ = checked.k


@pytest.mark.parametrize("kind", [pl.DataFrame, pa.Table.from_pandas, lambda frame: pl.DataFrame(frame).lazy()])
def test_tables_of_any_kind_give_the_same(kind: Any) -> None:
    expected = anoncore.check(PEOPLE, known=["age", "zip"], secret="disease").frame()
    pd.testing.assert_frame_equal(anoncore.check(kind(PEOPLE), ["age", "zip"], "disease").frame(), expected)


ASKED = {"known": "age", "secret": "disease"}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"known": ["age", "town"]}, "known: the table has no column 'town'; it has 'age', 'zip', 'disease'"),
        ({"known": []}, "known names no column; name those that others may know"),
        ({"known": None}, "check needs a name or a list of names as known, not None"),
        ({"known": [3]}, "without 3: give it as a text in quotes"),
        ({"secret": "illness"}, "secret: the table has no column 'illness'"),
        ({"secret": "age"}, "The column 'age' stands under secret and under another option; keep one"),
        ({"identifier": "disease"}, "The column 'disease' stands under identifier"),
        ({"unit": "age"}, "The column 'age' says whose row it is; name it under unit alone"),
        ({"unit": "who"}, "unit: the table has no column 'who'"),
        ({"require": "k"}, "require 'k' is no requirement; write one of k, l"),
        ({"require": "k=many"}, "require 'k=many' needs a number, such as k=5; 'many' is none"),
        ({"require": "q=3"}, "require 'q=3' is no requirement"),
        ({"require": "k=inf"}, "needs a finite number, such as k=5"),
        ({"require": "t=2"}, "t-closeness: t should be less than or equal to 1, not 2"),
        ({"require": "l=2", "secret": ()}, "require l=2 is about a secret column; name it with secret"),
        ({"require": EntropyDiversity(l=2, attribute="illness")}, "There is no attribute 'illness' to protect"),
        ({"attacks": 2.0, "secret": ()}, "attacks is about a secret column; name it with secret"),
        ({"control": PEOPLE}, "control has people to attack a table with; add attacks"),
        ({"facts": [attacks.Fact.parse("row 1 has flu")]}, "ask for foreground too"),
        ({"synthetic_of": PEOPLE, "require": "k=2"}, "require asks for groups of people"),
        ({"frame": "people.csv"}, "DuckDB relation, not as str; make one with"),
    ],
)
def test_what_does_not_fit_is_said_with_what_to_do(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(AnonymizationError) as caught:
        anoncore.check(**{"frame": PEOPLE, **ASKED, **changes})
    assert sentence in str(caught.value)


LARGE = ("census", "wide", "rothko-synthetic")
BUILT_IN = [
    pytest.param(name, marks=[pytest.mark.slow] if name in LARGE else [])
    for name, entry in tables().items()
    if not entry.external
]


@pytest.mark.parametrize("name", BUILT_IN)
def test_numbers_are_those_of_the_command(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = table(name)
    frame = entry.load(n_rows=300) if name in LARGE else entry.load()
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    by_role = {
        role: [column for column, given in entry.roles.items() if given == role]
        for role in ("quasi-identifier", "sensitive", "identifier")
    }
    words = [word for column in by_role["quasi-identifier"] for word in ("--known", column)]
    words += [word for column in by_role["sensitive"] for word in ("--secret", column)]
    words += [word for column in by_role["identifier"] for word in ("--identifier", column)]
    assert main(["check", str(path), *words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    checked = anoncore.check(
        read_table(path).frame,
        known=by_role["quasi-identifier"],
        secret=by_role["sensitive"],
        identifier=by_role["identifier"],
    )
    values = {(one["name"], one["attribute"]): one["value"] for one in told["numbers"]}
    assert (checked.k, checked.k_all, checked.unique) == tuple(
        values[number, None] for number in ("k", "k-all", "unique-rows")
    )
    levels = [value for (number, _), value in values.items() if number == "distinct-l"]
    assert checked.l == min(levels, default=None)
    assert told["verdict"] == checked.verdict.headline
    assert len(values) == len(checked.frame())


def test_a_policy_is_required_like_a_requirement() -> None:
    people = pd.DataFrame({"age": [20, 20, 60, 60], "town": ["a", "a", "b", "b"], "ill": ["flu", "cold", "flu", "flu"]})
    rules = Policy(name="Ours", levels={"k": 2, "l": 2}, risks={"singling-out-difference": {"at_most": 0.1}})
    with pytest.raises(
        UnmetRequirementError, match=r"Ours: 1 of 3 rules is broken, 1 was not measured\. Broken: no"
    ) as told:
        anoncore.check(people, secret="ill", policy=rules)
    checked = told.value.check
    assert checked.release.data.quasi_identifiers == ("age", "town")
    assert any("No column was named as known" in note for note in checked.notes)
    assert checked.judgement is not None
    assert [line.status for line in checked.judgement.lines] == ["kept", "broken", "not measured"]
    # Who names what is known is judged by that, and what could not be measured is no violation.
    rules = rules.model_copy(update={"levels": rules.levels.model_copy(update={"l": None})})
    kept = anoncore.check(people, "age", "ill", policy=rules)
    assert kept.judgement is not None
    assert (kept.judgement.status, kept.notes) == ("not measured", ())
    with pytest.raises(ParameterError, match="There is no policy 'cmss'"):
        anoncore.check(people, "age", policy="cmss")
    with pytest.raises(ParameterError, match="known names no column"):
        anoncore.check(people)


@pytest.mark.slow
def test_on_adult_against_pandas() -> None:
    frame = pd.read_csv(require("adult.csv"), skipinitialspace=True)
    known = ["age", "education", "race", "sex"]
    checked = anoncore.check(frame, known=known, secret="occupation")
    groups = frame.astype(object).fillna("?").groupby(known)["occupation"]
    assert (checked.k, checked.unique) == (groups.size().min(), (groups.size() == 1).sum())
    assert checked.l == groups.nunique().min()
    everything = [name for name in frame.columns if name != "occupation"]
    assert checked.k_all == frame.astype(object).fillna("?").groupby(everything).size().min()
    shares = frame["occupation"].fillna("?").value_counts(normalize=True)
    far = [
        0.5 * (group.value_counts(normalize=True).reindex(shares.index, fill_value=0) - shares).abs().sum()
        for _, group in groups
    ]
    assert checked.t == pytest.approx(np.max(far))
