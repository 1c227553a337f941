"""In a real browser: a policy is put in force, answers are typed, and the dossier is made and taken away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard import browser
from tests.dashboard.results import people

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]


def test_from_the_policy_to_the_dossier(browse: Any, tmp_path: Path) -> None:
    visitor = browse()
    page = visitor.page
    visitor.open()
    # A small table is attacked in a moment.
    visitor.upload("people.csv", people().drop(columns="visits").to_csv(index=False).encode())
    visitor.press("Use suggestions")
    visitor.go("Board")
    for method in ("Anatomy", "Slicing", "Stack & Deal"):
        visitor.remove_column(method)
    visitor.act(page.locator(".st-key-board-more button").first.click)
    visitor.choose_in(page.get_by_label("Rules and levels that are usual for"), "CMS cell size", exact=False)
    in_force = page.get_by_role("button", name="Judge by no policy")
    visitor.click_until_shown(page.get_by_role("button", name="Ask for k = 11"), in_force)
    visitor.act(lambda: page.keyboard.press("Escape"))
    visitor.see("CMS cell size: keeps its rule")
    assert page.locator(".policy-mark").inner_text() == "▲ policy: 11"
    visitor.act(page.locator(".st-key-board-publish button").first.click)
    page.get_by_text("What only people know").click()
    page.get_by_label("For whom it is").fill("the cancer registry")
    # The click takes the focus out of the field, which is when an answer is taken.
    made = page.locator(".st-key-dossier-cancel button, .st-key-dossier-json button")
    visitor.click_until_shown(page.get_by_role("button", name="Make the dossier"), made)
    page.get_by_role("button", name="Dossier (JSON)").wait_for(timeout=240_000)
    with page.expect_download(timeout=60_000) as event:
        page.get_by_role("button", name="Dossier (JSON)").click()
    event.value.save_as(tmp_path / "dossier.json")
    told = json.loads((tmp_path / "dossier.json").read_text(encoding="utf-8"))
    assert told["released"]["recipients"] == "the cancer registry"
    assert told["reached"]["policy"]["status"] == "kept"
