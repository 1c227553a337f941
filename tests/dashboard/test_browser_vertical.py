"""A wide table in a real browser: loaded, cut into fragments, explained on the page Method, judged on Utility."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dashboard import browser
from tests.dashboard.browser import Visitor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]
METHOD = "Vertical fragmentation"


def _charts(visitor: Visitor, number: int) -> None:
    visitor.page.wait_for_function(
        "number => [...document.querySelectorAll('[data-testid=\"stPlotlyChart\"]')].filter(c => c.offsetParent)"
        ".length === number",
        arg=number,
        timeout=20_000,
    )


def test_from_the_wide_table_to_its_fragments(browse: Any) -> None:
    visitor = browse()
    visitor.open()
    visitor.choose("Built-in table", "Measurements", exact=False)
    visitor.see("2,000 of 2,000 rows are unique in these 60 attributes")
    visitor.ask(k=3, l=None, t=None)
    assert "60 known" in visitor.page.get_by_role("button", name="Measurements").inner_text()
    visitor.column(METHOD)

    visitor.go("Method")
    visitor.show_release(METHOD)
    visitor.see("share nothing but diagnosis")
    visitor.see("They began with")
    _charts(visitor, 1)
    visitor.tab("Groups")
    visitor.see("Each fragment has groups of its own")
    _charts(visitor, 1)
    visitor.tab("Joins")
    visitor.see("every join is safe")
    visitor.see("0 of 1,600 joins drawn here are unsafe")
    _charts(visitor, 2)
    visitor.tab("Class values")
    visitor.see("In the release's colour: dependency", 60)
    _charts(visitor, 1)
    visitor.tab("Membership")
    visitor.see("the less a match tells")
    _charts(visitor, 1)
    visitor.tab("Unfragmented")
    visitor.see("Against whole rows with the same requirements", 90)
    _charts(visitor, 2)

    visitor.go("Groups")
    visitor.go("Method")
    visitor.see("Against whole rows with the same requirements")

    visitor.go("Utility")
    visitor.see("Information loss")
    visitor.tab("Associations")
    visitor.see("Association error", 60)

    # With l no class value is changed.
    visitor.ask(l=2)
    visitor.wait_for_release(METHOD)
    visitor.go("Method")
    visitor.see("rows are cut into segments")
    visitor.tab("Joins")
    visitor.see("Here no class value is changed")
