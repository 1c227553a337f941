"""Slicing in a real browser: edit the columns, run, look at a bucket, a person in it, and who could be a member."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.dashboard import browser
from tests.dashboard.browser import Visitor
from tests.dashboard.test_browser_board import people

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]


@pytest.fixture
def visitor(browse: Any) -> Visitor:
    """One visitor, with room for the whole page."""
    found: Visitor = browse(height=1100)
    return found


def _enter(visitor: Visitor, label: str, value: str) -> None:
    visitor.enter(visitor.page.get_by_role("spinbutton", name=label, exact=True), value)


def _sliced(visitor: Visitor) -> None:
    """Add slicing with the sensitive attribute in a column of its own, and another attribute in a third."""
    visitor.ask(l=1.1, t=None)
    if "Slicing" in visitor.board.inner_text():
        visitor.remove_column("Slicing")
    with visitor.new_column("Slicing"):
        dialog = visitor.page.get_by_role("dialog")
        dialog.get_by_text("More options").first.click()
        _enter(visitor, "Sensitive column", "1")
        visitor.act(dialog.get_by_text("Columns by hand", exact=True).click)
        dialog.get_by_text("The columns that the method chooses").first.wait_for()
        # There is the second column, whether or not the grid has already made its columns as wide as its place.
        visitor.edit_cell("attribute-groups", column=1, row=0, left=180, option="column 3")
        dialog.get_by_text("Columns by hand: 3 in use.").first.wait_for()
        assert visitor.grid("attribute-groups").is_visible()
    visitor.wait_for_release("Slicing")


def test_slicing_from_the_columns_to_the_members(visitor: Visitor) -> None:
    visitor.open()
    visitor.upload("people.csv", people())
    visitor.press("Use suggestions")
    _sliced(visitor)

    visitor.go("Groups")
    visitor.show_release("Slicing")
    visitor.choose_row("class-list", 1)
    visitor.see("As published: 3 columns that are not linked")
    button = visitor.page.get_by_role("button", name=re.compile("What an adversary learns about row"))
    row = re.sub(r"\D", "", button.inner_text())
    visitor.act(button.click)

    visitor.see("The adversary knows that this person is in the table")
    box = visitor.page.get_by_role("spinbutton", name="Row of the person")
    assert box.input_value() == row
    _enter(visitor, "Row of the person", "12")
    visitor.see("p(t,s): what the adversary believes")
    visitor.press("Person at most risk")
    assert visitor.page.get_by_role("spinbutton", name="Row of the person").input_value() != "12"

    visitor.tab("Membership")
    visitor.see("The adversary looks up a person's")
    visitor.see("Where bars are of like height")
    visitor.go("Privacy")
    visitor.see("holds for every person")
    visitor.go("Method")
    visitor.see("The columns were given by hand.")
