"""Whose data is whose, what survives a reload, and that nothing grows without bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from streamlit.runtime.scriptrunner import RerunData

from anoncore import AnonymizationError, Hierarchy, Partition
from anoncore.algorithms import ALGORITHMS, Anatomy, Mondrian
from anoncore.algorithms.base import generalized_release
from anoncore.requirements import EntropyDiversity, KAnonymity, RecursiveDiversity, TCloseness
from dashboard.session import browser, state
from dashboard.session.loaded_table import LoadedTable, Tags, untagged
from dashboard.session.workspace import MicrodataStore, Workspace, Workspaces, run_title
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run, put

FRAME = pd.DataFrame({"age": [30, 31, 40, 41], "illness": ["flu", "cold", "flu", "ulcer"]})


def _table(frame: pd.DataFrame = FRAME, digest: str = "d") -> LoadedTable:
    return LoadedTable("t", "people.csv", frame, digest, (), None, untagged(frame))


def _tags(**changes: str) -> Tags:
    tags = untagged(FRAME)
    for name, role in {"age": "quasi-identifier", "illness": "sensitive", **changes}.items():
        tags = tags.changed("roles", name, role)
    return tags


def _add(here: Workspace, l: int = 2) -> object:
    table, tags = _table(), _tags()
    data = MicrodataStore().get(table, tags)
    algorithm = Anatomy(l=l)
    release = generalized_release(algorithm, data, Partition(np.zeros(4, dtype=np.int32)))
    return put(here, algorithm, table, tags, release)


def test_the_first_page_is_a_board_of_a_tagged_table(visit: Callable[..., Visitor]) -> None:
    visitor = visit()
    assert visitor.at.title[0].value == "anoncore"
    assert visitor.has_button("Publish …")


def test_a_reload_finds_the_workspace_by_the_address(visitor: Visitor, visit: Callable[..., Visitor]) -> None:
    visitor.make(k=50)
    again = visit(visitor.workspace).open("board")
    assert again.workspace == visitor.workspace
    assert next(one for one in again.at.select_slider if one.key.startswith("board-k-")).value == 50
    assert "Mondrian (k = 50)" in again.open("groups").texts()


def test_another_session_sees_nothing_of_it(visitor: Visitor, visit: Callable[..., Visitor]) -> None:
    visitor.upload("mine.csv", FRAME.to_csv(index=False).encode())
    other = visit()
    assert other.workspace != visitor.workspace
    assert "mine.csv" not in other.texts()
    assert "mine.csv" in visitor.run().texts()


def test_an_unknown_workspace_is_replaced_and_said_so(visit: Callable[..., Visitor]) -> None:
    visitor = visit("guessed")
    assert visitor.workspace != "guessed"
    assert "is gone" in visitor.warnings[0]
    # A page that draws itself anew, as when a release is there, does not take the sentence back.
    assert "is gone" in visitor.run().warnings[0]
    assert visitor.open("table").warnings == []
    assert visitor.open("board").warnings == []


@pytest.mark.slow
def test_the_address_keeps_the_workspace_on_every_page(visitor: Visitor) -> None:
    first = visitor.workspace
    for page in ("table", "groups", "learn"):
        visitor.at.query_params.clear()
        assert visitor.open(page).workspace == first


def test_workspaces_are_bounded_in_number_and_memory() -> None:
    few = Workspaces(most=2)
    first, second, third = few.new(), few.new(), few.new()
    assert few.get(first.id) is None
    assert few.get(second.id) is second
    few.new()
    assert few.get(third.id) is None, "the least recently used one goes"
    small = Workspaces(most_bytes=1)
    one = small.new()
    one.load(_table(), _tags())
    two = small.new()
    assert small.get(one.id) is None
    assert small.get(two.id) is two
    assert small.get(None) is None


def test_the_result_pages_stay_at_their_column_while_its_next_release_is_made() -> None:
    here = Workspace("w")
    made = _add(here)
    first, second, new = [
        replace(made, id=name, column=column, color_index=place)
        for name, column, place in (("first", "c1", 0), ("second", "c2", 1), ("new", "c1", 0))
    ]
    here.show_on_board((first, second))
    here.current = "first"
    here.show_on_board((second,))
    assert here.current == "second", "something is shown meanwhile"
    here.show_on_board((new, second))
    assert here.current == "new"
    here.show_on_board((second,))
    here.select_run("second")
    here.show_on_board((new, second))
    assert here.current == "second", "somebody chose another one meanwhile"


def test_the_first_column_is_shown_until_somebody_chooses_another_run() -> None:
    here = Workspace("w")
    made = _add(Workspace("elsewhere"))
    first, second = [
        replace(made, id=column, column=column, color_index=place) for place, column in enumerate(("c1", "c2"))
    ]
    here.show_on_board((second,))
    assert here.current == "c2"
    here.show_on_board((first, second))
    assert here.current == "c1", "whichever release came first"
    here.select_run("c2")
    here.select_run("nothing of that name")
    here.show_on_board((first, second))
    assert here.current == "c2"


def test_digests_of_tags_tell_every_part_apart() -> None:
    hierarchy = Hierarchy.from_nested({"any": ["flu", "cold", "ulcer"]})
    base = _tags()
    others = [
        base.changed("roles", "age", "insensitive"),
        base.changed("kinds", "age", "nominal"),
        base.changed("orders", "illness", ("flu", "cold", "ulcer")),
        base.changed("orders", "illness", ("cold", "flu", "ulcer")),
        base.changed("hierarchies", "illness", hierarchy),
        base.changed("sensitive_values", "illness", ("flu",)),
    ]
    assert len({tags.digest for tags in (base, *others)}) == 7
    assert _tags().digest == base.digest
    assert (
        base.changed("hierarchies", "illness", hierarchy).changed("hierarchies", "illness", None).digest == base.digest
    )


def test_coded_tables_are_kept_by_content_and_bounded() -> None:
    store = MicrodataStore(most=2)
    data = store.get(_table(), _tags())
    assert store.get(_table(), _tags()) is data
    changed = FRAME.assign(age=[30, 31, 40, 42])
    assert store.get(_table(changed, "other"), _tags()).domain["age"].values[-1] == 42
    store.get(_table(), _tags(age="insensitive"))
    assert store.get(_table(), _tags()) is not data


def test_tags_that_do_not_fit_raise_every_time() -> None:
    store = MicrodataStore()
    wrong = _tags().changed("kinds", "illness", "numeric")
    for _ in range(2):
        with pytest.raises(AnonymizationError, match="illness"):
            store.get(_table(), wrong)


def test_protected_values_count_only_while_the_attribute_is_sensitive() -> None:
    tags = _tags().changed("sensitive_values", "illness", ("flu",))
    assert MicrodataStore().get(_table(), tags).sensitive_values == {"illness": ("flu",)}
    assert MicrodataStore().get(_table(), tags.changed("roles", "illness", "identifier")).sensitive_values == {}


def test_titles_name_what_tells_runs_apart() -> None:
    mondrian = ALGORITHMS["mondrian"]
    assert run_title(mondrian(requirements=[KAnonymity(k=10)])) == "Mondrian (k = 10)"
    both = mondrian(requirements=[KAnonymity(k=3), TCloseness(t=0.15)], split="loss", strict=True)
    assert run_title(both) == "Mondrian (k = 3, t = 0.15, loss, strict)"
    many = mondrian(requirements=[EntropyDiversity(l=2.5), RecursiveDiversity(c=3, l=2)])
    assert run_title(many) == "Mondrian (entropy l = 2.5, recursive c = 3, l = 2)"
    assert run_title(Anatomy(l=2, seed=7)) == "Anatomy (l = 2)"


@pytest.mark.slow
def test_the_address_holds_the_choices_of_a_view_and_nothing_of_the_table() -> None:
    visitor = Visitor()
    run, _ = visitor.make("stack-and-deal", "mondrian").here.runs
    visitor.at.session_state["_utility-tab"] = visitor.at.session_state["tabs-utility-tab"] = "Distributions"
    visitor.open("utility")
    visitor.at.selectbox(key="utility-attribute").set_value("race")
    visitor.run()
    address = {name: value for name, value in visitor.at.query_params.items() if name != "workspace"}
    assert address.pop("step")[0].isdecimal()
    assert len(address) == 2
    assert all(value[0].isdecimal() and name[0] == "v" and len(name) == 7 for name, value in address.items())
    assert run.id not in str(address)

    other = Visitor(visitor.workspace)
    for name, value in address.items():
        other.at.query_params[name] = value[0]
    other.open("utility")
    assert other.at.selectbox(key="utility-attribute").value == "race"


def test_going_back_in_the_browser_takes_a_choice_back(monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = Visitor()
    add_run(visitor, Mondrian(requirements=(KAnonymity(k=5),)))
    visitor.at.session_state["_utility-tab"] = visitor.at.session_state["tabs-utility-tab"] = "Distributions"
    visitor.open("utility")
    attribute = visitor.at.selectbox(key="utility-attribute")
    first = attribute.value
    attribute.set_value("town")
    visitor.run()
    name = browser._link_name("utility-attribute")
    second = visitor.at.query_params[name]
    # An address that is behind does not take a choice back by itself.
    del visitor.at.query_params[name]
    visitor.run()
    assert visitor.at.selectbox(key="utility-attribute").value == "town"
    monkeypatch.setattr(browser, "is_history_navigation", lambda: True)
    del visitor.at.query_params[name]
    visitor.run()
    assert visitor.at.selectbox(key="utility-attribute").value == first
    visitor.at.query_params[name] = second
    visitor.run()
    assert visitor.at.selectbox(key="utility-attribute").value == "town"


@pytest.mark.slow
def test_progress_that_asks_for_itself_late_brings_no_earlier_run_back(monkeypatch: pytest.MonkeyPatch) -> None:
    visitor = Visitor()
    for algorithm in (Anatomy(l=2, seed=1), Mondrian(requirements=(KAnonymity(k=5),))):
        add_run(visitor, algorithm)
    visitor.open("groups")
    here = state._workspaces.get(visitor.workspace)
    assert here is not None
    before, newest = here.runs
    assert here.current == newest.id
    visitor.release_shown.set_value(before.id)
    shown_before = visitor.at._tree.get_widget_states()
    visitor.run()
    assert here.current == before.id
    here.select_run(newest.id)
    visitor.run()
    # A browser that still shows the run before asks for the progress of the one that is done meanwhile.
    with monkeypatch.context() as late:
        asked = partial(RerunData, fragment_id_queue=["progress"])
        late.setattr("streamlit.testing.v1.local_script_runner.RerunData", asked)
        visitor.at._run(shown_before)
    assert here.current == newest.id
    visitor.run()
    assert visitor.release_shown.value == newest.id
    visitor.release_shown.set_value(before.id)
    visitor.run()
    assert here.current == before.id


@pytest.mark.slow
@pytest.mark.parametrize("place", ["99", "-1", "abc", "9" * 40, ""])
def test_an_address_that_asks_for_nonsense_gives_the_usual_view(place: str) -> None:
    visitor = Visitor()
    add_run(visitor, Mondrian(requirements=(KAnonymity(k=5),)))
    visitor.at.query_params[browser._link_name("tabs-utility-tab")] = place
    visitor.open("utility")
    assert not visitor.at.exception
