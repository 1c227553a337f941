"""The page Board without a browser: what is asked, what is made for it, and steps back."""

from __future__ import annotations

import json
import re
import threading
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from anoncore import Microdata, Policy
from anoncore.algorithms import Suppression
from anoncore.front.policy import PRESETS
from anoncore.measures.criteria import CRITERIA, evaluate
from anoncore.requirements import KAnonymity
from dashboard.board import facts, grid, shipped, unreleased, wording
from dashboard.board.finding import TRIED
from dashboard.session import browser, loaded_table, session_file, state
from dashboard.views import board, board_promises, board_trials, takeaway
from tests.dashboard.conftest import APP, answer_at_once
from tests.dashboard.results import figure

WAIT = 120


@pytest.fixture
def visitor(visit, drawn):
    """A visitor who just arrived."""
    return visit()


@pytest.fixture
def drawn(monkeypatch):
    """The tables that the page put up, newest last."""
    found = []
    monkeypatch.setattr(grid, "draw", lambda model, on_event: found.append(model))
    return found


def people(n=300):
    draw = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "name": [f"Person {place}" for place in range(n)],
            "age": draw.integers(18, 90, n),
            "sex": draw.choice(["female", "male"], n),
            "postcode": draw.choice(["10115", "20095", "50667"], n),
            "diagnosis": draw.choice(["flu", "asthma", "ulcer", "gout"], n),
        }
    )


def workspace(visitor):
    return state._workspaces.get(visitor.workspace)


def finish(visitor, drawn):
    """Draw the board until everything on it is there."""
    end = time.monotonic() + WAIT
    while workspace(visitor).jobs["board"].is_busy and time.monotonic() < end:
        time.sleep(0.05)
    visitor.run()
    return drawn[-1]


def named(one):
    """The name of a field: its key without the number at the end, which is another one after every change."""
    return re.sub(r"-\d+$", "", str(one.key))


def level(visitor, axis):
    return next(one for one in visitor.at.select_slider if named(one) == f"board-{axis}")


def slide(visitor, axis, value):
    level(visitor, axis).set_value(value)
    return visitor.run()


def typed(visitor, axis, value):
    next(one for one in visitor.at.number_input if named(one) == f"board-{axis}-typed").set_value(value)
    return visitor.run()


def tagged(visitor, frame=None):
    visitor.upload("people.csv", (people() if frame is None else frame).to_csv(index=False).encode())
    visitor.open("board")
    assert "What do others know, and what must they not learn?" in visitor.texts()
    chosen = {one.label: list(one.value) for one in visitor.at.multiselect}
    assert chosen == {
        "Known to others": ["age", "sex", "postcode"],
        "Secret": ["diagnosis"],
        "Names the person": ["name"],
        "Published as it is": [],
    }
    return visitor.press("Compare four methods")


def test_a_first_visit_shows_what_ships_and_computes_nothing(visitor, drawn):
    visitor.run()
    assert [column["title"] for column in drawn[-1]["columns"]] == ["Mondrian", "Anatomy", "Slicing", "Stack & Deal"]
    assert all(cell["state"] == "exact" for row in drawn[-1]["rows"] for cell in row["cells"])
    assert "ship with the program" in visitor.texts()
    assert "board" not in workspace(visitor).jobs
    assert workspace(visitor).runs == ()


def test_an_uploaded_table_is_tagged_and_four_methods_are_compared(visitor, drawn):
    tagged(visitor)
    found = finish(visitor, drawn)
    states = [row["cells"][0]["state"] for row in found["rows"]]
    assert states == ["exact"] * len(wording.ROWS)
    told = {mark["symbol"]: mark["state"] for mark in found["rows"][0]["cells"][0]["promises"]}
    assert told == {"k": "kept", "l": "kept", "t": "kept"}
    assert [run.column for run in workspace(visitor).runs] == ["c1", "c2", "c3", "c4"]


def test_what_ends_while_the_page_is_being_drawn_is_put_up_all_the_same(visitor, monkeypatch):
    """A visitor who does nothing would else wait for ever for numbers that are there."""
    may_end, models = threading.Event(), []

    def predictable(release, target, progress):
        may_end.wait(WAIT)
        return {"value": 0.5, "original": 0.6, "guess": 0.3}

    def draw(model, on_event):
        models.append(model)
        bench = workspace(visitor).jobs.get("board")
        if bench is None or may_end.is_set():
            return
        may_end.set()
        end = time.monotonic() + WAIT
        while bench.is_busy and time.monotonic() < end:
            time.sleep(0.05)

    for name in ("predictable", "about_predictable"):
        monkeypatch.setattr(facts, name, predictable)
    monkeypatch.setattr(grid, "draw", draw)
    tagged(visitor)
    assert may_end.is_set()
    assert all(cell["state"] == "exact" for row in models[-1]["rows"] for cell in row["cells"])


@pytest.mark.slow
def test_a_promise_is_said_once_for_every_column_and_can_be_taken_back(visitor, drawn):
    tagged(visitor)
    finish(visitor, drawn)
    before = {run.column: run for run in workspace(visitor).runs}
    slide(visitor, "k", 20)
    finish(visitor, drawn)
    after = {run.column: run for run in workspace(visitor).runs}
    assert after["c1"].release.partition.sizes.min() >= 20
    assert after["c4"].algorithm.k == 20
    assert all(before[column] is not after[column] for column in ("c1", "c4"))
    visitor.press("Undo")
    found = finish(visitor, drawn)
    # What was made before is shown again, not made anew.
    assert {run.column: run for run in workspace(visitor).runs} == before
    assert found["rows"][0]["cells"][0]["promises"][0]["words"].startswith("is 1")
    visitor.press("Redo")
    finish(visitor, drawn)
    assert workspace(visitor).runs[0] is after["c1"]


