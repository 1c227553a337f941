"""Proof that the judge of the forger sees lies, and a short slice of what the forger does."""

from __future__ import annotations

import json
from contextlib import suppress

import pandas as pd
import pytest

from tests.fuzz.case import Case
from tests.fuzz.forged_people import EDITS
from tests.fuzz.forger import SIZE, WITHOUT_PLACE, forged, run
from tests.fuzz.honest import any_genuine
from tests.fuzz.plain_reader import false_statements, tables_of

ROLES = {"age": "quasi-identifier", "zip": "quasi-identifier", "illness": "sensitive"}


def claims(requirement, attribute=None, roles=ROLES, linked_by=None, **more):
    asked = next((value for name, value in requirement.items() if name in ("k", "l", "t")), 0)
    return json.dumps(
        {
            "attributes": [{"name": name, "role": role} for name, role in roles.items()],
            "linked_by": linked_by,
            "requirements": [
                {
                    "requirement": requirement,
                    "label": "x",
                    "attribute": attribute,
                    "asked": asked,
                    "rechecked": True,
                    **more,
                }
            ],
        }
    )


def frame(**columns):
    return pd.DataFrame(columns).astype(str)


COARSE = frame(age=["20-29"] * 4, zip=["1*"] * 4, illness=["flu", "flu", "cold", "gout"])
EXACT = frame(age=["21", "22", "23", "24"], zip=["1"] * 4, illness=["flu", "flu", "cold", "gout"])


@pytest.mark.parametrize(
    ("requirement", "attribute", "tables", "is_false"),
    [
        ({"name": "k-anonymity", "k": 4}, None, [COARSE], False),
        ({"name": "k-anonymity", "k": 5}, None, [COARSE], True),
        ({"name": "k-anonymity", "k": 2}, None, [EXACT], True),
        ({"name": "distinct-diversity", "l": 3}, "illness", [COARSE], False),
        ({"name": "distinct-diversity", "l": 2}, "illness", [EXACT], True),
        ({"name": "frequency-diversity", "l": 2.0}, "illness", [COARSE], False),
        ({"name": "frequency-diversity", "l": 2.1}, "illness", [COARSE], True),
        ({"name": "entropy-diversity", "l": 2.8}, "illness", [COARSE], False),
        ({"name": "entropy-diversity", "l": 2.9}, "illness", [COARSE], True),
        ({"name": "recursive-diversity", "c": 2.1, "l": 2}, "illness", [COARSE], False),
        ({"name": "recursive-diversity", "c": 0.9, "l": 2}, "illness", [COARSE], True),
        ({"name": "beta-likeness", "beta": 0.0}, "illness", [COARSE], False),
        ({"name": "beta-likeness", "beta": 2.9}, "illness", [EXACT], True),
        ({"name": "t-closeness", "t": 0.1, "ground": "equal"}, "illness", [COARSE], False),
        ({"name": "t-closeness", "t": 0.4, "ground": "equal"}, "illness", [EXACT], True),
        ({"name": "t-closeness", "t": 0.2, "ground": "ordered"}, "illness", [EXACT], True),
    ],
)
def test_the_judge_counts_for_itself(requirement, attribute, tables, is_false):
    assert bool(false_statements(claims(requirement, attribute), tables)) == is_false


def test_what_is_known_is_every_column_but_the_secrets():
    table = COARSE.assign(weight=["1", "2", "3", "4"])
    k = {"name": "k-anonymity", "k": 4}
    assert false_statements(claims(k), [table])
    assert false_statements(claims(k, roles=ROLES | {"weight": "insensitive"}), [table])
    assert not false_statements(claims(k, roles=ROLES | {"weight": "sensitive"}), [table])


def test_a_level_in_the_label_counts_as_said():
    assert false_statements(claims({"name": "k-anonymity", "k": 2}, label="k-anonymity (k = 5)"), [COARSE])


def test_one_table_is_judged_as_what_it_is_whatever_joins_it():
    group = ["0", "0", "1", "1"]
    l = claims({"name": "distinct-diversity", "l": 2}, "illness", linked_by="group")
    apart = [EXACT.drop(columns="illness").assign(group=group), frame(group=["0", "0", "1", "1"], illness=list("abab"))]
    assert not false_statements(l, apart)
    assert false_statements(l, [EXACT.assign(group=group)])
    assert false_statements(l, [EXACT.assign(group=group), frame(group=group, constant=["x"] * 4)])


def test_rows_of_several_tables_have_the_order_of_their_content():
    """Alice to Dora stand in groups of two; the second table has its secrets in their order, or sorted."""
    known = frame(group=["0", "0", "1", "1"], age=["21", "23", "22", "24"])
    named = frame(group=["0", "0", "1", "1"], illness=["flu", "cold", "cold", "flu"])
    l = claims({"name": "distinct-diversity", "l": 2}, "illness", linked_by="group")
    assert false_statements(l, [known, named]) == [
        "rows are not sorted by 'illness', so that row i of every table can be one person"
    ]
    assert false_statements(l, [known, named.sort_values(["group", "illness"])]) == []
    # The table of a release that is not joined is one group.
    k = claims({"name": "k-anonymity", "k": 1})
    assert false_statements(k, [frame(age=["20", "30", "20"]), frame(illness=["a", "a", "b"])])
    assert not false_statements(k, [frame(age=["20", "20", "30"]), frame(illness=["a", "a", "b"])])
    assert not false_statements(k, [frame(age=["20", "30", "20"])])


