"""The dashboard in headless Chromium on Adult: page switches, and from a changed parameter to everything redrawn.

Run: python -m tests.benchmarks.dashboard. Times are medians over the repeats, from the click until all is painted.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict

from tests.dashboard import browser
from tests.dashboard.browser import Visitor

PAGES = ["Data", "Attributes", "Anonymize", "Classes", "Privacy", "Utility", "Export"]
REPEATS = 5


def changed_run(visitor: Visitor, number: int, k: int) -> float:
    """Seconds from typing another k and pressing Run until the new run's numbers stand on the page."""
    field = visitor.page.get_by_test_id("stNumberInput").get_by_role("spinbutton").first
    begin = time.perf_counter()
    field.fill(str(k))
    with visitor.run():
        field.press("Enter")
    with visitor.run():
        visitor.page.get_by_role("button", name="Run", exact=True).click()
    visitor.see(f"Run {number} · Mondrian")
    visitor.settle()
    return time.perf_counter() - begin


def main() -> None:
    """Print the table."""
    if browser.missing():
        raise SystemExit(f"The benchmark drives a browser, but {browser.missing()}.")
    times: dict[str, list[float]] = defaultdict(list)
    with browser.server() as address, browser.chrome() as chrome:
        visitor = browser.visitor(chrome, address)
        begin = time.perf_counter()
        visitor.open()
        times["first page"].append(time.perf_counter() - begin)
        visitor.choose("Built-in table", "Adult", exact=False)
        visitor.go("Anonymize")
        changed_run(visitor, 1, 4)
        for page in PAGES:
            visitor.go(page)
        for number in range(2, REPEATS + 2):
            visitor.go("Anonymize")
            times["k changed, run, numbers redrawn"].append(changed_run(visitor, number, 4 + number))
            for page in ("Classes", "Privacy", "Utility"):
                visitor.go(page)
                times[f"{page} of a new run"].append(visitor.seconds)
            for page in PAGES:
                visitor.go(page)
                times[f"switch to {page}"].append(visitor.seconds)
    for what, seconds in times.items():
        print(f"{what:>32}: {statistics.median(seconds):.2f} s (worst {max(seconds):.2f})")


if __name__ == "__main__":
    main()
