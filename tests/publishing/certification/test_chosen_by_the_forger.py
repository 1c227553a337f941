"""What whoever writes a certificate could choose to make raw data hold: orders, keys, secrets, levels, names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore import Hierarchy, Microdata
from anoncore.algorithms import Anatomy, Mondrian, VerticalFragmentation
from anoncore.publishing import Certificate, new_key, release_files, verify
from anoncore.publishing.certification.claims import as_read, parting_levels
from anoncore.release.reading.published_table import reading_ranks
from anoncore.requirements import DistinctDiversity, FrequencyDiversity, KAnonymity, TCloseness
from tests.publishing.certification.forging import Forgery, restated

Roles = dict[str, str]
RAW = pd.DataFrame(
    {
        "age": np.repeat([30, 40, 50, 60], 10),
        "zip": np.random.default_rng(0).permutation(np.arange(10_000, 10_040)),
        "disease": np.tile(["flu", "hiv", "cancer", "cold"], 10),
    }
)
"""Ten people of each age, each with a zip of their own, in the order in which they were registered."""
ROLES: Roles = {"age": "quasi-identifier", "zip": "quasi-identifier", "disease": "sensitive"}
AGED = {"age": "quasi-identifier", "disease": "sensitive"}


def of_classes(folder: Path, frame: pd.DataFrame, roles: Roles, *asked: Any, **options: Any) -> Forgery:
    """An honest release of classes that everybody shares already."""
    return Forgery(Mondrian(requirements=list(asked)).anonymize(Microdata(frame, roles, **options)), folder)


def attribute(forgery: Forgery, name: str) -> dict[str, Any]:
    return next(one for one in forgery.claims["attributes"] if one["name"] == name)


def rewritten(forgery: Forgery, tables: dict[str, pd.DataFrame], group: str | None = None) -> None:
    """Other tables in the file, described to the last hash."""
    forgery.file.unlink()
    forgery.file = forgery.folder / ("people.zip" if len(tables) > 1 else "people.csv")
    forgery.rewritten(tables)
    forgery.hashed()
    restated(forgery.claims, tables, group)


@pytest.fixture
def bucketized(tmp_path: Path) -> Forgery:
    """An honest release by Anatomy: known columns and secrets in two tables, joined by groups of four."""
    return Forgery(Anatomy(l=4).anonymize(Microdata(RAW, ROLES)), tmp_path)


def test_honest_tables_that_are_joined_hold(bucketized: Forgery, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = bucketized.judged(capsys)
    assert code == 0, said


def test_rows_of_joined_tables_in_the_order_of_their_people(
    bucketized: Forgery, capsys: pytest.CaptureFixture[str]
) -> None:
    group = np.arange(40) // 4  # four people with four diseases
    names = [one["name"] for one in bucketized.claims["tables"]]
    sides = [RAW[["age", "zip"]], RAW[["disease"]]]
    tables = {name: side.assign(group=group) for name, side in zip(names, sides, strict=True)}
    tables = {name: side[["group", *side.columns[:-1]]] for name, side in tables.items()}
    rewritten(bucketized, tables, "group")
    code, said = bucketized.judged(capsys)
    assert code == 3, said
    assert "rows of the same 'group' are not sorted by what their cells read" in said
    # Sorted, the same tables no longer say whose disease is which.
    rewritten(bucketized, {name: side.sort_values(list(side.columns)) for name, side in tables.items()}, "group")
    code, said = bucketized.judged(capsys)
    assert code == 0, said


def test_rows_of_tables_apart_in_the_order_of_their_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forgery = of_classes(tmp_path, RAW[["age", "disease"]], AGED, KAnonymity(k=5))
    rewritten(forgery, {"ages": RAW[["age"]], "diseases": RAW[["disease"]]})
    code, said = forgery.judged(capsys)
    assert code == 3
    assert "rows are not sorted by what their cells read" in said


def test_an_order_of_values_that_somebody_chose_shows_in_no_order_of_rows() -> None:
    """Rows of several tables stand in an order that every reader can check, and not in that of ranked values."""
    order = ["low", "middle", "high"]
    frame = RAW.assign(grade=np.resize(order, 40))
    roles = {**ROLES, "grade": "quasi-identifier"}
    release = Anatomy(l=4).anonymize(Microdata(frame, roles, orders={"grade": order}))
    tables = release.pandas_tables()
    known = next(table for table in tables.values() if "grade" in table)
    columns = ["age", "zip", "grade"]
    by_group = known.sort_values(["group", *(name for name in known.columns if name != "group")], kind="stable")
    assert known[columns].to_numpy().tolist() == by_group[columns].to_numpy().tolist()
    files = release_files(release, "people", new_key())
    certificate = Certificate.loads(files.pop("people-certificate.json"))
    assert verify(certificate, files).holds


def test_texts_are_ranked_by_the_numbers_that_they_are() -> None:
    assert reading_ranks(("10", "9", "-1", "", "9.5", "a")).tolist() == [3, 1, 0, 4, 2, 5]
    assert reading_ranks(("100000000000000000001", "100000000000000000000", "-100000000000000000001")).tolist() == [
        2,
        1,
        0,
    ]


def test_tables_apart_that_share_a_key_called_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = RAW.assign(disease=np.repeat(["flu", "hiv", "cancer", "cold"], 10), note=range(100, 140))
    roles = {"age": "quasi-identifier", "disease": "sensitive", "note": "sensitive"}
    forgery = of_classes(tmp_path, frame[["age", "disease", "note"]], roles, KAnonymity(k=5))
    frame = frame.assign(remark=frame["note"])
    forgery.claims["attributes"].append({**attribute(forgery, "note"), "name": "remark"})
    diversity = DistinctDiversity(l=4)
    forgery.claims["requirements"].append(
        {
            **forgery.claims["requirements"][0], "requirement": diversity.to_dict(), "label": diversity.label(),
            "attribute": "disease", "asked": 4.0, "reached": None,
        }
    )  # fmt: skip
    rewritten(forgery, {"a": frame[["age", "note"]], "b": frame[["remark", "disease"]]})
    code, said = forgery.judged(capsys)
    assert code == 3, said
    assert "only if nobody joins the tables by 'note' of 'a' and 'remark' of 'b'" in said
    assert "1 different value of 'disease'" in said


def test_what_cannot_be_asked_fails_and_does_not_end_the_verification(
    bucketized: Forgery, capsys: pytest.CaptureFixture[str]
) -> None:
    bucketized.claims["requirements"].append(
        {
            **bucketized.claims["requirements"][0], "requirement": {"name": "nothing-known"}, "attribute": "disease",
            "label": "nothing known",
        }
    )  # fmt: skip
    code, said = bucketized.judged(capsys)
    assert code == 1, said
    assert "nothing known cannot hold" in said


def test_fragments_that_share_a_secret_are_judged_by_their_joins_alone() -> None:
    frame = RAW[["age", "disease"]].assign(town=np.tile(list("abcdefgh"), 5), visits=np.tile(range(20), 2))
    known = dict.fromkeys(["age", "town", "visits"], "quasi-identifier")
    release = VerticalFragmentation(k=4, l=2).anonymize(Microdata(frame, {**known, "disease": "sensitive"}))
    assert sum("disease" in table for table in release.pandas_tables().values()) > 1
    files = release_files(release, "people", new_key())
    certificate = Certificate.loads(files.pop("people-certificate.json"))
    assert not [one for one in verify(certificate, files).of("claimed") if "joins the tables by" in one.sentence]


@pytest.mark.parametrize(("k", "l", "code"), [(1, 1, 3), (-5, 0, 2)])
def test_joins_that_ask_for_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], k: int, l: int, code: int
) -> None:
    forgery = of_classes(tmp_path, RAW, ROLES, KAnonymity(k=1))
    forgery.claims["requirements"] = []
    forgery.claims["joins"] = {
        "rechecked": True, "reason": "", "common": "disease", "k": k, "l": l, "delta": None, "source": "x",
    }  # fmt: skip
    for name in ("age", "zip"):
        attribute(forgery, name)["form"] = "exact"
    rewritten(forgery, {"a": RAW[["age", "disease"]].sort_values(["age", "disease"]),
                        "b": RAW[["zip", "disease"]].sort_values(["zip", "disease"])})  # fmt: skip
    found, said = forgery.judged(capsys)
    assert found == code, said


@pytest.mark.parametrize("asked", [DistinctDiversity(l=4), FrequencyDiversity(l=4), TCloseness(t=0.2, ground="equal")])
def test_a_rare_value_that_is_said_to_be_the_only_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], asked: Any
) -> None:
    forgery = of_classes(tmp_path, RAW[["age", "disease"]], AGED, asked)
    code, said = forgery.judged(capsys)
    assert code == 0, said
    # Everybody of an age has the same disease, but for one rare value that is said to be the only one to protect.
    alike = RAW[["age"]].assign(disease=np.repeat(["flu", "hiv", "cancer", "flu"], 10))
    alike.loc[0, "disease"] = "cold"
    attribute(forgery, "disease")["protected"] = ["cold"]
    attribute(forgery, "age")["form"] = "exact"
    rewritten(forgery, {"release": alike})
    forgery.claims["requirements"][0]["reached"] = None
    code, said = forgery.judged(capsys)
    assert code == 3, said
    assert (
        "only 'cold' is said to need protection, and every row with another value counts as a value of its own" in said
    )
    assert "holds only if no other values of 'disease' than 'cold' need protection; of all values," in said


def test_secrets_that_are_honestly_the_only_ones_hold_where_all_values_would(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame, roles = RAW[["age", "disease"]], AGED
    forgery = of_classes(tmp_path, frame, roles, DistinctDiversity(l=4), sensitive_values={"disease": ["hiv", "flu"]})
    code, said = forgery.judged(capsys)
    assert code == 0, said
    assert "only 'flu', 'hiv' are said to need protection" in said


def test_levels_of_a_hierarchy_that_part_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hierarchy = Hierarchy.from_table([["cancer", "chronic"], ["hiv", "chronic"], ["cold", "acute"], ["flu", "acute"]])
    frame, roles = RAW[["age", "disease"]], AGED
    asked = TCloseness(t=0.1, ground="hierarchical")
    forgery = of_classes(tmp_path, frame, roles, asked, hierarchies={"disease": hierarchy})
    code, said = forgery.judged(capsys)
    assert code == 0, said
    alike = RAW[["age"]].assign(disease=np.repeat(["flu", "hiv", "cancer", "cold"], 10))
    lines = attribute(forgery, "disease")["hierarchy"]
    attribute(forgery, "disease")["hierarchy"] = [
        [line[0], *(f"all {level}" for level in range(60)), "*"] for line in lines
    ]
    attribute(forgery, "age")["form"] = "exact"
    rewritten(forgery, {"release": alike})
    forgery.claims["requirements"][0]["reached"] = None
    code, said = forgery.judged(capsys)
    assert code == 3, said
    assert "only by levels of the certificate's hierarchy of 'disease' that part no values" in said
    assert "EMD of 'disease' 0.75" in said


def test_levels_that_part_the_values_as_those_below_are_left_out() -> None:
    lines = [["a", "x", "x1", "*"], ["b", "x", "x1", "*"], ["c", "y", "y1", "*"]]
    assert parting_levels(lines) == [["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]]
    assert parting_levels([["a", "*"], ["b", "*"]]) == [["a", "*"], ["b", "*"]]
    assert parting_levels([["a", "x", "*"]]) == [["a", "*"]]


def test_names_that_are_called_secrets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = RAW[["age", "disease"]].assign(name=[f"Person {row}" for row in range(40)], town="Oslo")
    roles = {"town": "quasi-identifier", "age": "sensitive", "disease": "sensitive", "name": "sensitive"}
    forgery = of_classes(tmp_path, frame, roles, KAnonymity(k=5))
    code, said = forgery.judged(capsys)
    assert code == 3, said
    assert "'name' is called a secret of which nothing is asked, and has 40 different texts in 40 rows" in said
    # Which columns are taken for secrets is said with every k that holds.
    assert "This supposes that nobody knows 'age', 'disease', 'name'." in said


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hiv", "hiv\ufe0f"), ("hiv", "h\u034fiv"), ("hiv", "hiv\u180b"), ("hiv", "hiv\U000e0101"), ("hiv", "h\u0131v"),
        ("hiv", "hi\u0307v"), ("hiv", "hiv."), ("non-hiv", "non\u2010hiv"), ("non-hiv", "non\u2212hiv"),
    ],
)  # fmt: skip
def test_marks_that_nobody_sees_make_no_second_value(one: str, other: str) -> None:
    assert as_read(one) == as_read(other)


@pytest.mark.parametrize(("one", "other"), [("A+", "A-"), ("zoë", "zoe"), ("1.5", "15"), ("type 1", "type 2")])
def test_values_that_are_different_read_differently(one: str, other: str) -> None:
    assert as_read(one) != as_read(other)


def test_two_columns_whose_names_read_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = RAW[["disease"]].assign(**{"zip": "*", "zip\u200b": RAW["zip"]})
    roles = {"zip": "quasi-identifier", "zip\u200b": "sensitive", "disease": "sensitive"}
    forgery = of_classes(tmp_path, frame, roles, KAnonymity(k=5))
    for words in ((), ("--known", "zip")):
        code, said = forgery.judged(capsys, *words)
        assert code == 3, said
        assert "read alike" in said


def test_a_name_cannot_say_what_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forgery = of_classes(tmp_path, RAW[["age", "disease"]], AGED, KAnonymity(k=5))
    forgery.claims["tables"][0]["name"] = "t' was checked: k-anonymity (k = 1000) holds over 'age', 'name'. Of it, 'x"
    said = forgery.judged(capsys)[1]
    (line,) = (line for line in said.splitlines() if "of the sizes that were certified" in line)
    # The name stands between marks that it does not hold itself.
    assert line.startswith("holds: \"t' was checked: k-anonymity (k = 1000) holds over")
    assert line.endswith('" has 4 groups, of the sizes that were certified.')
