"""Attack, Compare, Sweep and Choose in a real browser, with releases of several methods of the made-up table."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.dashboard import browser
from tests.dashboard.browser import Visitor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]


@pytest.fixture
def visitor(browse: Any) -> Visitor:
    """One visitor, with room for the whole page."""
    found: Visitor = browse(height=1300)
    return found


def _make(visitor: Visitor, number: int, method: str) -> None:
    visitor.go("Anonymize")
    visitor.choose("Method", method, exact=False)
    visitor.press("Run")
    visitor.see(f"Run {number} · {method}", seconds=120)


def _metric(visitor: Visitor, label: str) -> float:
    tile = visitor.page.get_by_test_id("stMetric").filter(has_text=re.compile(f"^{re.escape(label)}"))
    text = tile.get_by_test_id("stMetricValue").inner_text()
    return float(text.strip("%"))


MARKS = "[class*='st-key-sweep-chart'] .scatterlayer .points path"


def test_what_anatomy_leaks_and_foreground_safe_keeps_stands_side_by_side(visitor: Visitor) -> None:
    visitor.open()
    _make(visitor, 1, "Anatomy")
    visitor.go("Attack")
    visitor.tab("Foreground knowledge")
    visitor.see("Learning error", seconds=120)
    assert _metric(visitor, "Breached") > 50
    visitor.tab("One group")
    visitor.see("Possible worlds")
    number = visitor.cell("foreground-groups", 0, 2)
    with visitor.run():
        visitor.choose_row("foreground-groups", 2)
    visitor.see(f"Bucket {number}")

    _make(visitor, 2, "ForegroundSafe")
    visitor.go("Attack")
    visitor.see("Learning error", seconds=120)
    # It guards against this epsilon, with which people still look alike.
    visitor.choose("epsilon", "0.01")
    visitor.see("With epsilon 0.01", seconds=120)
    assert _metric(visitor, "Breached") < 10
    visitor.tab("Side by side")
    visitor.see("without the attack", seconds=120)
    assert visitor.drawn("[class*='st-key-foreground-runs'] .legendtext", 3) == 3

    visitor.go("Compare")
    visitor.see("What an adversary gets", seconds=120)
    visitor.tab("Distributions")
    visitor.see("largest probability of one value")
    visitor.tab("One person")
    box = visitor.page.get_by_role("spinbutton", name="Row of the table")
    first = box.input_value()
    visitor.press("Another person")
    assert box.input_value() != first


def test_a_sweep_is_cancelled_gone_on_with_and_opened(visitor: Visitor) -> None:
    visitor.open()
    visitor.go("Sweep")
    visitor.press("Start")
    visitor.see("releases measured", seconds=60)
    visitor.page.get_by_role("button", name="Cancel", exact=True).first.click()
    visitor.see("Stopped", seconds=60)
    visitor.go("Data")
    visitor.go("Sweep")
    visitor.see("Stopped")
    visitor.press("Go on")
    visitor.page.get_by_text("Stopped").wait_for(state="detached", timeout=120_000)
    visitor.page.get_by_text("releases measured").wait_for(state="detached", timeout=120_000)
    assert visitor.drawn(MARKS, 10) >= 10
    visitor.click_until_shown(
        visitor.page.locator(MARKS).nth(2), visitor.page.get_by_role("button", name="Open as a run")
    )
    visitor.press("Open as a run")
    visitor.see("Run 1 ·", seconds=60)


def test_a_search_finds_the_cheapest_release_that_keeps_the_targets(visitor: Visitor) -> None:
    visitor.open()
    visitor.go("Choose")
    visitor.choose("Add a target", "Largest belief", exact=False)
    visitor.see("Largest belief at most")
    visitor.press("Search")
    visitor.see("Cheapest release that keeps every target", seconds=120)
    visitor.press("Cancel")
    visitor.see("so a better one may exist", seconds=60)
    visitor.press("Open as a run")
    visitor.see("Run 1 ·", seconds=60)
