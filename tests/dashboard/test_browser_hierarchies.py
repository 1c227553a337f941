"""Hierarchies in a real browser: three clicks to a usable one of each kind, typed cells, and roles that follow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.dashboard import browser
from tests.dashboard.browser import Visitor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]
MOST_CLICKS = 3
LEVEL_1 = 2
"""Column of the first level in the table of groups."""


def _people(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), unit="D"),
            "postcode": [f"{number:05}" for number in rng.integers(10_000, 99_999, n)],
            "city latitude": np.round(rng.uniform(47, 55, n), 2),
            "income": rng.integers(900, 9_000, n),
            "occupation": rng.choice(["cook", "nurse", "pilot", "smith", "judge"], n, p=[0.5, 0.3, 0.15, 0.03, 0.02]),
        }
    )


class Clicks:
    """A visitor whose clicks are counted."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self.count = 0

    def on(self, target: Any, runs: bool) -> None:
        """Click; `runs` says whether the page is drawn anew."""
        self.count += 1
        if runs:
            self.visitor.act(target.click)
        else:
            target.click()


def _main(visitor: Visitor) -> Any:
    return visitor.page.get_by_test_id("stMain")


def _groups(visitor: Visitor, level: int) -> int:
    """How many groups a level has, by the table of levels."""
    grid = visitor.grid("levels-")
    grid.scroll_into_view_if_needed()
    return int(grid.get_by_test_id(f"glide-cell-1-{level}").text_content(timeout=10_000))


def test_three_clicks_lead_to_a_usable_hierarchy_of_each_kind_and_a_typed_group_counts(browse: Any) -> None:
    visitor = browse(height=1600)
    visitor.open("table")
    visitor.upload("people.csv", _people().to_csv(index=False).encode())
    visitor.see("No attribute is tagged yet")
    # The role beside the picker follows.
    assert "Known to others, numeric" not in visitor.text()
    visitor.press("Use suggestions")
    visitor.see("Known to others, numeric")
    assert "insensitive, numeric" not in visitor.text()
    for name, source in (
        ("born", "calendar"),
        ("postcode", "first characters"),
        ("city latitude", "grid"),
        ("income", "equal width"),
        ("income", "equal number of rows"),
        ("occupation", "rare values together"),
    ):
        clicks = Clicks(visitor)
        box = visitor.page.get_by_test_id("stSelectbox").filter(has_text="Column").last.locator("input")
        if box.input_value() != name:
            clicks.on(box, runs=False)
            clicks.on(visitor.page.get_by_role("option", name=name, exact=True), runs=True)
        clicks.on(_main(visitor).get_by_role("radio", name=source, exact=True), runs=True)
        assert clicks.count <= MOST_CLICKS
        visitor.see("What each level does")
        groups = [_groups(visitor, row) for row in (0, 1)]
        assert groups[0] > groups[1] > 1, f"level 1 of {name} joins values, and tells some apart"

    visitor.act(_main(visitor).get_by_role("radio", name="by hand", exact=True).click)
    for row in (0, 1):
        visitor.type_into_cell("hierarchy-editor-", LEVEL_1, row, 420, "helpers")
    visitor.see("What each level does")
    visitor.grid("levels-").scroll_into_view_if_needed()
    visitor.wait_for_cell("levels-", 1, 1, "4")
    visitor.reload()
    visitor.choose("Column", "occupation")
    visitor.grid("levels-").scroll_into_view_if_needed()
    visitor.wait_for_cell("levels-", 1, 1, "4")
