"""What holds for the whole run: where a browser is promised its tests may not be skipped, and skips are counted."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

REQUIRE_BROWSER = "ANONCORE_REQUIRE_BROWSER"

# Images of containers often forbid compiled files. Then every process would translate all tests at every start.
sys.dont_write_bytecode = False

# How long an example takes says nothing of what it computes, least of all beside other tests. What every change must
# pass (`.ci/run`) draws the same examples in every run; elsewhere new ones are drawn, and look for new faults. A test
# that needs more examples says how many.
settings.register_profile(
    "anoncore",
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
    print_blob=True,
)
settings.load_profile("anoncore")
REPORTED = 6_000
"""Characters, from the end, of what is told of a failure that a second try did not have."""


@pytest.fixture(scope="session")
def chrome() -> Iterator[Any]:
    """One browser for all tests that drive one: a process can drive only one at a time."""
    from tests.dashboard import browser

    with browser.chrome() as found:
        yield found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the papers' books begin first: each is a test of a minute, and at the end it would run while others rest."""
    items.sort(key=lambda item: "papers" not in item.path.parts)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and os.environ.get(REQUIRE_BROWSER) and item.get_closest_marker("browser") is not None:
        report.outcome = "failed"
        report.longrepr = f"{REQUIRE_BROWSER} is set, but this browser test was skipped: {report.longrepr}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many tests were skipped for each reason, and why a test that was tried again had failed before."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.section(f"failed before it was tried again: {report.nodeid}")
        terminalreporter.write_line(report.longreprtext[-REPORTED:])
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    if reasons:
        terminalreporter.section("skipped, by reason")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count:5d}  {reason}")