def go_back(visitor, step):
    """What the browser does when its visitor goes back or forward: it asks for the page of another address."""
    usual, browser.is_history_navigation = browser.is_history_navigation, lambda: True
    try:
        visitor.at.query_params["step"] = step
        return visitor.run()
    finally:
        browser.is_history_navigation = usual


def step(visitor):
    return visitor.at.query_params["step"]


@pytest.mark.slow
def test_going_back_in_the_browser_undoes_and_forward_makes_again(visitor, drawn, monkeypatch):
    monkeypatch.setattr("dashboard.session.wishes.TOGETHER", 0.0)
    tagged(visitor)
    first = step(visitor)
    slide(visitor, "k", 20)
    second = step(visitor)
    slide(visitor, "k", 30)
    third = step(visitor)
    assert len({first, second, third}) == 3
    go_back(visitor, second)
    assert dict(asked(visitor).levels)["k"] == 20
    go_back(visitor, first)
    assert dict(asked(visitor).levels)["k"] == 10
    go_back(visitor, third)
    assert dict(asked(visitor).levels)["k"] == 30
    # The button and the browser walk the same steps.
    visitor.press("Undo")
    assert step(visitor) == second
    # After another change the third step is gone; its address shows what is there now.
    slide(visitor, "k", 50)
    go_back(visitor, third)
    assert dict(asked(visitor).levels)["k"] == 50
    assert step(visitor) not in (first, second, third)
    # Clicks may come before the browser has the address of the change before: nothing is undone by that.
    visitor.at.query_params["step"] = first
    visitor.run()
    assert dict(asked(visitor).levels)["k"] == 50
    # A page that is opened by an address of before shows what is there now, and undoes nothing.
    other = AppTest.from_file(APP, default_timeout=WAIT)
    other.query_params["workspace"], other.query_params["step"] = visitor.workspace, first
    other.run()
    assert dict(asked(visitor).levels)["k"] == 50
    assert other.query_params["step"] == step(visitor)


def test_going_back_never_puts_tags_of_another_table_on_this_one(visitor, drawn):
    tagged(visitor)
    first = step(visitor)
    slide(visitor, "k", 20)
    visitor.open("table")
    run_in_session(visitor, lambda: state.load_builtin("t-closeness-table-2.8"))
    tags = workspace(visitor).tags
    go_back(visitor, first)
    assert workspace(visitor).tags is tags
    visitor.open("board")
    go_back(visitor, first)
    assert workspace(visitor).tags is tags


def asked(visitor):
    return workspace(visitor).history.now.wishes


@pytest.mark.slow
def test_a_saved_session_brings_the_board_back_with_the_releases_that_stood_on_it(visitor, drawn, visit):
    tagged(visitor)
    slide(visitor, "k", 20)
    finish(visitor, drawn)
    wanted = replace(asked(visitor).with_column("mondrian", {"split": "loss"}), hidden=("lost",), r=3)
    run_in_session(visitor, lambda: state.wish(wanted))
    finish(visitor, drawn)
    here = workspace(visitor)
    content = session_file.save(here)

    other = visit()
    there = workspace(other)
    run_in_session(other, lambda: state.open_session(content))
    found = finish(other, drawn)
    asked_there = asked(other)
    assert replace(asked_there, columns=()) == replace(wanted, columns=())
    assert [one.method for one in asked_there.columns] == [one.method for one in wanted.columns]
    assert [column["title"] for column in found["columns"]][:4] == ["Mondrian", "Anatomy", "Slicing", "Stack & Deal"]
    assert found["columns"][4]["own"] == "split loss"
    assert [run.column for run in there.runs] == ["c1", "c2", "c3", "c4", "c5"]
    # Nothing was made anew: every release is the one that was saved, to the row.
    for mine, yours in zip(here.runs, there.runs, strict=True):
        assert (mine.label, mine.created) == (yours.label, yours.created)
        for one, two in zip(mine.release.fragments, yours.release.fragments, strict=True):
            assert np.array_equal(one.partition.group, two.partition.group)


def test_a_secret_that_nearly_all_share_begins_without_l_and_says_why(visitor, drawn):
    frame = people().assign(diagnosis=["flu"] * 250 + ["asthma"] * 50)
    tagged(visitor, frame)
    found = finish(visitor, drawn)
    assert "l" not in asked(visitor).levels
    assert [cell["state"] for cell in found["rows"][0]["cells"]] == ["exact"] * 4
    assert "One value of 'diagnosis' is that of 83.3% of all people" in visitor.texts()
    assert "no l above 1.2 can be promised" in visitor.texts()


def test_the_choice_of_a_table_closes_when_one_was_chosen(visitor, drawn):
    visitor.at.session_state["board-table"] = True
    visitor.run()
    assert visitor.at.session_state["board-table"] is True
    run_in_session(visitor, lambda: state.load_frame(people(), "people.csv", "other", ()))
    visitor.run()
    assert visitor.at.session_state["board-table"] is False


