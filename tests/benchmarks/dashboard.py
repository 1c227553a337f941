"""The dashboard in headless Chromium on Adult: page switches, and from a changed parameter to everything redrawn.

Run: python -m tests.benchmarks.dashboard. Times are medians over the repeats, from the click until all is painted.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict

from tests.dashboard import browser
from tests.dashboard.browser import Visitor

PAGES = ["Table", "Board", "Groups", "Privacy", "Utility", "Publish"]
REPEATS = 5


def changed(visitor: Visitor, k: int) -> float:
    """Seconds from typing another k until the board has judged Mondrian's release for it."""
    begin = time.perf_counter()
    visitor.ask(k=k)
    visitor.wait_for_release("Mondrian")
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
        visitor.go("Board")
        changed(visitor, 4)
        for page in PAGES:
            visitor.go(page)
        for k in range(5, REPEATS + 5):
            visitor.go("Board")
            times["k changed, judged anew"].append(changed(visitor, k))
            for page in ("Groups", "Privacy", "Utility"):
                visitor.go(page)
                times[f"{page} of a new release"].append(visitor.seconds)
            for page in PAGES:
                visitor.go(page)
                times[f"switch to {page}"].append(visitor.seconds)
    for what, seconds in times.items():
        print(f"{what:>32}: {statistics.median(seconds):.2f} s (worst {max(seconds):.2f})")


if __name__ == "__main__":
    main()
