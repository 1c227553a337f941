"""In a real browser: another visitor goes on with a saved session, and closing the page loses no release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.dashboard import browser
from tests.dashboard.browser import Visitor
from tests.dashboard.results import people

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]
METHODS = ("Mondrian", "Anatomy", "Slicing", "Stack & Deal")


def test_another_visitor_goes_on_with_a_saved_session(browse: Any, tmp_path: Path) -> None:
    visitor = browse(height=1400)
    visitor.open()
    visitor.upload("people.csv", people().to_csv(index=False).encode())
    visitor.press("Use suggestions")
    visitor.ask(k=5, l=None, t=None)
    for method in METHODS:
        visitor.wait_for_release(method)
    visitor.go("Groups")
    visitor.show_release("Mondrian (k = 5)")
    groups = _first_number(visitor)
    visitor.go("Table")
    visitor.page.get_by_text("Save this session, or open a saved one").click()
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("button", name="Save this session", exact=True).click()
    kept = tmp_path / download.value.suggested_filename
    download.value.save_as(kept)
    assert kept.name == "session.anoncore"

    other = browse(after=visitor, height=1400)
    other.open()
    other.page.get_by_text("Save this session, or open a saved one").click()
    with other.run():
        other.page.get_by_test_id("stFileUploaderDropzoneInput").nth(1).set_input_files(kept)
    other.page.get_by_text("The session is open; 4 releases came with it.").wait_for(timeout=30_000)
    other.go("Groups")
    other.show_release("Mondrian (k = 5)")
    other.see("240 rows of people.csv")
    assert _first_number(other) == groups


def _first_number(visitor: Visitor) -> str:
    """The first number of a page, once everything that it waits for is there."""
    visitor.rest()
    return str(visitor.page.get_by_test_id("stMetricValue").first.inner_text())


def test_a_release_is_made_while_the_page_is_closed(browse: Any) -> None:
    visitor = browse()
    visitor.open("")
    with visitor.new_column("Microaggregation"):
        pass
    address = visitor.page.url
    visitor.page.goto("about:blank")
    visitor.page.wait_for_timeout(3_000)
    visitor.open(address)
    visitor.wait_for_release("Microaggregation")
    visitor.go("Groups")
    visitor.show_release("Microaggregation")