WINDOWS = ("board-table", "board-more", "board-adversary")
FIELDS = ("button_group", "file_uploader", "multiselect", "number_input", "select_slider", "selectbox", "slider")


def set_open(visitor, window, is_open=True):
    """What the browser says of a small window that is opened or closed."""
    visitor.at.session_state[window] = is_open
    return visitor.run()


LEVELS = {
    "board-k": 10,
    "board-l": 3,
    "board-c": "off",
    "board-t": 0.3,
    "board-k-typed": 10,
    "board-l-typed": 3.0,
    "board-c-typed": None,
    "board-t-typed": 0.3,
}


def fields(visitor, within="board-"):
    """What the fields on the page hold, by their names; those that hold no value are files."""
    held = [one for kind in FIELDS for one in getattr(visitor.at, kind)]
    return {named(one): getattr(one, "value", None) for one in held if named(one).startswith(within)}


def test_the_field_of_a_level_that_comes_back_is_another_one_and_of_the_ones_before_nothing_is_taken(visitor, drawn):
    """A field that comes back under its old key is told no value while the browser still speaks of the old one: it is
    shown empty, and what is shown is sent back as if somebody had emptied it.
    """
    tagged(visitor)
    seen = []
    for k in (25, 30, 25, 30, 25):
        slide(visitor, "k", k)
        field = next(one for one in visitor.at.number_input if named(one) == "board-k-typed")
        assert (field.value, field.proto.set_value) == (k, True)
        seen.append(field)
    assert len({field.key for field in seen}) == len({field.proto.id for field in seen}) == 5
    # A late word about the field of the first 25, which has left the page.
    said = visitor.at._tree.get_widget_states()
    said.widgets.append(seen[0].set_value(None)._widget_state)
    visitor.at._run(said)
    assert asked(visitor).levels["k"] == 25


def test_what_a_browser_sends_that_has_not_heard_of_a_change_takes_nothing_back(visitor, drawn):
    """A part of the page that looks for news asks with all that the browser shows. Right after a level was typed that
    is the slider where it was; taken for a movement of the slider, it brought the level of before back.
    """
    tagged(visitor)
    set_open(visitor, "board-adversary")
    next(one for one in visitor.at.number_input if named(one) == "board-k-typed").set_value(4)
    sent = visitor.at._tree.get_widget_states()
    visitor.at._run(sent)
    run_in_session(visitor, lambda: state.wish(replace(state.current_wishes(), r=5, target="sex")))
    assert (asked(visitor).levels["k"], asked(visitor).r, asked(visitor).target) == (4, 5, "sex")
    visitor.at._run(sent)
    assert (asked(visitor).levels["k"], asked(visitor).r, asked(visitor).target) == (4, 5, "sex")
    held = fields(visitor)
    assert (held["board-k"], held["board-k-typed"], held["board-r"], held["board-target"]) == (4, 4, 5, "sex")
    slide(visitor, "k", 12)
    assert asked(visitor).levels["k"] == 12


def test_a_c_that_is_asked_for_or_not_leaves_l_as_it_was(visitor, drawn):
    """With a c, l is said in other words. A browser that has not heard of these still speaks in those of before, in
    which no step of the slider is said any more.
    """
    tagged(visitor)
    for c, l in ((2.0, 3), (None, 4.0)):
        if asked(visitor).levels["l"] != l:
            typed(visitor, "l", l)
        next(one for one in visitor.at.number_input if named(one) == "board-c-typed").set_value(c)
        sent = visitor.at._tree.get_widget_states()
        for _ in range(2):
            visitor.at._run(sent)
        visitor.run()
        assert (asked(visitor).levels.get("c"), asked(visitor).levels.get("l")) == (c, l)
        held = fields(visitor)
        assert (held["board-l"], held["board-l-typed"], held["board-c-typed"]) == (l, l, c)


@pytest.mark.slow
def test_a_field_of_a_small_window_is_drawn_only_while_it_is_open_and_then_told_its_value(visitor, drawn):
    """A browser has the fields of a window only while it is open: told before, it would never know."""
    tagged(visitor)
    run_in_session(visitor, lambda: state.wish(replace(state.current_wishes(), target="sex", hidden=("lost",))))
    rows = [name for name in wording.ROWS if name != "lost"]
    seen = {
        "board-table": {"board-builtin-": None, "board-upload": None},
        "board-more": {"board-policy": None, "board-purpose": None, "board-left-out": 0.0, "board-requirements.": None},
        "board-adversary": {
            "board-r": 2,
            "board-secret": "diagnosis",
            "board-target": "sex",
            "board-hidden": rows,
            "board-numbers": [],
        },
    }
    always = {**LEVELS, "board-over": "now", "board-map-up": "distance", "board-map-right": "lost"}
    assert fields(visitor) == always
    for first in WINDOWS:
        for second in WINDOWS:
            for window in (first, second):
                set_open(visitor, window)
                held = {key: value for key, value in fields(visitor).items() if key not in always}
                assert len(held) == len(seen[window])
                for begin, value in seen[window].items():
                    assert [held[key] for key in held if key.startswith(begin)] == [value], (first, second, begin)
                assert all(one.proto.set_value for one in visitor.at.selectbox if named(one) == "board-target")
                set_open(visitor, window, False)
                assert fields(visitor) == always
    assert (asked(visitor).target, asked(visitor).hidden, asked(visitor).r) == ("sex", ("lost",), 2)


