"""People instead of rows on the pages: the question on Attributes, its proposal, and what the results say."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anoncore import Microdata
from anoncore.algorithms import Mondrian
from anoncore.requirements import KAnonymity
from dashboard.board import grid
from dashboard.closer.class_detail import group_shares
from dashboard.session import loaded_table, session_file, state, tagging
from dashboard.session.loaded_table import LoadedTable, untagged
from dashboard.session.wishes import first_wishes
from dashboard.session.workspace import MicrodataStore, Workspace
from dashboard.views import board_dialogs
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import add_run, put

RNG = np.random.default_rng(3)
VISITS = pd.DataFrame(
    {
        "patient": [f"Patient {person}" for person in RNG.integers(0, 20, 80)],
        "age": RNG.integers(20, 60, 80),
        "diagnosis": RNG.choice(["flu", "cold", "ulcer"], 80),
    }
)
CSV = VISITS.to_csv(index=False).encode()
ROLES = {"patient": "identifier", "age": "quasi-identifier", "diagnosis": "sensitive"}


def test_a_repeated_identifier_is_proposed_and_taken_with_one_click(visitor: Visitor) -> None:
    visitor.upload("visits.csv", CSV).open("table")
    assert "Whose row is it?" not in [box.label for box in visitor.at.selectbox], "nothing is an identifier yet"
    visitor.tag(**ROLES)
    people = VISITS["patient"].nunique()
    assert "Are rows with the same patient one person? Then choose 'patient' as whose row it is." in visitor.texts()
    assert f"It has {people} different values in 80 rows." in visitor.texts()
    (box,) = [box for box in visitor.at.selectbox if box.label == "Whose row is it?"]
    assert box.options == ["Not said yet: rows are counted", "patient"]
    assert box.value is None
    visitor.press("Count people by 'patient'")
    assert state._workspaces.get(visitor.workspace).tags.unit == "patient"
    assert "different values in 80 rows." not in visitor.texts()
    assert f"of {people} people are unique in this attribute" in visitor.texts()


@pytest.mark.slow
def test_results_speak_of_people(visitor: Visitor) -> None:
    visitor.upload("visits.csv", CSV).open("table").tag(**ROLES).press("Count people by 'patient'")
    visitor.make().open("groups")
    assert f"80 rows ({VISITS['patient'].nunique()} people) of visits.csv" in visitor.texts()
    assert "Different people are counted by 'patient'" in visitor.texts()
    assert any(metric.label == "Smallest" and metric.value.endswith(" people") for metric in visitor.at.metric)
    # One group has as many people as the smallest has, and they are not called rows.
    tiles = {metric.label: metric.value for metric in visitor.at.metric}
    assert tiles["Smallest"] == f"{tiles['People']} people"
    assert "Rows" not in tiles
    visitor.open("closeness")
    assert "Rows" not in [metric.label for metric in visitor.at.metric]
    assert visitor.errors == []


@pytest.mark.slow
def test_a_session_keeps_whose_rows_they_are() -> None:
    tags = replace(untagged(VISITS), roles=ROLES, unit="patient")
    assert tags.digest != replace(tags, unit=None).digest
    table = LoadedTable("id", "visits.csv", VISITS, "digest", (), None, untagged(VISITS))
    here, there = Workspace("one"), Workspace("two")
    here.load(table, tags)
    data = MicrodataStore().get(table, tags)
    method = Mondrian(requirements=(KAnonymity(k=4),))
    put(here, method, table, tags, method.anonymize(data))
    content = session_file.save(here)
    session_file.restore(there, session_file.read(content, loaded_table.builtin_table, MicrodataStore().get))
    assert there.tags.unit == "patient"
    (run,) = there.runs
    assert run.data.unit == "patient"
    assert run.data.people.tolist() == data.people.tolist()


def test_only_identifiers_may_say_whose_row_it_is() -> None:
    tags = replace(untagged(VISITS), roles=ROLES)
    assert tagging.unit_options(tags) == [None, "patient"]
    assert tagging.unit_options(replace(tags, unit="age")) == [None, "patient", "age"]


def test_shares_in_a_class_are_those_of_its_people() -> None:
    frame = pd.DataFrame({"who": [*"AAABCD"], "age": [20, 20, 20, 20, 60, 60], "illness": [*"fffcfc"]})
    data = Microdata(frame, {"age": "quasi-identifier", "illness": "sensitive"}, unit="who")
    release = Mondrian(requirements=(KAnonymity(k=2),)).anonymize(data)
    # A comes three times with f: of the two people of the class of 20 one has f and one c, as in the whole table.
    shares = group_shares(release, release.fragments[0], int(release.partition.group[0]), "illness")
    assert shares.group.tolist() == shares.table.tolist() == [0.5, 0.5]


def test_no_method_is_proposed_that_can_only_count_rows() -> None:
    kept = VISITS.assign(patient=[f"Patient {number}" for number in range(80)])
    for frame, proposed in ((kept, "vertical-fragmentation"), (VISITS, "anatomy")):
        data = Microdata(frame, ROLES, unit="patient")
        wishes = first_wishes(data).without_column("c2" if frame is VISITS else "c9")
        assert board_dialogs._first_unused(wishes, data) == proposed


def said(visitor: Visitor) -> str:
    """Everything on the page, with the labels and the help of its fields and buttons."""
    kinds = ("button", "select_slider", "slider", "selectbox", "multiselect", "radio", "metric")
    fields = [item for kind in kinds for item in getattr(visitor.at, kind)]
    return " ".join([visitor.texts(), *(f"{one.label} {getattr(one, 'help', '')}" for one in fields)])


@pytest.mark.slow
def test_while_nobody_said_whose_the_rows_are_the_board_counts_rows_and_asks_first(
    visit: Callable[..., Visitor], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[dict[str, Any]] = []
    monkeypatch.setattr(grid, "draw", lambda model, on_event: drawn.append(model))
    visitor = visit()
    visitor.upload("visits.csv", CSV).open("board")
    assert "Are rows with the same patient one person? It has 20 different values in 80 rows." in said(visitor)
    visitor.press("Compare four methods")
    bench = state._workspaces.get(visitor.workspace).jobs["board"]
    end = time.monotonic() + 120
    while bench.is_busy and time.monotonic() < end:
        time.sleep(0.05)
    for window in ("board-more", "board-adversary"):
        visitor.at.session_state[window] = True
    visitor.run()
    assert any(row["cells"][0].get("text") == "10 or more rows" for row in drawn[-1]["rows"])
    asked = "Until you say whose a row is, rows are counted and nothing is said of people."
    text = said(visitor)
    assert asked in text
    for one in (asked, "Count people by 'patient'"):
        text = text.replace(one, "")
    assert not re.search(r"people|Every person|nobody hides", text), text
    shown = json.dumps({name: part for name, part in drawn[-1].items() if name != "people"})
    assert re.findall(r".{40}(?:people|person).{40}", shown) == []

    visitor.press("Count people by 'patient'")
    while bench.is_busy and time.monotonic() < end:
        time.sleep(0.05)
    visitor.run()
    assert asked not in said(visitor)
    popovers = [
        block.proto.popover.label.replace("\\", "") for block in blocks(visitor.at.main) if block.type == "popover"
    ]
    assert popovers[0].startswith("visits.csv · 20 people · 1 known")
    assert "k: people per group" in said(visitor)
    hides = next(row for row in drawn[-1]["rows"] if row["id"] == "hides")
    assert hides["cells"][3]["text"].endswith(" or more people")


def blocks(block: Any) -> Iterator[Any]:
    """All blocks of a page."""
    for child in getattr(block, "children", {}).values():
        if getattr(child, "children", None) is not None:
            yield child
            yield from blocks(child)


def test_pages_that_speak_of_people_ask_first_whose_the_rows_are(visitor: Visitor) -> None:
    algorithm = Mondrian(requirements=(KAnonymity(k=4),))
    add_run(visitor, algorithm, VISITS, ROLES, "visits.csv")
    for page in ("groups", "privacy", "closeness", "attack", "utility", "publish", "explain"):
        visitor.open(page)
        assert "Are rows with the same patient one person?" in visitor.texts(), page
        assert not visitor.at.metric, page
        assert not visitor.at.download_button, page
    # An answer is one click, and the releases are made anew.
    visitor.open("groups").press("Count people by 'patient'")
    assert "80 rows (20 people)" in visitor.texts()
    assert "Are rows with the same patient one person?" not in visitor.open("privacy").texts()


def test_that_every_row_is_another_person_is_an_answer(visitor: Visitor) -> None:
    algorithm = Mondrian(requirements=(KAnonymity(k=4),))
    add_run(visitor, algorithm, VISITS, ROLES, "visits.csv")
    visitor.open("table").press("Every row is another person")
    here = state._workspaces.get(visitor.workspace)
    data = state._microdata.get(here.table, here.tags)
    assert (data.people_word, data.left_out, data.n_people) == ("people", ("patient",), 80)
    assert "Are rows with the same patient one person?" not in visitor.texts()
