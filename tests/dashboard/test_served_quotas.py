"""The memory of the process is held by quotas: visitors who each load the largest table allowed do not end it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.dashboard import browser, served

pytestmark = [pytest.mark.browser, pytest.mark.slow]
MEGABYTES, LIMIT = 30, 1_300
LEAST_VISITORS, MOST_VISITORS = 3, 16
"""How many come at least, and so many that their tables together take far more than the limit."""


@pytest.fixture(scope="module")
def largest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text file of the most megabytes that are taken, full of different texts, which take most memory."""
    rng = np.random.default_rng(0)
    n = MEGABYTES * 10**6 // 62
    frame = pd.DataFrame({f"text{place}": rng.integers(10**8, 10**9, n) for place in range(5)}).astype(str) + "x"
    path = tmp_path_factory.mktemp("largest") / "largest.csv"
    frame.insert(0, "age", rng.integers(18, 90, n))
    frame.to_csv(path, index=False)
    assert 0.9 * MEGABYTES < path.stat().st_size / 10**6 <= MEGABYTES
    return path


@pytest.fixture
def server(tmp_path: Path) -> Iterator[served.Served]:
    settings = {
        "server": {"upload_megabytes": MEGABYTES},
        "quotas": {"memory_megabytes": LIMIT, "rows": 10_000_000},
        "metrics": {"port": browser._free_port()},
    }
    with served.Served(tmp_path, settings) as found:
        yield found


def test_visitors_with_the_largest_table_do_not_end_the_server(
    chrome: Any, server: served.Served, largest: Path
) -> None:
    # How many fit depends on what the process has taken by then; so they come until one is refused.
    visitors: list[browser.Visitor] = []
    n_refused, profile = 0, chrome.new_context()
    while len(visitors) < LEAST_VISITORS or (n_refused == 0 and len(visitors) < MOST_VISITORS):
        visitor = browser.visitor(chrome, server.address, profile=profile)
        visitors.append(visitor)
        visitor.open("table")
        refusal = visitor.page.get_by_text(re.compile("needs about|nearly all of the|status code 507"))
        field = visitor.page.get_by_test_id("stFileUploaderDropzoneInput").first
        if field.count() > 0:
            field.set_input_files(str(largest))
            name = visitor.page.get_by_test_id("stHeading").filter(has_text="largest.csv")
            name.or_(refusal).first.wait_for(timeout=120_000)
            visitor.settle(120)
        n_refused += refusal.count() > 0
    assert 1 <= n_refused < len(visitors), "some fit, and one more does not"
    status = Path(f"/proc/{server.pid}/status").read_text("ascii")
    peak = int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024
    loaded = len(visitors) - n_refused
    print(f"{loaded} of {len(visitors)} tables loaded; at most {peak:.0f} of {LIMIT} MB taken")
    assert peak <= LIMIT
    # Who has a table can go on, and a newcomer gets the page.
    visitors[0].go("Table")
    newcomer = browser.visitor(chrome, server.address, profile=profile)
    newcomer.open("table")
    assert "census" in newcomer.text().lower()
    for visitor in (*visitors, newcomer):
        assert visitor.problems() == []
    profile.close()