def test_the_adversary_of_another_table_is_shown_as_it_is_asked_for_there(visitor, drawn):
    tagged(visitor)
    set_open(visitor, "board-adversary")
    next(one for one in visitor.at.slider if named(one) == "board-r").set_value(4)
    visitor.run()
    set_open(visitor, "board-adversary", False)
    # Its tags are asked for first, so that meanwhile no window is there.
    run_in_session(visitor, lambda: state.load_frame(people().drop(columns="name"), "others.csv", "other", ()))
    assert "What do others know, and what must they not learn?" in visitor.texts()
    visitor.press("Compare four methods")
    set_open(visitor, "board-adversary")
    held = fields(visitor)
    assert (held["board-r"], held["board-secret"], held["board-target"]) == (2, "diagnosis", "postcode")
    assert held["board-hidden"] == list(wording.ROWS)
    next(one for one in visitor.at.slider if named(one) == "board-r").set_value(3)
    visitor.run()
    assert asked(visitor) == replace(asked(visitor), r=3, secret=None, target=None, hidden=())


def test_the_secret_is_not_predicted_unless_it_is_chosen(visitor, drawn):
    draw = np.random.default_rng(4)
    frame = people().drop(columns=["name", "sex", "postcode"]).assign(income=draw.permutation(300))
    run_in_session(visitor, lambda: state.load_frame(frame, "numbers.csv", "numbers", ()))
    tags = workspace(visitor).tags
    roles = {"age": "quasi-identifier", "income": "quasi-identifier", "diagnosis": "sensitive"}
    run_in_session(visitor, lambda: state.set_tags(replace(tags, roles=roles)))

    def cells_of():
        return next(row for row in drawn[-1]["rows"] if row["id"] == "predictable")["cells"]

    assert all(cell["why"].startswith("Nothing can be predicted") for cell in cells_of())
    set_open(visitor, "board-adversary")
    assert fields(visitor)["board-target"] is None
    next(one for one in visitor.at.selectbox if named(one) == "board-target").set_value("diagnosis")
    visitor.run()
    assert asked(visitor).target == "diagnosis"
    assert not any(cell.get("why", "").startswith("Nothing") for cell in cells_of())


def test_a_window_stays_open_when_what_is_chosen_in_it_changes_its_label(visitor, drawn):
    tagged(visitor)
    set_open(visitor, "board-more")
    slide(visitor, "left-out", 5.0)
    assert visitor.at.session_state["board-more"] is True
    assert fields(visitor)["board-left-out"] == 5.0


@pytest.mark.slow
def test_pages_hold_a_column_against_all_that_the_board_asks(visitor, drawn):
    tagged(visitor)
    found = finish(visitor, drawn)
    states = [[one["state"] for one in cell["promises"]] for cell in found["rows"][0]["cells"]]
    assert "missed" in states[1]
    missed = workspace(visitor).runs[1]
    assert missed.algorithm.name == "anatomy"
    run_in_session(visitor, lambda: state.select_run(missed.id))
    visitor.open("privacy")
    assert any("This does not hold" in one for one in visitor.errors), "Anatomy promises no k, but k was asked of all"


@pytest.mark.slow
def test_what_the_board_saw_given_away_is_told_where_the_release_is_published(visitor, drawn, monkeypatch):
    """Above the board it stood in the way, and in the window that publishes everything was said to be well."""
    # The numbers stand beside each other: 50.0% less 2.0% is not 48.1%.
    given = {"learned": True, "value": 0.50049, "guess": 0.1, "control": 0.01951, "excess": 0.48098}
    answer_at_once(monkeypatch, given_away=given)
    tagged(visitor)
    finish(visitor, drawn)
    assert "50.0% of the people are given away by foreground knowledge; chance alone gives 2.0%." in visitor.texts()
    visitor.at.session_state["_board_dialog"] = ("publish", "c1")
    visitor.run()
    boxes = " ".join(one.value for kind in ("error", "success", "info") for one in getattr(visitor.at, kind))
    boxes = boxes.replace("\\", "")
    assert "What the release itself teaches gives away 48.0% more of the people than the same attack" in boxes
    assert "Nothing else fails badly" not in boxes


@pytest.mark.slow
def test_every_method_that_coarsens_may_leave_people_out_when_asked_once(visitor, drawn):
    tagged(visitor)
    finish(visitor, drawn)
    before = {run.column: run for run in workspace(visitor).runs}
    set_open(visitor, "board-more")
    slide(visitor, "left-out", 5.0)
    found = finish(visitor, drawn)
    after = {run.column: run for run in workspace(visitor).runs}
    assert after["c1"].algorithm == Suppression(method=before["c1"].algorithm, max_suppression=0.05)
    assert after["c1"].label == f"{before['c1'].label}, at most 5% left out"
    assert [after[column] is before[column] for column in ("c2", "c3", "c4")] == [True, True, False]
    told = ["left out" in column["own"] for column in found["columns"]]
    assert told == [True, False, False, True]
    visitor.press("Undo")
    finish(visitor, drawn)
    assert {run.column: run for run in workspace(visitor).runs} == before


