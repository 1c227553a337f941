"""A method that another package brings stands on the board beside those of anoncore."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.dashboard import browser
from tests.dashboard.test_browser_board import board, uploaded, wait_for_numbers
from tests.extension import installed

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]


def test_a_method_of_another_package_is_added_and_measured(tmp_path: Path, chrome: Any) -> None:
    path = installed(tmp_path)["PYTHONPATH"]
    with browser.serving(PYTHONPATH=path) as (address, _process):
        visitor = browser.visitor(chrome, address)
        uploaded(visitor)
        visitor.page.get_by_role("button", name="+ add release").click()
        dialog = visitor.page.get_by_role("dialog")
        family = dialog.get_by_test_id("stSelectbox").filter(has_text="What it does to the table")
        family.locator("input").click()
        visitor.page.get_by_role("option", name="Coarsen values, group by group", exact=True).click()
        visitor.settle()
        dialog.get_by_text("Sorted blocks", exact=True).click()
        visitor.settle()
        n_before = board(visitor).locator("th.column").count()
        dialog.get_by_role("button", name="Add to the board").click()
        wait_for_numbers(visitor, n_before + 1)
        heads = board(visitor).locator("th.column .method").all_inner_texts()
        assert heads[0].startswith("Mondrian")
        assert heads[-1].startswith("Sorted blocks")
        cells = board(visitor).locator("tbody tr").filter(has_text="Hides among").locator("td.cell")
        hides = [int(cell.locator(".number").inner_text().split()[0]) for cell in (cells.first, cells.last)]
        assert min(hides) >= 10, "k = 10 is asked of a new board"
        assert board(visitor).locator("td.failed").count() == 0
        assert visitor.problems() == []
