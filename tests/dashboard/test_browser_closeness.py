"""Closeness in a real browser: choose k, walk through the deal, and look at the mass that moves."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.dashboard import browser
from tests.dashboard.browser import Visitor
from tests.shared_data import FOLDER, needs

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]
ADULT = FOLDER / "adult.csv"


def _no_problem(visitor: Visitor) -> None:
    assert visitor.problems() == []
    assert visitor.page.get_by_test_id("stAlertContentError").count() == 0


def _load(visitor: Visitor, title: str) -> None:
    """Load a built-in table, which comes tagged."""
    visitor.choose("Built-in table", title, exact=False)
    visitor.see_heading(title)


def _least(visitor: Any) -> list[str]:
    """The k of least cost of each column, as its cells say."""
    return re.findall(r"are least at k = ([\d,]+)", visitor.board.inner_text())


def test_from_the_choice_of_k_to_the_mass_that_moves(browse: Any) -> None:
    visitor = browse(height=1200)
    visitor.open()
    _load(visitor, "t-Closeness, section 3.5 (250 salaries)")
    visitor.go("Board")
    visitor.choose_in(visitor.page.locator(".st-key-board-over input"), "What if k changes?")
    visitor.see("Weight of distance beside loss", 60)
    visitor.page.get_by_test_id("stProgress").wait_for(state="detached", timeout=60_000)
    visitor.settle()
    before = _least(visitor)
    assert before
    slider = visitor.page.locator(".st-key-board-over-weight").get_by_role("slider")
    visitor.act(lambda: slider.press("Home"))
    assert visitor.comes(lambda: _least(visitor) not in (before, []), visitor.patience)

    visitor.go("Method")
    visitor.show_release("Stack & Deal")
    visitor.see("Step 1 of")
    count = int(visitor.text().split("Step 1 of ")[1].split(":")[0])
    for step in range(2, count + 1):
        visitor.press("Next")
        visitor.see(f"Step {step} of {count}")
        _no_problem(visitor)
    visitor.see("Loss with neighbours")
    visitor.press("Back")
    visitor.see("Compare the groups")

    visitor.go("Closeness")
    visitor.see("t of salary (ordered)")
    number = visitor.cell("list-closeness", 0, 2)
    visitor.choose_row("list-closeness", 2)
    visitor.see_heading(f"Group {number}")
    visitor.choose("Ground distance", "equal", exact=False)
    visitor.see("too often")
    assert visitor.drawn("[class*='st-key-closeness-equal'] svg") > 0


def test_two_sensitive_attributes_and_their_boxes(browse: Any) -> None:
    visitor = browse(height=1200)
    visitor.open()
    _load(visitor, "t-Closeness, figure 4.1 (400 rows)")
    visitor.column("Sensitive-space fragmentation")
    visitor.go("Method")
    visitor.show_release("Sensitive-space fragmentation")
    visitor.see("Bound of X")
    visitor.see("Bound of Y")
    _no_problem(visitor)
    visitor.choose_row("list-space", 1)
    assert visitor.drawn("[class*='st-key-space-map'] svg") > 0
    visitor.go("Closeness")
    visitor.see("t of X (ordered)")
    visitor.see("t of Y (ordered)")
    visitor.choose("Sensitive attribute", "Y")
    visitor.see("'Y' in group")


@needs("adult.csv")
def test_the_views_of_adult(browse: Any) -> None:
    visitor = browse(height=1200)
    visitor.open()
    _load(visitor, "Adult (45,222 rows)")
    visitor.go("Groups")
    visitor.show_release("Stack & Deal")
    seconds: dict[str, float] = {}
    for title in ("Closeness", "Method"):
        visitor.go(title)
        seconds[title] = visitor.seconds
    visitor.press("Next")
    seconds["a step"] = visitor.seconds
    visitor.go("Closeness")
    visitor.choose_row("list-closeness", 3)
    seconds["a group"] = visitor.seconds
    print("seconds on Adult:", {name: round(value, 2) for name, value in seconds.items()})
    _no_problem(visitor)
