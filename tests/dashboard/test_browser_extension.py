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
        uploaded(visitor, rows=150)
        with visitor.new_column("Sorted blocks", "Coarsen values, group by group"):
            pass
        wait_for_numbers(visitor, 5)
        heads = board(visitor).locator("th.column .method").all_inner_texts()
        assert heads[0].startswith("Mondrian")
        assert heads[-1].startswith("Sorted blocks")
        cells = board(visitor).locator("tbody tr").filter(has_text="Hides among").locator("td.cell")
        hides = [int(cell.locator(".number").inner_text().split()[0]) for cell in (cells.first, cells.last)]
        assert min(hides) >= 10, "k = 10 is asked of a new board"
        assert board(visitor).locator("td.failed").count() == 0
        assert visitor.problems() == []
        # A page whose server has ended looks for it again and again.
        visitor.page.context.close()