def test_tables_that_share_a_key_are_one_table():
    left = frame(age=["20", "20", "30", "30"], note=["1", "2", "3", "4"])
    right = frame(note=["1", "2", "3", "4"], illness=["flu", "flu", "cold", "cold"])
    l, roles = {"name": "distinct-diversity", "l": 2}, ROLES | {"note": "sensitive", "remark": "sensitive"}
    told = ["joined by a shared key, x of illness: a class has 1"]
    assert false_statements(claims(l, "illness", roles), [left, right]) == told
    assert false_statements(claims(l, "illness", roles), [left, right.rename(columns={"note": "remark"})]) == told
    # Other numbers join nothing.
    assert false_statements(claims(l, "illness", roles), [left, right.assign(note=["5", "6", "7", "8"])]) == []


def test_a_number_in_both_tables_joins_rows_inside_groups():
    left = frame(group=["0", "0", "1", "1"], age=["20", "30", "20", "30"], seat=["1", "2", "1", "2"])
    right = frame(group=["0", "0", "1", "1"], illness=["cold", "flu", "cold", "flu"], place=["2", "1", "1", "2"])
    l, roles = {"name": "distinct-diversity", "l": 2}, ROLES | {"seat": "sensitive", "place": "sensitive"}
    # The cold have 30 in the first group and 20 in the second one, so that an age alone leaves both illnesses.
    assert false_statements(claims(l, "illness", roles, "group"), [left, right]) == []
    right["place"] = ["1", "2", "1", "2"]
    told = ["joined inside groups, x of illness: a class has 1"]
    assert false_statements(claims(l, "illness", roles, "group"), [left, right]) == told
    right["place"] = ["3", "4", "3", "4"]
    assert false_statements(claims(l, "illness", roles, "group"), [left, right]) == []


def test_joins_are_counted_over_the_column_that_they_name():
    left = frame(age=["20"] * 2 + ["30"] * 2, illness=["cold", "flu"] * 2)
    right = frame(town=["A"] * 2 + ["B"] * 2, illness=["cold", "flu"] * 2)

    def joins(k, l):
        given = json.loads(claims({"name": "k-anonymity", "k": 2}))
        return json.dumps(given | {"joins": {"common": "illness", "k": k, "l": l, "delta": None}})

    # Whoever is 20 and lives in A is one of the two rows of each illness.
    assert false_statements(joins(2, 1), [left, right]) == []
    assert false_statements(joins(3, 1), [left, right]) == ["joined by a shared column, a class has 2 rows"]
    assert false_statements(joins(1, 1), [left, right]) == ["joins of at least 1 rows and 1 values promise nothing"]


@pytest.mark.parametrize("mark", ["\ufe0f", "\U000e0100", "\u034f", "\u180b", "\u17b4", "\u200b", " "])
def test_what_nobody_sees_makes_no_value_and_no_column_two(mark):
    table = frame(age=["20"] * 4, illness=["hiv", f"hiv{mark}"] * 2)
    assert false_statements(claims({"name": "distinct-diversity", "l": 2}, "illness"), [table])
    table = frame(age=["*"] * 4, illness=["a", "b"] * 2).assign(**{f"age{mark}": ["1", "2", "3", "4"]})
    told = false_statements(claims({"name": "k-anonymity", "k": 1}), [table])
    assert told == [f"the columns 'age' and {f'age{mark}'!a} read alike"]


def test_levels_of_a_hierarchy_that_join_nothing_bring_nothing_nearer():
    """Two classes of one illness each: each is half the mass away from the table, over the top of the hierarchy."""
    table = frame(age=["20", "20", "30", "30"], illness=["flu", "flu", "gout", "gout"])

    def told(t, *levels):
        fields = {"name": "t-closeness", "t": t, "ground": "hierarchical"}
        given = json.loads(claims(fields, "illness", {"age": "quasi-identifier"}))
        lines = [[value, *levels, "*"] for value in ("flu", "gout")]
        given["attributes"].append({"name": "illness", "role": "sensitive", "hierarchy": lines})
        return false_statements(json.dumps(given), [table])

    for levels in ((), ("all",), tuple(f"all {level}" for level in range(60))):
        assert told(0.5, *levels) == []
        assert told(0.4, *levels) == ["x of illness: a class has at least 0.5"]


def test_files_are_read_as_they_are():
    csv = COARSE.to_csv(index=False).encode()
    (read,) = tables_of({"people.csv": csv, "people-certificate.json": b"{}"})
    assert read.equals(COARSE)


@pytest.mark.slow
def test_no_forgery_is_believed_and_nothing_genuine_is_refused():
    found, _ = run(SIZE, SIZE // 5)
    assert not found, "\n".join(f"{one.case} {one.kind} {one.forgery.edits}: {one.said}" for one in found)


@pytest.mark.slow
def test_every_edit_is_made():
    """Each fits some genuine release: on every one, all are tried that none before has fitted."""
    missing = set(EDITS)
    for number in range(200):
        case = Case("edits", 0, number)
        folder = any_genuine(case)
        for name in sorted(missing):
            with suppress(*WITHOUT_PLACE):
                assert EDITS[name](case, folder).edits
                missing.remove(name)
        if not missing:
            break
    assert missing == set()


@pytest.mark.slow
def test_forgeries_are_of_all_kinds() -> None:
    """What is drawn is one edit or two, of all there are."""
    drawn = [forged(Case("kinds", 0, number))[0].split("+") for number in range(20)]
    assert {len(names) for names in drawn} == {1, 2}
    assert len({name for names in drawn for name in names}) > 15
