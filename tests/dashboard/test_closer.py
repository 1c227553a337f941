"""A click on a cell of the board opens a page that shows first the number of the cell."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from anoncore.base.texts import share_text
from anoncore.measures.promise_marks import upwards
from dashboard.board import grid
from dashboard.closer.cells import PAGES
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import ROLES, loaded, people

METHODS = ("mondrian", "anatomy", "slicing", "stack-and-deal")


@pytest.fixture
def board(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> tuple[Visitor, list[dict]]:
    """A visitor with four columns of which every number is there, and what the page drew."""
    drawn: list[dict] = []
    monkeypatch.setattr(grid, "draw", lambda model, on_event: drawn.append(model))
    visitor.here.load(*loaded(people(600), ROLES, "people.csv"))
    visitor.make(*METHODS, k=4, l=2, t=0.5)
    end = time.monotonic() + 180
    while visitor.here.jobs["board"].is_busy and time.monotonic() < end:
        time.sleep(0.1)
    visitor.run()
    return visitor, drawn


def first_number(visitor: Visitor, page: str) -> str:
    """The first number on the page to which the visitor was led, once what it waits for is there."""
    end = time.monotonic() + 120
    while not visitor.at.metric or any(one.name.startswith("job ") for one in threading.enumerate()):
        assert time.monotonic() < end, visitor.texts()
        time.sleep(0.2)
        visitor.open(page)
    return str(visitor.at.metric[0].value)


@pytest.mark.slow
def test_every_cell_opens_a_page_whose_first_number_is_its_own(board: tuple[Visitor, list[dict]]) -> None:
    visitor, drawn = board
    rows = {row["id"]: row for row in drawn[-1]["rows"]}
    assert set(rows) == set(PAGES)
    for place, run in enumerate(visitor.here.runs):
        for row in ("hides", "distance", "given", "lost", "predictable"):
            visitor.open("board")
            # What the strongest attack gets may come between two clicks: the cell is the one that is seen now.
            cell = next(one for one in drawn[-1]["rows"] if one["id"] == row)["cells"][place]
            assert cell["state"] == "exact", (row, cell)
            visitor.at.session_state["_board_dialog"] = ("open", run.column, row)
            if row == "given":
                # What a click on the cell keeps.
                visitor.here.given_clicked = (visitor.here.wishes, run.column, visitor.here.given.get(run.column))
            visitor.run()
            page = PAGES[row].replace("_", " ")
            assert visitor.at.title[0].value == page.capitalize(), (row, run.label)
            assert visitor.release_shown.value == run.id
            shown = first_number(visitor, page)
            if row == "hides":
                assert shown.split()[0] == cell["text"].split()[0]
            elif row == "distance":
                assert upwards(float(shown)) == cell["text"]
            elif row == "given":
                assert shown == cell["text"].removeprefix("at least ")
                bare = shown.removeprefix("about ").removesuffix(" by what was tried")
                assert bare == share_text(cell["value"])
            else:
                assert shown == cell["text"], (row, run.label)


@pytest.mark.slow
def test_the_address_of_a_cell_shows_it_in_another_tab(visitor: Visitor, visit: Callable[..., Visitor]) -> None:
    visitor.here.load(*loaded(people(120), ROLES, "people.csv"))
    first, second = visitor.make("mondrian", "anatomy", k=4, l=2).here.runs
    visitor.here.select_run(first.id)

    def tab(**address: str) -> Visitor:
        other = visit(visitor.workspace)
        for name, value in address.items():
            other.at.query_params[name] = value
        return other.open("utility")

    other = tab(column=second.column, cell="predictable")
    assert other.release_shown.value == second.id
    assert other.at.session_state["tabs-utility-tab"] == "Predictions"
    # Another release is chosen there, and the address that named the one before does not come in the way.
    other.release_shown.set_value(first.id)
    assert other.run().release_shown.value == first.id
    assert other.at.query_params["column"] == first.column
    assert "no longer on the board" not in other.texts()
    gone = tab(column="c9", cell="lost")
    assert "The release that this address names is no longer on the board; another one is shown." in gone.texts()
    assert gone.release_shown.value == first.id