@pytest.mark.slow
def test_tags_are_steps_as_well(visitor, drawn, monkeypatch):
    tagged(visitor)
    finish(visitor, drawn)
    before = workspace(visitor).tags
    run_in_session(visitor, lambda: state.set_tags(before.changed("roles", "postcode", "insensitive")))
    finish(visitor, drawn)
    assert workspace(visitor).runs[0].data.quasi_identifiers == ("age", "sex")
    visitor.press("Undo")
    finish(visitor, drawn)
    assert workspace(visitor).tags is before
    assert workspace(visitor).runs[0].data.quasi_identifiers == ("age", "sex", "postcode")


def test_the_first_comparison_is_taken_back_to_the_question_and_what_was_chosen_there(visitor, drawn):
    visitor.upload("people.csv", people().to_csv(index=False).encode())
    here = workspace(visitor)
    untagged = here.tags
    visitor.open("board")
    question = "What do others know, and what must they not learn?"
    next(one for one in visitor.at.multiselect if one.label == "Known to others").set_value(["age", "sex"])
    visitor.run()
    visitor.press("Compare four methods")
    compared = here.tags
    assert question not in visitor.texts()
    slide(visitor, "k", 20)
    for k in (10, None):
        assert visitor.has_button("Undo")
        visitor.press("Undo")
        assert (here.wishes and here.wishes.levels["k"]) == k
    assert question in visitor.texts()
    assert here.tags is untagged
    chosen = {one.label: list(one.value) for one in visitor.at.multiselect}
    assert (chosen["Known to others"], chosen["Secret"]) == (["age", "sex"], ["diagnosis"])
    assert not visitor.has_button("Undo")
    for k in (10, 20):
        visitor.press("Redo")
        assert (here.tags, asked(visitor).levels["k"]) == (compared, k)


def test_tags_that_were_changed_before_the_first_comparison_are_taken_back_one_by_one(visitor, drawn):
    visitor.upload("people.csv", people().to_csv(index=False).encode())
    here, seen = workspace(visitor), []
    for name, role in (("age", "quasi-identifier"), ("diagnosis", "sensitive")):
        seen.append(here.tags)
        run_in_session(visitor, lambda name=name, role=role: state.set_tags(here.tags.changed("roles", name, role)))
    visitor.open("board")
    assert set(asked(visitor).levels) == {"k", "l", "t"}
    for tags in reversed(seen):
        visitor.press("Undo")
        assert here.tags is tags
    assert not visitor.has_button("Undo")


def test_nothing_that_was_asked_of_another_table_can_be_taken_back(visitor, drawn):
    visitor.open("board")
    slide(visitor, "k", 12)
    assert visitor.has_button("Undo")
    run_in_session(visitor, lambda: state.load_frame(people(), "people.csv", "people", ()))
    tags = workspace(visitor).tags
    assert not visitor.has_button("Undo")
    # A click that was on its way when the other table came.
    run_in_session(visitor, state.undo)
    assert workspace(visitor).tags is tags
    assert visitor.errors == []
    visitor.press("Compare four methods")
    visitor.press("Undo")
    assert (workspace(visitor).tags, visitor.has_button("Undo")) == (tags, False)
    visitor.open("table")


def test_the_same_table_once_more_is_a_step(visitor, drawn):
    tagged(visitor)
    slide(visitor, "k", 20)
    before = workspace(visitor).tags
    visitor.upload("people.csv", people().to_csv(index=False).encode())
    assert workspace(visitor).tags.roles == {}
    visitor.open("board").press("Undo")
    assert workspace(visitor).tags is before
    assert asked(visitor).levels["k"] == 20


@pytest.mark.slow
def test_the_dialog_of_a_column_shows_what_the_column_has_also_after_a_step_back(visitor, drawn, monkeypatch):
    tagged(visitor)
    finish(visitor, drawn)
    clicks = []
    monkeypatch.setattr(grid, "event", lambda: {"type": "edit", "column": "c1"})
    monkeypatch.setattr(grid, "draw", lambda model, on_event: clicks.pop()(on_event) if clicks else None)

    def split():
        clicks.append(lambda on_event: on_event())
        visitor.run()
        return next(one for one in visitor.at.selectbox if str(one.key).endswith("mondrian.split"))

    assert split().value == "median"
    split().set_value("loss")
    visitor.press("Use for this release")
    assert asked(visitor).columns[0].fields["split"] == "loss"
    visitor.press("Undo")
    assert split().value == "median"


@pytest.mark.slow
def test_what_the_table_gives_away_as_it_is_stands_above_the_releases(visitor, drawn):
    frame = people()
    tagged(visitor, frame)
    finish(visitor, drawn)
    sizes = frame.groupby(["age", "sex", "postcode"])["diagnosis"].agg(["size", "nunique"])
    alone, sure = (sizes["size"] == 1).sum(), sizes["size"][sizes["nunique"] == 1].sum()
    assert f"this table lets {alone:,} of {len(frame):,} people" in visitor.texts()
    assert f"certain of the 'diagnosis' of {sure:,} people (" in visitor.texts()


def test_what_ships_says_of_the_first_table_what_it_gives_away():
    table = loaded_table.builtin_table(state.FIRST_TABLE)
    said = shipped.as_it_is(table, table.suggested)
    assert said == unreleased.sentences(state._microdata.get(table, table.suggested))
    assert shipped.as_it_is(table, table.suggested.changed("roles", "age", "sensitive")) is None


