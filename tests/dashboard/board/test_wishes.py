"""What is asked of the board, and the steps between."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anoncore import InfeasibleError, Microdata, ParameterError
from anoncore.algorithms import ALGORITHMS, Mondrian, StackAndDeal, Suppression
from anoncore.requirements import DistinctDiversity, EntropyDiversity, KAnonymity, TCloseness
from anoncore.search.keeping import keeping
from dashboard.session.wishes import (
    MOST_STEPS,
    TOGETHER,
    Column,
    History,
    Wishes,
    first_wishes,
    from_plain,
    most_frequent,
    own_parameters,
    promised,
    to_plain,
    told_apart,
)

PEOPLE = pd.DataFrame({"age": [21, 22, 23], "town": ["A", "B", "B"], "illness": ["flu", "cold", "cold"]})
ROLES = {"age": "quasi-identifier", "illness": "sensitive"}


def test_the_board_begins_with_promises_and_methods_that_differ_in_kind():
    found = first_wishes(Microdata(PEOPLE.assign(illness=["flu", "cold", "gout"]), ROLES))
    assert dict(found.levels) == {"k": 10, "l": 3, "t": 0.3}
    assert [column.method for column in found.columns] == ["mondrian", "anatomy", "slicing", "stack-and-deal"]
    assert [column.color for column in found.columns] == [0, 1, 2, 3]
    without = first_wishes(Microdata(PEOPLE, {"age": "quasi-identifier"}))
    assert dict(without.levels) == {"k": 10}
    assert "anatomy" not in [one.method for one in without.columns]


@pytest.mark.parametrize("roles", [ROLES, {"age": "quasi-identifier"}], ids=["secret", "no secret"])
@pytest.mark.parametrize("illness", [["flu", "cold", "gout"], ["flu", "flu", "cold"]], ids=["l", "no l"])
def test_where_one_person_has_several_rows_no_first_column_can_only_count_rows(roles, illness):
    frame = pd.DataFrame({"who": ["Ann", "Bob", "Ann", "Cem"], "age": [21, 22, 21, 23], "illness": [*illness, "flu"]})
    found = first_wishes(Microdata(frame, {**roles, "who": "identifier"}, unit="who"))
    assert len({one.method for one in found.columns}) == len(found.columns) >= 4
    assert not [one.method for one in found.columns if ALGORITHMS[one.method].counts_rows]


def test_no_first_column_can_protect_a_single_secret_only_where_there_are_several():
    frame = pd.DataFrame({"age": range(12), "ill": [*"abcdef"] * 2, "income": range(12)})
    data = Microdata(frame, {"age": "quasi-identifier", "ill": "sensitive", "income": "sensitive"})
    found = [one.method for one in first_wishes(data).columns]
    assert found == ["mondrian", "slicing", "stack-and-deal", "local-recoding"]
    for method in found:
        # A level may be out of reach of so few people; the kind of table is not.
        with suppress(InfeasibleError):
            keeping(method, {}, {"k": 2, "t": 0.9}, (), data).validate_data(data)


@pytest.mark.parametrize(("rare", "l"), [(8, 3), (6, 2), (3, None)])
def test_the_board_begins_with_what_the_table_can_keep(rare, l):
    illness = ["flu"] * (12 - rare) + [f"rare {number}" for number in range(rare)]
    frame = pd.DataFrame({"age": range(12), "sex": ["f", "m"] * 6, "illness": illness})
    data = Microdata(frame, {**ROLES, "sex": "quasi-identifier"})
    assert most_frequent(data) == ("illness", (12 - rare) / 12)
    found = first_wishes(data)
    assert found.levels.get("l") == l
    assert ("anatomy" in [one.method for one in found.columns]) == (l is not None)
    for column in found.columns:
        if column.method != "slicing":
            keeping(column.method, column.fields, {**found.levels, "k": 2, "t": 0.9}, (), data).validate_data(data)


def test_columns_come_and_go_and_colours_are_used_again():
    wishes = Wishes().with_column("mondrian").with_column("anatomy", {"l": 4}).without_column("c1").with_column("mask")
    assert [(one.id, one.method, one.color) for one in wishes.columns] == [("c2", "anatomy", 1), ("c3", "mask", 0)]
    changed = wishes.with_fields("c2", "slicing", {"columns": 3})
    assert changed.column("c2") == Column("c2", "slicing", 1, {"columns": 3})
    assert wishes.column("c1") is None


def test_a_new_column_takes_the_first_colour_that_is_free():
    wishes = Wishes().with_column("mondrian").with_column("anatomy").with_column("slicing").without_column("c2")
    assert [one.color for one in wishes.columns] == [0, 2]
    assert wishes.with_column("sabre").columns[-1].color == 1


def test_a_level_that_is_off_is_not_asked_for():
    wishes = Wishes().with_level("t", 0.2).with_level("k", 5).with_level("t", None)
    assert dict(wishes.levels) == {"k": 5}


def test_a_column_tells_what_differs_from_the_usual():
    assert Column("c1", "mondrian", 0).own() == "generalization"
    assert Column("c1", "mondrian", 0, {"strict": True, "split": "median"}).own() == "strict yes"


def test_columns_of_one_method_are_told_apart_by_what_differs_and_else_by_a_number():
    wishes = Wishes()
    for method, fields in (
        ("stack-and-deal", {}),
        ("mondrian", {"strict": True}),
        ("stack-and-deal", {"refine": True}),
        ("stack-and-deal", {"refine": True}),
    ):
        wishes = wishes.with_column(method, fields)
    assert told_apart(wishes.columns) == {
        "c1": "Stack & Deal (refine no)",
        "c2": "Mondrian",
        "c3": "Stack & Deal (refine yes)",
        "c4": "Stack & Deal (refine yes) (2)",
    }


def test_the_secret_and_the_target_follow_the_table():
    data = Microdata(PEOPLE, ROLES)
    assert (Wishes().secret_of(data), Wishes().target_of(data)) == ("illness", "age")
    assert Wishes(secret="gone", target="age").secret_of(data) == "illness"
    assert Wishes(target="age").target_of(data) == "age"


@given(st.lists(st.sampled_from(["a", "b", "undo", "redo"]), max_size=40))
def test_undo_and_redo_walk_the_same_steps_as_a_list_would(moves):
    history, steps, at = History("start"), ["start"], 0
    for move in moves:
        if move == "undo":
            history.undo()
            at = max(at - 1, 0)
        elif move == "redo":
            history.redo()
            at = min(at + 1, len(steps) - 1)
        elif move != steps[at]:
            history.step(move)
            steps, at = [*steps[: at + 1], move], at + 1
        else:
            history.step(move)
        assert history.now == steps[at]
        assert bool(history.past) == (at > 0)
        assert bool(history.future) == (at < len(steps) - 1)


def test_quick_steps_of_one_control_are_one_step(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("dashboard.session.wishes.monotonic", lambda: now[0])
    history = History("a")
    for then in ("b", "c", "d"):
        history.step(then, "k")
        now[0] += 0.5
    assert (history.now, history.number, history.past) == ("d", 1, [(0, "a")])
    history.step("e", "l")
    now[0] += TOGETHER
    history.step("f", "l")
    assert [held for _, held in history.past] == ["a", "d", "e"]
    # A step that was taken back is not gone on with.
    history.undo()
    history.step("g", "l")
    assert [held for _, held in history.past] == ["a", "d", "e"]
    history.step("h")
    history.step("i")
    assert [held for _, held in history.past] == ["a", "d", "e", "g", "h"]


def test_a_step_is_found_by_its_number_and_no_number_is_given_twice():
    history = History("a")
    for then in ("b", "c", "d"):
        history.step(then)
    assert history.number == 3
    assert history.go(1)
    assert (history.now, history.number) == ("b", 1)
    assert history.go(3)
    assert history.now == "d"
    assert not history.go(3)
    history.go(0)
    history.step("e")
    assert (history.now, history.number) == ("e", 4)
    # What was undone before another step is gone, and so is its number.
    assert not history.go(2)
    assert history.now == "e"
    assert history.go(0)
    assert history.now == "a"


WISHES = replace(
    Wishes(r=4, secret="illness", target="age", hidden=("lost", "distance"), left_out=0.02)
    .with_level("k", 12)
    .with_level("t", 0.25)
    .with_column("slicing", {"columns": 3, "l": 2})
    .with_column("mondrian", {"strict": True})
    .without_column("c1")
    .with_column("vertical-fragmentation", {"attribute_fragments": (("age",), ("illness",))}),
    more=(EntropyDiversity(l=2.5, attribute="illness"),),
)


def test_wishes_come_back_from_plain_values_as_they_were():
    assert from_plain(json.loads(json.dumps(to_plain(WISHES)))) == WISHES


def test_an_algorithm_is_its_method_with_what_belongs_to_it_alone():
    whole = Suppression(method=Mondrian(requirements=(KAnonymity(k=7),), split="loss", refine=True))
    assert own_parameters(whole) == ("mondrian", {"split": "loss", "refine": True})
    assert own_parameters(StackAndDeal(k=9)) == ("stack-and-deal", {})


def test_what_a_method_promised_is_asked_whole():
    data = Microdata(PEOPLE, ROLES)
    diverse, ordered = DistinctDiversity(l=2), TCloseness(t=0.2, ground="ordered")
    wishes = promised((KAnonymity(k=7), TCloseness(t=0.3, ground="equal"), diverse), data)
    assert (dict(wishes.levels), wishes.more) == ({"k": 7, "t": 0.3}, (diverse,))
    # The t of a category means the equal distance, so that another one is asked for as it is.
    assert promised((ordered,), data).more == (ordered,)


def test_a_t_that_was_promised_of_each_secret_by_its_own_distance_is_one_level():
    frame = pd.DataFrame({"age": [20, 30, 40, 50], "pay": [1, 2, 3, 4], "illness": ["flu", "cold", "flu", "gout"]})
    data = Microdata(frame, {"age": "quasi-identifier", "pay": "sensitive", "illness": "sensitive"})
    asked = Wishes().with_level("t", 0.3).asked_of(data)
    assert [one.ground for one in asked if isinstance(one, TCloseness)] == ["ordered", "equal"]
    assert (dict(promised(asked, data).levels), promised(asked, data).more) == (
        dict(Wishes().with_level("t", 0.3).levels),
        (),
    )
    # One of both alone is no level of all secrets.
    assert promised(asked[-1:], data).more == asked[-1:]


@pytest.mark.parametrize(
    "change",
    [
        {"r": 1},
        {"r": True},
        {"levels": {"m": 3}},
        {"levels": {"k": "many"}},
        {"levels": {"t": float("nan")}},
        {"columns": [{"id": "x1", "color": 0, "method": {"name": "mondrian"}, "run": None}]},
        {"columns": [{"id": "c1", "color": 99, "method": {"name": "mondrian"}, "run": None}]},
        {"columns": [{"id": "c1", "color": 0, "method": {"name": "mondrian"}, "run": 3}]},
        {"columns": [{"id": "c1", "color": 0, "method": {"name": "nothing"}, "run": None}]},
        {"columns": [{"id": "c1", "color": 0, "method": {"name": "mondrian"}, "run": None}] * 2},
        {"columns": None},
        {"more": [{"name": "k-anonymity", "k": -1}]},
        {"left_out": 1},
        {"left_out": -0.01},
        {"left_out": float("nan")},
        {"left_out": "few"},
    ],
)
def test_values_that_were_never_written_are_refused(change):
    with pytest.raises((ValueError, TypeError, KeyError, ParameterError)):
        from_plain({**to_plain(WISHES, []), **change}, [])


def test_only_so_many_steps_are_kept():
    history = History(0)
    for step in range(1, 300):
        history.step(step)
    assert len(history.past) == MOST_STEPS
