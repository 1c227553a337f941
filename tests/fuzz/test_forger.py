"""Proof that the judge of the forger sees lies, and a short slice of what the forger does."""

from __future__ import annotations

import json
from contextlib import suppress

import pandas as pd
import pytest

from tests.fuzz.case import Case
from tests.fuzz.forger import SIZE, WITHOUT_PLACE, forged, run
from tests.fuzz.forgery import EDITS
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
