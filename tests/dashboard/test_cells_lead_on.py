"""Every cell of the board leads to a page that shows first the number of the cell."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

import pytest
import streamlit as st

from anoncore.measures.promise_marks import upwards
from dashboard.board import grid
from dashboard.elements.routes import ROUTES
from tests.dashboard.conftest import Visitor
from tests.dashboard.results import people

METHODS = ("mondrian", "anatomy", "slicing", "stack-and-deal")
TITLES = {route.name: route.title.lower() for route in ROUTES}


@pytest.mark.slow
def test_the_first_number_behind_a_cell_is_that_of_the_cell(visit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(grid, "draw", lambda model, on_event: drawn.append(model))
    visitor: Visitor = visit().upload("people.csv", people().to_csv(index=False).encode())
    visitor.tag(age="quasi-identifier", sex="quasi-identifier", illness="sensitive")
    visitor.make(*METHODS, k=5, l=2)
    bench = visitor.here.jobs["board"]
    # An estimate gives way to the number.
    visitor.until(lambda: bench.look() or not (bench.is_busy or bench.lacks_late_numbers))
    visitor.run()
    board = drawn[-1]
    columns = [column["id"] for column in board["columns"]]
    assert len(columns) == len(METHODS)
    for row in board["rows"]:
        if row["id"] == "promise":
            continue
        for column, cell in zip(columns, row["cells"], strict=True):
            page = opened(visitor, monkeypatch, row["id"], column)
            assert next(run.column for run in visitor.here.runs if run.id == visitor.here.current) == column
            said = first_number(row["id"], cell["text"])
            visitor.open(TITLES[page]).until(lambda name=row["id"], said=said: first_shown(visitor, name) == said)
            visitor.open("board")


def opened(visitor: Visitor, monkeypatch: pytest.MonkeyPatch, row: str, column: str) -> str:
    """Click on a cell; the page to which the board switches, where Streamlit's test object goes nowhere."""
    pages: list[Any] = []
    held = visitor.at.session_state
    kept = held["_given_by_another"].get(column) if row == "given" else None
    held["_given_by_another_clicked"] = (visitor.here.history.now.wishes, column, kept)
    held["_board_dialog"] = ("open", column, row)
    with monkeypatch.context() as patch:
        patch.setattr(st, "switch_page", lambda page, **_: pages.append(page))
        visitor.run()
    return unquote(pages[0].url_path)


def first_number(row: str, cell: str) -> str:
    """What the page behind a cell shows first, by what the cell says."""
    return cell.split()[0] if row == "hides" else re.sub("^at least ", "", cell)


def first_shown(visitor: Visitor, row: str) -> str:
    """What a page shows first, in the words of the cell."""
    shown = str(visitor.at.metric[0].value)
    if row == "distance":
        return upwards(float(shown))
    return shown.split()[0] if row == "hides" else shown
