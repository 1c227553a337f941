"""Where a browser is promised, a browser test that is skipped has failed."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

REQUIRE_BROWSER = "ANONCORE_REQUIRE_BROWSER"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and os.environ.get(REQUIRE_BROWSER) and item.get_closest_marker("browser") is not None:
        report.outcome = "failed"
        report.longrepr = f"{REQUIRE_BROWSER} is set, but this browser test was skipped: {report.longrepr}"
    return report