@pytest.mark.slow
def test_what_is_not_promised_is_said_in_words(visitor, drawn):
    tagged(visitor)
    found = finish(visitor, drawn)
    anatomy = {mark["symbol"]: mark for mark in found["rows"][0]["cells"][1]["promises"]}
    assert anatomy["l"]["state"] == "kept"
    assert anatomy["t"]["state"] in ("missed", "met")
    assert anatomy["t"]["sentence"].startswith("Anatomy does not promise this.")
    assert found["columns"][1]["tone"] != "good"


def test_a_level_that_no_release_can_keep_is_told_in_its_column_only(visitor, drawn):
    tagged(visitor)
    # The slider ends where the table does; what is typed may lie above.
    assert max(one for one in level(visitor, "l").options if one != board_promises.OFF) == "at most 1 in 3"
    typed(visitor, "l", 20)
    found = finish(visitor, drawn)
    why = found["rows"][0]["cells"][1]["why"]
    assert "l = 20 is not possible" in why
    assert found["columns"][1]["badge"] == "No release"
    assert visitor.errors == []


@pytest.mark.slow
def test_without_any_promise_methods_that_need_one_ask_for_it(visitor, drawn):
    tagged(visitor)
    for axis in ("k", "l", "t"):
        slide(visitor, axis, board_promises.OFF)
    found = finish(visitor, drawn)
    assert found["rows"][0]["cells"][0]["why"] == "Mondrian needs something to keep; ask for k, l or t."
    # Nothing was asked, but what fails badly is said all the same.
    assert found["columns"][1]["badge"].startswith(
        "Nothing was asked; not asked for, and not protected: somebody is found with 100%"
    )
    assert found["columns"][1]["tone"] == "warn"


@pytest.mark.slow
def test_columns_are_removed_and_closer_pages_open_with_the_column_chosen(visitor, drawn, monkeypatch):
    tagged(visitor)
    finish(visitor, drawn)
    monkeypatch.setattr(grid, "event", lambda: {"type": "remove", "column": "c2"})
    run_in_session(visitor, board._clicked)
    found = finish(visitor, drawn)
    assert [column["id"] for column in found["columns"]] == ["c1", "c3", "c4"]
    assert [run.column for run in workspace(visitor).runs] == ["c1", "c3", "c4"]


@pytest.mark.slow
def test_what_another_attack_gives_away_is_the_first_number_of_its_page(visitor, drawn, monkeypatch):
    best = {"title": "deFinetti's attack", "value": 0.4, "control": 0.2, "is_foreground": False, "tried": 3}
    answer_at_once(monkeypatch, by_the_strongest=best)
    tagged(visitor)
    found = finish(visitor, drawn)
    cell = next(row for row in found["rows"] if row["id"] == "given")["cells"][0]
    assert cell["text"] == "40.0%"
    visitor.open("attack").until(lambda: visitor.at.metric)
    assert visitor.at.metric[0].label == "Breached"
    # What a click on the cell keeps.
    here = workspace(visitor)
    here.given_clicked = (asked(visitor), "c1", here.given["c1"])
    visitor.run()
    assert (visitor.at.metric[0].label, visitor.at.metric[0].value) == ("Given away", cell["text"])
    assert any("By chance 20.0%; by deFinetti's attack" in one.value.replace("\\", "") for one in visitor.at.caption)


def run_in_session(visitor, callback):
    """Call what a click calls, where Streamlit's test object knows no such element."""
    here, usual = workspace(visitor), state.workspace
    state.workspace = lambda: here
    try:
        callback()
    finally:
        state.workspace = usual
    visitor.run()


def test_what_ships_is_recognized_by_everything_that_was_asked():
    table = loaded_table.builtin_table(state.FIRST_TABLE)
    wishes = board_wishes(table)
    assert shipped.columns(table, table.suggested, wishes) is not None
    assert shipped.columns(table, table.suggested, wishes.with_level("k", 5)) is None
    assert shipped.columns(table, table.suggested.changed("roles", "age", "sensitive"), wishes) is None


@pytest.mark.slow
def test_a_dialog_is_left_with_the_board(visitor, drawn):
    visitor.make("mondrian", k=10)
    visitor.press("Publish …")

    def is_open():
        return any(one.key.startswith("board-publish-run") for one in visitor.at.radio)

    visitor.until(is_open)
    visitor.run()
    assert is_open()
    visitor.open("publish")
    visitor.open("board")
    assert not is_open()


def test_the_release_of_a_column_is_that_which_ships_whatever_else_is_on_the_board():
    table = loaded_table.builtin_table(state.FIRST_TABLE)
    wishes = board_wishes(table)
    all_of_them = {"c1", "c2", "c3", "c4"}
    assert set(shipped.unchanged(table, table.suggested, wishes)) == all_of_them
    assert {"given", "strongest"} <= set(shipped.unchanged(table, table.suggested, wishes)["c2"])
    assert set(shipped.unchanged(table, table.suggested, wishes.with_column("anatomy"))) == all_of_them
    assert set(shipped.unchanged(table, table.suggested, wishes.without_column("c1"))) == {"c2", "c3", "c4"}
    changed = wishes.with_fields("c2", "anatomy", {"refine": True})
    assert set(shipped.unchanged(table, table.suggested, changed)) == {"c1", "c3", "c4"}
    # Numbers of another adversary are others of the same release.
    assert shipped.unchanged(table, table.suggested, replace(wishes, r=3)) == {column: {} for column in all_of_them}
    for other in (wishes.with_level("k", 5), wishes.with_left_out(0.05), replace(wishes, more=(KAnonymity(k=3),))):
        assert shipped.unchanged(table, table.suggested, other) == {}
    assert shipped.unchanged(table, table.suggested.changed("roles", "age", "sensitive"), wishes) == {}


