"""A table that is too large to hold, in a real browser: sample, tags, start, watch, cancel, start again, finished."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from tests.dashboard import browser
from tests.dashboard.browser import Visitor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(browser.missing()), reason=f"no browser test here: {browser.missing()}"),
]

N = 80_000
FEW, MORE = 60, 10_000
"""Rows in memory: so few that a run takes long enough to be watched, and enough for one that divides the rows once."""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    path = tmp_path / "people.parquet"
    pd.DataFrame(
        {
            "age": rng.integers(18, 90, N),
            "zip": rng.integers(10_000, 99_999, N),
            "pay": rng.integers(1_000, 9_000, N),
            "ill": rng.choice(["flu", "gout", "cold", "ulcer"], N),
        }
    ).to_parquet(path, index=False)
    return path


def fill(visitor: Visitor, label: str, value: object) -> None:
    """Write into the field of that label."""
    visitor.enter(visitor.page.get_by_label(label, exact=True), value)


def show_more(visitor: Visitor) -> None:
    """Open what is folded away of the form."""
    visitor.unfold("More options", visitor.page.get_by_label("Rows in memory", exact=True))


def test_a_table_on_this_machine_is_explored_and_released(browse: Any, source: Path, tmp_path: Path) -> None:
    visitor = browse(height=1400)
    visitor.open("table")
    visitor.name_place()
    fill(visitor, "Path or address", tmp_path / "nothing.parquet")
    assert "There is no file and no folder" in visitor.error()
    fill(visitor, "Path or address", source)
    fill(visitor, "Rows in the sample", 10_000)
    visitor.press("Take a sample")
    visitor.see("One sampled row stands for")
    visitor.see("8 rows")
    visitor.press("Use suggestions")
    visitor.wait_for_cell("attribute-editor", 1, 0, "quasi-identifier")
    visitor.go("Groups")
    visitor.show_release("Mondrian")
    visitor.go("Table")
    visitor.press("Parameters of the release shown")
    show_more(visitor)
    fill(visitor, "Rows in memory", FEW)

    visitor.press("Start")
    visitor.see(f"All {N:,} rows to")
    visitor.see("the program takes")
    visitor.go("Groups")
    visitor.go("Table")
    visitor.see("the program takes")
    visitor.press("Cancel")
    visitor.see("The run was cancelled; nothing of it is left.")
    assert not (tmp_path / "people-release").exists()

    show_more(visitor)
    fill(visitor, "Rows in memory", MORE)
    visitor.press("Start")
    visitor.see(f"Released: {N:,} rows", seconds=120)
    assert pq.read_table(tmp_path / "people-release").num_rows == N
    visitor.see(str(tmp_path / "people-release"))
    visitor.reload()
    visitor.see(f"Released: {N:,} rows")
    with visitor.page.expect_download() as event:
        visitor.page.locator(".st-key-large-recipe button").first.click()
    assert event.value.suggested_filename == "people.toml"
