"""In a real browser: another visitor goes on with a saved session, and closing the page loses no run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard import browser

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]


def test_another_visitor_goes_on_with_a_saved_session(browse: Any, tmp_path: Path) -> None:
    visitor = browse(height=1400)
    visitor.open()
    visitor.go("Anonymize")
    visitor.press("Run")
    visitor.see("Run 1 · Mondrian (k = 5)", seconds=120)
    visitor.go("Data")
    visitor.page.get_by_text("Save this session, or open a saved one").click()
    with visitor.page.expect_download() as download:
        visitor.page.get_by_role("button", name="Save this session", exact=True).click()
    kept = tmp_path / download.value.suggested_filename
    download.value.save_as(kept)
    assert kept.name == "session.anoncore"

    other = browse(height=1400)
    other.open()
    other.page.get_by_text("Save this session, or open a saved one").click()
    with other.run():
        other.page.get_by_test_id("stFileUploaderDropzoneInput").nth(1).set_input_files(kept)
    other.page.get_by_text("The session is open; 1 run came with it.").wait_for(timeout=30_000)
    other.go("Classes")
    other.see("6,509")
    other.see("Equivalence classes")


def test_a_run_ends_while_the_page_is_closed(browse: Any) -> None:
    visitor = browse()
    visitor.open()
    visitor.go("Anonymize")
    visitor.choose("Method", "Microaggregation", exact=False)
    visitor.page.get_by_role("button", name="Run", exact=True).click()
    # A page that is left in the moment of the click may not have told the server of it yet.
    visitor.see(re.compile(r"Microaggregation: |Run 1 · "))
    address = visitor.page.url
    visitor.page.goto("about:blank")
    visitor.page.wait_for_timeout(3_000)
    visitor.open(address)
    visitor.see("Run 1 · Microaggregation", seconds=120)
