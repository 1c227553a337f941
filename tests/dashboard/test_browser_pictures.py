"""The pages that draw a release in a real browser: rows before and after."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.dashboard import browser

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]


def test_rows_before_and_after_are_gone_through_and_a_pair_is_chosen(browse: Any) -> None:
    visitor = browse(height=1800)
    visitor.open()
    visitor.go("Anonymize")
    visitor.press(re.compile("^Run$"))
    visitor.see("Run 1 · ", seconds=120)
    visitor.go("Before and after")
    visitor.see("What became of the cells")
    table = visitor.page.get_by_test_id("stDataFrameResizable").first.locator("table")
    first = table.text_content(timeout=20_000)
    visitor.page.get_by_role("spinbutton", name="Sample").fill("2")
    with visitor.run():
        visitor.page.get_by_role("spinbutton", name="Sample").press("Enter")
    visitor.see("50 of ")
    assert table.text_content() != first
    visitor.choose("Across", "sex")
    visitor.see("The table of 'sex'")
    assert visitor.page.locator("[class*='st-key-before-after-joint'] .heatmaplayer").count() == 3