@pytest.mark.slow
def test_what_is_made_here_of_what_ships_says_the_same_and_is_published_only_drawn_anew(visitor, drawn):
    visitor.open("board")
    here = workspace(visitor)
    assert not here.is_live
    before = said(drawn[-1])
    here.is_live = True
    visitor.run()
    assert said(finish(visitor, drawn)) == before
    mondrian, anatomy, slicing, dealt = here.runs
    assert [run.algorithm.has_guessable_seed for run in here.runs] == [False, True, False, True]
    assert "There is no certificate" in run_in(visitor, lambda: takeaway.uncertified(anatomy))
    visitor.at.session_state["_board_dialog"] = ("publish", "c2")
    visitor.run()
    assert "This release ships with the program" in visitor.warnings[0]
    assert "There is no certificate" not in " ".join(visitor.warnings), "one reason is said once"
    visitor.press("Draw it anew")
    finish(visitor, drawn)
    assert here.runs[0] is mondrian
    assert here.runs[2:] == (slicing, dealt)
    anew = here.runs[1]
    assert not anew.algorithm.has_guessable_seed
    assert (anew.release.partition.group != anatomy.release.partition.group).any()
    assert run_in(visitor, lambda: takeaway.uncertified(anew)) == ""
    assert "ships with the program" not in " ".join(visitor.warnings)
    here.jobs["board"].cancel()


def said(model):
    """The texts of the numbers of all columns."""
    rows = {row["id"]: row["cells"] for row in model["rows"]}
    return {
        row: [(cell["text"], cell.get("beside")) for cell in cells] for row, cells in rows.items() if row != "promise"
    }


def run_in(visitor, callback):
    """What a function of the page gives for the workspace of a visitor."""
    found = []
    run_in_session(visitor, lambda: found.append(callback()))
    return found[0]


def board_wishes(table):
    from dashboard.session.wishes import first_wishes

    return first_wishes(state._microdata.get(table, table.suggested))


@pytest.mark.slow
def test_what_ships_is_what_this_program_makes(monkeypatch):
    monkeypatch.undo()
    from tests.dashboard import ship

    held = json.loads(shipped.PATH.read_text(encoding="utf-8"))
    # One column tells whether the program has changed, this one soonest; all four take more than a minute.
    places = (1,)
    held["columns"] = [held["columns"][place] for place in places]
    assert ship.made(*places) == held


@pytest.mark.slow
def test_a_typed_level_and_its_slider_are_one_and_quick_steps_are_undone_together(visitor, drawn):
    tagged(visitor)
    typed(visitor, "k", 11)
    assert asked(visitor).levels["k"] == 11
    held = fields(visitor)
    assert (held["board-k"], held["board-k-typed"]) == (11, 11)
    slide(visitor, "k", 20)
    assert (asked(visitor).levels["k"], fields(visitor)["board-k-typed"]) == (20, 20)
    typed(visitor, "k", None)
    assert "k" not in asked(visitor).levels
    assert fields(visitor)["board-k"] == "off"
    # All of it was one movement of one control.
    visitor.press("Undo")
    assert asked(visitor).levels["k"] == 10


def test_a_c_takes_the_place_of_the_bound_by_one_over_l(visitor, drawn):
    tagged(visitor)
    slide(visitor, "c", 3)
    assert asked(visitor).levels == {"k": 10, "l": 3, "c": 3, "t": 0.3}
    assert any(one.label.startswith("l: of (c,l)") for one in visitor.at.select_slider)


@pytest.mark.slow
def test_find_better_puts_marks_on_the_map_and_its_best_becomes_a_column(visitor, drawn):
    tagged(visitor)
    finish(visitor, drawn)
    visitor.press("Find better")
    search = workspace(visitor).jobs["board-find"]
    search.job.wait(WAIT)
    assert search.n_tried == len(TRIED)
    visitor.run()
    assert not visitor.has_button("Find better")
    best = search.best
    assert f"Found: {best.title} keeps all that you ask" in visitor.texts().replace("\\", "")
    visitor.press("Show it on the board")
    assert (asked(visitor).columns[-1].method, asked(visitor).columns[-1].fields) == (best.method, dict(best.fields))
    found = finish(visitor, drawn)
    assert workspace(visitor).runs[-1].algorithm == best.trial.algorithm
    assert (found["columns"][-1]["isBest"], found["columns"][-1]["badge"]) == (
        True,
        "Keeps all that is asked, loses least",
    )
    # Of another promise nothing was tried yet.
    slide(visitor, "k", 20)
    assert visitor.has_button("Find better")
    assert "board-find" not in workspace(visitor).jobs


