"""The pages that draw a release in a real browser: rows before and after, the lattice of levels, and cuts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dashboard import browser
from tests.dashboard.test_browser_board import uploaded

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]


def test_a_click_in_the_lattice_shows_another_combination_of_levels(browse: Any) -> None:
    visitor = browse(width=1440, height=1400)
    uploaded(visitor, rows=150)
    visitor.column("Incognito")
    visitor.go("Method")
    visitor.show_release("Incognito")
    visitor.see("Combinations of levels", seconds=120)
    visitor.see("Published.")
    marks = visitor.page.locator(".scatterlayer .points path")
    visitor.click_until_shown(marks.first, visitor.page.get_by_text("Not anonymous.").first)


def test_rows_before_and_after_and_cuts_are_gone_through_and_a_pair_is_chosen(browse: Any) -> None:
    from playwright.sync_api import expect

    visitor = browse(height=1800)
    visitor.open("before_after")
    visitor.see("What became of the cells")
    table = visitor.page.get_by_test_id("stDataFrameResizable").first.locator("table")
    # Another release may take the place of the one that is shown until all are there.
    visitor.rest()
    first = table.text_content(timeout=20_000)
    visitor.enter(visitor.page.get_by_role("spinbutton", name="Sample"), 2)
    visitor.see("50 of ")
    expect(table).not_to_have_text(str(first))
    visitor.choose("Across", "sex")
    visitor.see("The table of 'sex'")
    assert visitor.drawn("[class*='st-key-before-after-joint'] .heatmaplayer", 3) == 3

    visitor.go("Method")
    visitor.see("is cut by")
    visitor.see("Thin lines: the 2 regions")
    visitor.press("Next")
    visitor.see("Thin lines: the 3 regions")
