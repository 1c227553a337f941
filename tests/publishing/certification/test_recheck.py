"""With hashes aside, the re-checked requirements find what breaks them and say so."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore import Distorted, Fragment, Generalized, Microdata, Partition, Release, ReleaseError, attacks
from anoncore.algorithms import Anatomy, Mask, Mondrian, Slicing, VerticalFragmentation
from anoncore.base.errors import DataError
from anoncore.publishing import Certificate, verify
from anoncore.publishing.report import Subject, report
from anoncore.requirements import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    RecursiveDiversity,
    TCloseness,
    VarianceDiversity,
)
from tests.privacy.releases import builtin, generalized
from tests.properties.subjects import SEED
from tests.publishing.certification.tables import KEY, certificate, people, written

SIX = pd.DataFrame({"age": [20, 21, 22, 50, 51, 52], "illness": ["flu", "cold", "gout", "flu", "cold", "gout"]})
TAGS = {"age": "quasi-identifier", "illness": "sensitive"}


def six() -> Release:
    """Two groups of three: ages 20-22 and 50-52, each with flu, cold and gout."""
    return generalized(Microdata(SIX, roles=TAGS), [0, 0, 0, 1, 1, 1])


def failures(proof: Certificate, tables: dict[str, pd.DataFrame]) -> list[str]:
    found = verify(proof, written(tables, "csv"), hashes=False)
    return [one.sentence for one in found.findings if one.outcome == "fails"]


@pytest.mark.parametrize(
    ("requirement", "reached", "after"),
    [
        (KAnonymity(k=3), 3, ""),
        (DistinctDiversity(l=3), 3, "has 1 different value of 'illness'"),
        (FrequencyDiversity(l=3), 3, "its commonest 'illness' in 1 of 1"),
        (EntropyDiversity(l=3), 3, "of 'illness' 1"),
        (RecursiveDiversity(c=3, l=2), 0.5, "values of 'illness', so that no c is large enough"),
        # Afterwards flu, cold, gout are 1, 1, 4 of 6 and the second group has gout only: (1/6 + 1/6 + 1/3) / 2 = 1/3.
        (TCloseness(t=0.1), 0, "of 'illness' 0.3333"),
    ],
)
def test_one_illness_in_a_group_breaks_what_asks_for_more(requirement: object, reached: float, after: str) -> None:
    release = six()
    proof = certificate(release, requirements=[requirement])
    assert proof.requirements[0].reached == pytest.approx(reached)
    assert proof.tables[0].group_sizes == {"3": 2}
    tables = release.tables()
    assert failures(proof, tables) == []
    uniform = tables["release"].assign(illness=["flu", "cold", "gout", "gout", "gout", "gout"])
    uniform["age"] = ["20-22"] * 3 + ["50-52"] * 3
    said = failures(proof, {"release": uniform})
    if requirement == KAnonymity(k=3):
        assert said == []
    else:
        assert len(said) == 1
        assert "fails in" in said[0]
        assert f"{after} (asked" in said[0]


def test_a_dropped_row_breaks_k() -> None:
    proof, tables = certificate(six(), requirements=[KAnonymity(k=3)]), six().tables()
    (said,) = failures(proof, {"release": tables["release"].iloc[1:]})
    assert said == (
        "k-anonymity (k = 3) fails in 1 of 2 published groups over 'age': "
        "the worst published group has size 2 (asked: at least 3)."
    )


def test_a_level_other_than_the_certified_one_is_a_failure() -> None:
    proof, tables = certificate(six(), requirements=[KAnonymity(k=2)]), six().tables()
    (said,) = failures(proof, {"release": tables["release"].iloc[1:]})
    assert said.startswith("k-anonymity (k = 2) holds over 'age': the worst published group has size 2")
    assert said.endswith("The certificate says 3.")


def test_buckets_lose_their_diversity() -> None:
    release = Anatomy(l=2).anonymize(people())
    proof, tables = certificate(release), release.tables()
    hidden = tables["sensitive"].copy()
    hidden.loc[hidden["group"] == hidden["group"].iloc[0], "illness"] = "flu"
    said = failures(proof, tables | {"sensitive": hidden})
    assert len(said) == 2
    assert ["1 different value of 'illness' (asked: at least 2)" in one for one in said].count(True) == 1
    assert ["its commonest 'illness' in 1 of 1 (asked: at most 1 of 2)" in one for one in said].count(True) == 1


def test_groups_of_joined_tables_must_agree() -> None:
    release = Anatomy(l=2).anonymize(people())
    proof, tables = certificate(release), release.tables()
    hidden = tables["sensitive"].copy()
    hidden["group"] = hidden["group"].replace(0, 1)
    said = failures(proof, tables | {"sensitive": hidden})
    assert "The groups of 'sensitive' are not those of 'quasi-identifiers': group 0 has 0 rows there" in said[0]


def test_what_is_believed_of_everybody_is_computed_from_slices() -> None:
    release = Slicing(l=1.5, sensitive_column_size=1).anonymize(people())
    proof, tables = certificate(release), release.tables()
    (promise,) = proof.people
    assert promise.rechecked
    assert failures(proof, tables) == []
    column = next(name for name, table in tables.items() if "illness" in table)
    certain = tables[column].assign(illness="flu")
    (said,) = failures(proof, tables | {column: certain})
    assert "does not hold: the likeliest value of 'illness' of anyone has p = 1 (asked: at most 1/l = 0.6667)" in said


def test_people_of_columns_that_overlap_are_not_checked_with_the_reason() -> None:
    columns = (("age", "town", "visits"), ("town", "since", "illness"))
    release = Slicing(l=1, attribute_columns=columns).anonymize(people())
    (finding,) = (
        one
        for one in verify(certificate(release), written(release.tables(), "csv")).findings
        if one.check.startswith("promise")
    )
    assert finding.outcome == "claimed"
    assert "which rows of the tables belong to one person is what the release hides" in finding.sentence


def test_what_must_fail_for_someone_is_found_where_people_are_hidden() -> None:
    columns = (("age", "since"), ("town", "illness"), ("visits",))
    release = Slicing(l=1.5, attribute_columns=columns).anonymize(people())
    proof, tables = certificate(release), release.tables()
    assert proof.people[0].sentence.endswith("l = 1.5, holds: everybody who fits the tables has at least 1.5.")
    assert failures(proof, tables) == []
    name = next(name for name, table in tables.items() if "illness" in table)
    (said,) = failures(proof, tables | {name: tables[name].assign(illness="flu")})
    assert said == (
        "Slicing with posterior diversity, l = 1.5, fails: someone in the tables has at most 1, whoever that is."
    )


def test_joins_of_fragments_are_counted_again() -> None:
    release = VerticalFragmentation(k=3, class_attribute="illness").anonymize(people())
    proof, tables = certificate(release), release.tables()
    assert proof.joins is not None
    assert (proof.joins.common, proof.joins.k, proof.joins.delta) == ("illness", 3, None)
    alone = {name: table.copy() for name, table in tables.items()}
    for table in alone.values():
        known = [name for name in table.columns if name not in ("illness", "visits")]
        first = table[known].eq(table[known].iloc[0]).all(axis=1)
        table.loc[first[first].index[0], "illness"] = "plague"
    # One row of one class of each fragment has the plague now: their join on it is a single row.
    (said,) = failures(proof, alone)
    assert "break at least 3 rows" in said


def test_sets_of_values_are_read_back() -> None:
    release = VerticalFragmentation(k=3, enforce="selectivity").anonymize(people())
    proof, tables = certificate(release), release.tables()
    illness = next(one for one in proof.attributes if one.name == "illness")
    assert illness.form == "set"
    # Missing comes last and is no value to list; the braces of a value are not those of a set.
    assert set(illness.values or []) <= {"flu", "cold", "{x, y}", "+gout"}
    assert failures(proof, tables) == []
    name = list(tables)[-1]
    (said,) = failures(proof, tables | {name: tables[name].assign(illness="flu")})
    assert "'illness' holds 'flu', which is no set of values" in said


def test_closeness_to_a_table_that_is_not_published_is_not_checked() -> None:
    release = Mask(k=3, l=2).anonymize(people())
    proof = certificate(release, requirements=[TCloseness(t=1)])
    entry = proof.requirements[-1]
    assert (entry.rechecked, entry.reached) == (False, None)
    assert "the original distribution of 'illness' is not published" in entry.reason


def test_there_is_no_certificate_for_what_does_not_hold() -> None:
    with pytest.raises(ReleaseError, match=r"no certificate for what does not hold: k-anonymity \(k = 4\) fails"):
        certificate(six(), requirements=[KAnonymity(k=4)])


@pytest.mark.parametrize("ground", ["ordered", "hierarchical"])
def test_orders_hierarchies_and_protected_values_count_as_in_the_original(ground: str) -> None:
    data = builtin("census")
    order = sorted(data.frame["diagnosis"].head(400).unique(), reverse=True)
    tagged = Microdata(
        data.frame.head(400),
        roles=data.roles,
        orders={} if ground == "hierarchical" else {"diagnosis": order},
        hierarchies=data.hierarchies if ground == "hierarchical" else {},
        kinds={"diagnosis": "nominal" if ground == "hierarchical" else "ordinal"},
        sensitive_values={"salary-class": [data.frame["salary-class"].iloc[0]]},
    )
    asked = (KAnonymity(k=5), TCloseness(t=0.5, ground=ground, attribute="diagnosis"))
    release = Mondrian(requirements=(*asked, FrequencyDiversity(l=1, attribute="salary-class"))).anonymize(tagged)
    proof = certificate(release)
    assert [one.rechecked for one in proof.requirements] == [True] * 3
    assert failures(proof, release.tables()) == []


def test_the_certificate_shows_nothing_but_the_files() -> None:
    release = VerticalFragmentation(
        k=3, seed=SEED, generalization={"name": "stack-and-deal", "k": 3, "seed": SEED + 1}
    ).anonymize(people())
    text = certificate(release).dumps()
    method = json.loads(text)["method"]
    assert "seed" not in method["parameters"]
    assert "seed" not in method["parameters"]["generalization"]
    assert "undo its random choices" in method["seed"]
    assert "Person 1" not in text
    assert "notes" not in text
    first, second = certificate(release), certificate(release)
    assert first.input.hmac_sha256 == second.input.hmac_sha256
    assert first.model_copy(update={"made": ""}) == second.model_copy(update={"made": ""})


def test_a_column_name_that_looks_guarded_is_refused() -> None:
    data = Microdata(SIX.rename(columns={"illness": "'=x"}), roles={"age": "quasi-identifier", "'=x": "sensitive"})
    with pytest.raises(DataError, match="cannot be told from ones that a spreadsheet guards"):
        certificate(generalized(data, [0, 0, 0, 1, 1, 1]))


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": "other"}'])
def test_a_text_that_is_no_certificate_is_refused(text: str) -> None:
    with pytest.raises(DataError, match="This is no certificate of a release"):
        Certificate.loads(text)


def test_another_table_or_key_is_not_the_input() -> None:
    release = six()
    proof, files = certificate(release), written(release.tables(), "csv")
    changed = Microdata(SIX.assign(age=[20, 21, 22, 50, 51, 53]), roles=TAGS)
    for data, key in ((changed, None), (release.data, "another key")):
        found = verify(proof, files, data=data, key=key or KEY)
        assert not found.holds
        assert "are not those of the certificate" in found.findings[-1].sentence


def test_a_certificate_that_claims_more_than_it_describes_fails() -> None:
    proof, tables = certificate(six(), requirements=[KAnonymity(k=2)]), six().tables()
    (asked,) = proof.requirements
    (table,) = proof.tables
    claimed = proof.model_copy(
        update={
            "requirements": [asked.model_copy(update={"label": "k-anonymity (k = 50)", "asked": 50.0})],
            "tables": [table.model_copy(update={"group_sizes": {"50": 2}})],
        }
    )
    found = verify(claimed, written(tables, "csv"))
    assert [one.sentence for one in found.findings if one.outcome == "fails"] == [
        "'release' has 2 groups, and their sizes are not those that the certificate names.",
        "The certificate says 'k-anonymity (k = 50)', but describes k-anonymity (k = 2).",
    ]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda values: values["requirements"][0].update(attribute="x"), "nothing is said about 'x'"),
        (lambda values: values["tables"][0]["columns"].append("y"), "the columns of table 'release' do not fit"),
        (lambda values: values["attributes"].pop(), "nothing is said about 'illness'"),
        (lambda values: values.update(linked_by="group"), "the columns of table 'release' do not fit"),
        (lambda values: values.update(extra=1), "Extra inputs are not permitted"),
    ],
)
def test_a_certificate_that_does_not_fit_itself_is_refused(
    change: Callable[[dict[str, Any]], None], reason: str
) -> None:
    values = certificate(six(), requirements=[DistinctDiversity(l=2)]).model_dump()
    change(values)
    with pytest.raises(DataError, match=reason):
        Certificate.loads(json.dumps(values))


def test_fragments_whose_joins_are_all_empty_have_a_certificate_and_a_report() -> None:
    frame = pd.DataFrame({"age": [20, 21, 30, 31], "town": list("ABAB"), "illness": ["flu", "cold", "gout", "gout"]})
    roles = {"age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}
    data = Microdata(frame, roles)
    domain = data.domain["illness"]
    fragments = []
    for name, groups, shown in (("age", [0, 0, 1, 1], ["flu", "cold"] * 2), ("town", [0, 1, 0, 1], ["gout"] * 4)):
        partition = Partition(np.array(groups, dtype=np.int32))
        codes = np.array([domain.code_of(value) for value in shown], dtype=np.int32)
        changed = Distorted(domain, partition, codes, data.codes["illness"])
        own = Generalized.of_rows(data.domain[name], partition, data.codes[name])
        fragments.append(Fragment(name, partition, {name: own, "illness": changed}))
    release = Release(data, tuple(fragments))
    proof = certificate(release)
    found = verify(proof, written(release.tables(), "csv"))
    assert [one.sentence for one in found.findings if one.check == "joins on 'illness'"] == [
        "All 4 joins of groups of two of the fragments on 'illness' are empty: no value stands in groups of more "
        "than one fragment."
    ]
    assert found.holds
    assert "are empty" in report([Subject("release", release)])


def salaries(first: int, second: int) -> Release:
    """Two groups, each with two salaries just above 2^60."""
    frame = pd.DataFrame({"age": [20, 21, 50, 51], "salary": [2**60 + first, 2**60 + second] * 2})
    data = Microdata(frame, {"age": "quasi-identifier", "salary": "sensitive"})
    return generalized(data, [0, 0, 1, 1])


def test_numbers_above_the_whole_doubles_are_read_exactly() -> None:
    """As doubles, 1 and 129 above 2^60 are 0 and 256 above it, with four times the variance."""
    wide = VarianceDiversity(v=10_000.0)
    proof = certificate(salaries(0, 256), requirements=[wide])
    assert proof.requirements[0].reached == 128.0**2
    assert failures(proof, salaries(0, 256).tables()) == []
    (fault,) = failures(proof, salaries(1, 129).tables())
    assert "fails in 2 of 2 published groups" in fault
    assert certificate(salaries(1, 129), requirements=[VarianceDiversity(v=4_000.0)]).requirements[0].reached == 64.0**2


SUMMER_AND_WINTER = pd.to_datetime(["2020-01-01 00:00", "2020-07-01 12:00", "2020-12-01 12:00"] * 2).tz_localize(
    "Europe/Vienna"
)
MICROSECONDS = pd.Timestamp("2020-01-01") + pd.to_timedelta([1, 1, 2, 2, 3, 3], unit="us")
NANOSECONDS = pd.Timestamp("2020-01-01") + pd.to_timedelta([1, 1, 2, 2, 3, 3], unit="ns")
BEFORE_ZONES = pd.Series(
    pd.to_datetime(["1880-01-01 00:00", "1880-01-02 12:00", "2020-07-01 12:00"] * 2)
).dt.tz_localize("Europe/Vienna")


@pytest.mark.parametrize("format", ["csv", "parquet", "excel"])
@pytest.mark.parametrize(
    ("moments", "distance"),
    [(SUMMER_AND_WINTER, 0), (BEFORE_ZONES, 0), (MICROSECONDS, 1 / 3), (NANOSECONDS, 1 / 3)],
    ids=["summer and winter", "before zones", "microseconds", "nanoseconds"],
)
def test_points_in_time_are_certified_as_they_are(moments: Any, distance: float, format: str) -> None:
    frame = pd.DataFrame({"age": [20, 21, 22, 50, 51, 52], "illness": moments})
    release = generalized(Microdata(frame, roles=TAGS), [0, 0, 0, 1, 1, 1])
    # As microseconds the first group has 1, 1, 2 and the table 1, 1, 2, 2, 3, 3: a third moves two steps of two.
    for ground in ("ordered", "interval"):
        proof = certificate(release, requirements=[TCloseness(t=0.5, ground=ground)])
        assert proof.requirements[0].reached == pytest.approx(distance, abs=1e-4)
    tables = release.tables()
    proof = certificate(release, requirements=[TCloseness(t=0.5, ground="ordered")], tables=tables)
    found = verify(proof, written(tables, format))
    assert [one.sentence for one in found.findings if one.outcome == "fails"] == []


def test_attacks_that_were_tried_stand_in_the_certificate_and_are_only_claimed() -> None:
    release = six()
    measured = attacks.strongest(release, "illness")
    proof = Certificate.loads(certificate(release, attacks=[measured]).dumps())
    (entry,) = proof.attacks or ()
    assert (entry.attribute, entry.r, entry.not_tried) == ("illness", 2.0, measured.not_tried)
    assert [(one.attack, one.share, one.control) for one in entry.tried] == [
        (one.name, one.share, one.control) for one in measured.tried
    ]
    assert entry.sentence in proof.not_checked
    found = verify(proof, written(release.pandas_tables(), "csv"), hashes=False)
    (claimed,) = (one for one in found.findings if one.check == "attacks on 'illness'")
    assert (claimed.outcome, found.code) == ("claimed", 3)
    # In groups of three with one value each, a person is found with 1/3; guessing finds one of six.
    assert "on identity, reidentification got 33.3% and its control 16.7%" in claimed.sentence
    assert "not tried: singling out, linkability" in claimed.sentence
    first = certificate(release, attacks=[attacks.strongest(release, "illness", estimate=True)])
    assert "with r = 2, estimated only: " in (first.attacks or ())[0].sentence
    assert "estimated only" not in entry.sentence


@pytest.mark.parametrize(
    ("field", "value"),
    [("share", 1.5), ("control", float("nan")), ("attack", "k = 10 holds"), ("aim", "none")],
)
def test_what_attacks_got_is_read_strictly(field: str, value: object) -> None:
    release = six()
    content = json.loads(certificate(release, attacks=[attacks.strongest(release, "illness")]).dumps())
    content["attacks"][0]["tried"][0][field] = value
    with pytest.raises(DataError, match="certificate"):
        Certificate.loads(json.dumps(content))