@pytest.mark.slow
def test_cells_over_k_draw_lines_and_a_click_on_a_point_chooses_it(visitor, drawn):
    tagged(visitor)
    finish(visitor, drawn)
    next(one for one in visitor.at.selectbox if one.key == "board-over").select("k")
    visitor.run()
    lines = workspace(visitor).jobs["board-over-work"]
    lines.job.wait(WAIT)
    visitor.run()
    row = next(one for one in drawn[-1]["rows"] if one["id"] == "lost")
    assert row["axis"]["values"] == [2, 3, 5, 10, 20, 50, 100, 200]
    assert all(y is not None for y in row["cells"][0]["line"])
    # Every point is a mark on the map, but for the column itself; what has no k is named without one.
    marks = [trace for trace in figure(visitor, "board-map") if trace["mode"] == "markers"]
    labels = {label for trace in marks for label in trace["text"]}
    assert {"Mondrian, k 2", "Mondrian, k 50", "Stack & Deal, k 50"} <= labels
    assert "Mondrian, k 10" not in labels
    assert not any(label.startswith(("Anatomy, k", "Slicing, k")) for label in labels)
    assert visitor.at.slider(key="board-over-weight").value == 0.5
    run_in_session(visitor, lambda: board_trials.take({"type": "level", "axis": "k", "value": 50}))
    assert asked(visitor).levels["k"] == 50
    # Only the present value has changed, so that the lines are still those.
    assert workspace(visitor).jobs["board-over-work"] is lines
    run_in_session(visitor, lambda: board_trials.take({"type": "level", "axis": "k", "value": 7}))
    assert asked(visitor).levels["k"] == 50
    next(one for one in visitor.at.selectbox if one.key == "board-over").select("now")
    visitor.run()
    assert "board-over-work" not in workspace(visitor).jobs


@pytest.mark.slow
def test_a_purpose_asks_for_its_levels_in_one_step(visitor, drawn):
    tagged(visitor)
    slide(visitor, "c", 3)
    set_open(visitor, "board-more")
    next(one for one in visitor.at.selectbox if one.key == "board-purpose").select("hospital")
    visitor.run()
    assert "which is 1/11" in visitor.texts()
    visitor.press("Ask for k = 11, l = 2, t = 0.3")
    assert asked(visitor).levels == {"k": 11, "l": 2, "t": 0.3}
    visitor.press("Undo")
    assert asked(visitor).levels == {"k": 10, "l": 3, "c": 3, "t": 0.3}


@pytest.mark.slow
def test_the_rules_of_an_own_office_are_offered_first_and_those_beyond_levels_are_told(visitor, drawn):
    tagged(visitor)
    set_open(visitor, "board-more")
    rules = b'name = "Ours"\n[levels]\nk = 7\nlargest_belief = 0.5\n[refuse]\ncolumns = ["phone"]'
    for content, told in ((b"name = ", "not valid TOML"), (rules, "")):
        place = next(one for one in visitor.at.file_uploader if one.key == "board-policy")
        place.set_value(("policy.toml", content, "application/toml"))
        visitor.run()
        assert told in visitor.texts()
    choice = next(one for one in visitor.at.selectbox if one.key == "board-purpose")
    assert choice.options[0] == "Ours"
    choice.select(board_promises.OWN_POLICY)
    visitor.run()
    assert "believed with more than 50%; 'phone' is not published" in visitor.texts()
    visitor.press("Ask for k = 7")
    assert asked(visitor).levels == {"k": 7}


@pytest.mark.parametrize("name", PRESETS)
def test_no_purpose_asks_for_an_l_that_the_table_cannot_keep(name):
    frequent = Microdata(
        pd.DataFrame({"age": range(10), "ill": ["no"] * 8 + ["yes"] * 2}),
        {"age": "quasi-identifier", "ill": "sensitive"},
    )
    policy = Policy.load(name)
    found = board_promises.possible_levels(policy, frequent)
    assert found == {axis: value for axis, value in policy.levels.of_groups.items() if axis != "l"}
    plain = Microdata(frequent.frame[["age"]], {"age": "quasi-identifier"})
    only_k = {} if policy.levels.k is None else {"k": policy.levels.k}
    assert board_promises.possible_levels(policy, plain) == only_k


@pytest.mark.slow
def test_any_other_number_is_a_row_beside_that_of_the_original_table(visitor, drawn):
    tagged(visitor)
    numbers = ("query-error", "largest-belief", "membership-belief")
    run_in_session(visitor, lambda: state.wish(replace(state.current_wishes(), numbers=numbers)))
    visitor.run()
    found = finish(visitor, drawn)
    rows = {row["id"]: row for row in found["rows"]}
    assert list(rows)[-3:] == [f"number:{name}" for name in numbers]
    belief = rows["number:largest-belief"]
    assert (belief["label"], belief["help"]) == (CRITERIA["largest-belief"].title, "what an adversary gets")
    for cell, run in zip(belief["cells"], workspace(visitor).runs, strict=True):
        assert cell["value"] == evaluate(run.release, ["largest-belief"])["largest-belief"]
        assert cell["text"] == CRITERIA["largest-belief"].text(cell["value"])
        # As it is, whoever knows the other values is certain of somebody's diagnosis.
        assert (cell["marks"][0][0], cell["sub"]) == (1.0, "original table 100.0%")
        assert cell["value"] <= belief["axis"]["most"]
    # Fake tuples are of buckets alone, and a release of another form says so.
    assert "only where columns are permuted" in rows["number:membership-belief"]["cells"][0]["why"]
    # Nothing that was known is measured anew when a row goes.
    run_in_session(visitor, lambda: state.wish(replace(state.current_wishes(), numbers=numbers[:1])))
    visitor.run()
    assert [row["id"] for row in drawn[-1]["rows"]][-1] == "number:query-error"
    assert drawn[-1]["rows"][-1]["cells"] == rows["number:query-error"]["cells"]
